"""Word vectors: files as word2vec, fastText and GloVe write them, gzipped or not.

Formats, recognised by their content:

* text with a header, as word2vec and fastText write it: a line with the numbers of words and of dimensions, then a
  line for each word, the word and its numbers with single spaces between them; a first line of two whole numbers is a
  header in any case;
* text without a header, as GloVe writes it: the same lines; words may contain spaces, and the first line says how
  many numbers the others have;
* binary, as word2vec writes it: the header, then each word, a space and its numbers as little-endian 32-bit floats,
  with or without a line end after them.

Files are large (GloVe's largest has 5.6 GB), so they are read piece by piece: the lengths of all entries are checked,
but only the numbers of words that are asked for, and only these are kept.  Words are bytes as they are in the file,
since they need not be valid UTF-8: word2vec cuts long ones anywhere.
"""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import orjson
from numpy.typing import ArrayLike, NDArray

from closeread.arrays import Floats
from closeread.exceptions import (
    CloseReadWarning,
    FormatError,
    Problem,
    ProblemList,
    RequestError,
    escape_line,
    join_names,
    pluralize,
    quote,
)
from closeread.files import write_lines
from closeread.formats.text import BYTE_ORDER_MARK, MAGIC, UNSAFE

MAX_DIMENSIONS = 1024
MAX_LINE_BYTES = 2**16
MAX_NUMBER = 1e6
"""The largest number in a vector, far above those of trained vectors: products of larger ones would overflow."""

BLOCK = 2**18
"""How many bytes are read at once; an entry is smaller."""

_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})")
_DIGITS = b"0123456789+-.eE "
_TEXT = bytes(range(32, 127)) + b"\t\r\n"

Matrix = NDArray[np.float32]


class WordVectors(NamedTuple):
    """The vectors of some words.

    Attributes:
        matrix: the vectors, (n_rows, n_dimensions), in the order of the file.
        rows: the row of each word that was asked for and is known; several words may have the same row.
    """

    matrix: Matrix
    rows: Mapping[str, int]


class Header(NamedTuple):
    """What a file says of itself: how long vectors are, and how many words it has, None if it has no header."""

    n_dimensions: int
    n_words: int | None = None


def read_vectors(path: Path, words: Collection[str]) -> WordVectors:
    """Read the vectors of words, from a file in any of the formats.

    A word that the file lacks has the vector of its form in lower case, if the file has that: vectors such as those of
    Google News tell "Apple" from "apple", others know lower case only.  If a word occurs twice, the first vector
    counts, as in gensim, and a warning says so.

    Args:
        path: the file.
        words: whose vectors are kept.

    Raises:
        FormatError: the file can't be read, or is invalid; all problems at once.
    """
    forms = {word: [form.encode("utf-8", "surrogatepass") for form in (word, word.lower())] for word in words}
    wanted = {form for both in forms.values() for form in both}
    known: dict[bytes, Matrix] = {}
    repeated: dict[bytes, None] = {}
    problems = ProblemList()
    with open_vectors(path) as file:
        start = file.peek()[: 2 * MAX_LINE_BYTES]
        first, _, others = start.partition(b"\n")
        is_binary = False
        if _HEADER.fullmatch(_strip(first)):
            header = read_header(file.readline(MAX_LINE_BYTES), problems)
            is_binary = header is not None and _is_binary(others, header.n_dimensions)
        else:
            header = _find_dimensions(start[:MAX_LINE_BYTES], problems)
        entries: Iterator[tuple[int, bytes, bytes]] = iter(())
        if header is not None and is_binary:
            entries = _iterate_binary(file, header, len(first) + 1, problems)
        elif header is not None:
            entries = _iterate_text(file, header, problems)
        for place, name, numbers in entries:
            if name not in wanted:
                continue
            if name in known:
                repeated[name] = None
                continue
            try:
                vector = np.frombuffer(numbers, "<f4") if is_binary else parse_numbers(name, numbers)
                _check_range(name, vector)
                known[name] = vector.astype(np.float32)
            except ValueError as error:
                problems.append(Problem(f"byte {place:,}: {error}") if is_binary else Problem(str(error), place))
    if header is None or problems:
        raise FormatError(path, problems)
    if repeated:
        what = f"{join_names(list(map(_show, repeated)))} (expected once); the first vector counts"
        warnings.warn(f"{escape_line(str(path))}: words occur more than once: {what}", CloseReadWarning, stacklevel=2)
    found = {word: next(filter(known.__contains__, names), None) for word, names in forms.items()}
    used = set(found.values())
    rows = {name: row for row, name in enumerate(name for name in known if name in used)}
    matrix = np.array([known[name] for name in rows], np.float32).reshape(-1, header.n_dimensions)
    return WordVectors(matrix, {word: rows[name] for word, name in found.items() if name is not None})


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
            content = cast(io.RawIOBase, gzip.GzipFile(fileobj=file)) if is_gzipped else file
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


def _find_dimensions(start: bytes, problems: list[Problem]) -> Header | None:
    """Find how long vectors are in a file without a header, by its start; None if its first line is invalid."""
    found = _count_numbers(_strip(start.partition(b"\n")[0]).split(b" ")[1:])
    if not start:
        problems.append(Problem("is empty"))
    elif not found:
        expected = "expected a word and its numbers, or the numbers of words and of dimensions"
        problems.append(Problem(f"is not the first line of a file of word vectors ({expected})", 1))
    elif found > MAX_DIMENSIONS:
        problems.append(Problem(f"the number of dimensions is {found:,} (expected 1 to {MAX_DIMENSIONS:,})", 1))
    else:
        return Header(found)
    return None


def _is_binary(entries: bytes, n_dimensions: int) -> bool:
    """Return whether what follows a header is binary: its first line is no text entry, and its numbers are no text."""
    numbers = entries[entries.find(b" ") + 1 :]
    line = _strip(numbers.partition(b"\n")[0])
    if not line.translate(None, _DIGITS) and line.count(b" ") == n_dimensions - 1:
        return False
    return bool(numbers[: 4 * n_dimensions].translate(None, _TEXT))


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
        raise ValueError(f"{quote(_show(name))} has {pluralize(found, 'number')} (expected {n_dimensions})")
    return name, numbers


def parse_numbers(name: bytes, numbers: bytes) -> Floats:
    """Return the vector of a word, (n_dimensions,), from numbers with single spaces between them.

    Raises:
        ValueError: something is not a number, not finite or beyond `MAX_NUMBER`.
    """
    vector = np.array([np.nan])
    if not numbers.translate(None, _DIGITS):
        with suppress(orjson.JSONDecodeError):  # twice as fast as `float`, which reads numbers such as .5, too
            vector = np.array(orjson.loads(b"[%b]" % numbers.replace(b" ", b",")), np.float64)
    if not np.isfinite(vector).all():
        vector = np.array([_parse_number(name, text) for text in numbers.split(b" ")])
    _check_range(name, vector)
    return vector


def _parse_number(name: bytes, text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -np.inf < value < np.inf or b"_" in text:
        found = quote(text.decode("utf-8", "replace"))
        raise ValueError(f"{quote(_show(name))}: {found} is not a number (expected a finite number)")
    return value


def _check_range(name: bytes, vector: NDArray[np.floating]) -> None:
    if np.abs(vector).max() <= MAX_NUMBER:
        return
    if np.isfinite(vector).all():
        raise ValueError(f"{quote(_show(name))} has a number beyond the limit of ±{MAX_NUMBER:,.0f}")
    raise ValueError(f"{quote(_show(name))} has a number that is not finite (expected finite numbers)")


def _iterate_text(file: BinaryIO, header: Header, problems: list[Problem]) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the line, the word and the numbers of each entry in text format."""
    for number, line in iterate_lines(file, header, problems):
        try:
            yield number, *split_line(line, header)
        except ValueError as error:
            problems.append(Problem(str(error), number))


def _iterate_binary(
    file: BinaryIO, header: Header, begin: int, problems: list[Problem]
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the place of the numbers, the word and the numbers of each entry in binary format.

    Args:
        file: the file, after its header.
        header: what it says.
        begin: how many bytes it has.
        problems: what is wrong is added here.
    """
    size, n_words, data, at = 4 * header.n_dimensions, header.n_words or 0, b"", 0
    for number in range(1, n_words + 1):
        space = data.find(b" ", at, at + MAX_LINE_BYTES)
        if space < 0 or space + size >= len(data):
            data, begin, at = data[at:] + file.read(BLOCK), begin + at, 0
            space = data.find(b" ", 0, MAX_LINE_BYTES)
        name = data[at:space].lstrip(b"\n")
        if space >= 0 and not name:
            what = f"byte {begin + at:,}: has no word (expected a word, a space and its numbers)"
        elif space < 0 and len(data) - at >= MAX_LINE_BYTES:
            what = f"byte {begin + at:,}: word {number:,} is too long (limit: {MAX_LINE_BYTES:,} bytes)"
        elif space < 0 or space + size >= len(data):
            part = " and a part of another" if data[at:].strip(b"\n") else ""
            what = f"is truncated: has {pluralize(number - 1, 'word')}{part} (expected {n_words:,}, as line 1 says)"
        else:
            at = space + 1 + size
            yield begin + space + 1, name, data[space + 1 : at]
            continue
        problems.append(Problem(what))
        return
    if (data[at:] + file.read(BLOCK)).strip(b"\n"):
        what = f"has more than {pluralize(n_words, 'word')}, as line 1 says, at byte {begin + at:,}"
        problems.append(Problem(what))


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


def _show(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def write_vectors(path: Path, words: Sequence[str], matrix: ArrayLike) -> None:
    """Write word vectors in word2vec's text format, completely or not at all; reading them returns the same numbers.

    Args:
        path: the file.
        words: the words, each once, at least one.
        matrix: their vectors as 32-bit floats, (n_words, n_dimensions).

    Raises:
        RequestError: words or vectors can't be written so that they can be read; all problems at once.
        OSError: the file can't be written.
    """
    with np.errstate(over="ignore"):  # numbers that become infinite are found below
        rows = np.asarray(matrix, np.float32)
    if problems := list(_find_unwritable(words, rows)):
        raise RequestError("\n".join(problems))
    # Nine digits tell all 32-bit floats apart.
    line = " ".join(["%s", *["%.9g"] * rows.shape[1]]) + "\n"
    entries = (line % (word, *row.tolist()) for word, row in zip(words, rows, strict=True))
    write_lines(path, chain([f"{len(words)} {rows.shape[1]}\n"], entries))


def _find_unwritable(words: Sequence[str], rows: Matrix) -> Iterator[str]:
    """Yield what is wrong with words and their vectors."""
    if rows.ndim != 2 or len(rows) != len(words):
        yield f"the vectors have the shape {rows.shape} (expected a row for each of {pluralize(len(words), 'word')})"
        return
    if not words:
        yield "there are no words (expected at least 1)"
    if not 1 <= rows.shape[1] <= MAX_DIMENSIONS:
        yield f"the number of dimensions is {rows.shape[1]:,} (expected 1 to {MAX_DIMENSIONS:,})"
    is_extreme = ~np.all(np.abs(rows) <= MAX_NUMBER, axis=1)
    if extreme := [words[row] for row in np.flatnonzero(is_extreme).tolist()]:
        yield f"vectors have numbers that are not finite or beyond ±{MAX_NUMBER:,.0f}: {join_names(extreme)}"
    if repeated := [word for word, count in Counter(words).items() if count > 1]:
        yield f"words occur more than once: {join_names(repeated)}"
    longest = MAX_LINE_BYTES // 8
    if wrong := [word for word in words if not word or " " in word or UNSAFE.search(word) or len(word) > longest]:
        expected = f"expected no spaces, no control characters and 1 to {longest:,} characters"
        yield f"words can't be written: {join_names(wrong)} ({expected})"
