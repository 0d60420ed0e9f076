"""The mentions of one side of a coreference comparison, and what to do where a mention stands in several clusters.

Conventions: a side is three columns, one row a mention in a cluster.  Entities are numbered in the order in which
they are opened; a repeated mention's first cluster is the one with the lowest number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts


@dataclass(frozen=True, eq=False)
class Side:
    """Mentions in their clusters.

    Attributes:
        document: (n_mentions,) int64, the document of each, from 0.
        mention: (n_mentions,) int64, any code that says which mention it is: within a document, equal codes, on
            this side or on the other, are the same mention.
        entity: (n_mentions,) int64, the cluster of each, from 0 over all documents; a number may be missing.
    """

    document: Ints
    mention: Ints
    entity: Ints

    @property
    def n_entities(self) -> int:
        """One more than the highest number of an entity."""
        return int(self.entity.max(initial=-1)) + 1

    def select(self, rows: Mask) -> Side:
        """The rows where the mask is true."""
        return Side(self.document[rows], self.mention[rows], self.entity[rows])


def mention_codes(*sides: Side) -> list[Ints]:
    """A number for every mention of every document, the same on all sides.

    Returns:
        For every side (n_mentions,) int64, not negative.
    """
    document = np.concatenate([side.document for side in sides])
    mention = np.concatenate([side.mention for side in sides])
    lowest, highest = int(mention.min(initial=0)), int(mention.max(initial=0))
    # Packed into one integer where that fits; codes from all over the range of int64 are numbered anew before.
    if (highest - lowest + 1) * (int(document.max(initial=0)) + 1) > np.iinfo(np.int64).max:
        mention = np.unique(mention, return_inverse=True)[1]
        lowest, highest = 0, len(mention)
    code = document * (highest - lowest + 1) + (mention - lowest)
    return np.split(code, np.cumsum([len(side.mention) for side in sides])[:-1])


def repeated_mentions(side: Side) -> Ints:
    """The mentions that stand in a side more than once.

    Returns:
        (n_repeats, 2) int64, a line for every row that repeats a mention: the mention's first row, this row.
    """
    (code,) = mention_codes(side)
    order = np.lexsort((side.entity, code))
    new = mark_run_starts(code[order])
    first = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return np.column_stack([first, order])[~new]


def reference_response(key: Side, response: Side) -> Side:
    """The response as the reference scorer (8.01) takes it where mentions are repeated.

    A mention of the key keeps its first cluster in the response only.  A mention that the key lacks stays in all of
    its clusters, and so do the key's own repeats; the metrics then count as that scorer does.  It refuses to score
    once it has dropped more than ten; this does not.

    Args:
        key: as it is.
        response: as it is.
    """
    in_key, in_response = mention_codes(key, response)
    repeats = repeated_mentions(response)[:, 1]
    dropped = np.zeros(len(in_response), dtype=np.bool_)
    dropped[repeats[np.isin(in_response[repeats], in_key)]] = True
    return response.select(~dropped)


@dataclass(frozen=True, eq=False)
class Occurrences:
    """How each row of a side stands to the other rows of its mention, all (n_mentions,).

    Attributes:
        first: it is the first row of its mention in its cluster.
        last: it is the row of its mention in the last cluster, which is where a map from mentions to clusters that
            is filled cluster by cluster ends up.
        clusters: how many clusters its mention stands in.
        twice: its mention stands more than once in its cluster.
    """

    first: Mask
    last: Mask
    clusters: Ints
    twice: Mask


def standing(code: Ints, entity: Ints) -> Occurrences:
    """How the rows of a side stand to each other.

    Args:
        code: (n_mentions,) which mention each row is.
        entity: (n_mentions,) its cluster.
    """
    order = np.lexsort((entity, code))
    new_mention = mark_run_starts(code[order])
    new_cluster = new_mention | mark_run_starts(entity[order])
    mention, cluster = np.cumsum(new_mention) - 1, np.cumsum(new_cluster) - 1
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Occurrences(
        first=new_cluster[back],
        last=np.append(new_mention, True)[1:][back],
        clusters=np.bincount(mention[new_cluster])[mention][back],
        twice=(np.bincount(cluster)[cluster] > 1)[back],
    )


def sums(index: Ints, values: Ints | Floats | Mask, n: int) -> Floats:
    """The sums of the values of every index from 0 below n, (n,) float64."""
    return np.bincount(index, values, n).astype(np.float64)
