"""Limits of input; `docs/limits.md` lists those that users meet.

Other modules import this one, not the names in it, so that a limit has one value.
"""

from __future__ import annotations

MAX_FILE_BYTES = 2**30  # the largest file in bytes, decompressed
MAX_LINE_BYTES = 2**26  # the longest line of a text file, in bytes
MAX_FILES = 10_000  # the most files of a folder
MAX_DEPTH = 100
"""The deepest level of nesting in JSON and XML; some versions of Python can't print deeper values."""

MAX_PROBLEMS = 300
"""The most problems of a file that are reported one by one, and the most kinds; then, others are only counted."""

MAX_EXPLAINED = 100  # the most invalid rows of a file that are explained; others are only counted
# the most tokens of documents without words that are written with a row for every token, in all
MAX_TOKENS = 5_000_000
