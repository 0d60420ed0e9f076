"""Score the counts that a score has stored; this imports nothing that listing the options does not need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from closeread import parameters as arg
from closeread.corpus.notices import warn_all
from closeread.parameters import Intervals, Param

if TYPE_CHECKING:
    from closeread.counts.report import Report


def score_counts(
    *,
    from_counts: Annotated[Path | None, Param(metavar="FILE")] = None,
    by: arg.Fields = (),
    intervals: Intervals = Intervals(),  # noqa: B008
) -> Report:
    """Score stored counts.

    Args:
        from_counts: Score counts written by --counts or `closeread merge`, instead of predictions.
    """
    from closeread.counts.counts import Counts, make_report

    counts = Counts.load(str(from_counts))
    warn_all(counts.notices)
    return make_report(counts, by=tuple(by), resampling=intervals.make_resampling())
