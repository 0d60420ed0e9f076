"""Comparisons of several systems at once are those of every pair alone, and of systems that were scored alone."""

import gc
import weakref
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import twins.paired_tests as twin
from hypothesis import given
from hypothesis import strategies as st

import closeread
from closeread import RequestError
from closeread.cli import main
from closeread.counts.comparison import compare_systems
from closeread.counts.counts import Counts, Provenance, make_report
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import F1, MeanOf, Metric, Ratio
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import CountTable
from closeread.scoring import Scorer
from closeread.tasks import load_procedure

NAMES = ("right", "system", "gold")
PRECISION, RECALL = Ratio("right", "system"), Ratio("right", "gold")
METRICS = (
    Metric("precision", "", "", PRECISION),
    Metric("recall", "", "", RECALL, zero_division=0.0),
    Metric("f1", "", "", F1(PRECISION, RECALL), zero_division=1.0),
    Metric("mean", "", "", MeanOf((PRECISION, RECALL)), zero_division=0.0),
)
PROCEDURE = replace(load_procedure("mctaco"), metrics=METRICS, unit="unit", resampling_unit="block")


@st.composite
def systems(draw):
    """Counts of several systems on the same units, some of whose blocks have the same gold."""
    n_units, n_systems = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    blocks = np.unique(
        draw(st.lists(st.integers(0, 3), min_size=n_units, max_size=n_units)), return_inverse=True
    )[1]
    digests = [bytes([draw(st.integers(0, 2))]) * 32 for _ in range(n_units)]
    # whose sums are exact, so that no tiny rest is divided
    number = st.sampled_from([0.0, 1.0, 2.0, 7.0, 0.25, 0.5])
    return [
        CountTable(
            [f"u{unit}" for unit in range(n_units)],
            blocks.astype(np.int64),
            NAMES,
            np.cumsum(
                draw(
                    st.lists(
                        st.lists(number, min_size=3, max_size=3), min_size=n_units, max_size=n_units
                    )
                ),
                1,
            ),
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
            np.testing.assert_array_equal(found[i, j][metric.name][:5], expected)


def count(table):
    """Counts as of a procedure with these scores."""
    provenance = Provenance(
        "mctaco", 1, {"missing": "error"}, "signature", "mctaco", None, None, None, 0
    )
    return Counts(table, PROCEDURE, provenance)


@given(tables=systems())
def test_comparisons_are_those_of_pairs_and_of_systems_alone(tables):
    # The last system has a count more than the others, as stored counts may.
    last = tables[-1]
    more = replace(
        last, names=(*NAMES, "more"), values=np.column_stack([last.values, last.values[:, 0]])
    )
    counted = [count(table) for table in (*tables[:-1], more)]
    drawn = Resampling(40, 0.9, 3)
    names = [f"system {i}" for i in range(len(counted))]
    scores = [metric.name for metric in METRICS]
    found = compare_systems(names, counted, scores, drawn, baseline=0)
    for comparison, table, other in zip(found, tables[1:], counted[1:], strict=True):
        assert comparison.reports == tuple(
            make_report(one, resampling=drawn) for one in (counted[0], other)
        )
        for metric in METRICS:
            expected = twin.compare(tables[0], table, metric, **PARAMETERS)
            np.testing.assert_array_equal(comparison.differences[metric.name][:5], expected)


def test_a_system_is_dropped_before_the_next_is_read(tmp_path, monkeypatch):
    """Memory grows with the counts of systems, not with their texts."""
    lines = [
        "#begin document (a); part 000",
        *(f"a\t0\t{i}\tshe\t-\t({i % 2})" for i in range(4)),
        "",
        "#end document",
    ]
    paths = [tmp_path / f"{name}.conll" for name in ("key", "one", "two", "three")]
    for path in paths:
        path.write_text("\n".join(lines) + "\n", "utf-8")
    read, alive, seen = Scorer.read, [], []

    def watch(self, source):
        gc.collect()
        seen.append(sum(one() is not None for one in alive))
        system = read(self, source)
        alive.append(weakref.ref(system))
        return system

    monkeypatch.setattr(Scorer, "read", watch)
    monkeypatch.setattr("sys.argv", ["closeread", "compare", "coref", *map(str, paths)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert seen == [0, 0, 0]


def test_the_bootstrap_is_described_in_one_way():
    gold = {"a": [[[0, 0], [1, 1]]]}
    for more in ({"seed": 1}, {"resamples": 1000}, {"confidence": 0.9}):
        with pytest.raises(RequestError, match="give one or the other"):
            closeread.score("coref", gold, gold=gold, resampling=Resampling(), **more)


def test_more_sums_than_fit_are_refused_before_anything_is_drawn():
    table = CountTable(["a", "b"], np.arange(2), ("x",), np.ones((2, 1)))
    with pytest.raises(
        RequestError, match=r"1 count of 2 systems are 100,000,000 sums \(expected at most"
    ):
        compare_pairs([table, table], (), n_resamples=5 * 10**7, confidence=0.95, seed=0)
