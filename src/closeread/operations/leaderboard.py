"""Run a leaderboard, in a folder or on the Hugging Face Hub.

STORE is a folder, or a dataset on the Hub (hf://datasets/ORG/NAME).

\b
Example:
  closeread leaderboard init board --corpus mctaco --config sample
  closeread leaderboard submit mctaco predictions.jsonl --config sample \\
    --system "My system" --to board
  closeread leaderboard judge board
  closeread leaderboard show board
  closeread leaderboard build board -o index.html
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from msgspec import structs, to_builtins

from closeread import parameters as arg
from closeread.corpus.names import find_corpus
from closeread.corpus.notices import warn_all
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
from closeread.files import take_path, write_text
from closeread.leaderboard.places import open_store
from closeread.parameters import Operations, Param, Written
from closeread.public_names import AnyCorpus

if TYPE_CHECKING:
    from closeread.counts.results import Result
    from closeread.leaderboard.declaration import Board, Leaderboard
    from closeread.leaderboard.judge import JudgingReport
    from closeread.leaderboard.page import Ranking
    from closeread.leaderboard.results import Arrival, Entry
    from closeread.leaderboard.store import FolderStore

Store = Annotated[str | Path, Param(kind="store")]
Destination = Annotated[Store, Param(metavar="STORE")]
File = Annotated[str | Path | None, Param(metavar="FILE")]
Link = Annotated[str | None, Param(metavar="URL")]
Time = Annotated[str | None, Param(metavar="TIME")]
HubName = Annotated[str | None, Param(metavar="ORG/NAME")]
Golds = Annotated[
    Sequence[str | Path],
    Param(metavar="[BOARD=]FILE", help="Use your own gold for a board; may be repeated."),
]
Names = Annotated[Sequence[str], Param(metavar="NAMES")]
Score = Annotated[str | None, Param(metavar="SCORE")]
Options = Annotated[Mapping[str, str] | None, Param(metavar="NAME=VALUE")]
Private = Annotated[bool | None, Param(flag="--private/--public")]
Output = Annotated[str | Path, arg.ToOutput]
PathOutput = Annotated[Output, Param(metavar="PATH")]
System = Annotated[str, Param(metavar="NAME")]
Model = Annotated[str | None, Param(metavar="ORG/MODEL")]
Report = Annotated[Callable[[str], None] | None, Param(kind="python")]


CONFLICTS = 20  # how often a leaderboard is judged anew because others commit


def init_leaderboard(
    store: Store,
    *,
    corpus: Annotated[AnyCorpus | None, Param(metavar="NAME")] = None,
    procedure: Annotated[AnyCorpus | None, Param(metavar="NAME")] = None,
    gold: File = None,
    config: arg.Config = None,
    split: arg.Split = None,
    title: str | None = None,
    metrics: Names = (),
    headline: Score = None,
    preset: arg.Name = None,
    option: Options = None,
    private: Private = None,
    per_day: arg.Limit = None,
    limit: arg.Limit = None,
    max_bytes: arg.Limit = None,
    counting: Literal["all", "best", "last", "chosen"] | None = None,
    opens: Time = None,
    closes: Time = None,
    late: Literal["refuse", "flag"] | None = None,
    reveal: Time = None,
    dataset: HubName = None,
    replace: bool = False,
) -> Written:
    """Create a leaderboard, or add a board.

    STORE is a folder, or a dataset on the Hub. A board ranks systems on a part of a corpus, or on gold of your own,
    which stays where it is. The phases of a task, such as development and test, are boards of one leaderboard.

    On the command line:
      closeread leaderboard init board --corpus mctaco --split test
      closeread leaderboard init board --procedure coref --gold key.conll
      closeread leaderboard init hf://datasets/ORG/NAME --corpus mctaco

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        corpus: Rank systems on this corpus.
        procedure: Rank systems by this procedure, on gold of your own.
        gold: Use your own gold; it is never copied into the store.
        config, split: the part of the corpus; None for the default.
        title: Give the leaderboard this title.
        metrics: Show these metrics; separate several by commas.
        headline: Rank by this score, such as 'conll/f1'.
        preset: Use the options and metrics of an official score.
        option: options of the procedure by name.
        private: Publish nothing about single units of the gold.  [default: private with your own gold]
        per_day: Refuse more submissions per author per day than these; days are those of UTC.  [default: 5]
        limit: Refuse more submissions per author in all than these.  [default: no limit]
        max_bytes: Refuse larger files of predictions.  [default: 50,000,000]
        counting: Which submissions of an author are ranked.  [default: all]
        opens: Refuse submissions before this date or time, by default in UTC; 'none' removes it.
        closes: Refuse submissions after this date or time, by default in UTC; 'none' removes it.
        late: Refuse what comes after the end, or score it with a flag and without a rank.  [default: refuse]
        reveal: Show no scores before this date or time, only which submissions are valid; 'none' removes it.
        dataset: Propose results of models for the benchmark of this dataset on the Hub.
        replace: Change a board that exists, which keeps what is not given; everything is scored again.

    Returns:
        What was created, and its signature, in words.

    >>> made = closeread.init_leaderboard("board", corpus="mctaco", config="sample")
    >>> print(str(made).splitlines()[0])
    board/leaderboard.json: board mctaco-sample/test, ranked by f1
    """
    from closeread.leaderboard.declaration import FILE, Leaderboard, Limits, make_board
    from closeread.leaderboard.sandbox import MEMORY_FILE, NEEDS_LINUX

    if (corpus is None) == (procedure is None):
        raise RequestError(fill_options("give either {corpus} or {procedure}"))
    scored = str(procedure) if corpus is None else find_corpus(corpus).name
    source = f"{store}/{FILE}"
    place: dict[str, Any] = {"gold": take_path(gold), "config": config, "split": split}
    options = dict(option or {})
    if preset:
        options["preset"] = preset
    declared: dict[str, Any] = {
        "options": options or None,
        "metrics": tuple(dict.fromkeys(metrics)) or None,
        "headline": headline,
        "private": private,
        "counting": counting,
        "opens": opens,
        "closes": closes,
        "late": late,
        "reveals": reveal,
        "dataset": dataset,
    }
    bounds = {"bytes": max_bytes, "per_day": per_day, "total": limit}
    settings = {name: value for name, value in declared.items() if value is not None}
    limits = {name: value for name, value in bounds.items() if value is not None}
    board = make_board(scored, **place, limits=Limits(**limits), **settings)
    with open_store(store) as opened:
        before = opened.find_leaderboard()
        if before is None:
            after = Leaderboard(title or board.title, {board.name: board})
            changes = []
        else:
            old = before.boards.get(board.name)
            if old is not None and replace:
                settings = _keep_settings(old, declared)
                limits = {**structs.asdict(old.limits), **limits}
                board = make_board(scored, **place, limits=Limits(**limits), **settings)
                # What the organiser has decided about teams stays.
                board = structs.replace(board, extended=old.extended, disqualified=old.disqualified)
            after = Leaderboard(title or before.title, before.boards).with_board(board)
            changes = _describe_changes(before, after, board.name)
        Leaderboard.from_bytes(after.to_bytes(), source)  # checks it
        if changes and not replace:
            use = f"use {choose_words('--replace', 'replace=True')} to change it"
            raise FormatError(source, [Problem(f"was not changed; {use}: {'; '.join(changes)}")])
        if after == before:
            done = [f"nothing changed, it has this board {board.name} already"]
        else:
            opened.write_leaderboard(after)
            opened.push("Declare the leaderboard")
            done = [f"board {board.name}, ranked by {board.headline}"]
            done += [f"before, {change}" for change in changes]
    if not MEMORY_FILE.exists():
        warn_all([f"this leaderboard can't be judged on this machine: {NEEDS_LINUX}"])
    lines = [*(f"{source}: {line}" for line in done), f"Signature: {board.signature}"]
    return Written(None, "\n".join(lines))


def _keep_settings(old: Board, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a board, with those of the one before where they are None.

    A preset has metrics of its own, and other metrics may not have the score that the board was ranked by.
    """
    settings = {}
    for name, value in declared.items():
        settings[name] = getattr(old, name) if value is None else value
    has_preset = "preset" in (declared["options"] or {})
    if has_preset:
        settings["metrics"] = declared["metrics"]
    if has_preset or declared["metrics"]:
        settings["headline"] = declared["headline"]
    return settings


def _describe_changes(before: Leaderboard, after: Leaderboard, board: str) -> list[str]:
    """Describe what differs between two declarations of a leaderboard and of one of its boards."""
    values = {"title": (before.title, after.title)}
    if board in before.boards:
        old, new = (to_builtins(leaderboard.boards[board]) for leaderboard in (before, after))
        old |= old.pop("limits")
        new |= new.pop("limits")
        values |= {f"{key} of {board}": (old[key], new[key]) for key in old}
    return [
        f"{name} is {quote_json(old_value)}, not {quote_json(new_value)}"
        for name, (old_value, new_value) in values.items()
        if old_value != new_value
    ]


def judge_leaderboard(
    store: Store,
    *,
    gold: Golds = (),
    workers: arg.Workers = None,
    cache: arg.Folder = None,
    report: Report = None,
) -> JudgingReport:
    """Score all new submissions, and rebuild the index.

    All new submissions to STORE are scored, recorded and answered. Run this by hand, from cron, or as a scheduled job.
    It may be killed at any time and run again: nothing is lost, and nothing is done twice.

    On the command line:
      closeread leaderboard judge board
      closeread leaderboard judge board --gold key.conll

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        gold: your own gold: a file; or several, each as "BOARD=FILE".
        workers: the number of processes; None for the number of cores.
        cache: the folder to keep counts in; None for the user's cache.
        report: called with a line about each submission as soon as it is judged, and about all of them.

    Returns:
        What was accepted, refused and withdrawn, and what could not be scored, a sentence each.

    >>> closeread.judge_leaderboard("board").errors
    ()
    """
    from closeread.hub.client import ConflictError
    from closeread.leaderboard.judge import judge
    from closeread.leaderboard.results import CountCache

    tell = report or (lambda line: None)
    counts = CountCache(take_path(cache))
    done = None
    for _ in range(CONFLICTS):
        with open_store(store) as opened, suppress(ConflictError):
            done = judge(
                opened,
                _read_golds(opened, gold),
                n_workers=workers or _count_cores(),
                cache=counts,
                progress=lambda kind, sentence: tell(f"{kind}: {sentence}"),
            )
            break
        tell(f"{store}: somebody else has committed meanwhile; judging again")
    if done is None:
        raise RequestError(f"{store}: others commit all the time; try again later")
    kinds = ("accepted", "refused", "withdrawn")
    numbers = [f"{len(getattr(done, kind)):,} {kind}" for kind in kinds]
    tell(f"{store}: {', '.join(numbers)}")
    return done


def show_leaderboard(store: Store, *, board: arg.Name = None) -> Ranking:
    """Print the ranking.

    JSON is the index from which the page is made, with slices and counts. CSV has a row for each score.

    On the command line:
      closeread leaderboard show board
      closeread leaderboard show board --json

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        board: Print this board only.

    Returns:
        The ranking, which prints itself as a table.

    >>> frame = closeread.show_leaderboard("board").to_frame()
    >>> frame["system"][0]
    'always-positive'
    """
    from closeread.leaderboard.page import Ranking

    with open_store(store) as opened:
        ranking = Ranking(opened.read_index())
    return ranking if board is None else ranking.select(board)


def build_leaderboard(store: Store, *, output: Output, gold: Golds = ()) -> Written:
    """Write the page of a leaderboard.

    The page is one HTML file, which needs no server and no network. On boards of coreference with public gold, it links
    a page with the mentions of each system, written to the folder systems beside it.

    On the command line:
      closeread leaderboard build board -o index.html

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        output: the file to write.
        gold: as for `closeread.judge_leaderboard`; pages of systems need it.

    Returns:
        The file, and its size.

    >>> print(closeread.build_leaderboard("board", output="index.html"))
    index.html: ... bytes
    """
    file = Path(output)
    with open_store(store) as opened:
        pages = draw_pages(opened, gold, address=str(store))
    for place, text in pages.systems.items():
        path = file.parent / place
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    write_text(file, pages.page)
    return Written(file, f"{len(pages.page.encode()):,} bytes")


class Pages(NamedTuple):
    """The page of a leaderboard.

    Attributes:
        index: what it is made from.
        page: the page.
        systems: the pages that it links, by their places beside it.
    """

    index: Any
    page: str
    systems: dict[str, str]


def draw_pages(store: FolderStore, golds: Sequence[str | Path], *, address: str) -> Pages:
    """Draw the page of a leaderboard, which names its address, and those of its systems."""
    from closeread.leaderboard.mentions import draw_systems, name_page
    from closeread.leaderboard.page import render_page

    index = store.read_index()
    systems = draw_systems(store, index, _read_golds(store, golds))
    links = {submission: name_page(submission) for submission in systems}
    page = render_page(index, address=address, pages=links)
    return Pages(index, page, {links[submission]: text for submission, text in systems.items()})


def list_submissions(store: Store) -> Result:
    """List all submissions and what became of them.

    The problems of refused submissions are listed, too.

    On the command line:
      closeread leaderboard status board

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.

    Returns:
        A row for each submission, in tables which print themselves.

    >>> closeread.list_submissions("board").to_dict()["submissions"][0]["status"]
    'accepted'
    """
    from closeread.leaderboard.page import Submissions

    with open_store(store) as opened:
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

    On the command line:
      closeread leaderboard download board 3f9a1c0d2b7e -o predictions.jsonl

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        submission: the id of the submission, or its first characters.
        output: Write to this path.

    Returns:
        The file or the folder, and the id.

    >>> name = closeread.list_submissions("board").to_dict()["submissions"][0]["id"]
    >>> print(closeread.download_submission("board", name, output="again.jsonl"))
    again.jsonl: predictions of ...
    """
    from closeread.leaderboard.results import find_by_start
    from closeread.leaderboard.submission import write_predictions

    with open_store(store) as opened:
        leaderboard = opened.read_leaderboard()
        entry = find_by_start(submission, opened.read_results(leaderboard).entries)
        path = entry.describe().predictions
        limit = leaderboard.find(entry.board).limits.bytes
        write_predictions(Path(output), opened.read_predictions(path, limit), path)
    return Written(Path(output), f"predictions of {entry.submission[:12]}")


def withdraw_submission(store: Store, submission: str, *, author: arg.Name = None) -> Written:
    """Withdraw one of your submissions.

    The next run of the judge takes it off the board, or does not judge it. SUBMISSION is an id, or its first
    characters. Only its author can withdraw it.

    On the command line:
      closeread leaderboard withdraw board 3f9a1c0d2b7e

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        submission: the id of the submission, or its first characters.
        author: Withdraw for this author, from a folder.  [default: the user]

    Returns:
        What was done, in words.

    >>> name = closeread.list_submissions("board").to_dict()["submissions"][0]["id"]
    >>> "withdrawn with the next run" in str(closeread.withdraw_submission("board", name, author="ann"))
    True
    """
    return _ask(store, submission, author, "withdrawals")


def choose_submission(store: Store, submission: str, *, author: arg.Name = None) -> Written:
    """Choose which of your submissions is ranked.

    This is for boards with --counting chosen, on which the last submission is ranked unless its author chooses another.
    SUBMISSION is an id, or its first characters. The next run of the judge takes the choice over.

    On the command line:
      closeread leaderboard choose board 3f9a1c0d2b7e

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        submission: the id of the submission, or its first characters.
        author: Choose for this author, in a folder.  [default: the user]

    Returns:
        What was done, in words.

    >>> print(closeread.choose_submission("board", "3f9a1c0d2b7e", author="ann"))  # doctest: +SKIP
    3f9a1c0d2b7e: chosen with the next run of the judge (board/choices/...)
    """
    return _ask(store, submission, author, "choices")


def _ask(
    store: str | Path, start: str, author: str | None, kind: Literal["withdrawals", "choices"]
) -> Written:
    """Ask the judge to withdraw or to choose a submission, by the first characters of its id."""
    from closeread.leaderboard.results import Entry, find_by_start
    from closeread.leaderboard.store_files import store_path
    from closeread.leaderboard.submission import request_bytes

    verb, done = ("Withdraw", "withdrawn") if kind == "withdrawals" else ("Choose", "chosen")
    with open_store(store) as opened:
        leaderboard = opened.read_leaderboard()
        results = opened.read_results(leaderboard)
        arrivals = opened.list_arrivals(leaderboard, results)
        waiting = {
            arrival.submission: arrival for arrival in arrivals if arrival.kind == "submissions"
        }
        everything: dict[str, Entry | Arrival] = {**waiting, **results.entries}
        submission = find_by_start(start, everything)
        name = submission.submission[:12]
        if isinstance(submission, Entry):
            if submission.status != "accepted":
                raise RequestError(f"submission {name} is {submission.status} already")
        elif submission.source is not None:
            raise RequestError(
                f"{name} is not judged yet; close the pull request {submission.source}"
            )
        if kind == "choices" and leaderboard.find(submission.board).counting != "chosen":
            raise RequestError(f"authors don't choose what {submission.board} ranks")
        user = opened.name_author(author)
        if user != submission.author:
            owner = f"was submitted by {quote(submission.author)}, not by {quote(user)}"
            raise SubmissionError(name, [Problem(f"{owner}; its author alone decides about it")])
        # A choice that is made again is a new one, since the latest counts; a withdrawal is not.
        requests = [(arrival.kind, arrival.submission, arrival.author) for arrival in arrivals]
        if kind == "withdrawals" and (kind, submission.submission, user) in requests:
            return Written(None, f"{name}: its withdrawal was asked for before")
        content = request_bytes(submission.submission, opened.sign(author))
        files = {store_path(kind, submission.board, submission.submission): content}
        receipt = opened.send(files, f"{verb} submission {name}", f"{done.title()} by its author.")
    when = f"{done} with the next run of the judge"
    return Written(
        None, f"{name}: {when if receipt.is_new else f'has been {done} before'} ({receipt.place})"
    )


def disqualify_submissions(
    store: Store, name: str, *, reason: str | None = None, lift: bool = False
) -> Written:
    """Show the submissions of a team, or one of them, without a rank.

    NAME is an author, or the id of a submission or its first characters. Run the judge to see the change.

    On the command line:
      closeread leaderboard disqualify board team-a --reason "trained on the test set"

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        name: an author, or the id of a submission or its first characters.
        reason: Say why, on the page.
        lift: Rank them again.

    Returns:
        What was changed, in words.

    >>> print(closeread.disqualify_submissions("board", "ann", reason="trained on the test set"))
    board: ann is disqualified
    """
    if (reason is None) != lift:
        raise RequestError(fill_options("give either {reason} or {lift}"))

    def change(board: Board, entries: Mapping[str, Entry]) -> Board:
        authors = {entry.author for entry in entries.values()}
        key = name if name in authors else find_by_start(name, entries).submission
        disqualified = dict(board.disqualified)
        disqualified.pop(key, None)
        if reason is not None:
            disqualified[key] = reason
        return structs.replace(board, disqualified=disqualified)

    from closeread.leaderboard.results import find_by_start

    done = "is ranked again" if lift else "is disqualified"
    return _change_boards(store, change, f"{name} {done}")


def extend_deadline(store: Store, author: str, *, until: Time, board: arg.Name = None) -> Written:
    """Extend the end for one team.

    On the command line:
      closeread leaderboard extend board team-a --until 2027-02-02

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        author: the team.
        until: Take submissions of this author until this date or time, by default in UTC.
        board: Extend the end of this board only.

    Returns:
        What was changed, in words.

    >>> print(closeread.extend_deadline("board", "ann", until="2027-02-02"))  # boards of this one have no end
    board: nothing changed
    """
    from closeread.leaderboard.declaration import END_OF_DAY, parse_time

    if until is None:
        raise RequestError(fill_options("{until} is needed"))
    end = parse_time(until, END_OF_DAY)

    def change(declared: Board, entries: Mapping[str, Entry]) -> Board:
        if declared.closes is None or board not in (None, declared.name):
            return declared
        return structs.replace(declared, extended={**declared.extended, author: end})

    return _change_boards(store, change, f"{author} may submit until {end}")


def _change_boards(
    store: str | Path, change: Callable[[Board, Mapping[str, Entry]], Board], done: str
) -> Written:
    """Change the boards of a leaderboard, by a function of a board and its entries."""

    with open_store(store) as opened:
        before = opened.read_leaderboard()
        entries = opened.read_results(before).entries
        boards = {name: change(board, entries) for name, board in before.boards.items()}
        after = structs.replace(before, boards=boards)
        if after != before:
            opened.write_leaderboard(after)
            opened.push("Change the leaderboard")
    return Written(None, f"{store}: {done if after != before else 'nothing changed'}")


def _read_golds(store: FolderStore, values: Sequence[str | Path]) -> dict[str, Path]:
    """Return the gold of each board from `[BOARD=]FILE`; without a name, a file is that of the only board."""
    boards = list(store.read_leaderboard().boards)
    golds: dict[str, Path] = {}
    for value in values:
        name, equals, path = str(value).partition("=")
        if equals and name in boards:
            golds[name] = Path(path)
        elif len(boards) == 1:
            golds[boards[0]] = Path(value)
        else:
            names = ", ".join(boards)
            raise RequestError(
                f"{name_option('gold', str(value))} does not name its board "
                f"(expected BOARD=FILE; boards: {names})"
            )
    return golds


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


OPERATIONS: Operations = {
    "leaderboard": {
        "init": init_leaderboard,
        "judge": judge_leaderboard,
        "show": show_leaderboard,
        "build": build_leaderboard,
        "status": list_submissions,
        "download": download_submission,
        "withdraw": withdraw_submission,
        "choose": choose_submission,
        "disqualify": disqualify_submissions,
        "extend": extend_deadline,
    },
}
