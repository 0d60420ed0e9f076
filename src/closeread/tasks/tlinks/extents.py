"""Matching of intervals by their extents in the text.

Sources: UzZaman et al. (2013); a strict match requires equal extents, a relaxed match overlapping extents.

Conventions: only extents of the same kind match; ends are exclusive.  Matching is one to one and symmetric.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import NamedTuple

EXTENT_MATCHINGS = ("strict", "relaxed")


class Extent(NamedTuple):
    """A text span: its type of annotation and its character offsets, the end exclusive."""

    kind: str
    start: int
    end: int


def match_extents(
    gold: Sequence[Extent], system: Sequence[Extent], matching: str
) -> list[tuple[int, int]]:
    """Match extents of gold and system; return pairs of indices.

    The k-th copy of an extent in gold matches the k-th copy in the system.  If `matching` is "relaxed", the remaining
    extents are matched greedily from left to right with the next one that overlaps.
    """
    copies = defaultdict[Extent, deque[int]](deque)
    for index, extent in enumerate(gold):
        copies[extent].append(index)
    pairs = []
    for index, extent in enumerate(system):
        if copies.get(extent):
            pairs.append((copies[extent].popleft(), index))
    if matching == "relaxed":
        unmatched = _sort_unmatched(gold, {gold_index for gold_index, _ in pairs})
        system_unmatched = _sort_unmatched(system, {system_index for _, system_index in pairs})
        pairs += _match_overlaps(unmatched, system_unmatched)
    return sorted(pairs)


def _sort_unmatched(
    extents: Sequence[Extent], matched: Collection[int]
) -> deque[tuple[Extent, int]]:
    """Return the other extents, with their indices, by kind and in text order, but for empty ones: they overlap none."""
    unmatched = [
        (extent, index)
        for index, extent in enumerate(extents)
        if index not in matched and extent.start < extent.end
    ]
    return deque(sorted(unmatched, key=itemgetter(0)))


def _match_overlaps(
    gold: deque[tuple[Extent, int]], system: deque[tuple[Extent, int]]
) -> list[tuple[int, int]]:
    """Match each extent with the next one of the same kind that overlaps; return pairs of indices."""
    pairs = []
    while gold and system:
        gold_extent, gold_index = gold[0]
        system_extent, system_index = system[0]
        if _is_before(gold_extent, system_extent):
            gold.popleft()
        elif _is_before(system_extent, gold_extent):
            system.popleft()
        else:
            pairs.append((gold_index, system_index))
            gold.popleft()
            system.popleft()
    return pairs


def _is_before(first: Extent, second: Extent) -> bool:
    """Tell whether an extent ends before another begins, or is of an earlier kind."""
    if first.kind == second.kind:
        return first.end <= second.start
    return first.kind < second.kind
