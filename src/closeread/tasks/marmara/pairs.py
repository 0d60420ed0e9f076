"""The features of pairs of mentions, their word vectors, and support vector machines that learn from them.

Features are types (A), what heads and words share (B), and all products (A*B).  A pair is a *code* from 0 to `N_CODES`
- 1: its types, and the features of B that the others follow from.  Codes are few, so that pairs are counted, and scores
looked up, by code.

Conventions: mentions are those of one document, in document order, and count from 0.  Mention 1 stands before mention
2; all features are 0 or 1, named as in `FEATURES`.

Without vectors there are some hundred different rows of features among hundreds of thousands of examples.  A row with
the sum of the weights of its examples has the same optimum as the examples themselves, and scikit-learn finds it in
milliseconds.

With vectors nearly all rows of features are different: as a matrix, those of the corpus take gigabytes, more than
scikit-learn can be given.  But a row is made of few things, the code of the pair and the vectors of its two mentions,
so that products with the matrix are sums over pairs, codes and mentions.  The objective is the same; it is strictly
convex and made of quadratic pieces, and Newton's method with such products finds the same optimum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, Ints, LimitError, Mask, expand_ranges, ratio
from closeread.exceptions import FormatError, MissingExtraError, Problem, quote
from closeread.formats.word_vectors import iterate_text, open_vectors, parse_numbers, read_header
from closeread.records import Record
from closeread.tasks.marmara.documents import Span, Token, document_order
from closeread.tasks.marmara.mentions import (
    PRONOUN,
    PROPER,
    TYPES,
    classify_head,
    find_head,
    find_proper_stems,
    is_capitalised,
    lower,
    strip_suffix,
)

Codes = NDArray[np.int16]

A = tuple(f"{side}:{name}" for side in ("m1", "m2", "both") for name in TYPES)
EACH_WAY = ("acronym", "head_in", "lemma_in")
B = (
    "head",
    "lemma",
    "last_part",
    *(f"{name}{way}" for name in EACH_WAY for way in ("", "_reverse", "_any")),
)
INDEPENDENT = tuple(name for name in B if not name.endswith("_any"))
"""The features of B that are bits of a code; the others are disjunctions of these."""

FEATURES = (*A, *B, *(f"{a}*{b}" for a in A for b in B))
"""The names of all 129 features."""

N_CODES = len(TYPES) ** 2 << len(INDEPENDENT)

MAX_MENTIONS = 10_000
"""The most mentions of a document, of which all pairs have features."""

N_COMPONENTS = 15
"""How many principal components of word vectors the paper uses."""


class Vectors(NamedTuple):
    """The length of word vectors, and the vector of each word that is known, (n_dimensions,)."""

    n_dimensions: int
    words: Mapping[str, Floats]


class MentionVectors(NamedTuple):
    """The vectors of the mentions of a document: that of the head, and the mean over all tokens."""

    values: Floats  # both side by side, (n_mentions, 2 * n_dimensions)
    head: Floats  # with length 1, (n_mentions, n_dimensions); zeros where a vector is zero
    mean: Floats  # the same


@dataclass(frozen=True)
class Mentions:
    """The mentions of a document as columns, (n_mentions,), in document order.

    Texts are numbers: equal texts of a column, and of `acronym` and `initials` together, have the same.
    """

    spans: Sequence[Span]
    head: Ints  # the token that is their head
    type: Ints  # their types, numbers in `TYPES`
    form: Ints  # the lower-case form of the head, from 0
    lemma: Ints  # the stripped lower-case lemma of the head, from 0
    last_part: Ints  # the last part, by `_`, of the stripped lower-case form of the head
    acronym: Ints  # the mention as an acronym; -1 where it is none
    # the initials of its capitalised parts; -2 where it has fewer than two such parts
    initials: Ints
    form_in: Mask  # whether a form is a sub-string of another, (n_forms, n_forms)
    lemma_in: Mask  # whether a lemma is a sub-string of another, (n_lemmas, n_lemmas)
    vectors: MentionVectors | None = None  # where word vectors are features, too

    def __len__(self) -> int:
        return len(self.spans)


def describe_mentions(
    tokens: Sequence[Token],
    spans: Sequence[Span],
    pronouns: Collection[str],
    vectors: Vectors | None = None,
) -> Mentions:
    """Put the data of mentions that features need into columns; `pronouns` are lemmas of pronouns, in lower case."""
    if len(spans) > MAX_MENTIONS:
        raise LimitError(0, len(spans), "mentions", MAX_MENTIONS)
    stems = find_proper_stems(tokens)
    places = [find_head(tokens, span) for span in spans]
    heads = [tokens[place] for place in places]
    forms, form = _factorize(lower(head.form) for head in heads)
    lemmas, lemma = _factorize(lower(strip_suffix(head.lemma)) for head in heads)
    _, last_part = _factorize(lower(strip_suffix(head.form).rpartition("_")[2]) for head in heads)
    words = [[token.form for token in tokens[start : end + 1]] for start, end in spans]
    short, long = list(map(_read_acronym, words)), list(map(_read_initials, words))
    _, abbreviations = _factorize([*short, *long])
    acronym, initials = abbreviations.reshape(2, len(spans))
    return Mentions(
        spans=spans,
        head=np.array(places, np.int64),
        type=np.array([classify_head(head, stems, pronouns) for head in heads], np.int64),
        form=form,
        lemma=lemma,
        last_part=last_part,
        acronym=np.where(list(map(bool, short)), acronym, -1),
        initials=np.where(list(map(bool, long)), initials, -2),
        form_in=find_substrings(forms),
        lemma_in=find_substrings(lemmas),
        vectors=look_up(tokens, spans, places, vectors) if vectors else None,
    )


def _factorize(texts: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the different texts in order of their first use, and the place of every text among these."""
    places: dict[str, int] = {}
    found = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(found, np.int64)


def _read_acronym(forms: Sequence[str]) -> str:
    """Return a single word of two or more capitals, without its suffix and its dots; empty if it is none."""
    text = strip_suffix(forms[0]).replace(".", "")
    return text if len(forms) == 1 and len(text) > 1 and all(map(is_capitalised, text)) else ""


def _read_initials(forms: Sequence[str]) -> str:
    """Return the initials of the capitalised parts of words; empty if there are fewer than two."""
    parts = [
        part for form in forms for part in strip_suffix(form).split("_") if is_capitalised(part)
    ]
    return "".join(part[0] for part in parts) if len(parts) > 1 else ""


def find_substrings(texts: Sequence[str]) -> Mask:
    """Return whether texts are sub-strings of each other, (n, n): the row's text inside the column's.

    >>> find_substrings(["el", "elma", "mal"]).astype(int).tolist()
    [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    """
    places = {text: place for place, text in enumerate(texts)}
    found = np.zeros((len(texts), len(texts)), np.bool_)
    for column, text in enumerate(texts):
        if len(text) ** 2 > len(texts):
            found[:, column] = [other in text for other in texts]
        else:  # a word has fewer sub-strings than a document has words
            parts = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
            found[[places[part] for part in parts & places.keys()], column] = True
    return found


def encode_pairs(mentions: Mentions, first: Ints, second: Ints) -> Codes:
    """Return the codes of pairs of a document's mentions, given in any two shapes that broadcast."""
    forms, lemmas = (
        (mentions.form[first], mentions.form[second]),
        (mentions.lemma[first], mentions.lemma[second]),
    )
    types = mentions.type[first], mentions.type[second]
    bits = (
        forms[0] == forms[1],
        lemmas[0] == lemmas[1],
        (types[0] == PROPER)
        & (types[1] == PROPER)
        & (mentions.last_part[first] == mentions.last_part[second]),
        mentions.acronym[first] == mentions.initials[second],
        mentions.initials[first] == mentions.acronym[second],
        mentions.form_in[forms],
        mentions.form_in[forms[::-1]],
        mentions.lemma_in[lemmas],
        mentions.lemma_in[lemmas[::-1]],
    )
    codes: Codes = (len(TYPES) * types[0] + types[1]).astype(np.int16) << len(INDEPENDENT)
    for place, bit in enumerate(bits):
        codes |= bit.astype(np.int16) << place
    return codes


def mark_candidates(mentions: Mentions, first: Ints, second: Ints) -> Mask:
    """Mark the pairs that may be linked: all but a pronoun before a non-pronoun; shapes as `encode_pairs`."""
    allowed: Mask = (mentions.type[first] != PRONOUN) | (mentions.type[second] == PRONOUN)
    return allowed


def expand_codes(codes: Ints | Codes) -> Floats:
    """Return the features of codes, (n_codes, 129), in the order of `FEATURES`."""
    types = codes >> len(INDEPENDENT)
    first, second = np.divmod(types, len(TYPES))
    kinds = np.arange(len(TYPES))
    is_first, is_second = first[:, None] == kinds, second[:, None] == kinds
    a = np.hstack([is_first, is_second, is_first & is_second])
    bit = {name: (codes >> place & 1).astype(np.bool_) for place, name in enumerate(INDEPENDENT)}
    for name in EACH_WAY:
        bit[f"{name}_any"] = bit[name] | bit[f"{name}_reverse"]
    b = np.stack([bit[name] for name in B], axis=1)
    products = (a[:, :, None] & b[:, None, :]).reshape(len(codes), len(A) * len(B))
    return np.hstack([a, b, products]).astype(np.float64)


def name_features(code: int) -> list[str]:
    """Return the names of the features of A and B that are 1 for a code."""
    values = expand_codes(np.array([code]))[0, : len(A) + len(B)]
    return [name for name, value in zip(FEATURES, values, strict=False) if value]


MAX_DISTANCE = 99
"""How many mentions apart two mentions may be to be an example of a pair that does not corefer."""


class Pairs(NamedTuple):
    """Examples, (n_pairs,) each: their two mentions, and whether they corefer."""

    first: Ints
    second: Ints
    is_positive: Mask


def list_gold(record: Record) -> dict[Span, int]:
    """Return the mentions of a document that are in chains, in document order, with the number of their chain."""
    chains = {
        (start, end): chain
        for chain, spans in enumerate(record["clusters"])
        for start, end in spans
    }
    return dict(sorted(chains.items(), key=lambda item: document_order(item[0])))


def draw_wrong(
    document: str, gold: Collection[Span], detected: Sequence[Span], seed: int
) -> list[Span]:
    """Draw as many detected mentions that are not in gold as there are in gold, or all if there are fewer.

    The same are drawn for a document of that name with that seed, whatever the other documents.
    """
    wrong = [span for span in detected if span not in gold]
    rng = np.random.default_rng([seed, crc32(document.encode("utf-8"))])
    drawn = rng.choice(len(wrong), min(len(wrong), len(gold)), replace=False)
    return [wrong[place] for place in sorted(drawn.tolist())]


def list_examples(spans: Sequence[Span], chains: Mapping[Span, int]) -> Pairs:
    """List the examples of a document, given its mentions in document order, and the chain of those that are in one.

    Positive are mentions with the nearest one before them in their chain; negative all pairs that are not in one
    chain and at most `MAX_DISTANCE` mentions apart.
    """
    n = len(spans)
    # Mentions in no chain get a chain of their own.
    chain = np.array([chains.get(span, -1 - place) for place, span in enumerate(spans)], np.int64)
    order = np.argsort(chain, kind="stable")
    follows = chain[order][1:] == chain[order][:-1]
    before, after = order[:-1][follows], order[1:][follows]
    place = np.arange(n)
    nearest = np.maximum(place - MAX_DISTANCE, 0)
    second, first = expand_ranges(nearest, place - nearest)
    apart = chain[first] != chain[second]
    return Pairs(
        np.concatenate([before, first[apart]]),
        np.concatenate([after, second[apart]]),
        np.repeat([True, False], [len(before), int(apart.sum())]),
    )


def count_examples(mentions: Mentions, pairs: Pairs) -> Ints:
    """Count the negative and the positive examples of a document by code, (2, `N_CODES`)."""
    codes = encode_pairs(mentions, pairs.first, pairs.second)
    return np.stack(
        [
            np.bincount(codes[pairs.is_positive == label], minlength=N_CODES)
            for label in (False, True)
        ]
    )


def balance(n_negative: int, n_positive: int) -> Floats:
    """Return the weights of a negative and of a positive example, (2,): both classes weigh the same in all.

    >>> balance(30, 10).tolist()
    [0.6666666666666666, 2.0]
    """
    if not n_positive or not n_negative:
        raise ValueError(f"there are no {'negative' if n_positive else 'positive'} examples")
    sizes = np.array([n_negative, n_positive])
    weights: Floats = sizes.sum() / (2 * sizes)
    return weights


def make_estimator(learner: str) -> Any:
    """Make an untrained estimator of scikit-learn, with the loss, regularisation and tolerance of the baseline."""
    try:
        from sklearn.svm import LinearSVC, LinearSVR
    except ImportError as error:
        purpose = "training a support vector machine"
        raise MissingExtraError(purpose, "scikit-learn", extra="baseline") from error
    shared = {"C": 1, "dual": False, "tol": 1e-6, "max_iter": 10_000}
    if learner == "svc":
        return LinearSVC(**shared)
    return LinearSVR(epsilon=0, loss="squared_epsilon_insensitive", **shared)


def score_codes(learner: str, counts: Ints) -> Floats:
    """Train on examples, and return the score of every code, (`N_CODES`,): above 0 the classifier links a pair.

    The learner is "svc" or "svr": linear support vector machines for classification and for regression.  Counts are
    those of the negative and the positive examples by code, (2, `N_CODES`).
    """
    weights = counts * balance(*counts.sum(axis=1).tolist())[:, None]
    labels, codes = np.nonzero(counts)
    estimator = make_estimator(learner)
    estimator.fit(
        expand_codes(codes), np.where(labels, 1.0, -1.0), sample_weight=weights[labels, codes]
    )
    scores: Floats = (
        expand_codes(np.arange(N_CODES)) @ estimator.coef_.ravel() + estimator.intercept_
    )
    return scores


def find_words(documents: Sequence[Sequence[Token]]) -> set[str]:
    """Return the words of documents as vectors are looked up: without suffixes, in lower case."""
    return {lower(strip_suffix(token.form)) for tokens in documents for token in tokens}


def look_up(
    tokens: Sequence[Token], spans: Sequence[Span], heads: Sequence[int], vectors: Vectors
) -> MentionVectors:
    """Return the vectors of mentions, given their spans and heads; those of unknown words are zero."""
    zero = np.zeros(vectors.n_dimensions)
    words = [vectors.words.get(lower(strip_suffix(token.form)), zero) for token in tokens]
    of_tokens = np.array(words, np.float64).reshape(-1, vectors.n_dimensions)
    sums = np.concatenate([zero[None], np.cumsum(of_tokens, axis=0)])
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    head = of_tokens[np.array(heads, np.int64)]
    mean = ratio(sums[end + 1] - sums[start], (end + 1 - start)[:, None])
    lengths = (np.linalg.norm(values, axis=1, keepdims=True) for values in (head, mean))
    unit = (
        ratio(values, np.where(length, length, 1))
        for values, length in zip((head, mean), lengths, strict=True)
    )
    return MentionVectors(np.hstack([head, mean]), *unit)


def find_cosines(vectors: MentionVectors, first: Ints, second: Ints) -> Floats:
    """Return the cosines of the head vectors and of the mean vectors of pairs, (2, n_pairs); 0 where one is zero."""
    return np.stack([(side @ side.T)[first, second] for side in (vectors.head, vectors.mean)])


def read_vectors(path: Path, words: Collection[str], *, n_components: int | None = None) -> Vectors:
    """Read the vectors of words from a file in word2vec's text format, which may be gzipped.

    With `n_components`, vectors are centred, and projected on so many principal components of the whole file.  Every
    line is checked, but only the vectors of words that are asked for are kept.
    """
    problems: list[Problem] = []
    known: dict[str, Floats] = {}
    lines: dict[bytes, int] = {}
    batch: list[Floats] = []
    with open_vectors(path) as file:
        header = read_header(path, file, least=n_components or 1)
        size = header.n_dimensions
        # sums of the vectors, and of their outer products
        total, products = np.zeros(size), np.zeros((size, size))

        def add_batch() -> None:
            nonlocal total, products
            rows = np.array(batch).reshape(-1, size)
            total, products = total + rows.sum(axis=0), products + rows.T @ rows
            batch.clear()

        for number, name, numbers in iterate_text(file, header, problems):
            try:
                word = name.decode("utf-8")
                if (first := lines.setdefault(name, number)) != number:
                    problems.append(
                        Problem(f"duplicate word {quote(word)} (first on line {first})", number)
                    )
                    continue
                vector = parse_numbers(name, numbers)
            except UnicodeDecodeError:
                problems.append(
                    Problem(f"the word {quote(repr(name)[2:-1])} is not valid UTF-8", number)
                )
                continue
            except ValueError as error:
                problems.append(Problem(str(error), number))
                continue
            if word in words:
                known[word] = vector
            if n_components is not None:
                batch.append(vector)
            if len(batch) == 2048:
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


class Model(NamedTuple):
    """The weights of a trained model; those of vectors are empty if it was trained without any."""

    codes: Floats  # the score of each code, intercept included, (`N_CODES`,)
    cosines: Floats = np.zeros(0)  # of head vectors and of mean vectors, (2,)
    first: Floats = np.zeros(0)  # of the vectors of mention 1, (2 * n_dimensions,)
    second: Floats = np.zeros(0)  # of those of mention 2, (2 * n_dimensions,)


class PairMatrix:
    """The rows of features of pairs, as far as a model needs them: their products.

    Columns: the named features, the intercept, the two cosines, the vectors of mention 1, and those of mention 2.  Of
    each pair it takes the code, the two mentions, which are rows of `vectors` (n_mentions, 2 * n_dimensions), and the
    two cosines, (2, n_pairs).
    """

    def __init__(
        self, codes: Codes, first: Ints, second: Ints, cosines: Floats, vectors: Floats
    ) -> None:
        used, self._codes = np.unique(codes, return_inverse=True)
        self._first, self._second, self._cosines, self._vectors = first, second, cosines, vectors
        self._features = add_intercept(expand_codes(used))
        borders = np.cumsum(
            [0, self._features.shape[1], 2, vectors.shape[1], vectors.shape[1]]
        ).tolist()
        self._places = list(starmap(slice, pairwise(borders)))
        self.n_columns = borders[-1]

    def split(self, weights: Floats) -> list[Floats]:
        """Return the weights of the features with the intercept, the cosines, the first and the second vectors."""
        return [weights[place] for place in self._places]

    def times(self, weights: Floats) -> Floats:
        """Return the product with a column, (n_columns,): a number for each pair, (n_pairs,)."""
        features, cosines, first, second = self.split(weights)
        found: Floats = (self._features @ features)[self._codes] + cosines @ self._cosines
        found += (self._vectors @ first)[self._first]
        found += (self._vectors @ second)[self._second]
        return found

    def transposed_times(self, values: Floats) -> Floats:
        """Return the product of the transposed matrix with a number for each pair, (n_pairs,): (n_columns,)."""
        n_mentions = len(self._vectors)
        return np.concatenate(
            [
                np.bincount(self._codes, values, len(self._features)) @ self._features,
                self._cosines @ values,
                np.bincount(self._first, values, n_mentions) @ self._vectors,
                np.bincount(self._second, values, n_mentions) @ self._vectors,
            ]
        )

    def gram(self, values: Floats) -> Floats:
        """Return the sum of the outer products of the rows, each times a number, (n_columns, n_columns)."""
        from scipy.sparse import coo_array

        features, vectors = self._features, self._vectors
        of_features, of_cosines, of_first, of_second = self._places
        parts = (
            (of_features, self._codes, features),
            (of_first, self._first, vectors),
            (of_second, self._second, vectors),
        )
        found = np.empty((self.n_columns, self.n_columns))
        found[of_cosines, of_cosines] = (self._cosines * values) @ self._cosines.T
        for number, (mine, rows, table) in enumerate(parts):
            sums = [np.bincount(rows, cosine * values, len(table)) for cosine in self._cosines]
            found[of_cosines, mine] = np.stack(sums) @ table
            found[mine, of_cosines] = found[of_cosines, mine].T
            for theirs, columns, other in parts[: number + 1]:
                summed = coo_array(
                    (values, (rows, columns)), shape=(len(table), len(other))
                ).tocsr()
                found[mine, theirs] = table.T @ (summed @ other)
                found[theirs, mine] = found[mine, theirs].T
        return found


def add_intercept(features: Floats) -> Floats:
    """Return features with a last column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def fit_pairs(learner: str, matrix: PairMatrix, is_positive: Mask) -> Model:
    """Train on pairs, given whether they corefer, (n_pairs,)."""
    n_positive = int(is_positive.sum())
    cost = balance(len(is_positive) - n_positive, n_positive)[is_positive.astype(np.int64)]
    sign = np.where(is_positive, 1.0, -1.0)

    def find_lack(products: Floats) -> Floats:
        """The distances of pairs from their targets; for the classifier, pairs beyond their targets are right."""
        lack = 1 - sign * products
        return np.maximum(lack, 0) if learner == "svc" else lack

    def find_loss(weights: Floats, products: Floats) -> float:
        return float(weights @ weights / 2 + cost @ find_lack(products) ** 2)

    weights, products = np.zeros(matrix.n_columns), np.zeros(len(sign))
    enough = 0.0
    for step_number in range(100):
        lack = find_lack(products)
        gradient = weights - 2 * matrix.transposed_times(sign * cost * lack)
        enough = enough if step_number else 1e-8 * float(np.linalg.norm(gradient))
        if np.linalg.norm(gradient) <= enough:
            break
        curvature = np.eye(len(weights)) + 2 * matrix.gram(cost * (lack != 0))
        step = np.asarray(np.linalg.solve(curvature, -gradient), np.float64)
        change = matrix.times(step)
        # Near the optimum a loss falls by less than it can be computed with.
        loss, slope, size = find_loss(weights, products) * (1 + 1e-12), gradient @ step, 1.0
        while (
            size > 1e-12
            and find_loss(weights + size * step, products + size * change)
            > loss + size * slope / 10
        ):
            size /= 2
        weights, products = weights + size * step, products + size * change
    features, *others = matrix.split(weights)
    return Model(add_intercept(expand_codes(np.arange(N_CODES))) @ features, *others)
