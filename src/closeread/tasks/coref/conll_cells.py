"""The last column of CoNLL files: what its cells say of mentions.

A cell is a row of pieces, with or without ``|`` between them: ``(12`` opens a mention of entity 12, ``12)`` closes the
one of entity 12 that was opened last, ``(12)`` is one of a single token.

Cells that are as they should be are read all at once (`mentions_at_once`).  Where any is not, they are read again one
by one (`mentions_one_by_one`), which takes longer and says what is wrong.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.errors import quote, shorten
from closeread.formats.problems import LISTED, Problems

MAX_DIGITS = 16
"""Ids of more digits are read one by one."""

NEWLINE, SPACE, OPEN, CLOSE, BAR, ZERO, NINE = b"\n ()|09"
PIECE = re.compile(rb"(\()?([0-9]++)(\))?")
# Possessive, so that a cell of many digits is not tried in all the ways that they can be cut.
CELL = re.compile(rb"(?:\([0-9]++\)?|[0-9]++\))(?:\|?(?:\([0-9]++\)?|[0-9]++\)))*+")

Event = tuple[bytes, bool, bool]
"""The id of an entity, whether a mention of it opens, and whether one closes."""


class Cells(NamedTuple):
    """The cells that may hold mentions, in the order of the file, all (n_cells,).

    Attributes:
        document: the document of each, from 0.
        token: the token of the document that it stands beside.
        line: its line, from 1.
        begin, end: where it begins and where its line ends, in the file's bytes.
        is_ragged: its row has another number of cells than others, so nobody knows what its last cell is.
    """

    document: Ints
    token: Ints
    line: Ints
    begin: Ints
    end: Ints
    is_ragged: Mask


class Mentions(NamedTuple):
    """Mentions, by entity and then in the order in which they open.

    Attributes:
        document, start, end, entity: (n_mentions,), as in `closeread.tasks.coref.columns.MentionTable`.
        labels: the ids of the entities.
    """

    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    labels: Sequence[str]


class _Labels(Sequence[str]):
    """Stretches of a text, decoded when they are asked for."""

    def __init__(self, text: bytes, begin: Ints, end: Ints) -> None:
        self._text, self._begin, self._end = text, begin, end

    def __len__(self) -> int:
        return len(self._begin)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._text[self._begin[index] : self._end[index]].decode()


class _Events(NamedTuple):
    """What the pieces of all cells say, in the order of the file.

    Attributes:
        cell: the cell of each.
        label: the id, as a number that is another for another id.
        begin, end: where the id stands in the text.
        opens, closes: whether a mention opens, and whether one closes.
    """

    cell: Ints
    label: Ints
    begin: Ints
    end: Ints
    opens: Mask
    closes: Mask


def gathered(raw: NDArray[np.uint8], begin: Ints, end: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """The bytes of stretches one after the other, and where each ends among them."""
    size = end - begin
    after = np.cumsum(size)
    return raw.take(np.repeat(begin - after + size, size) + np.arange(size.sum()), mode="clip"), after


def mentions_at_once(data: bytes, cells: Cells) -> Mentions | None:
    """The mentions of cells; None where anything about them is wrong, or an id has more than `MAX_DIGITS` digits."""
    # Each cell with the byte after it, which is made a line end: it keeps cells apart.
    text, after = gathered(np.frombuffer(data, np.uint8), cells.begin, cells.end + 1)
    text[after - 1] = NEWLINE
    events = _events(text, after)
    if events is None:
        return None
    entity, first = _entities(cells.document[events.cell], events.label)
    found = _matched(entity, events)
    if found is None:
        return None
    opened, closed = found
    token = cells.token[events.cell]
    return Mentions(
        document=cells.document[events.cell][opened],
        start=token[opened],
        end=token[closed],
        entity=entity[opened],
        labels=_Labels(text.tobytes(), events.begin[first], events.end[first]),
    )


def _events(text: NDArray[np.uint8], after: Ints) -> _Events | None:
    """The pieces of the cells; None where a cell is not made of pieces."""
    digit = (text >= ZERO) & (text <= NINE)
    opening, closing, bar = text == OPEN, text == CLOSE, text == BAR
    if not (digit | opening | closing | bar | (text <= SPACE)).all():
        return None
    # Blanks stand at the end of a cell only, so that the text begins with a piece and ends with a line end.
    before, behind = np.roll(text, 1), np.roll(text, -1)
    digit_before, digit_behind = np.roll(digit, 1), np.roll(digit, -1)
    begin, end = np.flatnonzero(digit & ~digit_before), np.flatnonzero(digit & ~digit_behind) + 1
    opens, closes = before[begin] == OPEN, behind[end - 1] == CLOSE
    sound = (
        (opens | closes).all()
        and digit_behind[opening].all()
        and digit_before[closing].all()
        and (digit_before | (before == CLOSE))[bar].all()
        and (digit_behind | (behind == OPEN))[bar].all()
    )
    if not sound or (end - begin).max(initial=0) > MAX_DIGITS:
        return None
    places = np.flatnonzero(digit)
    run = np.cumsum(digit & ~digit_before)[places] - 1
    worth = (text[places] - np.uint8(ZERO)).astype(np.int64) * 10 ** (end[run] - 1 - places)
    number = np.add.reduceat(worth, np.searchsorted(places, begin)) if len(begin) else worth
    # With its length, since 1 and 01 are two ids.
    label = number * (MAX_DIGITS + 1) + (end - begin)
    return _Events(np.searchsorted(after, begin, "right"), label, begin, end, opens, closes)


def _entities(document: Ints, label: Ints) -> tuple[Ints, Ints]:
    """Numbers for the entities, from 0 in the order of the file, and the first event of each."""
    labels, number = np.unique(label, return_inverse=True)
    _, first, entity = np.unique(document * max(len(labels), 1) + number, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[entity], first[order]


def _matched(entity: Ints, events: _Events) -> tuple[Ints, Ints] | None:
    """The events that open and close each mention, by entity and opening; None where brackets don't match."""
    step = events.opens.astype(np.int64) - events.closes
    order = np.argsort(entity, kind="stable")
    depth = np.cumsum(step[order])
    is_last = np.append(np.diff(entity[order]) != 0, True)[: len(order)]
    if (depth < 0).any() or depth[is_last].any():
        return None
    # A mention's level is how many of its entity are open with it: of a level, openings and closings alternate.
    of_level = np.where(step[order] < 0, depth + 1, depth)
    half = np.flatnonzero(step[order])
    half = half[np.lexsort((half, of_level[half], entity[order][half]))]
    single = np.flatnonzero(events.opens & events.closes)
    opened = np.concatenate([order[half[0::2]], single])
    closed = np.concatenate([order[half[1::2]], single])
    by_opening = np.lexsort((opened, entity[opened]))
    return opened[by_opening], closed[by_opening]


def mentions_one_by_one(data: bytes, cells: Cells, widths: Sequence[int], problems: Problems) -> Mentions:
    """The mentions of cells, and what is wrong with them.

    Args:
        data: the file.
        cells: the cells.
        widths: how many columns each document has.
        problems: takes in what is found.
    """
    reader = _OneByOne(problems)
    document = 0
    columns = (column.tolist() for column in cells)
    for its_document, token, line, begin, end, is_ragged in zip(*columns, strict=True):
        if its_document != document:
            reader.end_document(widths[document])
            document = its_document
        reader.take(document, token, line, data[begin:end].rstrip(), is_ragged, widths[document])
        if problems.total > LISTED:
            return reader.mentions()
    if len(cells.token):
        reader.end_document(widths[document])
    return reader.mentions()


class _OneByOne:
    """Goes through the cells of a file."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        # Of each entity of the current document: its number, and its open mentions with their lines.
        self._entities: dict[bytes, tuple[int, list[tuple[int, int]]]] = {}
        self._labels: list[str] = []
        self._document, self._entity, self._start, self._end = (array("q") for _ in range(4))

    def take(self, document: int, token: int, line: int, cell: bytes, is_ragged: bool, width: int) -> None:
        """Read on."""
        column = f"column {width}"
        if not CELL.fullmatch(cell):
            if not is_ragged:
                found = f"{quote(cell.decode('utf-8'))} is no mention cell"
                self._problems.add(f"{column}: {found}; needed: '-', '(ID)', '(ID' or 'ID)', several by '|'", line)
            return
        for opening, label, closing in PIECE.findall(cell):
            if opening:
                if label not in self._entities:
                    self._entities[label] = (len(self._labels), [])
                    self._labels.append(label.decode())
                entity, mentions = self._entities[label]
                if not closing:
                    mentions.append((len(self._entity), line))
                for values, value in zip(
                    (self._document, self._entity, self._start, self._end),
                    (document, entity, token, token),
                    strict=True,
                ):
                    values.append(value)
            elif label in self._entities and self._entities[label][1]:
                self._end[self._entities[label][1].pop()[0]] = token
            else:
                found = f"entity {shorten(label.decode(), 60)} closes but is not open"
                self._problems.add(f"{column}: {found}", line)

    def end_document(self, width: int) -> None:
        """Say what is still open."""
        for label, (_, mentions) in self._entities.items():
            for _, line in mentions:
                found = f"column {width}: entity {shorten(label.decode(), 60)} opens but never closes"
                self._problems.add(found, line)
        self._entities = {}

    def mentions(self) -> Mentions:
        """All that was read."""
        document, start, end, entity = (
            np.array(values, np.int64) for values in (self._document, self._start, self._end, self._entity)
        )
        order = np.argsort(entity, kind="stable")
        return Mentions(document[order], start[order], end[order], entity[order], self._labels)
