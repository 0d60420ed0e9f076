"""`closeread leaderboard verify`."""

from __future__ import annotations

import click

from closeread.cli.leaderboard.judge import count_cores, golds, read_golds, workers
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.exceptions import escape_line, pluralize


@click.command(cls=GroupedCommand, short_help="Recompute every record, and say which differ.")
@click.argument("store")
@golds
@workers
@click.pass_context
@hush_libraries
def command(ctx: click.Context, store: str, golds: tuple[str, ...], workers: int | None) -> None:
    """Recompute every record of STORE from its predictions, and say which differ.

    The exit code is 1 if anything differs.

    \b
    Example:
      closeread leaderboard verify board
    """
    from closeread.leaderboard.judge import verify
    from closeread.leaderboard.store import open_store

    opened = open_store(store)
    boards = list(opened.read_leaderboard().boards)
    found = verify(opened, read_golds(golds, boards), n_workers=workers or count_cores())
    for difference in found.differences:
        click.echo(escape_line(difference))
    n_differences = len(found.differences)
    end = "no difference" if not n_differences else pluralize(n_differences, "difference")
    click.echo(escape_line(f"{store}: {pluralize(found.equal, 'record')} recomputed byte for byte, {end}"))
    ctx.exit(1 if n_differences else 0)
