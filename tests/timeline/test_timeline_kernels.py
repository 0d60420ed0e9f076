"""Counts of timelines and why they are what they are: beside a slow twin, and on input of any kind."""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.timeline import ways as timeline_ways
from closeread.tasks.timeline.kernels import order as timeline_order
from closeread.tasks.timeline.kernels.order import precedes, walked
from closeread.tasks.timeline.kernels.timelines import (
    COUNTS,
    TRACKS,
    contradictory,
    in_order,
    placed,
    side,
    timeline_counts,
)
from closeread.tasks.timeline.relations import VERDICTS, explanations
from closeread.tasks.timeline.ways import Node

HERE = Path(__file__).parent


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


twin = loaded("timeline_twin")


def entries(rows):
    return [dict(zip(("position", "anchor", "mentions"), row, strict=True)) for row in rows]


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


def random_side(rng, longest):
    """Entries with ties, copies, anchors that come back, and position 0."""
    anchors = [f"20{rng.randint(0, 40):02}" for _ in range(rng.randint(1, longest))]
    mentions = [f"{rng.randint(1, 3)}-{i}-go" for i in range(rng.choice((2, longest, 4 * longest)))]
    last = rng.randint(0, 2 * longest)
    return [
        (rng.randint(0, last), rng.choice(anchors), [rng.choice(mentions) for _ in range(rng.choice((1, 1, 1, 2, 3)))])
        for _ in range(rng.randint(0, longest))
    ]


def random_pair(seed, longest):
    """A timeline, and another or one that was made of it."""
    rng = random.Random(seed)
    gold = random_side(rng, longest)
    if seed % 2:
        return gold, random_side(rng, longest)
    changed = [(p, rng.choice(gold)[1] if rng.random() < 0.2 else a, m) for p, a, m in gold if rng.random() < 0.9]
    return gold, [(max(0, p + rng.choice((-1, 0, 0, 0, 1))), a, m) for p, a, m in changed]


@pytest.mark.parametrize("track", TRACKS)
@pytest.mark.parametrize(("longest", "n", "together"), [(4, 2000, 2048), (9, 1000, 1), (20, 100, 2048), (20, 100, 2)])
def test_fast_is_twin(longest, n, together, track, monkeypatch):
    # Few pairs at a time, so that what is decided in one sweep is used in the next.
    monkeypatch.setattr(timeline_order, "TOGETHER", together)
    for seed in range(n):
        gold, system = random_pair(seed, longest)
        assert counts(gold, system, track) == twin.counts(gold, system, track), seed


def test_the_random_pairs_have_what_is_hard():
    sides = [side(placed(entries(s)), "full") for seed in range(100) for s in random_pair(seed, 20)]
    assert sum(not s.order.total for s in sides) > 30
    assert sum(bool(s.contradicts.any()) for s in sides) > 100
    merged = [s for s in sides if len(s.order.level) < len(s.anchors)]
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


@pytest.mark.parametrize(
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
    walk = walked(as_walk(names), np.array([step != "=" for step in steps], np.bool_))
    assert shown(walk) == expected


@given(st.lists(st.integers(0, 7), min_size=1, max_size=24), st.data())
def test_a_walk_is_a_sequential_reduction(names, data):
    later = data.draw(st.lists(st.booleans(), min_size=len(names) - 1, max_size=len(names) - 1))
    at = as_walk(names)
    walk = walked(at, np.array(later, np.bool_))
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
    assert contradictory(entries(rows)) == [2]
    # Of an entry with two mentions at the second place of its anchor, the first is before, the second at one time.
    assert contradictory(entries([(1, "A", ["a"]), (2, "A", ["b", "c"]), (0, "A", ["d"])])) == [1]
    assert contradictory(entries([(0, "A", ["a"]), (2, "A", ["b"])])) == []
    assert contradictory([]) == []


def test_contradictory_relations_are_those_of_the_twin():
    met = 0
    for seed in range(300):
        for rows in random_pair(seed, 6):
            said = twin.relations(rows, "full")
            kept, graph = twin.reduced(said)
            expected = [other[1] for kind, one, other in kept if (kind, one, other) not in graph]
            found = contradictory(entries(rows))
            met += len(found)
            numbers = dict(zip(placed_copies(rows), ends(rows), strict=True))
            assert found == [numbers[copy] for copy in expected], seed
    assert met > 300


def ends(rows):
    """The number of the entry of every mention, in order."""
    given = entries(rows)
    return [number for number in in_order(given) for _ in given[number]["mentions"]]


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
    assert in_order(entries(rows)) == [number for *_, number in expected]


# Input of any kind.


def test_long_numbers():
    long = "9" * 5000
    rows = [(1, "", [f"1{long}-x"]), (1, "", [f"{long}-x"]), (1, "", ["7-x"]), (10**30, "", ["8-x"])]
    assert list(placed(entries(rows)).mentions) == [f"{n}-x" for n in ("7", long, f"1{long}", "8")]
    assert counts(rows, rows, "ordering")[:4] == [3] * 4
    assert counts(rows[1:2] + rows[3:], rows[:1] + rows[3:], "ordering")[:4] == [0, 1, 0, 1]


def test_white_space_at_the_end_is_no_part_of_the_sort():
    rows = [(1, "", ["b "]), (1, "", ["b"]), (1, "", ["a\u00a0"]), (1, "", ["a"])]
    # No break is text; the mentions themselves stay as they are.
    assert placed(entries(rows)).mentions == ["a", "a\u00a0", "b ", "b"]
    assert placed(entries([rows[1], rows[0]])).mentions == ["b", "b "]
    assert counts([rows[0]], [rows[1]]) == [0, 1, 0, 1, 0, 1, 1, 0]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.text(max_size=3), st.lists(st.text(max_size=3), max_size=3)), max_size=6)
)
def test_any_text(rows):
    got = counts(rows, rows)
    assert got[0] == got[1] == got[2] == got[3]
    assert dict(zip(COUNTS, got, strict=True))["events/gold"] == sum(len(mentions) for *_, mentions in rows)


# Explanations.


def as_node(node):
    """A node as the twin has it."""
    return ("mention", (node.text, node.copy)) if node.kind == "mention" else ("time", node.text)


def whole(chain):
    """The relations of a chain of which none is left out."""
    assert (chain.left_out, chain.last) == (0, ())
    return chain.first


def as_twin(relation):
    """A relation as the twin has it."""
    return (relation.relation, as_node(relation.one), as_node(relation.other))


def checked(explanation, own, other, nodes, graph):
    """Whether the verdict is that of the twin, and follows from the evidence and from no less.

    Args:
        explanation: of a relation.
        own, other: all relations of its side, and of the other.
        nodes, graph: the nodes of the other side, and the relations that its order is made of.
    """
    relation, evidence = as_twin(explanation.relation), [as_twin(r) for r in whole(explanation.evidence)]
    kind, one, two = relation
    assert [as_node(node) for node in explanation.absent] == [node for node in (one, two) if node not in nodes]
    literal = [r for r in other if r == relation or (kind == twin.SIMULTANEOUS and r == (kind, two, one))]
    assert (explanation.verdict == "literal") == bool(literal)
    if literal:
        assert evidence == literal
    else:
        assert set(evidence) <= set(graph)
        for name, follows in (("entailed", twin.entailed), ("contradicted", twin.contradicted)):
            assert (explanation.verdict == name) == follows(relation, graph)
            if explanation.verdict == name:
                assert follows(relation, evidence)
                assert not any(follows(relation, evidence[:i] + evidence[i + 1 :]) for i in range(len(evidence)))
    earlier = twin.reduced(own[: own.index(relation)])[1]
    excluded_by = [as_twin(r) for r in whole(explanation.excluded_by)]
    assert set(excluded_by) <= set(earlier)
    assert twin.contradicted(relation, excluded_by) == twin.contradicted(relation, earlier) == bool(excluded_by)


@pytest.mark.parametrize("track", TRACKS)
def test_explanations_are_those_of_the_twin_and_of_the_counts(track, monkeypatch):
    monkeypatch.setattr(timeline_ways, "ENDS", 1000)
    met = set()
    for seed in range(200):
        pair = random_pair(seed, 6 if seed % 5 else 14)
        said = [twin.relations(rows, track) for rows in pair]
        nodes = [{node for _, *ends in twin.relations(rows, "full") for node in ends} for rows in pair]
        reduced = [twin.reduced(relations) for relations in said]
        found = list(explanations(*map(entries, pair), track))
        for name, own, other in (("gold", 0, 1), ("system", 1, 0)):
            of_side = [explanation for explanation in found if explanation.side == name]
            assert [as_twin(explanation.relation) for explanation in of_side] == reduced[own][0], "in order"
            for explanation in of_side:
                checked(explanation, said[own], said[other], nodes[other], reduced[other][1])
                met.add((explanation.verdict, bool(explanation.excluded_by.first), bool(explanation.absent)))
        verified = [e.side for e in found if e.verdict in ("literal", "entailed")]
        assert [verified.count("system"), verified.count("gold")] == counts(*pair, track)[0:4:2]
    # Without anchors nothing is contradictory, and whatever is on both sides is in an order there.
    kinds = {(verdict, False, False) for verdict in VERDICTS} | {("missing", False, True)}
    if track == "ordering":
        assert met == kinds - {("missing", False, False)}
    else:
        assert met >= kinds | {(verdict, True, absent) for verdict, _, absent in kinds - {("missing", False, False)}}


@pytest.mark.parametrize("track", TRACKS)
def test_long_chains_keep_their_ends(track, monkeypatch):
    cut = 0
    for seed in range(60):
        pair = [*map(entries, random_pair(seed, 14))]
        monkeypatch.setattr(timeline_ways, "ENDS", 1000)
        wholes = [chain for e in explanations(*pair, track) for chain in (e.evidence, e.excluded_by)]
        monkeypatch.setattr(timeline_ways, "ENDS", 1)
        ends = [chain for e in explanations(*pair, track) for chain in (e.evidence, e.excluded_by)]
        for chain, all_of_it in zip(ends, map(whole, wholes), strict=True):
            if len(all_of_it) <= 2:
                assert chain == (all_of_it, 0, ())
            else:
                assert chain == (all_of_it[:1], len(all_of_it) - 2, all_of_it[-1:])
                cut += 1
    assert cut > 50


@pytest.mark.parametrize("track", TRACKS)
def test_where_all_is_in_order_nothing_is_sought(track, monkeypatch):
    monkeypatch.setattr(timeline_ways.Ways, "_sought", None)
    rng = random.Random(5)
    gold = [(i // 3 + 1, f"{1000 + i // 3}", [f"m{i}"]) for i in range(300)]
    system = [(rng.randint(1, 90), anchor, mentions) for _, anchor, mentions in gold]
    system = [(position, f"{1000 + position}", mentions) for position, _, mentions in system]
    found = list(explanations(entries(gold), entries(system), track))
    assert {"entailed", "contradicted"} <= {explanation.verdict for explanation in found}


def told(relation):
    return f"{relation.one.text} {'<' if relation.relation == 'BEFORE' else '='} {relation.other.text}"


def test_an_explanation_by_hand():
    gold = [(1, "2001", ["a"]), (2, "2001", ["b"]), (3, "2002", ["c", "d"])]
    system = [(1, "2001", ["a"]), (2, "2002", ["c"]), (3, "2003", ["b"])]
    found = [
        (e.side, told(e.relation), e.verdict, [*map(told, e.evidence.first)], [*map(told, e.excluded_by.first)])
        for e in explanations(entries(gold), entries(system))
    ]
    assert found == [
        ("gold", "a = 2001", "literal", ["a = 2001"], []),
        ("gold", "b = 2001", "contradicted", ["a = 2001", "a < c", "c < b"], []),
        ("gold", "c = 2002", "literal", ["c = 2002"], []),
        ("gold", "d = 2002", "missing", [], []),
        ("gold", "a < b", "entailed", ["a < c", "c < b"], ["a = 2001", "b = 2001"]),
        ("gold", "b < c", "contradicted", ["c < b"], []),
        ("system", "a = 2001", "literal", ["a = 2001"], []),
        ("system", "c = 2002", "literal", ["c = 2002"], []),
        ("system", "b = 2003", "missing", [], []),
        ("system", "a < c", "entailed", ["a = 2001", "b = 2001", "b < c"], []),
        ("system", "c < b", "contradicted", ["b < c"], []),
    ]
    absent = [e.absent for e in explanations(entries(gold), entries(system)) if e.verdict == "missing"]
    assert absent == [(Node("mention", "d"),), (Node("anchor", "2003"),)]
