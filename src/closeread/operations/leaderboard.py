"""Run a leaderboard, in a folder or on the Hugging Face Hub.

STORE is a folder, or a dataset on the Hub (hf://datasets/ORG/NAME). Systems are submitted with `closeread submit`.

\b
Example:
  closeread leaderboard init board --corpus mctaco --config sample
  closeread submit mctaco predictions.jsonl --config sample \\
    --system "My system" --to board
  closeread leaderboard judge board
  closeread leaderboard show board
  closeread leaderboard build board -o index.html
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from closeread import parameters as arg
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    SubmissionError,
    choose_words,
    fill_options,
    name_option,
    quote,
    quote_json,
)
from closeread.operations.calling import take_path
from closeread.parameters import Operations, Param, Written

if TYPE_CHECKING:
    from closeread.counts.results import Result
    from closeread.leaderboard.declaration import Board, Leaderboard
    from closeread.leaderboard.judge import JudgingReport
    from closeread.leaderboard.page import Ranking
    from closeread.leaderboard.store import FolderStore
    from closeread.leaderboard.submission import About

Store = Annotated[str | Path, Param(kind="store")]
Destination = Annotated[Store, Param(metavar="STORE")]
File = Annotated[str | Path | None, Param(metavar="FILE")]
Cache = Annotated[str | Path | None, Param(metavar="DIR")]
Name = Annotated[str | None, Param(metavar="NAME")]
Link = Annotated[str | None, Param(metavar="URL")]
Time = Annotated[str | None, Param(metavar="TIME")]
HubName = Annotated[str | None, Param(metavar="ORG/NAME")]
Golds = Annotated[
    Sequence[str | Path],
    Param(metavar="[BOARD=]FILE", help="Use your own gold for a board; may be repeated."),
]
Corpus = Annotated[arg.CorpusName | None, Param(metavar="NAME")]
Procedure = Annotated[arg.ScoredName | None, Param(metavar="NAME")]
Metrics = Annotated[Sequence[str], Param(kind="names", metavar="NAMES")]
Score = Annotated[str | None, Param(metavar="SCORE")]
Options = Annotated[Mapping[str, str] | None, Param(kind="choices", metavar="NAME=VALUE")]
Private = Annotated[bool | None, Param(flag="--private/--public")]
Output = Annotated[
    str | Path, Param(kind="write", flag="-o --output", metavar="FILE", required=True)
]
PathOutput = Annotated[Output, Param(metavar="PATH")]
System = Annotated[str, Param(metavar="NAME")]
Model = Annotated[str | None, Param(metavar="ORG/MODEL")]
Report = Annotated[Callable[[str], None] | None, Param(kind="report")]


CONFLICTS = 20  # how often a leaderboard is judged anew because others commit


def init_leaderboard(
    store: Store,
    *,
    corpus: Corpus = None,
    procedure: Procedure = None,
    gold: File = None,
    config: arg.Config = None,
    split: arg.Split = None,
    title: str | None = None,
    metrics: Metrics = (),
    headline: Score = None,
    preset: Name = None,
    option: Options = None,
    private: Private = None,
    per_day: arg.Number = 5,
    max_bytes: arg.Number = 50_000_000,
    counting: Literal["all", "best", "last"] = "all",
    opens: Time = None,
    closes: Time = None,
    dataset: HubName = None,
    replace: bool = False,
) -> Written:
    """Create a leaderboard, or add a board.

    STORE is a folder, or a dataset on the Hub. A board ranks systems on a part of a corpus, or on gold of your own,
    which stays where it is.

    \b
    Examples:
      closeread leaderboard init board --corpus mctaco --split test
      closeread leaderboard init board --procedure coref --gold key.conll
      closeread leaderboard init hf://datasets/ORG/NAME --corpus mctaco

    Args:
        corpus: Rank systems on this corpus.
        procedure: Rank systems by this procedure, on gold of your own.
        gold: Use your own gold; it is never copied into the store.
        title: Give the leaderboard this title.
        metrics: Show these metrics; separate several by commas.
        headline: Rank by this score, such as 'conll/f1'.
        preset: Use the options and metrics of an official score.
        private: Publish nothing about single units of the gold.  [default: private with your own gold]
        per_day: Score at most this many submissions per author per day.
        max_bytes: Refuse larger files of predictions.
        counting: Which submissions of an author are ranked.
        opens: Refuse submissions before this date or time, by default in UTC.
        closes: Refuse submissions after this date or time, by default in UTC.
        dataset: Propose results of models for the benchmark of this dataset on the Hub.
        replace: Change a board that exists; everything is scored again.
    """
    from closeread.corpus.notices import warn_all
    from closeread.counts.procedure import GoldSpec
    from closeread.leaderboard.declaration import FILE, Leaderboard, Limits, make_board
    from closeread.leaderboard.sandbox import MEMORY_FILE, NEEDS_LINUX
    from closeread.leaderboard.store import open_store

    place, scored, source = str(store), corpus or procedure, f"{store}/{FILE}"
    if scored is None or (corpus and procedure):
        raise RequestError(fill_options("give either {corpus} or {procedure}"))
    board = make_board(
        scored,
        GoldSpec(None, config, split, take_path(gold)),
        options={**(option or {}), **({"preset": preset} if preset else {})},
        metrics=tuple(metrics) or None,
        headline=headline,
        private=private,
        limits=Limits(bytes=max_bytes, per_day=per_day),
        counting=counting,
        dataset=dataset,
        opens=opens,
        closes=closes,
    )
    with open_store(place) as opened:
        before = opened.find_leaderboard()
        if before is None:
            after = Leaderboard(title or board.title, {board.name: board})
            changes = []
        else:
            after = Leaderboard(title or before.title, before.boards).with_board(board)
            changes = _describe_changes(before, after, board.name)
        Leaderboard.from_bytes(after.to_bytes(), source)  # checks it
        if changes and not replace:
            use = f"use {choose_words('--replace', 'replace=True')} to change it"
            raise FormatError(source, [Problem(f"was not changed; {use}: {'; '.join(changes)}")])
        if after == before:
            done = f"nothing changed, it has this board {board.name} already"
        else:
            opened.write_leaderboard(after)
            opened.push("Declare the leaderboard")
            done = f"board {board.name}, ranked by {board.headline}"
    if not MEMORY_FILE.exists():
        warn_all([f"this leaderboard can't be judged on this machine: {NEEDS_LINUX}"])
    return Written(None, f"{source}: {done}\nSignature: {board.signature}")


def _describe_changes(before: Leaderboard, after: Leaderboard, board: str) -> list[str]:
    """Describe what differs between two declarations of a leaderboard and of one of its boards."""
    values = {"title": (before.title, after.title)}
    if board in before.boards:
        old, new = (asdict(leaderboard.boards[board]) for leaderboard in (before, after))
        old |= old.pop("limits")
        new |= new.pop("limits")
        values |= {f"{key} of {board}": (old[key], new[key]) for key in old}
    return [
        f"{what} is {quote_json(old_value)}, not {quote_json(new_value)}"
        for what, (old_value, new_value) in values.items()
        if old_value != new_value
    ]


def judge_leaderboard(
    store: Store,
    *,
    gold: Golds = (),
    workers: arg.Workers = None,
    cache: Cache = None,
    report: Report = None,
) -> JudgingReport:
    """Score all new submissions, and rebuild the index.

    All new submissions to STORE are scored, recorded and answered. Run this by hand, from cron, or as a scheduled job.
    It may be killed at any time and run again: nothing is lost, and nothing is done twice.

    \b
    Examples:
      closeread leaderboard judge board
      closeread leaderboard judge board --gold key.conll

    Args:
        report: called with a line about each submission as soon as it is judged, and about all of them.
    """
    from closeread.hub.client import ConflictError
    from closeread.leaderboard.judge import judge
    from closeread.leaderboard.results import CountCache
    from closeread.leaderboard.store import open_store

    tell = report or _ignore
    done = None
    for _ in range(CONFLICTS):
        with open_store(str(store)) as opened, suppress(ConflictError):
            done = judge(
                opened,
                _read_golds(opened, gold),
                n_workers=workers or _count_cores(),
                cache=CountCache(take_path(cache)),
                progress=lambda kind, sentence: tell(f"{kind}: {sentence}"),
            )
            break
        tell(f"{store}: somebody else has committed meanwhile; judging again")
    if done is None:
        raise RequestError(f"{store}: others commit all the time; try again later")
    counts = [
        f"{len(getattr(done, kind)):,} {kind}"
        for kind in ("accepted", "refused", "withdrawn", "waiting")
    ]
    tell(f"{store}: {', '.join(counts)}")
    return done


def show_leaderboard(store: Store, *, board: Name = None, system: Name = None) -> Ranking:
    """Print the ranking.

    JSON is the index from which the page is made. CSV has a row for each score.

    \b
    Examples:
      closeread leaderboard show board
      closeread leaderboard show board --system "My system"
      closeread leaderboard show board --json

    Args:
        board: Print this board only.
        system: Print only this system, by name or id, with slices and counts.
    """
    from closeread.leaderboard.page import Ranking
    from closeread.leaderboard.store import open_store

    with open_store(str(store)) as opened:
        return Ranking(opened.read_index()).select(board, system)


def build_leaderboard(store: Store, *, output: Output) -> Written:
    """Write the page of a leaderboard.

    The page is one HTML file, which needs no server and no network.

    \b
    Example:
      closeread leaderboard build board -o index.html
    """
    from closeread.files import write_text
    from closeread.leaderboard.page import render_page
    from closeread.leaderboard.store import open_store

    with open_store(str(store)) as opened:
        page = render_page(opened.read_index(), address=str(store))
    write_text(Path(output), page)
    return Written(Path(output), f"{len(page.encode()):,} bytes")


def list_submissions(store: Store) -> Result:
    """List all submissions and what became of them.

    The problems of refused submissions are listed, too.

    \b
    Example:
      closeread leaderboard status board
    """
    from closeread.leaderboard.page import Submissions
    from closeread.leaderboard.store import open_store

    with open_store(str(store)) as opened:
        leaderboard = opened.read_leaderboard()
        results = opened.read_results(leaderboard)
        arrivals = opened.list_arrivals(leaderboard, results)
    entries = sorted(
        results.entries.values(), key=lambda entry: (entry.submitted, entry.submission)
    )
    return Submissions(entries, arrivals)


def download_submission(store: Store, submission: str, *, output: PathOutput) -> Written:
    """Write the predictions of a submission to a file.

    Predictions in several files are written to a new folder. SUBMISSION is an id, or its first characters. The digest
    of the predictions is checked.

    \b
    Example:
      closeread leaderboard download board 3f9a1c0d2b7e -o predictions.jsonl

    Args:
        output: Write to this path.
    """
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import write_predictions

    with open_store(str(store)) as opened:
        leaderboard = opened.read_leaderboard()
        entry = opened.read_results(leaderboard).find(submission)
        path = entry.describe().predictions
        limit = leaderboard.find(entry.board).limits.bytes
        write_predictions(Path(output), opened.read_predictions(path, limit), path)
    return Written(Path(output), f"predictions of {entry.submission[:12]}")


def withdraw_submission(store: Store, submission: str, *, author: Name = None) -> Written:
    """Withdraw one of your submissions.

    The next run of the judge takes it off the board. SUBMISSION is an id, or its first characters. Only its author can
    withdraw it.

    \b
    Example:
      closeread leaderboard withdraw board 3f9a1c0d2b7e

    Args:
        author: Withdraw for this author, from a folder.  [default: the user]
    """
    from closeread.leaderboard.declaration import store_path
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import withdrawal_bytes

    with open_store(str(store)) as opened:
        entry = opened.read_results(opened.read_leaderboard()).find(submission)
        name = entry.submission[:12]
        if entry.status != "accepted":
            raise RequestError(f"submission {name} is {entry.status} already")
        user = opened.name_author(author)
        if user != entry.author:
            owner = f"was submitted by {quote(entry.author)}, not by {quote(user)}"
            raise SubmissionError(name, [Problem(f"{owner}; only its author can withdraw it")])
        content = withdrawal_bytes(entry.submission, opened.sign(author).get("author"))
        files = {store_path("withdrawals", entry.board, entry.submission): content}
        receipt = opened.send(files, f"Withdraw submission {name}", "Withdrawn by its author.")
    done = (
        "withdrawn with the next run of the judge"
        if receipt.is_new
        else "has been withdrawn before"
    )
    return Written(None, f"{name}: {done} ({receipt.place})")


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
    corpus: arg.ScoredName,
    predictions: str | Path | None = None,
    *,
    to: Destination,
    system: System,
    log: File = None,
    config: arg.Config = None,
    split: arg.Split = None,
    gold: File = None,
    author: Name = None,
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

    \b
    Examples:
      closeread submit mctaco predictions.jsonl --split test \\
        --system "My system" --to board
      closeread submit coref response.conll --system "My system" \\
        --to hf://datasets/ORG/NAME
      closeread submit mctaco logs/run.eval --system "My model" --to board

    Args:
        to: Submit to this folder, or to hf://datasets/ORG/NAME.
        system: Name the system.
        log: Submit the answers in this log of inspect-ai, instead of predictions.
        gold: Check with this gold, if you have it.
        author: Submit for this author, to a folder.  [default: the user]
        model: Link to the model on the Hub, and propose its result there.
        paper: Link to the paper.
        code: Link to the code.
        description: Describe the system in a sentence or two.
        dry_run: Check everything, and send nothing.
    """
    from closeread.corpus.notices import warn_all
    from closeread.leaderboard.names import write_time
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.submission import (
        check_predictions,
        describe_submission,
        make_submission,
    )

    about = {
        "system": system,
        "model": model,
        "paper": paper,
        "code": code,
        "description": description,
    }
    with open_store(str(to)) as opened:
        board = _find_board(opened.read_leaderboard(), corpus, config, split)
        with _take_predictions(predictions, log, board, about) as path:
            reason = board.refuse_time(write_time(datetime.now(UTC)))
            if reason is not None:
                raise SubmissionError(path, [Problem(reason)])
            submission = make_submission(board, path, **about, **opened.sign(author))
            submission = replace(submission, about=opened.find_sent(submission.about))
            checked = check_predictions(board, path, take_path(gold))
        warn_all(checked.notices)
        identity = submission.about.id
        name = identity[:12]
        if dry_run:
            line = f"{log or predictions}: valid; {name} would be submitted to {board.name}"
            return SubmissionReceipt(identity, board.name, None, False, (line,))
        receipt = opened.send(submission.files, *describe_submission(board, submission.about))
        done = "submitted" if receipt.is_new else "had been submitted before"
        lines = [f"{name} {done} to {board.name}: {receipt.place}"]
        if model:
            lines += _propose_result(opened, board, submission.about, checked.value, receipt.place)
    return SubmissionReceipt(identity, board.name, receipt.place, receipt.is_new, tuple(lines))


@contextmanager
def _take_predictions(
    predictions: str | Path | None,
    log: str | Path | None,
    board: Board,
    about: dict[str, str | None],
) -> Iterator[Path]:
    """Yield the file to submit, for a log one with its rows; the log is the description if there is no other."""
    if (predictions is None) == (log is None):
        raise RequestError(fill_options("either predictions or {log} is needed"))
    from closeread.formats.json_lines import dump_json_lines
    from closeread.operations.logs import fill_unread, read_log_of, read_only_log

    if log is None:
        answers = read_only_log(predictions, board.procedure)
    else:
        answers = read_log_of(Path(log), board.procedure)
    if answers is None:
        yield Path(str(predictions))
        return
    if answers.epochs > 1:
        raise FormatError(
            answers.path,
            [Problem(f"has {answers.epochs} epochs (expected one, as files of predictions)")],
        )
    about["description"] = about["description"] or answers.description
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{answers.path.stem}.jsonl")
        path.write_text(dump_json_lines(fill_unread(answers, board)), "utf-8")
        yield path


def _find_board(
    leaderboard: Leaderboard, scored: str, config: str | None, split: str | None
) -> Board:
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
        give = fill_options("give {config} and {split}")
        raise RequestError(f"several boards are of {scored}; {give} (boards: {known})")
    raise RequestError(f"the leaderboard has no such board of {scored} (boards: {known})")


def _propose_result(
    store: FolderStore, board: Board, about: About, value: float | None, place: str
) -> Iterator[str]:
    """Open a pull request with the score on the model's repository; say so, or warn of what is in the way.

    The score is that of the record, if there is one already, or that which was computed here, if gold is at hand.
    """
    from closeread.corpus.notices import warn
    from closeread.leaderboard.results import record_id

    if board.dataset is None:
        warn(
            f"{board.name} names no dataset on the Hub, so no result is proposed to {about.model}."
        )
        return
    record = store.read_results(store.read_leaderboard()).records.get(
        record_id(about.id, board.signature)
    )
    if record is not None:
        value, place = record.report["scores"][board.headline]["value"], store.link(record.path)
    if value is None:
        warn(f"Run this again after it was judged, to propose its result to {about.model}.")
        return
    if value > 1:  # CEAF, if mentions repeat
        warn(
            f"The Hub takes no scores above 100, so {100 * value:.2f} is not proposed to {about.model}."
        )
        return
    from closeread.hub.client import Hub
    from closeread.hub.datasets import name_task
    from closeread.hub.eval_results import make_entry, propose_results

    entry = make_entry(
        dataset=board.dataset,
        task=name_task(board.name),
        value=value,
        signature=board.signature,
        source=place
        if place.startswith("https://")
        else f"https://huggingface.co/datasets/{board.dataset}",
    )
    commit = propose_results(Hub(), str(about.model), entry)
    done = "proposed" if commit.changed else "had been proposed before"
    yield f"Result {done} to {about.model}: {commit.pull_request_url or commit.url}"


def _read_golds(store: FolderStore, values: Sequence[str | Path]) -> dict[str, Path]:
    """Return the gold of each board from `[BOARD=]FILE`; without a name, a file is that of the only board."""
    boards = list(store.read_leaderboard().boards)
    found: dict[str, Path] = {}
    for value in values:
        name, equals, path = str(value).partition("=")
        if equals and name in boards:
            found[name] = Path(path)
        elif len(boards) == 1:
            found[boards[0]] = Path(value)
        else:
            names = ", ".join(boards)
            raise RequestError(
                f"{name_option('gold', str(value))} does not name its board "
                f"(expected BOARD=FILE; boards: {names})"
            )
    return found


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ignore(line: str) -> None:
    """Take a line that nobody wants to read."""


OPERATIONS: Operations = {
    "": {"submit": submit},
    "leaderboard": {
        "init": init_leaderboard,
        "judge": judge_leaderboard,
        "show": show_leaderboard,
        "build": build_leaderboard,
        "status": list_submissions,
        "download": download_submission,
        "withdraw": withdraw_submission,
    },
}
