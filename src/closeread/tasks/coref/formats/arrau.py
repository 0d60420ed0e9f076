"""ARRAU in columns, as in the CRAC 2018 shared task: a document a file, a token a line, with the minimum spans (MIN).

Conventions: cells are separated by blanks and tabs; a first line that begins with TOKEN names the columns.  The first
column is the word.  The second contains the markables, several separated by ``@``: ``B-markable_7=set_3`` on the first
token of markable 7 of entity 3, ``I-markable_7=set_3`` on the others; a markable reaches from its first to its last
token.  If there are four or more columns, the third contains the minimum span of each of these markables, by the
numbers of its words in the file, from 1: ``word_12`` or ``word_12..word_14``.  If there are three or more, the last
contains a word for each: markables that are ``non_referring`` are in no entity.  The document is named as the file,
without its suffix.

Source: the reader of coval (github.com/ns-moosavi/coval), which scores such files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import ListedWords, MentionTable

MARKABLE = re.compile(r"([BI])-markable_([0-9]{1,9})=set_([0-9A-Za-z_]+)")
MINIMUM = re.compile(r"word_([0-9]{1,9})(?:\.\.word_([0-9]{1,9}))?")
NOTHING = frozenset({"", "-", "_"})
NON_REFERRING = "non_referring"


@dataclass
class _Markable:
    """A markable; words are numbered from 0."""

    line: int
    entity: str
    start: int
    end: int
    minimum: tuple[int, int] | None
    is_referring: bool


def read_records(path: Path, split: str) -> Parsed:
    """Read a file.

    Returns:
        Its document, and the line on which it begins.  The mentions of an entity are in the order in which they begin.
    """
    del split
    reader = _Reader()
    for number, line in enumerate(read_lines(path), start=1):
        reader.take(number, line)
    if not reader.words and not reader.problems.total:
        reader.problems.add("contains no token")
    reader.problems.raise_any(path)
    return Parsed(reader.table(path), [1], [])


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = ProblemList()
        self.words: list[str] = []
        self._lines: list[int] = []
        self._markables: dict[str, _Markable] = {}

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        cells = line.split()
        if not cells or (not self.words and cells[0].startswith("TOKEN")):
            return
        if any(map(UNSAFE.search, cells)):
            self.problems.add("the row contains a control character", number)
        self.words.append(cells[0])
        self._lines.append(number)
        if len(cells) > 1 and cells[1] not in NOTHING:
            markables = cells[1].split("@")
            minima = self._split(number, 3, cells[2], len(markables)) if len(cells) > 3 else [""] * len(markables)
            kinds = self._split(number, len(cells), cells[-1], len(markables)) if len(cells) > 2 else minima
            for markable, minimum, kind in zip(markables, minima, kinds, strict=True):
                self._take_markable(number, markable, minimum, kind)

    def _split(self, line: int, column: int, cell: str, n: int) -> Sequence[str]:
        """Split a cell that has a value for each of the markables of its row, or none."""
        values = cell.split("@")
        if len(values) == n:
            return values
        if cell not in NOTHING:
            found = f"{quote(cell)} has {pluralize(len(values), 'value')} separated by '@'"
            self.problems.add(f"column {column}: {found} (expected {n}, one for each markable)", line)
        return [""] * n

    def _take_markable(self, line: int, text: str, minimum: str, kind: str) -> None:
        token, found = len(self.words) - 1, MARKABLE.fullmatch(text)
        if not found:
            expected = "expected B-markable_ID=set_ID or I-markable_ID=set_ID, several separated by '@'"
            self.problems.add(f"column 2: {quote(text)} is not a markable ({expected})", line)
            return
        begins, name, entity = found[1] == "B", found[2], found[3]
        before = self._markables.get(name)
        if begins and before:
            self.problems.add(f"column 2: markable {name} begins again (first on line {before.line})", line)
        elif begins:
            span = self._read_minimum(line, minimum)
            self._markables[name] = _Markable(line, entity, token, token, span, kind != NON_REFERRING)
        elif not before:
            self.problems.add(f"column 2: markable {name} has not begun (expected B-markable_{name} before it)", line)
        elif before.entity != entity:
            found_in = f"markable {name} is in set_{entity}, but in set_{before.entity} on line {before.line}"
            self.problems.add(f"column 2: {found_in}", line)
        else:
            before.end = token

    def _read_minimum(self, line: int, text: str) -> tuple[int, int] | None:
        if text in NOTHING:
            return None
        numbers = MINIMUM.fullmatch(text)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (0, 0)
        if not 0 < first <= last:
            found = f"column 3: {quote(text)} is not a minimum span"
            self.problems.add(f"{found} (expected word_FIRST..word_LAST, numbered from 1 in the file)", line)
            return None
        return first - 1, last - 1

    def table(self, path: Path) -> MentionTable:
        """Return the document."""
        referring = [markable for markable in self._markables.values() if markable.is_referring]
        number = {label: i for i, label in enumerate(dict.fromkeys(markable.entity for markable in referring))}
        mentions = sorted(referring, key=lambda markable: number[markable.entity])
        minima = {i: m.minimum for i, m in enumerate(mentions) if m.minimum}
        outside = [i for i, (first, last) in minima.items() if first < mentions[i].start or mentions[i].end < last]
        notices = []
        if n := len(self._markables) - len(referring):
            notices.append(f"{pluralize(n, 'non-referring markable')} of {len(self._markables):,} not scored")
        if outside:
            where = f"{pluralize(len(outside), 'minimum span')} ignored (first: line {mentions[outside[0]].line})"
            notices.append(f"{where}: not inside the markable")
        return MentionTable(
            names=[path.stem],
            n_tokens=np.array([len(self.words)], np.int64),
            document=np.zeros(len(mentions), np.int64),
            start=np.array([mention.start for mention in mentions], np.int64),
            end=np.array([mention.end for mention in mentions], np.int64),
            entity=np.array([number[mention.entity] for mention in mentions], np.int64),
            n_entities=len(number),
            labels=list(number),
            words=ListedWords([self.words], [self._lines]),
            minimum={i: tuple(range(a, b + 1)) for i, (a, b) in minima.items() if i not in outside},
            notices=notices,
            unnamed=frozenset({0}),
        )


FORMAT = Format(read_records, first_line=re.compile(r"TOKEN(?:\s|$)|\S+[ \t]+[BI]-markable_[0-9]", re.ASCII))
