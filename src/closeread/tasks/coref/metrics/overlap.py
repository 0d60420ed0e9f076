"""The overlap of key and response: the sparse contingency table behind all coreference metrics.

Conventions: a side is three columns with one row per mention of a cluster.  Clusters are numbered in the order in which
they are opened.  A cell is a key cluster and a response cluster that share a mention; one table holds the cells of all
documents.  No mention occurs twice on a side (otherwise see `repeats`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, sum_groups


@dataclass(frozen=True, eq=False)
class Side:
    """Mentions and their clusters.

    Attributes:
        document: (n_mentions,) int64, the document of each mention, from 0.
        mention: (n_mentions,) int64, an arbitrary code for each mention: within a document, rows with equal codes, on
            this side or the other, are the same mention.
        entity: (n_mentions,) int64, the cluster of each mention, from 0 over all documents; numbers may be unused.
    """

    document: Ints
    mention: Ints
    entity: Ints

    @property
    def n_entities(self) -> int:
        """One more than the highest cluster number."""
        return int(self.entity.max(initial=-1)) + 1

    def select(self, rows: Mask) -> Side:
        """Return the rows where the mask is true."""
        return Side(self.document[rows], self.mention[rows], self.entity[rows])


def mention_codes(*sides: Side) -> list[Ints]:
    """Number the mentions of all documents, with the same numbers on all sides.

    Returns:
        For each side (n_mentions,) int64, not negative.
    """
    document = np.concatenate([side.document for side in sides])
    mention = np.concatenate([side.mention for side in sides])
    lowest, highest = int(mention.min(initial=0)), int(mention.max(initial=0))
    # Document and code are packed into one integer; codes that are too far apart for that are renumbered first.
    if (highest - lowest + 1) * (int(document.max(initial=0)) + 1) > np.iinfo(np.int64).max:
        mention = np.unique(mention, return_inverse=True)[1]
        lowest, highest = 0, len(mention)
    code = document * (highest - lowest + 1) + (mention - lowest)
    return np.split(code, np.cumsum([len(side.mention) for side in sides])[:-1])


def sum_by_index(index: Ints, values: Ints | Floats | Mask, n: int) -> Floats:
    """Sum the values of each index from 0 to n - 1, (n,) float64."""
    return sum_groups(index, values.astype(np.float64), n)


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of a side.

    Attributes:
        document: (n_entities,) the document of each cluster; 0 for an empty one.
        size: (n_entities,) the number of its mentions.
    """

    document: Ints
    size: Ints

    @classmethod
    def of_side(cls, side: Side) -> Clusters:
        """Return the clusters of a side."""
        document = np.zeros(side.n_entities, dtype=np.int64)
        document[side.entity] = side.document
        return cls(document, np.bincount(side.entity, minlength=side.n_entities))


@dataclass(frozen=True, eq=False)
class Overlap:
    """The clusters of key and response, and the mentions that they share.

    Attributes:
        n_documents: the number of documents.
        key, response: their clusters.
        mentions: (n_documents, 3) the number of mentions in both sides, in the key, in the response.
        cell_key, cell_response: (n_cells,) the key cluster and the response cluster of each cell, sorted by key
            cluster.
        shared: (n_cells,) the number of mentions in both clusters.
        is_directed: whether `for_precision` is another table than this one transposed.
    """

    is_directed: ClassVar[bool] = False
    n_documents: int
    key: Clusters
    response: Clusters
    mentions: Ints
    cell_key: Ints
    cell_response: Ints
    shared: Ints

    @property
    def transposed(self) -> Self:
        """The same with key and response swapped, so that recall becomes precision."""
        order = np.argsort(self.cell_response, kind="stable")
        return replace(
            self,
            key=self.response,
            response=self.key,
            mentions=self.mentions[:, [0, 2, 1]],
            cell_key=self.cell_response[order],
            cell_response=self.cell_key[order],
            shared=self.shared[order],
        )

    @property
    def for_precision(self) -> Overlap:
        """The table whose recall is the precision of this one."""
        return self.transposed

    def per_document(self, values: Ints | Floats) -> Floats:
        """Sum a value of each cell, (n_cells,), by document, (n_documents,)."""
        return sum_by_index(self.key.document[self.cell_key], values, self.n_documents)

    def per_key_document(self, values: Ints | Floats | Mask) -> Floats:
        """Sum a value of each key cluster, (n_entities,), by document, (n_documents,)."""
        return sum_by_index(self.key.document, values, self.n_documents)


def overlap(key: Side, response: Side, n_documents: int) -> Overlap:
    """Build the table of key and response.

    Args:
        key: the mentions of the key.
        response: the mentions of the response.
        n_documents: the number of documents, including those without mentions.
    """
    key_row, response_row = match_rows(*mention_codes(key, response))
    cells, shared = np.unique(number_cells(key, response, key_row, response_row), return_counts=True)
    documents = (key.document[key_row], key.document, response.document)
    return Overlap(
        n_documents,
        Clusters.of_side(key),
        Clusters.of_side(response),
        np.column_stack([np.bincount(document, minlength=n_documents) for document in documents]),
        *np.divmod(cells, max(response.n_entities, 1)),
        shared,
    )


def match_rows(key_code: Ints, response_code: Ints) -> tuple[Ints, Ints]:
    """Find all pairs of a key row and a response row that are the same mention.

    Args:
        key_code: (n_key,) the mention of each row of the key.
        response_code: (n_response,) the mention of each row of the response.

    Returns:
        Rows of the key and rows of the response, both (n_pairs,).
    """
    order = np.argsort(response_code, kind="stable")
    in_order = response_code[order]
    first = np.searchsorted(in_order, key_code, "left")
    key_row, place = expand_ranges(first, np.searchsorted(in_order, key_code, "right") - first)
    return key_row, order[place]


def number_cells(key: Side, response: Side, key_row: Ints, response_row: Ints) -> Ints:
    """Number the cell of each pair of rows: `cell_key * response.n_entities + cell_response`."""
    return key.entity[key_row] * response.n_entities + response.entity[response_row]
