"""The ``Entity=`` values of CorefUD files, split into pieces all at once.

Conventions: as in `closeread.tasks.coref.conllu_entities`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.tasks.coref.conll_cells import gather
from closeread.tasks.coref.conllu_rows import NEWLINE, join_texts, parse_numbers

SmallInts = NDArray[np.int32]
"""What is kept for every value of a file, which has at most 2**30 bytes."""

OPEN, CLOSE, HYPHEN = b"()-"
ABSENT = -1


class Cells(NamedTuple):
    """The Entity values of a file, in its order, all (n_cells,).

    Attributes:
        document: the document of each, from 0.
        token: its token in the document, from 0.
        line: its line, from 1.
        begin, end: where it stands in the bytes of the file.
        declared: the declaration of its fields, by number.
    """

    document: SmallInts
    token: SmallInts
    line: SmallInts
    begin: SmallInts
    end: SmallInts
    declared: SmallInts


class Fields(NamedTuple):
    """Declarations of fields, all (n_declarations,).

    Attributes:
        n_fields: the number of fields.
        name, head, etype: the index of the entity's id, of the head and of the type among them; `ABSENT` if none.
    """

    n_fields: Ints
    name: Ints
    head: Ints
    etype: Ints


class Pieces(NamedTuple):
    """The pieces of values, in the order of the file, all (n_pieces,).

    Attributes:
        document, token: the document and the token.
        name: the id of its entity, with the number of the part, as an index into the distinct ones.
        opens, closes: whether it opens a mention or a part of one, and whether it closes one.
        head: the number of the head among the mention's tokens, 0 if not given.
        type_begin, type_end: where the type of the entity is in the bytes of the file.
    """

    document: SmallInts
    token: SmallInts
    name: SmallInts
    opens: Mask
    closes: Mask
    head: SmallInts
    type_begin: SmallInts
    type_end: SmallInts

    def take(self, rows: slice) -> Pieces:
        """Return some of the pieces."""
        return Pieces(
            document=self.document[rows],
            token=self.token[rows],
            name=self.name[rows],
            opens=self.opens[rows],
            closes=self.closes[rows],
            head=self.head[rows],
            type_begin=self.type_begin[rows],
            type_end=self.type_end[rows],
        )


class NameNumbers(dict[bytes, int]):
    """Numbers of names, from 0, in the order in which they are asked for."""

    def __missing__(self, name: bytes) -> int:
        return self.setdefault(name, len(self))


def parse_pieces(
    raw: NDArray[np.uint8], offset: int, cells: Cells, fields: Fields, names: NameNumbers
) -> Pieces | None:
    """Split values into pieces; None if a value is invalid.

    Args:
        raw: a block of the file.
        offset: the position of the block in the file.
        cells: the values, all in the block.
        fields: the declarations of their fields.
        names: the numbers of names; new ones are added.
    """
    # Each value with the byte after it, which is replaced by a line end to separate values.
    cell_end = cells.end.astype(np.int64)
    text, after = gather(raw, cells.begin.astype(np.int64) - offset, cell_end + 1 - offset)
    text[after - 1] = NEWLINE
    bracket = (text == OPEN) | (text == CLOSE)
    inside = ~bracket & (text != NEWLINE)
    before, behind = np.roll(text, 1), np.roll(text, -1)
    begin = np.flatnonzero(inside & ~np.roll(inside, 1))
    end = np.flatnonzero(inside & ~np.roll(inside, -1)) + 1
    opens, closes = before[begin] == OPEN, behind[end - 1] == CLOSE
    is_valid = (
        (opens | closes).all() and np.roll(inside, -1)[text == OPEN].all() and np.roll(inside, 1)[text == CLOSE].all()
    )
    if not is_valid:
        return None
    cell = np.searchsorted(after, begin, "right")
    split = _Splitter(text, begin, end, cells.declared[cell], fields.n_fields)
    # What closes a mention has no fields.
    name_begin, name_end = split.field(fields.name)
    name_begin, name_end = np.where(opens, name_begin, begin), np.where(opens, name_end, end)
    head_begin, head_end = split.field(fields.head)
    head, is_number = parse_numbers(text, head_begin, head_end)
    has_head = opens & (head_begin < head_end)
    if not (is_number & (head > 0))[has_head].all():
        return None
    type_begin, type_end = split.field(fields.etype)
    to_file = cell_end[cell] - (after[cell] - 1)  # from a position in the text
    return Pieces(
        document=cells.document[cell],
        token=cells.token[cell],
        name=number_texts(text, name_begin, name_end, names),
        opens=opens,
        closes=closes,
        head=np.where(has_head, head, 0).astype(np.int32),
        type_begin=(type_begin + to_file).astype(np.int32),
        type_end=(type_end + to_file).astype(np.int32),
    )


class _Splitter:
    """Splitter of texts at hyphens, into no more fields than declared."""

    def __init__(self, text: NDArray[np.uint8], begin: Ints, end: Ints, declared: SmallInts, n_fields: Ints) -> None:
        self._hyphens = np.append(np.flatnonzero(text == HYPHEN), len(text))
        self._first = np.searchsorted(self._hyphens, begin)
        n_hyphens = np.searchsorted(self._hyphens, end) - self._first
        self._last_field = np.minimum(n_hyphens, n_fields[declared] - 1)
        self._begin, self._end, self._declared = begin, end, declared

    def field(self, index: Ints) -> tuple[Ints, Ints]:
        """Return begin and end of a field, by its index in each declaration; equal ones if it is absent."""
        at = index[self._declared]
        hyphen = self._first + at
        begin = np.where(at > 0, self._hyphens.take(hyphen - 1, mode="clip") + 1, self._begin)
        end = np.where(at < self._last_field, self._hyphens.take(hyphen, mode="clip"), self._end)
        is_absent = (at == ABSENT) | (at > self._last_field)
        return np.where(is_absent, self._begin, begin), np.where(is_absent, self._begin, end)


def number_texts(text: NDArray[np.uint8], begin: Ints, end: Ints, names: NameNumbers) -> SmallInts:
    """Return the number of each text, none of which contains a line end; new ones are added to the names."""
    found = join_texts(text, begin, end).split(b"\n")[:-1]
    return np.fromiter(map(names.__getitem__, found), np.int32, len(found))
