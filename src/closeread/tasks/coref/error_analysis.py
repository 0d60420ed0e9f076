"""Where a response parts from its key: split, merged, missing and spurious entities, missing and spurious mentions.

Conventions: an entity of the key is *split* if its mentions lie in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it holds mentions of several entities of the
key, and *spurious* if it holds none of any.  Mentions that only the key has are missing, those that only the response
has are spurious, whatever became of their entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.overlap import matches
from closeread.tasks.coref.kernels.sides import Side, mention_codes

KINDS = {
    "split entity": "key",
    "merged entities": "response",
    "missing entity": "key",
    "spurious entity": "response",
    "missing mention": "key",
    "spurious mention": "response",
}
"""Every kind of error, and the side that the entity or mention belongs to."""


NOWHERE = -1


@dataclass(frozen=True)
class Mention:
    """A mention as it is shown.

    Attributes:
        start, end: its first and last token.
        text: its words; None where the file has no text.
    """

    start: int
    end: int
    text: str | None


@dataclass(frozen=True)
class CorefError:
    """One error.

    Attributes:
        kind: one of `KINDS`.
        document: the document's name.
        entity: the entity's id in its file, or its number in its document, from 0, where it has none.
        pieces: the entity's mentions, those together that the other side has in one entity, and those that it lacks; of
            an error in a mention the mention alone.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[Mention, ...], ...]


@dataclass(frozen=True)
class CorefErrors:
    """All errors of a response.

    Attributes:
        counts: how many there are of every kind in `KINDS`, and of entities that are right to the last mention.
        errors: the errors, by kind and then as they stand in the file.
    """

    counts: Mapping[str, int]
    errors: tuple[CorefError, ...]


def find_errors(key: MentionTable, response: MentionTable, sides: tuple[Side, Side]) -> CorefErrors:
    """The errors of a response.

    Args:
        key, response: the same documents in the same order.
        sides: the two as the metrics take them, with nothing dropped (`closeread.tasks.coref.procedure.sides`).
    """
    codes = mention_codes(*sides)
    key_row, response_row = matches(*codes)
    found = (
        *_of_entities("split entity", "missing entity", key, sides[0], key_row, sides[1].entity[response_row]),
        *_of_entities("merged entities", "spurious entity", response, sides[1], response_row, sides[0].entity[key_row]),
        *_of_mentions("missing mention", key, ~np.isin(codes[0], codes[1])),
        *_of_mentions("spurious mention", response, ~np.isin(codes[1], codes[0])),
    )
    counted = Counter(error.kind for error in found)
    order = {kind: i for i, kind in enumerate(KINDS)}
    return CorefErrors(
        {"right entity": _right(sides, key_row, response_row), **{kind: counted[kind] for kind in KINDS}},
        tuple(sorted(found, key=lambda error: order[error.kind])),
    )


def _right(sides: tuple[Side, Side], key_row: Ints, response_row: Ints) -> int:
    """How many entities are the same on both sides."""
    pairs = np.column_stack([sides[0].entity[key_row], sides[1].entity[response_row]])
    cells, shared = np.unique(pairs, axis=0, return_counts=True)
    whole = [np.bincount(side.entity, minlength=1)[cells[:, i]] == shared for i, side in enumerate(sides)]
    return int((whole[0] & whole[1]).sum())


def _of_entities(
    parted: str, unmatched: str, table: MentionTable, side: Side, row: Ints, other: Ints
) -> Iterator[CorefError]:
    """The entities of a side that lie in several entities of the other, or in none.

    Args:
        parted, unmatched: what to call the two.
        table, side: whose entities.
        row, other: (n_matches,) a row of the side whose mention the other side has, and its entity there.
    """
    there = np.full(len(side.entity), NOWHERE)
    there[row] = other
    cells = np.unique(np.column_stack([side.entity[row], other]), axis=0)[:, 0]
    parts, size = (np.bincount(entity, minlength=side.n_entities) for entity in (cells, side.entity))
    starts = np.cumsum(size) - size  # the mentions of an entity follow each other
    error = _maker(table)
    for entity in np.flatnonzero((parts != 1) & (size > 0)).tolist():
        rows = np.arange(starts[entity], starts[entity] + size[entity])
        kind = parted if parts[entity] else unmatched
        yield error(kind, [rows[there[rows] == place] for place in dict.fromkeys(there[rows].tolist())])


def _of_mentions(kind: str, table: MentionTable, rows: Mask) -> Iterator[CorefError]:
    error = _maker(table)
    for row in np.flatnonzero(rows):
        yield error(kind, [np.array([row])])


def _maker(table: MentionTable) -> Callable[[str, Sequence[Ints]], CorefError]:
    """What makes errors of their kind and of rows of the table."""
    # Errors come document by document, and reading its words takes a while.
    words = lru_cache(maxsize=1)(table.words) if table.words is not None else None

    def mention(document: int, row: int) -> Mention:
        start, end = int(table.start[row]), int(table.end[row])
        if words is None:
            return Mention(start, end, None)
        parts = table.parts.get(row, ((start, end),))
        return Mention(start, end, " … ".join(" ".join(words(document)[a : b + 1]) for a, b in parts))

    def error(kind: str, pieces: Sequence[Ints]) -> CorefError:
        first = int(pieces[0][0])
        document = int(table.document[first])
        shown = tuple(tuple(mention(document, row) for row in piece.tolist()) for piece in pieces)
        return CorefError(kind, table.names[document], table.label(first), shown)

    return error
