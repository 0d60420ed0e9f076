"""The counts of judged systems by block, which only the judge has: from them follow comparisons of systems.

They say how well a system does on each part of the gold, so they are never in a store.
"""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import platformdirs

from closeread.arrays import Floats
from closeread.files import replacing

__all__ = ["CountCache"]


class CountCache:
    """A folder with the counts of records.

    Args:
        folder: the folder; None for the user's cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(platformdirs.user_cache_dir("closeread")) / "leaderboard"

    def read(self, record: str) -> tuple[tuple[str, ...], Floats] | None:
        """Return the names of the counts and the sums of every block, (n_blocks, k); None if they are not here."""
        path = self._folder / f"{record}.npz"
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
                return tuple(found["names"].tolist()), found["blocks"]
        except (OSError, ValueError, KeyError, BadZipFile):
            return None  # absent or cut off: it is computed again

    def write(self, record: str, names: tuple[str, ...], blocks: Floats) -> None:
        """Keep the counts of a record.

        Raises:
            OSError: the folder is not writable.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._folder / f"{record}.npz") as partial, partial.open("wb") as file:
            np.savez(file, names=np.array(names), blocks=blocks)
