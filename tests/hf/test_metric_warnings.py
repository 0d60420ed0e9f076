"""Evaluate modules warn of what is unusual about their inputs, as `closeread.score` does, once."""

import warnings

import pytest
from shared.entry_points import sample_gold, system_rows

import closeread
from closeread import CloseReadWarning
from closeread.corpus import notices

pytestmark = pytest.mark.usefixtures("offline")


@pytest.fixture
def told(monkeypatch):
    """Calls a function, and returns the texts of its warnings, as if it were the first of a session."""

    def call(function, *arguments, **options):
        monkeypatch.setattr(notices, "_shown", set())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*arguments, **options)
            function(*arguments, **options)
        ours = [warning for warning in caught if issubclass(warning.category, CloseReadWarning)]
        assert {warning.filename for warning in ours} <= {__file__}
        return [str(warning.message) for warning in ours]

    return call


CASES = {
    "tne_links": (
        "tne",
        ["2 linked noun phrases are times, dates or measurements (first: np2 in 's1')."],
    ),
    "possession": (
        "wikipossessions",
        [
            "1 possession has a relation to an unknown anchor (first: in 'The Lighthouse Clock').",
            "predictions: row 3: article 'The Lighthouse Clock': 1 possession has a relation to an unknown anchor, "
            "which is kept (first: possessions[2] ('Coastal Trust.'), 'Unknown')",
        ],
    ),
    "timeline_awareness": (
        "semeval2015_timeline",
        [
            "predictions: row 1: positions have gaps: 4 positions up to 5 (released timelines count from 1 without gaps)"
        ],
    ),
    "mctaco": ("mctaco", []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_module_warns_as_score_does(told, name, evaluate):
    corpus, expected = CASES[name]
    gold, system = sample_gold(corpus), system_rows(corpus)
    assert told(closeread.score, corpus, system, gold=gold) == expected
    module = evaluate.load(name)
    if name == "mctaco":
        system = [row["label"] for row in system]
    assert told(module.compute, predictions=system, references=gold) == expected
    assert told(module.report, predictions=system, references=gold) == expected


def test_batches_warn_when_they_are_scored(told, evaluate):
    key, response = [[[[0, 0], [1, 1]]]], [[[[0, 0], [1, 1]], [[1, 1], [2, 2]]]]
    module = evaluate.load("coref_muc")

    def score():
        module.add_batch(predictions=response, references=key)
        module.compute(duplicates="first")

    assert told(score) == [
        "the response repeats 1 mention; only the first of each counts, in the order of the text"
    ]


def test_predictions_that_are_missing_are_not_odd(told, evaluate):
    gold, system = sample_gold("wikipossessions"), system_rows("wikipossessions")
    system[0] = None
    module = evaluate.load("possession")
    found = told(module.compute, predictions=system, references=gold, missing="empty")
    assert found == CASES["possession"][1]


def test_repeated_mentions_are_told(told, evaluate):
    key, response = [[[[0, 0], [1, 1]]]], [[[[0, 0], [1, 1]], [[1, 1], [2, 2]]]]
    module = evaluate.load("coref_muc")
    repeated = [
        "the response repeats 1 mention; only the first of each counts, in the order of the text"
    ]
    assert told(closeread.score, "coref", response, gold=key, duplicates="first") == repeated
    assert (
        told(module.compute, predictions=response, references=key, duplicates="first") == repeated
    )
    reference = ["the response repeats 1 mention; counted as by the reference scorer"]
    options = {"duplicates": "reference"}
    assert told(module.compute, predictions=response, references=key, **options) == reference
