"""Exact match and F1 over questions with several candidate answers.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4; details as the official evaluator decides them.

Conventions: the unit is the question (a sentence and a question), the resampling unit the sentence, since most
sentences carry several questions.  Both scores are means over questions, so that questions with many
candidates weigh no more than others.

Metrics:
    exact_match: share of questions whose candidates are all labelled right.
    f1: mean over questions of the F1 of the label yes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from closeread.corpora.sides import CorpusSides
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.options import check_present, missing_option
from closeread.counts.procedure import Procedure
from closeread.counts.table import CountTable, factorize
from closeread.records import ColumnRecords, Record, column
from closeread.tasks.mctaco.kernels.choices import COUNTS, choice_counts

NO, YES, ABSENT = 0, 1, 2


def count(*, gold: Sequence[Record], system: Sequence[Record | None], missing: str = "error") -> CountTable:
    """Counts of every question.

    Args:
        gold: candidates, each with `question_id`, `sentence_id`, `label` and `category`.
        system: the row of every candidate, with `label`; None, or a label of None, where there is none.
        missing: "error"; "empty", where such a candidate is labelled neither yes nor right; or "skip", where
            a question with such a candidate is left out.

    Raises:
        ValueError: `missing` is "error" and a candidate has no row.
    """
    labels = _labels(system)
    present = labels != ABSENT
    check_present(present, "candidates", missing)
    question, questions = factorize(column(gold, "question_id"))
    first = np.unique(question, return_index=True)[1].tolist()  # the first candidate of each question
    sentence_ids, categories = column(gold, "sentence_id"), column(gold, "category")
    gold_yes = np.fromiter((label == "yes" for label in column(gold, "label")), bool, len(gold))
    correct = (labels == YES) == gold_yes
    table = CountTable(
        questions,
        factorize([sentence_ids[i] for i in first])[0],
        COUNTS,
        choice_counts(question, gold_yes, labels == YES, correct & present, len(questions)),
        {"category": [categories[i] for i in first]},
    )
    if missing == "skip":
        return table.select(np.bincount(question[~present], minlength=len(questions)) == 0)
    return table


def _labels(system: Sequence[Record | None]) -> NDArray[np.int8]:
    """What is said of every candidate, (n_candidates,)."""
    if isinstance(system, ColumnRecords):
        said = (ABSENT if label is None else YES if label == "yes" else NO for label in system.columns["label"])
    else:
        said = (ABSENT if row is None else YES if row["label"] == "yes" else NO for row in system)
    return np.fromiter(said, np.int8, len(system))


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
            "Share of questions whose candidate answers are all labelled right.",
            Ratio("exact", "questions"),
        ),
        Metric(
            "f1",
            "F1",
            "Mean over questions of the F1 of the label yes.",
            Ratio("f1_sum", "questions"),
        ),
    ),
    modules=("mctaco",),
    count=count,
    sides=CorpusSides(unit="question_id"),
)
