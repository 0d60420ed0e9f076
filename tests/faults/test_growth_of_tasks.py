"""Work and memory of statistics, annotators' tools, documents that are shown, and pages: linear, or with a limit."""

import numpy as np
import pytest

from closeread.counts.estimates import Resampling, score
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import RequestError
from closeread.tasks.coref.errors import match_chains
from closeread.tasks.coref.marmara.documents import Token
from closeread.tasks.coref.marmara.pairs import LimitError, describe_mentions
from closeread.tasks.coref.marmara.records import draw
from closeread.tasks.wikipossessions.articles import extract_text

pytestmark = pytest.mark.extended

METRIC = Metric("a", "A", "", Ratio("a", "b"))


def table(n, values=None):
    """Return a table of n units, each a block, with a field of these values."""
    counts = np.arange(2.0 * n).reshape(n, 2)
    return CountTable([f"u{i}" for i in range(n)], np.arange(n), ("a", "b"), counts, {"f": values or ["v"] * n})


def test_slices_of_many_values(monkeypatch):
    # Each unit is looked at once, not once for each value.
    monkeypatch.setattr(CountTable, "select", None)
    monkeypatch.setattr(Breakdown, "select", None)
    slices = table(2000, [f"v{i}" for i in range(2000)]).slices("f")
    assert [len(slices), *slices["v7"].totals] == [2000, 14, 15]


def test_slices_are_what_is_selected():
    rng = np.random.default_rng(0)
    values = [f"v{i}" for i in rng.integers(0, 4, 50)]
    unit, part = np.nonzero(rng.random((50, 3)) < 0.5)
    order = rng.permutation(len(unit))
    breakdown = Breakdown(("x", "y", "z"), unit[order], part[order], rng.random((len(unit), 2)))
    whole = table(50, values)
    whole = CountTable(whole.units, rng.integers(0, 9, 50), whole.names, whole.values, whole.fields, {"p": breakdown})

    def describe(found):
        rows = {name: one.units for name, one in found.slices("p").items()}
        return found.units, found.blocks.tolist(), found.values.tolist(), rows, found.fields

    for value, found in whole.slices("f").items():
        assert describe(found) == describe(whole.select(np.array(values) == value))
        inside = {name: one.values.tolist() for name, one in found.slices("p").items()}
        kept = np.array(values)[breakdown.unit] == value
        for number, name in enumerate(breakdown.parts):
            rows = np.flatnonzero(kept & (breakdown.part == number))
            rows = rows[np.argsort(breakdown.unit[rows])]
            assert inside.get(name, []) == breakdown.values[rows].tolist()


def test_resamples_have_limits():
    with pytest.raises(RequestError, match=r"10,000,000,000 resamples of 3 blocks are 30,000,000,000 draws \(expected"):
        score(table(3), (METRIC,), Resampling(10_000_000_000))
    with pytest.raises(RequestError, match=r"30,000,000 resamples of 2 counts are 60,000,000 sums \(expected at most"):
        score(table(3), (METRIC,), Resampling(30_000_000))
    with pytest.raises(RequestError, match=r"30,000 resamples of 2 counts of 1,000 systems are 60,000,000 sums"):
        compare_pairs([table(3)] * 1000, (), n_resamples=30_000, confidence=0.95, seed=0)


def test_paired_tests_have_limits():
    def test(n_systems, n_resamples):
        compare_pairs([table(3)] * n_systems, [METRIC], n_resamples=n_resamples, confidence=0.95, seed=0)

    with pytest.raises(RequestError, match=r"1,001 systems have 500,500 paired tests in 1 score \(expected at most"):
        test(1001, 1000)
    with pytest.raises(RequestError, match=r"4,950 paired tests in 1 score, and 4,950,000,000 resamples of these"):
        test(100, 1_000_000)


def test_chains_are_matched_without_trying_each():
    n = 60
    shared = [dict.fromkeys(range(n), 1) | {n - 1 - row: 3} for row in range(n)]
    assert match_chains(shared) == list(range(n))[::-1]
    assert match_chains([dict.fromkeys(range(100_000), 1)]) == [0]  # a square matrix would have 80 GB
    assert match_chains([{0: 1}] * 100_000) == [0] + [-1] * 99_999


def test_the_baseline_of_marmara_has_a_limit():
    tokens = [Token("w", "w", "Noun", "Noun", 1, -1, "", True)]
    with pytest.raises(LimitError, match=r"10,001 mentions \(expected at most 10,000\)"):
        describe_mentions(tokens, [(i, i) for i in range(10_001)], [])


def test_long_mentions_are_cut_where_they_are_shown():
    n = 3000  # mentions inside each other have 4.5 million words together
    spans = [[i, n - 1] for i in range(n)]
    record = {
        "document": "d",
        "sentences": [{"number": "1", "tokens": [{"form": f"w{i}"} for i in range(n)]}],
        "mentions": [{"start": start, "end": end} for start, end in spans],
        "clusters": [spans],
    }
    *_, chains = draw([record], None)
    text = chains.rows[0][1]
    assert text.startswith("[w0 w1 w2 ")
    assert f"[w{n - 2} w{n - 1}] {n - 2}-{n - 1}" in text
    assert len(text.split()) < 50 * n


@pytest.mark.parametrize("tag", ['<a x="', "<!--", "<a ", "<?", "</"])
def test_tags_that_do_not_end(tag):
    assert extract_text("<p>Ann made a jug.</p>" + tag * 100_000).startswith("Ann made a jug.\n")
    assert extract_text("<p>Ann &amp; Bob &amp") == "Ann & Bob &\n"
