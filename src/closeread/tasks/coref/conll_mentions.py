"""The mentions of CoNLL files, read from the cells of many documents at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints, Mask
from closeread.exceptions import pluralize, quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.conll_cells import NEWLINE, Cells, Mentions, read_mentions_at_once
from closeread.tasks.coref.conll_cells_one_by_one import read_mentions_one_by_one


class _Found(NamedTuple):
    """The mentions of some documents, as in `Mentions`; their entities are numbered from 0."""

    document: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    entity: NDArray[np.int32]
    labels: Sequence[str]
    rank: Ints | None


class MentionReader:
    """Reader of the cells that may hold mentions.

    Args:
        problems: collects the problems.
        batch: from how many bytes on cells are read when a document ends; None to read them at the end.
    """

    def __init__(self, problems: Problems, batch: int | None) -> None:
        self._problems, self._batch = problems, batch
        self._texts: list[NDArray[np.uint8]] = []
        self._cells: list[Cells] = []
        self._n_bytes = 0
        self._widths: list[int] = []
        self._found: list[_Found] = []
        self._n_reopened, self._first_reopened = 0, ""

    def take(
        self, text: NDArray[np.uint8], after: Ints, *, document: int, token: Ints, line: Ints, is_ragged: Mask
    ) -> None:
        """Read some cells of a document.

        Args:
            text: the cells, each with a byte after it.
            after: (n_cells,) the end of each, after this byte.
            document: the number of the document.
            token, line, is_ragged: (n_cells,), as in `Cells`.
        """
        text[after - 1] = NEWLINE
        end = after + (self._n_bytes - 1)
        begin = np.concatenate([[0], after[:-1]]) + self._n_bytes if len(after) else after
        self._cells.append(Cells(np.full(len(after), document), token, line, begin, end, is_ragged))
        self._texts.append(text)
        self._n_bytes += len(text)

    def end_document(self, width: int) -> None:
        """Note that a document ends whose rows have so many cells; read the mentions if there are enough cells."""
        self._widths.append(width)
        if self._batch is not None and self._n_bytes >= self._batch:
            self._read()

    def finish(self) -> Mentions:
        """Return all mentions, or report problems."""
        self._read()
        found, self._found = self._found, []
        starts = list(accumulate((len(one.labels) for one in found), initial=0))
        ranks = [one.rank for one in found]
        entity = [one.entity + start for one, start in zip(found, starts, strict=False)]
        every = [
            (np.arange(len(one.labels)) if one.rank is None else one.rank) + start
            for one, start in zip(found, starts, strict=False)
        ]
        return Mentions(
            document=np.concatenate([one.document for one in found]).astype(np.int64),
            start=np.concatenate([one.start for one in found]).astype(np.int64),
            end=np.concatenate([one.end for one in found]).astype(np.int64),
            entity=np.concatenate(entity).astype(np.int64),
            labels=[label for one in found for label in one.labels],
            rank=None if all(rank is None for rank in ranks) else np.concatenate(every),
            reopened=np.zeros(0, np.int64),
        )

    def describe_reopened(self) -> list[str]:
        """Describe the cells that close a mention of an entity before they open one, in a notice; none if none do."""
        if not self._n_reopened:
            return []
        where = f"{pluralize(self._n_reopened, 'cell')} (first: {self._first_reopened})"
        how = "what opens is read before what closes, as the reference scorer does"
        return [f"an entity closes and opens again in {where}; {how}"]

    def _read(self) -> None:
        columns = zip(*self._cells, strict=True) if self._cells else ([np.zeros(0, np.int64)] for _ in Cells._fields)
        cells = Cells(*(np.concatenate(column) for column in columns))
        text = np.concatenate([np.zeros(0, np.uint8), *self._texts])
        self._cells, self._texts, self._n_bytes = [], [], 0
        found = None if self._problems.total else read_mentions_at_once(text, cells)
        if found is None:
            found = read_mentions_one_by_one(text.tobytes(), cells, self._widths, self._problems)
        if len(found.reopened) and not self._n_reopened:
            first = found.reopened[0]
            cell = quote(text[cells.begin[first] : cells.end[first]].tobytes().rstrip().decode("utf-8"))
            self._first_reopened = f"{cell} on line {cells.line[first]}"
        self._n_reopened += len(found.reopened)
        document, start, end, entity = (column.astype(np.int32) for column in found[:4])
        self._found.append(_Found(document, start, end, entity, found.labels, found.rank))
