"""Why a timeline has its score: a verdict and its evidence for every reduced relation of gold and system.

Conventions: as in `closeread.tasks.timeline.relations`, whose counts are explained: relations that count as verified
have the verdict "verified" or "entailed".  Everything is JSON: a node, such as {"kind": "mention", "text": "7-2-sail",
"copy": 0}, has the number of mentions with the same text before it; a relation has `relation`, `one` and `other`.
Nodes are numbered: mentions in order, then anchors.  A relation is an edge between a mention and its anchor, or between
a mention and the next one if it is part of the order.  Edges between nodes of one time are undirected, those of BEFORE
are directed; evidence is a shortest path.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.relations import Entry, Graph, build_timeline, verify

VERDICTS = {
    "verified": "the other side states it too, in either direction",
    "entailed": "it follows from relations of the other side",
    "contradicted": "it contradicts relations of the other side",
    "missing": "the other side neither entails nor contradicts it",
}
"""The verdicts on a relation, and their meanings."""

MAX_CHAIN_END = 5
"""How many relations are kept at each end of a long chain."""

HEADER = ("side", "first", "relation", "second", "verdict", "because")
OTHER = {"gold": "system", "system": "gold"}

# consecutive relations that lead from one node to another
Chain = list[Record]


class Paths:
    """The paths along the relations of one side.

    Attributes:
        graph: the relations.
        n_mentions: how many mentions there are; the nodes of anchors are numbered from here.
        time_of: the time of each node.
        nodes: the nodes as JSON.
        steps: for each time, the relations of neighbours that lead away from it: the first mention, and the time to
            which it leads.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.n_mentions = len(graph.mentions)
        self.time_of = [*graph.time_of, *range(len(graph.anchors))]
        self.nodes = [
            {"kind": "mention", "text": text, "copy": copy} for text, copy in graph.mentions
        ]
        self.nodes += [{"kind": "anchor", "text": text, "copy": 0} for text in graph.anchors]
        self.steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for mention, status in enumerate(graph.statuses):
            if status != "new":
                continue
            time = graph.time_of[mention]
            next_time = graph.time_of[mention + 1]
            self.steps[time].append((mention, next_time))
            if not graph.is_before_next[mention]:
                self.steps[next_time].append((mention, time))

    def neighbour_relation(self, mention: int) -> Record:
        """Return the relation of a mention to the next one."""
        name = "BEFORE" if self.graph.is_before_next[mention] else "SIMULTANEOUS"
        return self._relate(mention, name, mention + 1)

    def anchor_relation(self, mention: int) -> Record:
        """Return the relation of a mention to its anchor."""
        return self._relate(mention, "SIMULTANEOUS", self.n_mentions + self.time_of[mention])

    def _relate(self, first: int, name: str, second: int) -> Record:
        return {"relation": name, "one": self.nodes[first], "other": self.nodes[second]}

    def find_chain(self, first: int | None, second: int | None, until: int | None = None) -> Chain:
        """Return the relations that lead from a node to another, or else back; none if there are none or one is absent.

        With `until`, only relations of neighbours before this mention are used.
        """
        if first is None or second is None:
            return []
        comparison = self.graph.order.compare(self.time_of[first], self.time_of[second])
        if comparison is None:
            return []
        if comparison > 0:
            return self.find_chain(second, first, until)
        node = first
        chain = []
        for mention in self._find_steps(self.time_of[first], self.time_of[second], until):
            ends = [mention, mention + 1]
            # Between simultaneous times, a step may lead from the later mention to the earlier one.
            if self.time_of[mention] != self.time_of[node]:
                ends.reverse()
            chain += self._stay(node, ends[0])
            chain.append(self.neighbour_relation(mention))
            node = ends[1]
        return chain + self._stay(node, second)

    def _find_steps(self, start: int, goal: int, until: int | None) -> list[int]:
        """Search breadth first for the relations of neighbours, by their first mentions, from a time to another."""
        # for each time that was reached, the step to it, and the time from which it came
        reached_by = {start: (0, start)}
        queue = deque([start])
        while goal not in reached_by:
            time = queue.popleft()
            for mention, next_time in self.steps[time]:
                is_usable = until is None or mention < until
                if is_usable and next_time not in reached_by:
                    reached_by[next_time] = mention, time
                    queue.append(next_time)
        steps = []
        while goal != start:
            mention, goal = reached_by[goal]
            steps.append(mention)
        return steps[::-1]

    def _stay(self, first: int, second: int) -> Chain:
        """Return the relations that lead from a node to another of the same time: those to their anchor."""
        if first == second:
            return []
        return [self.anchor_relation(node) for node in (first, second) if node < self.n_mentions]

    def judge(
        self,
        relation: Record,
        ends: tuple[int | None, int | None],
        statement: Record | None,
        is_entailed: bool,
    ) -> Record:
        """Judge a relation of the other side.

        Args:
            relation: the relation.
            ends: the nodes of this side that match its nodes; None if they are absent.
            statement: the relation as this side states it, if it does.
            is_entailed: whether the order of this side entails it.
        """
        evidence = [statement] if statement else self.find_chain(*ends)
        if statement:
            verdict = "verified"
        elif is_entailed:
            verdict = "entailed"
        elif evidence:
            verdict = "contradicted"
        else:
            verdict = "missing"
        nodes = (relation["one"], relation["other"])
        absent = [node for node, end in zip(nodes, ends, strict=True) if end is None]
        return {"relation": relation, "verdict": verdict, "evidence": evidence, "absent": absent}


def find_verdicts(gold: Sequence[Entry], system: Sequence[Entry], track: str) -> Iterator[Record]:
    """Judge the reduced relations of gold, then those of the system, in the order of their timelines.

    A verdict has the `evidence` of the other side, which verifies, entails or contradicts the relation; the `absent`
    nodes, which the other side lacks; and `excluded_by`, the earlier relations of its own side that it contradicts.
    """
    gold_paths = Paths(build_timeline(gold, track).graph)
    system_paths = Paths(build_timeline(system, track).graph)
    yield from _judge_side("gold", gold_paths, system_paths)
    yield from _judge_side("system", system_paths, gold_paths)


def _judge_side(side: str, paths: Paths, reference: Paths) -> Iterator[Record]:
    """Judge the relations of one side by the other, the reference: first those to anchors, then those of neighbours."""
    verification = verify(paths.graph, reference.graph)
    for mention, is_entailed in enumerate(verification.are_anchored):
        relation = paths.anchor_relation(mention)
        match = verification.matches[mention]
        time = reference.graph.anchors.get(relation["other"]["text"])
        anchor = None if time is None else reference.n_mentions + time
        statement = None
        if match is not None and time == reference.time_of[match]:
            statement = reference.anchor_relation(match)
        judgement = reference.judge(relation, (match, anchor), statement, is_entailed)
        yield {"side": side, **judgement, "excluded_by": []}
    for mention in paths.graph.reduced:
        match, next_match = verification.matches[mention : mention + 2]
        statement = None
        if match is not None and next_match is not None and verification.are_stated[mention]:
            statement = reference.neighbour_relation(min(match, next_match))
        relation = paths.neighbour_relation(mention)
        is_entailed = verification.are_entailed[mention]
        judgement = reference.judge(relation, (match, next_match), statement, is_entailed)
        chain: Chain = []
        if paths.graph.statuses[mention] == "contradictory":
            chain = paths.find_chain(mention, mention + 1, until=mention)
        yield {"side": side, **judgement, "excluded_by": chain}


# The table and the JSON of `closeread score timeline --explain`


def explain(
    gold: Record, system: Record | None, options: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Explain the relations of two timelines, or of gold alone; of long chains, the middle is left out."""
    system_entries = () if system is None else system["entries"]
    verdicts: list[Mapping[str, Any]] = []
    for verdict in find_verdicts(gold["entries"], system_entries, options["track"]):
        for name in ("evidence", "excluded_by"):
            verdict[name] = _shorten(verdict[name])
        verdicts.append(verdict)
    return verdicts


def _shorten(chain: Chain) -> Record:
    n_left_out = len(chain) - 2 * MAX_CHAIN_END
    if n_left_out <= 0:
        return {"first": chain, "left_out": 0, "last": []}
    first = chain[:MAX_CHAIN_END]
    return {"first": first, "left_out": n_left_out, "last": chain[-MAX_CHAIN_END:]}


def title(unit: str, verdicts: Sequence[Mapping[str, Any]]) -> str:
    """Return the title of a timeline's table: how many relations of each side are verified."""
    counts = []
    for side in OTHER:
        of_side = [verdict["verdict"] for verdict in verdicts if verdict["side"] == side]
        n_verified = of_side.count("verified") + of_side.count("entailed")
        counts.append(f"{n_verified:,} of {len(of_side):,} {side} relations")
    return f"{unit}: {' and '.join(counts)} are verified or entailed"


def row(verdict: Mapping[str, Any]) -> list[str]:
    """Return a verdict as a table row, with the columns of `HEADER`."""
    side = verdict["side"]
    other = OTHER[side]
    reasons = []
    if verdict["absent"]:
        absent = ", ".join(map(_format_node, verdict["absent"]))
        reasons.append(f"not in the {other} order: {absent}")
    elif verdict["verdict"] == "missing":
        reasons.append(f"{other}: not ordered")
    elif verdict["verdict"] != "verified":
        reasons.append(f"{other}: {_format_chain(verdict['evidence'])}")
    if verdict["excluded_by"]["first"]:
        chain = _format_chain(verdict["excluded_by"])
        reasons.append(f"contradicts earlier {side} relations: {chain}")
    return [side, *_format_relation(verdict["relation"]), verdict["verdict"], "; ".join(reasons)]


def _format_chain(chain: Record) -> str:
    relations = [*chain["first"], *chain["last"]]
    texts = [" ".join(_format_relation(relation)) for relation in relations]
    if chain["last"]:
        texts.insert(len(chain["first"]), f"{chain['left_out']:,} more")
    return ", ".join(texts)


def _format_relation(relation: Record) -> tuple[str, str, str]:
    return _format_node(relation["one"]), relation["relation"], _format_node(relation["other"])


def _format_node(node: Record) -> str:
    """Return the text of a node, with a number for the second and later mentions of the same text."""
    if node["copy"]:
        return f"{node['text']} (copy {node['copy'] + 1})"
    return node["text"] or "no anchor"


NOTES = tuple(f"{name}: {meaning}" for name, meaning in VERDICTS.items())
EXPLANATION = Explanation(explain, title, HEADER, row, NOTES, prose=HEADER[-1:])
