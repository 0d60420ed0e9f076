"""The two extremes, with the gold mentions: everything is one entity, or nothing corefers."""

from fractions import Fraction

import pytest

import closeread
from closeread.counts.estimates import Resampling
from closeread.tasks.coref.baselines import one_entity, singletons

KEY = [
    {"document": "a", "clusters": [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]},
    {"document": "empty", "clusters": []},
]
MENTIONS = [[i, i] for i in range(7)]


def test_rows():
    assert one_entity(KEY) == [
        {"document": "a", "clusters": [MENTIONS]},
        {"document": "empty", "clusters": []},
    ]
    assert singletons(KEY) == [
        {"document": "a", "clusters": [[mention] for mention in MENTIONS]},
        {"document": "empty", "clusters": []},
    ]
    twice = [{"document": "a", "clusters": [[[0, 1], [2, 2]], [[2, 2]]]}]
    assert one_entity(twice) == [{"document": "a", "clusters": [[[0, 1], [2, 2]]]}]


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        # One entity of 7: of its 6 links, 2 + 3 are right; of each mention's entity of 7, 3 or 4 are right.
        (
            one_entity,
            {"muc/recall": 1, "muc/precision": "5/6", "b3/recall": 1, "b3/precision": "25/49"},
        ),
        # No links; a mention of an entity of n finds 1/n of it.
        (singletons, {"muc/recall": 0, "muc/precision": 0, "b3/recall": "2/7", "b3/precision": 1}),
    ],
)
def test_scores(baseline, expected):
    report = closeread.score("coref", baseline(KEY), gold=KEY, resampling=Resampling(0))
    scores = {name: report.total.scores[name].value for name in expected}
    assert scores == pytest.approx(
        {name: float(Fraction(value)) for name, value in expected.items()}
    )
    assert report.total.scores["mentions/f1"].value == 1
