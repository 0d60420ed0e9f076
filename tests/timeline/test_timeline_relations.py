"""Explanations of timelines' scores, beside a slow twin."""

import random

import pytest
from shared.for_each import for_each
from shared.random_timelines import random_pair
from shared.timelines import entries
from twins import timelines as twin

from closeread.tasks.timeline import ways as timeline_ways
from closeread.tasks.timeline.kernels.timelines import (
    TRACKS,
    timeline_counts,
)
from closeread.tasks.timeline.relations import VERDICTS, explain_relations
from closeread.tasks.timeline.ways import Node


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


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


@pytest.mark.gate
@for_each("track", TRACKS)
def test_explanations_are_those_of_the_twin_and_of_the_counts(track, monkeypatch):
    monkeypatch.setattr(timeline_ways, "ENDS", 1000)
    met = set()
    for seed in range(200):
        pair = random_pair(seed, 6 if seed % 5 else 14)
        said = [twin.relations(rows, track) for rows in pair]
        nodes = [{node for _, *ends in twin.relations(rows, "full") for node in ends} for rows in pair]
        reduced = [twin.reduced(relations) for relations in said]
        found = list(explain_relations(*map(entries, pair), track))
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


@for_each("track", TRACKS)
def test_long_chains_keep_their_ends(track, monkeypatch):
    cut = 0
    for seed in range(60):
        pair = [*map(entries, random_pair(seed, 14))]
        monkeypatch.setattr(timeline_ways, "ENDS", 1000)
        wholes = [chain for e in explain_relations(*pair, track) for chain in (e.evidence, e.excluded_by)]
        monkeypatch.setattr(timeline_ways, "ENDS", 1)
        ends = [chain for e in explain_relations(*pair, track) for chain in (e.evidence, e.excluded_by)]
        for chain, all_of_it in zip(ends, map(whole, wholes), strict=True):
            if len(all_of_it) <= 2:
                assert chain == (all_of_it, 0, ())
            else:
                assert chain == (all_of_it[:1], len(all_of_it) - 2, all_of_it[-1:])
                cut += 1
    assert cut > 50


@for_each("track", TRACKS)
def test_where_all_is_in_order_nothing_is_sought(track, monkeypatch):
    monkeypatch.setattr(timeline_ways.Ways, "_search", None)
    rng = random.Random(5)
    gold = [(i // 3 + 1, f"{1000 + i // 3}", [f"m{i}"]) for i in range(300)]
    system = [(rng.randint(1, 90), anchor, mentions) for _, anchor, mentions in gold]
    system = [(position, f"{1000 + position}", mentions) for position, _, mentions in system]
    found = list(explain_relations(entries(gold), entries(system), track))
    assert {"entailed", "contradicted"} <= {explanation.verdict for explanation in found}


def told(relation):
    return f"{relation.one.text} {'<' if relation.relation == 'BEFORE' else '='} {relation.other.text}"


def test_an_explanation_by_hand():
    gold = [(1, "2001", ["a"]), (2, "2001", ["b"]), (3, "2002", ["c", "d"])]
    system = [(1, "2001", ["a"]), (2, "2002", ["c"]), (3, "2003", ["b"])]
    found = [
        (e.side, told(e.relation), e.verdict, [*map(told, e.evidence.first)], [*map(told, e.excluded_by.first)])
        for e in explain_relations(entries(gold), entries(system))
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
    absent = [e.absent for e in explain_relations(entries(gold), entries(system)) if e.verdict == "missing"]
    assert absent == [(Node("mention", "d"),), (Node("anchor", "2003"),)]
