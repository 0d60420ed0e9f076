"""Agreement of several annotators of possessions: by hand, and on the command line."""

from fractions import Fraction

import pytest
from shared.for_each import for_each

from closeread.exceptions import FormatError
from closeread.tasks.wikipossessions.agreement import agreement, measure_agreement

NAMES = ("anna", "ben", "cem")
ROWS = {
    "anna": [("Ada", "1", "1900", "PC"), ("Ben", "2", "1900", "PC"), ("Cleo", "3", "1950", "PC")],
    "ben": [
        ("Ada", "1", "1900", "PUC"),
        ("Cleo", "2", "1951", "PC"),
        ("Dora", "3", "1900", "PC"),
        ("Ben", "4", "1900", "PC"),
    ],
    "cem": [("Ada", "1", "1900", "PC"), ("Ben", "2", "1950", "PC")],
}
CERTAINTY = {"PC": "certain", "PUC": "uncertain"}

# Of Anna's three possessors Ben has all, and Dora; Cem has two of Anna's three and of Ben's four.
POSSESSORS = ("6/7", "4/5", "2/3")
# Anna and Ben agree on two of the three pairs of Ada, Ben and Cleo; everybody has Ada before Ben.
ORDERING = ("2/3", "1", "1")
# Of all possessors: 2 of 6 and 3 pairs, 1 of 1 and 3, 1 of 1 and 6.
ALL_ORDERING = ("4/9", "1/2", "2/7")
# 1900, 1900, 1950 and 1900, 1900, 1951: (2/3 - 4/9) / (5/9).  Cem's second is another than Anna's and Ben's, who have
# one anchor only, so that agreement is at chance level.
ANCHORS = ("2/5", "0", "0")
# Ben's only uncertain possessor is certain to both others, who have no other label at all.
CERTAINTIES = ("0", None, "0")


def record(name):
    possessions = [
        {"type": "PER", "possessor": possessor, "certainty": CERTAINTY[certainty], "order": order, "anchor": anchor,
         "relation": "during", "relation_certainty": "certain"}
        for possessor, order, anchor, certainty in ROWS[name]
    ]  # fmt: skip
    return [{"article": "The Jug", "possessions": possessions}]


def values(fractions):
    return [None if one is None else float(Fraction(one)) for one in fractions]


@for_each(("pairs", "ordering"), [("shared", ORDERING), ("all", ALL_ORDERING)])
def test_three_annotators_by_hand(pairs, ordering):
    found = measure_agreement([record(name) for name in NAMES], NAMES, pairs=pairs)
    assert list(found.pairs) == [(0, 1), (0, 2), (1, 2)]
    expected = {
        "possessor/f1": POSSESSORS,
        "ordering/f1": ordering,
        "anchor/kappa": ANCHORS,
        "certainty/kappa": CERTAINTIES,
        "relation/kappa": (None,) * 3,
        "relation_certainty/kappa": (None,) * 3,
    }
    assert set(found.mean) == set(expected)
    for name, fractions in expected.items():
        assert [one.summarize()[name] for one in found.pairs.values()] == [
            None if value is None else pytest.approx(value) for value in values(fractions)
        ]
        known = [Fraction(one) for one in fractions if one is not None]
        assert found.mean[name] == (pytest.approx(float(sum(known) / len(known))) if known else None)
    assert found.pairs[1, 2] == agreement(record("ben"), record("cem"), pairs=pairs)
    assert list(found.describe_left_out()) == ["certainty kappa: the mean leaves out 1 of 3 pairs, without a value."]


def test_articles_of_all_annotators_are_compared():
    sides = [[{"article": name, "possessions": []} for name in names] for names in ("AB", "A", "ABC")]
    with pytest.raises(FormatError) as caught:
        measure_agreement(sides, NAMES)
    assert [problem.what for problem in caught.value.problems] == [
        "ben lacks 1 of the 2 articles of anna: 'B' (expected the same articles)",
        "anna lacks 1 of the 3 articles of cem: 'C' (expected the same articles)",
    ]
