"""Files that a command writes: together, and never into what it reads."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import realpath
from pathlib import Path

from closeread.errors import RequestError


def write_with(output: Path, text: str, second: Path | None, second_text: str) -> None:
    """Write a file and, if its path is given, a second one; if one of them can't be written, neither is.

    Raises:
        OSError: one of them can't be written.
    """
    from closeread.files import write_texts

    write_texts({output: text} if second is None else {output: text, second: second_text})


def check_outputs(read: Sequence[tuple[Path, bool]], written: Sequence[Path]) -> None:
    """Check that a command neither overwrites its input, nor writes into a folder that it reads, nor twice to one file.

    Args:
        read: the files and folders that it reads, and of each whether all of it is read; of others, the folder in which
            the command runs may be written to.
        written: the files and folders that it writes.

    Raises:
        RequestError: an output is also an input, is inside a folder that is one, or is also another output.
    """
    for number, output in enumerate(written):
        for path, is_whole in read:
            if _is_same(output, path) or (output.is_file() and _is_inside(output, path)):
                raise RequestError(f"{output} is also an input; choose another output {_name_kind(output)}")
            if _contains(path, output) and (is_whole or not _is_working_folder(path)):
                raise RequestError(f"{output} is inside {path}, which is an input; choose another output file")
        if any(_is_same(output, path) for path in written[:number]):
            raise RequestError(f"{output} is given for two outputs; choose two files")


def _name_kind(output: Path) -> str:
    return "folder" if output.is_dir() else "file"


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file() and not one.is_dir():  # such as /dev/null
        return False
    return realpath(one) == realpath(other) or (one.exists() and other.exists() and one.samefile(other))


def _is_inside(file: Path, folder: Path) -> bool:
    """Return whether a file is inside a folder, unless the command runs in or below that folder."""
    return _contains(folder, file) and not _is_working_folder(folder)


def _contains(folder: Path, path: Path) -> bool:
    """Return whether a file or a folder, which need not exist, is inside a folder."""
    inside = Path(realpath(folder))
    return inside.is_dir() and inside in Path(realpath(path)).parents


def _is_working_folder(folder: Path) -> bool:
    here, inside = Path.cwd(), Path(realpath(folder))
    return inside == here or inside in here.parents
