"""Coreference metrics: what MUC, B-cubed, CEAF and LEA count, document by document.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Moosavi and Strube (2016).  Where they leave a
choice, the reference scorer (Pradhan et al. 2014, version 8.01; LEA: its branch 9.0.0-alpha) decides, and so it does
where a mention is repeated.  BLANC is in `coref_blanc`.

Conventions: a metric's recall is the sum of the numerators over the sum of the denominators; 0/0 is left to whoever
divides.  Counts are (n_documents, k) float64.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.tasks.coref.kernels.ceaf import best_total
from closeread.tasks.coref.kernels.overlap import Overlap

BOTH_SIDES = ("common", "key", "response")
"""The columns where recall and precision have one numerator: recall is common / key, precision common / response."""

ONE_SIDE = ("numerator", "denominator")
"""The columns where they have not: recall of an `Overlap`, precision of its `transposed`."""


def mention_counts(overlap: Overlap) -> Floats:
    """Mentions that both sides have, of the key, of the response.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    return overlap.mentions.astype(np.float64)


def muc_counts(overlap: Overlap) -> Floats:
    """Links that both sides have, of the key, of the response.

    Vilain et al. (1995).  A cluster of n mentions is n - 1 links.  common = mentions of both sides less the
    parts into which the clusters of one side cut those of the other (the cells); the same from either side.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    common = overlap.per_document(overlap.linked - (overlap.linked > 0))

    def links(side: Overlap) -> Floats:
        return side.per_key_document(np.maximum(side.key.size - 1, 0))

    return np.column_stack([common, links(overlap), links(overlap.transposed)])


def b_cubed_counts(overlap: Overlap) -> Floats:
    """B-cubed recall; pass `overlap.transposed` for precision.

    Bagga and Baldwin (1998).  A mention's recall is the share of its key cluster that its response cluster holds; a
    repeated mention is judged by its last clusters.
    numerator = sum over cells of shared**2 / size of the key cluster, denominator = mentions of the key.

    Returns:
        (n_documents, 2) float64, columns `ONE_SIDE`.
    """
    held = overlap.linked * overlap.shared / overlap.key.size[overlap.cell_key]
    return np.column_stack([overlap.per_document(held), overlap.per_key_document(overlap.key.size)])


def ceafm_counts(overlap: Overlap) -> Floats:
    """Mentions in common under the best mapping of clusters, mentions of the key, of the response.

    Luo (2005), similarity phi 3: shared mentions.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    return _ceaf_counts(overlap, overlap.key_held.astype(np.float64), overlap.key.size, overlap.response.size)


def ceafe_counts(overlap: Overlap) -> Floats:
    """Similarity of the clusters under their best mapping, clusters of the key, of the response.

    Luo (2005), similarity phi 4: twice the shared mentions over the sum of both sizes.

    Returns:
        (n_documents, 3) float64, columns `BOTH_SIDES`.
    """
    sizes = overlap.key.size[overlap.cell_key] + overlap.response.size[overlap.cell_response]
    return _ceaf_counts(overlap, 2.0 * overlap.key_held / sizes, overlap.key.size > 0, overlap.response.size > 0)


def lea_counts(overlap: Overlap) -> Floats:
    """LEA recall; pass `overlap.transposed` for precision.

    Moosavi and Strube (2016).  A cluster weighs its number of mentions n and is resolved to the share of
    its n (n - 1) / 2 links that the response has.  A singleton has one link, to itself, which the response has if the
    mention is a singleton there too.
    numerator = sum over clusters of n * resolved, denominator = mentions of the key.

    Returns:
        (n_documents, 2) float64, columns `ONE_SIDE`.
    """
    size, held = overlap.key.size[overlap.cell_key], overlap.key_held
    # n * (links in common) / (n (n - 1) / 2), where n > 1.
    resolved = held * (held - 1) / np.maximum(size - 1, 1)
    alone = (size == 1) & (held == 1) & (overlap.response.size[overlap.cell_response] == 1)
    return np.column_stack(
        [overlap.per_document(np.where(size == 1, alone, resolved)), overlap.per_key_document(overlap.key.size)]
    )


def _ceaf_counts(overlap: Overlap, similarity: Floats, key: Ints | Mask, response: Ints | Mask) -> Floats:
    """CEAF by the similarity of every cell, with what every cluster adds to the denominators."""
    document = overlap.key.document[overlap.cell_key]
    common = best_total(overlap.cell_key, overlap.cell_response, similarity, document, overlap.n_documents)
    return np.column_stack([common, overlap.per_key_document(key), overlap.transposed.per_key_document(response)])
