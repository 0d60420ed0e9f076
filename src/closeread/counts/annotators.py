"""Scores of every two of several annotators, and their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from closeread.arrays import ratio
from closeread.errors import pluralize

Scores = Mapping[str, float | None]
"""Scores by name; None if undefined, or if there is nothing to compare."""

Pair = tuple[int, int]
"""Two annotators, in the order in which they are given."""


def list_pairs(annotators: int) -> list[Pair]:
    """Return every two of some annotators.

    >>> list_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(annotators), 2))


def average_pairs(pairs: Sequence[Scores]) -> dict[str, float | None]:
    """Return the mean of every score over the pairs that have it; None if no pair has it.

    >>> average_pairs([{"dice": 0.5}, {"dice": None}, {"dice": 1.0}])
    {'dice': 0.75}
    """
    names = dict.fromkeys(name for scores in pairs for name in scores)
    values = {name: [value for scores in pairs if (value := scores.get(name)) is not None] for name in names}
    return {name: float(ratio(sum(known), len(known))) if known else None for name, known in values.items()}


def count_left_out(pairs: Sequence[Scores], name: str) -> int:
    """Return how many pairs the mean of a score leaves out; 0 if there is no mean.

    >>> count_left_out([{"dice": 0.5}, {"dice": None}, {"dice": 1.0}], "dice")
    1
    """
    lacking = sum(scores.get(name) is None for scores in pairs)
    return lacking if lacking < len(pairs) else 0


def describe_left_out(pairs: Sequence[Scores], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for the means that leave out the same number of pairs.

    Args:
        pairs: the scores of every pair.
        titles: the names of the scores in sentences.
    """
    by_number: dict[int, list[str]] = {}
    for name, title in titles.items():
        by_number.setdefault(count_left_out(pairs, name), []).append(title)
    for number, partial in by_number.items():
        if number:
            leaves = "the mean leaves" if len(partial) == 1 else "the means leave"
            yield f"{', '.join(partial)}: {leaves} out {number:,} of {pluralize(len(pairs), 'pair')}, without a value."


def list_agreements(names: Sequence[str], pairs: Mapping[Pair, object]) -> list[dict[str, Any]]:
    """Return the agreement of every pair, with the names of both annotators, as JSON can hold it.

    >>> list_agreements(["anna", "ben"], {(0, 1): 0.5})
    [{'first': 'anna', 'second': 'ben', 'agreement': 0.5}]
    """
    return [{"first": names[i], "second": names[j], "agreement": found} for (i, j), found in pairs.items()]
