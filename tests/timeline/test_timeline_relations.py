"""Explanations of timelines' scores, beside a slow twin."""

import pytest
from shared.for_each import for_each
from shared.random_timelines import random_pair
from shared.timelines import entries
from twins import timelines as twin

from closeread.tasks.timeline import explain
from closeread.tasks.timeline.explain import VERDICTS, Node, find_verdicts, shorten
from closeread.tasks.timeline.kernels.timelines import (
    TRACKS,
    timeline_counts,
)


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


def as_node(node):
    """A node as the twin has it."""
    return ("mention", (node.text, node.copy)) if node.kind == "mention" else ("time", node.text)


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
    relation, evidence = as_twin(explanation.relation), [as_twin(r) for r in explanation.evidence]
    kind, one, two = relation
    assert [as_node(node) for node in explanation.absent] == [node for node in (one, two) if node not in nodes]
    literal = [r for r in other if r == relation or (kind == twin.SIMULTANEOUS and r == (kind, two, one))]
    assert (explanation.verdict == "verified") == bool(literal)
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
    excluded_by = [as_twin(r) for r in explanation.excluded_by]
    assert set(excluded_by) <= set(earlier)
    assert twin.contradicted(relation, excluded_by) == twin.contradicted(relation, earlier) == bool(excluded_by)


@pytest.mark.gate
@for_each("track", TRACKS)
def test_explanations_are_those_of_the_twin_and_of_the_counts(track):
    met = set()
    for seed in range(200):
        pair = random_pair(seed, 6 if seed % 5 else 14)
        said = [twin.relations(rows, track) for rows in pair]
        nodes = [{node for _, *ends in twin.relations(rows, "full") for node in ends} for rows in pair]
        reduced = [twin.reduced(relations) for relations in said]
        found = list(find_verdicts(*map(entries, pair), track))
        for name, own, other in (("gold", 0, 1), ("system", 1, 0)):
            of_side = [explanation for explanation in found if explanation.side == name]
            assert [as_twin(explanation.relation) for explanation in of_side] == reduced[own][0], "in order"
            for explanation in of_side:
                checked(explanation, said[own], said[other], nodes[other], reduced[other][1])
                met.add((explanation.verdict, bool(explanation.excluded_by), bool(explanation.absent)))
        verified = [e.side for e in found if e.verdict in ("verified", "entailed")]
        assert [verified.count("system"), verified.count("gold")] == counts(*pair, track)[0:4:2]
    # Without anchors nothing is contradictory, and whatever is on both sides is in an order there.
    kinds = {(verdict, False, False) for verdict in VERDICTS} | {("missing", False, True)}
    if track == "ordering":
        assert met == kinds - {("missing", False, False)}
    else:
        assert met >= kinds | {(verdict, True, absent) for verdict, _, absent in kinds - {("missing", False, False)}}


def test_long_chains_keep_their_ends(monkeypatch):
    monkeypatch.setattr(explain, "ENDS", 2)
    gold = [(i, f"{2000 + i}", [f"m{i}"]) for i in range(1, 8)]
    chains = [
        one.evidence for one in find_verdicts(entries([gold[0], gold[-1]]), entries(gold)) if len(one.evidence) > 1
    ]
    (chain,) = chains  # m1 < m7 follows from six relations
    found = shorten(chain)
    assert [one["one"]["text"] for one in found["first"] + found["last"]] == ["m1", "m2", "m5", "m6"]
    assert found["left_out"] == 2
    assert shorten(chain[:4]) == {"first": [one.to_json() for one in chain[:4]], "left_out": 0, "last": []}


def told(relation):
    return f"{relation.one.text} {'<' if relation.relation == 'BEFORE' else '='} {relation.other.text}"


def test_an_explanation_by_hand():
    gold = [(1, "2001", ["a"]), (2, "2001", ["b"]), (3, "2002", ["c", "d"])]
    system = [(1, "2001", ["a"]), (2, "2002", ["c"]), (3, "2003", ["b"])]
    found = [
        (e.side, told(e.relation), e.verdict, [*map(told, e.evidence)], [*map(told, e.excluded_by)])
        for e in find_verdicts(entries(gold), entries(system))
    ]
    assert found == [
        ("gold", "a = 2001", "verified", ["a = 2001"], []),
        ("gold", "b = 2001", "contradicted", ["a = 2001", "a < c", "c < b"], []),
        ("gold", "c = 2002", "verified", ["c = 2002"], []),
        ("gold", "d = 2002", "missing", [], []),
        ("gold", "a < b", "entailed", ["a < c", "c < b"], ["a = 2001", "b = 2001"]),
        ("gold", "b < c", "contradicted", ["c < b"], []),
        ("system", "a = 2001", "verified", ["a = 2001"], []),
        ("system", "c = 2002", "verified", ["c = 2002"], []),
        ("system", "b = 2003", "missing", [], []),
        ("system", "a < c", "entailed", ["a = 2001", "b = 2001", "b < c"], []),
        ("system", "c < b", "contradicted", ["b < c"], []),
    ]
    absent = [e.absent for e in find_verdicts(entries(gold), entries(system)) if e.verdict == "missing"]
    assert absent == [[Node("mention", "d")], [Node("anchor", "2003")]]
