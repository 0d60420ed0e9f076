"""Work and memory that grow with the input: linear, or refused in words before it begins.

Sizes of linear work would take minutes and gigabytes otherwise; limits are those of the kernels, and each is tried just
beyond it.  Memory is the peak that tracemalloc sees, at one size and at four times that.
"""

import tracemalloc

import numpy as np
import pytest

from closeread.exceptions import RequestError
from closeread.tasks.coref.adjudication.annotators import join_annotators
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.plots import count_support
from closeread.tasks.coref.procedure import PROCEDURE as COREF
from closeread.tasks.mctaco.procedure import PROCEDURE as MCTACO
from closeread.tasks.mctaco.procedure import expect_coin
from closeread.tasks.tlinks.counting import count as count_tlinks
from closeread.tasks.tne.baselines import BASELINES
from closeread.tasks.wikipossessions.procedure import PROCEDURE as POSSESSIONS
from closeread.tasks.wikipossessions.subtasks import article_counts, possessions

pytestmark = pytest.mark.extended


def grow(work, n):
    """Return by how much the peak of memory grows from n to 4 n, beyond what the first call sets up."""
    work(n)
    peaks = []
    for size in (n, 4 * n):
        tracemalloc.start()
        work(size)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return peaks[1] / peaks[0]


def count_coref(key, response, **options):
    return COREF.count(gold=[{"document": "d", "clusters": key}], system=[{"clusters": response}], **options)


def spread(n, step=0):
    """Return an entity of n mentions with one head."""
    return [[[0, 2 * i + step, 0] for i in range(n)]]


@pytest.mark.parametrize(("matching", "n"), [("head", 1001), ("partial", 1500)])
def test_mentions_of_one_head_have_a_limit(matching, n):
    with pytest.raises(RequestError, match=r"'d': 1,000,001 pairs of mentions that may match \(expected at most 1,000"):
        count_coref(spread(n, 1), spread(n), matching=matching)


def test_mentions_that_compete_have_a_limit():
    # Each key mention shares a response mention with the next one, so that all are in one matrix of 5,001² cells.
    key, response = [[i, i + 10, i + 5] for i in range(5001)], [[i + 5, i + 6, i + 5] for i in range(5001)]
    with pytest.raises(
        RequestError, match=r"25,010,001 pairs of mentions that compete for matches \(expected at most 25"
    ):
        count_coref([key], [response], matching="partial")


def make_circle(n):
    """Return entities of two mentions each, and the same shifted by one mention, so that all overlap in a circle."""
    key = [[[2 * i, 2 * i], [2 * i + 1, 2 * i + 1]] for i in range(n)]
    mentions = [mention for entity in key for mention in entity]
    shifted = [*mentions[1:], mentions[0]]
    return key, [shifted[2 * i : 2 * i + 2] for i in range(n)]


def test_a_circle_of_entities_has_a_limit():
    with pytest.raises(RequestError, match=r"20,001 entities of the key .*\(expected at most 20,000\)"):
        count_coref(*make_circle(20_001), metrics=("ceafm",))


def test_repeated_mentions_have_a_limit():
    both = [[[i, i] for i in range(1001)]] * 2
    with pytest.raises(RequestError, match=r"1,001,000 pairs of repeated mentions .*\(expected at most 1,000,000\)"):
        count_coref(both, both[:1], duplicates="reference", metrics=("blanc",))


def link(source, name, target):
    return {"source": f"e{source}", "relation": name, "target": f"e{target}"}


def count_links(links):
    gold = [{"document": "d", "tlinks": links}]
    return count_tlinks(gold=gold, system=gold)


def test_trees_of_links_take_linear_work():
    chain = [link(i, "BEFORE", i + 1) for i in range(30_000)]
    assert count_links(chain).totals.tolist() == [30_000] * 4 + [0, 0]
    pairs = [link(2 * i, "INCLUDES", 2 * i + 1) for i in range(30_000)]
    assert count_links(pairs).totals.tolist() == [30_000] * 4 + [0, 0]
    assert grow(lambda n: count_links(chain[:n]), 1000) < 6


def test_links_that_need_inference_have_a_limit():
    n = 20_001  # 400 million divided by the events are allowed
    around = [link(i, "BEFORE", i + 1) for i in range(n - 1)] + [link(i, "BEFORE", i + 2) for i in range(n - 2)]
    message = r"'d': 20,000 links that need inference, with 20,001 events and times \(expected at most 19,999\)"
    with pytest.raises(RequestError, match=message):
        count_links([*around, link(0, "BEFORE", n - 1)])


def possession(name, order="1"):
    return {"possessor": name, "certainty": "certain", "order": order, "anchor": None, "relation": None}


def count_article(*rows):
    options = POSSESSIONS.resolve_options({"suborder": "nested_tie"})
    side = possessions(rows, options)
    return article_counts(side, side, options)


def test_deep_orders_take_linear_memory():
    def nest(depth):
        inner, outer = ".".join(["1"] * depth), ".".join(["1"] * (depth - 1))
        # Both pairs: the outer one comes first, and the inner one is no later than what it is nested in.
        assert count_article(possession("Ann", inner), possession("Bob", outer))[-1].tolist() == [2, 2, 2, 2]

    assert grow(nest, 2000) < 6


def document(n):
    words = [f"w{i}" for i in range(n)]
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    phrases = [
        {"id": f"np{i}", "text": word, "first_char": end - 1 - len(word), "last_char": end - 1}
        | {"first_token": i, "last_token": i}
        for i, (word, end) in enumerate(zip(words, ends, strict=True))
    ]
    return {"id": "d", "text": " ".join(words), "tokens": words, "nps": phrases}


@pytest.mark.parametrize(
    ("name", "n", "found"), [("all-pairs", 1001, "1,002,001"), ("surface-extended", 1500, "1,109,305")]
)
def test_baselines_of_quadratically_many_links_have_a_limit(name, n, found):
    baseline = next(one for one in BASELINES if one.name == name)
    options = {"fallback": "none"} | ({"definition": "printed"} if name != "all-pairs" else {})
    with pytest.raises(RequestError, match=rf"document 'd': {found} links .*\(expected at most 1,000,000\)"):
        baseline.make([document(n)], **options)


def test_expected_scores_have_a_limit():
    gold = [
        {"id": str(i), "question_id": "q", "sentence_id": "s", "label": "yes", "category": "Typical Time"}
        for i in range(1001)
    ]
    with pytest.raises(RequestError, match=r"1,001 candidate answers, too many .*\(expected at most 1,000\)"):
        expect_coin(MCTACO.count(gold=gold, system=gold))


def chains_of(sizes):
    starts = np.cumsum([0, *sizes]).tolist()
    return mention_table(["d"], [[[[t, t] for t in range(a, a + n)] for a, n in zip(starts, sizes, strict=False)]])


def test_chains_of_annotators_have_limits():
    one = chains_of([2001])
    with pytest.raises(RequestError, match=r"document 'd': 2,001,000 links of all annotators \(expected at most 2,000"):
        count_support(one, [one])
    (joined,) = join_annotators({"a": chains_of([1415]), "b": chains_of([2])})
    with pytest.raises(RequestError, match=r"1,000,406 pairs of mentions in one chain \(expected at most 1,000,000\)"):
        _ = joined.pairs
