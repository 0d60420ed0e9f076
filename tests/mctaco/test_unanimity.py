"""Adjudication by unanimity: hand cases, error messages, and properties."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.tasks.mctaco.annotation import filter_questions, unanimous

LIKELY, UNLIKELY, INVALID = "likely", "unlikely", "invalid"


@for_each(
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
    result = unanimous([{"c": label} for label in labels])
    assert result.kept == ({"c": gold} if gold else {}), why
    assert result.dropped == ({} if gold else {"c": labels}), why


def test_observed_agreement():
    # a: all 3 pairs of 3 agree; b: 1 of 3; together 4 of 6
    result = unanimous([{"a": LIKELY, "b": LIKELY}, {"a": LIKELY, "b": LIKELY}, {"a": LIKELY, "b": INVALID}])
    assert (result.agreeing_pairs, result.pairs) == (4, 6)
    assert result.observed_agreement == pytest.approx(4 / 6)


@for_each(
    ("annotations", "message"),
    [
        ([], "the number of annotators is 0 (expected at least 2)"),
        ([{"a": LIKELY}], "the number of annotators is 1 (expected at least 2)"),
        (
            [{"a": LIKELY, "b": "maybe"}, {"c": "Likely"}],
            "annotator 1: 'b' has label 'maybe' (expected one of likely, unlikely, invalid)\n"
            "annotator 1: 'c' has no label, but another annotator labelled it\n"
            "annotator 2: 'a' has no label, but another annotator labelled it\n"
            "annotator 2: 'b' has no label, but another annotator labelled it\n"
            "annotator 2: 'c' has label 'Likely' (expected one of likely, unlikely, invalid)",
        ),
    ],
)
def test_all_problems_at_once(annotations, message):
    with pytest.raises(FormatError) as caught:
        unanimous(annotations)
    assert [problem.message for problem in caught.value.problems] == message.split("\n")


LABELS = st.sampled_from([LIKELY, UNLIKELY, INVALID])


@given(st.integers(2, 5).flatmap(lambda n: st.dictionaries(st.text(max_size=2), st.tuples(*[LABELS] * n))))
def test_every_candidate_is_kept_or_dropped(labels):
    annotators = range(max(map(len, labels.values()), default=2))
    result = unanimous([{candidate: given[i] for candidate, given in labels.items()} for i in annotators])
    assert result.kept.keys() | result.dropped.keys() == labels.keys()
    assert not result.kept.keys() & result.dropped.keys()
    assert all({**labels}[candidate] == given for candidate, given in result.dropped.items())
    assert 0 <= (result.observed_agreement or 0) <= 1
    reverse = unanimous([{candidate: given[i] for candidate, given in labels.items()} for i in reversed(annotators)])
    assert reverse.kept == result.kept
    assert reverse.agreeing_pairs == result.agreeing_pairs


RECORDS = [{"question_id": "q0", "category": "Frequency"}, {"question_id": "q0", "category": "Frequency"}]
CATEGORY, SENTENCE, CORRECT = "another category", "answered by the sentence", "not correct"


def verdict(category="Frequency", from_sentence="no", correct="yes"):
    return {"q0": {"category": category, "from_sentence": from_sentence, "correct": correct}}


@for_each(
    ("verdicts", "reasons", "why"),
    [
        ([verdict(), verdict()], [], "both accept it"),
        ([verdict(), verdict("Typical Time")], [CATEGORY], "one sees another category"),
        ([verdict("Typical Time")] * 2, [CATEGORY], "they agree with each other, but not with the author"),
        ([verdict("none")] * 2, [CATEGORY], "it asks about no temporal property"),
        ([verdict(from_sentence="yes"), verdict()], [SENTENCE], "the sentence tells"),
        ([verdict(), verdict(correct="no")], [CORRECT], "not grammatical"),
        ([verdict("none", "yes", "no"), verdict()], [CATEGORY, SENTENCE, CORRECT], "all reasons of one"),
        ([verdict(correct="no"), verdict("none")], [CATEGORY, CORRECT], "the reasons of both"),
        ([verdict()] * 5, [], "more than two"),
        ([*[verdict()] * 4, verdict(correct="no")], [CORRECT], "one of five is enough"),
    ],
)
def test_one_question(verdicts, reasons, why):
    found = filter_questions(RECORDS, {f"a{n}": one for n, one in enumerate(verdicts)})
    assert found == {"q0": reasons}, why


def test_all_problems_of_verifications_at_once():
    records = [*RECORDS, {"question_id": "q1", "category": "Frequency"}, {"question_id": "q1", "category": "x"}]
    with pytest.raises(FormatError) as error:
        filter_questions(records, {"anna": {**verdict(), "q9": verdict()["q0"]}})
    assert [problem.message for problem in error.value.problems] == [
        "the number of annotators is 1 (expected at least 2)",
        "question 'q1' has rows of different categories",
        "anna: question 'q1' has no verification",
        "anna: question 'q9' is not one of the questions to verify",
    ]


@pytest.fixture
def questions():
    records = read_gold(load_corpus("mctaco"), "sample").records
    return {record["question_id"]: record["category"] for record in records}


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def accept(questions):
    return [
        {"question_id": name, "category": category, "from_sentence": "no", "correct": "yes"}
        for name, category in questions.items()
    ]


COMMAND = ["adjudicate", "mctaco-questions", "anna.jsonl", "ben.jsonl", "--config", "sample"]


def test_rows_of_accepted_questions_are_written(ran, questions):
    first, second = list(questions)[:2]
    anna, ben = accept(questions), accept(questions)
    anna[0]["correct"] = ben[0]["from_sentence"] = "no"
    ben[1]["category"] = "none"
    write("anna.jsonl", anna)
    write("ben.jsonl", reversed(ben))
    gold = read_gold(load_corpus("mctaco"), "sample").records
    kept = [record for record in gold if record["question_id"] not in (first, second)]
    for name in ("kept.jsonl", "kept.tsv"):
        said = ran(*COMMAND, "--dropped", "dropped.jsonl", "-o", name)
        assert said == f"{name}: {len(questions) - 2} questions kept ({len(kept)} rows), 2 dropped\n"
        records = read_own_gold(load_corpus("mctaco"), Path(name)).records
        assert [record["answer"] for record in records] == [record["answer"] for record in kept]
    dropped = [json.loads(line) for line in Path("dropped.jsonl").read_text("utf-8").splitlines()]
    assert dropped == [
        {"question_id": first, "reasons": [CORRECT]},
        {"question_id": second, "reasons": [CATEGORY]},
    ]


def test_files_that_are_no_verifications(run, here, questions):
    anna, ben = accept(questions), accept(questions)
    anna[1] = {**anna[1], "correct": "maybe"}
    write("anna.jsonl", anna)
    write("ben.jsonl", [*ben, ben[0]])
    result = run(*COMMAND, "-o", "kept.jsonl")
    assert result.exit_code == 1
    assert "anna.jsonl:2: " in result.stderr
    assert "'maybe' is not one of 'no', 'yes'" in result.stderr
    assert f"ben.jsonl:{len(ben) + 1}: question '{ben[0]['question_id']}' occurs more than once" in result.stderr
    assert not Path("kept.jsonl").exists()


def test_annotators_of_other_questions(run, here, questions):
    write("anna.jsonl", accept(questions))
    write("ben.jsonl", accept(questions)[1:])
    result = run(*COMMAND, "-o", "kept.jsonl")
    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: verifications: ben.jsonl: question '{next(iter(questions))}' has no verification\n",
    )
