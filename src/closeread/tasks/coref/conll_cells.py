"""The last column of CoNLL files, which contains the mentions.

A cell is a sequence of pieces, with or without ``|`` between them: ``(12`` opens a mention of entity 12, ``12)`` closes
the last open mention of entity 12, ``(12)`` is a mention of a single token.  Ids begin with a digit or an ASCII letter.
As in the reference scorer (Pradhan et al. 2014, version 8.01), everything that opens on a token opens before anything
closes: after ``(1``, the cell ``1)|(1`` closes what it opens, a mention of its token alone, and the earlier mention
remains open.

Valid cells are read all at once (`read_mentions_at_once`).  If any is invalid, they are read again one by one
(`closeread.tasks.coref.conll_cells_one_by_one`), which is slower and finds the problems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask, mark_run_starts
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.kernels.brackets import match_brackets, number_by_first

MAX_ID_BYTES = 128
"""Longer ids are read one by one."""

NEWLINE, SPACE, OPEN, CLOSE, BAR = b"\n ()|"
FIRST_BEYOND_ASCII = 0x80
WORD = 8
"""The number of bytes of an id that are compared at once."""

# Of PropBank's `(ARG0*` no part is an id, and neither is a pair of entities, `(1+2)`.
ID = rb"[0-9A-Za-z][^\x00-\x20\x7f()|*+]*+"
# Possessive, so that a cell with a long id is not tried with every way to split it.
CELL = re.compile(rb"(?:\(%b\)?|%b\))(?:\|?(?:\(%b\)?|%b\)))*+" % (ID, ID, ID, ID))
BLANK_BYTE, BRACKET_BYTE, FIRST_BYTE, INNER_BYTE, INVALID_BYTE = range(5)
KINDS = np.full(256, INNER_BYTE, np.uint8)
KINDS[: SPACE + 1] = BLANK_BYTE
KINDS[[OPEN, CLOSE, BAR]] = BRACKET_BYTE
KINDS[[byte for byte in range(FIRST_BEYOND_ASCII) if chr(byte).isalnum()]] = FIRST_BYTE
KINDS[list(b"*+\x7f")] = INVALID_BYTE


class Cells(NamedTuple):
    """The cells that may hold mentions, in the order of the file, all (n_cells,).

    Attributes:
        document: the document of each, from 0.
        token: its token in the document, from 0.
        line: its line, from 1.
        begin, end: the begin of the cell and the end of its line, in a text of cells, each followed by a line end.
        is_ragged: whether its row has another number of cells than other rows, so that its last cell is unknown.
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
        rank: (n_entities,), as in `closeread.tasks.coref.columns.MentionTable`.
        reopened: the cells that close a mention of an entity before they open one, in ascending order.
    """

    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    labels: Sequence[str]
    rank: Ints | None
    reopened: Ints


class _Events(NamedTuple):
    """The pieces of all cells, in the order of the file.

    Attributes:
        cell: the cell of each piece.
        label: its id, as a number that differs for different ids.
        begin, end: the position of the id in the text.
        opens, closes: whether it opens a mention, and whether it closes one.
    """

    cell: Ints
    label: Ints
    begin: Ints
    end: Ints
    opens: Mask
    closes: Mask

    def take(self, rows: Ints) -> _Events:
        """Return these pieces in this order."""
        ids = (self.label[rows], self.begin[rows], self.end[rows])
        return _Events(self.cell[rows], *ids, self.opens[rows], self.closes[rows])


def gather(raw: NDArray[np.uint8], begin: Ints, end: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Concatenate ranges of bytes; return the bytes and the end of each range among them."""
    size = end - begin
    after = np.cumsum(size)
    return raw.take(np.repeat(begin - after + size, size) + np.arange(size.sum()), mode="clip"), after


def read_mentions_at_once(text: NDArray[np.uint8], cells: Cells) -> Mentions | None:
    """Read the mentions of cells; None if anything is invalid, or an id has more than `MAX_ID_BYTES` bytes.

    Args:
        text: the cells, each followed by a line end.
        cells: where they are.
    """
    events = _parse_events(text, cells.end + 1)
    if events is None:
        return None
    entity, first = _number_entities(cells.document[events.cell], events.label)
    by_entity = np.argsort(entity, kind="stable")
    reopened = _find_reopened(entity, events, by_entity)
    if len(reopened):
        events = events.take(np.lexsort((events.closes & ~events.opens, events.cell)))
        entity, first = _number_entities(cells.document[events.cell], events.label)
        by_entity = np.argsort(entity, kind="stable")
    found = match_brackets(entity, events.opens, events.closes, by_entity)
    if found is None:
        return None
    opened, closed = found
    by_opening = np.lexsort((opened, entity[opened]))
    opened, closed = opened[by_opening], closed[by_opening]
    token = cells.token[events.cell]
    return Mentions(
        document=cells.document[events.cell][opened],
        start=token[opened],
        end=token[closed],
        entity=entity[opened],
        labels=[
            text[begin:end].tobytes().decode()
            for begin, end in zip(events.begin[first].tolist(), events.end[first].tolist(), strict=True)
        ],
        rank=_rank_entities(entity[opened], opened, events),
        reopened=reopened,
    )


def _parse_events(text: NDArray[np.uint8], after: Ints) -> _Events | None:
    """Split cells into pieces; None if a cell is invalid."""
    kind = KINDS[text]
    if (kind == INVALID_BYTE).any() or _is_unsafe(text):
        return None
    is_id = kind >= FIRST_BYTE
    opening, closing, bar = text == OPEN, text == CLOSE, text == BAR
    # Blanks are at the end of cells only, so the text begins with a piece and ends with a line end.
    before, behind = np.roll(text, 1), np.roll(text, -1)
    id_before, id_behind = np.roll(is_id, 1), np.roll(is_id, -1)
    begin, end = np.flatnonzero(is_id & ~id_before), np.flatnonzero(is_id & ~id_behind) + 1
    opens, closes = before[begin] == OPEN, behind[end - 1] == CLOSE
    is_valid = (
        (kind[begin] == FIRST_BYTE).all()
        and (opens | closes).all()
        and id_behind[opening].all()
        and id_before[closing].all()
        and (id_before | (before == CLOSE))[bar].all()
        and (id_behind | (behind == OPEN))[bar].all()
    )
    if not is_valid or (end - begin).max(initial=0) > MAX_ID_BYTES:
        return None
    cell = np.searchsorted(after, begin, "right")
    return _Events(cell, _number_ids(text, begin, end), begin, end, opens, closes)


def _is_unsafe(text: NDArray[np.uint8]) -> bool:
    """Return whether a cell contains a control character beyond ASCII."""
    beyond = text >= FIRST_BEYOND_ASCII
    return bool(beyond.any()) and UNSAFE.search(text[beyond].tobytes().decode("utf-8")) is not None


def _number_ids(text: NDArray[np.uint8], begin: Ints, end: Ints) -> Ints:
    """Give ids numbers that are equal for equal ids only."""
    label = _pack_word(text, begin, end)
    for offset in range(WORD, int((end - begin).max(initial=0)), WORD):
        rows = np.flatnonzero(end - begin > offset)
        label = np.unique(label, return_inverse=True)[1]
        words, word = np.unique(_pack_word(text, begin[rows] + offset, end[rows]), return_inverse=True)
        label[rows] = len(label) + label[rows] * len(words) + word
    return label


def _pack_word(text: NDArray[np.uint8], begin: Ints, end: Ints) -> Ints:
    """Pack the first bytes of each range into a number; no range contains NUL bytes."""
    word = np.zeros(len(begin), np.int64)
    size = end - begin
    for place in range(min(int(size.max(initial=0)), WORD)):
        byte = text.take(begin + place, mode="clip").astype(np.int64)
        word |= np.where(size > place, byte, 0) << (8 * place)
    return word


def _number_entities(document: Ints, label: Ints) -> tuple[Ints, Ints]:
    """Number the entities from 0 in the order of the file; return the entity of each event, and its first event."""
    labels, number = np.unique(label, return_inverse=True)
    return number_by_first(document * max(len(labels), 1) + number)


def _find_reopened(entity: Ints, events: _Events, by_entity: Ints) -> Ints:
    """Find the cells that close a mention of an entity before they open one."""
    half = by_entity[events.opens[by_entity] != events.closes[by_entity]]
    one, other = half[:-1], half[1:]
    is_reopened = events.closes[one] & events.opens[other]
    is_reopened &= (entity[one] == entity[other]) & (events.cell[one] == events.cell[other])
    cells = np.sort(events.cell[one[is_reopened]])
    return cells[mark_run_starts(cells)]  # the first `np.unique` of its kind imports `numpy.ma`


def _rank_entities(entity: Ints, opened: Ints, events: _Events) -> Ints | None:
    """Rank entities in the order in which the reference scorer meets them.

    Args:
        entity: the entity of each mention, in ascending order.
        opened: the event that opens each mention.
        events: the events.
    """
    is_long = ~events.closes[opened]
    # A mention of one token comes before the others of its cell.
    order = np.lexsort((opened, is_long, events.cell[opened]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first = np.minimum.reduceat(place, np.flatnonzero(mark_run_starts(entity))) if len(entity) else place
    return rank_of(np.argsort(first))


def rank_of(order: Ints) -> Ints | None:
    """Return the rank of each entity from the entities in order; None if their numbers are in order."""
    numbers = np.arange(len(order))
    if (order == numbers).all():
        return None
    rank = np.empty_like(order)
    rank[order] = numbers
    return rank
