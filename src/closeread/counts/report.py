"""Reports: scores with intervals, their provenance, and their JSON format.

The JSON of a report is a file format (``"format": 1``); its values are ratios between 0 and 1, null if undefined, and
never NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from closeread._version import __version__
from closeread.argument_types import check_types
from closeread.counts.counted import Counted, Provenance, UnitRow, UnitRows
from closeread.counts.estimates import Estimate, Resampling, Scores, score
from closeread.counts.procedure import Procedure
from closeread.counts.rendering import percent
from closeread.counts.report_schema import FORMAT, check_report
from closeread.counts.resampling import Sums
from closeread.counts.results import Loadable
from closeread.exceptions import RequestError, escape_line, pluralize, quote
from closeread.formats.json_files import write_json
from closeread.suggestions import suggest

if TYPE_CHECKING:
    from closeread.counts.rendering import Grid, Style

SHOWN = 4
"""The number of scores in the short form of a result."""


@dataclass(frozen=True, repr=False)
class Report(Loadable):
    """The scores of a system; `print` shows them as the command line does.

    Attributes:
        provenance: what was scored, and how.
        resampling: how the intervals were computed.
        unit, resampling_unit: the names of a unit and of a block.
        total: the scores of all units.
        slices: by field and value, the scores of the units with that value.
        titles: the names of the scores in tables, by the metric's name; a score without one is shown by its name.
        preset: the name of the official score whose options these are; None if there is none.
        unit_rows: the scores and counts of each unit; None if they are unknown (see `units`).
    """

    provenance: Provenance
    resampling: Resampling
    unit: str
    resampling_unit: str
    total: Scores
    slices: Mapping[str, Mapping[str, Scores]]
    titles: Mapping[str, str] = field(default_factory=dict, compare=False)
    preset: str | None = field(default=None, compare=False)
    unit_rows: Sequence[UnitRow] | None = field(default=None, compare=False)

    @property
    def scores(self) -> Mapping[str, Estimate]:
        """The scores of all units by the metric's name."""
        return self.total.scores

    @property
    def units(self) -> Sequence[UnitRow]:
        """A row for each unit, with its id, block, fields, scores and counts by name, made when it is asked for.

        Raises:
            RequestError: the report was read from JSON without units.
        """
        if self.unit_rows is None:
            raise RequestError(
                f"this report was read from JSON that has no {self.unit}s; score the predictions again, "
                "or save the report with units=True"
            )
        return self.unit_rows

    def name_score(self, metric: str) -> str:
        """Return the name of a score in tables."""
        return self.titles.get(metric, metric)

    def with_titles(self, procedure: Procedure) -> Report:
        """Return the report with the titles and presets of its procedure, which JSON may lack."""
        every = procedure.with_metrics(procedure.families)
        titles = {metric.name: metric.title for metric in every.metrics if metric.name in self.scores}
        return replace(self, titles=titles, preset=procedure.name_preset(self.provenance.options))

    def __repr__(self) -> str:
        what = " ".join(filter(None, (self.provenance.procedure, self.provenance.config, self.provenance.split)))
        scores = list_scores(self, lambda name: percent(self.scores[name].value))
        return escape_line(f"<Report of {what}: {pluralize(self.total.n_units, self.unit)}, {scores}>")

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its table, laid out for a style."""
        from closeread.counts.grids import report_grid

        return [report_grid(self, style)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score of the whole and of each slice, ratios in full precision."""
        from closeread.counts.grids import report_rows

        return report_rows(self)

    @check_types
    def save(self, path: str | Path, *, units: bool = False) -> None:
        """Write the report as JSON, completely or not at all; `load` reads it.

        Args:
            path: the file.
            units: whether to save a row for each unit, too.

        Raises:
            OSError: the file can't be written.
            RequestError: the rows of the units are unknown.
        """
        write_json(Path(path), {**self.to_stored(), **({"units": list(self.units)} if units else {})})

    def to_stored(self) -> dict[str, object]:
        """Return what is saved: the JSON, and what it takes to print the same table again."""
        return {**self.to_json(), "titles": dict(self.titles), "preset": self.preset}

    def to_json(self) -> dict[str, object]:
        """Return the report in the JSON format that is printed, stored and submitted."""
        p, total = self.provenance, self.total.to_json()
        return {
            "format": FORMAT,
            "closeread": __version__,
            "corpus": p.corpus,
            "config": p.config,
            "split": p.split,
            "released": p.released,
            "procedure": p.procedure,
            "procedure_version": p.procedure_version,
            "options": dict(p.options),
            "signature": p.signature,
            "unit": self.unit,
            "n_units": self.total.n_units,
            "resampling_unit": self.resampling_unit,
            "n_blocks": self.total.n_blocks,
            "confidence": self.resampling.confidence,
            "n_resamples": int(self.resampling.n_resamples),
            "seed": self.resampling.seed,
            "missing": p.missing,
            **{name: total[name] for name in ("scores", "counts")},
            "slices": {
                field: {value: scores.to_json() for value, scores in values.items()}
                for field, values in self.slices.items()
            },
        }

    @classmethod
    def from_json(cls, found: object, source: object = "report") -> Self:
        """Read the JSON of a report.

        Args:
            found: the JSON value; keys that are unknown are ignored.
            source: what it is from, for messages.

        Raises:
            FormatError: it is not a report; all problems at once.
        """
        checked = check_report(found, source)
        about = {name: checked[name] for name in (one.name for one in fields(Provenance))}
        about |= {name: int(about[name]) for name in ("procedure_version", "missing")}
        return cls(
            Provenance(**about),
            Resampling(int(checked["n_resamples"]), checked["confidence"], int(checked["seed"])),
            checked["unit"],
            checked["resampling_unit"],
            Scores.from_json(checked),
            {
                field: {value: Scores.from_json(one) for value, one in values.items()}
                for field, values in checked["slices"].items()
            },
            checked.get("titles", {}),
            checked.get("preset"),
            checked.get("units"),
        )


def list_scores(report: Report, show: Callable[[str], str], names: Iterable[str] | None = None) -> str:
    """Return the titles of the first scores, each with what to show of it; by default no precision and recall."""
    if names is None:
        names = [name for name in report.scores if not name.endswith(("/precision", "/recall"))]
    names = list(names)
    shown = [f"{report.name_score(name)} {show(name)}" for name in names[:SHOWN]]
    return ", ".join([*shown, *(["…"] if len(names) > SHOWN else [])])


def make_report(
    counted: Counted,
    *,
    by: Sequence[str] = (),
    resampling: Resampling | None = None,
    drawn: Mapping[bytes, Sums] | None = None,
) -> Report:
    """Compute scores and intervals from a system's counts.

    Args:
        counted: the counts and their provenance.
        by: fields or breakdowns to slice by.
        resampling: parameters of the bootstrap; None for the defaults.
        drawn: sums of its resamples of all units that are there already, as `Bootstrap` takes them.

    Raises:
        RequestError: there is no such field, or the parameters of the bootstrap are out of range.
    """
    resampling = resampling or Resampling()
    if resampling.n_resamples < 0 or not 0 < resampling.confidence < 1:
        raise RequestError("the number of resamples must be at least 0, and the confidence level between 0 and 1")
    procedure = counted.procedure
    known = dict.fromkeys([*counted.table.fields, *procedure.breakdowns])
    for name in by:
        if name not in known:
            guess = suggest(name, list(known), procedure.aliases)
            choices = ", ".join([*known, *([procedure.more_fields] if procedure.more_fields else [])]) or "none"
            raise RequestError(f"no field {quote(name)} to slice by{guess and '.'}{guess} (choose from: {choices})")
    return Report(
        counted.provenance,
        resampling,
        procedure.unit,
        procedure.resampling_unit,
        score(counted.table, procedure.metrics, resampling, drawn),
        {name: _score_slices(counted, name, resampling) for name in by},
        {metric.name: metric.title for metric in procedure.metrics},
        procedure.name_preset(counted.provenance.options),
        UnitRows(counted),
    )


def _score_slices(counted: Counted, field: str, resampling: Resampling) -> dict[str, Scores]:
    """Score each value of a field or breakdown, by the metrics that are defined there.

    Raises:
        RequestError: the table has no such field or breakdown, or no metric is defined there.
    """
    slices = counted.table.slices(field)
    metrics, parts = counted.procedure.metrics, counted.table.breakdowns.get(field)
    if parts is not None and parts.names:
        metrics = tuple(metric for metric in metrics if metric.is_defined(parts.names))
        if not metrics:
            families = ", ".join(dict.fromkeys(name.partition("/")[0] for name in parts.names))
            undefined = " and ".join(counted.procedure.families)
            raise RequestError(f"there are no slices of {undefined} by {field} (choose from: {families})")
    return {value: score(part, metrics, resampling) for value, part in slices.items()}
