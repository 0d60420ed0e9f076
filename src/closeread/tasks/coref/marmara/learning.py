"""Support vector machines on the features of pairs, and on their word vectors.

Without vectors there are some hundred different rows of features among hundreds of thousands of examples.  A row with
the sum of the weights of its examples has the same optimum as the examples themselves, and scikit-learn finds it in
milliseconds.

With vectors nearly all rows of features are different: as a matrix, those of the corpus take gigabytes, more than
scikit-learn can be given.  But a row is made of few things, the code of the pair and the vectors of its two mentions,
so that products with the matrix are sums over pairs, codes and mentions.  The objective is the same; it is strictly
convex and made of quadratic pieces, and Newton's method with such products finds the same optimum.
"""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from closeread.arrays import Floats, Ints, Mask
from closeread.exceptions import MissingExtraError
from closeread.tasks.coref.marmara.pairs import N_CODES, Codes, expand_codes

TOLERANCE = 1e-6
MAX_ITERATIONS = 10_000


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


def score_codes(learner: str, counts: Ints) -> Floats:
    """Train on examples, and return the score of every code, (`N_CODES`,): above 0 the classifier links a pair.

    The learner is "svc" or "svr": linear support vector machines for classification and for regression.  Counts are
    those of the negative and the positive examples by code, (2, `N_CODES`).
    """
    weights = counts * balance(*counts.sum(axis=1).tolist())[:, None]
    labels, codes = np.nonzero(counts)
    estimator = make_estimator(learner)
    estimator.fit(expand_codes(codes), np.where(labels, 1.0, -1.0), sample_weight=weights[labels, codes])
    scores: Floats = expand_codes(np.arange(N_CODES)) @ estimator.coef_.ravel() + estimator.intercept_
    return scores


def make_estimator(learner: str) -> Any:
    """Make an untrained estimator of scikit-learn, with the loss, regularisation and tolerance of the baseline."""
    try:
        from sklearn.svm import LinearSVC, LinearSVR
    except ImportError as error:
        purpose = "training a support vector machine"
        raise MissingExtraError(purpose, "scikit-learn", extra="baseline") from error
    shared = {"C": 1, "dual": False, "tol": TOLERANCE, "max_iter": MAX_ITERATIONS}
    if learner == "svc":
        return LinearSVC(**shared)
    return LinearSVR(epsilon=0, loss="squared_epsilon_insensitive", **shared)


GRADIENT_TOLERANCE = 1e-8
"""The length of the gradient at which a model is trained, as a share of that before training."""

MAX_STEPS = 100
PRECISION = 1e-12


class PairWeights(NamedTuple):
    """The weights of a trained model."""

    codes: Floats  # the score of each code, intercept included, (`N_CODES`,)
    cosines: Floats  # of head vectors and of mean vectors, (2,)
    first: Floats  # of the vectors of mention 1, (2 * n_dimensions,)
    second: Floats  # of those of mention 2, (2 * n_dimensions,)


class PairMatrix:
    """The rows of features of pairs, as far as a model needs them: their products.

    Columns: the named features, the intercept, the two cosines, the vectors of mention 1, and those of mention 2.  Of
    each pair it takes the code, the two mentions, which are rows of `vectors` (n_mentions, 2 * n_dimensions), and the
    two cosines, (2, n_pairs).
    """

    def __init__(self, codes: Codes, first: Ints, second: Ints, cosines: Floats, vectors: Floats) -> None:
        used, self._codes = np.unique(codes, return_inverse=True)
        self._first, self._second, self._cosines, self._vectors = first, second, cosines, vectors
        self._features = add_intercept(expand_codes(used))
        borders = np.cumsum([0, self._features.shape[1], 2, vectors.shape[1], vectors.shape[1]]).tolist()
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
                summed = coo_array((values, (rows, columns)), shape=(len(table), len(other))).tocsr()
                found[mine, theirs] = table.T @ (summed @ other)
                found[theirs, mine] = found[mine, theirs].T
        return found


def add_intercept(features: Floats) -> Floats:
    """Return features with a last column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def fit_pairs(learner: str, matrix: PairMatrix, is_positive: Mask) -> PairWeights:
    """Train on pairs, given whether they corefer, (n_pairs,)."""
    n_positive = int(is_positive.sum())
    cost = balance(len(is_positive) - n_positive, n_positive)[is_positive.astype(np.int64)]
    sign = np.where(is_positive, 1.0, -1.0)

    def find_lack(products: Floats) -> Floats:
        """How far pairs are from their targets; the classifier is content with what is beyond."""
        lack = 1 - sign * products
        return np.maximum(lack, 0) if learner == "svc" else lack

    def find_loss(weights: Floats, products: Floats) -> float:
        return float(weights @ weights / 2 + cost @ find_lack(products) ** 2)

    def find_gradient(weights: Floats, products: Floats) -> Floats:
        gradient: Floats = weights - 2 * matrix.transposed_times(sign * cost * find_lack(products))
        return gradient

    weights, products = np.zeros(matrix.n_columns), np.zeros(len(sign))
    gradient = find_gradient(weights, products)
    enough = GRADIENT_TOLERANCE * np.linalg.norm(gradient)
    for _ in range(MAX_STEPS):
        if np.linalg.norm(gradient) <= enough:
            break
        curvature = np.eye(len(weights)) + 2 * matrix.gram(cost * (find_lack(products) != 0))
        step = np.asarray(np.linalg.solve(curvature, -gradient), np.float64)
        change = matrix.times(step)
        # Near the optimum a loss falls by less than it can be computed with.
        loss, slope, size = find_loss(weights, products) * (1 + PRECISION), gradient @ step, 1.0
        while (
            size > PRECISION and find_loss(weights + size * step, products + size * change) > loss + size * slope / 10
        ):
            size /= 2
        weights, products = weights + size * step, products + size * change
        gradient = find_gradient(weights, products)
    features, *others = matrix.split(weights)
    return PairWeights(add_intercept(expand_codes(np.arange(N_CODES))) @ features, *others)
