"""Strict and relaxed matching of annotated text spans.

Source: UzZaman et al. (2013), section 4: a strict match requires equal extents, a relaxed match overlapping extents.

Conventions: only extents of the same kind match; ends are exclusive.  Matching is one to one and symmetric.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """A text span.

    Attributes:
        kind: the type of annotation.
        start, end: character offsets, the end exclusive.
    """

    kind: str
    start: int
    end: int


MATCHINGS = ("strict", "relaxed")


def match_extents(gold: Sequence[Extent], system: Sequence[Extent], matching: str) -> list[tuple[int, int]]:
    """Match extents of gold and system; return pairs of indices.

    The k-th copy of an extent in gold matches the k-th copy in the system.  If `matching` is "relaxed", the remaining
    extents are matched greedily from left to right with the next one that overlaps.
    """
    places: dict[Extent, deque[int]] = defaultdict(deque)
    for i, extent in enumerate(gold):
        places[extent].append(i)
    pairs = [(places[extent].popleft(), j) for j, extent in enumerate(system) if places.get(extent)]
    if matching == "relaxed":
        taken_of_gold, taken_of_system = (set(side) for side in zip(*pairs, strict=True)) if pairs else (set(), set())
        left = _group_by_kind(gold, set(range(len(gold))) - taken_of_gold)
        right = _group_by_kind(system, set(range(len(system))) - taken_of_system)
        for kind in left.keys() & right.keys():
            pairs += _match_overlaps(gold, system, left[kind], right[kind])
    return sorted(pairs)


def _group_by_kind(extents: Sequence[Extent], places: Iterable[int]) -> dict[str, list[int]]:
    """Group indices by kind, in text order; empty extents overlap nothing and are left out."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for place in sorted(places, key=lambda i: (extents[i], i)):
        if extents[place].start < extents[place].end:
            by_kind[extents[place].kind].append(place)
    return by_kind


def _match_overlaps(
    gold: Sequence[Extent], system: Sequence[Extent], left: Sequence[int], right: Sequence[int]
) -> list[tuple[int, int]]:
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        own, other = gold[left[i]], system[right[j]]
        if own.end <= other.start:
            i += 1
        elif other.end <= own.start:
            j += 1
        else:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
    return pairs
