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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats
from closeread.exceptions import (
    CloseReadWarning,
    FormatError,
    Problem,
    ProblemList,
    describe_unreadable,
    escape_line,
    join_names,
    pluralize,
    quote,
)
from closeread.formats.text import BYTE_ORDER_MARK, GZIP_MAGIC, wording_gzip_errors

MAX_DIMENSIONS = 1024
MAX_NUMBER = 1e6
"""The largest number in a vector, far above those of trained vectors: products of larger ones would overflow."""

BLOCK = 2**18  # how many bytes are read at once
_MAX_WORD_BYTES = 2**12
_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})[ \r]*")
_TEXT = bytes(range(32, 127)) + b"\t\r\n"

Matrix = NDArray[np.float32]


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
    counts, as in gensim, and a warning says so.
    """
    forms = {word: (_encode(word), _encode(word.lower())) for word in words}
    wanted = set[bytes]().union(*forms.values())
    vectors: dict[bytes, Matrix] = {}
    repeated: dict[bytes, None] = {}
    problems = ProblemList()
    with open_vectors(path) as file:
        header = read_header(path, file, is_optional=True)
        is_binary = header.n_words is not None and _is_binary(file.peek(), header.n_dimensions)
        iterate = _iterate_binary if is_binary else iterate_text
        for place, name, numbers in iterate(file, header, problems):
            if name in vectors:
                repeated[name] = None
            elif name in wanted:
                try:
                    vectors[name] = _parse_vector(name, numbers, is_binary).astype(np.float32)
                except ValueError as error:
                    if is_binary:
                        problems.add(f"byte {place:,}: {error}")
                    else:
                        problems.add(str(error), place)
    if problems:
        raise FormatError(path, problems)
    if repeated:
        names = join_names([_show(name) for name in repeated])
        message = f"words occur more than once: {names} (expected once); the first vector counts"
        warnings.warn(
            f"{escape_line(str(path))}: {message}",
            CloseReadWarning,
            stacklevel=2,
        )
    form_of_word = {}
    for word, (form, lower_case) in forms.items():
        if form in vectors:
            form_of_word[word] = form
        elif lower_case in vectors:
            form_of_word[word] = lower_case
    used = set(form_of_word.values())
    rows: dict[bytes, int] = {}
    for form in vectors:
        if form in used:
            rows[form] = len(rows)
    matrix = np.array([vectors[form] for form in rows], np.float32)
    return WordVectors(
        matrix.reshape(-1, header.n_dimensions),
        {word: rows[form] for word, form in form_of_word.items()},
    )


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _parse_vector(name: bytes, numbers: bytes, is_binary: bool) -> NDArray[np.floating]:
    if not is_binary:
        return parse_numbers(name, numbers)
    vector = np.frombuffer(numbers, "<f4")
    _check_range(name, vector)
    return vector


@contextmanager
def open_vectors(path: Path) -> Iterator[io.BufferedReader[io.RawIOBase]]:
    """Open a file of word vectors, decompressed, after a byte-order mark; errors of the block are worded, too."""
    if path.exists() and not path.is_file():
        raise FormatError(path, [Problem("is not a regular file")])
    try:
        with path.open("rb", 0) as file, wording_gzip_errors(path):
            is_gzipped = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(0)
            content = cast(io.RawIOBase, gzip.GzipFile(fileobj=file)) if is_gzipped else file
            with io.BufferedReader(content, BLOCK) as stream:
                if stream.peek().startswith(BYTE_ORDER_MARK):
                    stream.read(len(BYTE_ORDER_MARK))
                if not stream.peek():
                    raise FormatError(path, [Problem("is empty")])
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
    n_words: int | None = None
    message = ""
    if match is not None:
        n_words, n_dimensions = map(int, match.groups())
        file.readline()
    else:
        n_dimensions = _count_numbers(_strip(first).split(b" ")[1:])
    if match is None and not is_optional:
        expected = "expected two numbers: words and dimensions"
        message = f"is not the header of word vectors in text format ({expected})"
    elif match is None and not n_dimensions:
        expected = "expected a word and its numbers, or the numbers of words and of dimensions"
        message = f"is not the first line of a file of word vectors ({expected})"
    elif not least <= n_dimensions <= MAX_DIMENSIONS:
        expected = f"expected {least} to {MAX_DIMENSIONS:,}"
        message = f"the number of dimensions is {n_dimensions:,} ({expected})"
    elif n_words == 0:
        message = "the number of words is 0 (expected at least 1)"
    if message:
        raise FormatError(path, [Problem(message, 1)])
    return Header(n_dimensions, n_words)


def _is_binary(entries: bytes, n_dimensions: int) -> bool:
    """Return whether the part after a header is binary: its first line is no text entry, nor its numbers text."""
    numbers = entries[entries.find(b" ") + 1 :]
    texts = _strip(numbers.partition(b"\n")[0]).split(b" ")
    is_entry = _count_numbers(texts) == len(texts) == n_dimensions
    return not is_entry and bool(numbers[: 4 * n_dimensions].translate(None, _TEXT))


def iterate_text(
    file: BinaryIO, header: Header, problems: list[Problem]
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the line, the word and the numbers of each entry in text format, after the header, if there is one.

    What is wrong with other lines, and a wrong number of lines, is added to the problems.
    """
    n_dimensions, n_words = header
    first_line = 1 if n_words is None else 2
    number = 0
    for number, line in enumerate(map(_strip, file), 1):
        line_number = first_line + number - 1
        if n_words is not None and number > n_words:
            expected = f"line 1 says {pluralize(n_words, 'word')}"
            problems.append(Problem(f"is one line too many ({expected})", line_number))
            return
        n_numbers = line.count(b" ")
        name, _, numbers = line.partition(b" ")
        if n_numbers > n_dimensions and n_words is None:  # spaces belong to the word
            name = line.rsplit(b" ", n_dimensions)[0]
            numbers = line[len(name) + 1 :]
            n_too_many = _count_numbers(name.split(b" ")[1:])
            name = name.rsplit(b" ", n_too_many)[0]
            n_numbers = n_dimensions + n_too_many
        if name[:1] in (b"", b" "):
            problems.append(Problem("has no word (expected a word, then numbers)", line_number))
        elif n_numbers != n_dimensions:
            message = f"{quote(_show(name))} has {pluralize(n_numbers, 'number')}"
            problems.append(Problem(f"{message} (expected {n_dimensions})", line_number))
        else:
            yield line_number, name, numbers
    if n_words is not None and number < n_words:
        expected = f"expected {n_words:,}, as line 1 says"
        problems.append(Problem(f"has {pluralize(number, 'word')} ({expected})"))


def _iterate_binary(
    file: BinaryIO, header: Header, problems: list[Problem]
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the place of the numbers, the word and the numbers of each entry after the header."""
    n_words = header.n_words or 0
    n_number_bytes = 4 * header.n_dimensions
    data = b""
    # where the data begins in the file, and where the next entry begins in the data
    data_start = file.tell()
    start = 0
    for number in range(n_words):
        if len(data) - start <= _MAX_WORD_BYTES + n_number_bytes:
            data = data[start:] + file.read(BLOCK)
            data_start += start
            start = 0
        space = data.find(b" ", start, start + _MAX_WORD_BYTES)
        end = space + 1 + n_number_bytes
        if space < 0 or end > len(data):
            message = f"is truncated or damaged: has {pluralize(number, 'word')}"
            problems.append(Problem(f"{message} (expected {n_words:,}, as line 1 says)"))
            return
        name = data[start:space].lstrip(b"\n")
        if not name:
            expected = "expected a word, a space and its numbers"
            problems.append(Problem(f"byte {data_start + start:,}: has no word ({expected})"))
            return
        yield data_start + space + 1, name, data[space + 1 : end]
        start = end
    if (data[start:] + file.read(BLOCK)).strip(b"\n"):
        message = f"has more than {pluralize(n_words, 'word')}, as line 1 says"
        problems.append(Problem(f"{message}, at byte {data_start + start:,}"))


def parse_numbers(name: bytes, numbers: bytes) -> Floats:
    """Return the vector of a word, (n_dimensions,), or raise a ValueError."""
    texts = numbers.split(b" ")
    try:
        vector = np.array([float(text) for text in texts])
    except ValueError:
        text = texts[-1 - _count_numbers(texts)].decode("utf-8", "replace")
        raise ValueError(f"{quote(_show(name))}: {quote(text)} is not a number") from None
    _check_range(name, vector)
    return vector


def _check_range(name: bytes, vector: NDArray[np.floating]) -> None:
    if not np.abs(vector).max() <= MAX_NUMBER:
        raise ValueError(
            f"{quote(_show(name))} has a number that is not finite or beyond ±{MAX_NUMBER:,.0f}"
        )


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
