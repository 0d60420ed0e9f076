"""What the scoring program of a bundle does once closeread can be imported.

Scores go to `scores.json`, and what participants may know beyond them to `detailed_results.html`.  Participants see
both, and all that is printed, so nothing of the gold and nothing about a single unit is ever written: slices are left
out if they are small, and an error that is not about the submission is reported by its place in the code only.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from closeread.exceptions import FormatError, InputError, Problem, RequestError, SubmissionError
from closeread.files import write_text
from closeread.leaderboard.codabench.predictions import SOURCE, find_files, read_predictions
from closeread.leaderboard.codabench.results_page import failure_page, results_page
from closeread.leaderboard.declaration import FILE, Board, Leaderboard
from closeread.leaderboard.scoring import score_predictions
from closeread.scoring import Scorer
from closeread.wording import word_for_command_line

REFERENCE, RESULT = "ref", "res"
"""The folders of the input: the reference data, and the unpacked submission."""

SCORES, DETAILS = "scores.json", "detailed_results.html"
ORGANISERS = "The submission is not at fault; please tell the organisers."


def run(source: str, output: str, program: str) -> int:
    """Score a submission.

    Args:
        source: the folder of the input.
        output: the folder to write to.
        program: the folder of the scoring program.

    Returns:
        The exit code: 0, or 1 if the submission can't be scored.
    """
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        board = read_board(Path(program))
        gold = find_reference(Path(source) / REFERENCE)
        scorer = board.open_scorer(gold)
    except Exception as error:  # its message may quote the gold
        return _fail(Path(output), "Not scored", f"The gold can't be read ({describe_place(error)}). {ORGANISERS}")
    try:
        with word_for_command_line():
            report = judge(board, scorer, Path(source) / RESULT, is_folder=gold.is_dir())
    except (InputError, RequestError) as error:
        return _fail(Path(output), board.title, str(error))
    except Exception as error:  # its message may quote the gold
        return _fail(Path(output), board.title, f"Scoring failed ({describe_place(error)}). {ORGANISERS}")
    write_text(Path(output) / DETAILS, results_page(board, report))
    write_text(Path(output) / SCORES, json.dumps(make_scores(report), indent=1) + "\n")
    return 0


def read_board(program: Path) -> Board:
    """Read what is scored, and how.

    Raises:
        FormatError: the program's declaration is not one.
    """
    path = program / FILE
    return Leaderboard.from_bytes(path.read_bytes(), path).find(None)


def find_reference(folder: Path) -> Path:
    """Return the file or the folder of the gold: the only one that is not hidden.

    Raises:
        FormatError: there is none, or there are several.
    """
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if len(found) != 1:
        raise FormatError(folder, [Problem(f"has {len(found)} files (expected 1)")])
    return found[0]


def judge(board: Board, scorer: Scorer, folder: Path, *, is_folder: bool) -> Mapping[str, Any]:
    """Score a submission, and return what may be published, as the JSON of a report.

    Args:
        board: the board.
        scorer: the scorer of its gold.
        folder: the unpacked submission.
        is_folder: whether the gold is a folder, so that a single file is a folder of one.

    Raises:
        InputError: the submission is invalid; all problems at once.
    """
    files = find_files(folder)
    shown = SOURCE if is_folder or len(files) > 1 else f"{SOURCE}/{next(iter(files))}"
    try:
        data, path = read_predictions(files, board, is_folder=is_folder)
        _, record = score_predictions(board, scorer, "codabench", path, data)
    except InputError as error:
        raise SubmissionError(shown, error.problems) from None
    return record.report


def make_scores(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores for the columns of the leaderboard, times 100 with two decimals.

    An undefined score is 0: Codabench would rank a submission without a value above all others.

    >>> make_scores({"scores": {"muc/f1": {"value": 0.61239}, "uprep": {"value": None}}})
    {'muc_f1': 61.24, 'uprep': 0.0}
    """
    return {column_key(name): round(100 * (score["value"] or 0.0), 2) for name, score in report["scores"].items()}


def column_key(metric: str) -> str:
    """Return the key of the column with a score.

    >>> column_key("muc/f1")
    'muc_f1'
    """
    return metric.replace("/", "_")


def describe_place(error: BaseException) -> str:
    """Return the kind of an error and its place in the code, without its message.

    >>> describe_place(KeyError("gold"))
    'KeyError'
    """
    places = [f"{Path(place.filename).name}:{place.lineno}" for place in traceback.extract_tb(error.__traceback__)]
    return ", ".join([type(error).__name__, *places[-1:]])


def _fail(output: Path, title: str, what: str) -> int:
    print(what, file=sys.stderr)
    write_text(output / DETAILS, failure_page(title, what))
    return 1
