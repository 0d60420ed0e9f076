"""Tables of a paper for a terminal: printed and recomputed values side by side, and the verdicts counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.counts.paper_tables import NOT_RECOMPUTED, Cell, Table, count_verdicts, format_like
from closeread.counts.rendering import NOTHING, Grid
from closeread.errors import pluralize

HEADER = ("row", "column", "printed", "recomputed", "verdict", "note")
TEXTS = frozenset({"row", "column", "note"})
"""Sections and notes may begin with a number; they are wrapped in a narrow terminal."""

DITTO = frozenset({"row", "note"})


def make_table_grids(tables: Sequence[Table], *, missing: bool, elsewhere: str = "--missing") -> Iterator[Grid]:
    """Yield the tables of a paper, then the number of cells by verdict.

    Args:
        tables: the tables, at least one.
        missing: whether to show the cells that are not recomputed, too.
        elsewhere: what shows them if this does not.
    """
    for table in tables:
        yield make_table_grid(table, missing=missing, elsewhere=elsewhere)
    yield make_count_grid({tables[0].source: tables})


def make_table_grid(table: Table, *, missing: bool, elsewhere: str = "") -> Grid:
    """Return a table with printed and recomputed values side by side.

    Args:
        table: the table.
        missing: whether to show the cells that are not recomputed, too.
        elsewhere: what shows them if this does not.
    """
    cells = [cell for cell in table.cells if missing or cell.verdict != NOT_RECOMPUTED]
    hidden = len(table.cells) - len(cells)
    notes = [f"{table.note}."] if table.note else []
    notes += [f"{pluralize(hidden, 'cell')} not recomputed: see {elsewhere}."] if hidden else []
    where = f" (section {table.section})" if table.section else ""
    # A picture without numbers, or a table without anything to show, has a caption and notes only.
    header = HEADER if cells else ()
    return Grid(f"{table.name}{where}. {table.caption}", header, list(_make_rows(cells)), notes, TEXTS, TEXTS, DITTO)


def make_count_grid(papers: dict[str, Sequence[Table]]) -> Grid:
    """Return the number of cells by verdict, with a column for each paper and, if there are several, one for all."""
    counts = {paper: count_verdicts(tables) for paper, tables in papers.items()}
    if len(papers) > 1:
        counts["all"] = count_verdicts(table for tables in papers.values() for table in tables)
    verdicts = dict.fromkeys(verdict for of_paper in counts.values() for verdict in of_paper)
    rows = [[verdict, *(f"{of_paper.get(verdict, 0):,}" for of_paper in counts.values())] for verdict in verdicts]
    rows.append(["cells", *(f"{sum(of_paper.values()):,}" for of_paper in counts.values())])
    if len(papers) > 1:
        return Grid("", ["verdict", *counts], rows)
    (source,) = papers
    return Grid("", ["verdict", "cells"], rows, [f"{source}."])


def _make_rows(cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Yield the rows of a table, without names and notes that are those of the row above."""
    for before, cell in zip((None, *cells), cells, strict=False):
        yield [
            "" if before and before.row == cell.row else cell.row,
            cell.column,
            NOTHING if cell.printed is None else cell.printed,
            format_like(cell.printed, cell.recomputed) or NOTHING,
            cell.verdict,
            "" if before and (before.row, before.why) == (cell.row, cell.why) else cell.why,
        ]
