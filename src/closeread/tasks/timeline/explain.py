"""Why a timeline has its score: a verdict and its evidence for every reduced relation of gold and system.

Conventions: as in `closeread.tasks.timeline.kernels.timelines`, whose counts are explained: relations that count as
verified have the verdict "verified" or "entailed".  Nodes are numbered: mentions in order, then anchors.  A relation is
an edge between a mention and its anchor, or between a mention and the next one if it is part of the order.  Edges
between nodes of one time are undirected, those of BEFORE are directed; evidence is a shortest path.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.kernels.order import precedes
from closeread.tasks.timeline.kernels.timelines import (
    ABSENT,
    Entry,
    Side,
    build_side,
    find_partners,
    list_mentions,
    verify,
)

VERDICTS = {
    "verified": "the other side states it too, in either direction",
    "entailed": "it follows from relations of the other side",
    "contradicted": "it contradicts relations of the other side",
    "missing": "the other side neither entails nor contradicts it",
}
"""The verdicts on a relation, and their meanings."""

ENDS = 5
"""How many relations are kept at each end of a long chain."""

HEADER = ("side", "first", "relation", "second", "verdict", "because")
OTHER = {"gold": "system", "system": "gold"}
Kind = Literal["BEFORE", "SIMULTANEOUS"]


class Node(NamedTuple):
    """An argument of a relation.

    Attributes:
        kind: "mention" or "anchor".
        text: the mention or the anchor.
        copy: how many mentions with the same text come before it in the timeline.
    """

    kind: Literal["mention", "anchor"]
    text: str
    copy: int = 0


class Relation(NamedTuple):
    """A relation between two nodes of a timeline."""

    relation: Kind
    one: Node
    other: Node

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"relation": self.relation, "one": self.one._asdict(), "other": self.other._asdict()}


Chain = Sequence[Relation]
"""Consecutive relations that lead from one node to another."""


class Verdict(NamedTuple):
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

    side: str
    relation: Relation
    verdict: str
    evidence: Chain
    absent: Sequence[Node]
    excluded_by: Chain

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it, long chains without their middle."""
        return {
            "side": self.side,
            "relation": self.relation.to_json(),
            "verdict": self.verdict,
            "evidence": shorten(self.evidence),
            "absent": [node._asdict() for node in self.absent],
            "excluded_by": shorten(self.excluded_by),
        }


def shorten(chain: Chain) -> dict[str, Any]:
    """Return the relations at both ends of a chain as JSON can hold them, and how many are left out in the middle."""
    is_long = len(chain) > 2 * ENDS
    first, last = (chain[:ENDS], chain[-ENDS:]) if is_long else (chain, ())
    left_out = len(chain) - 2 * ENDS if is_long else 0
    return {"first": [one.to_json() for one in first], "left_out": left_out, "last": [one.to_json() for one in last]}


class Paths:
    """The paths along the relations of one side."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._at: list[int] = side.at.tolist()
        self._nodes = [Node("mention", *copy) for copy in side.copies] + [Node("anchor", text) for text in side.anchors]

    @cached_property
    def _steps(self) -> Sequence[Sequence[tuple[int, int]]]:
        """For every time, the relations of neighbours that lead away from it, as mention and target time."""
        steps: list[list[tuple[int, int]]] = [[] for _ in self.side.order.group]
        for i in np.flatnonzero(self.side.joins).tolist():
            here, there = self._at[i], self._at[i + 1]
            steps[here].append((i, there))
            if not self.side.later[i]:
                steps[there].append((i, here))
        return steps

    def anchor(self, time: int) -> int:
        """Return the node of the anchor of a time."""
        return len(self._at) + time

    def time(self, node: int) -> int:
        """Return the time of a node."""
        return self._at[node] if node < len(self._at) else node - len(self._at)

    def step(self, mention: int) -> Relation:
        """Return the relation of a mention to the next one."""
        kind: Kind = "BEFORE" if self.side.later[mention] else "SIMULTANEOUS"
        return Relation(kind, self._nodes[mention], self._nodes[mention + 1])

    def anchoring(self, mention: int) -> Relation:
        """Return the relation of a mention to its anchor."""
        return Relation("SIMULTANEOUS", self._nodes[mention], self._nodes[self.anchor(self._at[mention])])

    def find_directions(self, one: Ints, other: Ints) -> Ints:
        """Test pair by pair for a path between nodes: forward (1), only backward (-1), or none (0), e.g. if absent."""
        order, at = self.side.order, np.append(self.side.at, np.arange(len(self.side.anchors)))
        found = np.zeros(len(one), np.int64)
        known = np.flatnonzero((one != ABSENT) & (other != ABSENT))
        start, end = at[one[known]], at[other[known]]
        forth = (order.group[start] == order.group[end]) | precedes(order, start, end)
        found[known] = np.where(forth, 1, -precedes(order, end, start).astype(np.int64))
        return found

    def find_chain(self, one: int, other: int, lead: int, until: int | None = None) -> Chain:
        """Return the relations that lead from one node to another, or back if `lead` is -1; there must be some.

        With `until`, only relations of neighbours before this mention are used.
        """
        start, end = (one, other) if lead > 0 else (other, one)
        chain: list[Relation] = []
        here = start
        for step in self._search(self.time(start), self.time(end), len(self._at) if until is None else until):
            near, far = (step, step + 1) if self.time(step) == self.time(here) else (step + 1, step)
            chain += [*self._within_time(here, near), self.step(step)]
            here = far
        return [*chain, *self._within_time(here, end)]

    def _search(self, start: int, end: int, until: int) -> Sequence[int]:
        """Find a shortest path between two times, as the mentions whose relations to the next ones it uses."""
        previous = {start: (ABSENT, ABSENT)}
        queue = deque([start])
        while end not in previous:
            time = queue.popleft()
            for step, there in self._steps[time]:
                if step < until and there not in previous:
                    previous[there] = step, time
                    queue.append(there)
        steps = []
        while end != start:
            step, end = previous[end]
            steps.append(step)
        return steps[::-1]

    def _within_time(self, one: int, other: int) -> Iterator[Relation]:
        if one != other:
            yield from (self.anchoring(node) for node in (one, other) if node < len(self._at))


def find_verdicts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Iterator[Verdict]:
    """Judge the reduced relations of gold, then those of the system, in the order of their timelines."""
    of_gold, of_system = (Paths(build_side(list_mentions(entries), track)) for entries in (gold, system))
    yield from _judge_side("gold", of_gold, of_system)
    yield from _judge_side("system", of_system, of_gold)


def _judge_side(name: str, own: Paths, other: Paths) -> Iterator[Verdict]:
    """Judge the relations of one side: first those to anchors, then those of neighbours."""
    found, there = verify(own.side, other.side), find_partners(own.side, other.side)

    def judge(
        relation: Relation, literal: Relation | None, ends: tuple[int, int], lead: int, entailed: bool, by: Chain = ()
    ) -> Verdict:
        verdict, evidence = "missing", list[Relation]()
        if literal is not None:
            verdict, evidence = "verified", [literal]
        elif lead:
            verdict, evidence = "entailed" if entailed else "contradicted", [*other.find_chain(*ends, lead)]
        nodes = zip((relation.one, relation.other), ends, strict=True)
        return Verdict(name, relation, verdict, evidence, [node for node, number in nodes if number == ABSENT], by)

    if own.side.anchors:
        times = np.array([other.side.anchors.get(text, ABSENT) for text in own.side.anchors], np.int64)[own.side.at]
        anchors = np.where(times == ABSENT, ABSENT, other.anchor(0) + times)
        leads = other.find_directions(there, anchors).tolist()
        for i, (mention, anchor, lead) in enumerate(zip(there.tolist(), anchors.tolist(), leads, strict=True)):
            is_literal = lead and other.time(mention) == other.time(anchor)
            literal = other.anchoring(mention) if is_literal else None
            yield judge(own.anchoring(i), literal, (mention, anchor), lead, bool(found.anchored[i]))
    steps = np.flatnonzero(own.side.reduced)
    leads, own_leads = other.find_directions(there[steps], there[steps + 1]), own.find_directions(steps, steps + 1)
    for i, lead, own_lead in zip(steps.tolist(), leads.tolist(), own_leads.tolist(), strict=True):
        ends = int(there[i]), int(there[i + 1])
        literal = other.step(min(ends)) if found.literal[i] else None
        by = own.find_chain(i, i + 1, own_lead, i) if own.side.contradicts[i] else ()
        yield judge(own.step(i), literal, ends, lead, bool(found.entailed[i]), by)


# The table and the JSON of `closeread score timeline --explain`


def explain(gold: Record, system: Record | None, options: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Explain the relations of two timelines, or of gold alone, as JSON values."""
    return [
        one.to_json()
        for one in find_verdicts(gold["entries"], () if system is None else system["entries"], options["track"])
    ]


def title(unit: str, verdicts: Sequence[Mapping[str, Any]]) -> str:
    """Return the title of a timeline's table: how many relations of each side are verified."""
    totals = Counter(one["side"] for one in verdicts)
    right = Counter(one["side"] for one in verdicts if one["verdict"] in ("verified", "entailed"))
    counts = [f"{right[side]:,} of {totals[side]:,} {side} relations" for side in OTHER]
    return f"{unit}: {' and '.join(counts)} are verified or entailed"


def row(verdict: Mapping[str, Any]) -> list[str]:
    """Return a verdict as a table row, with the columns of `HEADER`."""
    side, other = verdict["side"], OTHER[verdict["side"]]
    reasons = []
    if verdict["absent"]:
        reasons.append(f"not in the {other} order: {', '.join(map(_format_node, verdict['absent']))}")
    elif verdict["verdict"] == "missing":
        reasons.append(f"{other}: not ordered")
    elif verdict["verdict"] != "verified":
        reasons.append(f"{other}: {_format_chain(verdict['evidence'])}")
    if verdict["excluded_by"]["first"]:
        reasons.append(f"contradicts earlier {side} relations: {_format_chain(verdict['excluded_by'])}")
    return [side, *_format_relation(verdict["relation"]), verdict["verdict"], "; ".join(reasons)]


def _format_chain(chain: Mapping[str, Any]) -> str:
    first, last = ([" ".join(_format_relation(one)) for one in chain[name]] for name in ("first", "last"))
    return ", ".join([*first, f"{chain['left_out']:,} more", *last] if last else first)


def _format_relation(relation: Mapping[str, Any]) -> tuple[str, str, str]:
    return _format_node(relation["one"]), relation["relation"], _format_node(relation["other"])


def _format_node(node: Mapping[str, Any]) -> str:
    """Return the text of a node, with a number for the second and later mentions of the same text."""
    return f"{node['text']} (copy {node['copy'] + 1})" if node["copy"] else node["text"] or "no anchor"


NOTES = tuple(f"{name}: {meaning}" for name, meaning in VERDICTS.items())
EXPLANATION = Explanation(explain, title, HEADER, row, NOTES, prose=HEADER[-1:])
