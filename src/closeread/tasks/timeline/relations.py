"""Counts of timelines: temporal awareness, mentions and anchors.

Sources: Minard et al. (2015), sections 5 and 7, and version 2 of the official scorer, which produced the published
numbers; temporal awareness is defined by UzZaman and Allen (2011).

Conventions: an entry of a timeline has a `position` (0 if it has no place in the order), an `anchor` and `mentions`,
each of which is a node.  Mentions match by string; the k-th copy of a string matches the k-th copy on the other side.
A timeline relates every mention to its anchor by SIMULTANEOUS (not in the track "ordering"), and every mention to the
next one by BEFORE if the position grows, else by SIMULTANEOUS.  Entries at position 0 have no relations.

Relations of neighbours are reduced in order, as the official scorer does: one that earlier relations entail is
redundant, one that they exclude is contradictory, and neither changes the order; all others do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from closeread.arrays import Ints

TRACKS = ("full", "ordering")  # order and anchors, or order only

COUNTS = (
    "awareness/verified_of_system",
    "awareness/system",
    "awareness/verified_of_gold",
    "awareness/gold",
    "events/shared",
    "events/system",
    "events/gold",
    "anchors/right",
)
"""Reduced relations and those that the other side verifies; mentions, those on both sides, and those of them with the
same anchor."""

MAX_TIMELINES_KEPT = 256
"""How many timelines are kept, so that none is built twice; the corpus has 37, of gold and of a system."""

BLANK = " \t\n\r\v\f"
DIGITS = re.compile("([0-9]+)")

Entry = Mapping[str, Any]
# a mention and its copy number: how many mentions with the same string come before it
Copy = tuple[str, int]
# of a relation; only new ones are part of the order
Status = Literal["new", "entailed", "contradictory"]


class Order:
    """A partial order of times, which are numbered as they are added, beginning with the time 0.

    Attributes:
        group_of: for each time, its group, which is numbered like its first time; simultaneous times share a group.
        earlier_groups: for each group, those before it, as the bits of an integer.
    """

    def __init__(self) -> None:
        self.group_of = [0]
        self.earlier_groups = [0]

    def compare(self, first: int, second: int) -> int | None:
        """Return -1 if the first time is before the second, 0 if they are simultaneous, 1 if it is after, else None."""
        first_group = self.group_of[first]
        second_group = self.group_of[second]
        if first_group == second_group:
            return 0
        if self.earlier_groups[second_group] >> first_group & 1:
            return -1
        if self.earlier_groups[first_group] >> second_group & 1:
            return 1
        return None

    def add(self, first: int, second: int, *, is_before: bool) -> None:
        """State that a time is before a second one, which may be new, or simultaneous with it; nothing is known yet."""
        group = self.group_of[first]
        if second < len(self.group_of):
            later = self.group_of[second]
            if is_before:
                self._put_before(group, later)
            else:
                self._merge(group, later)
        elif is_before:
            self.group_of.append(second)
            self.earlier_groups.append(self.earlier_groups[group] | 1 << group)
        else:
            self.group_of.append(group)
            # The number of a time that begins no group is no group.
            self.earlier_groups.append(0)

    def _put_before(self, group: int, later: int) -> None:
        """Put a group, and all groups before it, before another one and those after it."""
        self.earlier_groups[later] |= self.earlier_groups[group] | 1 << group
        self._spread(self.earlier_groups[later], 1 << later)

    def _merge(self, group: int, second: int) -> None:
        """Unite two groups, and with them the groups before and after them."""
        self.earlier_groups[group] |= self.earlier_groups[second]
        self._spread(self.earlier_groups[group] | 1 << group, 1 << group | 1 << second)
        self.group_of = [group if number == second else number for number in self.group_of]

    def _spread(self, added: int, changed: int) -> None:
        """Add groups, as bits, to those that are before the groups after the changed ones."""
        self.earlier_groups = [
            earlier | added if earlier & changed else earlier for earlier in self.earlier_groups
        ]


class Mention(NamedTuple):
    """A mention of a timeline, with the anchor and the position of its entry, and the entry's number."""

    text: str
    anchor: str
    position: int
    entry: int


class Timeline(NamedTuple):
    """A timeline, as it is compared.

    Attributes:
        mentions: all mentions, in order.
        anchors: the anchor of each mention with its copy number, in order.
        graph: the relations.
    """

    mentions: Sequence[Mention]
    anchors: Mapping[Copy, str]
    graph: Graph


class Graph(NamedTuple):
    """The relations of a timeline, without the entries at position 0.

    Attributes:
        mentions: the mentions, in order.
        anchors: the anchors, in order of first appearance, and their numbers; empty in the track "ordering".
        time_of: the time of each mention: the number of its anchor, or its own in the track "ordering".
        is_before_next: whether a mention is BEFORE the next one; otherwise they are SIMULTANEOUS.
        order: the order of the times that the relations entail.
        statuses: of the relation of each mention to the next one, given the earlier ones.
    """

    mentions: Sequence[Copy]
    anchors: Mapping[str, int]
    time_of: Sequence[int]
    is_before_next: Sequence[bool]
    order: Order
    statuses: Sequence[Status]

    @property
    def reduced(self) -> list[int]:
        """The mentions whose relation to the next one is a reduced one; relations to anchors always are."""
        return [number for number, status in enumerate(self.statuses) if status != "entailed"]


class Verification(NamedTuple):
    """Which relations of one side a reference, the other side, verifies.

    Attributes:
        matches: the number of each mention in the reference; None if it is absent.
        are_anchored: whether a mention is simultaneous with its anchor in the reference; empty without anchors.
        are_stated: whether the reference also states the relation of a mention to the next one.
        are_entailed: whether the order of the reference entails it.
    """

    matches: Sequence[int | None]
    are_anchored: Sequence[bool]
    are_stated: Sequence[bool]
    are_entailed: Sequence[bool]


def timeline_counts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Ints:
    """Count one timeline."""
    _, gold_anchors, gold_graph = build_timeline(gold, track)
    _, system_anchors, system_graph = build_timeline(system, track)
    shared = gold_anchors.keys() & system_anchors.keys()
    n_right = sum(gold_anchors[mention] == system_anchors[mention] for mention in shared)
    return np.array(
        [
            # precision: the reduced relations of the system that gold verifies, and all of them
            *_count_verified(system_graph, gold_graph),
            # recall: the other way round
            *_count_verified(gold_graph, system_graph),
            len(shared),
            len(system_anchors),
            len(gold_anchors),
            n_right,
        ]
    )


Key = tuple[int, str, tuple[str, ...]]
"""The position, the anchor and the mentions of an entry."""


def build_timeline(entries: Sequence[Entry], track: str) -> Timeline:
    """Order the mentions of a timeline, and build its relations."""
    keys = [(entry["position"], entry["anchor"], tuple(entry["mentions"])) for entry in entries]
    return _build_timeline(tuple(keys), track)


# Notes on contradictions and counts need the same timelines, one after the other.
@lru_cache(maxsize=MAX_TIMELINES_KEPT)
def _build_timeline(entries: tuple[Key, ...], track: str) -> Timeline:
    mentions = list_mentions(entries)
    anchors = [mention.anchor for mention in mentions]
    copies = number_copies(mentions)
    return Timeline(mentions, dict(zip(copies, anchors, strict=True)), build_graph(mentions, track))


def natural_key(entry: Key) -> tuple[int, list[Any]]:
    """Return the sort key of an entry: the position, then the rest of the line, with runs of digits as numbers.

    >>> entries = [(1, year, ("1-2-open",)) for year in ("10", "9", "09-X")]
    >>> [anchor for _, anchor, _ in sorted(entries, key=natural_key)]
    ['9', '09-X', '10']
    """
    position, anchor, mentions = entry
    line = "\t".join(["", anchor, *mentions]).rstrip(BLANK)
    parts: list[Any] = DIGITS.split(line)
    # Every second part is digits.  They are compared by length, then by digits, since Python refuses to parse integers
    # of several thousand digits.
    for i in range(1, len(parts), 2):
        digits = parts[i].lstrip("0")
        parts[i] = (len(digits), digits)
    return position, parts


def list_mentions(entries: Sequence[Key]) -> list[Mention]:
    """Return all mentions by position, then as the official scorer sorts the lines of a file."""
    keys = list(map(natural_key, entries))
    mentions = []
    for number in sorted(range(len(entries)), key=keys.__getitem__):
        position, anchor, texts = entries[number]
        mentions += [Mention(text, anchor, position, number) for text in texts]
    return mentions


def number_copies(mentions: Sequence[Mention]) -> list[Copy]:
    """Return the strings of mentions with their copy numbers, from 0.

    >>> number_copies([Mention(text, "2007", 1, 0) for text in ("1-2-open", "1-3-close", "1-2-open")])
    [('1-2-open', 0), ('1-3-close', 0), ('1-2-open', 1)]
    """
    n_copies: dict[str, int] = defaultdict(int)
    copies = []
    for mention in mentions:
        copies.append((mention.text, n_copies[mention.text]))
        n_copies[mention.text] += 1
    return copies


def build_graph(mentions: Sequence[Mention], track: str) -> Graph:
    """Build the relations of a timeline from all its mentions."""
    placed = [mention for mention in mentions if mention.position]
    anchors: dict[str, int] = {}
    time_of = list(range(len(placed)))
    if track == "full":
        time_of = [anchors.setdefault(mention.anchor, len(anchors)) for mention in placed]
    is_before_next = [mention.position < after.position for mention, after in pairwise(placed)]
    reduced = reduce_relations(time_of, is_before_next)
    return Graph(number_copies(placed), anchors, time_of, is_before_next, *reduced)


def reduce_relations(
    times: Sequence[int], is_before_next: Sequence[bool]
) -> tuple[Order, list[Status]]:
    """Reduce relations of neighbours, given the times of all mentions, numbered by first appearance, from 0."""
    order = Order()
    statuses: list[Status] = []
    for (time, next_time), is_before in zip(pairwise(times), is_before_next, strict=True):
        is_new = next_time == len(order.group_of)
        comparison = None if is_new else order.compare(time, next_time)
        if comparison is None:
            order.add(time, next_time, is_before=is_before)
            statuses.append("new")
        elif comparison == (-1 if is_before else 0):
            statuses.append("entailed")
        else:
            statuses.append("contradictory")
    return order, statuses


def find_contradictions(entries: Sequence[Entry]) -> list[int]:
    """Find relations of neighbours that contradict earlier relations in the track "full", by their second entries."""
    timeline = build_timeline(entries, "full")
    placed = [mention for mention in timeline.mentions if mention.position]
    return [
        mention.entry
        for mention, status in zip(placed[1:], timeline.graph.statuses, strict=True)
        if status == "contradictory"
    ]


def verify(graph: Graph, reference: Graph) -> Verification:
    """Find the relations of a side, reduced or not, that the other side, the reference, verifies."""
    numbers = {mention: number for number, mention in enumerate(reference.mentions)}
    matches = [numbers.get(mention) for mention in graph.mentions]
    are_anchored = _verify_anchors(graph, reference, matches)
    are_stated = []
    are_entailed = []
    match_pairs = pairwise(matches)
    for (match, next_match), is_before in zip(match_pairs, graph.is_before_next, strict=True):
        is_stated = False
        is_entailed = False
        if match is not None and next_match is not None:
            # SIMULTANEOUS is its own inverse; the inverse of BEFORE is never stated.
            if next_match == match + 1 or (not is_before and match == next_match + 1):
                is_stated = reference.is_before_next[min(match, next_match)] == is_before
            times = (reference.time_of[match], reference.time_of[next_match])
            is_entailed = reference.order.compare(*times) == (-1 if is_before else 0)
        are_stated.append(is_stated)
        are_entailed.append(is_entailed)
    return Verification(matches, are_anchored, are_stated, are_entailed)


def _verify_anchors(graph: Graph, reference: Graph, matches: Sequence[int | None]) -> list[bool]:
    """Find the mentions that are simultaneous with their anchors in the reference, too."""
    if not graph.anchors:
        return []
    anchor_times = [reference.anchors.get(anchor) for anchor in graph.anchors]
    are_anchored = []
    for match, anchor in zip(matches, graph.time_of, strict=True):
        anchor_time = anchor_times[anchor]
        if match is None or anchor_time is None:
            are_anchored.append(False)
        else:
            mention_time = reference.time_of[match]
            are_anchored.append(reference.order.compare(mention_time, anchor_time) == 0)
    return are_anchored


def _count_verified(graph: Graph, reference: Graph) -> tuple[int, int]:
    """Count the reduced relations of a side that the other side, the reference, verifies, and all of them."""
    verification = verify(graph, reference)
    reduced = graph.reduced
    n_verified = sum(verification.are_anchored)
    for number in reduced:
        n_verified += verification.are_stated[number] or verification.are_entailed[number]
    return n_verified, len(verification.are_anchored) + len(reduced)
