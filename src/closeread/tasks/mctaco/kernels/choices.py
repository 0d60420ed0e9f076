"""Counts for questions with several candidate answers, each correct or not.

Source: the official evaluator of McTaco (github.com/CogComp/MCTACO, evaluator/evaluator.py), including its 0/0
rule: precision is 1 if nothing is predicted yes, recall is 1 if no gold answer is yes.

Conventions: candidates are rows; `question` is the index of each row's question, and every index from 0 to
`n_questions` - 1 occurs; `gold` and `system` are true where the answer is labelled plausible.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, check_sums

MAX_CANDIDATES = 1_000
"""The most candidates of a question whose expected scores are computed, by all ways to label them."""

COUNTS = ("questions", "exact", "f1_sum", "candidates", "correct", "gold_yes", "system_yes", "both_yes")
"""The counts of a question, in column order:

* `questions`: 1, the denominator of both scores;
* `exact`: 1 if every candidate is labelled correctly, else 0;
* `f1_sum`: the F1 of the question, the numerator of the macro mean;
* `candidates`, `correct`, `gold_yes`, `system_yes`, `both_yes`: numbers of candidates.
"""


def choice_counts(
    question: Ints,
    gold: Mask,
    system: Mask,
    correct: Mask,
    n_questions: int,
) -> Floats:
    """Count what exact match and F1 are computed from.

    Args:
        question: (n_candidates,) index of each candidate's question.
        gold: (n_candidates,) whether the gold label is yes.
        system: (n_candidates,) whether the predicted label is yes.
        correct: (n_candidates,) whether the predicted label is the gold label; does not follow from `gold` and
            `system`, because a candidate without a prediction is neither predicted yes nor correct.
        n_questions: the number of questions.

    Returns:
        (n_questions, len(COUNTS)) float64, columns in the order of `COUNTS`.
    """

    def per_question(mask: Mask) -> Ints:
        return np.bincount(question[mask], minlength=n_questions)

    candidates = np.bincount(question, minlength=n_questions)
    n_correct = per_question(correct)
    gold_yes, system_yes, both_yes = per_question(gold), per_question(system), per_question(gold & system)
    f1 = _f1(gold_yes, system_yes, both_yes)
    columns = (
        np.ones(n_questions),
        n_correct == candidates,
        f1,
        candidates,
        n_correct,
        gold_yes,
        system_yes,
        both_yes,
    )
    return np.column_stack(columns).astype(np.float64)


def _f1(gold_yes: Ints, system_yes: Ints, both_yes: Ints) -> Floats:
    """F1 of each question, 2PR / (P + R) = 2 both / (gold + system).

    If neither side has a yes, P = R = 1 by the rule above, so F1 is 1.  If only one side has a yes, one of P and R
    is 1 and the other 0, so F1 is 0, as the formula gives.
    """
    either = gold_yes + system_yes
    return np.where(either == 0, 1.0, 2.0 * both_yes / np.maximum(either, 1))


class CoinScores(NamedTuple):
    """Scores of each question if labels are fair coin flips; (n_questions,) float64 each.

    Attributes:
        exact, f1: the means of exact match and F1.
        exact_variance, f1_variance: their variances.
    """

    exact: Floats
    f1: Floats
    exact_variance: Floats
    f1_variance: Floats


def expected_coin_scores(candidates: Ints, gold_yes: Ints) -> CoinScores:
    """Exact means and variances of the scores of each question if labels are fair coin flips.

    With g gold-yes candidates out of n, c of the g are labelled yes with probability C(g, c) / 2**g, and w of the
    other n - g with probability C(n - g, w) / 2**(n - g); F1 is as in `_f1`.  Exact match is 1 with probability
    2**-n, else 0.

    Args:
        candidates: (n_questions,) the number of candidates.
        gold_yes: (n_questions,) the number of candidates whose gold label is yes.

    Raises:
        LimitError: a question has more than `MAX_CANDIDATES`.
    """
    noun = "candidate answers, too many for the expected scores of a coin"
    check_sums(np.arange(len(candidates)), candidates, noun, MAX_CANDIDATES)
    exact = 0.5 ** candidates.astype(np.float64)
    f1, f1_variance = np.empty(len(candidates)), np.empty(len(candidates))
    for n, g in {(int(n), int(g)) for n, g in zip(candidates, gold_yes, strict=True)}:
        both, wrong = np.meshgrid(np.arange(g + 1), np.arange(n - g + 1), indexing="ij")
        weight = np.outer(_coin_probabilities(g), _coin_probabilities(n - g))
        values = _f1(np.full_like(both, g), both + wrong, both)
        mean = (weight * values).sum()
        rows = (candidates == n) & (gold_yes == g)
        f1[rows], f1_variance[rows] = mean, (weight * (values - mean) ** 2).sum()
    return CoinScores(exact, f1, exact * (1 - exact), f1_variance)


def _coin_probabilities(n: int) -> Floats:
    """The probabilities of 0 to n heads in n coin flips."""
    return np.array([comb(n, heads) / 2**n for heads in range(n + 1)])
