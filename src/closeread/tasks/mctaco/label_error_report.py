"""The errors of a system's labels as a result: scores by field, and the questions with the most errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.exceptions import pluralize
from closeread.tables import NOTHING, Grid, Style
from closeread.tasks.mctaco.label_errors import FIELDS, LabelAnalysis, WrongCandidate, WrongQuestion
from closeread.wording import choose_words

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
