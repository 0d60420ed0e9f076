"""What the scoring program of a bundle does once closeread can be imported.

Scores go to `scores.json`, and what participants may know beyond them to `detailed_results.html`.  Participants see
both, and all that is printed, so nothing of private gold and nothing about a single unit of it is ever written: slices
are left out if they are small, an error that is not about the submission is reported by its place in the code only, and
of coreference there are the mentions of the submission and how many errors there are of each kind.  The archive comes
from a participant, so links are refused, and sizes are checked before anything is read.
"""

from __future__ import annotations

import html
import json
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from os.path import commonpath
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import find_folders
from closeread.counts.report import Report, report_grid
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advising_only,
    join_names,
    pluralize,
    word_for_command_line,
)
from closeread.files import write_text
from closeread.formats.folders import is_about_folder, walk_files
from closeread.leaderboard.declaration import FILE, Board, Leaderboard
from closeread.leaderboard.mentions import draw_mentions, has_mentions
from closeread.leaderboard.names import show_safely
from closeread.leaderboard.scoring import score_predictions
from closeread.leaderboard.submission import PACKED, find_suffix, pack_files, read_limited
from closeread.scoring import Scorer
from closeread.tables import draw_html

# the folders of the input
REFERENCE = "ref"
RESULT = "res"
# the files of the output
SCORES = "scores.json"
DETAILS = "detailed_results.html"
SOURCE = "submission"  # the name of the folder in messages
WORKER_FILE = "metadata"  # the file that Codabench's worker adds to every submission
MAC_FOLDER = "__MACOSX/"  # added to archives by macOS


def run(source: str, output: str, program: str) -> int:
    """Score the submission in an input folder by the program's folder; return 0, or 1 if it can't be scored."""
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    title = "Not scored"

    def fail(message: str) -> int:
        print(message, file=sys.stderr)
        lines = "\n".join(html.escape(show_safely(line)) for line in message.split("\n"))
        page = _draw_page(title, f"<h2>Not scored</h2>\n<pre>{lines}</pre>")
        write_text(Path(output) / DETAILS, page)
        return 1

    def blame_organisers(message: str, error: Exception) -> int:
        """Tell the kind of an error and its place in the code; its message may quote the gold."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__}, {Path(place.filename).name}:{place.lineno}"
        verdict = "The submission is not at fault; please tell the organisers."
        return fail(f"{message} ({kind}). {verdict}")

    try:
        path = Path(program) / FILE
        board = Leaderboard.from_bytes(path.read_bytes(), path).find(None)
        # The gold is the only file, or folder, that is not hidden.
        files = (Path(source) / REFERENCE).iterdir()
        (gold,) = (file for file in files if not file.name.startswith("."))
        scorer = board.open_scorer(gold)
    except Exception as error:
        return blame_organisers("The gold can't be read", error)
    title = board.title
    try:
        with word_for_command_line(), advising_only(()):
            report, page = _score(board, scorer, Path(source) / RESULT, is_folder=gold.is_dir())
    except (InputError, RequestError) as error:
        return fail(str(error))
    except Exception as error:
        return blame_organisers("Scoring failed", error)
    write_text(Path(output) / DETAILS, page or _draw_results(board, report))
    # An undefined score is 0: Codabench would rank a submission without a value above all others.
    scores = {
        column_key(name): round(100 * (score["value"] or 0.0), 2)
        for name, score in report["scores"].items()
    }
    write_text(Path(output) / SCORES, json.dumps(scores, indent=1) + "\n")
    return 0


def column_key(metric: str) -> str:
    """Return the key of the column with a score."""
    return metric.replace("/", "_")


def accepts_folders(board: Board) -> bool:
    """Return whether the predictions of a board may be a folder of files."""
    return board.corpus is None or bool(find_folders(load_corpus(board.corpus)))


def _score(
    board: Board, scorer: Scorer, folder: Path, *, is_folder: bool
) -> tuple[Mapping[str, Any], str | None]:
    """Score an unpacked submission; return the publishable part of its report, as JSON, and a page with its mentions.

    If the gold is a folder (`is_folder`), a single file is a folder of one.
    """
    files = _find_files(folder)
    is_file = len(files) == 1 and not is_folder
    source = f"{SOURCE}/{next(iter(files))}" if is_file else SOURCE
    try:
        content, suffix = _read_files(board, files, is_file=is_file)
        _, record = score_predictions(board, scorer, "codabench", suffix, content)
    except InputError as error:
        raise SubmissionError(source, error.problems) from None
    page = None
    if has_mentions(board):
        page = draw_mentions(board, scorer, SOURCE, suffix, content)
    return record.report, page


def _find_files(folder: Path) -> dict[str, Path]:
    """Return the files of a submission by their paths in it, without those that nobody has submitted."""
    try:
        files, problems = walk_files(folder)
    except FormatError as error:
        raise SubmissionError(SOURCE, error.problems) from None
    submitted = {}
    for name, path in files.items():
        is_added = name == WORKER_FILE or name.startswith(MAC_FOLDER) or is_about_folder(name)
        if not is_added:
            submitted[name] = path
    if not submitted and not problems:
        problems = [Problem("contains no files (expected a zip file with the predictions)")]
    if problems:
        raise SubmissionError(SOURCE, problems)
    return submitted


def _read_files(board: Board, files: Mapping[str, Path], *, is_file: bool) -> tuple[bytes, str]:
    """Return the predictions as bytes, and the suffix that says what they are."""
    limit = board.limits.bytes
    if is_file:
        ((name, path),) = files.items()
        return read_limited(path, limit), find_suffix(name)
    if not accepts_folders(board):
        number = pluralize(len(files), "file")
        names = join_names(list(files))
        problem = Problem(f"has {number} (expected one file of predictions): {names}")
        raise SubmissionError(SOURCE, [problem])
    # Archives often have everything in one folder.
    paths = {PurePosixPath("/", name): path for name, path in files.items()}
    top = commonpath([name.parent for name in paths])
    inside = {name.relative_to(top).as_posix(): path for name, path in paths.items()}
    return pack_files(inside, limit, SOURCE), PACKED


def _draw_results(board: Board, published: Mapping[str, Any]) -> str:
    """Return the page with the scores of a submission: the table of its report."""
    report = Report.from_json(published)._with_titles(board.procedure)
    table = replace(report_grid(report, "markdown"), title="")
    body = f"{draw_html(table)}<p>Scored by closeread {published['closeread']}.</p>"
    undefined = [report.name_score(name) for name in report.scores if report[name].value is None]
    if undefined:
        names = html.escape(", ".join(undefined))
        body += f"\n<p>Undefined (0/0), and 0 on the leaderboard: {names}.</p>"
    return _draw_page(board.title, body)


def _draw_page(title: str, body: str) -> str:
    text = Path(__file__).with_name("results.html").read_text("utf-8")
    return Template(text).substitute(title=html.escape(show_safely(title)), body=body)
