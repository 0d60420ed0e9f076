"""Outputs that are also inputs, which would be lost."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import realpath
from pathlib import Path

from closeread.exceptions import RequestError


def check_outputs(read: Sequence[tuple[Path, bool]], written: Sequence[Path]) -> None:
    """Check that an operation neither overwrites its input, nor writes twice to one file.

    Args:
        read: the files and folders that it reads, and of each whether all of it is read; of others, files that are in
            the folder in which it runs may be overwritten.
        written: the files and folders that it writes.
    """
    for number, output in enumerate(written):
        for path, is_whole in read:
            is_part = output.is_file() and _contains(path, output) and (is_whole or not _is_working_folder(path))
            if is_part or _is_same(output, path):
                raise RequestError(f"{output} is also an input; choose another output {_name_kind(output)}")
        if any(_is_same(output, path) for path in written[:number]):
            raise RequestError(f"{output} is given for two outputs; choose two files")


def _name_kind(output: Path) -> str:
    return "folder" if output.is_dir() else "file"


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file() and not one.is_dir():  # such as /dev/null
        return False
    return realpath(one) == realpath(other) or (one.exists() and other.exists() and one.samefile(other))


def _contains(folder: Path, path: Path) -> bool:
    inside = Path(realpath(folder))
    return inside.is_dir() and inside in Path(realpath(path)).parents


def _is_working_folder(folder: Path) -> bool:
    here, inside = Path.cwd(), Path(realpath(folder))
    return inside == here or inside in here.parents
