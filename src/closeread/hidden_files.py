"""Hidden files and folders, which hold what is not complete yet.

Conventions: each is locked as long as the process that writes it lives, so that what killed processes have left can be
told from what is being written; it is removed when the same target is written again.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

PREFIX = ".closeread-"
"""How the names of hidden files and folders begin that are not complete yet."""

ATTEMPTS = 100
"""How often to try another name for a hidden file."""

LONGEST_NAME = 255
"""The most bytes of the name of a file, on all usual file systems."""


def create_hidden(target: Path, *, is_folder: bool) -> tuple[Path, int | None]:
    """Create an empty file or folder beside a target, and lock it; leftovers of killed processes are removed.

    A file that replaces none has the permissions that the umask gives; others are private as long as they are hidden.
    """
    prefix = hidden_prefix(target)
    remove_leftovers(target)
    if len(os.fsencode(target.name)) > LONGEST_NAME:  # as the file system will say, but only after all the work
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(target))
    for _ in range(ATTEMPTS):
        hidden = target.parent / f"{prefix}{os.urandom(4).hex()}"
        if is_folder:
            hidden.mkdir(0o700)
        else:
            mode = 0o600 if target.exists() else 0o666
            os.close(os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        try:
            return hidden, _lock(hidden)
        except FileNotFoundError:  # taken for a leftover, between its creation and its lock
            continue
    raise OSError(errno.EEXIST, "can't create a temporary file", str(target))


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes have left beside a target: hidden files and folders that nobody holds a lock of."""
    target = Path(os.path.realpath(path))
    prefix = hidden_prefix(target)
    try:
        with os.scandir(target.parent) as entries:
            left = [Path(entry.path) for entry in entries if entry.name.startswith(prefix)]
    except OSError:  # it is told when something is to be created in it
        return
    for hidden in left:
        with suppress(OSError):
            lock = _lock(hidden)
            if lock is None:
                continue
            try:
                if hidden.is_dir():
                    remove_tree(hidden)
                else:
                    hidden.unlink()
            finally:
                release(lock)


def hidden_prefix(target: Path) -> str:
    """Return how the names of the hidden files and folders of a target begin."""
    import hashlib  # takes 1 ms, and commands that only read don't need it

    # A digest, since a name may be as long as names can be.
    return f"{PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _lock(hidden: Path) -> int | None:
    """Lock a file or a folder as long as this process lives; None where that is not possible.

    Raises:
        FileNotFoundError: it has been removed, or another process has the lock and is about to remove it.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(hidden, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:  # of an odd umask
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(hidden)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # some network file systems have no locks
        os.close(descriptor)
        return None
    os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(hidden))


def release(lock: int | None) -> None:
    """Give up the lock of a hidden file or folder."""
    if lock is not None:
        os.close(lock)


def remove_tree(folder: Path) -> None:
    """Remove a hidden folder with all that is in it, as far as that is possible."""
    from shutil import rmtree  # takes 5 ms, and commands that only read don't need it

    rmtree(folder, ignore_errors=True)


def sync(path: Path) -> None:
    """See to it that a file, or the names in a folder, are on the disk."""
    is_folder = path.is_dir()
    if is_folder and (sys.platform == "win32" or not os.access(path, os.R_OK)):
        return  # it can't be opened
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have nothing to sync
            raise
    finally:
        os.close(descriptor)
