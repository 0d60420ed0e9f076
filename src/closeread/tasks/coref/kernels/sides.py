"""The mentions of one side of a coreference comparison: the key or the response.

Conventions: a side is three columns with one row per mention of a cluster.  Clusters are numbered in the order in
which they are opened.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closeread.arrays import Floats, Ints, Mask, sum_groups


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
