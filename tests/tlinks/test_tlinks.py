"""Temporal awareness over links: hand cases, an exact twin, and what must hold of any input."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.count_tables import score_table, sum_counts
from shared.for_each import for_each
from twins import point_algebra as twin

from closeread.tasks.tlinks.counting import REDUCTIONS, count
from closeread.tasks.tlinks.procedure import PROCEDURE
from closeread.tasks.tlinks.temporal_graph import DURINGS, EXTENT_MATCHINGS, TYPES, Extent, match_extents

CASES = json.loads((Path(__file__).parent.parent / "cases" / "tlinks.json").read_text("utf-8"))


LINKS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(sorted(TYPES)), st.integers(0, 4)), max_size=7)
COMMON = st.lists(  # what seldom contradicts itself
    st.tuples(st.integers(0, 5), st.sampled_from(["BEFORE", "IS_INCLUDED", "BEGINS", "IBEFORE"]), st.integers(0, 5))
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
        found = [{"source": str(s), "relation": name, "target": str(t)} for s, name, t in links or ()]
        record = {"document": f"d{i}", "tlinks": found}
        if extents is not None:
            record["intervals"] = [
                {"id": name, "kind": "EVENT", "start": start, "end": end} for name, (start, end) in extents[i].items()
            ]
        records.append(record if links is not None else None)
    return records


def counts(gold, system, **options):
    return count(gold=documents([gold]), system=documents([system]), **options).values[0].tolist()


# By hand.


@for_each("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    extents = case.get("extents", [None, None])
    gold, system = (documents(case[side], extents[i]) for i, side in enumerate(("gold", "system")))
    options = PROCEDURE.resolve_options(case.get("options", {}))
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


@for_each("case", CASES["matching"], ids=lambda case: case["name"])
def test_matching_by_hand(case):
    sides = [[Extent(*extent) for extent in case[side]] for side in ("gold", "system")]
    for matching in EXTENT_MATCHINGS:
        assert match_extents(*sides, matching) == [tuple(pair) for pair in case[matching]]


# Of any input.


@settings(max_examples=50)
@given(LINKS | COMMON, LINKS | COMMON, st.sampled_from(REDUCTIONS), st.sampled_from(sorted(DURINGS)))
def test_fast_is_twin(gold, system, reduction, during):
    expected = twin.link_counts(gold, system, reduction, during)
    assert counts(gold, system, reduction=reduction, during=during) == expected


@given(LINKS)
def test_a_perfect_system(links):
    found = counts(links, links)
    assert found[0:2] == found[2:4]
    assert found[0] == found[1]


@given(LINKS, LINKS, st.data(), st.sampled_from(REDUCTIONS))
def test_what_is_true_of_any_interval_changes_nothing(gold, system, data, reduction):
    more = [(0, "SIMULTANEOUS", 0), (4, "IDENTITY", 4), (7, "DURING", 7), (2, "DURING_INV", 2)]
    sides = []
    for links in (gold, system):
        sides.append(list(links))
        for link in more:
            sides[-1].insert(data.draw(st.integers(0, len(sides[-1]))), link)
    assert counts(*sides, reduction=reduction) == counts(gold, system, reduction=reduction)


@given(LINKS, LINKS)
def test_an_empty_system(gold, system):
    assert counts(gold, [])[:3] == [0, 0, 0]
    assert counts([], system)[2:4] == [0, 0]


@given(LINKS | COMMON, LINKS | COMMON, st.sampled_from(REDUCTIONS))
def test_swapping_sides_swaps_precision_and_recall(gold, system, reduction):
    found = counts(gold, system, reduction=reduction)
    assert counts(system, gold, reduction=reduction) == [*found[2:4], *found[:2], found[5], found[4]]


@given(LINKS | COMMON, LINKS | COMMON, st.permutations(range(6)))
def test_other_ids_change_nothing(gold, system, names):
    turned = [[(names[s], name, names[t]) for s, name, t in links] for links in (gold, system)]
    assert counts(*turned) == counts(gold, system)


@given(LINKS | COMMON, LINKS | COMMON, st.randoms(use_true_random=False), st.sampled_from(REDUCTIONS))
def test_links_turned_round_change_nothing(gold, system, rng, reduction):
    turned = [
        [(t, twin.INVERSE[name], s) if rng.random() < 0.5 else (s, name, t) for s, name, t in links]
        for links in (gold, system)
    ]
    assert counts(*turned, reduction=reduction) == counts(gold, system, reduction=reduction)


@given(COMMON, COMMON, st.randoms(use_true_random=False))
def test_order_changes_nothing_but_what_is_reduced(gold, system, rng):
    """Of consistent links: which ones are left out depends on their order, as in the toolkit; what follows does not."""
    found = counts(gold, system, reduction="none")
    if found[4] == found[5] == 0:
        mixed = [rng.sample(links, len(links)) for links in (gold, system)]
        assert counts(*mixed, reduction="none") == found


@given(COMMON, COMMON)
def test_a_link_that_follows_changes_nothing(gold, system):
    found = counts(gold, system)
    if found[4] == 0:
        network = twin.Network(range(6))
        for link in system:
            network.add(*link)
        every = [(i, name, j) for i in range(6) for j in range(6) for name in TYPES if i != j]
        more = [link for link in every if network.entails(*link)]
        assert counts(gold, system + more) == found


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
