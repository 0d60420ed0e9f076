"""Files that are being written, next to where they will be: those of killed processes are found and deleted.

Conventions: a process locks its file for as long as it writes it.  So a file that nobody locks is a leftover.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["PREFIX", "partial_file"]

try:
    import fcntl
except ImportError:  # Windows, which does not delete files that are open
    fcntl = None  # type: ignore[assignment]

PREFIX = ".partial-"


@contextmanager
def partial_file(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a new, empty file in a folder, and its path; it is deleted at the end unless it has been renamed.

    The files of killed processes in the folder are deleted first.

    Raises:
        OSError: the folder can't be written.
    """
    _delete_leftovers(folder)
    file, path = _create(folder)
    with file:
        try:
            yield file, path
        finally:
            path.unlink(missing_ok=True)


def _create(folder: Path) -> tuple[BinaryIO, Path]:
    while True:
        path = folder / f"{PREFIX}{secrets.token_hex(8)}"
        file = path.open("x+b")
        if _lock(file, wait=True) and os.fstat(file.fileno()).st_nlink:
            return file, path
        file.close()  # another process took it for a leftover before it was locked


def _lock(file: BinaryIO, *, wait: bool) -> bool:
    """Lock a file until it is closed; tell whether that was possible."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another process writes it
        return wait  # a file system without locks has no locked files either
    return True


def _delete_leftovers(folder: Path) -> None:
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(OSError), path.open("rb") as file:
            if _lock(file, wait=False):
                path.unlink()
