"""The overlap of key and response: the sparse contingency table behind all coreference metrics.

Conventions: a side is three columns with one row per mention of a cluster.  Clusters are numbered in the order in which
they are opened.  A cell is a key cluster and a response cluster that share a mention; one table holds the cells of all
documents.  What has a value for the key and one for the response is a pair, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, sum_groups

Pair = tuple[Any, Any]
"""Arrays of the key and of the response."""

KEY, RESPONSE = 0, 1


class Side(NamedTuple):
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
        return Side(*(column[rows] for column in self))


def mention_codes(*sides: Side) -> list[Ints]:
    """Number the mentions of all documents from 0, with the same numbers on all sides."""
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
class Overlap:
    """The clusters of key and response, and their overlaps.  Sides without repeated mentions share their mentions.

    Attributes:
        n_documents: the number of documents.
        documents: (n_entities,) each, the document of each cluster; 0 for an empty one.
        sizes: (n_entities,) each, the number of its mentions.
        mentions: (n_documents, 3) the number of mentions in both sides, in the key, in the response.
        cells: (n_cells,) each, the cluster of each cell; cells are sorted by the key cluster.
        shared: (n_cells,) the number of mentions in both clusters.
        linked: (n_cells,) each, how many mentions of the cluster are found in the other cluster.
        together: (n_cells,) each, with how many mentions each of these is found, itself included.
        links: (n_cells,) each, how many links of the cluster are found in the other cluster, counted in both
            directions, as `count_links` does.
        similarities: (n_cells,) both, the similarity of the two clusters for CEAFm, and half the numerator of that for
            CEAFe.
        places: the mentions of each document with their clusters on both sides, if mentions may be repeated.
    """

    n_documents: int
    documents: Pair
    sizes: Pair
    mentions: Ints
    cells: Pair
    shared: Ints
    linked: Pair
    together: Pair
    links: Pair
    similarities: Pair
    places: Any = None

    def sum_cells(self, values: Ints | Floats | Mask) -> Floats:
        """Sum a value of each cell by document, (n_documents,)."""
        return sum_by_index(self.documents[KEY][self.cells[KEY]], values, self.n_documents)

    def sum_clusters(self, side: int, values: Ints | Floats | Mask) -> Floats:
        """Sum a value of each cluster of a side by document, (n_documents,)."""
        return sum_by_index(self.documents[side], values, self.n_documents)

    def cell_sizes(self, side: int) -> Ints:
        """Return the size of each cell's cluster on a side, (n_cells,)."""
        sizes: Ints = self.sizes[side][self.cells[side]]
        return sizes


def measure_clusters(*sides: Side) -> tuple[Pair, Pair]:
    """Return the documents and the sizes of the clusters of both sides."""
    documents = [np.zeros(side.n_entities, np.int64) for side in sides]
    for document, side in zip(documents, sides, strict=True):
        document[side.entity] = side.document
    key, response = (np.bincount(side.entity, minlength=side.n_entities) for side in sides)
    return (documents[KEY], documents[RESPONSE]), (key, response)


def count_links(found: Ints, sizes: Ints, other_sizes: Ints) -> Ints:
    """Count the links between the mentions found of each cell's cluster, in both directions.

    A singleton has one link, to itself, which is found in a singleton only.
    """
    return np.where((sizes == 1) & (other_sizes == 1), found, found * (found - 1))


def overlap(key: Side, response: Side, n_documents: int) -> Overlap:
    """Build the table of key and response, on which no mention occurs twice (otherwise see `repeats`)."""
    key_row, response_row = match_rows(*mention_codes(key, response))
    width = max(response.n_entities, 1)
    cells, shared = np.unique(
        key.entity[key_row] * width + response.entity[response_row], return_counts=True
    )
    cell_key, cell_response = np.divmod(cells, width)
    documents, sizes = measure_clusters(key, response)
    links = count_links(shared, sizes[KEY][cell_key], sizes[RESPONSE][cell_response])
    counted = (key.document[key_row], key.document, response.document)
    mentions = np.column_stack(
        [np.bincount(document, minlength=n_documents) for document in counted]
    )
    both = (shared, shared)
    return Overlap(
        n_documents,
        documents,
        sizes,
        mentions,
        (cell_key, cell_response),
        shared,
        both,
        both,
        (links, links),
        both,
    )


def match_rows(key_code: Ints, response_code: Ints) -> tuple[Ints, Ints]:
    """Find all pairs of a key row and a response row with the same code: both rows, (n_pairs,)."""
    order = np.argsort(response_code, kind="stable")
    in_order = response_code[order]
    first = np.searchsorted(in_order, key_code, "left")
    key_row, place = expand_ranges(first, np.searchsorted(in_order, key_code, "right") - first)
    return key_row, order[place]
