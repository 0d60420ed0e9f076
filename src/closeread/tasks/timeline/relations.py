"""Why a timeline scores as it does: what becomes of every reduced relation of gold and of the system.

Conventions: as in `closeread.tasks.timeline.kernels.timelines`, whose counts these are: the verified relations are
those whose verdict is "literal" or "entailed".  Which relations follow, and which are excluded, is known without a
search; only the relations from which they do are looked for (`closeread.tasks.timeline.ways`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.tasks.timeline.kernels.order import precedes
from closeread.tasks.timeline.kernels.timelines import ABSENT, Entry, partners, placed, side, verified
from closeread.tasks.timeline.ways import Chain, Node, Relation, Ways

VERDICTS = {
    "literal": "the other side has it, as it is or turned round",
    "entailed": "it follows from relations of the other side",
    "contradicted": "relations of the other side exclude it",
    "missing": "the other side says nothing of it",
}
"""What can become of a relation."""

NOTHING = Chain()
Ints = NDArray[np.int64]
Name = Literal["gold", "system"]


class Explanation(NamedTuple):
    """What becomes of a reduced relation.

    Attributes:
        side: whose it is, "gold" or "system".
        relation: the relation.
        verdict: one of `VERDICTS`.
        evidence: what the other side says instead, from one node to the other: the relation that verifies it, or those
            that entail or contradict it; none where it is missing.
        absent: the nodes that the other side does not have.
        excluded_by: the earlier relations of its own side that it contradicts, for which it is in the count but not in
            the order; none where it contradicts none.
    """

    side: Name
    relation: Relation
    verdict: str
    evidence: Chain
    absent: tuple[Node, ...]
    excluded_by: Chain


def explanations(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Iterator[Explanation]:
    """What becomes of the reduced relations of gold, then of the system's, each in the order of its timeline.

    Args:
        gold, system: the entries of the two timelines.
        track: one of `closeread.tasks.timeline.kernels.timelines.TRACKS`.
    """
    theirs, ours = (Ways(side(placed(entries), track)) for entries in (gold, system))
    yield from _explained("gold", theirs, ours)
    yield from _explained("system", ours, theirs)


def _explained(name: Name, own: Ways, other: Ways) -> Iterator[Explanation]:
    """The explanations of one side."""
    found = verified(own.side, other.side)
    there = partners(own.side, other.side)
    yield from _of_anchors(name, own, other, there, found.anchored.tolist())
    steps = np.flatnonzero(own.side.reduced)
    ones, others = there[steps], there[steps + 1]
    leads, own_leads = _leads(other, ones, others), _leads(own, steps, steps + 1)
    columns = (column.tolist() for column in (steps, ones, others, leads, own_leads))
    for i, one, next_one, lead, own_lead in zip(*columns, strict=True):
        verdict, evidence = "missing", NOTHING
        if found.literal[i]:
            verdict, evidence = "literal", Chain((other.step(min(one, next_one)),))
        elif lead:
            verdict = "entailed" if found.entailed[i] else "contradicted"
            evidence = _chain(other, one, next_one, lead)
        excluded_by = _chain(own, i, i + 1, own_lead, i) if own.side.contradicts[i] else NOTHING
        relation = own.step(i)
        yield Explanation(name, relation, verdict, evidence, _absent(relation, (one, next_one)), excluded_by)


def _of_anchors(name: Name, own: Ways, other: Ways, there: Ints, anchored: Sequence[bool]) -> Iterator[Explanation]:
    """The explanations of the relations of mentions to their anchors."""
    if not own.side.anchors:
        return
    times = np.array([other.side.anchors.get(text, ABSENT) for text in own.side.anchors], np.int64)[own.side.at]
    anchors = np.where(times == ABSENT, ABSENT, other.anchor(0) + times)
    leads = _leads(other, there, anchors).tolist()
    for i, (mention, anchor, lead) in enumerate(zip(there.tolist(), anchors.tolist(), leads, strict=True)):
        verdict, evidence = "missing", NOTHING
        if lead and other.time(mention) == other.time(anchor):
            verdict, evidence = "literal", Chain((other.anchoring(mention),))
        elif lead:
            verdict = "entailed" if anchored[i] else "contradicted"
            evidence = _chain(other, mention, anchor, lead)
        relation = own.anchoring(i)
        yield Explanation(name, relation, verdict, evidence, _absent(relation, (mention, anchor)), NOTHING)


def _leads(ways: Ways, one: Ints, other: Ints) -> Ints:
    """Whether relations lead from nodes to others (1), only back (-1), or neither (0), as where one is absent."""
    n, order, at = len(ways.side.at), ways.side.order, np.append(ways.side.at, np.arange(len(ways.side.anchors)))
    found = np.zeros(len(one), np.int64)
    known = np.flatnonzero((one != ABSENT) & (other != ABSENT))
    if not n or not len(known):
        return found
    start, end = at[one[known]], at[other[known]]
    forth = (order.group[start] == order.group[end]) | precedes(order, start, end)
    found[known] = np.where(forth, 1, -precedes(order, end, start).astype(np.int64))
    return found


def _chain(ways: Ways, one: int, other: int, lead: int, until: int | None = None) -> Chain:
    return ways.chain(one, other, until) if lead > 0 else ways.chain(other, one, until)


def _absent(relation: Relation, there: tuple[int, int]) -> tuple[Node, ...]:
    nodes = (relation.one, relation.other)
    return tuple(node for node, number in zip(nodes, there, strict=True) if number == ABSENT)
