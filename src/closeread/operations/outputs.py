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
            folder = Path(realpath(path))
            is_inside = output.is_file() and folder.is_dir() and folder in Path(realpath(output)).parents
            if is_inside and not is_whole:
                is_inside = folder not in (Path.cwd(), *Path.cwd().parents)
            if is_inside or _is_same(output, path):
                kind = "folder" if output.is_dir() else "file"
                raise RequestError(f"{output} is also an input; choose another output {kind}")
        if any(_is_same(output, path) for path in written[:number]):
            raise RequestError(f"{output} is given for two outputs; choose two files")


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file() and not one.is_dir():  # such as /dev/null
        return False
    return realpath(one) == realpath(other) or (one.exists() and other.exists() and one.samefile(other))
