"""Timelines: temporal awareness, mentions found, and their anchors.

Source: Minard et al. (2015), section 4, and version 2 of the organisers' tool, which the published numbers come from;
temporal awareness is that of UzZaman and Allen (2011).

Conventions: an entry of a timeline has a `position`, 0 where it has no place in the order, an `anchor` and `mentions`,
each of which is a node.  Mentions are the same where their strings are; of several the k-th of one side is the k-th of
the other.  A timeline says that every mention is simultaneous with its anchor (not in the track "ordering"), and of
every two neighbours that the first is before the second where the position grows, else that they are simultaneous.
Entries at position 0 say nothing.  `timeline_order` reduces these relations.
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

from closeread.tasks.timeline.kernels.order import Ints, Mask, Order, precedes, walked

TRACKS = ("full", "ordering")
"""Order and anchors, or the order alone."""

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
"""What is counted: reduced relations and those that the other side verifies; mentions, those that both sides have, and
those of them whose anchors agree."""

BLANK = " \t\n\r\v\f"
DIGITS = re.compile("([0-9]+)")
ABSENT = -1

Entry = Mapping[str, Any]
Copy = tuple[str, int]
"""A mention, and how many like it come before it."""


class Placed(NamedTuple):
    """The mentions of a timeline in order, as columns."""

    mentions: Sequence[str]
    anchors: Sequence[str]
    positions: Sequence[int]


class Side(NamedTuple):
    """A timeline as relations, without the entries at position 0.

    Attributes:
        copies: (n,) the mentions, in order.
        anchors: the number of each anchor, in order of first appearance; empty in the track "ordering".
        at: (n,) when each mention is: the number of its anchor, or its own number in the track "ordering".
        later: (n - 1,) whether the position grows after a mention, which is BEFORE; else they are SIMULTANEOUS.
        order: what follows of the order of times.
        joins: (n - 1,) whether the relation of a mention and the next is in the order.
        contradicts: (n - 1,) whether earlier relations exclude it; it is then in the reduced relations all the same.
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
        """Which relations of neighbours are reduced ones, (n - 1,); all relations to anchors are."""
        return self.joins | self.contradicts


class Verified(NamedTuple):
    """Which relations of one side the other verifies.

    Attributes:
        anchored: (n,) mentions that are simultaneous with their anchors on the other side; empty where there are none.
        literal: (n - 1,) relations of neighbours that the other side has as they are.
        entailed: (n - 1,) relations of neighbours that follow from the other side's order.
    """

    anchored: Mask
    literal: Mask
    entailed: Mask


def timeline_counts(gold: Sequence[Entry], system: Sequence[Entry], track: str = "full") -> Ints:
    """The counts of a timeline.

    Args:
        gold, system: the entries of the two, in any order.
        track: one of `TRACKS`.

    Returns:
        (8,) `COUNTS`.
    """
    theirs, ours = placed(gold), placed(system)
    sides = side(theirs, track), side(ours, track)
    of_gold, of_system = (_awareness(*pair) for pair in (sides, sides[::-1]))
    return np.array([*of_system, *of_gold, *_events(theirs, ours)])


def placed(entries: Sequence[Entry]) -> Placed:
    """All mentions, in order: by position, and in one position as the tool sorts the lines of a file."""
    ordered = [entries[number] for number in in_order(entries)]
    return Placed(
        [mention for entry in ordered for mention in entry["mentions"]],
        [entry["anchor"] for entry in ordered for _ in entry["mentions"]],
        [entry["position"] for entry in ordered for _ in entry["mentions"]],
    )


def in_order(entries: Sequence[Entry]) -> list[int]:
    """The numbers of the entries in the order of `placed`."""
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


def contradictory(entries: Sequence[Entry]) -> list[int]:
    """The entries at which relations of neighbours end that contradict the earlier relations, in the track "full".

    Where every anchor has one position, the positions fulfil all relations; in the track "ordering" they always do.

    Returns:
        The number of the entry of the second neighbour of each.
    """
    first: dict[str, int] = {}
    placed_entries = [entry for entry in entries if entry["position"]]
    if all(first.setdefault(entry["anchor"], entry["position"]) == entry["position"] for entry in placed_entries):
        return []
    ordered = in_order(entries)
    ends = [number for number in ordered if entries[number]["position"] for _ in entries[number]["mentions"]]
    return [ends[i + 1] for i in np.flatnonzero(side(placed(entries), "full").contradicts).tolist()]


def natural_key(entry: Entry) -> list[str | int | Decimal]:
    """What entries of one position are sorted by: the line without its position, its runs of digits as numbers.

    >>> entries = [{"anchor": year, "mentions": ["1-2-open"]} for year in ("10", "9", "09-X")]
    >>> [entry["anchor"] for entry in sorted(entries, key=natural_key)]
    ['9', '09-X', '10']
    """
    return _natural("\t".join(["", entry["anchor"], *entry["mentions"]]))


def _key_of_mentions(entry: Entry) -> list[str | int | Decimal]:
    """What is left of the natural key for entries of one position and one anchor."""
    return _natural("\t".join(entry["mentions"]))


def _natural(line: str) -> list[str | int | Decimal]:
    parts: list[Any] = DIGITS.split(line.rstrip(BLANK))
    try:
        parts[1::2] = map(int, parts[1::2])
    except ValueError:  # Python reads no integers of some thousand digits, for safety
        parts[1::2] = map(Decimal, parts[1::2])
    return parts


def side(timeline: Placed, track: str) -> Side:
    """The relations of a timeline."""
    start = bisect_right(timeline.positions, 0)
    anchors, positions = timeline.anchors[start:], timeline.positions[start:]
    distinct = dict.fromkeys(anchors) if track == "full" else ()
    number = {anchor: i for i, anchor in enumerate(distinct)}
    at = np.array([number[anchor] for anchor in anchors] if number else range(len(anchors)), np.int64)
    later = np.fromiter(map(lt, positions, positions[1:]), np.bool_)
    return Side(copies(timeline.mentions[start:]), number, at, later, *walked(at, later))


def copies(mentions: Sequence[str]) -> list[Copy]:
    """The mentions, those of one string told apart by a number from 0.

    >>> copies(["1-2-open", "1-3-close", "1-2-open"])
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


def partners(own: Side, other: Side) -> Ints:
    """Where each mention of a side is on the other, (n,); `ABSENT` where it is not."""
    place = {copy: i for i, copy in enumerate(other.copies)}
    return np.array([place.get(copy, ABSENT) for copy in own.copies], np.int64)


def verified(own: Side, other: Side) -> Verified:
    """Which relations of a side the other verifies, reduced or not."""
    there = partners(own, other)
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
    # SIMULTANEOUS is its own inverse; the inverse of BEFORE is never said.
    step = np.minimum(one, next_one)
    forward = next_one == one + 1
    backward = ~later & (one == next_one + 1)
    literal[known] = (forward | backward) & (np.append(other.later, False)[step] == later)
    times = other.at[one], other.at[next_one]
    entailed[known] = np.where(later, precedes(other.order, *times), group[times[0]] == group[times[1]])
    return Verified(anchored, literal, entailed)


def _awareness(own: Side, other: Side) -> tuple[int, int]:
    """How many reduced relations of a side the other verifies, and how many there are."""
    found = verified(own, other)
    linked = own.reduced & (found.literal | found.entailed)
    return int(found.anchored.sum() + linked.sum()), len(found.anchored) + int(own.reduced.sum())


def _events(gold: Placed, system: Placed) -> tuple[int, int, int, int]:
    """Mentions on both sides, of the system, of gold, and those on both whose anchors are the same."""
    theirs, ours = (dict(zip(copies(side.mentions), side.anchors, strict=True)) for side in (gold, system))
    right = [anchor == ours[copy] for copy, anchor in theirs.items() if copy in ours]
    return len(right), len(ours), len(theirs), sum(right)
