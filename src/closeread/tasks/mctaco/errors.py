"""Errors of a system's labels: by category, by the unit of time in an answer, and by the candidates of a question.

Conventions: a candidate is *falsely yes* if only the system labels it yes, and *falsely no* if only gold does; one
without a prediction is falsely no if gold labels it yes, and wrong without being either if gold labels it no.  Most
fields are of questions, and select questions.  The unit is one of answers: it selects candidates, and the scores of a
unit are those of questions that have only these candidates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.counts.counts import make_report
from closeread.counts.error_report import ErrorReport, Listing
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import Metric, Ratio
from closeread.counts.report import Column, make_slice_grid
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import choose_words, pluralize
from closeread.parameters import ScoredPredictions
from closeread.records import Record
from closeread.tables import NOTHING, Grid
from closeread.tasks.mctaco.perturbation.units import UNIT_SECONDS, find_units
from closeread.tasks.mctaco.procedure import CATEGORIES, COUNTS, count

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

ACCURACY = Metric(
    "accuracy",
    "Accuracy",
    "Proportion of candidates labelled correctly.",
    Ratio("correct", "candidates"),
)
FALSE_YES = Metric(
    "false_yes",
    "False yes",
    "Proportion of gold-no candidates labelled yes.",
    Ratio("false_yes", "gold_no"),
)
FALSE_NO = Metric(
    "false_no",
    "False no",
    "Proportion of gold-yes candidates not labelled yes.",
    Ratio("false_no", "gold_yes"),
)
LABEL_METRICS = (ACCURACY, FALSE_YES, FALSE_NO)
"""Scores of candidates; without a value where there are no candidates to divide by."""

QUESTION_COLUMNS = ("question_id", "category", "sentence", "question")
GOLD_COLUMNS = ("question_id", "id", "sentence", "question", "answer", "label")
ROW = (*GOLD_COLUMNS[:-1], "gold", "predicted", *FIELDS)
"""The columns about a wrong candidate."""


def count_fields(
    gold: Sequence[Record], system: Sequence[Record | None], counts: CountTable
) -> CountTable:
    """Add all fields, the units inside of questions, and the counts of `WRONG` to the counts of scored questions."""
    n_candidates = counts.values[:, COUNTS.index("candidates")]
    n_yes = counts.values[:, COUNTS.index("gold_yes")]
    sizes = np.digitize(n_candidates, (4, 8, 12), right=True)
    share_of_yes = ratio(n_yes, n_candidates)
    shares = np.digitize(share_of_yes, (0.0, 0.25, 0.5, 0.75), right=True)
    shares[share_of_yes == 1] = GOLD_YES.index("all")
    fields = dict(counts.fields)
    fields["question_size"] = [SIZES[size] for size in sizes.tolist()]
    fields["gold_yes"] = [GOLD_YES[share] for share in shares.tolist()]
    units = _count_units(gold, system, counts.units)
    return replace(
        counts,
        names=(*COUNTS, *WRONG),
        values=_add_wrong(counts.values),
        fields=fields,
        breakdowns={"unit": units},
    )


def _count_units(
    gold: Sequence[Record], system: Sequence[Record | None], question_ids: Sequence[str]
) -> Breakdown:
    """Count the candidates of each question with answers in the same unit."""
    numbers = {name: number for number, name in enumerate(question_ids)}
    rows_by_unit: dict[str, list[int]] = defaultdict(list)
    for row, record in enumerate(gold):
        if record["question_id"] in numbers:
            rows_by_unit[_name_unit(record["answer"])].append(row)
    counts = np.zeros((len(UNITS), len(numbers), len(COUNTS) + len(WRONG)))
    for unit, rows in rows_by_unit.items():
        gold_rows = [gold[row] for row in rows]
        table = count(gold=gold_rows, system=[system[row] for row in rows], missing="empty")
        questions = [numbers[name] for name in table.units]
        counts[UNITS.index(unit), questions] = _add_wrong(table.values)
    return Breakdown.from_dense(UNITS, counts)


def list_wrong(
    gold: Sequence[Record], system: Sequence[Record | None], table: CountTable
) -> tuple[list[Record], list[list[object]]]:
    """Return the questions with errors, those with the most first, then the smallest; and the rows of `ROW`.

    Of a question, all candidates are listed, with the label None where the system has no prediction.
    """
    sizes = dict(zip(table.units, table.fields["question_size"], strict=True))
    shares = dict(zip(table.units, table.fields["gold_yes"], strict=True))
    questions: dict[str, Record] = {}
    rows_by_question: dict[str, list[list[object]]] = defaultdict(list)
    for record, prediction in zip(gold, system, strict=True):
        name = record["question_id"]
        # Questions that are left out have no counts.
        if name not in sizes:
            continue
        if name not in questions:
            questions[name] = {column: record[column] for column in QUESTION_COLUMNS}
            questions[name] |= {"wrong": 0, "candidates": []}
        question = questions[name]
        answer = record["answer"]
        label = None if prediction is None else prediction["label"]
        candidate = {"answer": answer, "gold": record["label"], "predicted": label}
        question["candidates"].append(candidate)
        if label != record["label"]:
            question["wrong"] += 1
            cells = [record[column] for column in GOLD_COLUMNS]
            fields = [record["category"], _name_unit(answer), sizes[name], shares[name]]
            rows_by_question[name].append([*cells, label, *fields])
    wrong = [questions[name] for name in questions if name in rows_by_question]
    wrong.sort(key=lambda question: (-question["wrong"], len(question["candidates"])))
    rows = [rows_by_question[question["question_id"]] for question in wrong]
    return wrong, list(chain.from_iterable(rows))


def _name_unit(answer: str) -> str:
    units = find_units(answer)
    if not units:
        return "none"
    return units[0] if len(units) == 1 else "several"


def _add_wrong(values: Floats) -> Floats:
    """Return counts (n, k) with the columns of `WRONG`."""

    columns = dict(zip(COUNTS, values.T, strict=True))
    gold_no = columns["candidates"] - columns["gold_yes"]
    false_yes = columns["system_yes"] - columns["both_yes"]
    false_no = columns["gold_yes"] - columns["both_yes"]
    return np.column_stack([values, gold_no, false_yes, false_no])


MEANINGS = {
    "unit": "the unit of time that an answer names; of each question, only these candidates",
    "question_size": "how many candidates the question has",
    "gold_yes": "the share of the question's candidates that gold labels yes",
}
"""The meanings of fields whose names don't say it."""


def _score(title: str, name: str) -> tuple[Column, Column]:
    return Column(title, "score", name), Column("", "interval", name)


QUESTION_SCORES = (
    Column("questions", "count", "questions"),
    *_score("exact match", "exact_match"),
    *_score("F1", "f1"),
)
CANDIDATE_SCORES = (
    Column("candidates", "count", "candidates"),
    *_score("accuracy", "accuracy"),
    Column("false yes", "count", "false_yes"),
    Column("% of gold no", "score", "false_yes"),
    Column("false no", "count", "false_no"),
    Column("% of gold yes", "score", "false_no"),
)
COLUMNS = {"Questions": QUESTION_SCORES, "Candidates": CANDIDATE_SCORES}
"""The tables of a field, and what they show."""


class QuestionListing(Listing):
    """The questions with errors, each with a table of its candidates."""

    def make_grids(self) -> Iterator[Grid]:
        """Yield the tables of the first questions."""
        for number, question in enumerate(self.rows[: self.limit], start=1):
            notes = [question["sentence"], question["question"]]
            if number == self.limit < len(self.rows):
                where = choose_words("--limit, --json and --format csv", "to_dict() and to_frame()")
                n_more = pluralize(len(self.rows) - number, "more question")
                notes.append(f"{n_more} with errors: see {where}.")
            rows = [
                [candidate["answer"], candidate["gold"], candidate["predicted"] or NOTHING]
                for candidate in question["candidates"]
            ]
            share = f"{question['wrong']} of {pluralize(len(rows), 'candidate')}"
            title = f"{question['question_id']} ({question['category']}): {share} wrong"
            header = ("answer", "gold", "predicted")
            texts = frozenset(header)
            yield Grid(title, header, rows, notes, texts=texts, prose=frozenset({"answer"}))


def report_errors(
    predictions: ScoredPredictions, by: Sequence[str], resampling: Resampling | None, limit: int
) -> ErrorReport:
    """Return the errors of labels, with scores by some fields; tables list so many questions."""
    counted = predictions.counted
    records = predictions.gold.records
    system = predictions.system.rows
    table = count_fields(records, system, counted.table)
    metrics = (*counted.procedure.metrics, *LABEL_METRICS)
    procedure = replace(counted.procedure, metrics=metrics, breakdowns=("unit",))
    counted = replace(counted, table=table, procedure=procedure)
    report = make_report(counted, by=by, resampling=resampling)
    totals = report.total.counts
    counts = {
        "right": int(totals["correct"]),
        "false yes": int(totals["false_yes"]),
        "false no": int(totals["false_no"]),
    }
    grids = []
    for field in report.slices:
        for units, columns in COLUMNS.items():
            title = f"{units} by {field.replace('_', ' ')}"
            if field in MEANINGS and units == "Questions":
                title += f" ({MEANINGS[field]})"
            grids.append(make_slice_grid(report, field, title, columns, parts=FIELDS[field]))
    questions, rows = list_wrong(records, system, table)
    listings = {"questions": QuestionListing("", questions, limit)}
    return ErrorReport(report, "candidates", counts, listings, grids, ROW, rows)
