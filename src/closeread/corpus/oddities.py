"""Oddities of gold: what is unusual about it although it is read.

Those of released files are known and the same for everybody, so they are told in one line, which says where to see
them; those of a user's own files are told one by one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import Problem, describe_problems, quote
from closeread.records import ParsedFolder


class Oddity(NamedTuple):
    """Something unusual about gold.

    Attributes:
        problem: what is unusual.
        folder: the folder in which it has its place; None if it is a sentence that says where it is.
        record: the number of the record that it is about, from 0; None if it is about several or none.
        is_known: whether it is in released files.
    """

    problem: Problem
    folder: str | None = None
    record: int | None = None
    is_known: bool = False


def find_folder_oddities(folder: str, parsed: ParsedFolder) -> tuple[Oddity, ...]:
    """Return the oddities of a folder in the order of its files."""
    records = {file: number for number, file in enumerate(parsed.files)}
    notices = sorted(parsed.notices, key=lambda notice: notice.order)
    return tuple(Oddity(notice, folder, records.get(notice.file or "")) for notice in notices)


def describe_oddities(oddities: Iterable[Oddity]) -> list[str]:
    """Return a sentence for each oddity with its place; equal ones of a folder are one, with their number."""
    by_folder: dict[str | None, list[Problem]] = {}
    for oddity in oddities:
        by_folder.setdefault(oddity.folder, []).append(oddity.problem)
    found: list[str] = []
    for folder, problems in by_folder.items():
        found += [one.message for one in problems] if folder is None else describe_problems(folder, problems)
    return found


def describe_known(number: int, corpus: str, data_dir: Path | None = None, about: str | None = None) -> str:
    """Say how many oddities of released files are known, and where to see them.

    >>> describe_known(19, "tne")
    '19 known oddities of the released files: see `closeread info tne --oddities`'
    """
    noun = "known oddity" if number == 1 else "known oddities"
    what = "of the released files" if about is None else f"of {quote(about)} in the released files"
    return f"{number:,} {noun} {what}: see {name_command(corpus, data_dir)}"


def name_command(corpus: str, data_dir: Path | None = None) -> str:
    """Return the command that prints the oddities of a corpus's released files."""
    arguments: Sequence[str] = [] if data_dir is None else ["--data-dir", str(data_dir)]
    return f"`{shlex.join(['closeread', 'info', corpus, '--oddities', *arguments])}`"
