"""Submit predictions to a leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from closeread import parameters as arg
from closeread.corpus.names import find_task
from closeread.corpus.notices import warn, warn_all
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    SubmissionError,
    fill_options,
)
from closeread.files import scratch_folder, take_path
from closeread.leaderboard.places import open_store
from closeread.operations.leaderboard import Destination, File, Link, Model, System
from closeread.parameters import Operations
from closeread.public_names import AnyCorpus

if TYPE_CHECKING:
    from closeread.leaderboard.declaration import Board, Leaderboard
    from closeread.leaderboard.store import FolderStore
    from closeread.leaderboard.submission import About
    from closeread.scoring import Scorer


class SubmissionReceipt(NamedTuple):
    """What became of predictions that were submitted.

    Attributes:
        id: the id of the submission.
        board: the name of the board.
        place: where it is: a file, or a pull request; None if nothing was sent.
        is_new: whether it had not been sent before.
        lines: the same in words, and what became of the proposal of a result.
    """

    id: str
    board: str
    place: str | None
    is_new: bool
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def submit(
    corpus: AnyCorpus,
    predictions: str | Path | None = None,
    *,
    to: Destination,
    system: System,
    log: File = None,
    config: arg.Config = None,
    split: arg.Split = None,
    gold: File = None,
    author: arg.Name = None,
    model: Model = None,
    paper: Link = None,
    code: Link = None,
    description: str | None = None,
    dry_run: bool = False,
) -> SubmissionReceipt:
    """Submit predictions to a leaderboard.

    They are first checked, as by `closeread validate`; a log of inspect-ai, of one epoch, is submitted as its answers.
    CORPUS is the corpus or the procedure of the board. On the Hub, a submission is a pull request; log in with
    `hf auth login`. The author is the user who is logged in or, in a folder, the one that --author names.

    On the command line:
      closeread leaderboard submit mctaco predictions.jsonl --split test \\
        --system "My system" --to board
      closeread leaderboard submit coref response.conll --system "My system" \\
        --to hf://datasets/ORG/NAME
      closeread leaderboard submit mctaco logs/run.eval --system "My model" --to board

    Args:
        corpus: the name of the corpus or the procedure of the board.
        predictions: the file or the folder.
        to: Submit to this folder, or to hf://datasets/ORG/NAME.
        system: Name the system.
        log: Submit the answers in this log of inspect-ai, instead of predictions.
        config, split: the part of the corpus that the board is of; None if there is no other board.
        gold: Check with this gold, if you have it.
        author: Submit for this author, to a folder.  [default: the user]
        model: Link to the model on the Hub, and propose its result there.
        paper: Link to the paper.
        code: Link to the code.
        description: Describe the system in a sentence or two.
        dry_run: Check everything, and send nothing.

    Returns:
        What was sent, and where to; `id` is that of the submission.

    >>> rows = closeread.baseline("mctaco", "always-positive", config="sample", output="yes.jsonl")
    >>> sent = closeread.submit("mctaco", "yes.jsonl", config="sample", system="Always yes", author="ann", to="board")
    >>> sent.board, sent.is_new
    ('mctaco-sample/test', True)
    """
    from closeread.leaderboard.names import read_now
    from closeread.leaderboard.scoring import check_in_sandbox
    from closeread.leaderboard.submission import (
        check_predictions,
        describe_submission,
        make_submission,
    )

    if (predictions is None) == (log is None):
        raise RequestError(fill_options("either predictions or {log} is needed"))
    handed_in = Path(str(predictions if log is None else log))
    with open_store(to) as opened:
        board = _find_board(opened.read_leaderboard(), corpus, config, split)
        signature = opened.sign(author)
        reason = board.refuse_time(opened.name_author(author), read_now())
        if reason is not None:
            raise SubmissionError(handed_in, [Problem(reason)])
        own_gold = take_path(gold)
        scorer = None
        if own_gold is not None or not board.own_gold:
            scorer = board.open_scorer(own_gold)
        with _open_draft(board, scorer, handed_in, is_log=log is not None) as draft:
            submission = make_submission(
                board,
                draft.path,
                system=system,
                model=model,
                paper=paper,
                code=code,
                description=description or draft.description,
                **signature,
            )
            # What somebody else has handed in is read as the judge reads it.
            if author is not None and scorer is not None:
                notices, value = check_in_sandbox(board, own_gold, submission, handed_in)
            else:
                notices, value = check_predictions(board, scorer, draft.path)
        submission = replace(submission, about=opened.find_sent(submission.about))
        warn_all([*draft.notices, *notices])
        identity = submission.about
        name = identity.id[:12]
        if dry_run:
            line = f"{handed_in}: valid; {name} would be submitted to {board.name}"
            return SubmissionReceipt(identity.id, board.name, None, False, (line,))
        receipt = opened.send(submission.files, *describe_submission(board, identity))
        done = "submitted" if receipt.is_new else "had been submitted before"
        lines = [f"{name} {done} to {board.name}: {receipt.place}"]
        if model:
            lines += _propose_result(opened, board, identity, value, receipt.place)
    return SubmissionReceipt(identity.id, board.name, receipt.place, receipt.is_new, tuple(lines))


class Draft(NamedTuple):
    """What is handed in: a file of predictions, or one with the answers in a log.

    Attributes:
        path: the file.
        description: the model of a log and its settings.
        notices: what was filled in, a sentence each.
    """

    path: Path
    description: str = ""
    notices: tuple[str, ...] = ()


@contextmanager
def _open_draft(
    board: Board, scorer: Scorer | None, path: Path, *, is_log: bool
) -> Iterator[Draft]:
    """Yield predictions, those of a log in a temporary file."""
    from closeread.formats.json_lines import dump_json_lines
    from closeread.operations.logs import fill_unread, read_log_of, read_only_log

    log = (read_log_of if is_log else read_only_log)(path, board.procedure)
    if log is None:
        yield Draft(path)
        return
    if log.epochs > 1:
        problem = Problem(f"has {log.epochs} epochs (expected one, as files of predictions)")
        raise FormatError(log.path, [problem])
    rows, notes = fill_unread(log, board, scorer)
    with scratch_folder() as folder:
        written = folder / f"{log.path.stem}.jsonl"
        written.write_text(dump_json_lines(rows), "utf-8")
        yield Draft(written, log.description, notes)


def _find_board(
    leaderboard: Leaderboard, name: str, config: str | None, split: str | None
) -> Board:
    procedure, corpus = find_task(name)
    scored = corpus or procedure
    matches = []
    for board in leaderboard.boards.values():
        is_scored = scored in (board.scored, board.corpus, board.procedure.name)
        has_config = config in (None, board.config)
        has_split = split in (None, board.split, board.name.partition("/")[2])
        if is_scored and has_config and has_split:
            matches.append(board)
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(leaderboard.boards) or "none"
    if matches:
        advice = fill_options("give {config} and {split}")
        raise RequestError(f"several boards are of {scored}; {advice} (boards: {names})")
    raise RequestError(f"the leaderboard has no such board of {scored} (boards: {names})")


def _propose_result(
    store: FolderStore, board: Board, identity: About, value: float | None, place: str
) -> Iterator[str]:
    """Open a pull request with the score on the model's repository; say so, or warn of what is in the way.

    The score is that of the record, if there is one already, or that which was computed here, if gold is at hand.
    """
    from closeread.leaderboard.results import record_id

    if board.dataset is None:
        warn(
            f"{board.name} names no dataset on the Hub, so no result is proposed to {identity.model}."
        )
        return
    results = store.read_results(store.read_leaderboard())
    record = results.records.get(record_id(identity.id, board.signature))
    if record is not None:
        value = record.report["scores"][board.headline]["value"]
        place = store.link(record.path)
    if value is None:
        warn(f"Run this again after it was judged, to propose its result to {identity.model}.")
        return
    if value > 1:  # CEAF, if mentions repeat
        warn(
            f"The Hub takes no scores above 100, so {100 * value:.2f} is not proposed to {identity.model}."
        )
        return
    from closeread.hub.client import Hub
    from closeread.hub.datasets import name_task
    from closeread.hub.eval_results import make_entry, propose_results

    is_address = place.startswith("https://")
    source = place if is_address else f"https://huggingface.co/datasets/{board.dataset}"
    entry = make_entry(
        dataset=board.dataset,
        task=name_task(board.name),
        value=value,
        signature=board.signature,
        source=source,
    )
    commit = propose_results(Hub(), str(identity.model), entry)
    done = "proposed" if commit.changed else "had been proposed before"
    yield f"Result {done} to {identity.model}: {commit.pull_request_url or commit.url}"


OPERATIONS: Operations = {"": {"submit": submit}, "leaderboard": {"submit": submit}}
