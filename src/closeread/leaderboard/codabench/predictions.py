"""The predictions in the folder into which Codabench unpacks a submission.

The archive comes from a participant, so nothing in the folder is trusted: links are refused, sizes are checked before
anything is read, and only files with plain names are copied to a folder of our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from closeread.corpora.names import load_corpus
from closeread.errors import FormatError, Problem, SubmissionError, join_names, pluralize
from closeread.formats import SubmissionFolder
from closeread.formats.folders import walk_files
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.submission import FILE_NAME, read_limited
from closeread.tasks import find_submission_format

__all__ = ["MAC_FOLDER", "SOURCE", "WORKER_FILE", "accepts_folders", "copy_predictions"]

SOURCE = "submission"
"""What messages call the folder."""

WORKER_FILE = "metadata"
"""The file that Codabench's worker adds to every submission."""

MAC_FOLDER = "__MACOSX/"
"""What macOS adds to archives."""


def copy_predictions(folder: Path, board: Board, target: Path) -> tuple[Path, str]:
    """Copy the predictions of a submission.

    Args:
        folder: the unpacked submission.
        board: what it is for.
        target: an empty folder.

    Returns:
        The copied file or folder, and what messages call it.

    Raises:
        SubmissionError: there are no predictions, too many files, or too many bytes or lines; all problems at once.
    """
    files = _find_files(folder)
    if len(files) == 1:
        (name,) = files
        copied, source = target / PurePosixPath(name).name, f"{SOURCE}/{name}"
        _copy(files, {name: copied}, board, source)
        return copied, source
    if not accepts_folders(board):
        found = f"has {pluralize(len(files), 'file')} (expected one file of predictions): {join_names(list(files))}"
        raise SubmissionError(SOURCE, [Problem(found)])
    parts = [PurePosixPath(name).parts[:-1] for name in files]
    shared = 0
    while all(len(part) > shared for part in parts) and len({part[shared] for part in parts}) == 1:
        shared += 1
    top = target / SOURCE
    _copy(files, {name: top.joinpath(*PurePosixPath(name).parts[shared:]) for name in files}, board, SOURCE)
    return top, SOURCE


def accepts_folders(board: Board) -> bool:
    """Return whether the predictions of a board may be a folder of files."""
    if board.corpus is None:
        return True
    corpus = load_corpus(board.corpus)
    formats = [find_submission_format(corpus.procedure, name) for name in corpus.submission_formats]
    return any(isinstance(one, SubmissionFolder) for one in formats)


def _find_files(folder: Path) -> dict[str, Path]:
    """Return the files of a submission by their path in it.

    Raises:
        SubmissionError: it has no files, or something else than files with plain names; all problems at once.
    """
    try:
        files, problems = walk_files(folder)
    except FormatError as error:
        raise SubmissionError(SOURCE, error.problems) from None
    files = {name: path for name, path in files.items() if name != WORKER_FILE and not name.startswith(MAC_FOLDER)}
    problems += [
        Problem("is not a plain name of a file (expected letters, digits and . _ - @ + in each part)", file=name)
        for name in files
        if not all(FILE_NAME.fullmatch(part) for part in PurePosixPath(name).parts)
    ]
    if not files and not problems:
        problems = [Problem("contains no files (expected a zip file with the predictions)")]
    if problems:
        raise SubmissionError(SOURCE, problems)
    return files


def _copy(files: dict[str, Path], targets: dict[str, Path], board: Board, source: str) -> None:
    """Copy files.

    Raises:
        SubmissionError: they have too many bytes or lines together.
    """
    sizes = sum(path.stat().st_size for path in files.values())
    if sizes > board.limits.bytes:
        raise SubmissionError(source, [Problem(f"has {sizes:,} bytes (limit: {board.limits.bytes:,})")])
    lines = 0
    for name, data in _read(files, board):
        lines += data.count(b"\n")
        if lines > board.limits.rows:
            raise SubmissionError(source, [Problem(f"has more than {board.limits.rows:,} lines")])
        targets[name].parent.mkdir(parents=True, exist_ok=True)
        targets[name].write_bytes(data)


def _read(files: dict[str, Path], board: Board) -> Iterator[tuple[str, bytes]]:
    for name, path in files.items():
        yield name, read_limited(path, board.limits.bytes)
