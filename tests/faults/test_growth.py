"""Work and memory that grow with the input: linear, or refused in words before it begins.

Limits are tried just beyond them.  Memory is the peak that tracemalloc sees, at one size and at four times that.
"""

import numpy as np
import pytest
from shared.coreference_tables import make_documents

import closeread
from closeread import limits
from closeread.arrays import LimitError
from closeread.counts.estimates import Resampling, score
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import RequestError
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.tasks.annotation.adjudication import Settings, adjudicate
from closeread.tasks.annotation.annotators import gather_documents
from closeread.tasks.annotation.chain_errors import match_chains
from closeread.tasks.annotation.plots import count_support
from closeread.tasks.annotation.solver import Deadline
from closeread.tasks.coref.procedure import PROCEDURE as COREF
from closeread.tasks.marmara.documents import Token
from closeread.tasks.marmara.pairs import describe_mentions
from closeread.tasks.marmara.records import draw
from closeread.tasks.tlinks.counting import count as count_tlinks
from closeread.tasks.tne.baselines import BASELINES
from closeread.tasks.wikipossessions.articles import extract_text

pytestmark = pytest.mark.extended

METRIC = Metric("a", "A", "", Ratio("a", "b"))


def count_coref(key, response, **options):
    return COREF.count(
        gold=[{"document": "d", "clusters": key}], system=[{"clusters": response}], **options
    )


def spread(n, step=0):
    """An entity of n mentions with one head."""
    return [[[0, 2 * i + step, 0] for i in range(n)]]


def compete():
    """Each key mention shares a response mention with the next one, so that all are in one matrix of 5,001² cells."""
    key, response = (
        [[i, i + 10, i + 5] for i in range(5001)],
        [[i + 5, i + 6, i + 5] for i in range(5001)],
    )
    count_coref([key], [response], matching="partial")


def circle(n=20_001):
    """Entities of two mentions each, and the same shifted by one mention, so that all overlap in a circle."""
    key = [[[2 * i, 2 * i], [2 * i + 1, 2 * i + 1]] for i in range(n)]
    mentions = [mention for entity in key for mention in entity]
    shifted = [*mentions[1:], mentions[0]]
    response = [shifted[2 * i : 2 * i + 2] for i in range(n)]
    return count_coref(key, response, metrics=("ceafm",))


def repeat(both=[[[i, i] for i in range(1001)]] * 2):
    count_coref(both, both[:1], duplicates="reference", metrics=("blanc",))


def link(source, name, target):
    return {"source": f"e{source}", "relation": name, "target": f"e{target}"}


def count_links(links):
    gold = [{"document": "d", "tlinks": links}]
    return count_tlinks(gold=gold, system=gold)


def infer(n=8_001):  # 100 million divided by the events are allowed
    around = [link(i, "BEFORE", i + 1) for i in range(n - 1)] + [
        link(i, "BEFORE", i + 2) for i in range(n - 2)
    ]
    count_links([*around, link(0, "BEFORE", n - 1)])


def baseline(name, n, **options):
    words = [f"w{i}" for i in range(n)]
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    phrases = [
        {"id": f"np{i}", "text": word, "first_char": end - 1 - len(word), "last_char": end - 1}
        | {"first_token": i, "last_token": i}
        for i, (word, end) in enumerate(zip(words, ends, strict=True))
    ]
    document = {"id": "d", "text": " ".join(words), "tokens": words, "nps": phrases}
    next(one for one in BASELINES if one.name == name).make([document], fallback="none", **options)


def chains_of(*sizes):
    starts = np.cumsum([0, *sizes]).tolist()
    chains = [[[t, t] for t in range(a, a + n)] for a, n in zip(starts, sizes, strict=False)]
    return make_documents([chains], names=["d"])


def join():
    (document,) = gather_documents([chains_of(1415), chains_of(2)])
    return adjudicate(document, Settings(), Deadline(None))


def table(n, values=None):
    """A table of n units, each a block, with a field of these values."""
    counts = np.arange(2.0 * n).reshape(n, 2)
    return CountTable(
        [f"u{i}" for i in range(n)], np.arange(n), ("a", "b"), counts, {"f": values or ["v"] * n}
    )


def compare(n_systems, n_resamples, metrics=(METRIC,)):
    compare_pairs([table(3)] * n_systems, metrics, n_resamples=n_resamples, confidence=0.95, seed=0)


LIMITS = {
    r"'d': 1,000,001 pairs of mentions that may match \(expected at most 1,000": lambda: (
        count_coref(spread(1001, 1), spread(1001), matching="head")
    ),
    r"'d': 1,000,001 pairs of mentions that may match \(expected at most 1,000,0": lambda: (
        count_coref(spread(1500, 1), spread(1500), matching="partial")
    ),
    r"25,010,001 pairs of mentions that compete for matches \(expected at most 25": compete,
    r"1,001,000 pairs of repeated mentions .*\(expected at most 1,000,000\)": repeat,
    r"'d': 16,000 links between 8,001 events and times \(expected at most 12,498\)": infer,
    r"document 'd': 1,002,001 links .*\(expected at most 1,000,000\)": lambda: baseline(
        "all-pairs", 1001
    ),
    r"document 'd': 1,109,305 links": lambda: baseline(
        "surface-extended", 1500, definition="printed"
    ),
    r"document 'd': 2,001,000 links of all annotators \(expected at most 2,000": lambda: (
        count_support(chains_of(2001), [chains_of(2001)])
    ),
    r"1,000,406 pairs of mentions in one chain \(expected at most 1,000,000\)": join,
    r"10,001 mentions \(expected at most 10,000\)": lambda: describe_mentions(
        [Token("w", "w", "Noun", "Noun", 1, -1, "", True)], [(i, i) for i in range(10_001)], []
    ),
    r"10,000,000,000 resamples of 3 blocks are 30,000,000,000 draws \(expected": lambda: score(
        table(3), (METRIC,), Resampling(10_000_000_000)
    ),
    r"30,000,000 resamples of 2 counts are 60,000,000 sums \(expected at most": lambda: score(
        table(3), (METRIC,), Resampling(30_000_000)
    ),
    r"30,000 resamples of 2 counts of 1,000 systems are 60,000,000 sums": lambda: compare(
        1000, 30_000, ()
    ),
    r"1,001 systems have 500,500 paired tests in 1 score \(expected at most": lambda: compare(
        1001, 1000
    ),
    r"4,950 paired tests in 1 score, and 4,950,000,000 resamples of these": lambda: compare(
        100, 1_000_000
    ),
}


@pytest.mark.parametrize(("said", "work"), LIMITS.items())
def test_limits(said, work):
    with pytest.raises((RequestError, LimitError), match=said):
        work()


@pytest.mark.parametrize("suffix", ["conll", "conllu"])
def test_a_document_that_claims_billions_of_tokens_is_not_written(suffix, tmp_path):
    path = tmp_path / "key.jsonl"
    rows = [
        {"document": "a", "clusters": [], "n_tokens": 3},
        {"document": "b", "clusters": [], "n_tokens": 2**31 - 1},
    ]
    path.write_text(dump_json_lines(rows))
    said = rf"2,147,483,650 tokens \(most: 'b', 2,147,483,647\).*limit: {limits.MAX_TOKENS:,}"
    with pytest.raises(ValueError, match=said):
        closeread.convert("coref", path, to=tmp_path / f"out.{suffix}")
    assert not (tmp_path / f"out.{suffix}").exists()


def test_a_circle_of_entities_is_matched():
    """Each entity of the key has one mention in common with its partner, wherever the circle is cut."""
    n_entities = 20_001
    table = circle(n_entities)
    counts = dict(zip(table.names, table.totals.tolist(), strict=True))
    assert counts["ceafm/common"] == n_entities


def test_large_documents_of_links_are_counted():
    chain = [link(i, "BEFORE", i + 1) for i in range(2_000)]
    assert count_links(chain).totals.tolist() == [2_000] * 4 + [0, 0]
    pairs = [link(2 * i, "INCLUDES", 2 * i + 1) for i in range(2_000)]
    assert count_links(pairs).totals.tolist() == [2_000] * 4 + [0, 0]


def test_slices_of_many_values(monkeypatch):
    # Each unit is looked at once, not once for each value.
    monkeypatch.setattr(CountTable, "select", None)
    monkeypatch.setattr(Breakdown, "select", None)
    slices = table(2000, [f"v{i}" for i in range(2000)]).slices("f")
    assert [len(slices), *slices["v7"].totals] == [2000, 14, 15]


def test_chains_are_matched_without_trying_each():
    n = 60
    shared = [dict.fromkeys(range(n), 1) | {n - 1 - row: 3} for row in range(n)]
    assert match_chains(shared) == list(range(n))[::-1]
    # a square matrix would have 80 GB
    assert match_chains([dict.fromkeys(range(100_000), 1)]) == [0]
    assert match_chains([{0: 1}] * 100_000) == [0] + [-1] * 99_999


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
    assert chains.rows[0][1].startswith("[w0 w1 w2 ")
    assert len(chains.rows[0][1].split()) < 50 * n


def test_texts_that_do_not_end():
    for tag in ('<a x="', "<!--", "<a ", "<?", "</"):
        assert extract_text("<p>Ann made a jug.</p>" + tag * 100_000).startswith(
            "Ann made a jug.\n"
        )
    keys = [f"k{i}" for i in range(40_000)]
    line = "{" + ", ".join(f'"{key}": 1' for key in [*keys, keys[-1]]) + "}"
    assert parse_json_lines([line]).problems[0].message == "duplicate key 'k39999'"
