"""The predictions in the folder into which Codabench unpacks a submission.

The archive comes from a participant, so links are refused, and sizes are checked before anything is read.
"""

from __future__ import annotations

from os.path import commonpath
from pathlib import Path, PurePosixPath

from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import find_folders
from closeread.exceptions import FormatError, Problem, SubmissionError, join_names, pluralize
from closeread.formats.folders import walk_files
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.submission import PACKED, find_suffix, pack_files, read_limited

SOURCE = "submission"
"""What messages call the folder."""

WORKER_FILE = "metadata"
"""The file that Codabench's worker adds to every submission."""

MAC_FOLDER = "__MACOSX/"
"""What macOS adds to archives."""


def find_files(folder: Path) -> dict[str, Path]:
    """Return the files of an unpacked submission by their path in it.

    Raises:
        SubmissionError: there are none, or something else than files; all problems at once.
    """
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

    Raises:
        SubmissionError: there are too many files, or they can't be read; all problems at once.
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
