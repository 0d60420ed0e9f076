"""Labels from scores: the threshold with the best F1, and the mean of a question's candidates as a threshold.

Conventions: as in `closeread.tasks.mctaco.kernels.choices`; a candidate is labelled yes if its score is above the
threshold.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask

SAME = 1e-6
"""Scores that differ less are equal: the same text in another batch may differ so much."""


def above_mean(question: Ints, scores: Floats) -> Mask:
    """Return which candidates have a score above the mean of their question.

    Args:
        question: (n_candidates,) index of each candidate's question.
        scores: (n_candidates,) their scores.
    """
    means = np.bincount(question, scores) / np.maximum(np.bincount(question), 1)
    above: Mask = scores - means[question] > SAME
    return above


def find_best_threshold(question: Ints, gold: Mask, scores: Floats) -> tuple[float, float]:
    """Return the threshold with the best mean F1 over questions, and that F1; the highest of equally good thresholds.

    Thresholds are half way between neighbouring scores, or a little below the lowest or above the highest score.

    Args:
        question: (n_candidates,) index of each candidate's question; every index up to the highest occurs.
        gold: (n_candidates,) whether the gold label is yes.
        scores: (n_candidates,) their scores; one or more.
    """
    order = np.argsort(-scores, kind="stable")
    gold_yes = np.bincount(question[gold], minlength=int(question.max()) + 1)
    system_yes, both_yes = np.zeros_like(gold_yes), np.zeros_like(gold_yes)
    # With the highest threshold, no candidate is yes, and F1 is 1 where that is right.
    sums = [float((gold_yes == 0).sum())]
    for candidate in order.tolist():
        of = question[candidate]
        before = _f1(gold_yes[of], system_yes[of], both_yes[of])
        system_yes[of] += 1
        both_yes[of] += gold[candidate]
        sums.append(sums[-1] + _f1(gold_yes[of], system_yes[of], both_yes[of]) - before)
    ranked = scores[order]
    means = np.array(sums) / len(gold_yes)
    edges = np.concatenate([[ranked[0] + 1], (ranked[:-1] + ranked[1:]) / 2, [ranked[-1] - 1]])
    # A threshold can't divide equal scores.
    means[1:-1][ranked[:-1] - ranked[1:] <= SAME] = -1.0
    # Sums that were added up in another order differ by rounding only.
    best = int(np.flatnonzero(means >= means.max() - 1e-12)[0])
    return float(edges[best]), float(means[best])


def _f1(gold_yes: int, system_yes: int, both_yes: int) -> float:
    either = gold_yes + system_yes
    return 2 * both_yes / either if either else 1.0
