"""`closeread submit`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import names, options
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries, tell
from closeread.exceptions import Problem, RequestError, SubmissionError, escape_line

if TYPE_CHECKING:
    from closeread.leaderboard.declaration import Board, Leaderboard
    from closeread.leaderboard.store import Store
    from closeread.leaderboard.submission import About


@click.command(cls=GroupedCommand, short_help="Submit predictions to a leaderboard.")
@click.argument("corpus", type=names.SCORED)
@click.argument("predictions", type=options.NAMED)
@click.option(
    "--to", "store", required=True, metavar="STORE", help="Submit to this folder, or to hf://datasets/ORG/NAME."
)
@click.option("--system", required=True, metavar="NAME", help="Name the system.")
@options.config
@options.split
@click.option("--gold", type=options.NAMED, metavar="FILE", help="Check with this gold, if you have it.")
@click.option("--author", metavar="NAME", help="Submit for this author, to a folder.  [default: the user]")
@click.option("--model", metavar="ORG/MODEL", help="Link to the model on the Hub, and propose its result there.")
@click.option("--paper", metavar="URL", help="Link to the paper.")
@click.option("--code", metavar="URL", help="Link to the code.")
@click.option("--description", metavar="TEXT", help="Describe the system in a sentence or two.")
@click.option("--dry-run", is_flag=True, help="Check everything, and send nothing.")
@hush_libraries
def command(corpus: str, predictions: Path, store: str, dry_run: bool, **values: Any) -> None:
    """Submit predictions to a leaderboard, after the same checks as `closeread validate`.

    CORPUS is the corpus or the procedure of the board. On the Hub, a submission is a pull request; log in with `hf auth
    login`. The author is the user who is logged in or, in a folder, the one that --author names.

    \b
    Examples:
      closeread submit mctaco predictions.jsonl --split test \\
        --system "My system" --to board
      closeread submit coref response.conll --system "My system" \\
        --to hf://datasets/ORG/NAME
    """
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import check_predictions, make_submission

    opened = open_store(store)
    board = find_board(opened.read_leaderboard(), corpus, values["config"], values["split"])
    if (reason := board.refuse_time(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")) is not None:
        raise SubmissionError(predictions, [Problem(reason)])
    if values["author"] is not None:
        opened.name_author(values["author"])
    about = {name: values[name] for name in ("system", "model", "paper", "code", "description", "author")}
    submission = make_submission(board, predictions, **about)
    checked = check_predictions(board, predictions, values["gold"])
    tell(checked.notices)
    if dry_run:
        click.echo(escape_line(f"{predictions}: valid; {submission.about.id[:12]} would be submitted to {board.name}"))
        return
    from closeread.leaderboard.submission import describe_submission

    title, text = describe_submission(board, submission.about)
    receipt = opened.send(submission.files, title, text)
    done = "submitted" if receipt.is_new else "had been submitted before"
    click.echo(escape_line(f"{submission.about.id[:12]} {done} to {board.name}: {receipt.place}"))
    if values["model"]:
        propose_results(opened, board, submission.about, checked.value, receipt.place)


def propose_results(store: Store, board: Board, about: About, value: float | None, place: str) -> None:
    """Open a pull request with the score on the model's repository, from the record if there is one already.

    Args:
        store: the store.
        board: the board.
        about: what was submitted.
        value: the score that was computed here; None if gold is not at hand.
        place: where the submission is.
    """
    from closeread.leaderboard.results import record_id

    if board.dataset is None:
        tell([f"{board.name} names no dataset on the Hub, so no result is proposed to {about.model}."])
        return
    record = store.read_results(store.read_leaderboard()).records.get(record_id(about.id, board.signature))
    if record is not None:
        value, place = record.report["scores"][board.headline]["value"], store.link(record.path)
    if value is None:
        tell([f"Run this again after it was judged, to propose its result to {about.model}."])
        return

    if value > 1:  # CEAF, if mentions repeat
        tell([f"The Hub takes no scores above 100, so {100 * value:.2f} is not proposed to {about.model}."])
        return

    from closeread.hub.client import Hub
    from closeread.hub.datasets import name_task
    from closeread.hub.eval_results import make_entry
    from closeread.hub.eval_results import propose_results as propose

    entry = make_entry(
        dataset=board.dataset,
        task=name_task(board.name),
        value=value,
        signature=board.signature,
        source=place if place.startswith("https://") else f"https://huggingface.co/datasets/{board.dataset}",
    )
    commit = propose(Hub(), str(about.model), entry)
    done = "proposed" if commit.changed else "had been proposed before"
    click.echo(escape_line(f"Result {done} to {about.model}: {commit.pull_request_url or commit.url}"))


def find_board(leaderboard: Leaderboard, scored: str, config: str | None, split: str | None) -> Board:
    """Return the board of a corpus or procedure.

    Raises:
        RequestError: there is none, or several.
    """
    found = [
        board
        for board in leaderboard.boards.values()
        if scored in (board.scored, board.corpus, board.procedure.name)
        and config in (None, board.config)
        and split in (None, board.split, board.name.partition("/")[2])
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(leaderboard.boards) or "none"
    if found:
        raise RequestError(f"several boards are of {scored}; give --config and --split (boards: {known})")
    raise RequestError(f"the leaderboard has no such board of {scored} (boards: {known})")
