"""Formats of submissions: JSON Lines, and those of a corpus's own, in which rows are written to files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.exceptions import RequestError
from closeread.files import is_empty_folder, text_suffix, write_text
from closeread.formats import SubmissionFile, SubmissionFolder, SubmissionFormat
from closeread.formats.json_lines import SUFFIXES, dump_json_lines
from closeread.records import Record
from closeread.tasks import find_submission_format


def check_submission_path(path: Path, corpus: Corpus) -> None:
    """Check that rows can be written to a path, before they are made.

    Raises:
        RequestError: no format has its suffix, or it is a folder that is not empty.
    """
    if not _is_for_folder(path, corpus):
        _find_writer(corpus, text_suffix(path))
    elif path.is_dir() and not is_empty_folder(path):
        raise RequestError(f"{path} is not empty; choose a new folder, or a file name that ends in .jsonl")


def write_submission(path: Path, rows: Sequence[Record], corpus: Corpus) -> None:
    """Write rows to a file, or to a folder if the corpus has such submissions and the path has no suffix.

    Raises:
        RequestError: the folder is not empty, or its format can't express the rows; all problems at once.
        OSError: the file or the folder can't be written.
    """
    check_submission_path(path, corpus)
    if not _is_for_folder(path, corpus):
        write_text(path, dump_submission(rows, corpus, text_suffix(path)))
        return
    try:
        find_folders(corpus)[0].write(rows, path)
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None


def dump_submission(rows: Sequence[Record], corpus: Corpus, suffix: str) -> str:
    """Return rows as the text of a file: JSON Lines, or the corpus's submission format with that suffix.

    Raises:
        RequestError: no format has that suffix, or the format can't express the rows.
    """
    dump = _find_writer(corpus, suffix)
    try:
        return dump(rows)
    except ValueError as error:
        raise RequestError(f"cannot write {corpus.name} predictions: {error}") from None


def _is_for_folder(path: Path, corpus: Corpus) -> bool:
    return bool(find_folders(corpus)) and (not path.suffix or path.is_dir())


def _find_writer(corpus: Corpus, suffix: str) -> Callable[[Sequence[Record]], str]:
    """Return what writes rows as the text of a file with a suffix.

    Raises:
        RequestError: no format has it.
    """
    writers: dict[str, Callable[[Sequence[Record]], str]] = {
        one.suffix: one.dump for one in find_files(corpus) if one.suffix is not None and one.dump is not None
    }
    writers |= dict.fromkeys((*SUFFIXES, ".json", ""), dump_json_lines)
    if suffix not in writers:
        known = [name for name in writers if name]
        if find_folders(corpus):
            known.append("a folder name without a suffix")
        raise RequestError(
            f"cannot write {corpus.name} predictions with suffix '{suffix}' (choose from: {', '.join(known)})"
        )
    return writers[suffix]


def find_files(corpus: Corpus) -> list[SubmissionFile]:
    """Return the file formats of a corpus's own."""
    return [one for one in _find_formats(corpus) if isinstance(one, SubmissionFile)]


def find_folders(corpus: Corpus) -> list[SubmissionFolder]:
    """Return the folder formats of a corpus's own."""
    return [one for one in _find_formats(corpus) if isinstance(one, SubmissionFolder)]


def _find_formats(corpus: Corpus) -> list[SubmissionFormat]:
    return [find_submission_format(corpus.task, name) for name in corpus.submission_formats]
