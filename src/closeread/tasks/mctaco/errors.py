"""Errors of a system's labels: by category, by the unit of time of an answer, and by the candidates of a question.

Conventions: a candidate is *falsely yes* if only the system labels it yes, and *falsely no* if only gold does; one
without a prediction is falsely no if gold labels it yes, and wrong without being either if gold labels it no.  Most
fields are of questions, and select questions.  The unit is one of answers: it selects candidates, and the scores of a
unit are those of questions that have only these candidates.

Fields:
    category: the question's.
    unit: the unit of time that an answer names, from second to century, "several" if it names several, "none" if it
        names none (`closeread.tasks.mctaco.perturbation.units.find_units`).
    question_size: how many candidates the question has.
    gold_yes: the share of them that gold labels yes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, ratio
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import choose_words, pluralize
from closeread.records import Record, column
from closeread.tables import NOTHING, Grid, Style
from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, find_units
from closeread.tasks.mctaco.procedure import ABSENT, CATEGORIES, COUNTS, YES, choice_counts, encode_labels

NO_UNIT, SEVERAL_UNITS = "none", "several"
UNITS = (*UNIT_SECONDS["proper"], SEVERAL_UNITS, NO_UNIT)

UP_TO = (4, 8, 12)
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
        "accuracy", "Accuracy", "Proportion of candidates that are labelled correctly.", Ratio("correct", "candidates")
    ),
    Metric("false_yes", "False yes", "Proportion of gold-no candidates labelled yes.", Ratio("false_yes", "gold_no")),
    Metric(
        "false_no", "False no", "Proportion of gold-yes candidates not labelled yes.", Ratio("false_no", "gold_yes")
    ),
)
"""Scores of candidates; without a value where there are no candidates to divide by."""


class WrongCandidate(NamedTuple):
    """A candidate that is labelled wrongly.

    Attributes:
        question_id, id: the ids of its question and its own.
        sentence, question, answer: its texts.
        gold, predicted: its labels; predicted is None if there is no prediction.
        category, unit, question_size, gold_yes: the values of its fields.
    """

    question_id: str
    id: str
    sentence: str
    question: str
    answer: str
    gold: str
    predicted: str | None
    category: str
    unit: str
    question_size: str
    gold_yes: str


@dataclass(frozen=True)
class WrongQuestion:
    """A question with candidates that are labelled wrongly.

    Attributes:
        question_id, category, sentence, question: its id, category, and texts.
        wrong: how many candidates are labelled wrongly.
        candidates: all candidates: their answers, and labels of gold and system; None without a prediction.
    """

    question_id: str
    category: str
    sentence: str
    question: str
    wrong: int
    candidates: Sequence[tuple[str, str, str | None]]


@dataclass(frozen=True, eq=False)
class LabelAnalysis:
    """The labels of a system beside those of gold.

    Attributes:
        gold: the gold candidates.
        system: the system's row for each; None if there is none.
        counts: the counts of the questions that are scored.
    """

    gold: Sequence[Record]
    system: Sequence[Record | None]
    counts: CountTable

    @cached_property
    def _question(self) -> Ints:
        """The place of each candidate's question in the table; -1 if it is not scored."""
        place = {name: i for i, name in enumerate(self.counts.units)}
        names = column(self.gold, "question_id")
        return np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))

    @cached_property
    def _labels(self) -> tuple[Mask, Ints]:
        """Whether gold labels a candidate yes, and its predicted label."""
        gold = np.fromiter((label == "yes" for label in column(self.gold, "label")), np.bool_, len(self.gold))
        return gold, encode_labels(self.system).astype(np.int64)

    @cached_property
    def _is_correct(self) -> Mask:
        gold, predicted = self._labels
        correct: Mask = ((predicted == YES) == gold) & (predicted != ABSENT)
        return correct

    @cached_property
    def units(self) -> list[str]:
        """The unit of time of each candidate's answer."""
        return [_name_unit(answer) for answer in column(self.gold, "answer")]

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The fields of each question that is scored."""
        size, yes = (self.counts.values[:, COUNTS.index(name)] for name in ("candidates", "gold_yes"))
        return {
            **{name: list(values) for name, values in self.counts.fields.items()},
            "question_size": [SIZES[i] for i in np.digitize(size, UP_TO, right=True).tolist()],
            "gold_yes": [GOLD_YES[i] for i in _bin_shares(ratio(yes, size)).tolist()],
        }

    @cached_property
    def table(self) -> CountTable:
        """The counts with all fields, the units inside of questions, and how many candidates are falsely yes and no."""
        return replace(
            self.counts,
            names=(*COUNTS, *WRONG),
            values=_add_wrong(self.counts.values),
            fields=self.fields,
            breakdowns={"unit": self._count_units()},
        )

    def _count_units(self) -> Breakdown:
        """Count the candidates of each unit in each question, as if it had no others."""
        scored = np.flatnonzero(self._question >= 0)
        number = {name: i for i, name in enumerate(UNITS)}
        unit = np.array([number[name] for name in self.units], np.int64)[scored]
        rows, row = np.unique(self._question[scored] * len(UNITS) + unit, return_inverse=True)
        gold, predicted = self._labels
        values = choice_counts(row, gold[scored], predicted[scored] == YES, self._is_correct[scored], len(rows))
        return Breakdown(UNITS, rows // len(UNITS), rows % len(UNITS), _add_wrong(values))

    @cached_property
    def _wrong(self) -> Ints:
        """The wrong candidates that are scored, those of the questions with the most first."""
        wrong = np.flatnonzero(~self._is_correct & (self._question >= 0))
        rank = np.empty(len(self.counts.units), np.int64)
        rank[self._ranked] = np.arange(len(rank))
        return wrong[np.argsort(rank[self._question[wrong]], kind="stable")]

    @cached_property
    def n_wrong(self) -> Ints:
        """(n_questions,) how many candidates of each question are labelled wrongly."""
        size, correct = (self.counts.values[:, COUNTS.index(name)] for name in ("candidates", "correct"))
        return (size - correct).astype(np.int64)

    @cached_property
    def _ranked(self) -> Ints:
        """The questions by their numbers of wrong candidates, then by the share of them."""
        size = self.counts.values[:, COUNTS.index("candidates")]
        return np.lexsort((-ratio(self.n_wrong, size), -self.n_wrong))

    def list_questions(self, limit: int | None = None) -> list[WrongQuestion]:
        """Return the questions with errors, at most so many: those with most errors first, then the smallest."""
        ranked = [question for question in self._ranked.tolist() if self.n_wrong[question]][:limit]
        places: dict[int, list[int]] = {question: [] for question in ranked}
        for i, question in enumerate(self._question.tolist()):
            if question in places:
                places[question].append(i)
        return [self._describe(int(self.n_wrong[question]), of) for question, of in places.items()]

    def _describe(self, n_wrong: int, places: Sequence[int]) -> WrongQuestion:
        first = self.gold[places[0]]
        candidates = [(self.gold[i]["answer"], self.gold[i]["label"], self._name_prediction(i)) for i in places]
        return WrongQuestion(
            first["question_id"], first["category"], first["sentence"], first["question"], n_wrong, candidates
        )

    def _name_prediction(self, place: int) -> str | None:
        predicted = self._labels[1][place]
        return None if predicted == ABSENT else "yes" if predicted == YES else "no"

    def list_candidates(self) -> Iterator[WrongCandidate]:
        """Yield the wrong candidates, those of the questions with the most errors first."""
        for i in self._wrong.tolist():
            row, question = self.gold[i], int(self._question[i])
            yield WrongCandidate(
                row["question_id"],
                row["id"],
                row["sentence"],
                row["question"],
                row["answer"],
                row["label"],
                self._name_prediction(i),
                row["category"],
                self.units[i],
                self.fields["question_size"][question],
                self.fields["gold_yes"][question],
            )


def _name_unit(answer: str) -> str:
    found = find_units(answer)
    return NO_UNIT if not found else found[0] if len(found) == 1 else SEVERAL_UNITS


def _bin_shares(share: Floats) -> Ints:
    """Return the numbers in `GOLD_YES` of shares."""
    bins: Ints = np.digitize(share, (0.0, 0.25, 0.5, 0.75), right=True)
    bins[share == 1] = GOLD_YES.index("all")
    return bins


def _add_wrong(values: Floats) -> Floats:
    """Return counts (n, k) with the columns of `WRONG`."""
    size, gold, system, both = (
        values[:, COUNTS.index(name)] for name in ("candidates", "gold_yes", "system_yes", "both_yes")
    )
    return np.column_stack([values, size - gold, system - both, gold - both])


LIMIT = 5
"""How many questions tables list unless they are told otherwise."""

MEANINGS = {
    "unit": "the unit of time that an answer names; of each question, only these candidates",
    "question_size": "how many candidates the question has",
    "gold_yes": "the share of the question's candidates that gold labels yes",
}
"""What fields are, where their names don't say it."""

COLUMNS = {
    "Questions": (
        Column("questions", "count", "questions"),
        Column("exact match", "score", "exact_match"),
        Column("", "interval", "exact_match"),
        Column("F1", "score", "f1"),
        Column("", "interval", "f1"),
    ),
    "Candidates": (
        Column("candidates", "count", "candidates"),
        Column("accuracy", "score", "accuracy"),
        Column("", "interval", "accuracy"),
        Column("false yes", "count", "false_yes"),
        Column("% of gold no", "score", "false_yes"),
        Column("false no", "count", "false_no"),
        Column("% of gold yes", "score", "false_no"),
    ),
}
"""The tables of a field, and what they show."""


@dataclass(frozen=True, repr=False)
class LabelErrorReport(Result):
    """The errors of a system's labels.

    Attributes:
        report: the scores, with slices by each field; exact match and F1 as `closeread.score` computes them.
        analysis: the labels of both sides.
        limit: how many questions tables list.
    """

    report: Report
    analysis: LabelAnalysis
    limit: int = LIMIT

    @property
    def questions(self) -> list[WrongQuestion]:
        """The questions with errors, those with the most first."""
        return self.analysis.list_questions()

    def __repr__(self) -> str:
        counts = self.report.total.counts
        wrong = ", ".join(f"{name.replace('_', ' ')} {counts[name]:,.0f}" for name in ("false_yes", "false_no"))
        return f"<LabelErrorReport: {pluralize(int(counts['candidates']), 'candidate')}, {wrong}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: scores, scores by each field, and the questions with the most errors."""
        total = replace(self.report, slices={})
        fields = [grid for field in self.report.slices for grid in _make_field_grids(self.report, field)]
        return [report_grid(total, style), *fields, *self._make_question_grids()]

    def _make_question_grids(self) -> Iterator[Grid]:
        """Yield a table of each of the questions with the most errors."""
        shown = self.analysis.list_questions(self.limit)
        n_wrong = int((self.analysis.n_wrong > 0).sum())
        for number, one in enumerate(shown, 1):
            notes = [one.sentence, one.question]
            if number == len(shown) < n_wrong:
                where = choose_words("--limit, --json and --format csv", "to_json() and to_frame()")
                notes.append(f"{pluralize(n_wrong - number, 'more question')} with errors: see {where}.")
            rows = [[answer, gold, predicted or NOTHING] for answer, gold, predicted in one.candidates]
            title = f"{one.question_id} ({one.category}): {one.wrong} of {pluralize(len(rows), 'candidate')} wrong"
            header = ["answer", "gold", "predicted"]
            yield Grid(title, header, rows, notes, texts=frozenset(header), prose=frozenset({"answer"}))

    def to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong candidates, those of the questions with the most errors first."""
        return WrongCandidate._fields, [list(one) for one in self.analysis.list_candidates()]

    def to_json(self) -> dict[str, Any]:
        """Return the report, and under `errors` the questions with errors and all of their candidates."""
        names = ("answer", "gold", "predicted")
        questions = [
            {
                "question_id": one.question_id,
                "category": one.category,
                "sentence": one.sentence,
                "question": one.question,
                "wrong": one.wrong,
                "candidates": [dict(zip(names, candidate, strict=True)) for candidate in one.candidates],
            }
            for one in self.questions
        ]
        return {**self.report.to_json(), "errors": {"questions": questions}}


def _make_field_grids(report: Report, field: str) -> Iterator[Grid]:
    """Yield the tables of a field: of questions, and of candidates."""
    name = field.replace("_", " ")
    for number, (what, columns) in enumerate(COLUMNS.items()):
        meaning = f" ({MEANINGS[field]})" if field in MEANINGS and not number else ""
        yield make_slice_grid(report, field, f"{what} by {name}{meaning}", columns, parts=FIELDS[field])
