"""Errors of labels: questions by hand, and what other commands count."""

import pytest

import closeread
from closeread.counts.estimates import Resampling
from closeread.exceptions import RequestError, SubmissionError
from closeread.tasks.mctaco.errors import FIELDS
from closeread.tasks.mctaco.perturbation.units import find_units

NO_CI = Resampling(0)
SAMPLE = ("--config", "sample")


def make_question(number, category, *candidates):
    """The records of a question: answers with gold labels."""
    return [
        {
            "id": f"c{number}-{i}",
            "question_id": f"q{number}",
            "sentence_id": f"s{number}",
            "sentence": f"Sentence {number}.",
            "question": f"Question {number}?",
            "answer": answer,
            "label": label,
            "category": category,
        }
        for i, (answer, label) in enumerate(candidates)
    ]


DURATION = (
    ("2 hours", "yes"),
    ("an hour", "yes"),
    ("3 years", "no"),
    ("an hour a day", "no"),
    ("forever", "no"),
)
FREQUENCY = (("every week", "no"), ("Years", "no"))
GOLD = [*make_question(0, "Event Duration", *DURATION), *make_question(1, "Frequency", *FREQUENCY)]
PREDICTED = ("yes", "no", "yes", "no", "no", "no", "no")
ROWS = [{"id": record["id"], "label": label} for record, label in zip(GOLD, PREDICTED, strict=True)]


@pytest.fixture
def found():
    return closeread.errors("mctaco", ROWS, gold=GOLD, resampling=NO_CI)


# By hand: questions, exact match, F1, candidates, accuracy, false yes of gold no, false no of gold yes.
BY_HAND = {
    # Of the five, one yes is missed and one no is called yes: precision and recall are 1/2.
    ("category", "Event Duration"): (1, 0, 0.5, 5, 0.6, 1 / 3, 0.5),
    # No yes on either side: F1 is 1.
    ("category", "Frequency"): (1, 1, 1, 2, 1, 0, None),
    ("unit", "hour"): (1, 0, 2 / 3, 2, 0.5, None, 0.5),
    # Two questions have a candidate in years: wrong in one, with F1 0, right in the other.
    ("unit", "year"): (2, 0.5, 0.5, 2, 0.5, 0.5, None),
    ("unit", "week"): (1, 1, 1, 1, 1, 0, None),
    ("unit", "several"): (1, 1, 1, 1, 1, 0, None),
    ("unit", "none"): (1, 1, 1, 1, 1, 0, None),
    ("question_size", "1 to 4"): (1, 1, 1, 2, 1, 0, None),
    ("question_size", "5 to 8"): (1, 0, 0.5, 5, 0.6, 1 / 3, 0.5),
    ("gold_yes", "none"): (1, 1, 1, 2, 1, 0, None),
    ("gold_yes", "up to 50%"): (1, 0, 0.5, 5, 0.6, 1 / 3, 0.5),
}


def test_scores_by_hand(found):
    counted = {}
    for field, slices in found.report.slices.items():
        for part, scores in slices.items():
            values = {name: estimate.value for name, estimate in scores.scores.items()}
            counts = [scores.counts[name] for name in ("questions", "candidates")]
            counted[field, part] = (
                *(counts[0], values["exact_match"], values["f1"], counts[1]),
                *(values[name] for name in ("accuracy", "false_yes", "false_no")),
            )
    assert counted == {place: pytest.approx(values) for place, values in BY_HAND.items()}


def test_bins_at_their_bounds():
    # candidates of a question; plausible ones of four
    sizes, shares = (4, 5, 8, 9, 12, 13), (1, 2, 3, 4)
    gold = [
        row
        for number, (size, n_yes) in enumerate(
            [*((size, 0) for size in sizes), *((4, n_yes) for n_yes in shares)]
        )
        for row in make_question(
            number, "Frequency", *((f"{i}", "yes" if i < n_yes else "no") for i in range(size))
        )
    ]
    rows = [{"id": record["id"], "label": "no"} for record in gold]
    slices = closeread.errors("mctaco", rows, gold=gold, resampling=NO_CI).report.slices
    found = {
        field: {part: one.counts["questions"] for part, one in slices[field].items()}
        for field in slices
    }
    assert found["question_size"] == {"1 to 4": 5, "5 to 8": 2, "9 to 12": 2, "over 12": 1}
    assert found["gold_yes"] == {
        "none": 6, "up to 25%": 1, "up to 50%": 1, "up to 75%": 1, "all": 1,
    }  # fmt: skip


def test_lists_by_hand(found):
    (question,) = found.listings["questions"].rows
    assert question["question_id"] == "q0"
    assert (question["category"], question["wrong"]) == ("Event Duration", 2)
    assert [tuple(candidate.values()) for candidate in question["candidates"]] == [
        (answer, label, predicted)
        for (answer, label), predicted in zip(DURATION, PREDICTED, strict=False)
    ]
    header, rows = found._to_rows()
    texts = ["Sentence 0.", "Question 0?"]
    assert list(header) == [
        *("question_id", "id", "sentence", "question", "answer", "gold", "predicted"), *FIELDS
    ]  # fmt: skip
    assert rows == [
        [
            "q0",
            "c0-1",
            *texts,
            "an hour",
            "yes",
            "no",
            "Event Duration",
            "hour",
            "5 to 8",
            "up to 50%",
        ],
        [
            "q0",
            "c0-2",
            *texts,
            "3 years",
            "no",
            "yes",
            "Event Duration",
            "year",
            "5 to 8",
            "up to 50%",
        ],
    ]
    (as_json,) = found.to_dict()["errors"]["questions"]
    assert as_json["candidates"][1] == {"answer": "an hour", "gold": "yes", "predicted": "no"}
    assert "q0 (Event Duration): 2 of 5 candidates wrong" in str(found)
    assert repr(found) == "<ErrorReport: right 5, false yes 1, false no 1>"


def test_the_worst_come_first():
    gold = [
        *make_question(0, "Frequency", ("a", "yes"), ("b", "yes")),
        *make_question(1, "Frequency", ("a", "yes"), ("b", "yes"), ("c", "no")),
        *make_question(2, "Frequency", ("a", "yes"), ("b", "yes"), ("c", "yes"), ("d", "no")),
    ]
    rows = [{"id": record["id"], "label": "no"} for record in gold]
    found = closeread.errors("mctaco", rows, gold=gold, resampling=NO_CI, limit=1)
    # Three errors, then two of two, then two of three.
    questions = found.to_dict()["errors"]["questions"]
    assert [question["question_id"] for question in questions] == ["q2", "q0", "q1"]
    assert [row[0] for row in found._to_rows()[1]] == ["q2", "q2", "q2", "q0", "q0", "q1", "q1"]
    assert str(found).count(" wrong\n") == 1
    assert "2 more questions with errors: see to_dict() and to_frame()." in str(found)


@pytest.mark.parametrize(
    ("answer", "units"),
    [
        ("two hours", ["hour"]),
        ("Hours", ["hour"]),
        ("half an hour a day", ["hour", "day"]),
        ("2 days and 3 days", ["day"]),
        ("120 second days", ["day"]),
        ("a two-day tour", []),
        ("the day's end", []),
        ("centuries ago", ["century"]),
        ("", []),
    ],
)
def test_units_of_answers(answer, units):
    assert find_units(answer) == units


# Doors.


@pytest.fixture
def predictions(ran):
    ran("baseline", "mctaco", "random", *SAMPLE, "-o", "mine.jsonl")
    return "mine.jsonl"


def test_scores_are_those_of_score(predictions):
    scored = closeread.score("mctaco", predictions, config="sample", by="category")
    found = closeread.errors("mctaco", predictions, config="sample").report
    pairs = [(found.total, scored.total)]
    pairs += [
        (found.slices["category"][name], of) for name, of in scored.slices["category"].items()
    ]
    for ours, theirs in pairs:
        assert {name: ours.scores[name] for name in theirs.scores} == theirs.scores
        assert {name: ours.counts[name] for name in theirs.counts} == theirs.counts
        assert (ours.n_units, ours.n_blocks) == (theirs.n_units, theirs.n_blocks)
    assert found.provenance == scored.provenance


def test_candidates_without_a_prediction():
    one = [{"id": "c0-2", "label": "yes"}, *ROWS[5:]]
    empty = closeread.errors("mctaco", one, gold=GOLD, missing="empty", resampling=NO_CI)
    # Two yes and two no have no prediction: all four are wrong, the yes falsely no.
    counts = empty.report.total.counts
    assert [counts[name] for name in ("correct", "false_yes", "false_no")] == [2, 1, 2]
    assert [row[6] for row in empty._to_rows()[1]] == [None, None, "yes", None, None]
    assert "2 hours         yes    –" in str(empty)
    skipped = closeread.errors("mctaco", one, gold=GOLD, missing="skip", resampling=NO_CI)
    assert skipped.report.total.n_units == 1
    assert skipped._to_rows()[1] == skipped.listings["questions"].rows == []
    with pytest.raises(SubmissionError, match="4 of 7 ids have no prediction"):
        closeread.errors("mctaco", one, gold=GOLD)


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({"by": "unti"}, "no such by: 'unti'. Did you mean 'unit'?"),
        ({"limit": -1}, r"limit is -1 \(expected a whole number from 0\)"),
        ({"missing": "maybe"}, "'maybe' is not one of"),
        ({"document": "x"}, "no such option of mctaco: 'document'"),
    ],
)
def test_bad_requests(given_options, message):
    with pytest.raises(RequestError, match=message):
        closeread.errors("mctaco", ROWS, gold=GOLD, **given_options)
