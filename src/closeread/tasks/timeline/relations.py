"""Explanations of a timeline's score: a verdict and its evidence for every reduced relation of gold and system.

Conventions: as in `closeread.tasks.timeline.kernels.timelines`, whose counts are explained: verified relations are
those with the verdict "literal" or "entailed".  Verdicts need no search; only evidence is searched for
(`closeread.tasks.timeline.ways`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.timeline.kernels.order import precedes
from closeread.tasks.timeline.kernels.timelines import (
    ABSENT,
    Entry,
    build_side,
    find_partners,
    list_mentions,
    verify,
)
from closeread.tasks.timeline.ways import Chain, Node, Relation, Ways

VERDICTS = {
    "literal": "the other side states it too, in either direction",
    "entailed": "it follows from relations of the other side",
    "contradicted": "it contradicts relations of the other side",
    "missing": "the other side neither entails nor contradicts it",
}
"""The verdicts on a relation, and their meanings."""

NOTHING = Chain()
Name = Literal["gold", "system"]


class Explanation(NamedTuple):
    """A reduced relation with its verdict and evidence.

    Attributes:
        side: the side that states it, "gold" or "system".
        relation: the relation.
        verdict: one of `VERDICTS`.
        evidence: the chain of the other side that verifies, entails or contradicts it; empty if it is missing.
        absent: its nodes that the other side lacks.
        excluded_by: the earlier relations of its own side that it contradicts, so that it is counted but not part of
            the order; empty if there are none.
    """

    side: Name
    relation: Relation
    verdict: str
    evidence: Chain
    absent: tuple[Node, ...]
    excluded_by: Chain


def explain_relations(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Iterator[Explanation]:
    """Explain the reduced relations of gold, then those of the system, in the order of their timelines.

    Args:
        gold, system: the entries of the two timelines.
        track: one of `closeread.tasks.timeline.kernels.timelines.TRACKS`.
    """
    gold_ways, system_ways = (Ways(build_side(list_mentions(entries), track)) for entries in (gold, system))
    yield from _explain_side("gold", gold_ways, system_ways)
    yield from _explain_side("system", system_ways, gold_ways)


def _explain_side(name: Name, own: Ways, other: Ways) -> Iterator[Explanation]:
    """Explain the relations of one side."""
    found = verify(own.side, other.side)
    there = find_partners(own.side, other.side)
    yield from _explain_anchors(name, own, other, there, found.anchored.tolist())
    steps = np.flatnonzero(own.side.reduced)
    ones, others = there[steps], there[steps + 1]
    leads, own_leads = _find_directions(other, ones, others), _find_directions(own, steps, steps + 1)
    columns = (column.tolist() for column in (steps, ones, others, leads, own_leads))
    for i, one, next_one, lead, own_lead in zip(*columns, strict=True):
        verdict, evidence = "missing", NOTHING
        if found.literal[i]:
            verdict, evidence = "literal", Chain((other.step(min(one, next_one)),))
        elif lead:
            verdict = "entailed" if found.entailed[i] else "contradicted"
            evidence = _find_chain(other, one, next_one, lead)
        excluded_by = _find_chain(own, i, i + 1, own_lead, i) if own.side.contradicts[i] else NOTHING
        relation = own.step(i)
        yield Explanation(name, relation, verdict, evidence, _find_absent(relation, (one, next_one)), excluded_by)


def _explain_anchors(
    name: Name, own: Ways, other: Ways, there: Ints, anchored: Sequence[bool]
) -> Iterator[Explanation]:
    """Explain the relations of mentions to their anchors."""
    if not own.side.anchors:
        return
    times = np.array([other.side.anchors.get(text, ABSENT) for text in own.side.anchors], np.int64)[own.side.at]
    anchors = np.where(times == ABSENT, ABSENT, other.anchor(0) + times)
    leads = _find_directions(other, there, anchors).tolist()
    for i, (mention, anchor, lead) in enumerate(zip(there.tolist(), anchors.tolist(), leads, strict=True)):
        verdict, evidence = "missing", NOTHING
        if lead and other.time(mention) == other.time(anchor):
            verdict, evidence = "literal", Chain((other.anchoring(mention),))
        elif lead:
            verdict = "entailed" if anchored[i] else "contradicted"
            evidence = _find_chain(other, mention, anchor, lead)
        relation = own.anchoring(i)
        yield Explanation(name, relation, verdict, evidence, _find_absent(relation, (mention, anchor)), NOTHING)


def _find_directions(ways: Ways, one: Ints, other: Ints) -> Ints:
    """Test pair by pair for a chain between two nodes: forward (1), only backward (-1), or none (0), e.g. if absent."""
    n, order, at = len(ways.side.at), ways.side.order, np.append(ways.side.at, np.arange(len(ways.side.anchors)))
    found = np.zeros(len(one), np.int64)
    known = np.flatnonzero((one != ABSENT) & (other != ABSENT))
    if not n or not len(known):
        return found
    start, end = at[one[known]], at[other[known]]
    forth = (order.group[start] == order.group[end]) | precedes(order, start, end)
    found[known] = np.where(forth, 1, -precedes(order, end, start).astype(np.int64))
    return found


def _find_chain(ways: Ways, one: int, other: int, lead: int, until: int | None = None) -> Chain:
    return ways.chain(one, other, until) if lead > 0 else ways.chain(other, one, until)


def _find_absent(relation: Relation, there: tuple[int, int]) -> tuple[Node, ...]:
    nodes = (relation.one, relation.other)
    return tuple(node for node, number in zip(nodes, there, strict=True) if number == ABSENT)
