"""Comparisons of two systems by paired tests, and their JSON format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.counts.counted import Counted
from closeread.counts.estimates import Resampling, number_or_none
from closeread.counts.report import FORMAT, Report, list_scores, make_report
from closeread.counts.report_schema import check_comparison
from closeread.counts.resampling import Difference, compare
from closeread.counts.results import Result, read_json
from closeread.errors import RequestError, pluralize, quote

if TYPE_CHECKING:
    from closeread.counts.rendering import Grid, Style

__all__ = ["Comparison", "make_comparison"]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A comparison of two systems on the same units; `print` shows it as the command line does.

    Attributes:
        names: the names of the systems.
        first, second: their reports.
        differences: the differences, second minus first, by the metric's name.
    """

    names: tuple[str, str]
    first: Report
    second: Report
    differences: Mapping[str, Difference]

    def __repr__(self) -> str:
        scores = list_scores(self.first, lambda name: f"{100 * self.differences[name].value:+.2f}")
        systems = " and ".join(map(quote, self.names))
        return f"<Comparison of {systems}: {pluralize(self.first.total.n_units, self.first.unit)}, {scores}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its table, which is the same in all styles."""
        from closeread.counts.grids import comparison_grid

        del style
        return [comparison_grid(self)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score, ratios in full precision."""
        from closeread.counts.grids import comparison_rows

        return comparison_rows(self)

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a comparison that `save` wrote.

        Raises:
            FormatError: the file is missing or not a comparison; all problems at once.
        """
        return cls.from_json(read_json(Path(path)), path)

    def to_stored(self) -> dict[str, Any]:
        """Return what is saved: the JSON, and what it takes to print the same table again."""
        found = self.to_json()
        return {**found, **{side: found[side] | getattr(self, side).to_stored() for side in ("first", "second")}}

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON; NaN becomes null."""
        return {
            "format": FORMAT,
            "first": {"name": self.names[0], **self.first.to_json()},
            "second": {"name": self.names[1], **self.second.to_json()},
            "differences": {
                name: {key: number_or_none(value) for key, value in difference._asdict().items()}
                for name, difference in self.differences.items()
            },
        }

    @classmethod
    def from_json(cls, found: Any, source: object = "comparison") -> Comparison:
        """Read the JSON of a comparison.

        Args:
            found: the JSON value; keys that are unknown are ignored.
            source: what it is from, for messages.

        Raises:
            FormatError: it is not a comparison; all problems at once.
        """
        check_comparison(found, source)
        differences = {
            name: Difference(*(math.nan if one[key] is None else one[key] for key in Difference._fields))
            for name, one in found["differences"].items()
        }
        first, second = found["first"], found["second"]
        reports = Report.from_json(first, source), Report.from_json(second, source)
        return cls((first["name"], second["name"]), *reports, differences)


def make_comparison(
    names: tuple[str, str], first: Counted, second: Counted, resampling: Resampling | None = None
) -> Comparison:
    """Compare two systems by paired tests.

    Args:
        names: the names of the systems.
        first, second: their counts; differences are second minus first.
        resampling: parameters of the bootstrap; None for the defaults.

    Raises:
        RequestError: their signatures or units differ, so that they are not comparable.
    """
    if first.provenance.options.get("missing") == "skip":
        _check_units(names, first, second)
    if first.provenance.signature != second.provenance.signature:
        signatures = f"{first.provenance.signature} and {second.provenance.signature}"
        raise RequestError(f"the two results are not comparable: their signatures are {signatures}")
    resampling = resampling or Resampling()
    if resampling.n_resamples < 1:
        raise RequestError("a comparison needs at least 1 resample")
    shared = [name for name in first.table.names if name in second.table.names]  # stored counts may cover more metrics
    one, two = (replace(counted, table=counted.table.with_counts(shared)) for counted in (first, second))
    differences = compare(
        one.table,
        two.table,
        first.procedure.metrics,
        n_resamples=resampling.n_resamples,
        confidence=resampling.confidence,
        seed=resampling.seed,
    )
    return Comparison(
        names, make_report(one, resampling=resampling), make_report(two, resampling=resampling), differences
    )


def _check_units(names: tuple[str, str], first: Counted, second: Counted) -> None:
    """Check that two systems have the same units, if units without a prediction are skipped.

    Raises:
        RequestError: they have different units; the message names one.
    """
    unit = first.procedure.unit
    one, two = set(first.table.units), set(second.table.units)
    for lacks, lacking, having in ((two - one, names[0], names[1]), (one - two, names[1], names[0])):
        if lacks:
            found = f"{lacking} has no prediction for {unit} {quote(min(lacks))}, but {having} has one"
            raise RequestError(f"{found}; with --missing skip, both systems must cover the same {unit}s")
