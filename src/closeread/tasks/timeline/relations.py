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
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from closeread.arrays import Ints

TRACKS = ("full", "ordering")  # order and anchors, or order only

COUNTS = (
    *(
        "awareness/verified_of_system",
        "awareness/system",
        "awareness/verified_of_gold",
        "awareness/gold",
    ),
    *("events/shared", "events/system", "events/gold", "anchors/right"),
)
"""Reduced relations and those that the other side verifies; mentions, those on both sides, and those of them with the
same anchor."""

BLANK = " \t\n\r\v\f"
DIGITS = re.compile("([0-9]+)")

Entry = Mapping[str, Any]
# a mention and its copy number: how many mentions with the same string come before it
Copy = tuple[str, int]
# of a relation; only new ones are part of the order
Status = Literal["new", "entailed", "contradictory"]


class Order:
    """A partial order of times, which are numbered as they are added, beginning with the time 0."""

    def __init__(self) -> None:
        # of each time: the number of its first time; simultaneous times share a group
        self.group = [0]
        self.last = 0  # the latest group of a line
        # For each group, those before it, as the bits of an integer; None while groups are a line, by their numbers.
        self.before: list[int] | None = None

    def compare(self, one: int, other: int) -> int | None:
        """Return -1 if a time is before another, 0 if they are simultaneous, 1 if it is after, None if unknown."""
        a, b = self.group[one], self.group[other]
        if a == b:
            return 0
        if self.before is None:
            return -1 if a < b else 1
        return -1 if self.before[b] >> a & 1 else 1 if self.before[a] >> b & 1 else None

    def add(self, one: int, other: int, *, later: bool) -> None:
        """State that another time, which may be new, is after a time or simultaneous with it; nothing is known yet."""
        a, is_new = self.group[one], other == len(self.group)
        if self.before is None and not (is_new and (a == self.last or not later)):
            # bits of times in a group don't matter
            self.before = [(1 << time) - 1 for time in range(len(self.group))]
        if is_new:
            self.group.append(other if later else a)
            self.last = max(self.last, self.group[-1])
            if self.before is not None:
                self.before.append(self.before[a] | 1 << a if later else 0)
        elif self.before is not None:
            b = self.group[other]
            if later:
                self.before[b] |= self.before[a] | 1 << a
                new, reached = self.before[b], 1 << b
            else:
                self.before[a] |= self.before[b]
                new, reached = self.before[a] | 1 << a, 1 << a | 1 << b
                self.group = [a if group == b else group for group in self.group]
            self.before = [
                earlier | new if earlier & reached else earlier for earlier in self.before
            ]


class Mention(NamedTuple):
    """A mention of a timeline, with the anchor and the position of its entry."""

    text: str
    anchor: str
    position: int


class Side(NamedTuple):
    """The relations of a timeline, without the entries at position 0."""

    copies: Sequence[Copy]  # (n,) the mentions, in order
    # to their numbers, in order of first appearance; empty in the track "ordering"
    anchors: Mapping[str, int]
    # (n,) the time of each mention: the number of its anchor, or its own in the track "ordering"
    at: Sequence[int]
    # (n - 1,) whether a mention is BEFORE the next one; otherwise they are SIMULTANEOUS
    later: Sequence[bool]
    order: Order  # of the times, which the relations entail
    # (n - 1,) of the relation of each mention to the next one, given the earlier ones
    statuses: Sequence[Status]

    @property
    def times(self) -> list[int]:
        """The times of the mentions, then those of the anchors."""
        return [*self.at, *range(len(self.anchors))]

    @property
    def reduced(self) -> list[int]:
        """The mentions whose relation to the next one is a reduced one; relations to anchors always are."""
        return [i for i, status in enumerate(self.statuses) if status != "entailed"]


class Verification(NamedTuple):
    """Which relations of one side the other side verifies."""

    there: Sequence[int | None]  # (n,) the place of each mention on the other side
    # (n,) whether mentions are simultaneous with their anchors there; empty without anchors
    anchored: Sequence[bool]
    literal: Sequence[bool]  # (n - 1,) whether the other side also states a relation of neighbours
    entailed: Sequence[bool]  # (n - 1,) whether the other side's order entails it


def timeline_counts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Ints:
    """Count one timeline."""
    mentions = list_mentions(gold), list_mentions(system)
    gold_side, system_side = (build_side(one, track) for one in mentions)
    in_gold, in_system = map(map_anchors, mentions)
    right = [anchor == in_system[copy] for copy, anchor in in_gold.items() if copy in in_system]
    events = (len(right), len(in_system), len(in_gold), sum(right))
    return np.array(
        [
            *_count_awareness(system_side, gold_side),
            *_count_awareness(gold_side, system_side),
            *events,
        ]
    )


def sort_entries(entries: Sequence[Entry]) -> list[int]:
    """Return the numbers of the entries by position, then as the official scorer sorts the lines of a file."""
    return sorted(
        range(len(entries)),
        key=lambda number: (entries[number]["position"], natural_key(entries[number])),
    )


def natural_key(entry: Entry) -> list[str | tuple[int, str]]:
    """Return the sort key among entries of one position: the line without its position, runs of digits as numbers.

    >>> entries = [{"anchor": year, "mentions": ["1-2-open"]} for year in ("10", "9", "09-X")]
    >>> [entry["anchor"] for entry in sorted(entries, key=natural_key)]
    ['9', '09-X', '10']
    """
    parts: list[Any] = DIGITS.split(
        "\t".join(["", entry["anchor"], *entry["mentions"]]).rstrip(BLANK)
    )
    # By length and digits, since Python refuses to parse integers of several thousand digits.
    parts[1::2] = [(len(digits), digits) for digits in (part.lstrip("0") for part in parts[1::2])]
    return parts


def list_mentions(entries: Sequence[Entry]) -> list[Mention]:
    """Return all mentions in the order of `sort_entries`."""
    ordered = (entries[number] for number in sort_entries(entries))
    return [
        Mention(text, one["anchor"], one["position"]) for one in ordered for text in one["mentions"]
    ]


def number_copies(mentions: Sequence[str]) -> list[Copy]:
    """Number the copies of each mention string from 0.

    >>> number_copies(["1-2-open", "1-3-close", "1-2-open"])
    [('1-2-open', 0), ('1-3-close', 0), ('1-2-open', 1)]
    """
    seen: dict[str, int] = {}
    found = []
    for mention in mentions:
        found.append((mention, seen.get(mention, 0)))
        seen[mention] = found[-1][1] + 1
    return found


def map_anchors(mentions: Sequence[Mention]) -> dict[Copy, str]:
    """Map mentions, with their copy numbers, to their anchors, in order."""
    copies = number_copies([mention.text for mention in mentions])
    return dict(zip(copies, (mention.anchor for mention in mentions), strict=True))


def build_side(mentions: Sequence[Mention], track: str) -> Side:
    """Build the relations of a timeline."""
    placed = [mention for mention in mentions if mention.position]
    anchors = dict.fromkeys(mention.anchor for mention in placed) if track == "full" else {}
    number = {anchor: i for i, anchor in enumerate(anchors)}
    at = [number[mention.anchor] for mention in placed] if number else list(range(len(placed)))
    later = [one.position < other.position for one, other in pairwise(placed)]
    return Side(
        number_copies([mention.text for mention in placed]),
        number,
        at,
        later,
        *reduce_relations(at, later),
    )


def reduce_relations(at: Sequence[int], later: Sequence[bool]) -> tuple[Order, list[Status]]:
    """Reduce relations of neighbours, given the times of all mentions, numbered by first appearance, from 0."""
    order, statuses = Order(), list[Status]()
    for one, other, is_later in zip(at, at[1:], later, strict=False):
        known = order.compare(one, other) if other < len(order.group) else None
        if known is None:
            order.add(one, other, later=is_later)
            statuses.append("new")
        else:
            statuses.append("entailed" if known == (-1 if is_later else 0) else "contradictory")
    return order, statuses


def find_contradictions(entries: Sequence[Entry]) -> list[int]:
    """Find relations of neighbours that contradict earlier relations in the track "full", by their second entries."""
    placed = (number for number in sort_entries(entries) if entries[number]["position"])
    ends = [number for number in placed for _ in entries[number]["mentions"]]
    statuses = build_side(list_mentions(entries), "full").statuses
    return [
        end for end, status in zip(ends[1:], statuses, strict=True) if status == "contradictory"
    ]


def verify(side: Side, other: Side) -> Verification:
    """Find the relations of a side, reduced or not, that the other side verifies."""
    place = {copy: i for i, copy in enumerate(other.copies)}
    there = [place.get(copy) for copy in side.copies]
    times = [other.anchors.get(anchor) for anchor in side.anchors]
    anchored = [
        mention is not None
        and (time := times[at]) is not None
        and other.order.compare(other.at[mention], time) == 0
        for mention, at in zip(there if side.anchors else (), side.at, strict=False)
    ]
    literal, entailed = [], []
    for (one, two), later in zip(pairwise(there), side.later, strict=True):
        if one is None or two is None:
            literal.append(False)
            entailed.append(False)
            continue
        # SIMULTANEOUS is its own inverse; the inverse of BEFORE is never stated.
        are_neighbours = two == one + 1 or (not later and one == two + 1)
        literal.append(are_neighbours and other.later[min(one, two)] == later)
        entailed.append(other.order.compare(other.at[one], other.at[two]) == (-1 if later else 0))
    return Verification(there, anchored, literal, entailed)


def _count_awareness(side: Side, other: Side) -> tuple[int, int]:
    """Count the reduced relations of a side that the other verifies, and all of them."""
    found, reduced = verify(side, other), side.reduced
    linked = sum(found.literal[i] or found.entailed[i] for i in reduced)
    return sum(found.anchored) + linked, len(found.anchored) + len(reduced)
