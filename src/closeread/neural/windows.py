"""Overlapping windows over sequences that are longer than a model's input.

Conventions: pieces are numbered from 0 over all sequences, which follow each other; every window is a run of pieces of
one sequence.  Each piece belongs to the window in which it is farthest from an edge that cuts the sequence, so that it
is seen with the most context on its shorter side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, expand_ranges


class Windows(NamedTuple):
    """Windows over sequences of pieces.

    Attributes:
        start: (n_windows,) the first piece of each, in ascending order.
        size: (n_windows,) how many pieces each has.
        owner: (n_pieces,) the window to which each piece belongs.
    """

    start: Ints
    size: Ints
    owner: Ints


def cut_windows(lengths: Ints, limit: int, overlap: int) -> Windows:
    """Cut sequences into windows of at most `limit` pieces; neighbouring windows share at least `overlap` pieces.

    A sequence that fits is one window, an empty one has none.  The windows of a longer sequence all have `limit`
    pieces, and are spread evenly from its first piece to its last.

    >>> windows = cut_windows(np.array([3, 10]), limit=6, overlap=2)
    >>> windows.start.tolist(), windows.size.tolist()
    ([0, 3, 7], [3, 6, 6])
    >>> windows.owner.tolist()
    [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]

    Args:
        lengths: (n_sequences,) the number of pieces of each.
        limit: the most pieces of a window.
        overlap: the fewest pieces that two neighbouring windows share; less than `limit`.

    Raises:
        ValueError: `overlap` is negative or not less than `limit`.
    """
    if not 0 <= overlap < limit:
        raise ValueError(f"overlap is {overlap} (expected 0 to {limit - 1}, less than the limit)")
    # The fewest windows that cover a sequence with this overlap.
    extra = -(-np.maximum(lengths - limit, 0) // (limit - overlap))
    n_windows = np.where(lengths > 0, extra + 1, 0)
    sequence, number = expand_ranges(np.zeros_like(lengths), n_windows)
    first = np.cumsum(lengths) - lengths
    room = np.maximum(lengths[sequence] - limit, 0)
    start = first[sequence] + room * number // np.maximum(extra[sequence], 1)
    size = np.minimum(lengths[sequence], limit)
    # Two neighbours meet in the middle of what they share.
    begin = start.copy()
    inner = np.flatnonzero(number > 0)
    begin[inner] = (start[inner] + start[inner - 1] + size[inner - 1]) // 2
    end = np.append(begin[1:], lengths.sum())
    return Windows(start, size, np.repeat(np.arange(len(start)), end - begin))
