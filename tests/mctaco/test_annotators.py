"""Annotators of McTaco: candidates that all label alike, and questions that all accept, by hand and by command."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError, RequestError
from closeread.tasks.mctaco.annotation import (
    filter_questions,
    find_unanimous,
    measure_observed_agreement,
)

LIKELY, UNLIKELY, INVALID = "likely", "unlikely", "invalid"
LABELS = st.sampled_from([LIKELY, UNLIKELY, INVALID])


@pytest.mark.parametrize(
    ("labels", "gold", "why"),
    [
        ((LIKELY,) * 4, "yes", "all four"),
        ((UNLIKELY,) * 4, "no", "all four"),
        ((INVALID,) * 4, None, "an invalid candidate is dropped, even if all agree"),
        ((LIKELY, LIKELY, LIKELY, UNLIKELY), None, "three of four are not enough"),
        ((LIKELY, LIKELY, LIKELY, INVALID), None, "neither with an invalid one"),
        ((UNLIKELY, UNLIKELY), "no", "two annotators are enough"),
        ((LIKELY,) * 9, "yes", "nine as well"),
    ],
)
def test_one_candidate(labels, gold, why):
    assert find_unanimous({"c": labels}) == ({"c": gold} if gold else {}), why


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.dictionaries(st.text(max_size=2), st.tuples(*[LABELS] * n), min_size=1)
    )
)
def test_the_order_of_annotators_does_not_matter(labels):
    reverse = {candidate: given[::-1] for candidate, given in labels.items()}
    assert find_unanimous(reverse) == find_unanimous(labels)
    pairs = [
        (one, other)
        for given in labels.values()
        for i, one in enumerate(given)
        for other in given[:i]
    ]
    agreeing = sum(one == other for one, other in pairs)
    assert measure_observed_agreement(reverse) == pytest.approx(agreeing / len(pairs))


CATEGORY, SENTENCE, CORRECT = "another category", "answered by the sentence", "not correct"


def verdict(category="Frequency", from_sentence="no", correct="yes"):
    return {"q0": {"category": category, "from_sentence": from_sentence, "correct": correct}}


@pytest.mark.parametrize(
    ("verdicts", "reasons", "why"),
    [
        ([verdict(), verdict()], [], "both accept it"),
        ([verdict(), verdict("Typical Time")], [CATEGORY], "one sees another category"),
        (
            [verdict("Typical Time")] * 2,
            [CATEGORY],
            "they agree with each other, but not with the author",
        ),
        ([verdict("none")] * 2, [CATEGORY], "it asks about no temporal property"),
        ([verdict(from_sentence="yes"), verdict()], [SENTENCE], "the sentence tells"),
        ([verdict(), verdict(correct="no")], [CORRECT], "not grammatical"),
        (
            [verdict("none", "yes", "no"), verdict()],
            [CATEGORY, SENTENCE, CORRECT],
            "all reasons of one",
        ),
        ([verdict(correct="no"), verdict("none")], [CATEGORY, CORRECT], "the reasons of both"),
        ([*[verdict()] * 4, verdict(correct="no")], [CORRECT], "one of five is enough"),
    ],
)
def test_one_question(verdicts, reasons, why):
    records = [{"question_id": "q0", "category": "Frequency"}] * 2
    assert filter_questions(records, {f"a{n}": one for n, one in enumerate(verdicts)}) == {
        "q0": reasons
    }, why


def test_all_problems_of_verifications_at_once():
    records = [{"question_id": name, "category": "Frequency"} for name in ("q0", "q1")]
    anna = {**verdict(), "q9": verdict()["q0"]}
    ben = {**verdict(), "q1": verdict()["q0"]}
    with pytest.raises(FormatError) as error:
        filter_questions(records, {"anna": anna, "ben": ben})
    assert [problem.text for problem in error.value.problems] == [
        "anna lacks 1 of the 2 questions of gold: 'q1' (expected the same questions)",
        "gold lacks 1 of the 2 questions of anna: 'q9' (expected the same questions)",
    ]
    with pytest.raises(RequestError, match="only one annotator's file is given"):
        filter_questions(records, {"anna": anna})


def read(name):
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def annotate(name, labels):
    write(name, [{"id": candidate, "label": label} for candidate, label in labels.items()])


ANNOTATORS = ["anna.jsonl", "ben.jsonl", "cleo.jsonl", "dan.jsonl"]


def test_unanimous_annotators_make_gold(ran):
    ran("prepare", "mctaco", "candidates", "--config", "sample", "-o", "c.jsonl")
    ids = [row["id"] for row in read("c.jsonl")]
    # One annotator disagrees on the first candidate; all label the second invalid and the third unlikely.
    for number, name in enumerate(ANNOTATORS):
        labels = dict.fromkeys(ids, LIKELY) | {ids[1]: INVALID, ids[2]: UNLIKELY}
        annotate(name, labels | ({ids[0]: UNLIKELY} if number == 3 else {}))
    printed = ran(
        "adjudicate",
        "mctaco",
        *ANNOTATORS,
        "--candidates",
        "c.jsonl",
        "--dropped",
        "d.jsonl",
        "-o",
        "gold.jsonl",
    )
    agreement = (6 * (len(ids) - 1) + 3) / (6 * len(ids))
    kept = f"gold.jsonl: {len(ids) - 2} kept ({len(ids) - 3} yes, 1 no), 2 dropped"
    assert printed == f"{kept}; observed agreement {agreement:.3f}\n"
    assert read("d.jsonl") == [
        {"id": ids[0], "labels": [LIKELY, LIKELY, LIKELY, UNLIKELY]},
        {"id": ids[1], "labels": [INVALID] * 4},
    ]
    gold = read_own_gold(load_corpus("mctaco"), Path("gold.jsonl")).records
    assert [(record["id"], record["label"]) for record in gold[:2]] == [
        (ids[2], "no"),
        (ids[3], "yes"),
    ]
    ran("adjudicate", "mctaco", *ANNOTATORS, "-o", "labels.jsonl")
    assert read("labels.jsonl")[0] == {"id": ids[2], "label": "no"}


BOTH = {"a": LIKELY, "b": LIKELY}


@pytest.mark.parametrize(
    ("annotators", "messages"),
    [
        (
            [{"a": LIKELY, "c": INVALID}, {"b": LIKELY}],
            [
                "annotations: ben.jsonl lacks 2 of the 2 candidates of anna.jsonl: 'a', 'c'",
                "annotations: anna.jsonl lacks 1 of the 1 candidate of ben.jsonl: 'b'",
            ],
        ),
        (
            [BOTH, {"a": LIKELY, "b": "Likely"}],
            [
                "ben.jsonl:2: id 'b': label: 'Likely' is not one of 'likely', 'unlikely', 'invalid'; "
                "did you mean 'likely'?"
            ],
        ),
        (
            [BOTH, BOTH],
            [
                "c.jsonl: candidate 'a' was annotated but is not in this file",
                "c.jsonl: candidate 'b'",
            ],
        ),
    ],
)
def test_annotations_that_are_refused(run, ran, here, annotators, messages):
    ran("prepare", "mctaco", "candidates", "--config", "sample", "-o", "c.jsonl")
    for name, labels in zip(ANNOTATORS, annotators, strict=False):
        annotate(name, labels)
    names = ANNOTATORS[: len(annotators)]
    result = run("adjudicate", "mctaco", *names, "--candidates", "c.jsonl", "-o", "gold.jsonl")
    assert (result.exit_code, Path("gold.jsonl").exists()) == (1, False)
    assert all(message in result.stderr for message in messages), result.stderr


def test_one_annotator_is_refused(run, here):
    annotate("anna.jsonl", BOTH)
    result = run("adjudicate", "mctaco", "anna.jsonl", "-o", "gold.jsonl")
    assert (result.exit_code, Path("gold.jsonl").exists()) == (2, False)
    assert "only one annotator's file is given (expected two or more)" in result.stderr


@pytest.fixture
def questions():
    records = read_gold(load_corpus("mctaco"), "sample").records
    return {record["question_id"]: record["category"] for record in records}


def accept(questions):
    return [
        {"question_id": name, "category": category, "from_sentence": "no", "correct": "yes"}
        for name, category in questions.items()
    ]


COMMAND = ["adjudicate", "mctaco-questions", "anna.jsonl", "ben.jsonl", "--config", "sample"]


def test_rows_of_accepted_questions_are_written(ran, questions):
    first, second = list(questions)[:2]
    anna, ben = accept(questions), accept(questions)
    anna[0]["correct"], ben[0]["from_sentence"] = "no", "yes"
    ben[1]["category"] = "none"
    write("anna.jsonl", anna)
    write("ben.jsonl", reversed(ben))
    gold = read_gold(load_corpus("mctaco"), "sample").records
    kept = [record for record in gold if record["question_id"] not in (first, second)]
    for name in ("kept.jsonl", "kept.tsv"):
        said = ran(*COMMAND, "--dropped", "dropped.jsonl", "-o", name)
        assert (
            said == f"{name}: {len(questions) - 2} questions kept ({len(kept)} rows), 2 dropped\n"
        )
        records = read_own_gold(load_corpus("mctaco"), Path(name)).records
        assert [record["answer"] for record in records] == [record["answer"] for record in kept]
    assert read("dropped.jsonl") == [
        {"question_id": first, "reasons": [SENTENCE, CORRECT]},
        {"question_id": second, "reasons": [CATEGORY]},
    ]


def test_verifications_that_are_refused(run, here, questions):
    anna, ben = accept(questions), accept(questions)
    write("anna.jsonl", [anna[0], {**anna[1], "correct": "maybe"}, *anna[2:]])
    write("ben.jsonl", [*ben, ben[0]])
    result = run(*COMMAND, "-o", "kept.jsonl")
    assert (result.exit_code, Path("kept.jsonl").exists()) == (1, False)
    assert "anna.jsonl:2: " in result.stderr
    assert "'maybe' is not one of 'no', 'yes'" in result.stderr
    assert (
        f"ben.jsonl:{len(ben) + 1}: question '{ben[0]['question_id']}' occurs more than once"
        in result.stderr
    )
    write("anna.jsonl", anna)
    write("ben.jsonl", ben[1:])
    lack = f"ben.jsonl lacks 1 of the {len(questions)} questions of gold: {next(iter(questions))!r}"
    message = f"verifications: {lack} (expected the same questions)"
    assert run(*COMMAND, "-o", "kept.jsonl").stderr == f"Error: {message}\n"
