"""The kinds of files that a treebank may consist of, told apart by their contents.

Conventions: in an extracted file, sentences have numbers with a fragment, such as `77000112003.1`; in a fragment as
distributed, they have none, or that of the file's own name.  CoNLL-U begins with a comment or a word's number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes
from closeread.tasks.coref.marmara.sentence_numbers import find_fragment, is_sentence_number

SUFFIXES = (".xml", ".xml.gz", ".conllu", ".conllu.gz")
FIRST_NUMBER = re.compile(rb"""<S\s[^<>]*?\bNo\s*=\s*["']([^"'<>]*)["']""")


class Kind(StrEnum):
    """What a file of a treebank is, in words."""

    EXTRACTED = "an extracted file"
    FRAGMENT = "a fragment as distributed"
    CONLLU = "CoNLL-U"


class TreebankFile(NamedTuple):
    """A file of a treebank.

    Attributes:
        path: where it is.
        data: its bytes, decompressed.
    """

    path: Path
    data: bytes


class Files(NamedTuple):
    """The files of a treebank, all of one kind.

    Attributes:
        kind: what they are; None if there are none, or of several kinds.
        files: by name.
        problems: files that can't be read, and several kinds.
        notices: files that don't belong to a treebank.
    """

    kind: Kind | None
    files: Mapping[str, TreebankFile]
    problems: list[Problem]
    notices: list[Problem]


def read_files(files: Mapping[str, Path]) -> Files:
    """Read the bytes of the files of a treebank and find out what they are."""
    found: dict[str, TreebankFile] = {}
    kinds: dict[Kind | None, list[str]] = {}
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    for name, path in files.items():
        if not name.endswith(SUFFIXES):
            notices.append(Problem(f"is ignored (expected a name ending in {' or '.join(SUFFIXES[::2])})", None, name))
            continue
        try:
            data = read_bytes(path)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
            continue
        found[name] = TreebankFile(path, data)
        kinds.setdefault(find_kind(name, data), []).append(name)
    if not found and not problems:
        problems.append(Problem("contains no treebank files (expected files ending in .xml or .conllu)"))
    unknown = kinds.pop(None, [])
    if not kinds and unknown:
        kinds[Kind.EXTRACTED] = unknown  # whose reader says what is wrong
    elif Kind.CONLLU in kinds:  # the released folder has statistics in XML
        notices += [Problem("is ignored (expected CoNLL-U)", None, name) for name in unknown]
        found = {name: file for name, file in found.items() if name not in set(unknown)}
    (kind, names), *more = kinds.items() or [(None, [])]
    for other, others in more:
        what = f"is {other}, but {names[0]} is {kind} (expected files of one kind)"
        problems.append(Problem(what, None, others[0]))
    return Files(None if more else kind, found, problems, notices)


def find_kind(name: str, data: bytes) -> Kind | None:
    """Find out what a file of a treebank is; return None if it has no sentences.

    Args:
        name: its name.
        data: its bytes.
    """
    start = data[:1000].removeprefix(BYTE_ORDER_MARK).lstrip()
    if not start.startswith(b"<") and name.endswith(SUFFIXES[2:]):
        return Kind.CONLLU
    first = FIRST_NUMBER.search(data)
    if first is None:
        return None
    number = first[1].decode("latin-1").strip()
    if is_sentence_number(number) and find_fragment(number) != PurePosixPath(name).name.partition(".")[0]:
        return Kind.EXTRACTED
    return Kind.FRAGMENT
