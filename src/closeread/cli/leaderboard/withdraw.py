"""`closeread leaderboard withdraw`."""

from __future__ import annotations

import click

from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.exceptions import Problem, RequestError, SubmissionError, escape_line, quote


@click.command(cls=GroupedCommand, short_help="Withdraw a submission of yours.")
@click.argument("store")
@click.argument("submission")
@click.option("--author", metavar="NAME", help="Withdraw for this author, from a folder.  [default: the user]")
@hush_libraries
def command(store: str, submission: str, author: str | None) -> None:
    """Withdraw a submission of yours from STORE; the next run of the judge takes it off the board.

    SUBMISSION is its id, or the first characters of it. Only its author can withdraw it.

    \b
    Example:
      closeread leaderboard withdraw board 3f9a1c0d2b7e
    """
    from closeread.leaderboard.results import HUB
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import withdrawal_bytes, withdrawal_path

    opened = open_store(store)
    results = opened.read_results(opened.read_leaderboard())
    entry = results.find(submission)
    if entry.status != "accepted":
        raise RequestError(f"submission {entry.submission[:12]} is {entry.status} already")
    user = opened.name_author(author)
    if user != entry.author:
        found = f"was submitted by {quote(entry.author)}, not by {quote(user)}; only its author can withdraw it"
        raise SubmissionError(entry.submission[:12], [Problem(found)])
    path = withdrawal_path(entry.board, entry.submission)
    files = {path: withdrawal_bytes(entry.submission, None if store.startswith(HUB) else user)}
    receipt = opened.send(files, f"Withdraw submission {entry.submission[:12]}", "Withdrawn by its author.")
    done = "withdrawn with the next run of the judge" if receipt.is_new else "has been withdrawn before"
    click.echo(escape_line(f"{entry.submission[:12]}: {done} ({receipt.place})"))
