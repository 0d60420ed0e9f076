"""BLANC: precision and recall of coreference links and of non-coreference links, averaged.

Sources: Recasens and Hovy (2011); Luo et al. (2014), An extension of BLANC to system mentions, whose definition for
mentions that only one side has is the one in general use; the reference scorer (Pradhan et al. 2014, version 8.01),
which differs in boundary cases.

Conventions: a link is a pair of mentions of a document: a coreference link of a side if both are in the same cluster,
a non-coreference link if they are in different clusters.  Links are counted from the sizes of clusters and cells,
never listed.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.tasks.coref.kernels.overlap import Overlap

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
