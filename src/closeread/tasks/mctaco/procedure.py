"""Exact match and F1 over questions with several candidate answers.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4; details as in the official evaluator.

Conventions: the unit is the question (a sentence and a question); the resampling unit is the sentence, since most
sentences have several questions.  Both scores are means over questions, so questions with many candidates have no
extra weight.

Metrics:
    exact_match: proportion of questions whose candidates are all labelled correctly.
    f1: mean over questions of the F1 of the label yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints
from closeread.corpus.submissions import CorpusSides
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.procedure import Procedure, check_present, missing_option
from closeread.counts.table import CountTable, factorize
from closeread.records import ColumnRecords, Record, column
from closeread.tasks.mctaco.kernels.choices import COUNTS, choice_counts

NO, YES, ABSENT = 0, 1, 2


def count(*, gold: Sequence[Record], system: Sequence[Record | None], missing: str = "error") -> CountTable:
    """Count the candidates of each question.

    Args:
        gold: candidates, each with `question_id`, `sentence_id`, `label` and `category`.
        system: one row per candidate, with `label`; the row or the label is None if there is no prediction.
        missing: "error"; "empty": a candidate without a prediction counts as neither yes nor correct; or "skip":
            questions with such a candidate are left out.

    Raises:
        ValueError: `missing` is "error" and a candidate has no prediction.
    """
    labels = encode_labels(system)
    present = labels != ABSENT
    check_present(present, "candidates", missing)
    question, questions = factorize(column(gold, "question_id"))
    first = np.unique(question, return_index=True)[1]
    gold_yes = encode_labels(gold) == YES
    correct = (labels == YES) == gold_yes
    sentence, sentences = factorize(_take(column(gold, "sentence_id"), first))
    digests = [sha256(name.encode()).digest() for name in sentences]
    table = CountTable(
        questions,
        sentence,
        COUNTS,
        choice_counts(question, gold_yes, labels == YES, correct & present, len(questions)),
        {"category": _take(column(gold, "category"), first)},
        block_names=[digests[number] for number in sentence.tolist()],
    )
    if missing == "skip":
        return table.select(np.bincount(question[~present], minlength=len(questions)) == 0)
    return table


def encode_labels(system: Sequence[Record | None]) -> NDArray[np.int8]:
    """Return the predicted labels, (n_candidates,): `NO`, `YES` or `ABSENT`."""
    if isinstance(system, ColumnRecords):
        labels = (ABSENT if label is None else YES if label == "yes" else NO for label in system.columns["label"])
    else:
        labels = (ABSENT if row is None else YES if row["label"] == "yes" else NO for row in system)
    return np.fromiter(labels, np.int8, len(system))


def _take(values: Sequence[str], rows: Ints) -> list[str]:
    return [values[row] for row in rows.tolist()]


PROCEDURE = Procedure(
    name="mctaco",
    version=1,
    title="McTaco exact match and F1",
    unit="question",
    resampling_unit="sentence",
    options=(missing_option("error"),),
    metrics=(
        Metric(
            "exact_match",
            "Exact match",
            "Proportion of questions whose candidate answers are all labelled correctly.",
            Ratio("exact", "questions"),
        ),
        Metric(
            "f1",
            "F1",
            "Mean over questions of the F1 of the label yes.",
            Ratio("f1_sum", "questions"),
        ),
    ),
    headline="f1",
    modules=("mctaco",),
    count=count,
    fields=("category",),
    sides=CorpusSides(unit="question_id"),
)
