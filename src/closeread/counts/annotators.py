"""Several annotators: their annotation, and the scores of every pair of them with their means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

from closeread.arrays import ratio
from closeread.exceptions import RequestError, pluralize
from closeread.tables import Grid, format_percent

Scores = Mapping[str, float | None]
"""Scores by name; None if undefined, or if there is nothing to compare."""

Pair = tuple[int, int]
"""Two annotators, in the order in which they are given."""


class Annotator(NamedTuple):
    """An annotator: a name for messages, and the file, the folder or the rows of the annotation."""

    name: str
    source: Path | Sequence[Any]


def require_two(annotators: Sequence[Annotator]) -> None:
    """Raise a RequestError if there is only one annotator."""
    if len(annotators) < 2:
        raise RequestError("only one annotator's file is given (expected two or more)")


def find_repeated_paths(annotators: Sequence[Annotator]) -> Iterator[str]:
    """Yield a sentence for each path that leads to the same file as an earlier one."""
    first_paths: dict[object, Path] = {}
    for annotator in annotators:
        path = annotator.source
        if not isinstance(path, Path):
            continue
        first_path = first_paths.setdefault(_identify(path), path)
        if first_path is not path:
            other_name = "" if first_path == path else f", also as {first_path}"
            yield f"{path} is given twice{other_name}; it counts as two files."


def _identify(path: Path) -> object:
    """Return what all paths to the same file share."""
    try:
        status = path.stat()
    except OSError:
        return realpath(path)
    return (status.st_dev, status.st_ino) if status.st_ino else realpath(path)


def list_pairs(annotators: int) -> list[Pair]:
    """Return every pair of annotators.

    >>> list_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(annotators), 2))


def average_pairs(pairs: Sequence[Scores]) -> dict[str, float | None]:
    """Return the mean of every score over the pairs that have it; None if no pair has it.

    >>> average_pairs([{"dice": 0.5}, {"dice": None}, {"dice": 1.0}])
    {'dice': 0.75}
    """
    values_by_name: dict[str, list[float]] = {}
    for scores in pairs:
        for name, value in scores.items():
            values = values_by_name.setdefault(name, [])
            if value is not None:
                values.append(value)
    return {
        name: float(ratio(sum(values), len(values))) if values else None
        for name, values in values_by_name.items()
    }


def count_left_out(pairs: Sequence[Scores], name: str) -> int:
    """Return how many pairs the mean of a score leaves out; 0 if there is no mean.

    >>> count_left_out([{"dice": 0.5}, {"dice": None}, {"dice": 1.0}], "dice")
    1
    """
    lacking = sum(scores.get(name) is None for scores in pairs)
    return lacking if lacking < len(pairs) else 0


def describe_left_out(pairs: Sequence[Scores], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for the means that leave out the same number of pairs; titles are those of the scores."""
    titles_by_number: dict[int, list[str]] = {}
    for name, title in titles.items():
        titles_by_number.setdefault(count_left_out(pairs, name), []).append(title)
    n_pairs = pluralize(len(pairs), "pair")
    for number, partial in titles_by_number.items():
        if number:
            means = "the mean leaves" if len(partial) == 1 else "the means leave"
            yield f"{', '.join(partial)}: {means} out {number:,} of {n_pairs}, without a value."


def list_agreements(names: Sequence[str], pairs: Mapping[Pair, object]) -> list[dict[str, Any]]:
    """Return the agreement of every pair, with the names of both annotators, as JSON can hold it.

    >>> list_agreements(["anna", "ben"], {(0, 1): 0.5})
    [{'first': 'anna', 'second': 'ben', 'agreement': 0.5}]
    """
    return [
        {"first": names[first], "second": names[second], "agreement": agreement}
        for (first, second), agreement in pairs.items()
    ]


def make_pair_grid(
    names: Sequence[str],
    columns: Sequence[str],
    pairs: Mapping[Pair, Sequence[float | None]],
    mean: Sequence[float | None],
    notes: Sequence[str],
    format_score: Callable[[float | None], str] = format_percent,
) -> Grid:
    """Return a table with a row for every pair of annotators, and the mean in the last row.

    Annotators are numbered, since the names of files would leave no room for scores; the first note names them.

    >>> make_pair_grid(["anna", "ben"], ["kappa"], {(0, 1): [0.5]}, [0.5], []).notes
    ['Annotators: 1 is anna, 2 is ben.']
    """
    rows = [
        [f"{first + 1} and {second + 1}", *map(format_score, scores)]
        for (first, second), scores in pairs.items()
    ]
    rows.append(["mean", *map(format_score, mean)])
    numbered = ", ".join(f"{number} is {name}" for number, name in enumerate(names, 1))
    return Grid("", ["annotators", *columns], rows, [f"Annotators: {numbered}.", *notes])
