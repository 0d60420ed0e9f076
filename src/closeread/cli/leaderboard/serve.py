"""`closeread leaderboard serve`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from closeread.cli.leaderboard.judge import cache_folder, count_cores, golds, read_golds, workers
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.exceptions import MissingExtraError, RequestError, escape, escape_line

LIBRARIES = ("python-multipart", "starlette", "uvicorn")


@click.command(cls=GroupedCommand, short_help="Show the page on this machine, with a form.")
@click.argument("store")
@golds
@workers
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen to; 0 for a free one.",
)
@cache_folder
@hush_libraries
def command(store: str, golds: tuple[str, ...], workers: int | None, port: int, cache: Path | None) -> None:
    """Show the page of STORE, a folder, on http://127.0.0.1:8000, with a form to validate and submit predictions.

    What is submitted is judged at once. Its author is the user who runs this command, whoever opens the page; other
    machines can't. Ctrl-C stops it.

    \b
    Example:
      closeread leaderboard serve board
    """
    missing = [name for name in LIBRARIES if find_spec(name.replace("-", "_")) is None]
    if missing:
        raise MissingExtraError("serving a leaderboard", *missing, extra="serve")
    from closeread.leaderboard.results import HUB, CountCache
    from closeread.leaderboard.server import Service, serve
    from closeread.leaderboard.store import open_store

    if store.startswith(HUB):
        raise RequestError(f"{store} is on the Hub; serve shows a folder (publish the page as a Space instead)")
    opened = open_store(store)
    boards = list(opened.read_leaderboard().boards)

    def report(kind: str, sentence: str) -> None:
        click.echo(escape_line(f"{kind}: {sentence}"), err=True)

    def announce(port: int) -> None:
        click.echo(f"{escape(store)} is served on http://127.0.0.1:{port} (stop with Ctrl-C)")

    service = Service(opened, read_golds(golds, boards), CountCache(cache), report)
    serve(service, port, workers or count_cores(), announce)
