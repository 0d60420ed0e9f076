"""Files: written completely or not at all, and those that come with the package."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

__all__ = ["creating_folder", "package_folder", "replacing", "write_lines", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to `path`, which replaces it if the block succeeds and is deleted otherwise.

    Raises:
        OSError: the folder does not exist or is not writable, or `path` exists and is not a regular file.
    """
    import tempfile  # takes 5 ms, and commands that only read don't need it

    target = Path(os.path.realpath(path))  # a symbolic link is kept, and its target is replaced
    if target.exists() and not target.is_file():
        what = "is a directory" if target.is_dir() else "is not a regular file"
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
        temporary = str(target.with_name(f".{target.name}."))
        if error.filename is not None and not str(error.filename).startswith(temporary):
            raise  # it is about another file
        # The name of the temporary file would mean nothing to the user.
        raise OSError(error.errno, f"can't be written: {error.strerror or error}", str(path)) from error


@contextmanager
def creating_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds and is deleted otherwise.

    Folders above it are created if need be.

    Raises:
        OSError: `folder` is the working directory, a file or not empty, or can't be written.
    """
    import tempfile

    target = folder.resolve()
    if target == Path.cwd() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise OSError(errno.ENOTEMPTY, "is not a new or an empty folder; choose another folder", str(folder))
    new = [parent for parent in target.parents if not parent.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
            made = Path(scratch) / "folder"
            made.mkdir()
            yield made
            made.rename(target)  # atomic, and succeeds only if the target is empty or does not exist
    except BaseException as error:
        for parent in new:
            if not any(parent.iterdir()):
                parent.rmdir()
        if isinstance(error, OSError) and f"{os.sep}.{target.name}." in str(
            error.filename
        ):  # it means nothing to users
            raise OSError(error.errno, f"can't be written: {error.strerror}", str(folder)) from error
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text completely or not at all, with line ends unchanged.

    Raises:
        OSError: the folder does not exist or is not writable.
    """
    write_lines(path, [text])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which have their ends, as `write_text` does; they are written while they are made.

    Raises:
        OSError: the folder does not exist or is not writable; and what making a line raises.
    """
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def package_folder(name: str) -> Path:
    """Return the folder of one of our packages, by its dotted name.

    Our packages are never in a zip file, and `importlib.resources`, which could read those, takes 7 ms to import.
    """
    return Path(str(import_module(name).__file__)).parent


def _umask() -> int:
    """Return the permission mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
