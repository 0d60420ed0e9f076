"""What the scoring program of a bundle does once closeread can be imported.

Scores go to `scores.json`, and what participants may know beyond them to `detailed_results.html`.  Participants see
both, and all that is printed, so nothing of the gold and nothing about a single unit is ever written: slices are left
out if they are small, and an error that is not about the submission is reported by its place in the code only.  The
archive comes from a participant, so links are refused, and sizes are checked before anything is read.
"""

from __future__ import annotations

import html
import json
import sys
import traceback
from collections.abc import Mapping
from os.path import commonpath
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import find_folders
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
from closeread.files import package_folder, write_text
from closeread.formats.folders import is_about_folder, walk_files
from closeread.leaderboard.declaration import FILE, Board, Leaderboard
from closeread.leaderboard.names import show_safely
from closeread.leaderboard.scoring import score_predictions
from closeread.leaderboard.submission import PACKED, find_suffix, pack_files, read_limited
from closeread.scoring import Scorer
from closeread.tables import Grid, draw_html, percent

REFERENCE, RESULT = "ref", "res"  # the folders of the input
SCORES, DETAILS = "scores.json", "detailed_results.html"
SOURCE = "submission"  # the name of the folder in messages
WORKER_FILE = "metadata"  # the file that Codabench's worker adds to every submission
MAC_FOLDER = "__MACOSX/"  # added to archives by macOS


def run(source: str, output: str, program: str) -> int:
    """Score the submission in an input folder by the program's folder; return 0, or 1 if it can't be scored."""
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    title = "Not scored"

    def fail(what: str) -> int:
        print(what, file=sys.stderr)
        lines = "\n".join(html.escape(show_safely(line)) for line in what.split("\n"))
        page = _draw_page(title, f"<h2>Not scored</h2>\n<pre>{lines}</pre>")
        write_text(Path(output) / DETAILS, page)
        return 1

    def blame_organisers(what: str, error: Exception) -> int:
        """Tell the kind of an error and its place in the code; its message may quote the gold."""
        *_, place = traceback.extract_tb(error.__traceback__)
        found = f"{type(error).__name__}, {Path(place.filename).name}:{place.lineno}"
        return fail(
            f"{what} ({found}). The submission is not at fault; please tell the organisers."
        )

    try:
        path = Path(program) / FILE
        board = Leaderboard.from_bytes(path.read_bytes(), path).find(None)
        # The gold is the only file, or folder, that is not hidden.
        (gold,) = (
            one for one in (Path(source) / REFERENCE).iterdir() if not one.name.startswith(".")
        )
        scorer = board.open_scorer(gold)
    except Exception as error:
        return blame_organisers("The gold can't be read", error)
    title = board.title
    try:
        with word_for_command_line(), advising_only(()):
            report = _score(board, scorer, Path(source) / RESULT, is_folder=gold.is_dir())
    except (InputError, RequestError) as error:
        return fail(str(error))
    except Exception as error:
        return blame_organisers("Scoring failed", error)
    write_text(Path(output) / DETAILS, _draw_results(board, report))
    # An undefined score is 0: Codabench would rank a submission without a value above all others.
    scores = {
        column_key(name): round(100 * (one["value"] or 0.0), 2)
        for name, one in report["scores"].items()
    }
    write_text(Path(output) / SCORES, json.dumps(scores, indent=1) + "\n")
    return 0


def column_key(metric: str) -> str:
    """Return the key of the column with a score."""
    return metric.replace("/", "_")


def accepts_folders(board: Board) -> bool:
    """Return whether the predictions of a board may be a folder of files."""
    return board.corpus is None or bool(find_folders(load_corpus(board.corpus)))


def _score(board: Board, scorer: Scorer, folder: Path, *, is_folder: bool) -> Mapping[str, Any]:
    """Score an unpacked submission; return the publishable part of its report, as JSON.

    If the gold is a folder (`is_folder`), a single file is a folder of one.
    """
    try:
        files, problems = walk_files(folder)
    except FormatError as error:
        raise SubmissionError(SOURCE, error.problems) from None
    files = {
        name: path
        for name, path in files.items()
        if name != WORKER_FILE and not name.startswith(MAC_FOLDER) and not is_about_folder(name)
    }
    if not files and not problems:
        problems = [Problem("contains no files (expected a zip file with the predictions)")]
    if problems:
        raise SubmissionError(SOURCE, problems)
    is_file = len(files) == 1 and not is_folder
    try:
        if is_file:
            ((name, path),) = files.items()
            data, suffix = read_limited(path, board.limits.bytes), find_suffix(name)
        elif not accepts_folders(board):
            found = f"has {pluralize(len(files), 'file')} (expected one file of predictions): {join_names(list(files))}"
            raise SubmissionError(SOURCE, [Problem(found)])
        else:
            paths = {PurePosixPath("/", name): path for name, path in files.items()}
            top = commonpath([name.parent for name in paths])
            inside = {name.relative_to(top).as_posix(): path for name, path in paths.items()}
            data, suffix = pack_files(inside, board.limits.bytes, SOURCE), PACKED
        _, record = score_predictions(board, scorer, "codabench", suffix, data)
    except InputError as error:
        raise SubmissionError(f"{SOURCE}/{name}" if is_file else SOURCE, error.problems) from None
    return record.report


def _draw_results(board: Board, report: Mapping[str, Any]) -> str:
    """Return the page with the scores of a submission."""
    titles = {metric.name: metric.title for metric in board.procedure.metrics}

    def format_score(score: Mapping[str, Any]) -> list[str]:
        low, high = score["low"], score["high"]
        return [
            percent(score["value"]),
            percent(None) if low is None else f"{percent(low)}–{percent(high)}",
        ]

    rows = [[titles[name], *format_score(score)] for name, score in report["scores"].items()]
    grids = [Grid("Scores", ["Score", "Value", "Interval"], rows)]
    for field, values in report["slices"].items():
        rows = [
            [value, f"{one['n_units']:,}", *format_score(one["scores"][board.headline])]
            for value, one in values.items()
            if board.headline in one["scores"]
        ]
        if values:
            title = titles[board.headline]
            grids.append(Grid(f"{title} by {field}", [field, "Units", title, "Interval"], rows))
    missing = f" Without a prediction: {report['missing']:,}." if report["missing"] else ""
    about = (
        f"{pluralize(report['n_units'], report['unit'])}, scored by closeread {report['closeread']}; "
        f"{report['confidence']:.0%} bootstrap intervals over {report['resampling_unit']}s.{missing}"
    )
    undefined = [titles[name] for name, score in report["scores"].items() if score["value"] is None]
    parts = [f"<p>{html.escape(about)}</p>", *map(draw_html, grids)]
    if undefined:
        parts.append(
            f"<p>Undefined (0/0), and 0 on the leaderboard: {html.escape(', '.join(undefined))}.</p>"
        )
    parts.append(f"<p>Signature: <code>{html.escape(show_safely(report['signature']))}</code></p>")
    return _draw_page(board.title, "\n".join(parts))


def _draw_page(title: str, body: str) -> str:
    text = (package_folder("closeread.leaderboard.codabench") / "pages" / "results.html").read_text(
        "utf-8"
    )
    return Template(text).substitute(title=html.escape(show_safely(title)), body=body)
