"""Errors of a system's labels: by category, by the unit of time in an answer, and by the candidates of a question.

Conventions: a candidate is *falsely yes* if only the system labels it yes, and *falsely no* if only gold does; one
without a prediction is falsely no if gold labels it yes, and wrong without being either if gold labels it no.  Most
fields are of questions, and select questions.  The unit is one of answers: it selects candidates, and the scores of a
unit are those of questions that have only these candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import choose_words, pluralize
from closeread.records import Record, column
from closeread.tables import NOTHING, Grid, Style
from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, find_units
from closeread.tasks.mctaco.procedure import (
    ABSENT,
    CATEGORIES,
    COUNTS,
    YES,
    choice_counts,
    encode_labels,
)

UNITS = (*UNIT_SECONDS["proper"], "several", "none")
SIZES = ("1 to 4", "5 to 8", "9 to 12", "over 12")
GOLD_YES = ("none", "up to 25%", "up to 50%", "up to 75%", "over 75%", "all")

FIELDS: Mapping[str, Sequence[str]] = {
    "category": CATEGORIES,
    "unit": UNITS,
    "question_size": SIZES,
    "gold_yes": GOLD_YES,
}
"""The values of each field, in order."""

WRONG = ("gold_no", "false_yes", "false_no")
"""Counts of candidates besides those of the procedure: labelled no in gold, falsely yes, falsely no."""

LABEL_METRICS = (
    Metric(
        "accuracy",
        "Accuracy",
        "Proportion of candidates labelled correctly.",
        Ratio("correct", "candidates"),
    ),
    Metric(
        "false_yes",
        "False yes",
        "Proportion of gold-no candidates labelled yes.",
        Ratio("false_yes", "gold_no"),
    ),
    Metric(
        "false_no",
        "False no",
        "Proportion of gold-yes candidates not labelled yes.",
        Ratio("false_no", "gold_yes"),
    ),
)
"""Scores of candidates; without a value where there are no candidates to divide by."""

ROW = ("question_id", "id", "sentence", "question", "answer", "gold", "predicted", *FIELDS)
"""The columns about a wrong candidate."""


class WrongQuestion(NamedTuple):
    """A question with candidates that are labelled wrongly."""

    question_id: str
    category: str
    sentence: str
    question: str
    wrong: int  # how many candidates are labelled wrongly
    # answers, and labels of gold and system; None for no prediction
    candidates: Sequence[tuple[str, str, str | None]]


def count_fields(
    gold: Sequence[Record], system: Sequence[Record | None], counts: CountTable
) -> CountTable:
    """Add all fields, the units inside of questions, and the counts of `WRONG` to the counts of scored questions."""
    n_candidates = counts.values[:, COUNTS.index("candidates")]
    n_yes = counts.values[:, COUNTS.index("gold_yes")]
    sizes = np.digitize(n_candidates, (4, 8, 12), right=True)
    share_of_yes = ratio(n_yes, n_candidates)
    parts = np.digitize(share_of_yes, (0.0, 0.25, 0.5, 0.75), right=True)
    parts[share_of_yes == 1] = GOLD_YES.index("all")
    fields = {
        **counts.fields,
        "question_size": [SIZES[size] for size in sizes.tolist()],
        "gold_yes": [GOLD_YES[part] for part in parts.tolist()],
    }

    index_of_question = {name: i for i, name in enumerate(counts.units)}
    question_ids = column(gold, "question_id")
    questions = np.array([index_of_question.get(name, -1) for name in question_ids], np.int64)
    unit_names = [_name_unit(answer) for answer in column(gold, "answer")]
    units = np.array([UNITS.index(name) for name in unit_names], np.int64)
    is_scored = questions >= 0
    gold_yes = encode_labels(gold) == YES
    labels = encode_labels(system)
    predicted_yes = labels == YES
    is_correct = (predicted_yes == gold_yes) & (labels != ABSENT)
    # The candidates of a question with answers in the same unit are counted together.
    keys, groups = np.unique((questions * len(UNITS) + units)[is_scored], return_inverse=True)
    counts_by_unit = choice_counts(
        groups, gold_yes[is_scored], predicted_yes[is_scored], is_correct[is_scored], len(keys)
    )
    by_unit = Breakdown(UNITS, keys // len(UNITS), keys % len(UNITS), _add_wrong(counts_by_unit))
    return replace(
        counts,
        names=(*COUNTS, *WRONG),
        values=_add_wrong(counts.values),
        fields=fields,
        breakdowns={"unit": by_unit},
    )


def list_wrong(
    gold: Sequence[Record], system: Sequence[Record | None], table: CountTable
) -> tuple[list[WrongQuestion], list[list[object]]]:
    """Return the questions with errors, those with the most first, then the smallest; and the rows of `ROW`."""
    by_question: dict[str, list[tuple[Record, str | None]]] = {name: [] for name in table.units}
    for record, row in zip(gold, system, strict=True):
        if record["question_id"] in by_question:
            by_question[record["question_id"]].append(
                (record, None if row is None else row["label"])
            )
    found: list[tuple[WrongQuestion, list[list[object]]]] = []
    for candidates, *fields in zip(
        by_question.values(), table.fields["question_size"], table.fields["gold_yes"], strict=True
    ):
        rows: list[list[object]] = [
            [
                *(
                    record[name]
                    for name in ("question_id", "id", "sentence", "question", "answer", "label")
                ),
                *(label, record["category"], _name_unit(record["answer"]), *fields),
            ]
            for record, label in candidates
            if record["label"] != label
        ]
        if rows:
            first = candidates[0][0]
            texts = (first["question_id"], first["category"], first["sentence"], first["question"])
            shown = [(record["answer"], record["label"], label) for record, label in candidates]
            found.append((WrongQuestion(*texts, len(rows), shown), rows))
    found.sort(key=lambda one: (-one[0].wrong, len(one[0].candidates)))
    return [question for question, _ in found], [row for _, rows in found for row in rows]


def _name_unit(answer: str) -> str:
    found = find_units(answer)
    return "several" if len(found) > 1 else found[0] if found else "none"


def _add_wrong(values: Floats) -> Floats:
    """Return counts (n, k) with the columns of `WRONG`."""
    size, gold, system, both = (
        values[:, COUNTS.index(name)]
        for name in ("candidates", "gold_yes", "system_yes", "both_yes")
    )
    return np.column_stack([values, size - gold, system - both, gold - both])


MEANINGS = {
    "unit": "the unit of time that an answer names; of each question, only these candidates",
    "question_size": "how many candidates the question has",
    "gold_yes": "the share of the question's candidates that gold labels yes",
}
"""The meanings of fields whose names don't say it."""


def _score(title: str, name: str) -> tuple[Column, Column]:
    return Column(title, "score", name), Column("", "interval", name)


COLUMNS = {
    "Questions": (
        Column("questions", "count", "questions"),
        *_score("exact match", "exact_match"),
        *_score("F1", "f1"),
    ),
    "Candidates": (
        Column("candidates", "count", "candidates"),
        *_score("accuracy", "accuracy"),
        Column("false yes", "count", "false_yes"),
        Column("% of gold no", "score", "false_yes"),
        Column("false no", "count", "false_no"),
        Column("% of gold yes", "score", "false_no"),
    ),
}
"""The tables of a field, and what they show."""


@dataclass(frozen=True, repr=False)
class LabelErrorReport(Result):
    """The errors of a system's labels."""

    # with slices by each field; exact match and F1 as `closeread.score` computes them
    report: Report
    questions: Sequence[WrongQuestion]  # those with errors, the most first
    rows: Sequence[list[object]]  # the wrong candidates, in the order of their questions
    limit: int  # how many questions tables list

    def __repr__(self) -> str:
        counts = self.report.total.counts
        wrong = ", ".join(
            f"{name.replace('_', ' ')} {counts[name]:,.0f}" for name in ("false_yes", "false_no")
        )
        return f"<LabelErrorReport: {pluralize(int(counts['candidates']), 'candidate')}, {wrong}>"

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the tables: scores, scores by each field, and the questions with the most errors."""
        yield report_grid(replace(self.report, slices={}), style)
        for field in self.report.slices:
            for what, columns in COLUMNS.items():
                meaning = (
                    f" ({MEANINGS[field]})" if field in MEANINGS and what == "Questions" else ""
                )
                title = f"{what} by {field.replace('_', ' ')}{meaning}"
                yield make_slice_grid(self.report, field, title, columns, parts=FIELDS[field])
        for number, one in enumerate(self.questions[: self.limit], 1):
            notes = [one.sentence, one.question]
            if number == self.limit < len(self.questions):
                where = choose_words("--limit, --json and --format csv", "to_dict() and to_frame()")
                more = pluralize(len(self.questions) - number, "more question")
                notes.append(f"{more} with errors: see {where}.")
            rows = [
                [answer, gold, predicted or NOTHING] for answer, gold, predicted in one.candidates
            ]
            title = f"{one.question_id} ({one.category}): {one.wrong} of {pluralize(len(rows), 'candidate')} wrong"
            header = ["answer", "gold", "predicted"]
            yield Grid(
                title, header, rows, notes, texts=frozenset(header), prose=frozenset({"answer"})
            )

    def _to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong candidates, those of the questions with the most errors first."""
        return ROW, list(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report, and under `errors` the questions with errors and all of their candidates."""
        names = ("answer", "gold", "predicted")
        questions = [
            {
                **one._asdict(),
                "candidates": [
                    dict(zip(names, candidate, strict=True)) for candidate in one.candidates
                ],
            }
            for one in self.questions
        ]
        return {**self.report.to_dict(), "errors": {"questions": questions}}
