"""Folders of files of one kind: list the files, and report what does not belong there.

Conventions: hidden files belong to other programs and are ignored (`find_hidden` names them); everything else that is
not a file of the kind is reported.  Symbolic links are refused, wherever they lead: a submission could be a link to its
gold, and a folder could contain itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

from closeread import limits
from closeread.exceptions import FormatError, Problem
from closeread.files import DESKTOP_FILES
from closeread.formats.gzipped import measure_growth
from closeread.formats.text import UNSAFE


def list_files(folder: Path, kind: str, *suffixes: str) -> tuple[dict[str, Path], list[Problem]]:
    """List the files of a folder by name, sorted, and the problems with anything else in it.

    Args:
        folder: the folder.
        kind: what to call a file of the kind in messages, such as `CAT file`.
        suffixes: the endings of the files' names; the folder must have a file with the first.

    Raises:
        FormatError: the folder can't be read, contains no file of the kind, or contains too many or too large files.
    """
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if len(files) + len(problems) == limits.MAX_FILES:
                    raise FormatError(folder, [Problem(f"contains more than {limits.MAX_FILES:,} files")])
                status = entry.stat(follow_symlinks=False)
                what = _describe_misfit(entry.name, status.st_mode)
                if what is None and (not entry.name.endswith(suffixes) or entry.name in suffixes):
                    what = f"is not a {kind} (expected a name ending in {' or '.join(suffixes)})"
                if what is None:
                    files[entry.name] = Path(entry.path)
                    size += status.st_size
                else:
                    problems.append(Problem(what, None, entry.name))
    except OSError as error:
        raise FormatError(folder, [Problem(f"can't be read: {error.strerror}")]) from None
    _check_size(folder, size, files.values())
    if not problems and not any(name.endswith(suffixes[0]) for name in files):
        raise FormatError(folder, [Problem(f"contains no {kind} (expected files ending in {suffixes[0]})")])
    return dict(sorted(files.items())), problems


def list_folders(folder: Path, expected: Sequence[str]) -> tuple[dict[str, Path], list[Problem]]:
    """List the folders with expected names in a folder, in that order, and the problems with anything else in it.

    Raises:
        FormatError: the folder can't be read, contains none of them, or they contain too much.
    """
    try:
        with os.scandir(folder) as entries:
            modes = {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}
    except OSError as error:
        raise FormatError(folder, [Problem(f"can't be read: {error.strerror}")]) from None
    folders = {name: folder / name for name in expected if S_ISDIR(modes.get(name, 0))}
    named = ", ".join(expected)
    if not folders and not any(name in modes for name in expected):
        raise FormatError(folder, [Problem(f"contains none of the folders {named} (expected one for each split)")])
    inside = [entry for one in folders.values() for entry in islice(_iterate_entries(one), limits.MAX_FILES)]
    sizes = {path: status.st_size for path, status in inside if S_ISREG(status.st_mode)}
    _check_size(folder, sum(sizes.values()), sizes)
    others = sorted(name for name in modes if name not in folders and not name.startswith("."))
    what = {True: "is a symbolic link (expected a folder)", False: f"is not one of the folders {named}"}
    return folders, [Problem(what[name in expected and S_ISLNK(modes[name])], None, name) for name in others]


def walk_files(folder: Path, expected: str = "files") -> tuple[dict[str, Path], list[Problem]]:
    """List the files of a folder and its subfolders by relative path, sorted, and the problems with anything else.

    Args:
        folder: the folder.
        expected: what to say that an empty folder lacks.

    Raises:
        FormatError: a folder can't be read, or there are no files, or too many or too large ones.
    """
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    size = 0
    for path, status in _iterate_entries(folder):
        if len(files) + len(problems) == limits.MAX_FILES:
            raise FormatError(folder, [Problem(f"contains more than {limits.MAX_FILES:,} files")])
        name = path.relative_to(folder).as_posix()
        what = _describe_misfit(name, status.st_mode)
        if what is None:
            files[name] = path
            size += status.st_size
        else:
            problems.append(Problem(what, None, name))
    _check_size(folder, size, files.values())
    if not files and not problems:
        raise FormatError(folder, [Problem(f"contains no {expected}")])
    return dict(sorted(files.items())), sorted(problems, key=lambda problem: problem.order)


def find_hidden(folder: Path) -> list[Problem]:
    """Return a notice for each hidden file in a folder, but for those that desktops and git leave everywhere."""
    try:
        with os.scandir(folder) as entries:
            hidden = (entry for entry in entries if entry.name.startswith("."))
            names = sorted(entry.name for entry in hidden if not entry.is_dir(follow_symlinks=False))
    except OSError:  # reading it tells
        return []
    others = [name for name in names if name not in DESKTOP_FILES and not name.startswith(("._", ".git"))]
    return [Problem("is hidden, and is ignored", None, name) for name in others]


def count_shared(some: Iterable[Path], other: Path) -> int:
    """Count the files that are the same on both sides: files, or those in folders and their subfolders.

    Two names of one file (hard links) are the same; so is a symbolic link and what it leads to.
    """
    first = {number for one in some for number in _find_numbers(one)}
    return len(first & _find_numbers(other)) if first else 0


def _find_numbers(place: Path) -> set[tuple[int, int]]:
    """Return the device and the number of a file, or of each file in a folder; none where that is unknown."""
    try:
        status = place.stat()
        found = [status] if S_ISREG(status.st_mode) else []
        if S_ISDIR(status.st_mode):
            found = [
                status for _, status in islice(_iterate_entries(place), limits.MAX_FILES) if S_ISREG(status.st_mode)
            ]
    except (OSError, FormatError):
        return set()
    return {(status.st_dev, status.st_ino) for status in found if status.st_ino}


def _check_size(folder: Path, size: int, files: Iterable[Path]) -> None:
    """Check the size of the files of a folder, which many readers read one by one.

    Args:
        folder: the folder.
        size: their size, as they are.
        files: the files, which may be gzipped.

    Raises:
        FormatError: they have more bytes than a folder may have, as they are or decompressed.
    """
    if (found := limits.describe_excess(size, "bytes in all")) is not None:
        raise FormatError(folder, [Problem(found)])
    room = limits.max_file_bytes() - size
    for path in files:
        room -= measure_growth(path, room)
        if room < 0:
            found = f"is too large: more than {limits.max_file_bytes():,} bytes in all when decompressed"
            raise FormatError(folder, [Problem(found)])


def _iterate_entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield everything in a folder and its subfolders that is neither hidden nor a folder.

    Raises:
        FormatError: a folder can't be read.
    """
    left = [folder]
    while left:
        current = left.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        left.append(Path(entry.path))
                    else:
                        yield Path(entry.path), entry.stat(follow_symlinks=False)
        except OSError as error:
            raise FormatError(current, [Problem(f"can't be read: {error.strerror}")]) from None


def _describe_misfit(name: str, mode: int) -> str | None:
    """Explain why something in a folder can't be a file to read; None if it may be one."""
    if S_ISLNK(mode):
        return "is a symbolic link (expected a file)"
    if S_ISDIR(mode):
        return "is a folder (expected a file)"
    if not S_ISREG(mode):
        return "is not a regular file"
    if UNSAFE.search(name):
        return "has control characters or invalid bytes in its name (expected letters, digits and '_')"
    return None
