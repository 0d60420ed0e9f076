"""Word vectors in word2vec's text format, and the vectors of mentions.

The file is read line by line, since those of Wikipedia have hundreds of thousands of words: only the vectors of words
that are asked for are kept.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.errors import FormatError, Problem, pluralize, quote
from closeread.formats.gzipped import MAGIC
from closeread.formats.text import BYTE_ORDER_MARK
from closeread.tasks.coref.marmara.features import Mentions
from closeread.tasks.coref.marmara.tokens import Tokens
from closeread.tasks.coref.marmara.turkish import lower, strip_suffix

__all__ = [
    "MAX_DIMENSIONS",
    "MAX_LINE_BYTES",
    "MAX_NUMBER",
    "N_COMPONENTS",
    "MentionVectors",
    "Vectors",
    "find_cosines",
    "find_words",
    "look_up",
    "read_vectors",
]

MAX_DIMENSIONS = 1024
MAX_LINE_BYTES = 2**16
MAX_NUMBER = 1e6
"""The largest number in a vector, far above those of trained vectors: products of larger ones would overflow."""
N_COMPONENTS = 15
"""How many principal components the paper uses."""

_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})")
_BATCH = 2048


class Vectors(NamedTuple):
    """The vectors of some words.

    Attributes:
        n_dimensions: how long they are.
        words: the vector of each word that is known, (n_dimensions,).
    """

    n_dimensions: int
    words: Mapping[str, Floats]


class MentionVectors(NamedTuple):
    """The vectors of the mentions of a document.

    Attributes:
        values: the vector of the head, and the mean over all tokens, side by side, (n_mentions, 2 * n_dimensions).
        head, mean: the same apart and with length 1, (n_mentions, n_dimensions); zeros where a vector is zero.
    """

    values: Floats
    head: Floats
    mean: Floats


def find_words(documents: Sequence[Tokens]) -> set[str]:
    """Return the words of documents as vectors are looked up: without suffixes, in lower case."""
    return {lower(strip_suffix(form)) for tokens in documents for form in tokens.forms}


def look_up(tokens: Tokens, mentions: Mentions, vectors: Vectors) -> MentionVectors:
    """Return the vectors of mentions; those of unknown words are zero."""
    zero = np.zeros(vectors.n_dimensions)
    words = [vectors.words.get(lower(strip_suffix(form)), zero) for form in tokens.forms]
    of_tokens = np.array(words, np.float64).reshape(-1, vectors.n_dimensions)
    sums = np.concatenate([zero[None], np.cumsum(of_tokens, axis=0)])
    head = of_tokens[mentions.head]
    mean = ratio(sums[mentions.end + 1] - sums[mentions.start], (mentions.end + 1 - mentions.start)[:, None])
    return MentionVectors(np.hstack([head, mean]), _normalise(head), _normalise(mean))


def find_cosines(vectors: MentionVectors, first: Ints, second: Ints) -> Floats:
    """Return the cosines of the head vectors and of the mean vectors of pairs, (2, n_pairs); 0 where one is zero."""
    return np.stack([(side @ side.T)[first, second] for side in (vectors.head, vectors.mean)])


def _normalise(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return ratio(vectors, np.where(length, length, 1))


def read_vectors(path: Path, words: Collection[str], *, n_components: int | None = None) -> Vectors:
    """Read the vectors of words: a line with the numbers of words and of dimensions, then one line a word.

    Args:
        path: the file; it may be gzipped.
        words: whose vectors are kept.
        n_components: centre the vectors, and project them on so many principal components of the whole file.

    Raises:
        FormatError: the file can't be read, or lines are invalid; all problems at once.
    """
    reading = _Reading(words)
    try:
        with _open(path) as file:
            reading.read(file, n_components)
    except EOFError:
        raise FormatError(path, [Problem("is not a valid gzip file: it is truncated")]) from None
    except (gzip.BadGzipFile, zlib.error):
        raise FormatError(path, [Problem("is not a valid gzip file: its data is corrupt")]) from None
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None
    if reading.problems:
        raise FormatError(path, reading.problems)
    return reading.vectors if n_components is None else reading.project(n_components)


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    if path.exists() and not path.is_file():
        raise FormatError(path, [Problem("is not a regular file")])
    with path.open("rb") as file:
        is_gzipped = file.read(len(MAGIC)) == MAGIC
    with gzip.open(path) if is_gzipped else path.open("rb") as opened:
        yield cast(BinaryIO, opened)


@dataclass
class _Reading:
    """What has been read of a file.

    Attributes:
        wanted: the words whose vectors are kept.
        n_dimensions: how long vectors are, as the first line says.
        known: the vectors that are kept.
        lines: the line of every word.
        problems: what is wrong.
        total: the sum of all vectors, (n_dimensions,).
        products: the sum of their outer products, (n_dimensions, n_dimensions).
    """

    wanted: Collection[str]
    n_dimensions: int = 0
    known: dict[str, Floats] = field(default_factory=dict)
    lines: dict[bytes, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    total: Floats = field(default_factory=lambda: np.zeros(0))
    products: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def vectors(self) -> Vectors:
        """The vectors that are kept."""
        return Vectors(self.n_dimensions, self.known)

    def read(self, file: BinaryIO, n_components: int | None) -> None:
        """Read all lines, or as far as the file can be read."""
        header = file.readline(MAX_LINE_BYTES).removeprefix(BYTE_ORDER_MARK)
        if (n_words := self._read_header(header, n_components or 1)) is None:
            return
        self.total, self.products = np.zeros(self.n_dimensions), np.zeros((self.n_dimensions,) * 2)
        batch: list[Floats] = []
        number = 1
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            if number > n_words + 1:
                self.problems.append(
                    Problem(f"is one line too many (line 1 says {pluralize(n_words, 'word')})", number)
                )
                return
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                self.problems.append(Problem(f"line is too long (limit: {MAX_LINE_BYTES:,} bytes)", number))
                return
            vector = self._read_line(line.rstrip(b" \r\n"), number)
            if vector is not None and n_components is not None:
                batch.append(vector)
            if len(batch) == _BATCH:
                self._add(batch)
                batch = []
        self._add(batch)
        if number < n_words + 1:
            self.problems.append(Problem(f"has {pluralize(number - 1, 'word')} (expected {n_words:,}, as line 1 says)"))

    def _read_header(self, line: bytes, least: int) -> int | None:
        """Return the number of words; None if the first line is invalid."""
        if not line:
            self.problems.append(Problem("is empty"))
            return None
        found = _HEADER.fullmatch(line.rstrip(b" \r\n"))
        if found is None:
            what = "is not the header of word vectors in text format (expected two numbers: words and dimensions)"
            self.problems.append(Problem(what, 1))
            return None
        n_words, self.n_dimensions = map(int, found.groups())
        if not least <= self.n_dimensions <= MAX_DIMENSIONS:
            expected = f"expected {least} to {MAX_DIMENSIONS:,}"
            self.problems.append(Problem(f"the number of dimensions is {self.n_dimensions} ({expected})", 1))
            return None
        if not n_words:
            self.problems.append(Problem("the number of words is 0 (expected at least 1)", 1))
            return None
        return n_words

    def _read_line(self, line: bytes, number: int) -> Floats | None:
        """Read a word and its vector; None if the line is invalid."""
        name, *numbers = line.split(b" ")
        try:
            word = name.decode("utf-8")
        except UnicodeDecodeError:
            self.problems.append(Problem(f"the word {quote(repr(name)[2:-1])} is not valid UTF-8", number))
            return None
        if not word:
            self.problems.append(Problem("has no word (expected a word, then numbers)", number))
            return None
        if len(numbers) != self.n_dimensions:
            found = f"{quote(word)} has {pluralize(len(numbers), 'number')} (expected {self.n_dimensions})"
            self.problems.append(Problem(found, number))
            return None
        if (first := self.lines.setdefault(name, number)) != number:
            self.problems.append(Problem(f"duplicate word {quote(word)} (first on line {first})", number))
            return None
        try:
            vector = np.array(list(map(_parse, numbers)))
        except ValueError as error:
            self.problems.append(Problem(f"{quote(word)}: {error}", number))
            return None
        if np.abs(vector).max() > MAX_NUMBER:
            self.problems.append(Problem(f"{quote(word)} has a number beyond the limit of ±{MAX_NUMBER:,.0f}", number))
            return None
        if word in self.wanted:
            self.known[word] = vector
        return vector

    def _add(self, batch: Sequence[Floats]) -> None:
        if batch:
            rows = np.array(batch)
            self.total += rows.sum(axis=0)
            self.products += rows.T @ rows

    def project(self, n_components: int) -> Vectors:
        """Return the vectors that are kept as coordinates on the principal components of all."""
        mean = ratio(self.total, len(self.lines))
        covariance = ratio(self.products, len(self.lines)) - np.outer(mean, mean)
        _, axes = np.linalg.eigh(covariance)  # in order of growing variance
        axes = axes[:, ::-1][:, :n_components]
        # The sign of a component is arbitrary: its largest coordinate is made positive.
        axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_components)])
        return Vectors(n_components, {word: (vector - mean) @ axes for word, vector in self.known.items()})


def _parse(text: bytes) -> float:
    """Return a number.

    Raises:
        ValueError: it is none, or not finite.
    """
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -np.inf < value < np.inf or b"_" in text:
        raise ValueError(f"{quote(text.decode('utf-8', 'replace'))} is not a number (expected a finite number)")
    return value
