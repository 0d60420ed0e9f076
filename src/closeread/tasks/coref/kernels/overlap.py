"""Key and response laid over each other: the sparse contingency table behind all coreference metrics.

Conventions: a cell is a key cluster and a response cluster that have a mention in common; one table holds the
cells of all documents.  Where no mention is repeated on a side, the four counts of a cell are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges
from closeread.tasks.coref.kernels.sides import Side, mention_codes, standing, sums


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of a side.

    Attributes:
        document: (n_entities,) the document of each; 0 where it has no mention.
        size: (n_entities,) how many mentions it has, each as often as it stands there.
    """

    document: Ints
    size: Ints


@dataclass(frozen=True, eq=False)
class Overlap:
    """What two sides have in common.

    Attributes:
        n_documents: how many documents there are.
        sides: key and response.
        repeats: whether a mention stands more than once on a side.
        key, response: their clusters.
        mentions: (n_documents, 3) mentions of both sides, of the key, of the response, each counted once.
        cell_key, cell_response: (n_cells,) the two clusters of every cell; by key cluster, never falling.
        shared: (n_cells,) mentions that stand in both clusters.
        linked: (n_cells,) mentions whose last cluster on either side are these two.
        key_held: (n_cells,) rows of the key cluster whose mention has this response cluster as its last.
        response_held: (n_cells,) rows of the response cluster whose mention has this key cluster as its last.
    """

    n_documents: int
    sides: tuple[Side, Side]
    repeats: bool
    key: Clusters
    response: Clusters
    mentions: Ints
    cell_key: Ints
    cell_response: Ints
    shared: Ints
    linked: Ints
    key_held: Ints
    response_held: Ints

    @property
    def transposed(self) -> Overlap:
        """The same with key and response exchanged: recall becomes precision."""
        order = np.argsort(self.cell_response, kind="stable")
        return Overlap(
            self.n_documents,
            (self.sides[1], self.sides[0]),
            self.repeats,
            self.response,
            self.key,
            self.mentions[:, [0, 2, 1]],
            self.cell_response[order],
            self.cell_key[order],
            self.shared[order],
            self.linked[order],
            self.response_held[order],
            self.key_held[order],
        )

    def per_document(self, values: Ints | Floats) -> Floats:
        """Sum what is counted of every cell, (n_cells,), to (n_documents,)."""
        return sums(self.key.document[self.cell_key], values, self.n_documents)

    def per_key_document(self, values: Ints | Floats | Mask) -> Floats:
        """Sum what is counted of every key cluster, (n_entities,), to (n_documents,)."""
        return sums(self.key.document, values, self.n_documents)


def overlap(key: Side, response: Side, n_documents: int) -> Overlap:
    """Lay key and response over each other.

    Args:
        key: the mentions of the key.
        response: the mentions of the response.
        n_documents: how many documents there are, those without a mention among them.
    """
    key_code, response_code = mention_codes(key, response)
    key_row, response_row = matches(key_code, response_code)
    pair = key.entity[key_row] * response.n_entities + response.entity[response_row]
    cells, cell = np.unique(pair, return_inverse=True)

    in_key, in_response, in_both = (
        _distinct(code, document, n_documents)
        for code, document in (
            (key_code, key.document),
            (response_code, response.document),
            (key_code[key_row], key.document[key_row]),
        )
    )
    repeats = bool(in_key.sum() < len(key_code) or in_response.sum() < len(response_code))
    shared = linked = key_held = response_held = np.bincount(cell, minlength=len(cells))
    if repeats:
        here, there = standing(key_code, key.entity), standing(response_code, response.entity)
        first, key_last, response_last = here.first[key_row], here.last[key_row], there.last[response_row]
        shared, linked, key_held, response_held = (
            np.bincount(cell[rows], minlength=len(cells))
            for rows in (
                first & there.first[response_row],
                key_last & response_last,
                response_last,
                key_last,
            )
        )
    cell_key, cell_response = np.divmod(cells, max(response.n_entities, 1))
    return Overlap(
        n_documents,
        (key, response),
        repeats,
        _clusters(key),
        _clusters(response),
        np.column_stack([in_both, in_key, in_response]),
        cell_key,
        cell_response,
        shared,
        linked,
        key_held,
        response_held,
    )


def matches(key_code: Ints, response_code: Ints) -> tuple[Ints, Ints]:
    """The pairs of a key row and a response row that are the same mention.

    Args:
        key_code: (n_key,) which mention each row of the key is.
        response_code: (n_response,) which mention each row of the response is.

    Returns:
        Rows of the key, rows of the response, both (n_pairs,).
    """
    order = np.argsort(response_code, kind="stable")
    in_order = response_code[order]
    first = np.searchsorted(in_order, key_code, "left")
    found = np.searchsorted(in_order, key_code, "right") - first
    key_row, place = expand_ranges(first, found)
    return key_row, order[place]


def _distinct(code: Ints, document: Ints, n_documents: int) -> Ints:
    """How many different mentions every document has."""
    _, row = np.unique(code, return_index=True)
    return np.bincount(document[row], minlength=n_documents)


def _clusters(side: Side) -> Clusters:
    """The document and the size of every cluster."""
    document = np.zeros(side.n_entities, dtype=np.int64)
    document[side.entity] = side.document
    return Clusters(document, np.bincount(side.entity, minlength=side.n_entities))
