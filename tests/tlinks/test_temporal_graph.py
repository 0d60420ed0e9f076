"""What relations of intervals entail: hand cases, the point algebra as a slow twin, and what must hold of any input."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.for_each import for_each
from twins import point_algebra as twin

from closeread.arrays import LimitError
from closeread.formats.timeml import RELATION_TYPES
from closeread.tasks.tlinks import temporal_graph
from closeread.tasks.tlinks.temporal_graph import DURINGS, KINDS, TYPES, PointGraph, Relation, relation

LINKS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(sorted(TYPES)), st.integers(0, 4)), max_size=8)
MODELS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda x: (x[0], sum(x))), min_size=2, max_size=7)


def relations(links, during="simultaneous"):
    return [relation(source, target, name, during) for source, name, target in links]


def holds(one, model):
    """Whether a relation is true of intervals that are given by their ends."""
    (start, end), (other_start, other_end) = model[one.first], model[one.second]
    return {
        "before": end < other_start,
        "meets": end == other_start,
        "overlaps": start < other_start < end < other_end,
        "starts": start == other_start and end < other_end,
        "during": other_start < start and end < other_end,
        "finishes": other_start < start and end == other_end,
        "equals": (start, end) == (other_start, other_end),
    }[one.kind]


def true_of(model):
    """All relations that are true of some intervals."""
    n = len(model)
    every = (Relation(i, j, kind) for i in range(n) for j in range(n) if i != j for kind in KINDS)
    return [one for one in every if holds(one, model) and (one.kind != "equals" or one.first < one.second)]


def test_every_type_of_timeml_has_its_relation():
    assert set(TYPES) == set(RELATION_TYPES)
    for name in RELATION_TYPES:
        for during in DURINGS:
            assert relation(3, 5, name, during) == relation(5, 3, twin.INVERSE[name], during)


@for_each(
    ("links", "asked", "expected"),
    [
        ([(0, "BEFORE", 1), (1, "BEFORE", 2)], (0, "BEFORE", 2), True),
        ([(0, "BEFORE", 1), (0, "BEFORE", 2)], (1, "BEFORE", 2), False),
        ([(0, "IBEFORE", 1), (1, "IBEFORE", 2)], (0, "BEFORE", 2), True),  # 1 lasts
        ([(0, "IBEFORE", 1), (1, "BEGINS", 2)], (0, "IBEFORE", 2), True),
        ([(0, "BEGINS", 1), (0, "ENDS", 2)], (1, "INCLUDES", 2), False),  # 1 begins before 2 and ends after it
        ([(0, "BEGINS", 1), (0, "ENDS", 2)], (2, "DURING", 1), False),
        ([(0, "BEGINS", 1), (0, "ENDED_BY", 2)], (2, "IS_INCLUDED", 1), True),
        ([(0, "BEGINS", 1), (2, "BEGINS", 0)], (1, "BEGUN_BY", 2), True),
        ([(0, "SIMULTANEOUS", 1), (1, "INCLUDES", 2)], (2, "IS_INCLUDED", 0), True),
        ([(0, "IDENTITY", 1)], (1, "SIMULTANEOUS", 0), True),
        # Two that follow two simultaneous ones: nothing says which of them is first.
        ([(0, "SIMULTANEOUS", 1), (0, "BEFORE", 2), (1, "BEFORE", 3)], (2, "SIMULTANEOUS", 3), False),
    ],
)
def test_what_follows(links, asked, expected):
    graph = PointGraph(4)
    assert set(graph.add(relations(links))) == {"new"}
    assert graph.entails(relations([asked])) == [expected]


@for_each("kind", KINDS)
def test_a_relation_of_an_interval_with_itself(kind):
    assert PointGraph(1).add([Relation(0, 0, kind)]) == ["entailed" if kind == "equals" else "contradictory"]


def test_what_contradicts_stays_out():
    links = [(0, "BEFORE", 1), (1, "BEFORE", 2), (2, "BEFORE", 0), (0, "SIMULTANEOUS", 2), (0, "BEFORE", 2)]
    graph = PointGraph(3)
    assert graph.add(relations(links)) == ["new", "new", "contradictory", "contradictory", "entailed"]
    assert graph.entails(relations([(2, "BEFORE", 0), (0, "BEFORE", 2)])) == [False, True]


@pytest.mark.gate
@for_each("during", DURINGS)
@settings(max_examples=60)
@given(links=LINKS)
def test_fast_is_twin(during, links):
    network = twin.Network(range(5))
    slow = [network.add(source, name, target, during) for source, name, target in links]
    graph = PointGraph(5)
    assert graph.add(relations(links, during)) == slow
    for name in TYPES:
        asked = [(i, name, j) for i in range(5) for j in range(5)]
        expected = [network.entails(*one, during) for one in asked]
        assert graph.entails(relations(asked, during)) == expected


@pytest.mark.extended
@for_each("during", DURINGS)
@settings(max_examples=60)
@given(links=LINKS)
def test_the_faster_twin_is_the_slow_one(during, links):
    slow, faster = twin.Network(range(5)), twin.Matrices(range(5))
    for link in links:
        assert faster.add(*link, during) == slow.add(*link, during)
    for name in TYPES:
        asked = [(i, name, j) for i in range(6) for j in range(6)]
        assert [faster.entails(*one, during) for one in asked] == [slow.entails(*one, during) for one in asked]


@given(MODELS, st.randoms(use_true_random=False))
def test_what_is_true_of_some_intervals_never_contradicts_itself(model, rng):
    said = rng.choices(true_of(model), k=12)
    graph = PointGraph(len(model))
    assert "contradictory" not in graph.add(said)
    every = [Relation(i, j, kind) for i in range(len(model)) for j in range(len(model)) for kind in KINDS if i != j]
    for one, follows in zip(every, graph.entails(every), strict=True):
        assert holds(one, model) or not follows
    assert all(graph.entails(said))


@given(MODELS)
def test_of_all_that_is_true_everything_follows(model):
    graph = PointGraph(len(model))
    graph.add(true_of(model))
    assert all(graph.entails(true_of(model)))


@for_each("size", [1, 2, 5])
def test_batches_change_nothing(monkeypatch, size):
    rng = random.Random(4)
    common = ("BEFORE", "AFTER", "IS_INCLUDED", "SIMULTANEOUS", "BEGINS")
    said = [relation(*rng.sample(range(9), 2), rng.choice(common)) for _ in range(60)]
    whole = PointGraph(9)
    verdicts = whole.add(said)
    assert {"new", "entailed", "contradictory"} == set(verdicts)
    known = whole.entails(said)
    monkeypatch.setattr(temporal_graph, "ADDED", size)
    monkeypatch.setattr(temporal_graph, "ASKED", size)
    monkeypatch.setattr(temporal_graph, "isqrt", lambda _: 0)
    parted = PointGraph(9)
    assert parted.add(said) == verdicts
    assert parted.entails(said) == known


def test_thousands_of_intervals():
    """A timeline of five thousand, shuffled, with a shortcut for every link: each is judged, and none wrongly."""
    n, rng = 5000, random.Random(0)
    order = rng.sample(range(n), n)
    links = [(order[i], "BEFORE", order[i + 1]) for i in range(n - 1)]
    shortcuts = [(order[i + 7], "AFTER", order[i]) for i in range(n - 7)]
    graph = PointGraph(n)
    assert graph.add(relations(links + shortcuts)) == ["new"] * (n - 1) + ["entailed"] * (n - 7)
    assert graph.add(relations([(order[-1], "BEFORE", order[0])])) == ["contradictory"]


def test_as_many_relations_as_the_limit_need_inference(monkeypatch):
    graph = PointGraph(3)
    graph.add([Relation(0, 1, "before"), Relation(1, 2, "before")])
    monkeypatch.setattr(temporal_graph, "MAX_WORK", 6)  # of three intervals: two relations
    two = [Relation(0, 2, "before"), Relation(0, 1, "meets")]
    assert graph.entails(two) == [True, False]
    with pytest.raises(LimitError):
        graph.entails([*two, Relation(1, 2, "meets")])
