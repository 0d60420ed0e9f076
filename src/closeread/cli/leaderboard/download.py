"""`closeread leaderboard download`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.printing import hush_libraries
from closeread.exceptions import escape_line


@click.command(cls=options.WritingCommand, short_help="Write the predictions of a submission to a file.")
@click.argument("store", type=options.STORE)
@click.argument("submission")
@click.option("-o", "--output", type=options.WRITTEN, required=True, metavar="PATH", help="Write to this path.")
@hush_libraries
def command(store: str, submission: str, output: Path) -> None:
    """Write the predictions of a submission to a file, or to a new folder if it has several files.

    SUBMISSION is its id, or the first characters of it. The digest of the predictions is checked.

    \b
    Example:
      closeread leaderboard download board 3f9a1c0d2b7e -o predictions.jsonl
    """
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import write_predictions

    opened = open_store(store)
    leaderboard = opened.read_leaderboard()
    entry = opened.read_results(leaderboard).find(submission)
    path = entry.describe().predictions
    limit = leaderboard.find(entry.board).limits.bytes
    write_predictions(output, opened.read_predictions(path, limit), path)
    click.echo(escape_line(f"{output}: predictions of {entry.submission[:12]}"))
