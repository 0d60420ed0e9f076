"""Limits of input; `docs/limits.md` lists those that users meet.

Other modules import this one, not the names in it, so that a limit has one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# the largest file, and the largest folder of files, in bytes, decompressed; a judge may lower it
MAX_FILE_BYTES = 2**30
MAX_LINE_BYTES = 2**26  # the longest line of a text file, in bytes
MAX_FILES = 10_000  # the most files of a folder
MAX_DEPTH = 100
"""The deepest level of nesting in JSON and XML; some versions of Python can't print deeper values."""

MAX_PROBLEMS = 300
"""The most problems of a file that are reported one by one, and the most kinds; then, others are only counted."""

MAX_EXPLAINED = 100  # the most invalid rows of a file that are explained; others are only counted
# the most tokens of documents without words that are written with a row for every token, in all
MAX_TOKENS = 5_000_000

_lowered_limit: ContextVar[int | None] = ContextVar("lowered_limit", default=None)


@contextmanager
def keep_files_below(size: int | None) -> Iterator[None]:
    """Refuse files, and folders of files, of more than `size` bytes inside the block; None keeps the limit as it is."""
    token = _lowered_limit.set(_lowered_limit.get() if size is None else size)
    try:
        yield
    finally:
        _lowered_limit.reset(token)


def max_file_bytes() -> int:
    """Return the limit in force: how many bytes a file, or a folder of files, may have, decompressed."""
    lowered_limit = _lowered_limit.get()
    return MAX_FILE_BYTES if lowered_limit is None else min(lowered_limit, MAX_FILE_BYTES)


def describe_excess(size: int, unit: str = "bytes") -> str | None:
    """Say that a file, or a folder of files, is too large; None if it is not."""
    limit = max_file_bytes()
    return None if size <= limit else f"is too large: {size:,} {unit} (limit: {limit:,})"
