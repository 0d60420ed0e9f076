"""`closeread leaderboard judge`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from closeread.cli import options, printing
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries, tell
from closeread.exceptions import RequestError, escape_line

golds = click.option(
    "--gold",
    "golds",
    multiple=True,
    metavar="[BOARD=]FILE",
    help="The gold of a board, if it is your own; may be repeated.",
)
workers = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="Number of processes that score.  [default: the number of cores]",
)
cache_folder = click.option(
    "--cache", type=options.NAMED, metavar="DIR", help="Keep counts in this folder.  [default: a cache]"
)


def read_golds(values: tuple[str, ...], boards: list[str]) -> dict[str, Path]:
    """Return the gold of each board; without a name, a file is that of the only board.

    Raises:
        RequestError: a name is missing.
    """
    found: dict[str, Path] = {}
    for text in values:
        name, equals, path = text.partition("=")
        if equals and name in boards:
            found[name] = Path(path)
        elif len(boards) == 1:
            found[boards[0]] = Path(text)
        else:
            names = ", ".join(boards)
            raise RequestError(f"--gold {text} does not name its board (expected BOARD=FILE; boards: {names})")
    return found


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@click.command(cls=GroupedCommand, short_help="Score what has arrived, and rebuild the index.")
@click.argument("store")
@golds
@workers
@cache_folder
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.pass_context
@hush_libraries
def command(
    ctx: click.Context, store: str, golds: tuple[str, ...], workers: int | None, cache: Path | None, as_json: bool
) -> None:
    """Score what has arrived in STORE, record it, answer, and rebuild the index.

    One run does all there is to do; run it by hand, from cron, or as a scheduled job. It may be killed at any time and
    run again: nothing is lost, and nothing is done twice.

    \b
    Examples:
      closeread leaderboard judge board
      closeread leaderboard judge board --gold key.conll
    """
    from closeread.leaderboard.judge import judge
    from closeread.leaderboard.results import CountCache
    from closeread.leaderboard.store import open_store

    opened = open_store(store)
    boards = list(opened.read_leaderboard().boards)
    done = judge(
        opened,
        read_golds(golds, boards),
        n_workers=workers or count_cores(),
        cache=CountCache(cache),
        progress=lambda kind, sentence: None if as_json else click.echo(escape_line(f"{kind}: {sentence}")),
    )
    tell(done.notices)
    if as_json:
        printing.print_json(asdict(done))
    else:
        counts = [f"{len(getattr(done, kind)):,} {kind}" for kind in ("accepted", "refused", "withdrawn", "waiting")]
        click.echo(escape_line(f"{store}: {', '.join(counts)}"))
    ctx.exit(1 if done.errors else 0)
