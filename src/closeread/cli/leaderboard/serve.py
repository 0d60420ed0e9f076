"""`closeread leaderboard serve`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.leaderboard.judge import count_cores, golds, read_golds, workers
from closeread.errors import RequestError


@click.command(short_help="Show the page on this machine, with a form.")
@click.argument("store")
@golds
@workers
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen to.")
@click.option("--cache", type=options.NAMED, metavar="DIR", help="Keep counts in this folder.  [default: a cache]")
def command(store: str, golds: tuple[str, ...], workers: int | None, port: int, cache: Path | None) -> None:
    """Show the page of STORE, a folder, on http://127.0.0.1:8000, with a form to validate and submit predictions.

    What is submitted is judged at once. The author is the user who runs this command.

    \b
    Example:
      closeread leaderboard serve board
    """
    from closeread.leaderboard.count_cache import CountCache
    from closeread.leaderboard.server import Served, serve
    from closeread.leaderboard.store import HUB, open_store

    if store.startswith(HUB):
        raise RequestError(f"{store} is on the Hub; serve shows a folder (publish the page as a Space instead)")
    opened = open_store(store)
    boards = list(opened.read_leaderboard().boards)
    served = Served(opened, read_golds(golds, boards), CountCache(cache), workers or count_cores())
    click.echo(f"http://127.0.0.1:{port}", err=True)
    serve(served, port)
