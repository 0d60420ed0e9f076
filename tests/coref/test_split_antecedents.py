"""Entities with split antecedents by hand."""

from fractions import Fraction

import numpy as np
import pytest

from closeread.arrays import LimitError
from closeread.tasks.coref.metrics.overlap import Side
from closeread.tasks.coref.universal_anaphora import split_antecedents as sets_module
from closeread.tasks.coref.universal_anaphora.split_antecedents import (
    METRICS,
    AntecedentSet,
    count_with_sets,
    map_sets,
)


def columns(documents):
    """Convert documents, each a side as the twin takes it, to a side and its sets."""
    rows, sets, entity = [], [[] for _ in documents], 0
    for document, entities in enumerate(documents):
        for mentions, antecedents in entities:
            rows += [(document, mention, entity) for mention in mentions]
            sets[document] += [AntecedentSet(entity, antecedents)] if antecedents else []
            entity += 1
    return Side(*np.array(rows, np.int64).reshape(-1, 3).T), sets


def count(metric, key, response, *, only=False):
    (own, ours), (other, theirs) = columns(key), columns(response)
    if only:
        return map_sets(ours, theirs, metric)[1]
    return count_with_sets((own, other), ours, theirs, metric)


ANN, BOB, SUE = [0, 1], [2, 3], [4]
KEY = [(ANN, []), (BOB, []), (SUE, []), ([5, 6], [ANN, BOB])]


@pytest.mark.parametrize(
    ("response", "recall", "precision"),
    [
        # The set lacks Bob, and its only antecedent is right: 1 of 2 links or 2 of 4 mentions are found.
        (
            [(ANN, []), (BOB, []), (SUE, []), ([5, 6], [ANN])],
            {
                "muc": (Fraction(7, 2), 4),
                "b3": (5 + Fraction(25, 12), 8),
                "lea": (5 + Fraction(2), 8),
            },
            {"muc": (4, 4), "b3": (8, 8), "lea": (8, 8)},
        ),
        # No set at all: the mention of the key that is the set is missed.
        (
            [(ANN, []), (BOB, []), (SUE, []), ([5, 6], [])],
            {"muc": (3, 4), "b3": (5 + Fraction(4, 3), 8), "lea": (5 + Fraction(1), 8)},
            {"muc": (3, 3), "b3": (7, 7), "lea": (7, 7)},
        ),
        # The set is found, but in an entity of another mention: it shares no link, and stands alone for B³.
        (
            [(ANN, []), (BOB, []), (SUE, []), ([5, 6], []), ([7], [ANN, BOB])],
            {"muc": (3, 4), "b3": (5 + Fraction(5, 3), 8), "lea": (5 + Fraction(1), 8)},
            {"muc": (3, 4), "b3": (7 + Fraction(1, 2), 9), "lea": (7, 9)},
        ),
    ],
)
def test_by_hand(response, recall, precision):
    for metric in recall:
        found = count(metric, [KEY], [response])[0]
        assert found == pytest.approx(
            [float(value) for value in (*recall[metric], *precision[metric])]
        ), metric


def test_ceaf_by_hand():
    response = [(ANN, []), (BOB, []), (SUE, []), ([5, 6], [ANN])]
    # F1 of the sets is 2/3 for CEAFm (2 of 4 and 2 of 2 mentions) and for CEAFe (1 of 2 and 1 of 1 entities).
    assert count("ceafm", [KEY], [response])[0] == pytest.approx([7 + 2 / 3, 8, 7 + 2 / 3, 8])
    assert count("ceafe", [KEY], [response])[0] == pytest.approx([3 + 8 / 9, 4, 3 + 8 / 9, 4])


def test_comparisons_of_sets_have_a_limit(monkeypatch):
    # A set of two entities with two mentions each, compared with three of the other side: 12 mentions.
    key = [(ANN, []), (BOB, []), ([9], [ANN, BOB])]
    response = [(ANN, []), *(([number], [ANN]) for number in range(10, 13))]
    n = 3 * (len(ANN) + len(BOB))
    monkeypatch.setattr(sets_module, "MAX_COMPARED", n)
    for sides in ((key, response), (response, key)):
        assert count("muc", *([side] for side in sides)).shape == (1, 4)
    monkeypatch.setattr(sets_module, "MAX_COMPARED", n - 1)
    for sides in ((key, response), (response, key)):
        with pytest.raises(
            LimitError, match=f"{n} mentions of split antecedents to compare .*at most {n - 1}"
        ):
            count("muc", *([side] for side in sides))


def test_nothing():
    for metric in METRICS:
        assert count(metric, [[]], [[]]).tolist() == [[0, 0, 0, 0]]
        assert count(metric, [[]], [[]], only=True).tolist() == [[0, 0, 0, 0]]
