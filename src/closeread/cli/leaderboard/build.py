"""`closeread leaderboard build`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.printing import hush_libraries


@click.command(cls=options.WritingCommand, short_help="Write the page of a leaderboard.")
@click.argument("store", type=options.STORE)
@options.output
@hush_libraries
def command(store: str, output: Path) -> None:
    """Write the page of the leaderboard in STORE: one HTML file, which needs no server and no network.

    \b
    Example:
      closeread leaderboard build board -o index.html
    """
    from closeread.files import write_text
    from closeread.leaderboard.page import render_page
    from closeread.leaderboard.store import open_store

    page = render_page(open_store(store).read_index())
    write_text(output, page)
    click.echo(f"{output}: {len(page.encode()):,} bytes")
