"""Counts that gold alone determines, which must be the same for all systems that were scored on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closeread.arrays import Ints
from closeread.counts.counted import Counted
from closeread.exceptions import RequestError, quote


def check_same_gold(names: Sequence[str], results: Sequence[Counted]) -> None:
    """Check that systems of one signature have the same counts of gold in every unit.

    Stored counts can't be recomputed without the gold, but those of another system tell what it was like.

    Args:
        names: the names of the systems.
        results: their counts; units that only one of two systems has are not compared.

    Raises:
        RequestError: counts of gold differ; the message names the first of each system that differs from the first.
    """
    if len(results) < 2:
        return
    first = results[0]
    problems = []
    for name, other in zip(names[1:], results[1:], strict=True):
        mine, theirs = _align(first.table.units, other.table.units)
        for count in first.procedure.of_gold:
            if count not in first.table.names or count not in other.table.names:
                continue
            expected, found = (
                one.table.values[rows, one.table.names.index(count)] for one, rows in ((first, mine), (other, theirs))
            )
            if len(wrong := np.flatnonzero(expected != found)):
                place = int(wrong[0])
                unit = f"{first.procedure.unit} {quote(str(other.table.units[theirs[place]]))}"
                problems.append(f"{quote(name)}: {unit}: {count} is {found[place]:g} (expected {expected[place]:g})")
                break
    if problems:
        how = f"the systems are not comparable: they were not scored on the same gold as {quote(names[0])}:"
        raise RequestError("\n".join([how, *problems]))


def _align(first: Sequence[str], second: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the rows of the units that both have, in the order of the second."""
    if len(first) == len(second) and all(map(str.__eq__, first, second)):
        rows = np.arange(len(first))
        return rows, rows
    place = {unit: row for row, unit in enumerate(first)}
    shared = [(place[unit], row) for row, unit in enumerate(second) if unit in place]
    aligned = np.array(shared, np.int64).reshape(-1, 2)
    return aligned[:, 0], aligned[:, 1]
