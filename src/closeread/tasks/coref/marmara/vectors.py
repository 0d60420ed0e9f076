"""Word vectors in word2vec's text format, and the vectors of mentions.

Every line of the file is checked, since principal components are those of the whole file; only the vectors of words
that are asked for are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.word_vectors import iterate_text, open_vectors, parse_numbers, read_header
from closeread.tasks.coref.marmara.documents import Span, Token
from closeread.tasks.coref.marmara.mentions import lower, strip_suffix

N_COMPONENTS = 15
"""How many principal components the paper uses."""

_BATCH = 2048


class Vectors(NamedTuple):
    """The length of vectors, and the vector of each word that is known, (n_dimensions,)."""

    n_dimensions: int
    words: Mapping[str, Floats]


class MentionVectors(NamedTuple):
    """The vectors of the mentions of a document: that of the head, and the mean over all tokens."""

    values: Floats  # both side by side, (n_mentions, 2 * n_dimensions)
    head: Floats  # with length 1, (n_mentions, n_dimensions); zeros where a vector is zero
    mean: Floats  # the same


def find_words(documents: Sequence[Sequence[Token]]) -> set[str]:
    """Return the words of documents as vectors are looked up: without suffixes, in lower case."""
    return {lower(strip_suffix(token.form)) for tokens in documents for token in tokens}


def look_up(tokens: Sequence[Token], spans: Sequence[Span], heads: Sequence[int], vectors: Vectors) -> MentionVectors:
    """Return the vectors of mentions, given their spans and heads; those of unknown words are zero."""
    zero = np.zeros(vectors.n_dimensions)
    words = [vectors.words.get(lower(strip_suffix(token.form)), zero) for token in tokens]
    of_tokens = np.array(words, np.float64).reshape(-1, vectors.n_dimensions)
    sums = np.concatenate([zero[None], np.cumsum(of_tokens, axis=0)])
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    head = of_tokens[np.array(heads, np.int64)]
    mean = ratio(sums[end + 1] - sums[start], (end + 1 - start)[:, None])
    return MentionVectors(np.hstack([head, mean]), _normalise(head), _normalise(mean))


def find_cosines(vectors: MentionVectors, first: Ints, second: Ints) -> Floats:
    """Return the cosines of the head vectors and of the mean vectors of pairs, (2, n_pairs); 0 where one is zero."""
    return np.stack([(side @ side.T)[first, second] for side in (vectors.head, vectors.mean)])


def _normalise(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return ratio(vectors, np.where(length, length, 1))


def read_vectors(path: Path, words: Collection[str], *, n_components: int | None = None) -> Vectors:
    """Read the vectors of words from a file in word2vec's text format, which may be gzipped.

    With `n_components`, vectors are centred, and projected on so many principal components of the whole file.
    """
    problems: list[Problem] = []
    known: dict[str, Floats] = {}
    lines: dict[bytes, int] = {}
    batch: list[Floats] = []
    with open_vectors(path) as file:
        header = read_header(path, file, least=n_components or 1)
        size = header.n_dimensions
        total, products = np.zeros(size), np.zeros((size, size))  # sums of the vectors, and of their outer products

        def add_batch() -> None:
            nonlocal total, products
            rows = np.array(batch).reshape(-1, size)
            total, products = total + rows.sum(axis=0), products + rows.T @ rows
            batch.clear()

        for number, name, numbers in iterate_text(file, header, problems):
            try:
                word = name.decode("utf-8")
                if (first := lines.setdefault(name, number)) != number:
                    problems.append(Problem(f"duplicate word {quote(word)} (first on line {first})", number))
                    continue
                vector = parse_numbers(name, numbers)
            except UnicodeDecodeError:
                problems.append(Problem(f"the word {quote(repr(name)[2:-1])} is not valid UTF-8", number))
                continue
            except ValueError as error:
                problems.append(Problem(str(error), number))
                continue
            if word in words:
                known[word] = vector
            if n_components is not None:
                batch.append(vector)
            if len(batch) == _BATCH:
                add_batch()
        add_batch()
    if problems:
        raise FormatError(path, problems)
    if n_components is None:
        return Vectors(size, known)
    mean = ratio(total, len(lines))
    covariance = ratio(products, len(lines)) - np.outer(mean, mean)
    _, axes = np.linalg.eigh(covariance)  # in order of growing variance
    axes = axes[:, ::-1][:, :n_components]
    # The sign of a component is arbitrary: its largest coordinate is made positive.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_components)])
    return Vectors(n_components, {word: (vector - mean) @ axes for word, vector in known.items()})
