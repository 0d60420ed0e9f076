"""Tables of slices: a row for each value of a field, with the counts and scores that a task selects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from closeread.counts.estimates import Scores
from closeread.counts.grids import SET_BY_CONVENTION, format_interval, format_star
from closeread.counts.rendering import Grid, format_number, percent
from closeread.counts.report import Report


class Column(NamedTuple):
    """A column of a table of slices.

    Attributes:
        title: its name; that of an interval is its confidence level.
        what: what it shows: a count, a score times 100, or the interval of a score.
        name: the name of the count or the score.
    """

    title: str
    what: Literal["count", "score", "interval"]
    name: str

    def show(self, scores: Scores, digits: int) -> str:
        """Return the cell of a slice, with a star if the score is 0/0 and its value a convention."""
        if self.what == "count":
            return format_number(scores.counts[self.name])
        estimate = scores.scores[self.name]
        if self.what == "interval":
            return format_interval(estimate, digits)
        return percent(estimate.value, digits) + format_star(estimate)


def make_slice_grid(
    report: Report,
    field: str,
    title: str,
    columns: Sequence[Column],
    *,
    notes: Sequence[str] = (),
    parts: Sequence[str] = (),
    digits: int = 2,
) -> Grid:
    """Return the table of one field of a report.

    Args:
        report: the scores, with slices by the field.
        field: the name of the field, which heads the first column.
        title: the line above the table.
        columns: what to show of each slice; intervals are left out if there are none.
        notes: the sentences below the table.
        parts: the values of the field to show first, in order; the others follow in the order of the report.
        digits: the number of decimals of scores.
    """
    slices = report.slices[field]
    shown = [column for column in columns if column.what != "interval" or report.resampling.n_resamples]
    values = [*(part for part in parts if part in slices), *(value for value in slices if value not in parts)]
    rows = [[value, *(column.show(slices[value], digits) for column in shown)] for value in values]
    stars = [SET_BY_CONVENTION] if any(cell.endswith("*") for row in rows for cell in row[1:]) else []
    interval = f"{100 * report.resampling.confidence:g}% interval"
    header = [field, *(interval if column.what == "interval" else column.title for column in shown)]
    return Grid(title, header, rows, [*notes, *stars], texts=frozenset({field}), labels=1)
