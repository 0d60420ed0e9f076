"""`closeread leaderboard show`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from closeread.cli import options, printing
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.exceptions import RequestError, quote
from closeread.suggestions import describe_unknown

if TYPE_CHECKING:
    from closeread.tables import Grid, Style

ROWS = ("rows", "superseded")
SHORTEST = 6
"""The digits of an id that are enough to name it, if only one id begins with them."""


@click.command(cls=GroupedCommand, short_help="Print the ranking.")
@click.argument("store")
@click.option("--board", metavar="NAME", help="Print this board only.")
@click.option("--system", metavar="NAME", help="Print this system only, with slices and counts; an id is a name, too.")
@options.style_options
@hush_libraries
def command(store: str, board: str | None, system: str | None, style: Literal["json", "csv"] | Style) -> None:
    """Print the ranking of the leaderboard in STORE.

    JSON is the index that the page is made of. CSV has a row for each score.

    \b
    Examples:
      closeread leaderboard show board
      closeread leaderboard show board --system "My system"
      closeread leaderboard show board --json
    """
    from closeread.leaderboard.store import open_store

    index = open_store(store).read_index()
    if board is not None:
        index = select_board(index, board)
    if system is not None:
        index = select_system(index, system)

    def table() -> printing.CsvTable:
        from closeread.leaderboard.tables import csv_rows

        return csv_rows(index)

    def grids() -> Iterator[Grid]:
        assert style in ("table", "markdown", "latex")  # noqa: S101
        return make_grids(index, style, with_details=system is not None)

    printing.show(style, value=lambda: index, table=table, grids=grids)


def select_board(index: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an index with one of its boards only.

    Raises:
        RequestError: there is no such board.
    """
    boards = [one for one in index["boards"] if one["name"] == name]
    if not boards:
        raise RequestError(describe_unknown("board", name, [one["name"] for one in index["boards"]]))
    return {**index, "boards": boards}


def select_system(index: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an index with the rows of one system only, of all boards on which it is.

    Args:
        index: the index.
        name: the name of a system, or an id or the beginning of one; several submissions may share a name.

    Raises:
        RequestError: there is no such system, or several ids begin so.
    """
    rows = [row for board in index["boards"] for row in _list_rows(board)]
    ids = {row["id"] for row in rows if row["system"] == name or row["id"] == name}
    if not ids and len(name) >= SHORTEST:
        ids = {row["id"] for row in rows if row["id"].startswith(name)}
        if len(ids) > 1:
            raise RequestError(f"{quote(name)} is the beginning of {len(ids)} ids; give more of it")
    if not ids:
        raise RequestError(describe_unknown("system", name, list(dict.fromkeys(row["system"] for row in rows))[:10]))
    boards = [_keep_rows(board, ids) for board in index["boards"]]
    return {**index, "boards": [board for board in boards if _list_rows(board)]}


def _list_rows(board: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for name in ROWS for row in board[name]] + [row for other in board["others"] for row in other["rows"]]


def _keep_rows(board: Mapping[str, Any], ids: set[str]) -> dict[str, Any]:
    """Return a board with some of its rows only."""

    def keep(rows: list[Any]) -> list[Any]:
        return [row for row in rows if row["id"] in ids]

    others = [{**other, "rows": keep(other["rows"])} for other in board["others"]]
    return {
        **board,
        **{name: keep(board[name]) for name in ROWS},
        "others": [other for other in others if other["rows"]],
        "pairs": {"ids": [], "low": [], "high": [], "p": []},
        "history": keep(board["history"]),
    }


def make_grids(index: Mapping[str, Any], style: Style, *, with_details: bool) -> Iterator[Grid]:
    """Yield the ranking of every board, or everything about each of its rows."""
    from closeread.leaderboard.tables import grid, system_grids

    for board in index["boards"]:
        if with_details:
            for row in _list_rows(board):
                yield from system_grids(board, row, style=style)
        else:
            yield grid(board, style=style)
