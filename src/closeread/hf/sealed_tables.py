"""Checksums beside the tables that `datasets` caches, so that a damaged table is noticed and built again.

`datasets` writes none: it maps whatever the files contain, and trusts a folder as soon as it has a file of information.

Conventions: a folder of tables has a file `SEAL` with the size, the time of change and the sha256 of every other file
that was written with it.  `datasets` adds files later, the results of `map`, which are not ours to check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from datasets import config
from datasets.utils._filelock import FileLock

from closeread.corpus.notices import warn
from closeread.corpus.sources import file_digest
from closeread.exceptions import FormatError, InputError, Problem, UnavailableError, escape

SEAL = "closeread.json"
FORMAT = 1

CHEAP = 2**26
"""Files up to this size, 64 MiB, are digested whenever they are loaded, which takes 0.1 seconds at most; larger ones if
they have been written to since, or if all checks are asked for."""

SMALL = 2**20
"""The same where a table is not going to be read: its information is digested."""


def seal(folder: Path) -> None:
    """Write the checksums of the files in a folder, which are complete."""
    files = {path.name: _describe(path) for path in sorted(folder.iterdir()) if path.is_file() and path.name != SEAL}
    content = {"format": FORMAT, "files": files, "sha256": _digest(files)}
    (folder / SEAL).write_text(json.dumps(content), "utf-8")


def _describe(path: Path) -> dict[str, Any]:
    status = path.stat()
    return {"size": status.st_size, "changed_ns": status.st_mtime_ns, "sha256": file_digest(path)}


def _digest(files: object) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def find_damage(folder: Path, *, up_to: float) -> str | None:
    """Describe the first difference between a folder of tables and what was written; None if there is none.

    Args:
        folder: the folder.
        up_to: the size, in bytes, up to which files are digested though they seem to be unchanged.
    """
    files = _read_seal(folder)
    if files is None:
        return f"{SEAL} is missing or damaged"
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        status = path.stat()
        if status.st_size != expected["size"]:
            return f"{name} has {status.st_size:,} bytes (expected {expected['size']:,})"
        if status.st_size <= up_to or status.st_mtime_ns != expected["changed_ns"]:
            try:
                digest = file_digest(path)
            except FormatError as error:
                return f"{name} {error.problems[0].what}"
            if digest != expected["sha256"]:
                return f"{name} has changed: its sha256 is {digest[:12]}… (expected {expected['sha256'][:12]}…)"
    return None


def _read_seal(folder: Path) -> dict[str, Any] | None:
    """Return what is known of the files in a folder; None if the seal is not one, or does not name all that it must."""
    try:
        content = json.loads((folder / SEAL).read_bytes())
        files: dict[str, Any] = content["files"]
        is_whole = content["format"] == FORMAT and content["sha256"] == _digest(files)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return files if is_whole and config.DATASET_INFO_FILENAME in files else None


def discard_damaged(folder: Path, *, up_to: float) -> None:
    """Delete a damaged folder of tables, with a warning, so that it is built again; do nothing if it is not there.

    Args:
        folder: the folder.
        up_to: as for `find_damage`.

    Raises:
        UnavailableError: it is damaged and can't be deleted.
    """
    damage = find_damage(folder, up_to=up_to) if folder.exists() else None
    if damage is None:
        return
    try:
        with FileLock(f"{folder}_builder.lock"):  # the one that building takes
            damage = find_damage(folder, up_to=up_to) if folder.exists() else None
            if damage is None:  # another process was faster
                return
            clear(unfinished(folder))
            # At once, so that no process finds half of it; the next one that builds here clears the rest.
            folder.rename(unfinished(folder))
            rmtree(unfinished(folder))
    except OSError as error:
        what = f"is damaged ({damage}) and can't be deleted: {error.strerror}; delete this folder"
        raise UnavailableError(folder, [Problem(what)]) from None
    warn(escape(f"{folder}: a cached table was damaged and is built again: {damage}"))


def unfinished(folder: Path) -> Path:
    """Return the folder in which `datasets` builds what is to be in another; killed processes leave it behind."""
    return folder.with_name(f"{folder.name}.incomplete")


def clear(folder: Path) -> None:
    """Delete a folder, if it is there."""
    if folder.exists():
        rmtree(folder)


class UnwritableCacheError(InputError):
    """A cache of tables that can't be written.

    Args:
        folder: the cache.
        reason: what the file system says.
    """

    def __init__(self, folder: str, reason: str) -> None:
        self.reason = reason
        advice = "pass another folder as cache_dir= or set HF_DATASETS_CACHE"
        super().__init__(folder, [Problem(f"the cache of tables is not writable: {reason}; {advice}")])


@contextmanager
def naming_the_cache(folder: str) -> Iterator[None]:
    """Raise errors of the file system as one that says that the cache can't be written, and what to do.

    Raises:
        UnwritableCacheError: the cache can't be written.
    """
    try:
        yield
    except OSError as error:
        raise UnwritableCacheError(folder, _find_first(error).strerror or str(error)) from None


def _find_first(error: OSError) -> OSError:
    """Return the error that led to another; `datasets` raises its own, whose words are about something else."""
    while error.strerror is None and isinstance(error.__context__, OSError):
        error = error.__context__
    return error
