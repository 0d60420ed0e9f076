"""Counts of timelines: temporal awareness, mentions and anchors.

Sources: Minard et al. (2015), sections 5 and 7, and version 2 of the official scorer, which produced the published
numbers; temporal awareness is defined by UzZaman and Allen (2011).

Conventions: an entry of a timeline has a `position` (0 if it has no place in the order), an `anchor` and `mentions`,
each of which is a node.  Mentions match by string; the k-th copy of a string matches the k-th copy on the other side.
A timeline relates every mention to its anchor by SIMULTANEOUS (not in the track "ordering"), and every mention to the
next one by BEFORE if the position grows, else by SIMULTANEOUS.  Entries at position 0 have no relations.
`closeread.tasks.timeline.kernels.order` reduces these relations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import groupby, repeat
from operator import lt
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.tasks.timeline.kernels.order import Order, follow_walk, precedes

TRACKS = ("full", "ordering")
"""Order and anchors, or order only."""

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

BLANK = " \t\n\r\v\f"
DIGITS = re.compile("([0-9]+)")
ABSENT = -1

Entry = Mapping[str, Any]
Copy = tuple[str, int]
"""A mention and its copy number: how many mentions with the same string come before it."""


class Mentions(NamedTuple):
    """The mentions of a timeline in order, as columns."""

    mentions: Sequence[str]
    anchors: Sequence[str]
    positions: Sequence[int]


class Side(NamedTuple):
    """The relations of a timeline, without the entries at position 0.

    Attributes:
        copies: (n,) the mentions, in order.
        anchors: anchor to its number, in order of first appearance; empty in the track "ordering".
        at: (n,) the time of each mention: the number of its anchor, or its own number in the track "ordering".
        later: (n - 1,) True if a mention is BEFORE the next one, False if they are SIMULTANEOUS.
        order: the order of the times that the relations entail.
        joins: (n - 1,) True if the relation of a mention to the next one is part of the order.
        contradicts: (n - 1,) True if it contradicts earlier relations; it is then a reduced relation all the same.
    """

    copies: Sequence[Copy]
    anchors: Mapping[str, int]
    at: Ints
    later: Mask
    order: Order
    joins: Mask
    contradicts: Mask

    @property
    def reduced(self) -> Mask:
        """The reduced relations among those of neighbours, (n - 1,); relations to anchors are always reduced ones."""
        return self.joins | self.contradicts


class Verified(NamedTuple):
    """The relations of one side that the other side verifies.

    Attributes:
        anchored: (n,) mentions that are simultaneous with their anchors on the other side; empty without anchors.
        literal: (n - 1,) relations of neighbours that the other side also states.
        entailed: (n - 1,) relations of neighbours that the other side's order entails.
    """

    anchored: Mask
    literal: Mask
    entailed: Mask


def timeline_counts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Ints:
    """Count one timeline."""
    gold_mentions, system_mentions = list_mentions(gold), list_mentions(system)
    sides = build_side(gold_mentions, track), build_side(system_mentions, track)
    of_gold, of_system = (_count_awareness(*pair) for pair in (sides, sides[::-1]))
    return np.array([*of_system, *of_gold, *_count_events(gold_mentions, system_mentions)])


def list_mentions(entries: Sequence[Entry]) -> Mentions:
    """Return all mentions in order: by position, then as the official scorer sorts the lines of a file."""
    ordered = [entries[number] for number in sort_entries(entries)]
    return Mentions(
        [mention for entry in ordered for mention in entry["mentions"]],
        [entry["anchor"] for entry in ordered for _ in entry["mentions"]],
        [entry["position"] for entry in ordered for _ in entry["mentions"]],
    )


def sort_entries(entries: Sequence[Entry]) -> list[int]:
    """Return the numbers of the entries in the order of `list_mentions`."""
    positions = [entry["position"] for entry in entries]
    ordered: list[int] = []
    for _, tied in groupby(sorted(range(len(entries)), key=positions.__getitem__), key=positions.__getitem__):
        together = list(tied)
        if len(together) > 1:
            of_one_anchor = len({entries[number]["anchor"] for number in together}) == 1
            key = _key_of_mentions if of_one_anchor else natural_key
            together = [number for _, number in sorted((key(entries[number]), number) for number in together)]
        ordered += together
    return ordered


def find_contradictions(entries: Sequence[Entry]) -> list[int]:
    """Find relations of neighbours that contradict earlier relations in the track "full".

    There are none if every anchor has a single position, and never any in the track "ordering".
    """
    first: dict[str, int] = {}
    ordered = [entry for entry in entries if entry["position"]]
    if all(first.setdefault(entry["anchor"], entry["position"]) == entry["position"] for entry in ordered):
        return []
    numbers = [number for number in sort_entries(entries) if entries[number]["position"]]
    ends = [number for number in numbers for _ in entries[number]["mentions"]]
    side = build_side(list_mentions(entries), "full")
    return [ends[i + 1] for i in np.flatnonzero(side.contradicts).tolist()]


def natural_key(entry: Entry) -> list[str | int | Decimal]:
    """Return the sort key among entries of one position: the line without its position, runs of digits as numbers.

    >>> entries = [{"anchor": year, "mentions": ["1-2-open"]} for year in ("10", "9", "09-X")]
    >>> [entry["anchor"] for entry in sorted(entries, key=natural_key)]
    ['9', '09-X', '10']
    """
    return _split_digits("\t".join(["", entry["anchor"], *entry["mentions"]]))


def _key_of_mentions(entry: Entry) -> list[str | int | Decimal]:
    """Return the sort key among entries of one position and one anchor."""
    return _split_digits("\t".join(entry["mentions"]))


def _split_digits(line: str) -> list[str | int | Decimal]:
    parts: list[Any] = DIGITS.split(line.rstrip(BLANK))
    try:
        parts[1::2] = map(int, parts[1::2])
    except ValueError:  # Python refuses to parse integers of several thousand digits
        parts[1::2] = map(Decimal, parts[1::2])
    return parts


def build_side(timeline: Mentions, track: str) -> Side:
    """Build the relations of a timeline."""
    start = bisect_right(timeline.positions, 0)
    anchors, positions = timeline.anchors[start:], timeline.positions[start:]
    distinct = dict.fromkeys(anchors) if track == "full" else ()
    number = {anchor: i for i, anchor in enumerate(distinct)}
    at = np.array([number[anchor] for anchor in anchors] if number else range(len(anchors)), np.int64)
    later = np.fromiter(map(lt, positions, positions[1:]), np.bool_)
    return Side(number_copies(timeline.mentions[start:]), number, at, later, *follow_walk(at, later))


def number_copies(mentions: Sequence[str]) -> list[Copy]:
    """Number the copies of each mention string from 0.

    >>> number_copies(["1-2-open", "1-3-close", "1-2-open"])
    [('1-2-open', 0), ('1-3-close', 0), ('1-2-open', 1)]
    """
    if len(set(mentions)) == len(mentions):
        return list(zip(mentions, repeat(0)))
    seen: dict[str, int] = {}
    found = []
    for mention in mentions:
        number = seen.get(mention, 0)
        found.append((mention, number))
        seen[mention] = number + 1
    return found


def find_partners(own: Side, other: Side) -> Ints:
    """Find the place of each mention on the other side, (n,); `ABSENT` if it has none."""
    place = {copy: i for i, copy in enumerate(other.copies)}
    return np.array([place.get(copy, ABSENT) for copy in own.copies], np.int64)


def verify(own: Side, other: Side) -> Verified:
    """Find the relations of a side, reduced or not, that the other side verifies."""
    there = find_partners(own, other)
    group = other.order.group
    anchors = np.array([other.anchors.get(anchor, ABSENT) for anchor in own.anchors], np.int64)
    anchor = anchors[own.at] if own.anchors else np.empty(0, np.int64)
    anchored = np.zeros(len(anchor), np.bool_)
    known = (anchor != ABSENT) & (there[: len(anchor)] != ABSENT)
    anchored[known] = group[anchor[known]] == group[other.at[there[known]]]
    literal, entailed = np.zeros((2, len(own.later)), np.bool_)
    one, next_one = there[:-1], there[1:]
    known = np.flatnonzero((one != ABSENT) & (next_one != ABSENT))
    one, next_one, later = one[known], next_one[known], own.later[known]
    # SIMULTANEOUS is its own inverse; the inverse of BEFORE is never stated.
    step = np.minimum(one, next_one)
    forward = next_one == one + 1
    backward = ~later & (one == next_one + 1)
    literal[known] = (forward | backward) & (np.append(other.later, False)[step] == later)
    times = other.at[one], other.at[next_one]
    entailed[known] = np.where(later, precedes(other.order, *times), group[times[0]] == group[times[1]])
    return Verified(anchored, literal, entailed)


def _count_awareness(own: Side, other: Side) -> tuple[int, int]:
    """Count the reduced relations of a side that the other verifies, and all of them."""
    found = verify(own, other)
    linked = own.reduced & (found.literal | found.entailed)
    return int(found.anchored.sum() + linked.sum()), len(found.anchored) + int(own.reduced.sum())


def _count_events(gold: Mentions, system: Mentions) -> tuple[int, int, int, int]:
    """Count the mentions on both sides, of the system, of gold, and those on both sides with the same anchor."""
    in_gold, in_system = (dict(zip(number_copies(side.mentions), side.anchors, strict=True)) for side in (gold, system))
    right = [anchor == in_system[copy] for copy, anchor in in_gold.items() if copy in in_system]
    return len(right), len(in_system), len(in_gold), sum(right)
