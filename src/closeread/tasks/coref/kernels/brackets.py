"""Brackets of mentions, matched for all entities at once."""

from __future__ import annotations

import numpy as np

from closeread.arrays import Ints, Mask


def match_brackets(entity: Ints, opens: Mask, closes: Mask, order: Ints) -> tuple[Ints, Ints] | None:
    """Find the brackets that open and close each mention; None if they don't match.

    Of an entity's mentions, the one that opened last closes first.

    Args:
        entity: (n_brackets,) the entity of each bracket.
        opens, closes: (n_brackets,) whether it opens a mention, and whether it closes one; both for a single token.
        order: (n_brackets,) the brackets by entity, those of an entity in their order.

    Returns:
        The bracket that opens each mention, and the one that closes it; those of single tokens come last.
    """
    step = opens.astype(np.int64) - closes
    depth = np.cumsum(step[order])
    is_last = np.append(np.diff(entity[order]) != 0, True)[: len(order)]
    if (depth < 0).any() or depth[is_last].any():
        return None
    # The level of a mention is the number of open mentions of its entity: within a level, opens and closes alternate.
    level = np.where(step[order] < 0, depth + 1, depth)
    half = np.flatnonzero(step[order])
    half = half[np.lexsort((half, level[half], entity[order][half]))]
    single = np.flatnonzero(opens & closes)
    return np.concatenate([order[half[0::2]], single]), np.concatenate([order[half[1::2]], single])


def number_by_first(values: Ints) -> tuple[Ints, Ints]:
    """Number values from 0 in the order in which they first occur; return the numbers, and where each first occurs.

    >>> number, first = number_by_first(np.array([7, 3, 7, 5]))
    >>> number.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]
