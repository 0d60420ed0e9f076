"""The last column of CorefUD files (MISC), which contains the mentions.

Entity values are read all at once (`closeread.tasks.coref.conllu_cells`).  If any is invalid, they are read again one
by one (`closeread.tasks.coref.conllu_entities`), which is slower and finds the problems.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask, mark_run_starts
from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.formats.stored_text import Text
from closeread.tasks.coref.conllu_cells import ABSENT, Cells, Fields, parse_pieces
from closeread.tasks.coref.conllu_entities import ENTITY_ID, EntityReader
from closeread.tasks.coref.conllu_mentions import Mentions, PieceLinker
from closeread.tasks.coref.conllu_relations import RelationReader
from closeread.tasks.coref.conllu_rows import MISC, RANGE, Rows, join_texts

BAR = ord("|")
DEFAULT_FIELDS = "eid-etype-head-other"
UNDECLARED, UNUSABLE = -1, -2
"""Numbers of declarations: there is none, or one without the entity's id."""


class Place(NamedTuple):
    """Where the rows of a block are.

    Attributes:
        document: (n_rows,) the document of each row, from 0.
        token: (n_rows,) the token of each in its document, or the next one.
        declared: (n_rows,) the number of the declaration that applies.
    """

    document: Ints
    token: Ints
    declared: Ints


class _Values(NamedTuple):
    """The values of an attribute, all (n_values,): the row of each, and where it is in the block."""

    row: Ints
    begin: Ints
    end: Ints

    def select(self, mask: Mask) -> _Values:
        """Return the values where the mask is true."""
        return _Values(self.row[mask], self.begin[mask], self.end[mask])


class MiscReader:
    """Reader of the MISC cells of a file.

    Args:
        text: the file.
        problems: collects the problems.
        batch: from how many pieces of Entity values on the mentions of complete documents are found; None to find all
            mentions at the end, and then all problems in the order of the file.

    Attributes:
        has_types: whether a declaration includes the types of entities.
        relations: reader of relations between entities.
    """

    def __init__(self, text: Text, problems: Problems, batch: int | None) -> None:
        self.has_types = False
        self.relations = RelationReader(problems)
        self._text, self._problems, self._batch = text, problems, batch
        self._declared: list[list[str]] = []
        self._numbers: dict[str, int] = {}
        self._indices: list[tuple[int, int, int, int]] = []
        self._cells: list[Cells] = []
        self._linker = PieceLinker(batch)
        self._is_valid = True

    def declare(self, line: int, value: str) -> int:
        """Read a declaration of fields; return its number."""
        number = self._numbers.get(value)
        return self._declare(line, value) if number is None else number

    def _declare(self, line: int, value: str) -> int:
        fields = value.split("-")
        given = [field for field in fields if field]
        if len(ENTITY_ID & set(given)) != 1 or len(set(given)) < len(given):
            expected = f"expected different fields with either eid or GRP, such as {DEFAULT_FIELDS!r}"
            self._problems.add(f"global.Entity is {quote(value)} ({expected})", line)
            return UNUSABLE
        etype = _index(fields, "etype", "entity")
        self._declared.append(fields)
        self._indices.append((len(fields), _index(fields, *ENTITY_ID), _index(fields, "head"), etype))
        self.has_types |= etype != ABSENT
        return self._numbers.setdefault(value, len(self._numbers))

    def take(self, rows: Rows, place: Place) -> None:
        """Read the cells of a block."""
        attributes = _Attributes(rows)
        self._take_entities(rows, attributes.find(b"Entity="), place)
        for name, take in (
            (b"Bridge=", self.relations.take_bridging),
            (b"SplitAnte=", self.relations.take_split_antecedents),
        ):
            found = attributes.find(name)
            found = found.select((found.begin < found.end) & (rows.kind[found.row] < RANGE))
            columns = (place.document[found.row].tolist(), (rows.lines[found.row] + rows.line).tolist())
            values = join_texts(rows.raw, found.begin, found.end).decode().split("\n")
            for document, line, value in zip(*columns, values[:-1], strict=True):
                take(document, line, value)

    def _take_entities(self, rows: Rows, values: _Values, place: Place) -> None:
        is_first = mark_run_starts(values.row)
        self._report(rows, np.unique(values.row[~is_first]), "column 10: Entity is given twice")
        values = values.select(is_first & (values.begin < values.end))
        kind = rows.kind[values.row]
        self._report(rows, values.row[kind == RANGE], "column 10: Entity on a multiword token (expected on its words)")
        values = values.select(kind < RANGE)
        declared = place.declared[values.row]
        expected = f"expected a line such as '# global.Entity = {DEFAULT_FIELDS}' before it"
        found = f"column 10: Entity without a declaration of its fields ({expected})"
        self._report(rows, values.row[declared == UNDECLARED], found)
        values, declared = values.select(declared >= 0), declared[declared >= 0]
        columns = (
            place.document[values.row],
            place.token[values.row],
            rows.lines[values.row] + rows.line,
            values.begin + rows.offset,
            values.end + rows.offset,
            declared,
        )
        cells = Cells(*(column.astype(np.int32) for column in columns))
        if self._batch is None:
            self._cells.append(cells)
        if self._is_valid and not self._problems.total:
            used, which = np.unique(declared, return_inverse=True)
            fields = Fields(*np.array([self._indices[i] for i in used.tolist()], np.int64).reshape(-1, 4).T)
            cells = cells._replace(declared=which.astype(np.int32))
            pieces = parse_pieces(rows.raw, rows.offset, cells, fields, self._linker.names)
            self._is_valid = pieces is not None and self._linker.take(pieces)
            self._report_unknown()

    def _report(self, rows: Rows, chosen: Ints, what: str) -> None:
        self._problems.add_lines(what, (rows.lines[chosen] + rows.line).tolist())

    def finish(self) -> Mentions | None:
        """Return all mentions; None, and report the problems, if any value is invalid."""
        found = self._linker.finish() if self._is_valid and not self._problems.total else None
        self._is_valid = found is not None
        if not self._is_valid:
            self._report_unknown()
            self._read_one_by_one()
        return found

    def _report_unknown(self) -> None:
        """Report that a value is invalid if that is all that will be known, since the values are not kept."""
        if not self._is_valid and self._batch is not None:
            self._problems.add("column 10: Entity is not valid")

    def _read_one_by_one(self) -> None:
        reader, last = EntityReader(self._problems), None
        for document, token, line, begin, end, declared in self._each_cell():
            if document != last:
                reader.end_document()
                last = document
            reader.take(line, token, self._text.read(begin, end).decode(), self._declared[declared])
            if self._problems.total > limits.MAX_PROBLEMS:
                return
        reader.end_document()

    def _each_cell(self) -> Iterator[tuple[int, ...]]:
        for cells in self._cells:
            yield from zip(*(column.tolist() for column in cells), strict=True)


class _Attributes:
    """The attributes in the MISC cells of a block, where ``NAME=VALUE`` begins a cell or follows a bar."""

    def __init__(self, rows: Rows) -> None:
        self._raw = rows.raw
        self._first, self._last = rows.cells(MISC)
        self._bars = np.flatnonzero(rows.raw == BAR)
        self._place = np.concatenate([self._first, self._bars + 1])
        self._letter = rows.raw.take(self._place, mode="clip")

    def find(self, name: bytes) -> _Values:
        """Find the values of an attribute, whose name ends in ``=``."""
        raw, first, last, bars = self._raw, self._first, self._last, self._bars
        place = self._place[self._letter == name[0]]
        for i, letter in enumerate(name[1:], start=1):
            place = place[raw.take(place + i, mode="clip") == letter]
        place.sort()
        if not len(place) or not len(first):
            return _Values(first[:0], first[:0], first[:0])
        row = np.searchsorted(first, place, "right") - 1
        is_inside = (row >= 0) & (place < last[row])
        row, begin = row[is_inside], place[is_inside] + len(name)
        end = np.append(bars, len(raw))[np.searchsorted(bars, begin)]
        return _Values(row, begin, np.minimum(end, last[row]))


def _index(fields: list[str], *names: str) -> int:
    """Return the index of the field with one of these names; `ABSENT` if there is none."""
    return next((i for i, field in enumerate(fields) if field in names), ABSENT)
