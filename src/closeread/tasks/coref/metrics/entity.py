"""The counts of MUC, B-cubed, CEAF, LEA and BLANC, per document.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Moosavi and Strube (2016), Recasens and Hovy
(2011); Luo et al. (2014), An extension of BLANC to system mentions, whose definition for mentions that only one side
has is the one in general use.  Where they leave a choice, these follow the reference scorer (Pradhan et al. 2014,
version 8.01; for LEA its branch 9.0.0-alpha).  Repeated mentions are in `repeats`.

Conventions: recall is the sum of the numerators over the sum of the denominators; the division, and 0/0, are left to
the caller.  Counts are (n_documents, k) float64.  A link is a pair of mentions of a document: a coreference link of a
side if both are in the same cluster, a non-coreference link if they are in different clusters.  Links are counted from
the sizes of clusters and cells, never listed.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask, ratio
from closeread.assignment import best_total
from closeread.tasks.coref.metrics.overlap import Overlap

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


LINKS = (
    "coreference_common",
    "coreference_key",
    "coreference_response",
    "other_common",
    "other_key",
    "other_response",
)
"""The counts of each document: coreference links in both sides, in the key, in the response, then non-coreference
links in the same order."""

EDGES = ("reference", "luo2014")
"""What happens to a component (coreference or non-coreference) that has no links:

* `reference`, as in the reference scorer: a component without links in the key is dropped, and the score is that of
  the other component.
* `luo2014`, as in Luo et al. (2014), boundary cases: a component without links on either side is dropped; if both are
  dropped, the score is 1 if both sides have the same mentions, and 0 otherwise.
"""


def blanc_counts(overlap: Overlap) -> Floats:
    """Count the links of both kinds, on both sides.

    Luo et al. (2014).  With C(n) = n (n - 1) / 2: a side of N mentions has sum C(size) coreference links, and its other
    C(N) - sum C(size) links are non-coreference links.  Of the C(M) pairs of the M shared mentions, sum C(shared) over
    cells corefer on both sides; a pair is a non-coreference link of both sides if it corefers on neither.

    Returns:
        (n_documents, 6) float64, columns `LINKS`.
    """
    flipped = overlap.transposed
    both = count_pairs(overlap.per_document(overlap.shared))
    in_key, in_response = count_pairs(overlap.mentions[:, 1:]).T
    key, response, common = (
        overlap.per_key_document(count_pairs(overlap.key.size)),
        flipped.per_key_document(count_pairs(overlap.response.size)),
        overlap.per_document(count_pairs(overlap.shared)),
    )
    key_of_both, response_of_both = (
        side.per_key_document(count_pairs(np.bincount(side.cell_key, side.shared, len(side.key.size))))
        for side in (overlap, flipped)
    )
    other = both - key_of_both - response_of_both + common
    return np.column_stack([common, key, response, other, in_key - key, in_response - response])


def count_pairs(n: Ints | Floats) -> Floats:
    """Count the pairs of n things: n (n - 1) / 2."""
    return np.asarray(n, np.float64) * np.maximum(np.asarray(n) - 1, 0) / 2


def blanc_scores(links: Floats, mentions: Floats, edge: str) -> Floats:
    """BLANC from summed counts.

    Each component has precision P, recall R and F1 = 2 common / (key + response); a score is the mean over the
    components that are not dropped (see `EDGES`), so F1 is the mean of the two F1s, not the F1 of mean P and R.  0/0
    in a component that is not dropped counts as 0.

    Args:
        links: (..., 6) sums of `LINKS`.
        mentions: (..., 3) sums of `entity_metrics.mention_counts`; used by `luo2014` only.
        edge: one of `EDGES`.

    Returns:
        (..., 3) precision, recall, F1; NaN where all remaining components are 0/0, or where none remains and the rule
        sets no score.
    """
    common, key, response = (links[..., [i, i + 3]] for i in range(3))
    remains = key > 0 if edge == "reference" else key + response > 0
    parts = np.stack([ratio(common, response), ratio(common, key), ratio(2 * common, key + response)], axis=-2)
    remains = np.broadcast_to(remains[..., None, :], parts.shape)
    total = np.where(remains, np.nan_to_num(parts), 0.0).sum(axis=-1)
    scores = ratio(total, remains.sum(axis=-1))
    scores[(remains & ~np.isnan(parts)).sum(axis=-1) == 0] = np.nan
    if edge == "luo2014":
        same = (mentions[..., 0] == mentions[..., 1]) & (mentions[..., 0] == mentions[..., 2])
        scores = np.where(remains.any(axis=-1), scores, same[..., None].astype(np.float64))
    return scores
