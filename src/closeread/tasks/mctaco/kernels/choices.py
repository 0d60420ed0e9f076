"""Questions with several candidate answers, each right or wrong.

Source: the official evaluator of McTaco (github.com/CogComp/MCTACO, evaluator/evaluator.py), whose 0/0 rule is
kept: precision is 1 where nothing is predicted yes, recall is 1 where no gold answer is yes.

Conventions: candidates are rows; `question` numbers the question of each row from 0, and every number below
`n_questions` occurs; `gold` and `system` are true where the answer is said to be plausible.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

COUNTS = ("questions", "exact", "f1_sum", "candidates", "correct", "gold_yes", "system_yes", "both_yes")
"""What is counted of each question, in the order of the columns:

* `questions` 1, the denominator of both scores,
* `exact` 1 where every candidate is labelled right, else 0,
* `f1_sum` the question's own F1, the numerator of the macro mean,
* `candidates`, `correct`, `gold_yes`, `system_yes`, `both_yes` numbers of candidates.
"""


def choice_counts(
    question: NDArray[np.int64],
    gold: NDArray[np.bool_],
    system: NDArray[np.bool_],
    correct: NDArray[np.bool_],
    n_questions: int,
) -> NDArray[np.float64]:
    """Count what both scores of McTaco need.

    Args:
        question: (n_candidates,) the question of each candidate, from 0.
        gold: (n_candidates,) gold label is yes.
        system: (n_candidates,) predicted label is yes.
        correct: (n_candidates,) predicted label is the gold label; apart from `system` because a candidate
            without a prediction is predicted neither yes nor right.
        n_questions: how many questions there are.

    Returns:
        (n_questions, len(COUNTS)) float64; every row as `COUNTS` says.
    """

    def per_question(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(question[mask], minlength=n_questions)

    candidates = np.bincount(question, minlength=n_questions)
    right = per_question(correct)
    gold_yes, system_yes, both_yes = per_question(gold), per_question(system), per_question(gold & system)
    f1 = _f1(gold_yes, system_yes, both_yes)
    columns = (
        np.ones(n_questions),
        right == candidates,
        f1,
        candidates,
        right,
        gold_yes,
        system_yes,
        both_yes,
    )
    return np.column_stack(columns).astype(np.float64)


def _f1(gold_yes: NDArray[np.int64], system_yes: NDArray[np.int64], both_yes: NDArray[np.int64]) -> NDArray[np.float64]:
    """F1 of every question, 2PR / (P + R) = 2 both / (gold + system).

    Where neither side says yes, P = R = 1 by the rule above and F1 is 1.  Where one side alone says yes, one of
    P and R is 1 and the other 0, so F1 is 0, which is what the formula gives.
    """
    either = gold_yes + system_yes
    return np.where(either == 0, 1.0, 2.0 * both_yes / np.maximum(either, 1))


def expected_coin_scores(
    candidates: NDArray[np.int64], gold_yes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The expected exact match and F1 of every question when each label is a fair coin.

    Of g gold-yes candidates, both = c are said yes with probability C(g, c) / 2**g, and of the n - g others w
    with probability C(n - g, w) / 2**(n - g); F1 is as in `_f1`.

    Args:
        candidates: (n_questions,) how many candidates each question has.
        gold_yes: (n_questions,) how many of them are yes.

    Returns:
        Two arrays, (n_questions,) float64: exact match and F1.
    """
    exact = 0.5 ** candidates.astype(np.float64)
    f1 = np.empty(len(candidates))
    for n, g in {(int(n), int(g)) for n, g in zip(candidates, gold_yes, strict=True)}:
        both, wrong = np.meshgrid(np.arange(g + 1), np.arange(n - g + 1), indexing="ij")
        weight = np.outer(_coin(g), _coin(n - g))
        f1[(candidates == n) & (gold_yes == g)] = (weight * _f1(np.full_like(both, g), both + wrong, both)).sum()
    return exact, f1


def _coin(n: int) -> NDArray[np.float64]:
    """The probabilities of 0 to n heads in n throws."""
    return np.array([comb(n, heads) / 2**n for heads in range(n + 1)])
