"""Exact match and F1 over questions with several candidate answers.

Source: Zhou, Khashabi, Ning and Roth (2019), section 4; details as in the official evaluator of McTaco
(github.com/CogComp/MCTACO, evaluator/evaluator.py), including its 0/0 rule: precision is 1 if nothing is predicted yes,
recall is 1 if no gold answer is yes.

Conventions: the unit is the question (a sentence and a question); the resampling unit is the sentence, since most
sentences have several questions.  Both scores are means over questions, so questions with many candidates have no
extra weight.  In arrays, candidates are rows; `question` is the index of each row's question, and every index from 0 to
`n_questions` - 1 occurs; `gold` and `system` are true where the answer is labelled plausible.

Metrics:
    exact_match: proportion of questions whose candidates are all labelled correctly.
    f1: mean over questions of the F1 of the label yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, Ints, Mask
from closeread.corpus.submissions import CorpusReader
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.procedure import (
    EXTRA,
    Procedure,
    check_present,
    group_options,
    missing_option,
)
from closeread.counts.table import CountTable, factorize
from closeread.records import ColumnRecords, Record, column

COUNTS = (
    "questions",
    "exact",
    "f1_sum",
    "candidates",
    "correct",
    "gold_yes",
    "system_yes",
    "both_yes",
)
"""The counts of a question, in column order:

* `questions`: 1, the denominator of both scores;
* `exact`: 1 if every candidate is labelled correctly, else 0;
* `f1_sum`: the F1 of the question, the numerator of the macro mean;
* `candidates`, `correct`, `gold_yes`, `system_yes`, `both_yes`: numbers of candidates.
"""


def choice_counts(
    question: Ints, gold: Mask, system: Mask, correct: Mask, n_questions: int
) -> Floats:
    """Return the counts behind exact match and F1: (n_questions, len(COUNTS)), columns in the order of `COUNTS`.

    `correct` does not follow from `gold` and `system`: a candidate without a prediction is neither predicted yes nor
    correct.
    """

    def count_where(mask: Mask) -> Ints:
        return np.bincount(question[mask], minlength=n_questions)

    n_candidates = np.bincount(question, minlength=n_questions)
    n_correct = count_where(correct)
    gold_yes = count_where(gold)
    system_yes = count_where(system)
    both_yes = count_where(gold & system)
    # EM is the mean over questions of the product of f(a; q), which is 1 if all candidates are labelled correctly.
    exact_match = n_correct == n_candidates
    f1 = measure_f1(gold_yes, system_yes, both_yes)
    scores = [np.ones(n_questions), exact_match, f1]
    numbers = [n_candidates, n_correct, gold_yes, system_yes, both_yes]
    return np.column_stack([*scores, *numbers])


def measure_f1(gold_yes: Ints, system_yes: Ints, both_yes: Ints) -> Floats:
    """Return F1(q) of each question, from its numbers of candidates.

    P(q) = both / system and R(q) = both / gold, so F1(q) = 2PR / (P + R) = 2 both / (gold + system).  If neither side
    has a yes, P = R = 1 by the rule of the module, so F1 is 1.  If only one has, one of P and R is 1 and the other 0,
    so F1 is 0, as the formula gives.
    """
    either_yes = gold_yes + system_yes
    f1: Floats = 2 * both_yes / np.maximum(either_yes, 1)
    f1[either_yes == 0] = 1
    return f1


CATEGORIES = ("Frequency", "Event Duration", "Stationarity", "Event Ordering", "Typical Time")
"""In the order of Table 1."""


def score_labels(
    gold: Sequence[Record], system: Sequence[Record | None]
) -> dict[str, float | None]:
    """Return exact match and F1 of predictions in the order of gold, as `closeread score mctaco` computes them."""
    return PROCEDURE.count(gold=gold, system=system).scores(PROCEDURE.metrics)


def make_rows(records: Sequence[Record], plausible: Mask) -> list[Record]:
    """Return the rows of a submission: "yes" for the candidates that are plausible."""
    rows = []
    for name, is_plausible in zip(column(records, "id"), plausible.tolist(), strict=True):
        label = "yes" if is_plausible else "no"
        rows.append({"id": name, "label": label})
    return rows


NO = 0
YES = 1
ABSENT = 2


def count(
    *, gold: Sequence[Record], system: Sequence[Record | None], missing: str = "error"
) -> CountTable:
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
    question, question_ids = factorize(column(gold, "question_id"))
    first_rows = np.unique(question, return_index=True)[1].tolist()

    def take_first(name: str) -> list[str]:
        values = column(gold, name)
        return [values[row] for row in first_rows]

    sentences = take_first("sentence_id")
    gold_yes = encode_labels(gold) == YES
    system_yes = labels == YES
    correct = (system_yes == gold_yes) & present
    values = choice_counts(question, gold_yes, system_yes, correct, len(question_ids))
    blocks, _ = factorize(sentences)
    fields = {"category": take_first("category")}
    digests = [sha256(name.encode()).digest() for name in sentences]
    table = CountTable(question_ids, blocks, COUNTS, values, fields, block_names=digests)
    if missing == "skip":
        n_absent = np.bincount(question[~present], minlength=len(question_ids))
        return table.select(n_absent == 0)
    return table


def encode_labels(rows: Sequence[Record | None]) -> NDArray[np.int8]:
    """Return the labels of rows, (n_candidates,): `NO`, `YES` or `ABSENT`."""
    if isinstance(rows, ColumnRecords):
        labels = rows.columns["label"]
    else:
        labels = [None if row is None else row["label"] for row in rows]
    codes = {"yes": YES, None: ABSENT}
    return np.fromiter((codes.get(label, NO) for label in labels), np.int8, len(rows))


EXACT_MATCH = Metric(
    "exact_match",
    "Exact match",
    "Proportion of questions whose candidate answers are all labelled correctly.",
    Ratio("exact", "questions"),
)
F1 = Metric(
    "f1",
    "F1",
    "Mean over questions of the F1 of the label yes.",
    Ratio("f1_sum", "questions"),
)
PROCEDURE = Procedure(
    name="mctaco",
    version=1,
    title="McTaco exact match and F1",
    unit="question",
    resampling_unit="sentence",
    options=(missing_option("error"), EXTRA, *group_options("question")),
    metrics=(EXACT_MATCH, F1),
    headline="f1",
    modules=("mctaco",),
    count=count,
    fields=("category",),
    reader=CorpusReader(unit="question_id"),
)
