"""What errors of McTaco can be counted: those of a system's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from closeread.corpus.gold import Gold
from closeread.counts.counted import Counted
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import System
from closeread.counts.report import make_report
from closeread.exceptions import RequestError
from closeread.suggestions import describe_unknown
from closeread.tasks.mctaco.label_error_report import LIMIT, LabelErrorReport
from closeread.tasks.mctaco.label_errors import FIELDS, LABEL_METRICS, LabelAnalysis


def analyse(
    gold: Gold,
    system: System,
    counted: Counted,
    *,
    by: str | Sequence[str] = tuple(FIELDS),
    limit: int = LIMIT,
    resampling: Resampling | None = None,
) -> LabelErrorReport:
    """Break down the scores of a system's labels, and list the questions with the most errors.

    Args:
        gold, system: both sides.
        counted: their counts.
        by: the fields to score each value of: "category", "unit", "question_size" or "gold_yes".
        limit: how many questions tables list; from 0.
        resampling: parameters of the bootstrap; None for the defaults.

    Raises:
        RequestError: there is no such field, or the parameters of the bootstrap are out of range.
    """
    fields = (by,) if isinstance(by, str) else tuple(by)
    for name in fields:
        if name not in FIELDS:
            raise RequestError(describe_unknown("field of errors mctaco", name, list(FIELDS)))
    analysis = LabelAnalysis(gold.records, system.rows, counted.table)
    procedure = replace(counted.procedure, metrics=(*counted.procedure.metrics, *LABEL_METRICS), breakdowns=("unit",))
    report = make_report(replace(counted, table=analysis.table, procedure=procedure), by=fields, resampling=resampling)
    return LabelErrorReport(report, analysis, limit)


ERRORS = {"mctaco": analyse}
