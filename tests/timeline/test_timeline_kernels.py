"""Counts of timelines, beside a slow twin and on input of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.random_timelines import random_pair
from shared.timelines import entries
from twins import timelines as twin

from closeread.tasks.timeline.kernels.order import follow_walk, precedes
from closeread.tasks.timeline.kernels.timelines import (
    COUNTS,
    TRACKS,
    build_side,
    find_contradictions,
    list_mentions,
    sort_entries,
    timeline_counts,
)


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


@pytest.mark.gate
@for_each("track", TRACKS)
@for_each(("longest", "n"), [(4, 2000), (9, 1000), (20, 100)])
def test_fast_is_twin(longest, n, track):
    for seed in range(n):
        gold, system = random_pair(seed, longest)
        assert counts(gold, system, track) == twin.counts(gold, system, track), seed


def test_the_random_pairs_have_what_is_hard():
    sides = [build_side(list_mentions(entries(s)), "full") for seed in range(100) for s in random_pair(seed, 20)]
    assert sum(s.order.before is not None for s in sides) > 30
    assert sum(bool(s.contradicts.any()) for s in sides) > 100
    merged = [s for s in sides if len(set(s.order.group.tolist())) < len(s.anchors)]
    assert len(merged) > 30
    # Anchors that were both there and unordered, and that a step between them put in order or made one.
    back = [s.joins & (s.at[1:] <= np.maximum.accumulate(s.at)[:-1]) for s in sides if len(s.at)]
    sides = [s for s in sides if len(s.at)]
    assert sum((joins & s.later).any() for joins, s in zip(back, sides, strict=True)) > 20
    assert sum((joins & ~s.later).any() for joins, s in zip(back, sides, strict=True)) > 5


# Walks.


def as_walk(names):
    """Times numbered in order of first appearance."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], np.int64)


def shown(walk):
    return "".join("?" if bad else "+" if new else "." for new, bad in zip(walk.joins, walk.contradicts, strict=True))


@for_each(
    ("names", "steps", "expected"),
    [
        ("", "", ""),
        ("A", "", ""),
        ("ABC", "<<", "++"),
        ("AAB", "=<", ".+"),
        ("AAB", "<<", "?+"),
        ("ABA", "<<", "+?"),
        ("ABA", "<=", "+?"),
        ("ABA", "==", "+."),
        ("ABA", "=<", "+?"),
        ("ABAB", "<?<", "+?."),
        ("ABAC", "<?<", "+?+"),
        ("ABACB", "<?<<", "+?++"),
        ("ABACBC", "<?<<<", "+?++?"),
        ("ABACBC", "<?<<=", "+?++?"),
        ("ABACBC", "<?<==", "+?++."),
        ("ABACBAC", "<?<=?<", "+?++?."),
        ("ABACADBDC", "<?<?<<?<", "+?+?++?+"),
        # B = D puts B before C, as D is.
        ("ABADCABDABC", "<?<<?<=?<<", "+?++?.+?.."),
    ],
)
def test_walks(names, steps, expected):
    # A question mark is a step that both would contradict: back to where it came from.
    walk = follow_walk(as_walk(names), np.array([step != "=" for step in steps], np.bool_))
    assert shown(walk) == expected


@given(st.lists(st.integers(0, 7), min_size=1, max_size=24), st.data())
def test_a_walk_is_a_sequential_reduction(names, data):
    later = data.draw(st.lists(st.booleans(), min_size=len(names) - 1, max_size=len(names) - 1))
    at = as_walk(names)
    walk = follow_walk(at, np.array(later, np.bool_))
    graph = []
    for i, after in enumerate(later):
        relation = (twin.BEFORE if after else twin.SIMULTANEOUS, int(at[i]), int(at[i + 1]))
        entailed = twin.entailed(relation, graph)
        assert bool(walk.contradicts[i]) == (not entailed and twin.contradicted(relation, graph))
        assert bool(walk.joins[i]) == (not entailed and not walk.contradicts[i])
        if walk.joins[i]:
            graph.append(relation)
    times = range(int(at.max()) + 1)
    pairs = np.array([(a, b) for a in times for b in times])
    ways = {a: twin.ways(graph, a) for a in times}
    assert precedes(walk.order, *pairs.T).tolist() == [(b, True) in ways[a] for a, b in pairs.tolist()]
    groups = walk.order.group
    assert (groups[pairs[:, 0]] == groups[pairs[:, 1]]).tolist() == [(b, False) in ways[a] for a, b in pairs.tolist()]


# What is known in closed form.


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 3)), min_size=1, max_size=30))
def test_without_contradictions_the_reduced_size_is_known(rows):
    positions = np.cumsum([new for new, _ in rows]) + 1
    timeline = [
        (int(position), f"{1900 + position}", [f"{i}-{k}-go" for k in range(n)])
        for i, (position, (_, n)) in enumerate(zip(positions, rows, strict=True))
    ]
    n_mentions, n_anchors = sum(n for _, n in rows), len(set(positions.tolist()))
    assert counts(timeline, timeline)[1] == n_mentions + n_anchors - 1
    assert counts(timeline, timeline, "ordering")[1] == n_mentions - 1
    # One of every position in the system: all right, and of gold what is left of every position.
    first = {position: (position, anchor, mentions[:1]) for position, anchor, mentions in timeline[::-1]}
    assert counts(timeline, list(first.values()))[:2] == [2 * n_anchors - 1] * 2


def test_many_events():
    # Of 2,000 events the system has every other one at its place, all others ten places late.
    n = 2000
    gold = [(i + 1, f"{1000 + i}", [f"{i}-1-go"]) for i in range(n)]
    system = [(p, a, m) for p, a, m in gold if p % 2]
    assert counts(gold, system) == [n - 1, n - 1, n // 2, 2 * n - 1, n // 2, n // 2, n, n // 2]
    assert counts(gold, gold[::-1], "ordering")[:4] == [n - 1] * 4
    backwards = [(n + 1 - p, a, m) for p, a, m in gold]
    assert counts(gold, backwards)[:4] == [n, 2 * n - 1, n, 2 * n - 1]
    assert counts(gold, backwards, "ordering")[:4] == [0, n - 1, 0, n - 1]


def test_anchors_that_come_back_again_and_again():
    # A < B is new; of the other steps those from A to B follow and those from B to A contradict.
    n = 2000
    timeline = [(i + 1, "AB"[i % 2], [f"{i}-1-go"]) for i in range(n)]
    assert counts(timeline, timeline)[:4] == [n + 1 + (n // 2 - 1)] * 4


# Contradictions.


def test_relations_that_contradict_others_by_hand():
    # One anchor at 1 and 3: a < b is kept, b < a2 contradicts it, a2 < c is kept, and so is c < d.
    rows = [(4, "D", ["d"]), (1, "A", ["a"]), (3, "A", ["a2"]), (2, "B", ["b"]), (4, "C", ["c"])]
    assert find_contradictions(entries(rows)) == [2]
    # Of an entry with two mentions at the second place of its anchor, the first is before, the second at one time.
    assert find_contradictions(entries([(1, "A", ["a"]), (2, "A", ["b", "c"]), (0, "A", ["d"])])) == [1]
    assert find_contradictions(entries([(0, "A", ["a"]), (2, "A", ["b"])])) == []
    assert find_contradictions([]) == []


def test_contradictory_relations_are_those_of_the_twin():
    met = 0
    for seed in range(300):
        for rows in random_pair(seed, 6):
            said = twin.relations(rows, "full")
            kept, graph = twin.reduced(said)
            expected = [other[1] for kind, one, other in kept if (kind, one, other) not in graph]
            found = find_contradictions(entries(rows))
            met += len(found)
            numbers = dict(zip(placed_copies(rows), ends(rows), strict=True))
            assert found == [numbers[copy] for copy in expected], seed
    assert met > 300


def ends(rows):
    """The number of the entry of every mention, in order."""
    given = entries(rows)
    return [number for number in sort_entries(given) for _ in given[number]["mentions"]]


def placed_copies(rows):
    """The mentions in order, as the twin has them, without those at position 0, which it counts apart."""
    counted = [copy for copy, *_ in twin.numbered([row for row in rows if row[0]])]
    return [None] * sum(len(mentions) for position, _, mentions in rows if not position) + counted


# The order of entries.


CELL = st.text(st.sampled_from("a1 0\t-"), max_size=3)


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["1", "1 ", " ", "a"]), st.lists(CELL, max_size=2))))
def test_entries_stand_in_the_order_of_the_sorted_lines(rows):
    numbered = [(*row, number) for number, row in enumerate(rows)]
    expected = sorted(numbered, key=lambda row: twin.key(row[:3]))
    assert sort_entries(entries(rows)) == [number for *_, number in expected]


# Input of any kind.


def test_long_numbers():
    long = "9" * 5000
    rows = [(1, "", [f"1{long}-x"]), (1, "", [f"{long}-x"]), (1, "", ["7-x"]), (10**30, "", ["8-x"])]
    assert list(list_mentions(entries(rows)).mentions) == [f"{n}-x" for n in ("7", long, f"1{long}", "8")]
    assert counts(rows, rows, "ordering")[:4] == [3] * 4
    assert counts(rows[1:2] + rows[3:], rows[:1] + rows[3:], "ordering")[:4] == [0, 1, 0, 1]


def test_white_space_at_the_end_is_no_part_of_the_sort():
    rows = [(1, "", ["b "]), (1, "", ["b"]), (1, "", ["a\u00a0"]), (1, "", ["a"])]
    # No break is text; the mentions themselves stay as they are.
    assert list_mentions(entries(rows)).mentions == ["a", "a\u00a0", "b ", "b"]
    assert list_mentions(entries([rows[1], rows[0]])).mentions == ["b", "b "]
    assert counts([rows[0]], [rows[1]]) == [0, 1, 0, 1, 0, 1, 1, 0]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.text(max_size=3), st.lists(st.text(max_size=3), max_size=3)), max_size=6)
)
def test_any_text(rows):
    got = counts(rows, rows)
    assert got[0] == got[1] == got[2] == got[3]
    assert dict(zip(COUNTS, got, strict=True))["events/gold"] == sum(len(mentions) for *_, mentions in rows)
