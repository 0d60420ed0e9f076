"""Support vector machines on the features of pairs, trained by scikit-learn.

There are some hundred different rows of features among hundreds of thousands of examples.  A row with the sum of the
weights of its examples has the same optimum as the examples themselves, and is found in milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.exceptions import MissingExtraError
from closeread.tasks.coref.marmara.features import N_CODES, expand_codes

TOLERANCE = 1e-6
MAX_ITERATIONS = 10_000


def balance(n_negative: int, n_positive: int) -> Floats:
    """Return the weights of a negative and of a positive example, (2,): both classes weigh the same in all.

    Raises:
        ValueError: a class has no examples.

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

    Args:
        learner: "svc" or "svr": linear support vector machines for classification and for regression.
        counts: the negative and the positive examples by code, (2, `N_CODES`).

    Raises:
        MissingExtraError: scikit-learn is not installed.
        ValueError: there are no positive or no negative examples.
    """
    weights = counts * balance(*counts.sum(axis=1).tolist())[:, None]
    labels, codes = np.nonzero(counts)
    estimator = make_estimator(learner)
    estimator.fit(expand_codes(codes), np.where(labels, 1.0, -1.0), sample_weight=weights[labels, codes])
    scores: Floats = expand_codes(np.arange(N_CODES)) @ estimator.coef_.ravel() + estimator.intercept_
    return scores


def make_estimator(learner: str) -> Any:
    """Make an untrained estimator of scikit-learn, with the loss, the regularisation and the tolerance of the baseline.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    try:
        from sklearn.svm import LinearSVC, LinearSVR
    except ImportError as error:
        purpose = "training a support vector machine"
        raise MissingExtraError(purpose, "scikit-learn", extra="baseline") from error
    shared = {"C": 1, "dual": False, "tol": TOLERANCE, "max_iter": MAX_ITERATIONS}
    if learner == "svc":
        return LinearSVC(**shared)
    return LinearSVR(epsilon=0, loss="squared_epsilon_insensitive", **shared)
