"""Why a timeline has its score: a verdict and its evidence for every reduced relation of gold and system.

Conventions: as in `closeread.tasks.timeline.kernels.timelines`, whose counts are explained: relations that count as
verified have the verdict "verified" or "entailed".  Nodes are numbered: mentions in order, then anchors.  A relation is
an edge between a mention and its anchor, or between a mention and the next one if it is part of the order.  Edges
between nodes of one time are undirected, those of BEFORE are directed; evidence is a shortest path.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.kernels.timelines import Entry, Side, build_side, list_mentions, verify

VERDICTS = {
    "verified": "the other side states it too, in either direction",
    "entailed": "it follows from relations of the other side",
    "contradicted": "it contradicts relations of the other side",
    "missing": "the other side neither entails nor contradicts it",
}
"""The verdicts on a relation, and their meanings."""

ENDS = 5  # how many relations are kept at each end of a long chain

HEADER = ("side", "first", "relation", "second", "verdict", "because")
OTHER = {"gold": "system", "system": "gold"}
Kind = Literal["BEFORE", "SIMULTANEOUS"]


class Node(NamedTuple):
    """An argument of a relation."""

    kind: Literal["mention", "anchor"]
    text: str
    copy: int = 0  # how many mentions with the same text come before it in the timeline


class Relation(NamedTuple):
    """A relation between two nodes of a timeline."""

    relation: Kind
    one: Node
    other: Node

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"relation": self.relation, "one": self.one._asdict(), "other": self.other._asdict()}


Chain = Sequence[Relation]  # consecutive relations that lead from one node to another


class Verdict(NamedTuple):
    """A reduced relation with its verdict and evidence."""

    side: str  # the side that states it
    relation: Relation
    verdict: str
    evidence: Chain  # of the other side, which verifies, entails or contradicts it; empty if it is missing
    absent: Sequence[Node]  # its nodes that the other side lacks
    # The earlier relations of its own side that it contradicts, so that it is counted but not part of the order.
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
        self.side, self.n_mentions = side, len(side.at)
        self.nodes = [Node("mention", *copy) for copy in side.copies] + [Node("anchor", text) for text in side.anchors]
        self.times = [*side.at, *range(len(side.anchors))]  # of the nodes
        # For every time, the relations of neighbours that lead away from it: the first mention, and the time there.
        self.steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for i in range(self.n_mentions - 1):
            if side.joins[i]:
                here, there = side.at[i], side.at[i + 1]
                self.steps[here].append((i, there))
                if not side.later[i]:
                    self.steps[there].append((i, here))

    def step(self, mention: int) -> Relation:
        """Return the relation of a mention to the next one."""
        return Relation("BEFORE" if self.side.later[mention] else "SIMULTANEOUS", *self.nodes[mention : mention + 2])

    def anchoring(self, mention: int) -> Relation:
        """Return the relation of a mention to its anchor."""
        return Relation("SIMULTANEOUS", self.nodes[mention], self.nodes[self.n_mentions + self.times[mention]])

    def find_chain(self, one: int | None, other: int | None, until: int | None = None) -> Chain:
        """Return the relations that lead from a node to another, or else back; none if there are none or one is absent.

        With `until`, only relations of neighbours before this mention are used.
        """
        known = None if one is None or other is None else self.side.order.compare(self.times[one], self.times[other])
        if one is None or other is None or known is None:
            return ()
        here, end = (other, one) if known > 0 else (one, other)
        chain: list[Relation] = []
        for step in self._search(self.times[here], self.times[end], self.n_mentions if until is None else until):
            near, far = (step, step + 1) if self.times[step] == self.times[here] else (step + 1, step)
            chain += [*self._within_time(here, near), self.step(step)]
            here = far
        return [*chain, *self._within_time(here, end)]

    def _search(self, start: int, end: int, until: int) -> Sequence[int]:
        """Find a shortest path between two times, as the mentions whose relations to the next ones it uses."""
        previous = {start: (0, start)}
        queue = deque([start])
        while end not in previous:
            time = queue.popleft()
            for step, there in self.steps[time]:
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
            yield from (self.anchoring(node) for node in (one, other) if node < self.n_mentions)


def find_verdicts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Iterator[Verdict]:
    """Judge the reduced relations of gold, then those of the system, in the order of their timelines."""
    of_gold, of_system = (Paths(build_side(list_mentions(entries), track)) for entries in (gold, system))
    yield from _judge_side("gold", of_gold, of_system)
    yield from _judge_side("system", of_system, of_gold)


def _judge_side(name: str, own: Paths, other: Paths) -> Iterator[Verdict]:
    """Judge the relations of one side: first those to anchors, then those of neighbours."""
    found = verify(own.side, other.side)

    def judge(
        relation: Relation,
        ends: tuple[int | None, int | None],
        literal: Relation | None,
        entailed: bool,
        by: Chain = (),
    ) -> Verdict:
        evidence = [literal] if literal else other.find_chain(*ends)
        verdict = "verified" if literal else "entailed" if entailed else "contradicted" if evidence else "missing"
        absent = [node for node, there in zip(relation[1:], ends, strict=True) if there is None]
        return Verdict(name, relation, verdict, evidence, absent, by)

    for mention, (there, is_entailed) in enumerate(zip(found.there, found.anchored, strict=False)):
        time = other.side.anchors.get(own.anchoring(mention).other.text)
        literal = None if there is None or time != other.times[there] else other.anchoring(there)
        yield judge(
            own.anchoring(mention), (there, None if time is None else other.n_mentions + time), literal, is_entailed
        )
    for i in own.side.reduced:
        ends = found.there[i], found.there[i + 1]
        literal = other.step(min(there for there in ends if there is not None)) if found.literal[i] else None
        by = own.find_chain(i, i + 1, i) if own.side.contradicts[i] else ()
        yield judge(own.step(i), ends, literal, found.entailed[i], by)


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
