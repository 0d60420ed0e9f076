"""What errors of TNE can be counted: those of a system's links."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpus.gold import Gold
from closeread.counts.counted import Counted
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import System
from closeread.counts.report import make_report
from closeread.tasks.tne.columns import documents_of, rows_of
from closeread.tasks.tne.link_error_report import LIMIT, LinkErrorReport
from closeread.tasks.tne.link_errors import LinkAnalysis

DEFAULT_FIELDS = ("distance", "direction", "sentence", "expressed", "mention", "preposition")


def analyse(
    gold: Gold,
    system: System,
    counted: Counted,
    *,
    by: str | Sequence[str] = DEFAULT_FIELDS,
    limit: int = LIMIT,
    resampling: Resampling | None = None,
) -> LinkErrorReport:
    """Break down the scores of a system's links, and list what is wrong.

    Args:
        gold, system: both sides.
        counted: their counts, with the breakdowns of `by`.
        by: the fields to score each value of: "domain", "forum", "preposition", "distance", "direction", "sentence",
            "expressed" or "mention".
        limit: how many confusions, triplets and documents tables list, and how many triplets `to_json`; from 0.
        resampling: parameters of the bootstrap; None for the defaults.

    Raises:
        RequestError: there is no such field, or the parameters of the bootstrap are out of range.
    """
    fields = (by,) if isinstance(by, str) else tuple(by)
    report = make_report(counted, by=fields, resampling=resampling)
    analysis = LinkAnalysis(documents_of(gold.records), rows_of(system.rows), counted.table)
    return LinkErrorReport(report, analysis, limit)


ERRORS = {"tne": analyse}
