"""A table of a paper, with the printed values and the recomputed ones, and a verdict on each.

Conventions: a printed value is text, digit by digit as printed.  A recomputed number agrees if it is within half a unit
of the last printed digit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import NamedTuple

from closeread.counts.results import Shown
from closeread.exceptions import pluralize
from closeread.tables import NOTHING, Grid, Style

AGREES, CUT_OFF, WITHIN_CHANCE, WITHOUT_DATA = (
    "agrees",
    "agrees, cut off",
    "within chance",
    "holds without data",
)
DIFFERS, OWN_MODEL, NOT_RECOMPUTED, NOT_PRINTED = (
    "differs",
    "own model",
    "not recomputed",
    "not printed",
)
SUMMARY = {
    AGREES: ("agree", "agrees", "agree"),
    CUT_OFF: ("cut_off", "is cut off", "are cut off"),
    WITHIN_CHANCE: ("within_chance", "within chance", "within chance"),
    WITHOUT_DATA: ("without_data", "holds without data", "hold without data"),
    DIFFERS: ("differ", "differs", "differ"),
    OWN_MODEL: ("own_model", "beside an own model", "beside own models"),
    NOT_RECOMPUTED: ("not_recomputed", "not recomputed", "not recomputed"),
    NOT_PRINTED: ("not_printed", "", ""),
}
"""Verdicts, each with its key in summaries, and the words for one cell and for several."""

VERDICTS = tuple(SUMMARY)
ABOUT = ("name", "section", "caption", "source", "note")  # the fields of a table besides its cells

NUMBER = re.compile(r"-?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)")
DEVIATIONS = 2  # how many standard deviations a printed random draw may be from the mean


class Chance(NamedTuple):
    """A value that depends on a random draw: mean and standard deviation over draws."""

    mean: float
    deviation: float


class Claim(NamedTuple):
    """A printed statement such as "less than 70", and whether it is true of the recomputed value."""

    value: float | str
    holds: bool


class OwnModel(NamedTuple):
    """The score of a model trained with closeread, shown beside that of the authors' model."""

    value: float


Value = float | str | Chance | Claim | OwnModel
"""A recomputed value: a number in the printed unit, a text to be equal to the printed one, a draw, a claim, a model."""


@dataclass(frozen=True)
class Cell:
    """A printed value and the recomputed one.

    Attributes:
        row, column: its place in the table.
        printed: the text as printed; None if nothing is.
        recomputed: the recomputed value, in the printed unit; None if it can't be recomputed.
        verdict: one of `VERDICTS`.
        why: why it differs or can't be recomputed, or a note about it; empty if there is nothing to say.
        is_expected: whether the verdict is as the package knows it: the cell agrees, or is known to differ or to need
            something.
    """

    row: str
    column: str
    printed: str | None
    recomputed: float | str | None
    verdict: str
    why: str = ""
    is_expected: bool = True


@dataclass(frozen=True, repr=False)
class Table(Shown):
    """A table with printed and recomputed values; `print` shows them side by side.

    Attributes:
        name: such as "Table 1", or "Text" for the figures of the running text.
        section: where it is in the paper; empty if it has no place of its own.
        caption: what it shows, not quoted from the paper.
        source: the paper.
        note: what there is to say of it as a whole, such as that it is a picture without numbers; may be empty.
        cells: the cells, in printed order.
    """

    name: str
    section: str
    caption: str
    source: str
    note: str
    cells: tuple[Cell, ...]

    def __repr__(self) -> str:
        return f"<{self.name}: {describe_verdicts([self])}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table, which is the same in all styles."""
        del style
        return [_make_table_grid(self, missing=True)]

    def to_dict(self, corpus: str) -> dict[str, object]:
        """Return the table as JSON can hold it, with the name of its corpus."""
        about = {name: getattr(self, name) for name in ABOUT}
        return {
            "corpus": corpus,
            **about,
            "summary": summarize([self]),
            "cells": [asdict(cell) for cell in self.cells],
        }


def count_verdicts(tables: Iterable[Table]) -> dict[str, int]:
    """Count the cells of tables by verdict; verdicts that no cell has are left out."""
    counts = Counter(cell.verdict for table in tables for cell in table.cells)
    return {verdict: counts[verdict] for verdict in SUMMARY if counts[verdict]}


def describe_verdicts(tables: Iterable[Table]) -> str:
    """Return the number of cells by verdict, in a line."""
    return (
        ", ".join(f"{verdict} {number:,}" for verdict, number in count_verdicts(tables).items())
        or "no cells"
    )


def summarize(tables: Iterable[Table]) -> dict[str, int]:
    """Return the number of printed figures, and how many of them have each verdict.

    Cells that the paper does not print are counted as `not_printed`, and not among the printed figures.
    """
    counts = count_verdicts(tables)
    of_verdict = {name: counts.get(verdict, 0) for verdict, (name, _, _) in SUMMARY.items()}
    return {"printed": sum(of_verdict.values()) - of_verdict["not_printed"], **of_verdict}


def describe_summary(tables: Iterable[Table]) -> str:
    """Return the number of printed figures by verdict, in a sentence.

    >>> cells = (Cell("a", "b", "1", 1, AGREES), Cell("a", "c", "1", None, NOT_RECOMPUTED))
    >>> describe_summary([Table("Table 1", "", "", "", "", cells)])
    '2 printed figures: 1 agrees, 0 differ, 1 not recomputed'
    """
    found = summarize(tables)
    shown = [
        f"{found[name]:,} {one if found[name] == 1 else several}"
        for verdict, (name, one, several) in SUMMARY.items()
        if several and (found[name] or verdict in (AGREES, DIFFERS))
    ]
    return f"{pluralize(found['printed'], 'printed figure')}: {', '.join(shown)}"


def give_verdict(printed: str | None, value: Value | None) -> str:
    """Compare a printed value with a recomputed one.

    >>> give_verdict("3,988", 3988), give_verdict("35.8", 35.86), give_verdict("35.8", 35.91), give_verdict("12", None)
    ('agrees', 'agrees, cut off', 'differs', 'not recomputed')
    >>> give_verdict("0.5", Chance(0.44, 0.04)), give_verdict("less than 70", Claim(69.7, True))
    ('within chance', 'agrees')
    """
    if printed is None:
        return DIFFERS if isinstance(value, Claim) and not value.holds else NOT_PRINTED
    if value is None:
        return NOT_RECOMPUTED
    if isinstance(value, OwnModel):
        return OWN_MODEL
    if isinstance(value, Claim):
        return AGREES if value.holds else DIFFERS
    if isinstance(value, str):
        return AGREES if value == printed else DIFFERS
    number = parse_number(printed)
    if number is None:
        raise ValueError(f"{printed!r} is not a number: give a text or a claim to compare it with")
    if isinstance(value, Chance):
        is_near = abs(float(number) - value.mean) <= DEVIATIONS * value.deviation
        return WITHIN_CHANCE if is_near else DIFFERS
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    # the digits that are shown; a NumPy number is a float, too
    recomputed = Decimal(repr(float(value)))
    distance = abs(recomputed - number)
    # Halves may be rounded either way, and the last digits of a float are noise.
    if distance <= unit / 2 + Decimal("1e-9"):
        return AGREES
    return CUT_OFF if abs(recomputed) > abs(number) and distance < unit else DIFFERS


def parse_number(printed: str) -> Decimal | None:
    """Return the number that a printed value is; None if it is not just a number.

    >>> parse_number("1,026,657"), parse_number(".063"), parse_number("about 20")
    (Decimal('1026657'), Decimal('0.063'), None)
    """
    text = printed.removesuffix("%").strip()
    return Decimal(text.replace(",", "")) if NUMBER.fullmatch(text) else None


def format_like(printed: str | None, value: float | str | None) -> str:
    """Format a recomputed value for a table, numbers with one more digit than is printed.

    >>> format_like("35.8", 35.8642), format_like("3,988", 3988.0), format_like("12", 11.96), format_like(None, 0.25)
    ('35.86', '3,988', '12.0', '0.25')
    """
    if value is None or isinstance(value, str):
        return value or ""
    number = None if printed is None else parse_number(printed)
    if value == int(value) and (number is None or number == number.to_integral_value()):
        return f"{value:,.0f}"
    digits = 2 if number is None else 1 - int(number.as_tuple().exponent)
    return f"{value:,.{digits}f}"


def make_table_grids(
    tables: Sequence[Table], *, missing: bool, elsewhere: str = "--missing"
) -> Iterator[Grid]:
    """Yield how many figures of a paper agree, and its tables; `elsewhere` shows the cells that are left out."""
    more = summarize(tables)["not_printed"]
    notes = [f"{pluralize(more, 'more cell')} not among the printed figures."] if more else []
    yield Grid(f"{describe_summary(tables)}.", (), [], [*notes, f"{tables[0].source}."])
    for table in tables:
        yield _make_table_grid(table, missing=missing, elsewhere=elsewhere)


def _make_table_grid(table: Table, *, missing: bool, elsewhere: str = "") -> Grid:
    """Return a table with printed and recomputed values side by side, without names and notes of the row above."""
    cells = [cell for cell in table.cells if missing or cell.recomputed is not None]
    rows = [
        [
            "" if before and before.row == cell.row else cell.row,
            cell.column,
            NOTHING if cell.printed is None else cell.printed,
            format_like(cell.printed, cell.recomputed) or NOTHING,
            cell.verdict,
            "" if before and (before.row, before.why) == (cell.row, cell.why) else cell.why,
        ]
        for before, cell in zip((None, *cells), cells, strict=False)
    ]
    hidden = len(table.cells) - len(cells)
    notes = [f"{table.note}."] if table.note else []
    notes += [f"{pluralize(hidden, 'cell')} not recomputed: see {elsewhere}."] if hidden else []
    where = f" (section {table.section})" if table.section else ""
    # A picture without numbers, or a table without anything to show, has a caption and notes only.
    header = ("row", "column", "printed", "recomputed", "verdict", "note") if cells else ()
    # sections and notes may begin with a number, and may be wrapped
    texts = frozenset({"row", "column", "note"})
    return Grid(
        f"{table.name}{where}. {table.caption}",
        header,
        rows,
        notes,
        texts,
        texts,
        frozenset({"row", "note"}),
    )


def make_count_grid(papers: Mapping[str, Sequence[Table]]) -> Grid:
    """Return how many figures of several papers agree, in a sentence, and by paper and verdict."""
    together = [table for tables in papers.values() for table in tables]
    counts = {paper: count_verdicts(tables) for paper, tables in papers.items()} | {
        "all": count_verdicts(together)
    }
    verdicts = [verdict for verdict in VERDICTS if verdict in counts["all"]]
    rows = [
        [verdict, *(f"{of_paper.get(verdict, 0):,}" for of_paper in counts.values())]
        for verdict in verdicts
    ]
    rows.append(["cells", *(f"{sum(of_paper.values()):,}" for of_paper in counts.values())])
    return Grid(f"{describe_summary(together)}.", ["verdict", *counts], rows)
