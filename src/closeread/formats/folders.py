"""Folders of files of one kind: their content, files that do not belong there, and valid names of files.

Conventions: a name that a file system would change, or that our readers would pass over, is refused before any file is
written; so are names that differ only in case or in how accents are written, since they are the same file on macOS and
Windows.  Hidden files belong to other programs and are ignored; everything else that is not a file of the kind is left
out with a notice; so are READMEs and licences.  Symbolic links are refused, wherever they lead: a submission could be a
link to its gold, and a folder could contain itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from unicodedata import normalize

from closeread import limits
from closeread.exceptions import (
    FormatError,
    Problem,
    describe_unreadable,
    join_names,
    pluralize,
    quote,
)
from closeread.formats.text import UNSAFE

MAX_NAME_BYTES = 255  # on all usual file systems
SLASHES = re.compile(r"[/\\]")

ABOUT_FOLDER = re.compile(r"(?:readme|licen[cs]e|copying)(?:\.(?:txt|md|rst))?", re.IGNORECASE)
"""The names of files that tell of the others in their folder."""


def is_about_folder(name: str) -> bool:
    """Return whether a file, by its name or path, is a README or a licence.

    >>> is_about_folder("data/README.md"), is_about_folder("LICENSE"), is_about_folder("readme.xml")
    (True, True, False)
    """
    return ABOUT_FOLDER.fullmatch(name.rpartition("/")[2]) is not None


def list_files(
    folder: Path, kind: str, *suffixes: str
) -> tuple[dict[str, Path], list[Problem], list[Problem]]:
    """List the files of a kind in a folder by name, sorted, the problems with it, and a notice on other files.

    The files' names end in one of the suffixes, and that of one file in the first.
    """
    entries, problems = _sort_entries(folder, _iterate_entries(folder, enters=False))
    files = {
        name: path
        for name, path in entries.items()
        if name.endswith(suffixes) and name not in suffixes and not is_about_folder(name)
    }
    if not problems and not any(name.endswith(suffixes[0]) for name in files):
        message = f"contains no {kind} (expected files ending in {suffixes[0]})"
        raise FormatError(folder, [Problem(message)])
    left_out = [name for name in entries if name not in files]
    return files, problems, note_left_out(left_out, f"names ending in {' or '.join(suffixes)}")


def note_left_out(names: Sequence[str], expected: str) -> list[Problem]:
    """Return a notice on files of a folder that are left out; none if there are none."""
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    message = f"{pluralize(len(names), 'file')} {verb} left out: {join_names(names)}"
    return [Problem(f"{message} (expected {expected})")]


def list_folders(folder: Path, expected: Sequence[str]) -> tuple[dict[str, Path], list[Problem]]:
    """List the folders with expected names in a folder, in that order, and the problems with anything else in it."""
    try:
        with os.scandir(folder) as entries:
            modes = {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}
    except OSError as error:
        raise describe_unreadable(folder, error) from None
    folders = {name: folder / name for name in expected if S_ISDIR(modes.get(name, 0))}
    names = ", ".join(expected)
    if not folders and not any(name in modes for name in expected):
        message = f"contains none of the folders {names} (expected one for each split)"
        raise FormatError(folder, [Problem(message)])
    problems = []
    for name in sorted(modes):
        if name in folders or name.startswith("."):
            continue
        message = f"is not one of the folders {names}"
        if name in expected and S_ISLNK(modes[name]):
            message = "is a symbolic link (expected a folder)"
        problems.append(Problem(message, file=name))
    return folders, problems


def walk_files(folder: Path, expected: str = "files") -> tuple[dict[str, Path], list[Problem]]:
    """List the files of a folder and its subfolders by relative path, sorted, and the problems with anything else."""
    files, problems = _sort_entries(folder, _iterate_entries(folder))
    if not files and not problems:
        raise FormatError(folder, [Problem(f"contains no {expected}")])
    return files, problems


def _sort_entries(
    folder: Path,
    entries: Iterable[tuple[Path, os.stat_result]],
) -> tuple[dict[str, Path], list[Problem]]:
    """Return the files among entries of a folder by relative path, and the problems with the others, both sorted."""
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    for path, status in entries:
        if len(files) + len(problems) == limits.MAX_FILES:
            raise FormatError(folder, [Problem(f"contains more than {limits.MAX_FILES:,} files")])
        name = path.relative_to(folder).as_posix()
        misfit = _describe_misfit(name, status.st_mode)
        if misfit:
            problems.append(Problem(misfit, file=name))
        else:
            files[name] = path
    return dict(sorted(files.items())), sorted(problems, key=lambda problem: problem.order)


def _iterate_entries(folder: Path, *, enters: bool = True) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield everything in a folder that is not hidden; if it enters subfolders, their contents instead of these."""
    folders = [folder]
    while folders:
        current = folders.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if enters and entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    else:
                        yield Path(entry.path), entry.stat(follow_symlinks=False)
        except OSError as error:
            raise describe_unreadable(current, error) from None


def _describe_misfit(name: str, mode: int) -> str:
    """Say why an entry of a folder is not a file to read; empty if it is one."""
    if S_ISLNK(mode):
        return "is a symbolic link (expected a file)"
    if S_ISDIR(mode):
        return "is a folder (expected a file)"
    if not S_ISREG(mode):
        return "is not a regular file"
    if UNSAFE.search(name):
        expected = "expected letters, digits and '_'"
        return f"has control characters or invalid bytes in its name ({expected})"
    return ""


# Names of files to write


def find_unwritable(names: Iterable[str], suffix: str = "") -> list[Problem]:
    """Find why names, with a suffix added to each, can't be those of files in one folder.

    >>> [problem.message for problem in find_unwritable(["ann", "Ann", "..", "a/b"], ".txt")]
    ["'Ann' and 'ann' can't both be names of files: they differ only in case or accents", "'..' can't be the name of \
a file: it begins with a dot", "'a/b' can't be the name of a file: it contains a slash"]
    """
    names = list(names)
    first_names = find_collisions(names)
    problems = []
    for name in names:
        if name in first_names:
            message = f"{quote(name)} and {quote(first_names[name])} can't both be names of files"
            problems.append(Problem(f"{message}: they differ only in case or accents"))
        problems += [
            Problem(f"{quote(name)} can't be the name of a file: {reason}")
            for reason in _find_reasons(name, suffix)
        ]
    return problems


def _find_reasons(name: str, suffix: str) -> Iterator[str]:
    """Yield why a name with a suffix can't be that of a file."""
    if not name:
        yield "it is empty"
    if name.startswith("."):
        yield "it begins with a dot"
    if unsafe := UNSAFE.search(name):
        yield f"it contains the control character U+{ord(unsafe[0]):04X}"
    if SLASHES.search(name):
        yield "it contains a slash"
    file = name + suffix
    if file.endswith((".", " ")):
        yield "it ends in a dot or a space"
    n_bytes = len(file.encode("utf-8", "surrogatepass"))
    if n_bytes > MAX_NAME_BYTES:
        yield f"it is too long: {n_bytes:,} bytes (limit: {MAX_NAME_BYTES})"


def find_collisions(names: Iterable[str]) -> dict[str, str]:
    """Find the names that would be those of the same file as an earlier one, on some systems; return both.

    >>> find_collisions(["ann", "bea", "Ann"])
    {'Ann': 'ann'}
    """
    first_names: dict[str, str] = {}
    collisions = {}
    for name in names:
        folded = normalize("NFC", normalize("NFC", name).casefold())
        first = first_names.setdefault(folded, name)
        if first != name:
            collisions[name] = first
    return collisions
