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
but only the numbers of words that are asked for, and only these are kept.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from closeread.formats.text import UNSAFE
from closeread.formats.vector_entries import (
    BLOCK,
    MAX_DIMENSIONS,
    MAX_LINE_BYTES,
    MAX_NUMBER,
    Header,
    describe_extreme,
    find_dimensions,
    has_header,
    is_binary,
    iterate_lines,
    open_vectors,
    parse_numbers,
    read_header,
    show_word,
    split_line,
)

Matrix = NDArray[np.float32]


class WordVectors(NamedTuple):
    """The vectors of some words.

    Attributes:
        matrix: the vectors, (n_rows, n_dimensions), in the order of the file.
        rows: the row of each word that was asked for and is known; several words may have the same row.
    """

    matrix: Matrix
    rows: Mapping[str, int]


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
    forms = {word: [_encode(word), _encode(word.lower())] for word in words}
    entries = _Entries({form for both in forms.values() for form in both})
    with open_vectors(path) as file:
        start = file.peek()[: 2 * MAX_LINE_BYTES]
        if has_header(start):
            header = read_header(file.readline(MAX_LINE_BYTES), entries.problems)
        else:
            header = find_dimensions(start[:MAX_LINE_BYTES], entries.problems)
        if header and header.n_words and is_binary(start.partition(b"\n")[2], header.n_dimensions):
            entries.read_binary(file, header.n_dimensions, header.n_words, start.index(b"\n") + 1)
        elif header:
            entries.read_text(file, header)
    if header is None or entries.problems:
        raise FormatError(path, entries.problems)
    if entries.repeated:
        what = f"{join_names([show_word(name) for name in entries.repeated])} (expected once); the first vector counts"
        warnings.warn(f"{escape_line(str(path))}: words occur more than once: {what}", CloseReadWarning, stacklevel=2)
    return entries.select(forms, header.n_dimensions)


class _Entries:
    """The entries of a file that are kept, and what is wrong.

    Attributes:
        known: the vectors of words that are asked for, (n_dimensions,), in the order of the file.
        repeated: words that are asked for and occur more than once.
        problems: what is wrong.
    """

    def __init__(self, wanted: Collection[bytes]) -> None:
        self.known: dict[bytes, Matrix] = {}
        self.repeated: dict[bytes, None] = {}
        self.problems = ProblemList()
        self._wanted = wanted

    def read_text(self, file: BinaryIO, header: Header) -> None:
        """Read the lines of a file in text format, after its header."""
        for number, line in iterate_lines(file, header, self.problems):
            try:
                name, numbers = split_line(line, header)
                if self._is_new(name):
                    self.known[name] = parse_numbers(name, numbers).astype(np.float32)
            except ValueError as error:
                self.problems.append(Problem(str(error), number))

    def read_binary(self, file: BinaryIO, n_dimensions: int, n_words: int, begin: int) -> None:
        """Read the entries of a file in binary format, after its header.

        Args:
            file: the file.
            n_dimensions, n_words: what the header says.
            begin: how many bytes the header has.
        """
        size, data, at = 4 * n_dimensions, b"", 0
        for number in range(1, n_words + 1):
            space = data.find(b" ", at, at + MAX_LINE_BYTES)
            if space < 0 or space + size >= len(data):
                data, begin, at = data[at:] + file.read(BLOCK), begin + at, 0
                space = data.find(b" ", 0, MAX_LINE_BYTES)
            name = data[at:space].lstrip(b"\n")
            if space < 0 or space + size >= len(data) or not name:
                self.problems.append(Problem(_describe_end(data[at:], number, n_words, begin + at)))
                return
            at = space + 1 + size
            if self._is_new(name):
                vector = np.frombuffer(data, "<f4", n_dimensions, space + 1).astype(np.float32)
                if not np.abs(vector).max() <= MAX_NUMBER:
                    place = f"byte {begin + space + 1:,}"
                    self.problems.append(Problem(f"{place}: {quote(show_word(name))} {describe_extreme(vector)}"))
                self.known[name] = vector
        if (data[at:] + file.read(BLOCK)).strip(b"\n"):
            what = f"has more than {pluralize(n_words, 'word')}, as line 1 says, at byte {begin + at:,}"
            self.problems.append(Problem(what))

    def _is_new(self, name: bytes) -> bool:
        """Return whether a word is asked for and occurs for the first time."""
        if name not in self._wanted:
            return False
        if name in self.known:
            self.repeated[name] = None
            return False
        return True

    def select(self, forms: Mapping[str, Sequence[bytes]], n_dimensions: int) -> WordVectors:
        """Return the vectors of words, each that of the first of its forms that is known."""
        found = {word: next(filter(self.known.__contains__, names), None) for word, names in forms.items()}
        chosen = {word: name for word, name in found.items() if name is not None}
        used = set(chosen.values())
        names = [name for name in self.known if name in used]
        rows = {name: row for row, name in enumerate(names)}
        matrix = np.array([self.known[name] for name in names], np.float32).reshape(-1, n_dimensions)
        return WordVectors(matrix, {word: rows[name] for word, name in chosen.items()})


def _describe_end(rest: bytes, number: int, n_words: int, begin: int) -> str:
    """Say what is wrong with the next entry of a binary file.

    Args:
        rest: what is left, or the next block of it.
        number: the number of the entry, from 1.
        n_words: how many there must be.
        begin: the place of the entry, in bytes.
    """
    name, space, _ = rest[:MAX_LINE_BYTES].partition(b" ")
    if space and not name.strip(b"\n"):
        return f"byte {begin:,}: has no word (expected a word, a space and its numbers)"
    if not space and len(rest) >= MAX_LINE_BYTES:
        return f"byte {begin:,}: word {number:,} is too long (limit: {MAX_LINE_BYTES:,} bytes)"
    part = " and a part of another" if rest.strip(b"\n") else ""
    return f"is truncated: has {pluralize(number - 1, 'word')}{part} (expected {n_words:,}, as line 1 says)"


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


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
