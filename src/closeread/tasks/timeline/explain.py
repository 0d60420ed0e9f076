"""Why a timeline has its score: a verdict and its evidence for every reduced relation of gold and system.

Conventions: as in `closeread.tasks.timeline.relations`, whose counts are explained: relations that count as verified
have the verdict "verified" or "entailed".  Everything is JSON: a node, such as {"kind": "mention", "text": "7-2-sail",
"copy": 0}, has the number of mentions with the same text before it; a relation has `relation`, `one` and `other`.
Nodes are numbered: mentions in order, then anchors.  A relation is an edge between a mention and its anchor, or between
a mention and the next one if it is part of the order.  Edges between nodes of one time are undirected, those of BEFORE
are directed; evidence is a shortest path.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.relations import Entry, Side, build_side, list_mentions, verify

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

Chain = list[Record]  # consecutive relations that lead from one node to another


class Paths:
    """The paths along the relations of one side."""

    def __init__(self, side: Side) -> None:
        self.side, self.n_mentions, self.times = side, len(side.at), side.times
        self.nodes = [{"kind": "mention", "text": text, "copy": copy} for text, copy in side.copies]
        self.nodes += [{"kind": "anchor", "text": text, "copy": 0} for text in side.anchors]
        # For every time, the relations of neighbours that lead away from it: the first mention, and the time there.
        self.steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for i, status in enumerate(side.statuses):
            if status == "new":
                here, there = side.at[i], side.at[i + 1]
                self.steps[here].append((i, there))
                if not side.later[i]:
                    self.steps[there].append((i, here))

    def relate(self, one: int, other: int, relation: str = "SIMULTANEOUS") -> Record:
        """Return a relation of two nodes."""
        return {"relation": relation, "one": self.nodes[one], "other": self.nodes[other]}

    def step(self, mention: int) -> Record:
        """Return the relation of a mention to the next one."""
        return self.relate(
            mention, mention + 1, "BEFORE" if self.side.later[mention] else "SIMULTANEOUS"
        )

    def anchoring(self, mention: int) -> Record:
        """Return the relation of a mention to its anchor."""
        return self.relate(mention, self.n_mentions + self.times[mention])

    def find_chain(self, one: int | None, other: int | None, until: int | None = None) -> Chain:
        """Return the relations that lead from a node to another, or else back; none if there are none or one is absent.

        With `until`, only relations of neighbours before this mention are used.
        """
        if one is None or other is None:
            return []
        known = self.side.order.compare(self.times[one], self.times[other])
        if known is None:
            return []
        here, end = (other, one) if known > 0 else (one, other)
        time, goal = self.times[here], self.times[end]
        previous, queue = {time: (0, time)}, deque([time])
        while goal not in previous:
            time = queue.popleft()
            for step, there in self.steps[time]:
                if (until is None or step < until) and there not in previous:
                    previous[there] = step, time
                    queue.append(there)
        steps = []
        while goal != self.times[here]:
            step, goal = previous[goal]
            steps.append(step)
        chain = []
        for step in reversed(steps):
            near, far = (
                (step, step + 1) if self.times[step] == self.times[here] else (step + 1, step)
            )
            chain += [*self._within_time(here, near), self.step(step)]
            here = far
        return [*chain, *self._within_time(here, end)]

    def _within_time(self, one: int, other: int) -> Chain:
        return (
            [self.anchoring(node) for node in (one, other) if node < self.n_mentions]
            if one != other
            else []
        )


def find_verdicts(
    gold: Sequence[Entry], system: Sequence[Entry], track: str = "full"
) -> Iterator[Record]:
    """Judge the reduced relations of gold, then those of the system, in the order of their timelines.

    A verdict has the `evidence` of the other side, which verifies, entails or contradicts the relation; the `absent`
    nodes, which the other side lacks; and `excluded_by`, the earlier relations of its own side that it contradicts.
    """
    of_gold, of_system = (
        Paths(build_side(list_mentions(entries), track)) for entries in (gold, system)
    )
    yield from _judge_side("gold", of_gold, of_system)
    yield from _judge_side("system", of_system, of_gold)


def _judge_side(name: str, own: Paths, other: Paths) -> Iterator[Record]:
    """Judge the relations of one side: first those to anchors, then those of neighbours."""
    found = verify(own.side, other.side)

    def judge(
        relation: Record,
        ends: tuple[int | None, int | None],
        literal: Record | None,
        entailed: bool,
        by: Chain,
    ) -> Record:
        evidence = [literal] if literal else other.find_chain(*ends)
        verdict = (
            "verified"
            if literal
            else "entailed"
            if entailed
            else "contradicted"
            if evidence
            else "missing"
        )
        nodes = zip((relation["one"], relation["other"]), ends, strict=True)
        absent = [node for node, there in nodes if there is None]
        judged = {"side": name, "relation": relation, "verdict": verdict, "evidence": evidence}
        return {**judged, "absent": absent, "excluded_by": by}

    for mention, entailed in enumerate(found.anchored):
        relation, there = own.anchoring(mention), found.there[mention]
        time = other.side.anchors.get(relation["other"]["text"])
        literal = None if there is None or time != other.times[there] else other.anchoring(there)
        yield judge(
            relation,
            (there, None if time is None else other.n_mentions + time),
            literal,
            entailed,
            [],
        )
    for i in own.side.reduced:
        ends = found.there[i], found.there[i + 1]
        literal = (
            other.step(min(there for there in ends if there is not None))
            if found.literal[i]
            else None
        )
        by = own.find_chain(i, i + 1, i) if own.side.statuses[i] == "contradictory" else []
        yield judge(own.step(i), ends, literal, found.entailed[i], by)


# The table and the JSON of `closeread score timeline --explain`


def explain(
    gold: Record, system: Record | None, options: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Explain the relations of two timelines, or of gold alone; of long chains, the middle is left out."""
    found = find_verdicts(
        gold["entries"], () if system is None else system["entries"], options["track"]
    )
    return [
        {**one, **{name: _shorten(one[name]) for name in ("evidence", "excluded_by")}}
        for one in found
    ]


def _shorten(chain: Chain) -> Record:
    if len(chain) <= 2 * ENDS:
        return {"first": chain, "left_out": 0, "last": []}
    return {"first": chain[:ENDS], "left_out": len(chain) - 2 * ENDS, "last": chain[-ENDS:]}


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
        reasons.append(
            f"not in the {other} order: {', '.join(map(_format_node, verdict['absent']))}"
        )
    elif verdict["verdict"] == "missing":
        reasons.append(f"{other}: not ordered")
    elif verdict["verdict"] != "verified":
        reasons.append(f"{other}: {_format_chain(verdict['evidence'])}")
    if verdict["excluded_by"]["first"]:
        reasons.append(
            f"contradicts earlier {side} relations: {_format_chain(verdict['excluded_by'])}"
        )
    return [side, *_format_relation(verdict["relation"]), verdict["verdict"], "; ".join(reasons)]


def _format_chain(chain: Mapping[str, Any]) -> str:
    first, last = (
        [" ".join(_format_relation(one)) for one in chain[name]] for name in ("first", "last")
    )
    return ", ".join([*first, f"{chain['left_out']:,} more", *last] if last else first)


def _format_relation(relation: Mapping[str, Any]) -> tuple[str, str, str]:
    return _format_node(relation["one"]), relation["relation"], _format_node(relation["other"])


def _format_node(node: Mapping[str, Any]) -> str:
    """Return the text of a node, with a number for the second and later mentions of the same text."""
    return (
        f"{node['text']} (copy {node['copy'] + 1})" if node["copy"] else node["text"] or "no anchor"
    )


NOTES = tuple(f"{name}: {meaning}" for name, meaning in VERDICTS.items())
EXPLANATION = Explanation(explain, title, HEADER, row, NOTES, prose=HEADER[-1:])
