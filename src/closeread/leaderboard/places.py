"""Where leaderboards are: in folders and on the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from closeread.exceptions import RequestError
from closeread.files import scratch_folder
from closeread.leaderboard.names import HUB

if TYPE_CHECKING:
    from closeread.leaderboard.store import FolderStore


@contextmanager
def open_store(place: str | Path) -> Iterator[FolderStore]:
    """Yield the leaderboard in a folder, or a temporary copy of `hf://datasets/ORG/NAME`."""
    from closeread.leaderboard.store import FolderStore  # imports NumPy

    address = str(place)
    if address.startswith(HUB):
        from closeread.leaderboard.hub_copy import HubCopy

        with scratch_folder() as folder:
            yield HubCopy(address, folder)
    elif "://" in address:
        raise RequestError(f"{address} is not a store (expected a folder, or {HUB}ORG/NAME)")
    else:
        yield FolderStore(Path(place))
