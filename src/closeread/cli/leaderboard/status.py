"""`closeread leaderboard status`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries

if TYPE_CHECKING:
    from closeread.tables import Grid


def shorten_time(time: str) -> str:
    """Return a time to the minute, which fits a narrow terminal.

    >>> shorten_time("2026-11-22T10:00:00Z")
    '2026-11-22 10:00'
    """
    return time[:16].replace("T", " ")


@click.command(cls=GroupedCommand, short_help="List what became of all submissions.")
@click.argument("store")
@options.style_options
@hush_libraries
def command(store: str, style: Any) -> None:
    """List what became of all submissions of STORE, with the problems of those that were refused.

    \b
    Example:
      closeread leaderboard status board
    """
    from closeread.leaderboard.names import show_safely
    from closeread.leaderboard.store import open_store

    opened = open_store(store)
    leaderboard = opened.read_leaderboard()
    results = opened.read_results(leaderboard)
    settled = sorted(results.entries.values(), key=lambda entry: (entry.submitted, entry.submission))
    arrived = opened.list_arrivals(leaderboard, results)
    waiting = [one for one in arrived if one.submission and one.submission not in results.entries]
    junk = [one for one in arrived if not one.submission]
    header = ["submission", "board", "system", "author", "submitted (UTC)", "status"]
    rows = [
        [
            entry.submission[:12],
            entry.board,
            show_safely(str((entry.about or {}).get("system", ""))),
            entry.author,
            shorten_time(entry.submitted),
            entry.status,
        ]
        for entry in settled
    ]
    rows += [
        [one.submission[:12], one.board, "", one.author, shorten_time(one.submitted), "not judged yet"]
        for one in waiting
    ]
    notes = [f"{one.submission[:12]}: {show_safely(problem)}" for one in settled for problem in one.problems]
    notes += [f"{show_safely(str(one.source))}: {show_safely(problem)}" for one in junk for problem in one.problems]
    printing.show(
        style,
        value=lambda: {
            "submissions": [
                {"id": e.submission, "board": e.board, "status": e.status, "author": e.author, "problems": e.problems}
                for e in settled
            ],
            "waiting": [{"id": one.submission, "board": one.board, "author": one.author} for one in waiting],
        },
        table=lambda: (header, rows),
        grids=lambda: [_make_grid(header, rows, notes)],
    )


def _make_grid(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> Grid:
    """Return the table of submissions; the board is its title if there is only one."""
    from closeread.tables import Grid

    if not rows:
        return Grid("", [], [], ["No submissions."])
    boards = {row[header.index("board")] for row in rows}
    shown = ["submission", "status", *(["board"] if len(boards) > 1 else []), "system", "author", "submitted (UTC)"]
    places = [header.index(name) for name in shown]
    return Grid(
        f"Submissions to {boards.pop()}" if len(boards) == 1 else "Submissions",
        shown,
        [[row[i] for i in places] for row in rows],
        notes,
        texts=frozenset(shown),
        prose=frozenset({"system"}),
        labels=1,
    )
