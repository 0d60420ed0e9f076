"""Files and folders: written completely or not at all.

A file or folder is first written under a hidden name beside its target, and put in place by one rename once it is
complete.  The target of a symbolic link is replaced, and replaced files keep their permissions.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, TextIO

from closeread.exceptions import RequestError

CHUNK_BYTES = 1 << 20  # how many are read at once where a limit is large
DESKTOP_FILES = (".DS_Store", ".localized", "Thumbs.db", "desktop.ini")
"""What desktops put into folders that are looked at; it is no reason not to replace a folder."""

GZIP_SUFFIX = ".gz"


def read_at_most(file: BinaryIO, limit: int) -> bytes:
    """Read a file up to a limit, and one byte more if there is one; only existing bytes take memory."""
    chunks = []
    n_missing = limit + 1
    while chunk := file.read(min(n_missing, CHUNK_BYTES)):
        chunks.append(chunk)
        n_missing -= len(chunk)
    return b"".join(chunks)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder for the block."""
    from tempfile import TemporaryDirectory  # takes longer to import than most files take to read

    with TemporaryDirectory(prefix="closeread-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield an empty file next to `path`, which replaces it if the block succeeds and is deleted otherwise."""
    target = Path(os.path.realpath(path))
    draft = _name_draft(target)
    with _naming_errors(path, target, draft):
        is_new = not target.exists()
        if not is_new:
            _check_replaceable(target)
        # what is replaced may be private
        mode = 0o666 if is_new else 0o600
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        try:
            yield draft
            if not is_new:
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def _check_replaceable(target: Path) -> None:
    if not target.is_file():
        misfit = "is a directory" if target.is_dir() else "is not a regular file"
        raise OSError(errno.EINVAL, misfit, str(target))
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "is read-only", str(target))


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
    new_parents = [parent for parent in target.parents if not parent.exists()]
    with _naming_errors(folder, target, draft):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.mkdir(0o700 if target.exists() else 0o777)
            yield draft
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
                for desktop_file in target.iterdir():
                    desktop_file.unlink()
            draft.rename(target)  # atomic, and only if the target is empty or does not exist
        finally:
            rmtree(draft, ignore_errors=True)
            for parent in new_parents:
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
    if target.suffix.lower() != GZIP_SUFFIX:
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
    return path.with_suffix("").suffix.lower() if suffix == GZIP_SUFFIX else suffix


def take_path(path: str | Path | None) -> Path | None:
    """Return what a user gave for a file or folder as a path; None if nothing."""
    return None if path is None else Path(path)


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
        name = path
        if error.filename is None:
            # such as a full disk; an error of a connection has no file either
            if error.errno is None or isinstance(error, ConnectionError | TimeoutError):
                raise
        else:
            failed = Path(os.fsdecode(error.filename))
            if failed.is_relative_to(draft):
                name = path / failed.relative_to(draft)
            elif failed != target and failed not in target.parents:
                raise
        message = f"can't be written: {error.strerror or error}"
        raise OSError(error.errno, message, str(name)) from error


def check_outputs(read: Sequence[tuple[Path, bool]], written: Sequence[Path]) -> None:
    """Check that an operation neither overwrites its input, nor writes twice to one file.

    What it reads has beside it whether all of it is read: of other folders, those around it may be written to.
    """
    for number, output in enumerate(written):
        for path, is_read_whole in read:
            if _is_same(output, path) or _is_inside(output, path, is_read_whole):
                kind = "folder" if output.is_dir() else "file"
                raise RequestError(f"{output} is also an input; choose another output {kind}")
        if any(_is_same(output, path) for path in written[:number]):
            raise RequestError(f"{output} is given for two outputs; choose two files")


def _is_same(path: Path, other: Path) -> bool:
    if not path.exists():
        return os.path.realpath(path) == os.path.realpath(other)
    is_device = not path.is_file() and not path.is_dir()  # such as /dev/null
    return not is_device and other.exists() and path.samefile(other)


def _is_inside(output: Path, folder: Path, is_read_whole: bool) -> bool:
    """Return whether an existing file is in a folder that is read."""
    folder = Path(os.path.realpath(folder))
    around = Path(os.path.realpath(output)).parents
    if not output.is_file() or not folder.is_dir() or folder not in around:
        return False
    return is_read_whole or folder not in (Path.cwd(), *Path.cwd().parents)
