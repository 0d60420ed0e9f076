"""Several annotators, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

from closeread.exceptions import RequestError


class Annotator(NamedTuple):
    """An annotator: a name for messages, and the file, the folder or the rows of the annotation."""

    name: str
    source: Path | Sequence[Any]


def require_two(annotators: Sized) -> None:
    """Raise a RequestError if there is only one annotator."""
    if len(annotators) < 2:
        raise RequestError("only one annotator's file is given (expected two or more)")


def find_repeated_paths(annotators: Sequence[Annotator]) -> Iterator[str]:
    """Yield a sentence for each path that leads to the same file as an earlier one."""
    first_paths: dict[object, Path] = {}
    for annotator in annotators:
        path = annotator.source
        if not isinstance(path, Path):
            continue
        first_path = first_paths.setdefault(_identify(path), path)
        if first_path is not path:
            other_name = "" if first_path == path else f", also as {first_path}"
            yield f"{path} is given twice{other_name}; it counts as two files."


def _identify(path: Path) -> object:
    """Return what all paths to the same file share."""
    try:
        status = path.stat()
    except OSError:
        return realpath(path)
    return (status.st_dev, status.st_ino) if status.st_ino else realpath(path)
