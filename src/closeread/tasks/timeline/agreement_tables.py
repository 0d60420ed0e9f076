"""The agreement of annotators of TimeLine as tables."""

from __future__ import annotations

from closeread.counts.annotators import make_pair_grid
from closeread.tables import Grid, format_percent
from closeread.tasks.timeline.agreement import Agreement

COUNTED = ("first", "second", "both", "Dice")


def make_rows(found: Agreement) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of all counts; of several pairs, every pair and then the means."""
    if len(found.pairs) == 1:
        return ["", *COUNTED], [list(row) for row in _list_overlaps(found)]
    names = found.names
    rows: list[list[object]] = [
        [names[i], names[j], what, o.first, o.second, o.both, o.dice]
        for (i, j), overlaps in found.pairs.items()
        for what, o in overlaps.items()
    ]
    rows += [["mean", None, what, None, None, None, value] for what, value in found.mean.items()]
    return ["first annotator", "second annotator", "compared", *COUNTED], rows


def _list_overlaps(found: Agreement) -> list[list[str | float | None]]:
    """Return a row for everything that two annotators are compared on."""
    return [[what, o.first, o.second, o.both, o.dice] for what, o in found.pairs[0, 1].items()]


def make_grid(found: Agreement) -> Grid:
    """Return the table: the counts of two annotators; of more, the coefficients of every pair, and their means."""
    if len(found.pairs) == 1:
        rows = [list(map(format_percent, row)) for row in _list_overlaps(found)]
        return Grid("", ["", *COUNTED], rows)
    coefficients = {pair: [one.dice for one in overlaps.values()] for pair, overlaps in found.pairs.items()}
    notes = ["Dice's coefficient times 100.", *found.describe_left_out()]
    return make_pair_grid(found.names, list(found.mean), coefficients, list(found.mean.values()), notes)
