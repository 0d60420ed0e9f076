"""Parquet files where predictions are expected, which are text: one error that says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from closeread.exceptions import FormatError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"


def find_parquet_problems(path: Path) -> tuple[Problem, ...]:
    """Return what is wrong with a file that is Parquet by its name or its first bytes; nothing for other files.

    Counts are the usual case, since they are next to predictions, and other commands accept either.
    """
    if not _is_parquet(path):
        return ()
    from closeread.counts.storage import KEY  # with the next one, takes longer to import than most files take to read
    from closeread.formats.parquet import read_parquet

    def describe(schema: pa.Schema) -> list[Problem]:
        if KEY in (schema.metadata or {}):
            return [Problem("contains counts, not predictions; use `closeread score --from-counts` to score them")]
        return [Problem("is a Parquet file (expected predictions as text, such as JSON Lines)")]

    try:
        read_parquet(path, describe)
    except FormatError as error:
        return tuple(error.problems)
    return ()


def _is_parquet(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC or path.suffix.lower() == ".parquet"
    except OSError:  # reading it tells
        return False
