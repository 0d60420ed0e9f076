"""Check the names of files before the first of them is written.

Conventions: a name that a file system would change, or that our readers would pass over, is refused, too; so are names
that differ only in case or in how accents are written, since they are the same file on macOS and Windows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from closeread.exceptions import Problem, quote
from closeread.formats.text import UNSAFE

LONGEST_NAME = 255  # bytes, on all usual file systems
SLASHES = re.compile(r"[/\\]")
RESERVED = re.compile(r'[<>:"|?*]')
DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)", re.IGNORECASE)
"""The names that stand for devices on Windows, with any suffix."""


def find_unwritable(names: Iterable[str], suffix: str = "") -> list[Problem]:
    """Find why names can't be those of files in one folder.

    Args:
        names: the names.
        suffix: what is added to each.

    >>> [problem.what for problem in find_unwritable(["ann", "Ann", "..", "a/b"], ".txt")]
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
        found = f"{quote(name)} can't be the name of a file"
        problems += [Problem(f"{found}: {why}") for why in describe_unwritable(name, suffix)]
    return problems


def find_collisions(names: Iterable[str]) -> dict[str, str]:
    """Find the names that would be those of the same file as an earlier one, on some systems; return both.

    >>> find_collisions(["ann", "bea", "Ann"])
    {'Ann': 'ann'}
    """
    seen: dict[str, str] = {}
    firsts = ((name, seen.setdefault(normalize("NFC", normalize("NFC", name).casefold()), name)) for name in names)
    return {name: first for name, first in firsts if first != name}


def describe_unwritable(name: str, suffix: str = "") -> Iterator[str]:
    """Say why a name can't be that of a file; say nothing if it can."""
    file = name + suffix
    size = len(file.encode("utf-8", "surrogatepass"))
    if not name:
        yield "it is empty"
    elif name.startswith("."):
        yield "it begins with a dot"
    if unsafe := UNSAFE.search(name):
        yield f"it contains the control character U+{ord(unsafe[0]):04X}"
    if SLASHES.search(name):
        yield "it contains a slash"
    if file.endswith((".", " ")):
        yield "it ends in a dot or a space"
    if size > LONGEST_NAME:
        yield f"it is too long: {size:,} bytes (limit: {LONGEST_NAME})"
    if sys.platform == "win32" and (RESERVED.search(name) or DEVICE.match(file)):
        yield "it has a character or is a word that Windows reserves"
