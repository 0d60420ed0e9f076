"""The counts of judged systems by block, which only the judge has: from them follow comparisons of systems.

They say how well a system does on each part of the gold, so they are never in a store.
"""

from __future__ import annotations

import hashlib
import io
import math
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import platformdirs

from closeread.arrays import Floats
from closeread.files import make_folders, replacing
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.results import Record

FORMAT = 2
"""The number of the format of the files, and of the order of blocks in them; others are not used."""


class CountCache:
    """A folder with the counts of records.

    Args:
        folder: the folder; None for the user's cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(platformdirs.user_cache_dir("closeread")) / "leaderboard"

    def read(self, record: str) -> tuple[tuple[str, ...], Floats] | None:
        """Return the names of the counts and the sums of every block, (n_blocks, k).

        Returns:
            None if they are not here, were changed, or are those of another record: they are then computed again.
        """
        path = self._folder / f"{record}.npz"
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
                names, blocks = tuple(found["names"].tolist()), found["blocks"]
                is_known = int(found["format"]) == FORMAT and str(found["digest"]) == _digest(record, names, blocks)
        except (OSError, ValueError, TypeError, KeyError, BadZipFile):
            return None
        return (names, blocks) if is_known else None

    def write(self, record: str, names: tuple[str, ...], blocks: Floats) -> None:
        """Keep the counts of a record.

        Raises:
            OSError: the folder is not writable.
        """
        make_folders(self._folder)
        with replacing(self._folder / f"{record}.npz") as partial, partial.open("wb") as file:
            np.savez(
                file,
                format=FORMAT,
                names=np.array(names),
                blocks=blocks,
                digest=np.array(_digest(record, names, blocks)),
            )


def _digest(record: str, names: tuple[str, ...], blocks: Floats) -> str:
    """Return the sha256, in hex, of counts and of the record that they belong to."""
    head = "\n".join([record, *names, str(blocks.shape), ""]).encode()
    return hashlib.sha256(head + np.ascontiguousarray(blocks, "<f8").tobytes()).hexdigest()


def belong_together(kept: tuple[tuple[str, ...], Floats], record: Record, board: Board) -> bool:
    """Return whether counts are those of the board's blocks, and sum to those of the record and to its scores."""
    names, blocks = kept
    if blocks.dtype != np.float64 or blocks.shape != (board.n_blocks, len(names)):
        return False
    totals = blocks.sum(axis=0)
    counts = record.report["counts"]  # of private gold, a record has none
    sums = dict(zip(names, totals.tolist(), strict=True))
    if counts and not (
        sums.keys() == counts.keys() and all(math.isclose(sums[name], counts[name], abs_tol=1e-9) for name in sums)
    ):
        return False
    return record.has_scores_of(board, names, totals)
