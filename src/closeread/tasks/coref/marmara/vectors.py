"""Word vectors in word2vec's text format, and the vectors of mentions.

Every line of the file is checked, since principal components are those of the whole file; only the vectors of words
that are asked for are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.word_vectors import iterate_text, open_vectors, parse_numbers, read_header
from closeread.tasks.coref.marmara.documents import Tokens
from closeread.tasks.coref.marmara.mentions import lower, strip_suffix
from closeread.tasks.coref.marmara.pairs import Mentions

N_COMPONENTS = 15
"""How many principal components the paper uses."""

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
    with open_vectors(path) as file:
        reading.read(path, file, n_components)
    if reading.problems:
        raise FormatError(path, reading.problems)
    return reading.vectors if n_components is None else reading.project(n_components)


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

    def read(self, path: Path, file: BinaryIO, n_components: int | None) -> None:
        """Read all lines, or as far as the file can be read."""
        header = read_header(path, file, least=n_components or 1)
        self.n_dimensions = header.n_dimensions
        self.total, self.products = np.zeros(self.n_dimensions), np.zeros((self.n_dimensions,) * 2)
        batch: list[Floats] = []
        for number, name, numbers in iterate_text(file, header, self.problems):
            try:
                vector = self._read_entry(number, name, numbers)
            except ValueError as error:
                self.problems.append(Problem(str(error), number))
                continue
            if n_components is not None:
                batch.append(vector)
            if len(batch) == _BATCH:
                self._add(batch)
                batch = []
        self._add(batch)

    def _read_entry(self, number: int, name: bytes, numbers: bytes) -> Floats:
        """Read a word and its vector, or raise a ValueError."""
        try:
            word = name.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"the word {quote(repr(name)[2:-1])} is not valid UTF-8") from None
        if (first := self.lines.setdefault(name, number)) != number:
            raise ValueError(f"duplicate word {quote(word)} (first on line {first})")
        vector = parse_numbers(name, numbers)
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
