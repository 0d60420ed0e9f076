"""The parts of files of word vectors: header, lines and numbers.  `closeread.formats.word_vectors` reads whole files.

Conventions: words and numbers are bytes as they are in the file, since words need not be valid UTF-8: word2vec cuts
long ones anywhere.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from closeread import limits
from closeread.arrays import Floats
from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.formats.gzipped import MAGIC
from closeread.formats.text import BYTE_ORDER_MARK

MAX_DIMENSIONS = 1024
MAX_LINE_BYTES = 2**16
MAX_NUMBER = 1e6
"""The largest number in a vector, far above those of trained vectors: products of larger ones would overflow."""

_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})")
_DIGITS = b"0123456789+-.eE "
_TEXT = bytes(range(32, 127)) + b"\t\r\n"
BLOCK = 2**18
"""How many bytes are read at once; an entry is smaller."""


class Header(NamedTuple):
    """What a file says of itself.

    Attributes:
        n_dimensions: how long vectors are.
        n_words: how many words the file has; None if it has no header.
    """

    n_dimensions: int
    n_words: int | None = None


@contextmanager
def open_vectors(path: Path) -> Iterator[io.BufferedReader[io.RawIOBase]]:
    """Open a file of word vectors, decompressed if it is gzipped, after a byte-order mark; errors are worded.

    Raises:
        FormatError: the file can't be read, here or in the block.
    """
    if path.exists() and not path.is_file():
        raise FormatError(path, [Problem("is not a regular file")])
    try:
        with path.open("rb", 0) as file:
            is_gzipped = file.read(len(MAGIC)) == MAGIC
            file.seek(0)
            content: io.RawIOBase = _Decompression(path, file) if is_gzipped else file
            with io.BufferedReader(content, BLOCK) as stream:
                if stream.peek().startswith(BYTE_ORDER_MARK):
                    stream.read(len(BYTE_ORDER_MARK))
                yield stream
    except EOFError:
        raise FormatError(path, [Problem("is not a valid gzip file: it is truncated")]) from None
    except (gzip.BadGzipFile, zlib.error):
        raise FormatError(path, [Problem("is not a valid gzip file: its data is corrupt")]) from None
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None


class _Decompression(io.RawIOBase):
    """The content of a gzipped file, up to the size that a file of its size may have."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._content = path, gzip.GzipFile(fileobj=file)
        self._room = self._limit = max(limits.MAX_SMALL_BYTES, limits.MAX_EXPANSION * path.stat().st_size)

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer, or as much of it as there is content.

        Raises:
            FormatError: there is too much content.
        """
        data = self._content.read(len(buffer))
        self._room -= len(data)
        if self._room < 0:
            raise FormatError(self._path, [Problem(f"is too large: more than {self._limit:,} bytes when decompressed")])
        buffer[: len(data)] = data
        return len(data)


def has_header(start: bytes) -> bool:
    """Return whether a file that begins like this has a header."""
    return _HEADER.fullmatch(_strip(start.partition(b"\n")[0])) is not None


def read_header(line: bytes, problems: list[Problem], *, least: int = 1) -> Header | None:
    """Read the first line of a file with a header; None if it is invalid.

    Args:
        line: the line.
        problems: what is wrong with it is added here.
        least: the smallest number of dimensions that is accepted.
    """
    if not line:
        problems.append(Problem("is empty"))
        return None
    found = _HEADER.fullmatch(_strip(line))
    if found is None:
        what = "is not the header of word vectors in text format (expected two numbers: words and dimensions)"
        problems.append(Problem(what, 1))
        return None
    n_words, n_dimensions = map(int, found.groups())
    if not least <= n_dimensions <= MAX_DIMENSIONS:
        expected = f"expected {least} to {MAX_DIMENSIONS:,}"
        problems.append(Problem(f"the number of dimensions is {n_dimensions} ({expected})", 1))
        return None
    if not n_words:
        problems.append(Problem("the number of words is 0 (expected at least 1)", 1))
        return None
    return Header(n_dimensions, n_words)


def iterate_lines(file: BinaryIO, header: Header, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content of each line after the header, as far as the file can be read.

    Args:
        file: the file in text format; its header, if it has one, has been read.
        header: what it says.
        problems: a line that is too long, and a wrong number of lines, are added here.
    """
    number = first = 0 if header.n_words is None else 1
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        if header.n_words is not None and number > header.n_words + 1:
            said = pluralize(header.n_words, "word")
            problems.append(Problem(f"is one line too many (line 1 says {said})", number))
            return
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            problems.append(Problem(f"line is too long (limit: {MAX_LINE_BYTES:,} bytes)", number))
            return
        yield number, _strip(line)
    if header.n_words is not None and number - first < header.n_words:
        expected = f"expected {header.n_words:,}, as line 1 says"
        problems.append(Problem(f"has {pluralize(number - first, 'word')} ({expected})"))


def split_line(line: bytes, header: Header) -> tuple[bytes, bytes]:
    """Split a line into a word and its numbers, as many as there must be.

    Raises:
        ValueError: there is no word, or another number of numbers.
    """
    found, n_dimensions = line.count(b" "), header.n_dimensions
    name, _, numbers = line.partition(b" ")
    if found > n_dimensions and header.n_words is None:  # spaces belong to the word
        name = line.rsplit(b" ", n_dimensions)[0]
        numbers = line[len(name) + 1 :]
        found = n_dimensions + _count_numbers(name.split(b" ")[1:])
        name = name.rsplit(b" ", found - n_dimensions)[0]
    if name[:1] in (b"", b" "):
        raise ValueError("has no word (expected a word, then numbers)")
    if found != n_dimensions:
        raise ValueError(f"{quote(show_word(name))} has {pluralize(found, 'number')} (expected {n_dimensions})")
    return name, numbers


def parse_numbers(name: bytes, numbers: bytes) -> Floats:
    """Return the vector of a word, (n_dimensions,), from numbers with single spaces between them.

    Raises:
        ValueError: something is not a number, not finite or beyond `MAX_NUMBER`.
    """
    vector = _parse_json(numbers)
    if vector is None:
        vector = np.array([_parse(name, text) for text in numbers.split(b" ")])
    if np.abs(vector).max() > MAX_NUMBER:
        raise ValueError(f"{quote(show_word(name))} {describe_extreme(vector)}")
    return vector


def _parse_json(numbers: bytes) -> Floats | None:
    """Parse numbers twice as fast as `float` does; None if one of them is not finite or not as JSON has it, as .5."""
    if numbers.translate(None, _DIGITS):
        return None
    try:
        vector = np.array(orjson.loads(b"[%b]" % numbers.replace(b" ", b",")), np.float64)
    except orjson.JSONDecodeError:
        return None
    return vector if np.isfinite(vector).all() else None


def _parse(name: bytes, text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -np.inf < value < np.inf or b"_" in text:
        found = quote(text.decode("utf-8", "replace"))
        raise ValueError(f"{quote(show_word(name))}: {found} is not a number (expected a finite number)")
    return value


def find_dimensions(start: bytes, problems: list[Problem]) -> Header | None:
    """Find how long vectors are in a file without a header; None if its first line is invalid.

    Args:
        start: how the file begins.
        problems: what is wrong with it is added here.
    """
    if not start:
        problems.append(Problem("is empty"))
        return None
    found = _count_numbers(_strip(start.partition(b"\n")[0]).split(b" ")[1:])
    if not found:
        expected = "expected a word and its numbers, or the numbers of words and of dimensions"
        problems.append(Problem(f"is not the first line of a file of word vectors ({expected})", 1))
        return None
    if found > MAX_DIMENSIONS:
        problems.append(Problem(f"the number of dimensions is {found:,} (expected 1 to {MAX_DIMENSIONS:,})", 1))
        return None
    return Header(found)


def is_binary(entries: bytes, n_dimensions: int) -> bool:
    """Return whether what follows a header is binary: its first line is no text entry, and its numbers are no text."""
    numbers = entries[entries.find(b" ") + 1 :]
    line = _strip(numbers.partition(b"\n")[0])
    if not line.translate(None, _DIGITS) and line.count(b" ") == n_dimensions - 1:
        return False
    return bool(numbers[: 4 * n_dimensions].translate(None, _TEXT))


def _count_numbers(fields: Sequence[bytes]) -> int:
    """Return how many numbers are at the end, also if they are not finite."""
    for count, field in enumerate(reversed(fields)):
        try:
            float(field)
        except ValueError:
            return count
    return len(fields)


def _strip(line: bytes) -> bytes:
    return line.rstrip(b" \r\n")


def show_word(name: bytes) -> str:
    """Return a word for a message."""
    return name.decode("utf-8", "backslashreplace")


def describe_extreme(vector: NDArray[np.floating]) -> str:
    """Say what is wrong with a vector that has a number that is too large, or none."""
    if np.isfinite(vector).all():
        return f"has a number beyond the limit of ±{MAX_NUMBER:,.0f}"
    return "has a number that is not finite (expected finite numbers)"
