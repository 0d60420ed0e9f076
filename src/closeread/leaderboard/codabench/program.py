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
from typing import Any

from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import find_folders
from closeread.exceptions import FormatError, InputError, Problem, RequestError, SubmissionError, join_names, pluralize
from closeread.files import write_text
from closeread.formats.folders import walk_files
from closeread.leaderboard.declaration import FILE, Board, Leaderboard
from closeread.leaderboard.names import show_safely
from closeread.leaderboard.scoring import score_predictions
from closeread.leaderboard.submission import PACKED, find_suffix, pack_files, read_limited
from closeread.scoring import Scorer
from closeread.tables import Grid, draw_html, percent
from closeread.wording import word_for_command_line

REFERENCE, RESULT = "ref", "res"
"""The folders of the input: the reference data, and the unpacked submission."""

SCORES, DETAILS = "scores.json", "detailed_results.html"
ORGANISERS = "The submission is not at fault; please tell the organisers."

SOURCE = "submission"
"""What messages call the folder."""

WORKER_FILE = "metadata"
"""The file that Codabench's worker adds to every submission."""

MAC_FOLDER = "__MACOSX/"
"""What macOS adds to archives."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
caption {{ font-weight: bold; text-align: left; }}
td {{ border-bottom: 1px solid GrayText; font-variant-numeric: tabular-nums; padding: 0.2rem 0.8rem 0.2rem 0; }}
pre, code {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def run(source: str, output: str, program: str) -> int:
    """Score a submission; return the exit code: 0, or 1 if it can't be scored.

    Args:
        source: the folder of the input.
        output: the folder to write to.
        program: the folder of the scoring program.
    """
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        path = Path(program) / FILE
        board = Leaderboard.from_bytes(path.read_bytes(), path).find(None)
        # The gold is the only file, or folder, that is not hidden.
        (gold,) = (one for one in (Path(source) / REFERENCE).iterdir() if not one.name.startswith("."))
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


def judge(board: Board, scorer: Scorer, folder: Path, *, is_folder: bool) -> Mapping[str, Any]:
    """Score a submission, and return what may be published, as the JSON of a report.

    Args:
        board: the board.
        scorer: the scorer of its gold.
        folder: the unpacked submission.
        is_folder: whether the gold is a folder, so that a single file is a folder of one.
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
    """Say why a submission is not scored, a reason a line; return the exit code."""
    print(what, file=sys.stderr)
    lines = "\n".join(html.escape(show_safely(line)) for line in what.split("\n"))
    page = PAGE.format(title=html.escape(show_safely(title)), body=f"<h2>Not scored</h2>\n<pre>{lines}</pre>")
    write_text(output / DETAILS, page)
    return 1


def find_files(folder: Path) -> dict[str, Path]:
    """Return the files of an unpacked submission by their path in it."""
    try:
        files, problems = walk_files(folder)
    except FormatError as error:
        raise SubmissionError(SOURCE, error.problems) from None
    files = {name: path for name, path in files.items() if name != WORKER_FILE and not name.startswith(MAC_FOLDER)}
    if not files and not problems:
        problems = [Problem("contains no files (expected a zip file with the predictions)")]
    if problems:
        raise SubmissionError(SOURCE, problems)
    return files


def read_predictions(files: dict[str, Path], board: Board, *, is_folder: bool) -> tuple[bytes, str]:
    """Read predictions as the judge gets them, a file or a packed folder, with a name whose suffix says what they are.

    With `is_folder`, a single file is a folder of one.
    """
    if len(files) == 1 and not is_folder:
        ((name, path),) = files.items()
        return read_limited(path, board.limits.bytes), find_suffix(name)
    if not accepts_folders(board):
        found = f"has {pluralize(len(files), 'file')} (expected one file of predictions): {join_names(list(files))}"
        raise SubmissionError(SOURCE, [Problem(found)])
    paths = {PurePosixPath("/", name): path for name, path in files.items()}
    top = commonpath([name.parent for name in paths])
    inside = {name.relative_to(top).as_posix(): path for name, path in paths.items()}
    return pack_files(inside, board.limits.bytes, SOURCE), PACKED


def accepts_folders(board: Board) -> bool:
    """Return whether the predictions of a board may be a folder of files."""
    return board.corpus is None or bool(find_folders(load_corpus(board.corpus)))


def results_page(board: Board, report: Mapping[str, Any]) -> str:
    """Return the page with the scores of a submission, from those that may be published, as the JSON of a report."""
    titles = {metric.name: metric.title for metric in board.procedure.metrics}

    def format_score(score: Mapping[str, Any]) -> list[str]:
        low, high = score["low"], score["high"]
        return [percent(score["value"]), percent(None) if low is None else f"{percent(low)}–{percent(high)}"]

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
        parts.append(f"<p>Undefined (0/0), and 0 on the leaderboard: {html.escape(', '.join(undefined))}.</p>")
    parts.append(f"<p>Signature: <code>{html.escape(show_safely(report['signature']))}</code></p>")
    return PAGE.format(title=html.escape(show_safely(board.title)), body="\n".join(parts))
