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
from collections.abc import Iterable, Mapping, Sequence
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
from closeread.tables import NOTHING
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
th, td {{ border-bottom: 1px solid GrayText; padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; }}
td {{ font-variant-numeric: tabular-nums; }}
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
    """Read what is scored, and how."""
    path = program / FILE
    return Leaderboard.from_bytes(path.read_bytes(), path).find(None)


def find_reference(folder: Path) -> Path:
    """Return the file or the folder of the gold: the only one that is not hidden."""
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
    """Read predictions as the judge gets them: a file, or a packed folder.

    Args:
        files: the files of the submission.
        board: what it is for.
        is_folder: whether a single file is a folder of one.

    Returns:
        The bytes, and a name whose suffix says what they are.
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


def failure_page(title: str, what: str) -> str:
    """Return the page that says why a submission was not scored.

    Args:
        title: the name of the board.
        what: the reasons, one a line.
    """
    lines = "\n".join(map(_escape, what.split("\n")))
    return PAGE.format(title=_escape(title), body=f"<h2>Not scored</h2>\n<pre>{lines}</pre>")


def results_page(board: Board, report: Mapping[str, Any]) -> str:
    """Return the page with the scores of a submission.

    Args:
        board: the board.
        report: the scores that may be published, as the JSON of a report.
    """
    parts = [_summary(report), _scores_table("Scores", board, report["scores"])]
    for field, values in report["slices"].items():
        if values:
            parts.append(_slices_table(field, board, values))
    undefined = [name for name, score in report["scores"].items() if score["value"] is None]
    if undefined:
        names = ", ".join(_title(board, name) for name in undefined)
        parts.append(f"<p>Undefined (0/0), and 0 on the leaderboard: {_escape(names)}.</p>")
    parts.append(f"<p>Signature: <code>{_escape(report['signature'])}</code></p>")
    return PAGE.format(title=_escape(board.title), body="\n".join(parts))


def _summary(report: Mapping[str, Any]) -> str:
    units = f"{report['n_units']:,} {report['unit']}{'' if report['n_units'] == 1 else 's'}"
    how = f"{report['confidence']:.0%} bootstrap intervals over {report['resampling_unit']}s"
    missing = f" Without a prediction: {report['missing']:,}." if report["missing"] else ""
    version = f"scored by closeread {report['closeread']}"
    return f"<p>{_escape(f'{units}, {version}; {how}.{missing}')}</p>"


def _scores_table(caption: str, board: Board, scores: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [[_title(board, name), _value(score), _interval(score)] for name, score in scores.items()]
    return _table(caption, ["Score", "Value", "Interval"], rows)


def _slices_table(field: str, board: Board, values: Mapping[str, Mapping[str, Any]]) -> str:
    found = {value: one["scores"].get(board.headline) for value, one in values.items()}
    rows = [
        [value, f"{values[value]['n_units']:,}", _value(score), _interval(score)]
        for value, score in found.items()
        if score is not None
    ]
    title = _title(board, board.headline)
    return _table(f"{title} by {field}", [field, "Units", title, "Interval"], rows)


def _title(board: Board, name: str) -> str:
    return next(metric.title for metric in board.procedure.metrics if metric.name == name)


def _value(score: Mapping[str, Any]) -> str:
    return NOTHING if score["value"] is None else f"{100 * score['value']:.2f}"


def _interval(score: Mapping[str, Any]) -> str:
    return NOTHING if score["low"] is None else f"{100 * score['low']:.2f}–{100 * score['high']:.2f}"


def _table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{_escape(name)}</th>' for name in header)
    body = "\n".join(
        f'<tr><th scope="row">{_escape(row[0])}</th>'
        + "".join(f"<td>{_escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{_escape(caption)}</caption>"
    return f"<table>\n{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _escape(text: str) -> str:
    return html.escape(show_safely(text))
