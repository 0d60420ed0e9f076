"""Candidate answers: masks, retrieved phrases, which answers are kept and added, and `closeread prepare mctaco`."""

import json
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.corpus.gold import read_gold, read_rows
from closeread.corpus.names import load_corpus
from closeread.tasks.mctaco.perturbation import candidates
from closeread.tasks.mctaco.perturbation.candidates import (
    PhraseIndex,
    Technique,
    by_masking,
    by_retrieval,
    by_rules,
    expand,
    masked_variants,
)

pytest.importorskip("sklearn")
pytest.importorskip("text_to_num")

MASK = "[MASK]"


def row(number, answer, question="q0", category="Typical Time"):
    return {
        "id": f"r{number}",
        "question_id": question,
        "sentence_id": f"s-{question}",
        "sentence": "The band rehearsed.",
        "question": "When?",
        "answer": answer,
        "label": "yes",
        "category": category,
    }


def make_technique(name, many):
    return Technique(
        name, lambda rows: [[f"{row['answer']} {name}{i}" for i in range(many)] for row in rows]
    )


def answers(rows):
    return [row["answer"] for row in rows]


def test_output_rows():
    rows = [row(0, "x"), row(1, "y", "q1"), row(2, "z")]
    found = expand(rows, [make_technique("t", 1)], limit=3)
    assert found[0] == {name: value for name, value in row(0, "x").items() if name != "label"} | {
        "id": "q0-c00", "technique": "original", "source": "r0",
    }  # fmt: skip
    assert [
        (new["id"], new["answer"], new["technique"], new["source"])
        for new in found
        if new["source"] != "r2"
    ] == [
        ("q0-c00", "x", "original", "r0"),
        *([("q0-c02", "x t0", "t", "r0")] if found[2]["source"] == "r0" else []),
        ("q1-c00", "y", "original", "r1"),
        ("q1-c01", "y t0", "t", "r1"),
    ]
    assert answers(found)[:2] == ["x", "z"]  # rows of a question need not be adjacent
    assert len(found) == 5


def test_a_full_question_gets_no_more_candidates():
    received = []

    def variants(rows):
        received.extend(row["question_id"] for row in rows)
        return [["new"] for _ in rows]

    expand([row(0, "x"), row(1, "y"), row(2, "z", "q1")], [Technique("t", variants)], limit=2)
    assert received == ["q1"]


def test_answers_that_differ_in_case_and_whitespace_are_the_same():
    variants = Technique(
        "t", lambda rows: [["AT  dawn", "at dusk", " at Dusk", "", " "] for _ in rows]
    )
    found = expand([row(0, "at dawn"), row(1, "At dawn "), row(2, "noon")], [variants])
    assert [(new["answer"], new["source"]) for new in found[:2]] == [
        ("at dawn", "r0"),
        ("noon", "r2"),
    ]
    assert len(found) == 3
    assert found[2]["answer"] in ("at dusk", " at Dusk")


def test_twenty_phrases_are_retrieved():
    technique = by_retrieval(
        PhraseIndex([f"evening {name}" for name in "abcdefghijklmnopqrstuvwxyz"])
    )
    assert [len(found) for found in technique.variants([row(0, "in the evening")])] == [20]


def test_the_three_techniques():
    techniques = [
        by_rules(),
        by_masking(lambda texts: [["perhaps"] for _ in texts], mask_token=MASK),
        by_retrieval(PhraseIndex(["before the evening concert"])),
    ]
    found = expand([row(0, "in the evening")], techniques, events=())
    assert answers(found)[:2] == ["in the evening", "in the morning"]
    assert {(new["answer"], new["technique"]) for new in found[2:5]} == {
        ("perhaps the evening", "masked"),
        ("in perhaps evening", "masked"),
        ("in the perhaps", "masked"),
    }
    assert (found[5]["answer"], found[5]["technique"]) == (
        "before the evening concert",
        "retrieval",
    )
    few = {"number_rule": "plus_one", "units": "any", "changes": 2}
    assert "twice a month" in answers(expand([row(0, "once a week")], [by_rules(**few)], limit=99))
    assert "1 century ago" in answers(expand([row(0, "1 week ago")], [by_rules(**few)], limit=99))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["at dawn", "at dawn later", "she sang", "went home"]),
        (
            {"events": ()},
            ["at dawn", "at dawn later", "went home", "she sang", "she sang later", "went home"],
        ),
        ({"events": ["Typical Time"]}, ["at dawn", "went home", "she sang", "she sang later"]),
    ],
)
def test_phrases_replace_events_and_words_are_replaced_elsewhere(options, expected):
    phrases = Technique(
        "phrases", lambda rows: [["went home"] for _ in rows], replaces_phrases=True
    )
    words = Technique("words", lambda rows: [[f"{row['answer']} later"] for row in rows])
    rows = [row(0, "at dawn"), row(1, "she sang", "q1", "Event Ordering")]
    assert answers(expand(rows, [words, phrases], **options)) == expected


def test_the_order_is_the_same_in_every_process():
    assert answers(expand([row(0, "x")], [make_technique("a", 6)], limit=4, seed=3)) == [
        "x",
        "x a2",
        "x a4",
        "x a1",
    ]


ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "X", "y", "z z", "now"]), st.sampled_from(["q0", "q1", "q2"])),
    max_size=12,
).map(lambda pairs: [row(i, answer, question) for i, (answer, question) in enumerate(pairs)])
TECHNIQUES = [
    make_technique("a", 3),
    Technique("same", lambda rows: [["One", "one"] for _ in rows]),
    make_technique("b", 2),
]


@given(ROWS, st.integers(1, 9), st.integers(0, 5))
def test_limits_originals_and_independent_questions(rows, limit, seed):
    found = expand(rows, TECHNIQUES, limit=limit, seed=seed)
    by_id = {row["id"]: row for row in rows}
    assert len({new["id"] for new in found}) == len(found)
    assert all(by_id[new["source"]]["question_id"] == new["question_id"] for new in found)
    for question in {row["question_id"] for row in rows}:
        of_question = [row for row in rows if row["question_id"] == question]
        mine = [new for new in found if new["question_id"] == question]
        originals = [new for new in mine if new["technique"] == "original"]
        assert len(mine) <= max(limit, len(originals))
        assert {new["answer"].casefold() for new in originals} == {
            row["answer"].casefold() for row in of_question
        }
        assert mine[: len(originals)] == originals
        assert len({new["answer"].casefold() for new in mine}) == len(mine)
        assert expand(of_question, TECHNIQUES, limit=limit, seed=seed) == mine


# Masks.


def masked_row(answer):
    return {
        "sentence": "The bridge was painted.",
        "question": "How long did it take?",
        "answer": answer,
    }


def always(*fillings):
    return lambda texts: [fillings for _ in texts]


def test_every_word_is_masked_once_in_its_context():
    received = []

    def fill(texts):
        received.extend(texts)
        return always("x")(texts)

    assert masked_variants(
        [masked_row("two days."), masked_row("a week")], fill=fill, mask_token=MASK
    ) == [
        ["x days.", "two x."],
        ["x week", "a x"],
    ]
    context = "The bridge was painted. How long did it take? "
    assert received == [
        context + answer
        for answer in (f"{MASK} days.", f"two {MASK}.", f"{MASK} week", f"a {MASK}")
    ]


@pytest.mark.parametrize(
    ("answer", "fillings", "expected", "why"),
    [
        (
            "days",
            ["weeks", "months", "years", "hours"],
            ["weeks", "months", "years"],
            "the top three",
        ),
        (
            "days",
            ["days", "weeks", "Days", "hours"],
            ["weeks", "hours"],
            "the word itself is skipped",
        ),
        ("days", [".", "-", "", " ", "weeks"], ["weeks"], "punctuation is skipped"),
        ("days", [" weeks", "weeks "], ["weeks"], "whitespace around a filling is ignored"),
        ("days", [], [], "no filling"),
        ("it's 9:30", ["x"], ["x 9:30", "it's x"], "apostrophe and colon are inside a word"),
        ("no no", ["no", "yes"], ["yes no", "no yes"], "each place separately"),
        ("a b", ["b", "a"], ["b b", "a a"], "only the masked word is compared"),
        ("?!", ["x"], [], "no word"),
        (f"a {MASK}", ["x"], [], "the mask itself"),
    ],
)
def test_fillings(answer, fillings, expected, why):
    assert masked_variants([masked_row(answer)], fill=always(*fillings), mask_token=MASK) == [
        expected
    ], why


# Phrases.


def slow_similar(phrases, texts, k):
    """Return the most similar phrases by a dense matrix of all similarities and a full sort."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    distinct = list(
        {" ".join(phrase.casefold().split()): phrase for phrase in reversed(phrases)}.values()
    )
    distinct.sort(key=phrases.index)
    vectorizer = TfidfVectorizer(token_pattern=r"\w+")  # noqa: S106
    vectors = vectorizer.fit_transform(distinct).toarray()
    found = []
    for vector, text in zip(vectorizer.transform(texts).toarray(), texts, strict=True):
        similarity = (vectors @ vector).round(12)
        order = sorted(range(len(distinct)), key=lambda i: (-similarity[i], i))
        same = " ".join(text.casefold().split())
        usable = [
            i
            for i in order
            if similarity[i] > 0 and " ".join(distinct[i].casefold().split()) != same
        ]
        found.append([distinct[i] for i in usable[:k]])
    return found


SHORT = st.lists(st.sampled_from(["a", "b", "C", "c", "dd", "e e", "  "]), max_size=4).map(" ".join)
SOME = st.lists(SHORT, min_size=1, max_size=8)


@given(SOME, SOME, st.integers(1, 4), st.integers(1, 30))
def test_phrases_are_those_of_the_slow_twin_for_any_batch_size(phrases, texts, k, cells):
    phrases = ["a word", *phrases]
    with mock.patch.object(candidates, "_MAX_SIMILARITIES", cells):
        assert PhraseIndex(phrases).similar(texts, k) == slow_similar(phrases, texts, k)


@pytest.mark.parametrize(
    ("text", "k", "expected", "why"),
    [
        ("painted a barn", 1, ["painted the barn"], "the best"),
        (
            "walked home",
            5,
            ["went home", "home the barn painted"],
            "the longer phrase is less similar",
        ),
        ("went HOME", 5, ["home the barn painted"], "the text itself is not returned"),
        ("flew away", 5, [], "no word in common"),
        (
            "barn barn",
            2,
            ["painted the barn", "sold the barn"],
            "barn weighs less next to the rarer sold",
        ),
    ],
)
def test_similar_phrases(text, k, expected, why):
    phrases = [
        "painted the barn",
        "sold the barn",
        "went home",
        "Went  Home",
        "home the barn painted",
    ]
    assert PhraseIndex(phrases).similar([text], k) == [expected], why


# Commands.

COMMAND = ["prepare", "mctaco", "candidates", "--config", "sample"]


def test_units_changes_only_answers(ran):
    assert ran("prepare", "mctaco", "units", "--config", "sample", "-o", "n.jsonl").startswith(
        "n.jsonl: 103 rows, "
    )
    before = read_gold(load_corpus("mctaco"), "sample").records
    after = [json.loads(line) for line in Path("n.jsonl").read_text("utf-8").splitlines()]
    changed = {
        old["answer"]: new["answer"] for old, new in zip(before, after, strict=True) if old != new
    }
    assert (changed["30 months"], changed["18 months"]) == ("2.5 years", "1.5 years")
    assert all(
        {**old, "answer": ""} == {**new, "answer": ""}
        for old, new in zip(before, after, strict=True)
    )


def test_candidates_fit_their_schema_and_the_limit(ran):
    Path("phrases.txt").write_text(
        "she sold the boat\nthe bridge was closed\nhe went to the museum\n", "utf-8"
    )
    options = [
        "--number-rule",
        "times_ten",
        "--phrases",
        "phrases.txt",
        "--limit",
        "12",
        "--changes",
        "2",
    ]
    texts = []
    for seed in ("0", "0", "1"):
        ran(*COMMAND, *options, "--seed", seed, "-o", "c.jsonl")
        texts.append(Path("c.jsonl").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    made = read_rows(Path("c.jsonl"), "mctaco", "candidate")
    assert max(Counter(row["question_id"] for row in made).values()) == 12
    assert {row["technique"] for row in made} == {"original", "rules", "retrieval"}


def test_events_and_phrases_without_each_other_are_told(run, here):
    told = "note: 5 questions of Event Ordering will get no new candidates: their answers are events, for which phrases"
    assert (
        f"{told} are retrieved (see --phrases, or use --events none).\n"
        in run(*COMMAND, "-o", "c.jsonl").stderr
    )
    assert told not in run(*COMMAND, "-o", "c.jsonl", "--events", "none").stderr
    Path("own.tsv").write_text("She paints.\tWhen?\tnow\tyes\tTypical Time\n", "utf-8")
    Path("phrases.txt").write_text("she paints now\n", "utf-8")
    command = [*COMMAND[:3], "--gold", "own.tsv", "--phrases", "phrases.txt", "-o", "c.jsonl"]
    note = (
        "note: no phrases are retrieved: there is no question of Event Ordering (see --events).\n"
    )
    assert run(*command).stderr.endswith(note)
    assert "retrieval" not in Path("c.jsonl").read_text("utf-8")
    assert note not in run(*command, "--events", "none").stderr
    assert "retrieval" in Path("c.jsonl").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--events", "event ordering"], 2, "no such category of events: 'event ordering'."),
        (["--events", "event ordering"], 2, "Did you mean 'Event Ordering'?"),
        (
            ["--events", "none", "--events", "Frequency"],
            2,
            "events: 'none' excludes other categories",
        ),
        (
            ["--phrases", "phrases.txt"],
            1,
            "phrases.txt: no phrase contains a word (expected at least one)",
        ),
    ],
)
def test_bad_requests(run, here, options, code, message):
    Path("phrases.txt").write_text("…\n", "utf-8")
    result = run(*COMMAND, *options, "-o", "c.jsonl")
    assert (result.exit_code, Path("c.jsonl").exists()) == (code, False)
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_libraries_that_are_not_installed(run, here, monkeypatch):
    for library in ("text_to_num", "sklearn.feature_extraction.text"):
        monkeypatch.setitem(__import__("sys").modules, library, None)
    Path("phrases.txt").write_text("she paints now\n", "utf-8")
    for command, message in (
        (
            ["prepare", "mctaco", "units", "--config", "sample"],
            "parsing number words needs text2num",
        ),
        ([*COMMAND, "--phrases", "phrases.txt"], "phrase retrieval needs scikit-learn"),
    ):
        result = run(*command, "-o", "n.jsonl")
        assert (result.exit_code, Path("n.jsonl").exists()) == (1, False)
        assert result.stderr == f"Error: {message}: pip install 'closeread[perturb]'\n"
