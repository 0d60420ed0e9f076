"""Folders of files of one kind: what is in them, and what does not belong there.

Conventions: hidden files are other programs' own and passed over; everything else that is no file of the kind is told.
"""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

from closeread.errors import FormatError, Problem
from closeread.formats.text import MAX_FILE_BYTES, UNSAFE

MAX_FILES = 10_000


def list_files(folder: Path, kind: str, *suffixes: str) -> tuple[dict[str, Path], list[Problem]]:
    """The files of a folder by name, in order, and what else is in it.

    Args:
        folder: the folder.
        kind: what a file holds, in messages.
        suffixes: how the names of the files end, of which the folder must have the first.

    Raises:
        FormatError: the folder can't be read, holds no file, or holds too many or too large ones.
    """
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if len(files) + len(problems) == MAX_FILES:
                    raise FormatError(folder, [Problem(f"holds more than {MAX_FILES:,} files")])
                status = entry.stat(follow_symlinks=False)
                what = _no_file(entry.name, status.st_mode, kind, suffixes)
                if what is None:
                    files[entry.name] = Path(entry.path)
                    size += status.st_size
                else:
                    problems.append(Problem(what, None, entry.name))
    except OSError as error:
        raise FormatError(folder, [Problem(f"can't be read: {error.strerror}")]) from None
    if size > MAX_FILE_BYTES:
        raise FormatError(folder, [Problem(f"has {size:,} bytes; its files may have {MAX_FILE_BYTES:,} together")])
    if not problems and not any(name.endswith(suffixes[0]) for name in files):
        raise FormatError(folder, [Problem(f"holds no {kind}; needed: files that end in {suffixes[0]}")])
    return dict(sorted(files.items())), problems


def _no_file(name: str, mode: int, kind: str, suffixes: tuple[str, ...]) -> str | None:
    """Why something in a folder can't be a file of a kind; None where it may be one."""
    if S_ISLNK(mode):
        return "is a link; needed: a file"
    if S_ISDIR(mode):
        return "is a folder; needed: a file"
    if not S_ISREG(mode):
        return "is no regular file; needed: one"
    if UNSAFE.search(name):
        return "has a name that is no text; needed: letters, digits and '_'"
    if not name.endswith(suffixes) or name in suffixes:
        return f"is no {kind}; needed: a name that ends in {' or '.join(suffixes)}"
    return None
