"""The counts of MUC, B-cubed, CEAF, LEA and BLANC, per document.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Moosavi and Strube (2016), Recasens and Hovy
(2011); Luo et al. (2014), An extension of BLANC to system mentions, whose definition for mentions that only one side
has is the one in general use.  Where they leave a choice, these follow the reference scorer (Pradhan et al. 2014,
version 8.01; for LEA its branch 9.0.0-alpha).

Conventions: recall is the sum of the numerators over the sum of the denominators; the division, and 0/0, are left to
the caller.  Counts are (n_documents,) float64.  `side` is that of recall (the key) or of precision (the response): all
metrics are symmetric.  A link is a pair of mentions of a document: a coreference link of a side if both are in the same
cluster, a non-coreference link if they are in different clusters.  Links are counted from the sizes of clusters and
cells, never listed.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.assignment import best_total
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, Overlap, Pair


def count_muc(table: Overlap, side: int) -> tuple[Floats, Floats]:
    """Count the links found of a side, and all of its links: Vilain et al. (1995).

    A cluster of n mentions has n - 1 links, and so does a cell.
    """
    links = np.maximum(table.sizes[side] - 1, 0)
    return table.sum_cells(np.maximum(table.linked[side] - 1, 0)), table.sum_clusters(side, links)


def count_b_cubed(table: Overlap, side: int) -> tuple[Floats, Floats]:
    """Sum the shares of the mentions of a side that are found, and count its mentions: Bagga and Baldwin (1998).

    The share of a mention is that of its cluster which is in one cluster with it on the other side.
    """
    shares = table.linked[side] * table.together[side] / table.cell_sizes(side)
    return table.sum_cells(shares), table.sum_clusters(side, table.sizes[side])


def count_lea(table: Overlap, side: int) -> tuple[Floats, Floats]:
    """Sum the resolved shares of a side's clusters, weighted by size, and count mentions: Moosavi and Strube (2016).

    A cluster of n mentions has weight n, and its resolution is the share of its n (n - 1) / 2 links that are found, or
    of the link of a singleton to itself.
    """
    size = table.cell_sizes(side)
    resolved = table.links[side] / np.maximum(size - 1, 1)  # size * links / (size * (size - 1))
    return table.sum_cells(resolved), table.sum_clusters(side, table.sizes[side])


def count_ceafm(table: Overlap) -> tuple[Floats, Floats, Floats]:
    """Count the mentions shared under the best mapping of clusters, those of the key, those of the response.

    Luo (2005), similarity phi 3: shared mentions.
    """
    return _map_clusters(table, table.similarities[0].astype(np.float64), table.sizes)


def count_ceafe(table: Overlap) -> tuple[Floats, Floats, Floats]:
    """Sum the similarity of clusters under their best mapping; count the clusters of the key, of the response.

    Luo (2005), similarity phi 4: twice the shared mentions over the sum of both sizes.
    """
    similarity = 2.0 * table.similarities[1] / (table.cell_sizes(KEY) + table.cell_sizes(RESPONSE))
    return _map_clusters(table, similarity, (table.sizes[KEY] > 0, table.sizes[RESPONSE] > 0))


def _map_clusters(
    table: Overlap, similarity: Floats, totals: Pair
) -> tuple[Floats, Floats, Floats]:
    """Sum the similarity of clusters, (n_cells,), under their best one-to-one mapping, and a value of all clusters."""
    document = table.documents[KEY][table.cells[KEY]]
    common = best_total(*table.cells, similarity, document, table.n_documents)
    return (
        common,
        table.sum_clusters(KEY, totals[KEY]),
        table.sum_clusters(RESPONSE, totals[RESPONSE]),
    )


LINKS = (
    "coreference_common",
    "coreference_key",
    "coreference_response",
    "other_common",
    "other_key",
    "other_response",
)
"""The counts of BLANC: coreference links in both sides, in the key, in the response, then non-coreference links in the
same order."""

EDGES = ("reference", "luo2014")
"""What happens to a component (coreference or non-coreference) that has no links:

* `reference`, as in the reference scorer: a component without links in the key is dropped, and the score is that of
  the other component.
* `luo2014`, as in Luo et al. (2014), boundary cases: a component without links on either side is dropped; if both are
  dropped, the score is 1 if both sides have the same mentions, and 0 otherwise; without any mention, it is 0/0.
"""


def count_blanc(table: Overlap) -> Floats:
    """Count the links of both kinds, on both sides: Luo et al. (2014).

    With C(n) = n (n - 1) / 2: a side of N mentions has sum C(size) coreference links, and its other C(N) - sum C(size)
    links are non-coreference links.  Of the C(M) pairs of the M shared mentions, sum C(shared) over cells corefer on
    both sides; a pair is a non-coreference link of both sides if it corefers on neither.

    Returns:
        (n_documents, 6) float64, columns `LINKS`.
    """
    # Where mentions are repeated, the links found are those of the key.
    shared = table.linked[KEY]
    both = count_pairs(table.sum_cells(shared))
    in_key, in_response = (
        count_pairs(table.sum_clusters(side, table.sizes[side])) for side in (KEY, RESPONSE)
    )
    common = table.sum_cells(count_pairs(shared))
    key, response = (
        table.sum_clusters(side, count_pairs(table.sizes[side])) for side in (KEY, RESPONSE)
    )
    key_of_both, response_of_both = (
        table.sum_clusters(
            side, count_pairs(np.bincount(table.cells[side], shared, len(table.sizes[side])))
        )
        for side in (KEY, RESPONSE)
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
        mentions: (..., 3) sums of the mentions in both sides, in the key, in the response; used by `luo2014` only.
        edge: one of `EDGES`.

    Returns:
        (..., 3) precision, recall, F1; NaN where all remaining components are 0/0, or where none remains and the rule
        sets no score.
    """
    common, key, response = (links[..., [i, i + 3]] for i in range(3))
    remains = key > 0 if edge == "reference" else key + response > 0
    parts = np.stack(
        [ratio(common, response), ratio(common, key), ratio(2 * common, key + response)], axis=-2
    )
    remains = np.broadcast_to(remains[..., None, :], parts.shape)
    total = np.where(remains, np.nan_to_num(parts), 0.0).sum(axis=-1)
    scores = ratio(total, remains.sum(axis=-1))
    scores[(remains & ~np.isnan(parts)).sum(axis=-1) == 0] = np.nan
    if edge == "luo2014":
        same = (mentions[..., 0] == mentions[..., 1]) & (mentions[..., 0] == mentions[..., 2])
        by_rule = np.where(mentions.any(axis=-1), same, np.nan)
        scores = np.where(remains.any(axis=-1), scores, by_rule[..., None])
    return scores
