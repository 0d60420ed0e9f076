"""Temporal awareness over links and what they entail: hand cases, the point algebra as an exact twin."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.count_tables import score_table, sum_counts
from twins import point_algebra as twin

from closeread.arrays import LimitError
from closeread.formats.timeml import RELATION_TYPES
from closeread.tasks.tlinks import temporal_graph
from closeread.tasks.tlinks.counting import REDUCTIONS, count
from closeread.tasks.tlinks.extents import EXTENT_MATCHINGS, Extent, match_extents
from closeread.tasks.tlinks.procedure import PROCEDURE
from closeread.tasks.tlinks.temporal_graph import (
    DURINGS,
    KINDS,
    SYMMETRIC,
    TYPES,
    PointGraph,
    Relation,
    make_relation,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "tlinks.json").read_text("utf-8"))


LINKS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(sorted(TYPES)), st.integers(0, 4)), max_size=7
)
COMMON = st.lists(  # what seldom contradicts itself
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["BEFORE", "IS_INCLUDED", "BEGINS", "IBEFORE"]),
        st.integers(0, 5),
    )
    .filter(lambda x: x[0] != x[2])
    .map(lambda x: (min(x[0], x[2]), x[1], max(x[0], x[2]))),
    max_size=9,
)
EXTENTS = st.lists(
    st.builds(
        lambda kind, start, length: Extent(kind, start, start + length),
        st.sampled_from(["EVENT", "TIMEX3"]),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
    max_size=8,
)


def documents(sides, extents=None):
    """Records of documents, each given as its links (source, type, target); None is no record."""
    records = []
    for i, links in enumerate(sides):
        found = [
            {"source": str(s), "relation": name, "target": str(t)} for s, name, t in links or ()
        ]
        record = {"document": f"d{i}", "tlinks": found}
        if extents is not None:
            record["intervals"] = [
                {"id": name, "kind": "EVENT", "start": start, "end": end}
                for name, (start, end) in extents[i].items()
            ]
        records.append(record if links is not None else None)
    return records


def counts(gold, system, **options):
    return count(gold=documents([gold]), system=documents([system]), **options).values[0].tolist()


# By hand.


@pytest.mark.parametrize("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    extents = case.get("extents", [None, None])
    gold, system = (documents(case[side], extents[i]) for i, side in enumerate(("gold", "system")))
    resolved = PROCEDURE.resolve_options(case.get("options", {}))
    options = PROCEDURE.keep_options(resolved, reading=False)
    table = count(gold=gold, system=system, breakdowns=("type",), **options)
    assert list(score_table(table, PROCEDURE).values()) == pytest.approx(
        [float(Fraction(score)) for score in case["expected"]], abs=1e-12
    )
    assert list(sum_counts(table).values()) == case["counts"]
    parts = {name: part.values.sum(axis=0).tolist() for name, part in table.slices("type").items()}
    assert np.sum(list(parts.values()), axis=0) == pytest.approx(np.array(case["counts"]))
    for name, expected in case.get("types", {}).items():
        assert parts[name][:4] == expected


def test_a_missing_document_may_be_an_error():
    with pytest.raises(ValueError, match="1 of 2 documents have no prediction"):
        count(gold=documents([[], []]), system=documents([[], None]), missing="error")


@pytest.mark.parametrize("case", CASES["matching"], ids=lambda case: case["name"])
def test_matching_by_hand(case):
    sides = [[Extent(*extent) for extent in case[side]] for side in ("gold", "system")]
    for matching in EXTENT_MATCHINGS:
        assert match_extents(*sides, matching) == [tuple(pair) for pair in case[matching]]


# Of any input.


@settings(max_examples=50)
@given(
    LINKS | COMMON, LINKS | COMMON, st.sampled_from(REDUCTIONS), st.sampled_from(sorted(DURINGS))
)
def test_fast_is_twin(gold, system, reduction, during):
    expected = twin.link_counts(gold, system, reduction, during)
    assert counts(gold, system, reduction=reduction, during=during) == expected


@given(EXTENTS, EXTENTS)
def test_matching_is_one_to_one_and_the_same_from_either_side(gold, system):
    strict, relaxed = (match_extents(gold, system, matching) for matching in EXTENT_MATCHINGS)
    for pairs in (strict, relaxed):
        assert all(len(set(side)) == len(pairs) for side in zip(*pairs, strict=True))
    assert set(strict) <= set(relaxed)
    assert all(gold[i] == system[j] for i, j in strict)
    for i, j in set(relaxed) - set(strict):
        one, other = gold[i], system[j]
        assert one.kind == other.kind
        assert max(one.start, other.start) < min(one.end, other.end)
    for matching, pairs in zip(EXTENT_MATCHINGS, (strict, relaxed), strict=True):
        assert sorted((i, j) for j, i in match_extents(system, gold, matching)) == pairs
    if strict:
        gold, system = (
            [extent for i, extent in enumerate(side) if i not in taken]
            for side, taken in zip((gold, system), zip(*strict, strict=True), strict=True)
        )
    assert not set(gold) & set(system)


MORE_LINKS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(sorted(TYPES)), st.integers(0, 4)), max_size=8
)
MODELS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda x: (x[0], sum(x))),
    min_size=2,
    max_size=7,
)


def relations(links, during="simultaneous"):
    return [make_relation(source, target, name, during) for source, name, target in links]


def add(graph, relations):
    """The verdict on each relation, when it is added."""
    return list(graph.add(relations).values())


def entails(graph, relations):
    """Whether each relation follows from those that were added."""
    return [graph.judge(relation) == "entailed" for relation in relations]


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
        "starts before": start < other_start,
        "starts with": start == other_start,
    }[one.kind]


def true_of(model):
    """All relations that are true of some intervals."""
    n = len(model)
    every = (Relation(i, j, kind) for i in range(n) for j in range(n) if i != j for kind in KINDS)
    return [
        one
        for one in every
        if holds(one, model) and (one.kind not in SYMMETRIC or one.first < one.second)
    ]


def test_every_type_of_timeml_and_of_matres_has_its_relation():
    assert set(TYPES) == {*RELATION_TYPES, "STARTS_BEFORE", "STARTS_AFTER", "STARTS_EQUAL"}
    for name in TYPES:
        for during in DURINGS:
            inverse = make_relation(5, 3, twin.INVERSE[name], during)
            assert make_relation(3, 5, name, during) == inverse


@pytest.mark.parametrize(
    ("links", "asked", "expected"),
    [
        ([(0, "BEFORE", 1), (1, "BEFORE", 2)], (0, "BEFORE", 2), True),
        ([(0, "BEFORE", 1), (0, "BEFORE", 2)], (1, "BEFORE", 2), False),
        ([(0, "IBEFORE", 1), (1, "IBEFORE", 2)], (0, "BEFORE", 2), True),  # 1 lasts
        ([(0, "IBEFORE", 1), (1, "BEGINS", 2)], (0, "IBEFORE", 2), True),
        # 1 begins before 2 and ends after it
        ([(0, "BEGINS", 1), (0, "ENDS", 2)], (1, "INCLUDES", 2), False),
        ([(0, "BEGINS", 1), (0, "ENDS", 2)], (2, "DURING", 1), False),
        ([(0, "BEGINS", 1), (0, "ENDED_BY", 2)], (2, "IS_INCLUDED", 1), True),
        ([(0, "BEGINS", 1), (2, "BEGINS", 0)], (1, "BEGUN_BY", 2), True),
        ([(0, "SIMULTANEOUS", 1), (1, "INCLUDES", 2)], (2, "IS_INCLUDED", 0), True),
        ([(0, "IDENTITY", 1)], (1, "SIMULTANEOUS", 0), True),
        # What starts earlier may end later.
        ([(0, "BEFORE", 1)], (0, "STARTS_BEFORE", 1), True),
        ([(0, "STARTS_BEFORE", 1)], (0, "BEFORE", 1), False),
        ([(0, "INCLUDES", 1), (2, "STARTS_EQUAL", 1)], (2, "STARTS_AFTER", 0), True),
        ([(0, "STARTS_BEFORE", 1), (1, "BEGINS", 2)], (0, "STARTS_BEFORE", 2), True),
        ([(0, "STARTS_EQUAL", 1)], (1, "SIMULTANEOUS", 0), False),
        # Two that follow two simultaneous ones: nothing says which of them is first.
        (
            [(0, "SIMULTANEOUS", 1), (0, "BEFORE", 2), (1, "BEFORE", 3)],
            (2, "SIMULTANEOUS", 3),
            False,
        ),
    ],
)
def test_what_follows(links, asked, expected):
    graph = PointGraph(4)
    assert set(add(graph, relations(links))) == {"new"}
    assert entails(graph, relations([asked])) == [expected]


@pytest.mark.parametrize("kind", KINDS)
def test_a_relation_of_an_interval_with_itself(kind):
    assert add(PointGraph(1), [Relation(0, 0, kind)]) == [
        "entailed" if kind in SYMMETRIC else "contradictory"
    ]


def test_what_contradicts_stays_out():
    links = [
        (0, "BEFORE", 1),
        (1, "BEFORE", 2),
        (2, "BEFORE", 0),
        (0, "SIMULTANEOUS", 2),
        (0, "BEFORE", 2),
    ]
    graph = PointGraph(3)
    assert add(graph, relations(links)) == [
        "new",
        "new",
        "contradictory",
        "contradictory",
        "entailed",
    ]
    assert entails(graph, relations([(2, "BEFORE", 0), (0, "BEFORE", 2)])) == [False, True]


@pytest.mark.gate
@pytest.mark.parametrize("during", DURINGS)
@settings(max_examples=60)
@given(links=MORE_LINKS)
def test_the_graph_is_the_twins(during, links):
    network = twin.Network(range(5))
    # Each relation is added once.
    links = list(dict(zip(relations(links, during), links, strict=True)).values())
    slow = [network.add(source, name, target, during) for source, name, target in links]
    graph = PointGraph(5)
    assert add(graph, relations(links, during)) == slow
    for name in TYPES:
        asked = [(i, name, j) for i in range(5) for j in range(5)]
        expected = [network.entails(*one, during) for one in asked]
        assert entails(graph, relations(asked, during)) == expected


@given(MODELS, st.randoms(use_true_random=False))
def test_what_is_true_of_some_intervals_never_contradicts_itself(model, rng):
    said = rng.choices(true_of(model), k=12)
    graph = PointGraph(len(model))
    assert "contradictory" not in add(graph, said)
    every = [
        Relation(i, j, kind)
        for i in range(len(model))
        for j in range(len(model))
        for kind in KINDS
        if i != j
    ]
    for one, follows in zip(every, entails(graph, every), strict=True):
        assert holds(one, model) or not follows
    assert all(entails(graph, said))


@given(MODELS)
def test_of_all_that_is_true_everything_follows(model):
    graph = PointGraph(len(model))
    graph.add(true_of(model))
    assert all(entails(graph, true_of(model)))


def test_thousands_of_intervals():
    """A timeline of two thousand, shuffled, with a shortcut for every link: each is judged, and none wrongly."""
    n, rng = 2000, random.Random(0)
    order = rng.sample(range(n), n)
    links = [(order[i], "BEFORE", order[i + 1]) for i in range(n - 1)]
    shortcuts = [(order[i + 7], "AFTER", order[i]) for i in range(n - 7)]
    graph = PointGraph(n)
    assert add(graph, relations(links + shortcuts)) == ["new"] * (n - 1) + ["entailed"] * (n - 7)
    assert add(graph, relations([(order[-1], "BEFORE", order[0])])) == ["contradictory"]


def test_as_many_relations_as_the_limit(monkeypatch):
    monkeypatch.setattr(temporal_graph, "MAX_WORK", 6)  # of three intervals: two relations
    two = [Relation(0, 1, "before"), Relation(1, 2, "before")]
    assert add(PointGraph(3), two) == ["new", "new"]
    with pytest.raises(LimitError):
        PointGraph(3).add([*two, Relation(0, 2, "meets")])
