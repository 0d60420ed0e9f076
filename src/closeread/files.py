"""Files and folders: written completely or not at all.

Conventions: what is written is first a hidden file or folder beside its target, which one rename puts in place once
all of it is on the disk.  A symbolic link as the target is kept, and what it leads to is replaced; other names of a
file (hard links) keep its old content.  A replaced file or folder keeps its permissions, and those of a new one follow
the umask.  Texts are gzipped if the name of their file ends in `.gz`.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from closeread.hidden_files import create_hidden, hidden_prefix, release, remove_leftovers, remove_tree, sync

CHUNK = 1 << 20
"""How many bytes are read at once where a limit is large."""

SYNCED_ONE_BY_ONE = 16
"""The number of files of a folder up to which each is synced by itself; for more, the whole system is, which is faster:
2,000 small files take 0.2 instead of 10 seconds."""

FOLDER = "folder"
"""The name that a folder has, in a hidden folder of its own, until it is complete."""

DESKTOP_FILES = (".DS_Store", ".localized", "Thumbs.db", "desktop.ini")
"""What desktops put into folders that are looked at; it is no reason not to replace a folder."""

PACKED = ".gz"
"""How the name of a gzipped file ends."""


def read_at_most(file: BinaryIO, limit: int) -> bytes:
    """Read a file up to a limit, and one byte more if there is one; the memory is that of what is there.

    >>> import io
    >>> read_at_most(io.BytesIO(b"abc"), 10**15), read_at_most(io.BytesIO(b"abc"), 1)
    (b'abc', b'ab')
    """
    parts, left = [], limit + 1
    while left and (part := file.read(min(left, CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file next to `path`, which replaces it if the block succeeds and is deleted otherwise.

    Raises:
        OSError: the folder does not exist or is not writable, or `path` exists and is read-only or not a regular file.
    """
    with _describing(path) as hidden, _drafting(path) as (draft, target):
        hidden.append(draft)
        yield draft
        _finish(draft, target)
        _put_in_place(draft, target)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write UTF-8 texts to several files, with line ends unchanged; if one of them can't be written, none is.

    Raises:
        OSError: a folder does not exist or is not writable, or a file exists and is read-only or not a regular file.
    """
    drafts: list[tuple[Path, Path, Path]] = []
    with ExitStack() as stack:
        for path, text in texts.items():
            with _describing(path) as hidden:
                draft, target = stack.enter_context(_drafting(path))
                hidden.append(draft)
                with open_text(draft, target) as file:
                    file.write(text)
                _finish(draft, target)
            drafts.append((path, draft, target))
        for path, draft, target in drafts:
            with _describing(path, draft):
                _put_in_place(draft, target)


@contextmanager
def creating_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `folder` if the block succeeds and is deleted otherwise.

    Folders above it are created if need be.  A folder that is there and empty keeps its permissions.

    Raises:
        OSError: `folder` is the working directory, a file or not empty, or can't be written.
    """
    target = Path(os.path.realpath(folder))
    remove_leftovers(target)
    if target == Path.cwd() or (os.path.lexists(target) and not is_empty_folder(target)):
        raise OSError(errno.ENOTEMPTY, "is not a new or an empty folder; choose another folder", str(folder))
    new = [parent for parent in target.parents if not parent.exists()]
    try:
        with _describing(folder) as hidden:
            target.parent.mkdir(parents=True, exist_ok=True)
            scratch, lock = create_hidden(target, is_folder=True)
            hidden.append(scratch / FOLDER)
            try:
                (scratch / FOLDER).mkdir()
                yield scratch / FOLDER
                _finish_folder(scratch / FOLDER, target)
                for left in target.iterdir() if target.exists() else ():
                    left.unlink()
                (scratch / FOLDER).rename(target)  # atomic, and only if the target is empty or does not exist
                for parent in (target, *new):
                    sync(parent.parent)
            finally:
                release(lock)
                remove_tree(scratch)
    except BaseException:
        for parent in new:
            with suppress(OSError):  # somebody else may use it
                parent.rmdir()
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
    with replacing(path) as partial, open_text(partial, path) as file:
        file.writelines(lines)


@contextmanager
def open_text(draft: Path, target: Path, errors: str = "strict") -> Iterator[TextIO]:
    """Open a draft to write UTF-8 text with line ends unchanged, gzipped if the name of its target ends in `.gz`.

    The same text gives the same bytes: a gzipped file contains neither its name nor a time.

    Args:
        draft: the file that is written, such as `replacing` yields.
        target: what it will be called.
        errors: how to encode what UTF-8 lacks.
    """
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
    """Return the suffix that tells the format of a text file, in lower case and without `.gz`.

    >>> text_suffix(Path("a.JSONL")), text_suffix(Path("a.conll.gz")), text_suffix(Path("a.gz"))
    ('.jsonl', '.conll', '')
    """
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix == PACKED else suffix


def make_folders(folder: Path) -> None:
    """Create a folder and those above it, unless they are there.

    Raises:
        OSError: it can't be created.
    """
    with _describing(folder):
        Path(os.path.realpath(folder)).mkdir(parents=True, exist_ok=True)


def is_empty_folder(path: Path) -> bool:
    """Return whether a path is a folder with nothing in it but what desktops leave there, such as `.DS_Store`."""
    return path.is_dir() and all(inside.name in DESKTOP_FILES for inside in path.iterdir())


@contextmanager
def _describing(path: Path, *hidden: Path) -> Iterator[list[Path]]:
    """Say of errors in the block which file or folder can't be written, as the user named it.

    Errors about other files are left as they are.

    Args:
        path: the file or the folder.
        *hidden: what is written before it is put in place; more may be added to the list that is yielded.
    """
    drafts = list(hidden)
    try:
        yield drafts
    except OSError as error:
        named = _find_named(error, path, drafts)
        if named is None:
            raise
        raise OSError(error.errno, f"can't be written: {error.strerror or error}", str(named)) from error


def _find_named(error: OSError, path: Path, drafts: Sequence[Path]) -> Path | None:
    """Return what can't be written, as the user named it, since hidden names mean nothing to them; None if unknown."""
    if error.filename is None:  # such as a full disk
        return None if error.errno is None or isinstance(error, ConnectionError | TimeoutError) else path
    found, target = Path(os.fsdecode(error.filename)), Path(os.path.realpath(path))
    for draft in drafts:
        if found.is_relative_to(draft):
            return path / found.relative_to(draft)
    is_hidden = found.parent == target.parent and found.name.startswith(hidden_prefix(target))
    return path if is_hidden or found == target or found in target.parents else None


@contextmanager
def _drafting(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield an empty hidden file beside the file that it is to replace, and that file."""
    target = Path(os.path.realpath(path))  # a symbolic link is kept, and its target is replaced
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    if target.exists() and not target.is_file():
        what = "is a directory" if target.is_dir() else "is not a regular file"
        raise OSError(errno.EINVAL, what, str(target))
    if target.exists() and not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "is read-only", str(target))
    draft, lock = create_hidden(target, is_folder=False)
    try:
        yield draft, target
    finally:
        release(lock)
        draft.unlink(missing_ok=True)


def _finish(draft: Path, target: Path) -> None:
    """Give a complete file the permissions of the one that it replaces, and see to it that it is on the disk."""
    if target.exists():
        _keep_permissions(draft, target.stat())
    sync(draft)


def _finish_folder(made: Path, target: Path) -> None:
    """Give a complete folder the permissions of the one that it replaces, and see to it that it is on the disk."""
    if target.exists():
        made.chmod(stat.S_IMODE(target.stat().st_mode))
    inside = [made, *made.rglob("*")]
    if len(inside) > SYNCED_ONE_BY_ONE and sys.platform == "linux":  # elsewhere, it need not be done on return
        os.sync()
        return
    for path in inside:
        sync(path)


def _put_in_place(draft: Path, target: Path) -> None:
    draft.replace(target)
    sync(target.parent)


def _keep_permissions(draft: Path, before: os.stat_result) -> None:
    """Give a file the owner, the group and the permissions of the one that it replaces, as far as we may."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    now = draft.stat()
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(draft, before.st_uid, before.st_gid)
        except OSError:  # another group must not get what the file's own group may do
            mode &= ~0o070 if now.st_gid != before.st_gid else 0o777
    draft.chmod(mode)
