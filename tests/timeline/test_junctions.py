"""Graphs without their chains, beside a search in the whole graph."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.timeline.kernels.junctions import find_descendants, find_junctions, measure_levels


@st.composite
def graphs(draw):
    """The number of nodes, and edges of a graph without cycles whose nodes are in any order; most are chains."""
    n = draw(st.integers(1, 12))
    name = draw(st.permutations(range(n)))
    chain = [(i, i + 1) for i in range(n - 1) if draw(st.integers(0, 4))]
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    more = draw(st.lists(pairs, max_size=4)) if n > 1 else []
    edges = draw(st.permutations(sorted({*chain, *more})))
    return n, np.array([(name[one], name[other]) for one, other in edges], np.int64).reshape(-1, 2)


def reach(n, edges):
    """Which node reaches which, each itself included, and the lengths of the longest paths, by trying every edge."""
    reaches = np.eye(n, dtype=bool)
    level = [0] * n
    for _ in range(n):
        for one, other in edges.tolist():
            reaches[:, other] |= reaches[:, one]
            level[other] = max(level[other], level[one] + 1)
    return reaches, level


@given(graphs())
def test_levels_are_longest_paths(graph):
    assert measure_levels(*graph).tolist() == reach(*graph)[1]


@given(graphs(), st.data())
def test_what_is_kept_reaches_the_same(graph, data):
    n, edges = graph
    keep = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=3)), np.int64)
    found = find_junctions(n, edges, keep)
    reaches, _ = reach(n, edges)
    kept = np.flatnonzero(found.steps == 0)
    assert set(keep.tolist()) <= set(kept.tolist())
    assert set(found.edges.ravel().tolist()) <= set(kept.tolist())
    through, _ = reach(n, found.edges)
    for node in range(n):
        assert (through[kept, found.last[node]] == reaches[kept, node]).all()


@given(graphs())
def test_a_way_in_the_tree_is_a_way(graph):
    n, edges = graph
    reaches, level = reach(n, edges)
    pairs = np.array([(one, other) for one in range(n) for other in range(n)])
    found = find_descendants(edges, np.array(level), pairs).reshape(n, n)
    assert not (found & ~reaches).any()
    if len(set(edges[:, 1].tolist())) == len(edges):  # the graph is a tree, or several
        assert (found == reaches).all()


@for_each("n", [1, 5, 1000])
def test_of_a_chain_the_first_node_is_kept(n):
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    found = find_junctions(n, edges, np.empty(0, np.int64))
    assert (found.last.tolist(), found.steps.tolist()) == ([0] * n, list(range(n)))
    assert not len(found.edges)
    assert measure_levels(n, edges).tolist() == list(range(n))
