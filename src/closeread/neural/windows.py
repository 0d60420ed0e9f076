"""Overlapping windows over a sequence that is longer than a model's input."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from closeread.arrays import Ints


def cut_windows(length: int, limit: int, overlap: int) -> tuple[list[range], Ints]:
    """Cut a sequence into windows of at most `limit` pieces; neighbouring windows share at least `overlap` pieces.

    A sequence that fits is one window, an empty one has none.  The windows of a longer sequence all have `limit`
    pieces, and are spread evenly from its first piece to its last.  Each piece belongs to the window in which it is
    farthest from an edge that cuts the sequence, so that it is seen with the most context on its shorter side.

    >>> windows, owner = cut_windows(10, limit=6, overlap=2)
    >>> windows, owner.tolist()
    ([range(0, 6), range(4, 10)], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])

    Returns:
        The pieces of each window; and (length,) the window to which each piece belongs.
    """
    if not 0 <= overlap < limit:
        raise ValueError(f"overlap is {overlap} (expected 0 to {limit - 1}, less than the limit)")
    room, size = max(length - limit, 0), min(length, limit)
    extra = -(-room // (limit - overlap))  # the fewest windows that cover a sequence with this overlap
    windows = [range(room * n // max(extra, 1), room * n // max(extra, 1) + size) for n in range(extra + 1) if length]
    # Two neighbours meet in the middle of what they share.
    begins = [(after.start + before.stop) // 2 for before, after in pairwise(windows)]
    return windows, np.searchsorted(begins, np.arange(length), side="right")
