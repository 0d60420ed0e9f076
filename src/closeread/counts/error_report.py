"""Errors of a system: how many there are of each kind, scores by field, and lists of what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from closeread.counts.report import Report, report_grid
from closeread.counts.results import Result
from closeread.exceptions import choose_words, pluralize, shorten
from closeread.tables import Grid, Style, percent

MAX_TEXT_SHOWN = 40
"""How many characters of a text a table shows."""

Row = Mapping[str, Any]
"""What is listed, by the names of its columns: texts, counts, and shares from 0 to 1."""


@dataclass(frozen=True)
class Listing:
    """A list of errors, or of what has errors, the worst first.

    Attributes:
        title: the title of its table.
        rows: its rows.
        limit: how many of them the table shows.
        noun: a row in words, to say how many more there are; empty if the table has all.
        titles: the titles of columns that are not their names.
        words: the columns with words of texts, which may be long.
        texts: the columns that name a row, which come first.
        notes: sentences below the table.
    """

    title: str
    rows: Sequence[Row]
    limit: int
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    notes: Sequence[str] = ()

    def make_grids(self) -> Iterator[Grid]:
        """Yield its table; none if there is nothing to show."""
        if not self.rows or self.limit == 0:
            return
        header = list(self.rows[0])
        rows = list(map(self._format_row, self.rows[: self.limit]))
        titles = [self.titles.get(name, name) for name in header]
        omitted = describe_omitted(len(self.rows) - self.limit, self.noun)
        yield Grid(
            self.title,
            titles,
            rows,
            [*self.notes, *omitted],
            texts=self.texts | self.words,
            prose=self.words,
            labels=len(self.texts),
        )

    def _format_row(self, row: Row) -> list[str]:
        return [self._format_cell(name, value) for name, value in row.items()]

    def _format_cell(self, name: str, value: object) -> str:
        if name in self.words:
            return shorten(str(value), MAX_TEXT_SHOWN)
        if isinstance(value, float):
            return percent(value)
        return f"{value:,}" if isinstance(value, int) else str(value)

    def to_dict(self) -> list[Any]:
        """Return all rows as JSON can hold them."""
        return list(map(dict, self.rows))


def describe_omitted(number: int, noun: str) -> list[str]:
    """Say how many rows a table omits, and where they are; nothing if it has all."""
    if number <= 0 or not noun:
        return []
    return [f"{pluralize(number, f'more {noun}')}: see {choose_words('--json', 'to_dict()')}."]


@dataclass(frozen=True, repr=False)
class ErrorReport(Result):
    """The errors of a system.

    Attributes:
        report: the scores, with slices by each field, as `closeread.score` computes them.
        unit: what is right or wrong, such as "pairs".
        counts: how many are right, and how many errors there are of each kind.
        listings: lists of errors by their names in JSON.
        grids: the tables of scores by field.
        header: the columns of `rows`.
        rows: every error.
        note: the kinds of errors in words.
    """

    report: Report
    unit: str
    counts: Mapping[str, int]
    listings: Mapping[str, Listing]
    grids: Sequence[Grid]
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""

    def __repr__(self) -> str:
        counts = [f"{kind} {number:,}" for kind, number in self.counts.items()]
        return f"<ErrorReport: {', '.join(counts)}>"

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the tables: scores, counts, scores by each field, and lists."""
        yield report_grid(replace(self.report, slices={}), style)
        counts = [[kind, f"{number:,}"] for kind, number in self.counts.items()]
        yield Grid("", [self.unit, "number"], counts, [self.note] if self.note else [])
        yield from self.grids
        for listing in self.listings.values():
            yield from listing.make_grids()

    def _to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """Return header and rows of all errors."""
        return self.header, self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return the report, and under `errors` the counts and the lists."""
        errors: dict[str, Any] = {"counts": dict(self.counts)}
        errors |= {name: listing.to_dict() for name, listing in self.listings.items()}
        return {**self.report.to_dict(), "errors": errors}
