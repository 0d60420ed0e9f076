"""Tables of a paper for a terminal: printed and recomputed values side by side, and the verdicts counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closeread.counts.paper_tables import (
    VERDICTS,
    Cell,
    Table,
    count_verdicts,
    describe_summary,
    format_like,
    summarize,
)
from closeread.counts.rendering import NOTHING, Grid
from closeread.exceptions import pluralize

HEADER = ("row", "column", "printed", "recomputed", "verdict", "note")
TEXTS = frozenset({"row", "column", "note"})
"""Sections and notes may begin with a number; they are wrapped in a narrow terminal."""

DITTO = frozenset({"row", "note"})


def make_table_grids(tables: Sequence[Table], *, missing: bool, elsewhere: str = "--missing") -> Iterator[Grid]:
    """Yield how many figures of a paper agree, and its tables.

    Args:
        tables: the tables, at least one.
        missing: whether to show the cells that are not recomputed, too.
        elsewhere: what shows them if this does not.
    """
    yield make_summary_grid(tables)
    for table in tables:
        yield make_table_grid(table, missing=missing, elsewhere=elsewhere)


def make_table_grid(table: Table, *, missing: bool, elsewhere: str = "") -> Grid:
    """Return a table with printed and recomputed values side by side.

    Args:
        table: the table.
        missing: whether to show the cells that are not recomputed, too.
        elsewhere: what shows them if this does not.
    """
    cells = [cell for cell in table.cells if missing or cell.recomputed is not None]
    hidden = len(table.cells) - len(cells)
    notes = [f"{table.note}."] if table.note else []
    notes += [f"{pluralize(hidden, 'cell')} not recomputed: see {elsewhere}."] if hidden else []
    where = f" (section {table.section})" if table.section else ""
    # A picture without numbers, or a table without anything to show, has a caption and notes only.
    header = HEADER if cells else ()
    return Grid(f"{table.name}{where}. {table.caption}", header, list(_make_rows(cells)), notes, TEXTS, TEXTS, DITTO)


def make_summary_grid(tables: Sequence[Table]) -> Grid:
    """Return how many figures of a paper agree, in a sentence, and the paper as a note."""
    more = summarize(tables)["not_printed"]
    notes = [f"{pluralize(more, 'more cell')} not among the printed figures."] if more else []
    return Grid(f"{describe_summary(tables)}.", (), [], [*notes, f"{tables[0].source}."])


def make_count_grid(papers: Mapping[str, Sequence[Table]]) -> Grid:
    """Return how many figures of several papers agree, in a sentence, and by paper and verdict."""
    together = [table for tables in papers.values() for table in tables]
    counts = {paper: count_verdicts(tables) for paper, tables in papers.items()} | {"all": count_verdicts(together)}
    verdicts = [verdict for verdict in VERDICTS if verdict in counts["all"]]
    rows = [[verdict, *(f"{of_paper.get(verdict, 0):,}" for of_paper in counts.values())] for verdict in verdicts]
    rows.append(["cells", *(f"{sum(of_paper.values()):,}" for of_paper in counts.values())])
    return Grid(f"{describe_summary(together)}.", ["verdict", *counts], rows)


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
