"""Comparisons of several systems at once are those of every pair alone, and of systems that were scored alone."""

from itertools import combinations

import numpy as np
import pytest
import twins.paired_tests as twin
from hypothesis import given
from hypothesis import strategies as st

import closeread
from closeread import RequestError
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import F1, MeanOf, Metric, Ratio
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import CountTable

NAMES = ("right", "system", "gold")
PRECISION, RECALL = Ratio("right", "system"), Ratio("right", "gold")
METRICS = (
    Metric("precision", "", "", PRECISION),
    Metric("recall", "", "", RECALL, zero_division=0.0),
    Metric("f1", "", "", F1(PRECISION, RECALL), zero_division=1.0),
    Metric("mean", "", "", MeanOf((PRECISION, RECALL)), zero_division=0.0),
)


@st.composite
def systems(draw):
    """Counts of several systems on the same units, some of whose blocks have the same gold."""
    n_units, n_systems = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    blocks = np.unique(draw(st.lists(st.integers(0, 3), min_size=n_units, max_size=n_units)), return_inverse=True)[1]
    digests = [bytes([draw(st.integers(0, 2))]) * 32 for _ in range(n_units)]
    number = st.sampled_from([0.0, 1.0, 2.0, 7.0, 0.25, 0.5])  # whose sums are exact, so that no tiny rest is divided
    return [
        CountTable(
            [f"u{unit}" for unit in range(n_units)],
            blocks.astype(np.int64),
            NAMES,
            np.cumsum(draw(st.lists(st.lists(number, min_size=3, max_size=3), min_size=n_units, max_size=n_units)), 1),
            digests=digests,
        )
        for _ in range(n_systems)
    ]


PARAMETERS = {"n_resamples": 40, "confidence": 0.9, "seed": 3}


@given(tables=systems())
def test_all_pairs_are_those_of_the_twin(tables):
    found = compare_pairs(tables, METRICS, **PARAMETERS)
    for i, j in combinations(range(len(tables)), 2):
        for metric in METRICS:
            expected = twin.compare(tables[i], tables[j], metric, **PARAMETERS)
            np.testing.assert_array_equal(found[i, j][metric.name], expected)


def test_the_bootstrap_is_described_in_one_way():
    gold = {"a": [[[0, 0], [1, 1]]]}
    for more in ({"seed": 1}, {"resamples": 1000}, {"confidence": 0.9}):
        with pytest.raises(RequestError, match="give one or the other"):
            closeread.score("coref", gold, gold=gold, resampling=Resampling(), **more)
