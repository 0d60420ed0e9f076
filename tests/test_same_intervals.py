"""The interval of a score depends on nothing but what its signature says, the seed and the number of resamples."""

import random
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closeread
from closeread.arrays import round_for_exact_sums, sum_groups, sum_rows
from closeread.counts.estimates import Resampling, score
from closeread.counts.metrics import F1, Metric, Ratio
from closeread.counts.resampling import compare_pairs, sum_weighted
from closeread.counts.table import CountTable, merge

METRICS = (
    Metric("mean", "Mean", "", Ratio("sum", "n")),
    Metric("f1", "F1", "", F1(Ratio("sum", "n"), Ratio("n", "all")), zero_division=0.0),
)
RESAMPLING = Resampling(50)
# The values of "bca" depend on sums over blocks, too.
BOTH_INTERVALS = pytest.mark.parametrize("interval", ["percentile", "bca"])

# The values of B³ and CEAF are such fractions.
values = st.integers(1, 40).flatmap(lambda n: st.integers(0, 3 * n).map(lambda k: k / n))
# The gold of some documents is the same, as that of documents without entities is.
rows = st.tuples(st.integers(0, 3), values, st.integers(1, 3), st.integers(0, 6))


def make_table(rows):
    """Make a table from (gold, sum, n, block); the blocks are numbered as they come."""
    numbers = {}
    blocks = np.array([numbers.setdefault(row[3], len(numbers)) for row in rows])
    counts = np.array([[row[1], row[2], 7.0] for row in rows])
    digests = [sha256(bytes([row[0]])).digest() for row in rows]
    names = [f"unit {i}" for i in range(len(rows))]
    return CountTable(names, blocks, ("sum", "n", "all"), counts, digests=digests)


@BOTH_INTERVALS
@given(st.lists(rows, min_size=2, max_size=12), st.randoms())
def test_order_and_names_of_units_do_not_matter(interval, some, shuffler):
    again = shuffler.sample(some, len(some))
    resampling = Resampling(50, interval=interval)
    assert score(make_table(again), METRICS, resampling) == score(
        make_table(some), METRICS, resampling
    )


@given(st.lists(rows, min_size=2, max_size=12))
def test_other_scores_and_counts_do_not_matter(some):
    table = make_table(some)
    (mean,) = score(table.with_counts(("sum", "n")), METRICS[:1], RESAMPLING).scores.values()
    assert mean == score(table, METRICS, RESAMPLING).scores["mean"]


@BOTH_INTERVALS
@given(st.lists(rows, min_size=2, max_size=12))
def test_shards_do_not_matter(interval, some):
    table = make_table(some)
    shards = [table.select(table.blocks == block) for block in range(table.n_blocks)]
    resampling = Resampling(50, interval=interval)
    assert score(merge(shards[::-1]), METRICS, resampling) == score(table, METRICS, resampling)


@BOTH_INTERVALS
@given(st.lists(st.tuples(rows, values), min_size=2, max_size=12), st.randoms())
def test_order_of_units_does_not_matter_to_a_difference(interval, pairs, shuffler):
    def differ(pairs):
        named = [
            (name, (*row[:3], name), (row[0], other, row[2], name)) for name, (row, other) in pairs
        ]
        tables = [make_table(side) for side in zip(*[pair[1:] for pair in named], strict=True)]
        units = [f"unit {name}" for name, *_ in named]
        tables = [CountTable(units, t.blocks, t.names, t.values, digests=t.digests) for t in tables]
        options = {"n_resamples": 50, "confidence": 0.95, "seed": 0, "interval": interval}
        return compare_pairs([*tables], METRICS, **options)[0, 1]

    there = list(enumerate(pairs))
    # NaN, of undefined scores, is not equal to itself.
    assert repr(differ(shuffler.sample(there, len(there)))) == repr(differ(there))


@given(st.lists(values, min_size=1, max_size=40), st.randoms())
def test_sums_are_exact(some, shuffler):
    exact = sum(map(Fraction, some))
    again = np.array(shuffler.sample(some, len(some)))
    (total,) = sum_rows(again[:, None])
    assert total == float(exact)
    assert total == sum_rows(np.array(some)[:, None])[0]
    assert sum_groups(np.zeros(len(some), np.int64), again, 2).tolist() == [total, 0]
    (once,) = sum_weighted([np.ones((1, len(some)), np.int64)], again[:, None])
    assert once.tolist() == pytest.approx([total], rel=1e-14)


@given(st.lists(st.tuples(values, st.integers(0, 9)), min_size=1, max_size=30), st.randoms())
def test_rounded_counts_have_exact_sums(rows, shuffler):
    counts = np.array(rows, np.float64)
    rounded = round_for_exact_sums(counts, len(rows))
    np.testing.assert_allclose(rounded, counts, rtol=0, atol=1e-13)
    assert (rounded[:, 1] == counts[:, 1]).all()
    weights = [shuffler.randrange(len(rows)) for _ in range(len(rows))]
    exact = sum(Fraction(value) for value in rounded[weights, 0].tolist())
    assert Fraction(float(rounded[weights, 0].sum())) == exact


@pytest.mark.parametrize("seed", range(4))
def test_clusters_in_any_order(seed):
    rng = random.Random(seed)

    def draw_clusters():
        entities = [[] for _ in range(12)]
        for word in rng.sample(range(60), 40):
            rng.choice(entities).append([word, word])
        return [entity for entity in entities if entity]

    def shuffle(entities):
        return [rng.sample(entity, len(entity)) for entity in rng.sample(entities, len(entities))]

    documents = [(draw_clusters() if i % 3 else [], draw_clusters()) for i in range(12)]
    again = [
        (shuffle(key), shuffle(response)) for key, response in rng.sample(documents, len(documents))
    ]
    there, back = (
        closeread.score(
            "coref",
            {str(i): response for i, (_, response) in enumerate(of)},
            gold={str(i): key for i, (key, _) in enumerate(of)},
            resampling=closeread.Resampling(50),
        )
        for of in (documents, again)
    )
    assert there.provenance.signature == back.provenance.signature
    assert dict(there.scores) == dict(back.scores)
