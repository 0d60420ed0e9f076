"""The overlap of the entities of key and response, from which all coreference metrics are counted.

Conventions: a side is three columns with one row for each mention of an entity.  One overlap holds the entities of all
documents.  What has a value for the key and one for the response is a pair, in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, mark_run_starts, sum_groups
from closeread.tasks.coref.columns import Columns

Pair = tuple[Ints, Ints]
"""Arrays of the key and of the response."""

KEY = 0
RESPONSE = 1
SIDES = (KEY, RESPONSE)

MAX_RANGE = 2**36
"""How far apart codes of mentions may be; 2**27 documents are then no problem."""


class Side(NamedTuple):
    """Mentions and their entities.

    Attributes:
        document: (n_mentions,) int64, the document of each mention, from 0.
        mention: (n_mentions,) int64, an arbitrary code for each mention: within a document, rows with equal codes, on
            this side or the other, are the same mention.
        entity: (n_mentions,) int64, the entity of each mention, from 0 over all documents; numbers may be unused.
    """

    document: Ints
    mention: Ints
    entity: Ints

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[int, ...]]) -> Side:
        """Make columns of rows."""
        return cls(*np.array(rows, np.int64).reshape(-1, 3).T)

    def select(self, rows: Mask) -> Side:
        """Return the rows where the mask is true."""
        return Side(*(column[rows] for column in self))


Sides = tuple[Side, Side]
"""Key and response."""


def code_spans(key: Columns, response: Columns) -> Pair:
    """Return the codes of the mentions of both sides, of which none is discontinuous: the same for the same tokens."""
    width = 1 + int(np.concatenate([key.end, response.end]).max(initial=0))
    return key.start * width + key.end, response.start * width + response.end


def mention_codes(*sides: Side) -> list[Ints]:
    """Number the mentions of all documents from 0, with the same numbers on all sides."""
    document = np.concatenate([side.document for side in sides])
    mention = np.concatenate([side.mention for side in sides])
    # Codes that are far apart are renumbered, so that document and code fit into one integer.
    if int(mention.max(initial=0)) - int(mention.min(initial=0)) > MAX_RANGE:
        mention = np.unique(mention, return_inverse=True)[1]
    mention = mention - mention.min(initial=0)
    code = document * (mention.max(initial=0) + 1) + mention
    ends = np.cumsum([len(side.mention) for side in sides])
    return np.split(code, ends[:-1])


def match_rows(key_code: Ints, response_code: Ints) -> Pair:
    """Find all pairs of a key row and a response row with the same code: both rows, (n_pairs,)."""
    order = np.argsort(response_code, kind="stable")
    in_order = response_code[order]
    first = np.searchsorted(in_order, key_code, "left")
    n_equal = np.searchsorted(in_order, key_code, "right") - first
    key_row, place = expand_ranges(first, n_equal)
    return key_row, order[place]


@dataclass(frozen=True, eq=False)
class Overlap:
    """The entities of key and response, and how many mentions they have in common.

    Attributes:
        n_documents: the number of documents.
        documents: (n_entities,) each, the document of each entity.
        sizes: (n_entities,) each, the number of its mentions; 0 if its number is unused.
        entities: (n_overlaps,) each, the two entities of each overlap, which have mentions in common.
        common: (n_overlaps,) how many.
        document: (n_overlaps,) the document of each overlap.
    """

    n_documents: int
    documents: Pair
    sizes: Pair
    entities: Pair
    common: Ints | Floats
    document: Ints

    def size_of(self, side: int) -> Ints:
        """Return the size of each overlap's entity on a side, (n_overlaps,)."""
        return self.sizes[side][self.entities[side]]

    def sum_overlaps(self, values: Ints | Floats | Mask) -> Floats:
        """Sum a value of each overlap by document, (n_documents,)."""
        return sum_groups(self.document, values.astype(np.float64), self.n_documents)

    def sum_entities(self, side: int, values: Ints | Floats | Mask) -> Floats:
        """Sum a value of each entity of a side by document, (n_documents,)."""
        return sum_groups(self.documents[side], values.astype(np.float64), self.n_documents)

    def n_mentions(self, side: int) -> Floats:
        """Count the mentions of a side in each document, (n_documents,)."""
        return self.sum_entities(side, self.sizes[side])


def compare_entities(key: Side, response: Side, n_documents: int) -> Overlap:
    """Count the mentions that entities have in common; no mention occurs twice on a side (else see `duplicates`)."""
    key_row, response_row = match_rows(*mention_codes(key, response))
    width = 1 + int(response.entity.max(initial=0))
    pairs = key.entity[key_row] * width + response.entity[response_row]
    overlaps, common = np.unique(pairs, return_counts=True)
    return make_overlap(key, response, n_documents, np.divmod(overlaps, width), common)


def make_overlap(
    key: Side, response: Side, n_documents: int, entities: Pair, common: Ints
) -> Overlap:
    """Return the overlap of two sides, given the entities that have mentions in common, and how many."""
    sizes = (np.bincount(key.entity), np.bincount(response.entity))
    key_documents = np.zeros(len(sizes[KEY]), np.int64)
    key_documents[key.entity] = key.document
    response_documents = np.zeros(len(sizes[RESPONSE]), np.int64)
    response_documents[response.entity] = response.document
    documents = (key_documents, response_documents)
    document = key_documents[entities[KEY]]
    return Overlap(n_documents, documents, sizes, entities, common, document)


def find_duplicates(side: Side) -> Ints:
    """Find the rows that repeat a mention, (n, 2): the mention's first row, and this row."""
    (code,) = mention_codes(side)
    order = np.lexsort((side.entity, code))
    is_new = mark_run_starts(code[order])
    first = order[is_new][np.cumsum(is_new) - 1]
    return np.column_stack([first, order])[~is_new]
