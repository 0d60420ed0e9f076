"""Where leaderboards are: in folders and on the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from closeread.exceptions import RequestError
from closeread.files import scratch_folder
from closeread.leaderboard.results import HUB
from closeread.leaderboard.store import FolderStore


@contextmanager
def open_store(place: str) -> Iterator[FolderStore]:
    """Yield the leaderboard in a folder, or a temporary copy of `hf://datasets/ORG/NAME`."""
    if place.startswith(HUB):
        from closeread.leaderboard.hub_copy import HubCopy

        with scratch_folder() as folder:
            yield HubCopy(place, folder)
    elif "://" in place:
        raise RequestError(f"{place} is not a store (expected a folder, or {HUB}ORG/NAME)")
    else:
        yield FolderStore(Path(place))
