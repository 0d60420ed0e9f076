"""Errors of a response: split, merged, missing and spurious entities, missing and spurious mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.overlap import match_rows
from closeread.tasks.coref.kernels.sides import Side, mention_codes

KINDS = {
    "split entity": "key",
    "merged entities": "response",
    "missing entity": "key",
    "spurious entity": "response",
    "missing mention": "key",
    "spurious mention": "response",
}
"""The kinds of errors, and the side that the entity or mention belongs to."""

NOWHERE = -1


@dataclass(frozen=True)
class Mention:
    """A mention for display.

    Attributes:
        start, end: its first and last token.
        text: its words; None if the file has no text.
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
        entity: the entity's id in its file, or else its number in the document, from 0.
        pieces: the mentions of the entity, grouped by their entity on the other side, with those that it lacks as a
            group; for an error in a mention, that mention.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[Mention, ...], ...]


@dataclass(frozen=True)
class CorefErrors:
    """All errors of a response.

    Attributes:
        counts: the number of errors of each kind in `KINDS`, and of entities that are identical on both sides.
        errors: the errors, by kind and then in the order of the file.
    """

    counts: Mapping[str, int]
    errors: tuple[CorefError, ...]


def find_errors(key: MentionTable, response: MentionTable, sides: tuple[Side, Side]) -> CorefErrors:
    """Find the errors of a response.

    Args:
        key, response: the same documents in the same order.
        sides: the two as the metrics take them, with nothing dropped (`closeread.tasks.coref.matching.match_sides`).
    """
    codes = mention_codes(*sides)
    key_row, response_row = match_rows(*codes)
    (own_codes, other_codes), (own, other) = codes, sides
    found = (
        *_find_in_entities("split entity", "missing entity", key, own, key_row, other.entity[response_row]),
        *_find_in_entities("merged entities", "spurious entity", response, other, response_row, own.entity[key_row]),
        *_find_in_mentions("missing mention", key, ~np.isin(own_codes, other_codes)),
        *_find_in_mentions("spurious mention", response, ~np.isin(other_codes, own_codes)),
    )
    counted = Counter(error.kind for error in found)
    order = {kind: i for i, kind in enumerate(KINDS)}
    return CorefErrors(
        {"right entity": _count_right(sides, key_row, response_row), **{kind: counted[kind] for kind in KINDS}},
        tuple(sorted(found, key=lambda error: order[error.kind])),
    )


def _count_right(sides: tuple[Side, Side], key_row: Ints, response_row: Ints) -> int:
    """Count the entities that are identical on both sides."""
    pairs = np.column_stack([sides[0].entity[key_row], sides[1].entity[response_row]])
    cells, shared = np.unique(pairs, axis=0, return_counts=True)
    whole = [np.bincount(side.entity, minlength=1)[cells[:, i]] == shared for i, side in enumerate(sides)]
    return int((whole[0] & whole[1]).sum())


def _find_in_entities(
    parted: str, unmatched: str, table: MentionTable, side: Side, row: Ints, other: Ints
) -> Iterator[CorefError]:
    """Find the entities of a side that are in several entities of the other side, or in none.

    Args:
        parted, unmatched: the names of the two kinds.
        table, side: the side of the entities.
        row, other: (n_matches,) the rows whose mention the other side has, and its entity there.
    """
    there = np.full(len(side.entity), NOWHERE)
    there[row] = other
    cells = np.unique(np.column_stack([side.entity[row], other]), axis=0)[:, 0]
    parts, size = (np.bincount(entity, minlength=side.n_entities) for entity in (cells, side.entity))
    starts = np.cumsum(size) - size  # the mentions of an entity are consecutive
    error = _make_errors(table)
    for entity in np.flatnonzero((parts != 1) & (size > 0)).tolist():
        rows = np.arange(starts[entity], starts[entity] + size[entity])
        kind = parted if parts[entity] else unmatched
        yield error(kind, [rows[there[rows] == place] for place in dict.fromkeys(there[rows].tolist())])


def _find_in_mentions(kind: str, table: MentionTable, rows: Mask) -> Iterator[CorefError]:
    error = _make_errors(table)
    for row in np.flatnonzero(rows):
        yield error(kind, [np.array([row])])


def _make_errors(table: MentionTable) -> Callable[[str, Sequence[Ints]], CorefError]:
    """Return a function that makes an error from its kind and rows of the table."""
    # Errors come document by document, and reading the words of a document is slow.
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
