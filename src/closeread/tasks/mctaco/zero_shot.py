"""Predicting candidate answers without training, by how likely a language model finds them.

Conventions: a score is the mean log-likelihood of the pieces of the answer after sentence and question
(`closeread.neural.likelihoods`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closeread.counts.table import factorize
from closeread.records import Record
from closeread.tasks.mctaco.kernels.thresholds import above_mean, find_best_threshold
from closeread.tasks.mctaco.training import Tell, describe_cut, make_texts

if TYPE_CHECKING:
    from closeread.arrays import Floats
    from closeread.neural.likelihoods import LikelihoodModel
    from closeread.neural.training import Progress


def score_candidates(
    records: Sequence[Record],
    model: LikelihoodModel,
    *,
    unit_normalization: str = "off",
    precision: str = "float32",
    device: str = "cpu",
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Floats:
    """Return the scores of candidates, (n_candidates,).

    Args:
        records: the candidates.
        model: the language model, which is on the device.
        unit_normalization: as in `closeread.tasks.mctaco.training.Method`.
        precision: "float32" or "bfloat16".
        device: such as "cpu" or "cuda:0".
        progress: is told how much is done.
        tell: is told what a user should know.

    Raises:
        RequestError: an answer has no pieces, or too many for the model.
    """
    from closeread.neural.training import use_precision

    cut_before = model.n_cut
    with use_precision(device, precision):
        scores = model.score(make_texts(records, unit_normalization), progress)
    if tell and model.n_cut > cut_before:
        tell(describe_cut(model.n_cut - cut_before, model.longest))
    return scores


def label_candidates(records: Sequence[Record], scores: Floats, threshold: float | None = None) -> list[Record]:
    """Return the rows of a submission: yes above the threshold, or above the mean of the question's candidates.

    Args:
        records: the candidates.
        scores: (n_candidates,) their scores.
        threshold: None for the means.
    """
    if threshold is None:
        plausible = above_mean(factorize([record["question_id"] for record in records])[0], scores)
    else:
        plausible = scores > threshold
    return [
        {"id": record["id"], "label": "yes" if yes else "no"}
        for record, yes in zip(records, plausible.tolist(), strict=True)
    ]


def choose_threshold(records: Sequence[Record], scores: Floats) -> tuple[float, float]:
    """Return the threshold with the best F1 on labelled candidates, and that F1.

    Args:
        records: the candidates; one or more.
        scores: (n_candidates,) their scores.
    """
    question, _ = factorize([record["question_id"] for record in records])
    gold = np.array([record["label"] == "yes" for record in records])
    return find_best_threshold(question, gold, scores)
