"""The last column of CoNLL files, cell by cell: slower than `closeread.tasks.coref.conll_cells`, with all problems."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

import numpy as np

from closeread import limits
from closeread.exceptions import quote, shorten
from closeread.formats.problems import Problems
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.conll_cells import CELL, ID, Cells, Mentions, rank_of

PIECE = re.compile(rb"(\()?(%b)(\))?" % ID)


def read_mentions_one_by_one(data: bytes, cells: Cells, widths: Sequence[int], problems: Problems) -> Mentions:
    """Read the mentions of cells, and find their problems.

    Args:
        data: the cells, each followed by a line end.
        cells: where they are.
        widths: the number of columns of each document.
        problems: collects the problems.
    """
    reader = _OneByOne(problems)
    document = 0
    columns = (column.tolist() for column in cells)
    for number, (its_document, token, line, begin, end, is_ragged) in enumerate(zip(*columns, strict=True)):
        if its_document != document:
            reader.end_document(widths[document])
            document = its_document
        reader.take(number, document, token, line, data[begin:end].rstrip(), is_ragged, widths[document])
        if problems.total > limits.MAX_PROBLEMS:
            return reader.mentions()
    if len(cells.token):
        reader.end_document(widths[document])
    return reader.mentions()


class _OneByOne:
    """Reader of the cells of a file, one after the other."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        # For each entity of the current document: its number, and its open mentions with their lines.
        self._entities: dict[bytes, tuple[int, list[tuple[int, int]]]] = {}
        self._labels: list[str] = []
        self._met: dict[int, None] = {}  # the entities in the order of the reference scorer
        self._reopened: list[int] = []
        self._document, self._entity, self._start, self._end = (array("q") for _ in range(4))

    def take(self, number: int, document: int, token: int, line: int, cell: bytes, is_ragged: bool, width: int) -> None:
        """Read a cell."""
        column = f"column {width}"
        if not CELL.fullmatch(cell) or UNSAFE.search(cell.decode("utf-8")):
            if not is_ragged:
                found = f"{quote(cell.decode('utf-8'))} is not a valid mention cell"
                expected = "expected '-', '(ID)', '(ID' or 'ID)', several separated by '|'"
                self._problems.add(f"{column}: {found} ({expected})", line)
            return
        pieces = PIECE.findall(cell)
        closed = set()
        for opening, label, closing in pieces:
            if opening:
                self._open(document, label, token, line, is_long=not closing)
                if not closing and label in closed:
                    self._reopened.append(number)
            else:
                closed.add(label)
        singles_first = sorted((piece for piece in pieces if piece[0]), key=lambda piece: not piece[2])
        self._met |= dict.fromkeys(self._entities[label][0] for _, label, _ in singles_first)
        for opening, label, _ in pieces:
            if opening:
                continue
            if label in self._entities and self._entities[label][1]:
                self._end[self._entities[label][1].pop()[0]] = token
            else:
                found = f"entity {shorten(label.decode(), 60)} closes but is not open"
                self._problems.add(f"{column}: {found}", line)

    def _open(self, document: int, label: bytes, token: int, line: int, *, is_long: bool) -> None:
        if label not in self._entities:
            self._entities[label] = (len(self._labels), [])
            self._labels.append(label.decode())
        entity, mentions = self._entities[label]
        if is_long:
            mentions.append((len(self._entity), line))
        columns = (self._document, self._entity, self._start, self._end)
        for values, value in zip(columns, (document, entity, token, token), strict=True):
            values.append(value)

    def end_document(self, width: int) -> None:
        """Report mentions that are still open."""
        for label, (_, mentions) in self._entities.items():
            for _, line in mentions:
                found = f"column {width}: entity {shorten(label.decode(), 60)} opens but never closes"
                self._problems.add(found, line)
        self._entities = {}

    def mentions(self) -> Mentions:
        """Return all mentions."""
        document, start, end, entity = (
            np.array(values, np.int64) for values in (self._document, self._start, self._end, self._entity)
        )
        order = np.argsort(entity, kind="stable")
        return Mentions(
            document[order],
            start[order],
            end[order],
            entity[order],
            self._labels,
            rank_of(np.array(list(self._met), np.int64)),
            np.unique(np.array(self._reopened, np.int64)),
        )
