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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    describe_unreadable,
    pluralize,
    quote,
)
from closeread.formats.text import BYTE_ORDER_MARK, GZIP_MAGIC, wording_gzip_errors

BLOCK = 2**18  # how many bytes are read at once
_MAX_WORD_BYTES = 2**12
_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})[ \r]*")
_TEXT = bytes(range(32, 127)) + b"\t\r\n"

Matrix = NDArray[np.float32]
Vector = TypeVar("Vector", bound=NDArray[np.floating])

Entry = tuple[int | None, bytes, bytes]
"""The line of an entry, which it has in text format only, the word and its numbers."""


class WordVectors(NamedTuple):
    """The vectors of some words, (n_rows, n_dimensions), in the order of the file, and the row of each known word."""

    matrix: Matrix
    rows: Mapping[str, int]


class Header(NamedTuple):
    """What the first line of a file says.

    Attributes:
        n_dimensions: how long the vectors are.
        n_words: how many words the file has; None if it has no header.
    """

    n_dimensions: int
    n_words: int | None = None


def read_vectors(path: Path, words: Collection[str]) -> WordVectors:
    """Read the vectors of words, from a file in any of the formats.

    A word that the file lacks has the vector of its form in lower case, if the file has that: vectors such as those of
    Google News tell "Apple" from "apple", others know lower case only.  If a word occurs twice, the first vector
    counts, as in gensim.
    """
    forms = {word: (_encode(word), _encode(word.lower())) for word in words}
    wanted = set[bytes]().union(*forms.values())
    vectors: dict[bytes, NDArray[np.floating]] = {}
    problems = ProblemList()
    with open_vectors(path) as file:
        header = read_header(path, file, is_optional=True)
        is_binary = header.n_words is not None and _is_binary(file.peek(), header.n_dimensions)
        iterate = _iterate_binary if is_binary else iterate_text
        for line, name, numbers in iterate(file, header, problems):
            if name not in wanted or name in vectors:
                continue
            try:
                if is_binary:
                    vectors[name] = _check_finite(name, np.frombuffer(numbers, "<f4"))
                else:
                    vectors[name] = parse_numbers(name, numbers)
            except ValueError as error:
                problems.add(str(error), line)
    if problems:
        raise FormatError(path, problems)
    row_of_form = {form: row for row, form in enumerate(vectors)}
    rows = {}
    for word, (form, lower_case) in forms.items():
        row = row_of_form.get(form, row_of_form.get(lower_case))
        if row is not None:
            rows[word] = row
    matrix = np.array(list(vectors.values()), np.float32)
    return WordVectors(matrix.reshape(-1, header.n_dimensions), rows)


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


@contextmanager
def open_vectors(path: Path) -> Iterator[io.BufferedReader[io.RawIOBase]]:
    """Open a file of word vectors, decompressed, after a byte-order mark; errors of the block are worded, too."""
    try:
        with path.open("rb", 0) as file, wording_gzip_errors(path):
            is_gzipped = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(0)
            content = cast(io.RawIOBase, gzip.GzipFile(fileobj=file)) if is_gzipped else file
            with io.BufferedReader(content, BLOCK) as stream:
                if stream.peek().startswith(BYTE_ORDER_MARK):
                    stream.read(len(BYTE_ORDER_MARK))
                yield stream
    except OSError as error:
        raise describe_unreadable(path, error) from None


def read_header(
    path: Path, file: io.BufferedReader[io.RawIOBase], *, least: int = 1, is_optional: bool = False
) -> Header:
    """Read the first line of a file with a header, which must give `least` dimensions or more.

    If it is optional, the first entry of a file without one says how long vectors are.
    """
    first = file.peek().partition(b"\n")[0]
    match = _HEADER.fullmatch(first)
    header = Header(0)
    expected = "the numbers of words and of dimensions"
    if match is not None:
        header = Header(int(match[2]), int(match[1]))
        file.readline()
    elif is_optional:
        header = Header(_count_numbers(_strip(first).split(b" ")[1:]))
        expected = f"a word and its numbers, or {expected}"
    if header.n_dimensions < least:
        message = f"is not the first line of word vectors (expected {expected}, at least {least})"
        raise FormatError(path, [Problem(message, 1)])
    return header


def _is_binary(entries: bytes, n_dimensions: int) -> bool:
    """Return whether the part after a header is binary: its first line is no text entry, nor its numbers text."""
    numbers = entries[entries.find(b" ") + 1 :]
    texts = _strip(numbers.partition(b"\n")[0]).split(b" ")
    is_entry = _count_numbers(texts) == len(texts) == n_dimensions
    return not is_entry and bool(numbers[: 4 * n_dimensions].translate(None, _TEXT))


def iterate_text(file: BinaryIO, header: Header, problems: list[Problem]) -> Iterator[Entry]:
    """Yield the entries in text format, after the header, if there is one.

    What is wrong with other lines, and a wrong number of lines, is added to the problems.
    """
    n_dimensions, n_words = header
    first_line = 1 if n_words is None else 2
    line_number = first_line - 1
    for line_number, line in enumerate(map(_strip, file), first_line):
        n_numbers = line.count(b" ")
        name, _, numbers = line.partition(b" ")
        if n_numbers > n_dimensions and n_words is None:  # spaces belong to the word
            name = line.rsplit(b" ", n_dimensions)[0]
            numbers = line[len(name) + 1 :]
            n_numbers = n_dimensions
        if name[:1] in (b"", b" "):
            problems.append(Problem("has no word (expected a word, then numbers)", line_number))
        elif n_numbers != n_dimensions:
            message = f"{quote(_show(name))} has {pluralize(n_numbers, 'number')}"
            problems.append(Problem(f"{message} (expected {n_dimensions})", line_number))
        else:
            yield line_number, name, numbers
    n_lines = line_number - first_line + 1
    if n_words not in (None, n_lines):
        expected = f"expected {n_words:,}, as line 1 says"
        problems.append(Problem(f"has {pluralize(n_lines, 'word')} ({expected})"))


def _iterate_binary(file: BinaryIO, header: Header, problems: list[Problem]) -> Iterator[Entry]:
    """Yield the entries in binary format, after the header."""
    n_words = header.n_words or 0
    n_number_bytes = 4 * header.n_dimensions
    data = b""
    start = 0
    for number in range(n_words):
        if len(data) - start <= _MAX_WORD_BYTES + n_number_bytes:
            data = data[start:] + file.read(BLOCK)
            start = 0
        space = data.find(b" ", start, start + _MAX_WORD_BYTES)
        end = space + 1 + n_number_bytes
        if space < 0 or end > len(data):
            message = f"is truncated or damaged: has {pluralize(number, 'word')}"
            problems.append(Problem(f"{message} (expected {n_words:,}, as line 1 says)"))
            return
        yield None, data[start:space].lstrip(b"\n"), data[space + 1 : end]
        start = end


def parse_numbers(name: bytes, numbers: bytes) -> Floats:
    """Return the vector of a word, (n_dimensions,), or raise a ValueError."""
    texts = numbers.split(b" ")
    try:
        vector = np.array([float(text) for text in texts])
    except ValueError:
        text = texts[-1 - _count_numbers(texts)].decode("utf-8", "replace")
        raise ValueError(f"{quote(_show(name))}: {quote(text)} is not a number") from None
    return _check_finite(name, vector)


def _check_finite(name: bytes, vector: Vector) -> Vector:
    if not np.isfinite(vector).all():
        raise ValueError(f"{quote(_show(name))} has a number that is not finite")
    return vector


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
