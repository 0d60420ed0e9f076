"""Which annotated stretches of a text are the same in two annotations of it.

Source: UzZaman et al. (2013), section 4: a strict match is of one extent, a relaxed one of extents that overlap.

Conventions: an extent is of a kind, and only those of one kind are the same; its end is exclusive.  Nothing is matched
twice, and swapping the sides changes nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """A stretch of a text.

    Attributes:
        kind: what it is.
        start, end: its characters.
    """

    kind: str
    start: int
    end: int


MATCHINGS = ("strict", "relaxed")


def matched(gold: Sequence[Extent], system: Sequence[Extent], matching: str) -> list[tuple[int, int]]:
    """Which of gold and which of the system are the same, as their places in the two sequences.

    Of several with one extent the k-th of gold is the k-th of the system.  What is left over after that is matched, if
    `matching` is "relaxed", from left to right with the next that it overlaps.
    """
    places: dict[Extent, deque[int]] = defaultdict(deque)
    for i, extent in enumerate(gold):
        places[extent].append(i)
    pairs = [(places[extent].popleft(), j) for j, extent in enumerate(system) if places.get(extent)]
    if matching == "relaxed":
        taken_of_gold, taken_of_system = (set(side) for side in zip(*pairs, strict=True)) if pairs else (set(), set())
        left = _in_text_order(gold, set(range(len(gold))) - taken_of_gold)
        right = _in_text_order(system, set(range(len(system))) - taken_of_system)
        for kind in left.keys() & right.keys():
            pairs += _overlapping(gold, system, left[kind], right[kind])
    return sorted(pairs)


def _in_text_order(extents: Sequence[Extent], places: Iterable[int]) -> dict[str, list[int]]:
    """Places by kind, in the order of the text; stretches without a character overlap nothing and are left out."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for place in sorted(places, key=lambda i: (extents[i], i)):
        if extents[place].start < extents[place].end:
            by_kind[extents[place].kind].append(place)
    return by_kind


def _overlapping(
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
