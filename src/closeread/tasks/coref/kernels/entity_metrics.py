"""Coreference metrics: the counts of MUC, B-cubed, CEAF and LEA, per document.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Moosavi and Strube (2016).  Where they leave a
choice, these follow the reference scorer (Pradhan et al. 2014, version 8.01; for LEA its branch 9.0.0-alpha).  BLANC
is in `blanc`, repeated mentions are in `repeated_mentions`.

Conventions: recall is the sum of the numerators over the sum of the denominators; the division, and 0/0, are left to
the caller.  Counts are (n_documents, k) float64.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.coref.kernels.assignment import best_total
from closeread.tasks.coref.kernels.overlap import Overlap

BOTH_SIDES = ("common", "key", "response")
"""The columns where recall and precision have the same numerator: recall is common / key, precision common / response.
"""

ONE_SIDE = ("numerator", "denominator")
"""The columns where they differ: recall of an `Overlap`, precision of its `transposed`."""


def mention_counts(overlap: Overlap) -> Floats:
    """Count the mentions in both sides, in the key, in the response.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    return overlap.mentions.astype(np.float64)


def muc_counts(overlap: Overlap) -> Floats:
    """Count the links in both sides, in the key, in the response.

    Vilain et al. (1995).  A cluster of n mentions has n - 1 links, and so does a cell.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    return np.column_stack([overlap.per_document(overlap.shared - 1), *count_muc_links(overlap)])


def count_muc_links(overlap: Overlap) -> tuple[Floats, Floats]:
    """Count the MUC links of key and response, (n_documents,) each."""

    def links(side: Overlap) -> Floats:
        return side.per_key_document(np.maximum(side.key.size - 1, 0))

    return links(overlap), links(overlap.transposed)


def b_cubed_counts(overlap: Overlap) -> Floats:
    """B-cubed recall; pass `overlap.transposed` for precision.

    Bagga and Baldwin (1998).  The recall of a mention is the share of its key cluster that its response cluster
    contains: numerator = sum over cells of shared**2 / size of the key cluster, denominator = mentions of the key.

    Returns:
        (n_documents, 2) float64, columns `ONE_SIDE`.
    """
    found = overlap.shared**2 / overlap.key.size[overlap.cell_key]
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def ceafm_counts(overlap: Overlap) -> Floats:
    """Count the mentions shared under the best mapping of clusters, the mentions of the key, of the response.

    Luo (2005), similarity phi 3: shared mentions.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    return ceaf_counts(overlap, overlap.shared.astype(np.float64), overlap.key.size, overlap.response.size)


def ceafe_counts(overlap: Overlap) -> Floats:
    """Sum the similarity of clusters under their best mapping; count the clusters of the key, of the response.

    Luo (2005), similarity phi 4: twice the shared mentions over the sum of both sizes.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    sizes = overlap.key.size[overlap.cell_key] + overlap.response.size[overlap.cell_response]
    return ceaf_counts(overlap, 2.0 * overlap.shared / sizes, overlap.key.size > 0, overlap.response.size > 0)


def ceaf_counts(overlap: Overlap, similarity: Floats, key: Ints | Mask, response: Ints | Mask) -> Floats:
    """CEAF for any similarity of clusters.

    Args:
        overlap: the table.
        similarity: (n_cells,) the similarity of the two clusters of each cell.
        key, response: (n_entities,) what each cluster adds to the denominators.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    document = overlap.key.document[overlap.cell_key]
    common = best_total(overlap.cell_key, overlap.cell_response, similarity, document, overlap.n_documents)
    return np.column_stack([common, overlap.per_key_document(key), overlap.transposed.per_key_document(response)])


def lea_counts(overlap: Overlap) -> Floats:
    """LEA recall; pass `overlap.transposed` for precision.

    Moosavi and Strube (2016).  A cluster of n mentions has weight n, and its resolution is the share of its
    n (n - 1) / 2 links that are in the response.  A singleton has one link, to itself, which is in the response if the
    mention is a singleton there too.
    numerator = sum over clusters of n * resolution, denominator = mentions of the key.

    Returns:
        (n_documents, 2) float64, columns `ONE_SIDE`.
    """
    found = resolve_cells(overlap, overlap.shared)
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def resolve_cells(overlap: Overlap, shared: Ints) -> Floats:
    """Return what each cell adds to LEA's numerator, (n_cells,), if its clusters share that many mentions."""
    size = overlap.key.size[overlap.cell_key]
    # n * (common links) / (n (n - 1) / 2), where n > 1.
    resolved = shared * (shared - 1) / np.maximum(size - 1, 1)
    is_singleton = (size == 1) & (shared == 1) & (overlap.response.size[overlap.cell_response] == 1)
    found: Floats = np.where(size == 1, is_singleton, resolved)
    return found
