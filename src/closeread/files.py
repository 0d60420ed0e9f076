"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write beside `path`, which takes its place when the block ends well and vanishes otherwise.

    Raises:
        OSError: the folder does not exist or can't be written to, or `path` is there and is no regular file.
    """
    target = Path(os.path.realpath(path))  # a link stays a link, and what it points to is replaced
    if target.exists() and not target.is_file():
        what = "is a directory" if target.is_dir() else "is no regular file"
        raise OSError(errno.EINVAL, f"can't be written: {what}", str(path))
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            yield partial
            partial.chmod(0o666 & ~_umask())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        # Nobody knows the partial file's name.
        raise OSError(error.errno, f"can't be written: {error.strerror or error}", str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all, with line ends as they are.

    Raises:
        OSError: the folder does not exist or can't be written to.
    """
    with replacing(path) as partial:
        partial.write_text(text, "utf-8", newline="")


def _umask() -> int:
    """The mask of permissions, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
