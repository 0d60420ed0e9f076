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
from itertools import (
    accumulate,
    combinations,
    combinations_with_replacement,
    pairwise,
    product,
    starmap,
)
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

A = tuple(map(":".join, product(("m1", "m2", "both"), TYPES)))
EACH_WAY = ("acronym", "head_in", "lemma_in")
B = (
    "head",
    "lemma",
    "last_part",
    "acronym",
    "acronym_reverse",
    "acronym_any",
    "head_in",
    "head_in_reverse",
    "head_in_any",
    "lemma_in",
    "lemma_in_reverse",
    "lemma_in_any",
)
INDEPENDENT = tuple(name for name in B if not name.endswith("_any"))
"""The features of B that are bits of a code; the others are disjunctions of these."""

FEATURES = (*A, *B, *map("*".join, product(A, B)))
"""The names of all 129 features."""

N_CODES = len(TYPES) ** 2 << len(INDEPENDENT)

MAX_MENTIONS = 10_000
"""The most mentions of a document, of which all pairs have features."""

N_COMPONENTS = 15
"""How many principal components of word vectors the paper uses."""

VECTORS_PER_BATCH = 2048
"""How many vectors of a file are added to its moments at a time."""

MAX_NEWTON_STEPS = 100
NEWTON_TOLERANCE = 1e-8
"""The share of the first gradient below which a gradient is none."""

LOSS_PRECISION = 1e-12
"""Near the optimum a loss falls by less than this share of it, with which it can be computed."""


class Vectors(NamedTuple):
    """The length of word vectors, and the vector of each word that is known, (n_dimensions,)."""

    n_dimensions: int
    words: Mapping[str, Floats]


class MentionVectors(NamedTuple):
    """The vectors of the mentions of a document: that of the head, and the mean over all tokens.

    Attributes:
        values: both side by side, (n_mentions, 2 * n_dimensions).
        head: those of the heads with length 1, (n_mentions, n_dimensions); zeros where a vector is zero.
        mean: the means, likewise.
    """

    values: Floats
    head: Floats
    mean: Floats


@dataclass(frozen=True)
class Mentions:
    """The mentions of a document as columns, (n_mentions,), in document order.

    Texts are numbers: equal texts of a column, and of `acronym` and `initials` together, have the same.

    Attributes:
        spans: their first and last tokens.
        type: their types, numbers in `TYPES`.
        form: the lower-case form of the head, from 0.
        lemma: the stripped lower-case lemma of the head, from 0.
        last_part: the last part, by `_`, of the stripped lower-case form of the head.
        acronym: the mention as an acronym; where it is none, a number that no initials have.
        initials: the initials of its capitalised parts; where it has fewer than two, a number that no acronym has.
        form_in: whether a form is a sub-string of another, (n_forms, n_forms).
        lemma_in: whether a lemma is a sub-string of another, (n_lemmas, n_lemmas).
        vectors: their vectors; None unless word vectors are features, too.
    """

    spans: Sequence[Span]
    type: Ints
    form: Ints
    lemma: Ints
    last_part: Ints
    acronym: Ints
    initials: Ints
    form_in: Mask
    lemma_in: Mask
    vectors: MentionVectors | None = None

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
    types = np.array([classify_head(head, stems, pronouns) for head in heads], np.int64)
    forms, form = _factorize(lower(head.form) for head in heads)
    lemmas, lemma = _factorize(lower(strip_suffix(head.lemma)) for head in heads)
    _, last_part = _factorize(lower(strip_suffix(head.form).rpartition("_")[2]) for head in heads)
    words = [token.form for token in tokens]
    abbreviations = [_read_acronym(words[start : end + 1]) for start, end in spans]
    abbreviations += [_read_initials(words[start : end + 1]) for start, end in spans]
    acronym, initials = np.split(_factorize(abbreviations)[1], 2)
    mention_vectors = look_up(tokens, spans, places, vectors) if vectors else None
    return Mentions(
        spans,
        types,
        form,
        lemma,
        last_part,
        acronym,
        initials,
        find_substrings(forms),
        find_substrings(lemmas),
        mention_vectors,
    )


def _factorize(texts: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the different texts in order of their first use, and the place of every text among these."""
    places: dict[str, int] = {}
    place_of_each = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(place_of_each, np.int64)


def _read_acronym(forms: Sequence[str]) -> str:
    """Return a single word of two or more capitals, without its suffix and its dots; else what no initials are."""
    text = strip_suffix(forms[0]).replace(".", "")
    is_acronym = len(forms) == 1 and len(text) > 1 and all(map(is_capitalised, text))
    return text if is_acronym else "no acronym"


def _read_initials(forms: Sequence[str]) -> str:
    """Return the initials of the capitalised parts of words; if there are fewer than two, what no acronym is."""
    initials = ""
    for form in forms:
        for part in strip_suffix(form).split("_"):
            if is_capitalised(part):
                initials += part[0]
    return initials if len(initials) > 1 else "no initials"


def find_substrings(texts: Sequence[str]) -> Mask:
    """Return whether texts are sub-strings of each other, (n, n): the row's text inside the column's.

    >>> find_substrings(["el", "elma", "mal"]).astype(int).tolist()
    [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    """
    places = {text: place for place, text in enumerate(texts)}
    is_inside = np.zeros((len(texts), len(texts)), np.bool_)
    for column, text in enumerate(texts):
        if len(text) ** 2 > len(texts):
            is_inside[:, column] = [other in text for other in texts]
        else:
            # A word has fewer sub-strings than a document has words.
            for part in _list_substrings(text) & places.keys():
                is_inside[places[part], column] = True
    return is_inside


def _list_substrings(text: str) -> set[str]:
    """Return all sub-strings of a text, the empty one and the text itself included."""
    parts = {""}
    for start, end in combinations(range(len(text) + 1), 2):
        parts.add(text[start:end])
    return parts


def encode_pairs(mentions: Mentions, first: Ints, second: Ints) -> Codes:
    """Return the codes of pairs of a document's mentions, given in any two shapes that broadcast."""
    types = (mentions.type[first], mentions.type[second])
    forms = (mentions.form[first], mentions.form[second])
    lemmas = (mentions.lemma[first], mentions.lemma[second])
    are_proper = (types[0] == PROPER) & (types[1] == PROPER)
    have_same_part = mentions.last_part[first] == mentions.last_part[second]
    # In the order of `INDEPENDENT`.
    features = [forms[0] == forms[1], lemmas[0] == lemmas[1], are_proper & have_same_part]
    features.append(mentions.acronym[first] == mentions.initials[second])
    features.append(mentions.initials[first] == mentions.acronym[second])
    features += [mentions.form_in[forms], mentions.form_in[forms[::-1]]]
    features += [mentions.lemma_in[lemmas], mentions.lemma_in[lemmas[::-1]]]
    codes: Codes = (len(TYPES) * types[0] + types[1]).astype(np.int16) << len(INDEPENDENT)
    for place, feature in enumerate(features):
        codes |= feature.astype(np.int16) << place
    return codes


def mark_candidates(mentions: Mentions, first: Ints, second: Ints) -> Mask:
    """Mark the pairs that may be linked: all but a pronoun before a non-pronoun; shapes as `encode_pairs`."""
    allowed: Mask = (mentions.type[first] != PRONOUN) | (mentions.type[second] == PRONOUN)
    return allowed


def expand_codes(codes: Ints | Codes) -> Floats:
    """Return the features of codes, (n_codes, 129), in the order of `FEATURES`."""
    first, second = np.divmod(codes >> len(INDEPENDENT), len(TYPES))
    types = np.arange(len(TYPES))
    is_first = first[:, None] == types
    is_second = second[:, None] == types
    a = np.hstack([is_first, is_second, is_first & is_second])
    features = {
        name: (codes >> place & 1).astype(np.bool_) for place, name in enumerate(INDEPENDENT)
    }
    for name in EACH_WAY:
        features[f"{name}_any"] = features[name] | features[f"{name}_reverse"]
    b = np.stack([features[name] for name in B], axis=1)
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
    chains: dict[Span, int] = {}
    for chain, spans in enumerate(record["clusters"]):
        for start, end in spans:
            chains[start, end] = chain
    return {span: chains[span] for span in sorted(chains, key=document_order)}


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
    # Mentions in no chain get a chain of their own.
    chain = np.array([chains.get(span, -1 - place) for place, span in enumerate(spans)], np.int64)
    order = np.argsort(chain, kind="stable")
    follows = chain[order][1:] == chain[order][:-1]
    place = np.arange(len(spans))
    furthest = np.maximum(place - MAX_DISTANCE, 0)
    second, first = expand_ranges(furthest, place - furthest)
    are_apart = chain[first] != chain[second]
    firsts = np.concatenate([order[:-1][follows], first[are_apart]])
    seconds = np.concatenate([order[1:][follows], second[are_apart]])
    return Pairs(firsts, seconds, np.arange(len(firsts)) < follows.sum())


def count_examples(mentions: Mentions, pairs: Pairs) -> Ints:
    """Count the negative and the positive examples of a document by code, (2, `N_CODES`)."""
    codes = encode_pairs(mentions, pairs.first, pairs.second)
    negative = np.bincount(codes[~pairs.is_positive], minlength=N_CODES)
    positive = np.bincount(codes[pairs.is_positive], minlength=N_CODES)
    return np.stack([negative, positive])


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
    targets = np.where(labels, 1.0, -1.0)
    estimator = make_estimator(learner)
    estimator.fit(expand_codes(codes), targets, sample_weight=weights[labels, codes])
    all_features = expand_codes(np.arange(N_CODES))
    scores: Floats = all_features @ estimator.coef_.ravel() + estimator.intercept_
    return scores


def find_words(documents: Sequence[Sequence[Token]]) -> set[str]:
    """Return the words of documents as vectors are looked up: without suffixes, in lower case."""
    words: set[str] = set()
    for tokens in documents:
        words |= {lower(strip_suffix(token.form)) for token in tokens}
    return words


def look_up(
    tokens: Sequence[Token], spans: Sequence[Span], heads: Sequence[int], vectors: Vectors
) -> MentionVectors:
    """Return the vectors of mentions, given their spans and heads; those of unknown words are zero."""
    zero = np.zeros(vectors.n_dimensions)
    words = [vectors.words.get(lower(strip_suffix(token.form)), zero) for token in tokens]
    vectors_of_tokens = np.array(words, np.float64).reshape(-1, vectors.n_dimensions)
    head = vectors_of_tokens[np.array(heads, np.int64)]
    sums = np.concatenate([zero[None], np.cumsum(vectors_of_tokens, axis=0)])
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    mean = ratio(sums[end + 1] - sums[start], (end + 1 - start)[:, None])
    return MentionVectors(np.hstack([head, mean]), _normalize(head), _normalize(mean))


def _normalize(vectors: Floats) -> Floats:
    """Return vectors with length 1; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return ratio(vectors, np.where(lengths, lengths, 1))


def find_cosines(vectors: MentionVectors, first: Ints, second: Ints) -> Floats:
    """Return the cosines of the head vectors and of the mean vectors of pairs, (2, n_pairs); 0 where one is zero."""
    return np.stack([(side @ side.T)[first, second] for side in (vectors.head, vectors.mean)])


def read_vectors(path: Path, words: Collection[str], *, n_components: int | None = None) -> Vectors:
    """Read the vectors of words from a file in word2vec's text format, which may be gzipped.

    With `n_components`, vectors are centred, and projected on so many principal components of the whole file.  Every
    line is checked, but only the vectors of words that are asked for are kept.
    """
    problems: list[Problem] = []
    vectors: dict[str, Floats] = {}
    lines: dict[bytes, int | None] = {}
    with open_vectors(path) as file:
        header = read_header(path, file, least=n_components or 1)
        moments = _Moments(header.n_dimensions)
        for line, name, numbers in iterate_text(file, header, problems):
            try:
                word = name.decode("utf-8")
                first = lines.setdefault(name, line)
                if first != line:
                    problems.append(
                        Problem(f"duplicate word {quote(word)} (first on line {first})", line)
                    )
                    continue
                vector = parse_numbers(name, numbers)
            except UnicodeDecodeError:
                problems.append(
                    Problem(f"the word {quote(repr(name)[2:-1])} is not valid UTF-8", line)
                )
                continue
            except ValueError as error:
                problems.append(Problem(str(error), line))
                continue
            if word in words:
                vectors[word] = vector
            if n_components is not None:
                moments.add(vector)
    if problems:
        raise FormatError(path, problems)
    if n_components is None:
        return Vectors(header.n_dimensions, vectors)
    mean, axes = moments.find_components(len(lines), n_components)
    projected = {word: (vector - mean) @ axes for word, vector in vectors.items()}
    return Vectors(n_components, projected)


class _Moments:
    """The sums of vectors and of their outer products, to which vectors are added in batches."""

    def __init__(self, size: int) -> None:
        self._total = np.zeros(size)
        self._products = np.zeros((size, size))
        self._batch: list[Floats] = []

    def add(self, vector: Floats) -> None:
        """Add a vector."""
        self._batch.append(vector)
        if len(self._batch) == VECTORS_PER_BATCH:
            self._add_batch()

    def _add_batch(self) -> None:
        rows = np.array(self._batch).reshape(-1, len(self._total))
        self._total = self._total + rows.sum(axis=0)
        self._products = self._products + rows.T @ rows
        self._batch.clear()

    def find_components(self, n_vectors: int, n_components: int) -> tuple[Floats, Floats]:
        """Return the mean of the vectors, and their first principal components, (n_dimensions, n_components)."""
        self._add_batch()
        mean = ratio(self._total, n_vectors)
        covariance = ratio(self._products, n_vectors) - np.outer(mean, mean)
        # In order of growing variance.
        _, axes = np.linalg.eigh(covariance)
        axes = axes[:, ::-1][:, :n_components]
        # The sign of a component is arbitrary: its largest coordinate is made positive.
        axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(n_components)])
        return mean, axes


class Model(NamedTuple):
    """The weights of a trained model; those of vectors are empty if it was trained without any.

    Attributes:
        codes: the score of each code, intercept included, (`N_CODES`,).
        cosines: the weights of the cosines of head vectors and of mean vectors, (2,).
        first: those of the vectors of mention 1, (2 * n_dimensions,).
        second: those of the vectors of mention 2, likewise.
    """

    codes: Floats
    cosines: Floats = np.zeros(0)
    first: Floats = np.zeros(0)
    second: Floats = np.zeros(0)


class PairMatrix:
    """The rows of features of pairs, as far as a model needs them: their products.

    Columns: the named features, the intercept, the two cosines, the vectors of mention 1, and those of mention 2.  Of
    each pair it takes the code, the two mentions, which are rows of `vectors` (n_mentions, 2 * n_dimensions), and the
    two cosines, (2, n_pairs).
    """

    def __init__(
        self, codes: Codes, first: Ints, second: Ints, cosines: Floats, vectors: Floats
    ) -> None:
        used, code_rows = np.unique(codes, return_inverse=True)
        features = add_intercept(expand_codes(used))
        # Of each group of columns, the row of a table for each pair, and the table.
        self._groups = [
            (code_rows, features),
            (np.arange(len(codes)), cosines.T),
            (first, vectors),
            (second, vectors),
        ]
        widths = [table.shape[1] for _, table in self._groups]
        self._borders = list(accumulate(widths, initial=0))
        self.n_columns = sum(widths)

    def split(self, weights: Floats) -> list[Floats]:
        """Return the weights of the features with the intercept, the cosines, the first and the second vectors."""
        return [weights[start:end] for start, end in pairwise(self._borders)]

    def times(self, weights: Floats) -> Floats:
        """Return the product with a column, (n_columns,): a number for each pair, (n_pairs,)."""
        products = np.zeros(len(self._groups[0][0]))
        for (rows, table), part in zip(self._groups, self.split(weights), strict=True):
            products += (table @ part)[rows]
        return products

    def transposed_times(self, values: Floats) -> Floats:
        """Return the product of the transposed matrix with a number for each pair, (n_pairs,): (n_columns,)."""
        parts = [np.bincount(rows, values, len(table)) @ table for rows, table in self._groups]
        return np.concatenate(parts)

    def gram(self, values: Floats) -> Floats:
        """Return the sum of the outer products of the rows, each times a number, (n_columns, n_columns)."""
        from scipy.sparse import coo_array

        columns = list(starmap(slice, pairwise(self._borders)))
        gram = np.empty((self.n_columns, self.n_columns))
        # The cosines are on the left of all others, since their table has a row for each pair.
        for j, i in combinations_with_replacement((0, 2, 3, 1), 2):
            rows, table = self._groups[i]
            other_rows, other_table = self._groups[j]
            shape = (len(table), len(other_table))
            summed = coo_array((values, (rows, other_rows)), shape=shape).tocsr()
            gram[columns[i], columns[j]] = (table.T @ summed) @ other_table
            gram[columns[j], columns[i]] = gram[columns[i], columns[j]].T
        return gram


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

    weights = np.zeros(matrix.n_columns)
    products = np.zeros(len(sign))
    tolerance = 0.0
    for step_number in range(MAX_NEWTON_STEPS):
        lack = find_lack(products)
        gradient = weights - 2 * matrix.transposed_times(sign * cost * lack)
        steepness = float(np.linalg.norm(gradient))
        if step_number == 0:
            tolerance = NEWTON_TOLERANCE * steepness
        if steepness <= tolerance:
            break
        curvature = np.eye(len(weights)) + 2 * matrix.gram(cost * (lack != 0))
        step = np.asarray(np.linalg.solve(curvature, -gradient), np.float64)
        change = matrix.times(step)
        # The step is halved until the loss falls by a tenth of what its slope promises.
        highest = find_loss(weights, products) * (1 + LOSS_PRECISION)
        slope = gradient @ step
        size = 1.0
        while size > LOSS_PRECISION:
            loss = find_loss(weights + size * step, products + size * change)
            if loss <= highest + size * slope / 10:
                break
            size /= 2
        weights = weights + size * step
        products = products + size * change
    features, cosines, first, second = matrix.split(weights)
    codes = add_intercept(expand_codes(np.arange(N_CODES))) @ features
    return Model(codes, cosines, first, second)
