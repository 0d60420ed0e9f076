"""Files and folders: written completely or not at all.

A file or folder is first written under a hidden name beside its target, and put in place by one rename once all of it
is on the disk.  The target of a symbolic link is replaced, and replaced files keep their permissions.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, TextIO

from closeread.exceptions import RequestError

CHUNK = 1 << 20  # how many bytes are read at once where a limit is large
DESKTOP_FILES = (".DS_Store", ".localized", "Thumbs.db", "desktop.ini")
"""What desktops put into folders that are looked at; it is no reason not to replace a folder."""

SCRATCH = "closeread-scratch-"  # how the names of temporary folders begin
ABANDONED = 60  # seconds before a temporary folder that no process holds is removed
PACKED = ".gz"  # how the name of a gzipped file ends


def read_at_most(file: BinaryIO, limit: int) -> bytes:
    """Read a file up to a limit, and one byte more if there is one; only existing bytes take memory."""
    parts, left = [], limit + 1
    while left and (part := file.read(min(left, CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder for the block; those that killed processes have left are removed."""
    from tempfile import (  # takes longer to import than most files take to read
        TemporaryDirectory,
        gettempdir,
    )

    for path in Path(gettempdir()).glob(f"{SCRATCH}*"):
        _remove_abandoned(path)
    with TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as name:
        held = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        with suppress(OSError):  # of a file system without locks
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield Path(name)
        finally:
            os.close(held)


def _remove_abandoned(folder: Path) -> None:
    """Remove a temporary folder of ours that no process holds."""
    from shutil import rmtree

    with suppress(OSError):
        status = folder.lstat()
        is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if not is_ours or time.time() - status.st_mtime < ABANDONED:
            return
        held = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(folder)
        finally:
            os.close(held)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield an empty file next to `path`, which replaces it if the block succeeds and is deleted otherwise."""
    target = Path(os.path.realpath(path))
    draft = _name_draft(target)
    with _naming_errors(path, target, draft):
        is_new = not target.exists()
        if is_new:
            mode = 0o666
        elif not target.is_file():
            what = "is a directory" if target.is_dir() else "is not a regular file"
            raise OSError(errno.EINVAL, what, str(target))
        elif not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, "is read-only", str(target))
        else:
            mode = 0o600  # the content may be private
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        try:
            yield draft
            if not is_new:
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            _sync(draft)
            draft.replace(target)
            _sync(target.parent)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def creating_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder`, which must be new or empty, if the block succeeds.

    Folders above it are created if need be.
    """
    from shutil import rmtree  # takes 5 ms, and commands that only read don't need it

    target = Path(os.path.realpath(folder))
    if target == Path.cwd() or (os.path.lexists(target) and not is_empty_folder(target)):
        raise OSError(
            errno.ENOTEMPTY, "is not a new or an empty folder; choose another folder", str(folder)
        )
    draft = _name_draft(target)
    new = [parent for parent in target.parents if not parent.exists()]
    with _naming_errors(folder, target, draft):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.mkdir(0o700 if target.exists() else 0o777)
            yield draft
            for path in [draft, *draft.rglob("*")]:
                _sync(path)
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
                for left in target.iterdir():
                    left.unlink()
            draft.rename(target)  # atomic, and only if the target is empty or does not exist
            _sync(target.parent)
        finally:
            rmtree(draft, ignore_errors=True)
            for parent in new:
                with suppress(OSError):  # it is in use
                    parent.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text completely or not at all, with line ends unchanged."""
    write_lines(path, [text])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which have their ends, as `write_text` does; they are written while they are made."""
    with replacing(path) as draft, open_text(draft, path) as file:
        file.writelines(lines)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write several files as `write_text` does; if one of them can't be written, none is."""
    with ExitStack() as stack:
        for path, text in texts.items():
            with open_text(stack.enter_context(replacing(path)), path) as file:
                file.write(text)


@contextmanager
def open_text(draft: Path, target: Path, errors: str = "strict") -> Iterator[TextIO]:
    """Open a draft to write UTF-8 text with line ends unchanged, gzipped (without a time) as its target's name says."""
    if target.suffix.lower() != PACKED:
        with draft.open("w", encoding="utf-8", errors=errors, newline="") as file:
            yield file
        return
    from gzip import GzipFile  # takes 3 ms to import
    from io import TextIOWrapper

    with (
        draft.open("wb") as data,
        GzipFile("", "wb", fileobj=data, mtime=0) as packed,
        TextIOWrapper(packed, "utf-8", errors, newline="") as file,
    ):
        yield file


def text_suffix(path: Path) -> str:
    """Return the suffix that tells the format of a text file, in lower case and without `.gz`."""
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix == PACKED else suffix


def make_folders(folder: Path) -> None:
    """Create a folder and those above it, unless they are there."""
    target = Path(os.path.realpath(folder))
    with _naming_errors(folder, target, target):
        target.mkdir(parents=True, exist_ok=True)


def is_empty_folder(path: Path) -> bool:
    """Return whether a path is a folder that is empty except for files of desktops, such as `.DS_Store`."""
    return path.is_dir() and all(inside.name in DESKTOP_FILES for inside in path.iterdir())


@cache
def package_folder(name: str) -> Path:
    """Return the folder of one of our packages, by its dotted name; `importlib.resources` takes 7 ms to import."""
    return Path(str(import_module(name).__file__)).parent


def _name_draft(target: Path) -> Path:
    return target.parent / f".closeread-{os.urandom(8).hex()}"


@contextmanager
def _naming_errors(path: Path, target: Path, draft: Path) -> Iterator[None]:
    """Say of errors in the block which file or folder can't be written, as the user named it; not of other files."""
    try:
        yield
    except OSError as error:
        named = path
        if error.filename is None:  # such as a full disk
            if error.errno is None or isinstance(error, ConnectionError | TimeoutError):
                raise
        else:
            failed = Path(os.fsdecode(error.filename))
            if failed.is_relative_to(draft):
                named = path / failed.relative_to(draft)
            elif failed != target and failed not in target.parents:
                raise
        raise OSError(
            error.errno, f"can't be written: {error.strerror or error}", str(named)
        ) from error


def _sync(path: Path) -> None:
    """See to it that a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # some file systems have nothing to sync
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def check_outputs(read: Sequence[tuple[Path, bool]], written: Sequence[Path]) -> None:
    """Check that an operation neither overwrites its input, nor writes twice to one file.

    What it reads has beside it whether all of it is read: of other folders, those around it may be written to.
    """

    def is_same(one: Path, other: Path) -> bool:
        if one.exists() and not one.is_file() and not one.is_dir():  # such as /dev/null
            return False
        found = os.path.realpath(one) == os.path.realpath(other)
        return found or (one.exists() and other.exists() and one.samefile(other))

    for number, output in enumerate(written):
        for path, is_whole in read:
            folder = Path(os.path.realpath(path))
            is_inside = (
                output.is_file()
                and folder.is_dir()
                and folder in Path(os.path.realpath(output)).parents
            )
            if is_inside and not is_whole:
                is_inside = folder not in (Path.cwd(), *Path.cwd().parents)
            if is_inside or is_same(output, path):
                kind = "folder" if output.is_dir() else "file"
                raise RequestError(f"{output} is also an input; choose another output {kind}")
        if any(is_same(output, path) for path in written[:number]):
            raise RequestError(f"{output} is given for two outputs; choose two files")
