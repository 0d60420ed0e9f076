"""Folders of files of one kind: their content, files that do not belong there, and valid names of files.

Conventions: a name that a file system would change, or that our readers would pass over, is refused before any file is
written; so are names that differ only in case or in how accents are written, since they are the same file on macOS and
Windows.  Hidden files belong to other programs and are ignored (`find_hidden` names them); everything else that is
not a file of the kind is left out with a notice; so are READMEs and licences.  Symbolic links are refused, wherever they
lead: a submission could be a link to its gold, and a folder could contain itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
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
from closeread.files import DESKTOP_FILES
from closeread.formats.text import UNSAFE, measure_file

LONGEST_NAME = 255  # bytes, on all usual file systems
SLASHES = re.compile(r"[/\\]")


ABOUT = re.compile(r"(?:readme|licen[cs]e|copying)(?:\.(?:txt|md|rst))?", re.IGNORECASE)
"""The names of files that tell of the others in their folder."""


def is_about_folder(name: str) -> bool:
    """Return whether a file, by its name or path, is a README or a licence.

    >>> is_about_folder("data/README.md"), is_about_folder("LICENSE"), is_about_folder("readme.xml")
    (True, True, False)
    """
    return ABOUT.fullmatch(name.rpartition("/")[2]) is not None


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
        raise FormatError(
            folder, [Problem(f"contains no {kind} (expected files ending in {suffixes[0]})")]
        )
    others = [name for name in entries if name not in files]
    return files, problems, note_left_out(others, f"names ending in {' or '.join(suffixes)}")


def note_left_out(names: Sequence[str], expected: str) -> list[Problem]:
    """Return a notice on files of a folder that are left out; none if there are none."""
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    what = f"{pluralize(len(names), 'file')} {verb} left out: {join_names(names)}"
    return [Problem(f"{what} (expected {expected})")]


def list_folders(folder: Path, expected: Sequence[str]) -> tuple[dict[str, Path], list[Problem]]:
    """List the folders with expected names in a folder, in that order, and the problems with anything else in it."""
    try:
        with os.scandir(folder) as entries:
            modes = {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}
    except OSError as error:
        raise describe_unreadable(folder, error) from None
    folders = {name: folder / name for name in expected if S_ISDIR(modes.get(name, 0))}
    named = ", ".join(expected)
    if not folders and not any(name in modes for name in expected):
        raise FormatError(
            folder, [Problem(f"contains none of the folders {named} (expected one for each split)")]
        )
    inside = (
        entry
        for one in folders.values()
        for entry in islice(_iterate_entries(one), limits.MAX_FILES)
    )
    _check_size(folder, [path for path, status in inside if S_ISREG(status.st_mode)])
    others = sorted(name for name in modes if name not in folders and not name.startswith("."))
    what = {
        True: "is a symbolic link (expected a folder)",
        False: f"is not one of the folders {named}",
    }
    return folders, [
        Problem(what[name in expected and S_ISLNK(modes[name])], None, name) for name in others
    ]


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
        if (what := _describe_misfit(name, status.st_mode)) is not None:
            problems.append(Problem(what, None, name))
        else:
            files[name] = path
    _check_size(folder, files.values())
    return dict(sorted(files.items())), sorted(problems, key=lambda problem: problem.order)


def find_hidden(folder: Path) -> list[Problem]:
    """Return a notice for each hidden file in a folder, but for those that desktops and git leave everywhere."""
    try:
        with os.scandir(folder) as entries:
            hidden = (entry for entry in entries if entry.name.startswith("."))
            names = sorted(
                entry.name for entry in hidden if not entry.is_dir(follow_symlinks=False)
            )
    except OSError:  # reading it reports the error
        return []
    others = [
        name for name in names if name not in DESKTOP_FILES and not name.startswith(("._", ".git"))
    ]
    return [Problem("is hidden, and is ignored", None, name) for name in others]


def count_shared(some: Iterable[Path], other: Path) -> int:
    """Count the files that are the same on both sides: files, or those in folders and their subfolders.

    Two names of one file (hard links) are the same; so are a symbolic link and its target.
    """
    first = {number for one in some for number in _find_numbers(one)}
    return len(first & _find_numbers(other)) if first else 0


def _find_numbers(place: Path) -> set[tuple[int, int]]:
    """Return the device and the number of a file, or of each file in a folder; none where that is unknown."""
    try:
        found = [place.stat()]
        if S_ISDIR(found[0].st_mode):
            found = [status for _, status in islice(_iterate_entries(place), limits.MAX_FILES)]
    except (OSError, FormatError):
        return set()
    return {(one.st_dev, one.st_ino) for one in found if S_ISREG(one.st_mode) and one.st_ino}


def _check_size(folder: Path, files: Iterable[Path]) -> None:
    files = list(files)
    if (
        found := limits.describe_excess(sum(path.stat().st_size for path in files), "bytes in all")
    ) is not None:
        raise FormatError(folder, [Problem(found)])
    room = limits.max_file_bytes()
    for path in files:
        room -= measure_file(path, room)
        if room < 0:
            found = f"is too large: more than {limits.max_file_bytes():,} bytes in all when decompressed"
            raise FormatError(folder, [Problem(found)])


def _iterate_entries(folder: Path, *, enters: bool = True) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield everything in a folder that is not hidden; if it enters subfolders, their contents instead of these."""
    left = [folder]
    while left:
        current = left.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if enters and entry.is_dir(follow_symlinks=False):
                        left.append(Path(entry.path))
                    else:
                        yield Path(entry.path), entry.stat(follow_symlinks=False)
        except OSError as error:
            raise describe_unreadable(current, error) from None


def _describe_misfit(name: str, mode: int) -> str | None:
    if S_ISLNK(mode):
        return "is a symbolic link (expected a file)"
    if S_ISDIR(mode):
        return "is a folder (expected a file)"
    if not S_ISREG(mode):
        return "is not a regular file"
    if UNSAFE.search(name):
        return (
            "has control characters or invalid bytes in its name (expected letters, digits and '_')"
        )
    return None


# Names of files to write


def find_unwritable(names: Iterable[str], suffix: str = "") -> list[Problem]:
    """Find why names, with a suffix added to each, can't be those of files in one folder.

    >>> [problem.message for problem in find_unwritable(["ann", "Ann", "..", "a/b"], ".txt")]
    ["'Ann' and 'ann' can't both be names of files: they differ only in case or accents", "'..' can't be the name of \
a file: it begins with a dot", "'a/b' can't be the name of a file: it contains a slash"]
    """
    names = list(names)
    problems = []
    collisions = find_collisions(names)
    for name in names:
        if (first := collisions.get(name)) is not None:
            what = f"{quote(name)} and {quote(first)} can't both be names of files"
            problems.append(Problem(f"{what}: they differ only in case or accents"))
        file, unsafe = name + suffix, UNSAFE.search(name)
        size = len(file.encode("utf-8", "surrogatepass"))
        for is_so, why in (
            (not name, "it is empty"),
            (name.startswith("."), "it begins with a dot"),
            (unsafe, f"it contains the control character U+{ord(unsafe[0]):04X}" if unsafe else ""),
            (SLASHES.search(name), "it contains a slash"),
            (file.endswith((".", " ")), "it ends in a dot or a space"),
            (size > LONGEST_NAME, f"it is too long: {size:,} bytes (limit: {LONGEST_NAME})"),
        ):
            if is_so:
                problems.append(Problem(f"{quote(name)} can't be the name of a file: {why}"))
    return problems


def find_collisions(names: Iterable[str]) -> dict[str, str]:
    """Find the names that would be those of the same file as an earlier one, on some systems; return both.

    >>> find_collisions(["ann", "bea", "Ann"])
    {'Ann': 'ann'}
    """
    seen: dict[str, str] = {}
    firsts = (
        (name, seen.setdefault(normalize("NFC", normalize("NFC", name).casefold()), name))
        for name in names
    )
    return {name: first for name, first in firsts if first != name}
