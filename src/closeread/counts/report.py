"""Reports: scores with intervals, their provenance, and their JSON format.

The JSON of a report is a file format (``"format": 1``); its values are ratios between 0 and 1, null if undefined, and
never NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, cast

from closeread._version import __version__
from closeread.counts.estimates import (
    Estimate,
    Resampling,
    Scores,
    read_resampling,
    write_resampling,
)
from closeread.counts.metrics import PARTS
from closeread.counts.procedure import Procedure
from closeread.counts.results import FORMAT, Result, find_score
from closeread.exceptions import RequestError, escape_line, pluralize
from closeread.formats.json_lines import decode_json, read_json, write_json
from closeread.json_schema import check_json
from closeread.records import check_format
from closeread.tables import NOTHING, Grid, Style, Whole, format_number, percent, transpose

SHOWN = 4  # the number of scores in the short form of a result

ENOUGH_BLOCKS = 30
"""From this number on, bootstrap intervals and p-values are close to nominal (`tests/shared/coverage.py`)."""

PART_0 = re.compile(r"; part 0+$")

SET_BY_CONVENTION = "* This score is 0/0; its value is set by convention."


UnitRow = dict[str, str | int | float | None]
"""The id of a unit, its block, fields, scores and counts, by name; a score without a value is None."""


@dataclass(frozen=True)
class Provenance:
    """What a table of counts was computed from, and how; stored with it.

    Attributes:
        procedure, procedure_version, options: how it was scored, with the values of all options.
        signature: scores with equal signatures are comparable.
        corpus: the corpus whose schema the gold follows.
        config, split: the part of the corpus; None for the user's own gold.
        released: whether the gold is the released one; None if there is no release.
        missing: the number of gold records without a prediction.
    """

    procedure: str
    procedure_version: int
    options: Mapping[str, str]
    signature: str
    corpus: str
    config: str | None
    split: str | None
    released: bool | None
    missing: int


@dataclass(frozen=True, repr=False)
class Report(Result):
    """The scores of a system; `print` shows them as the command line does.

    Attributes:
        provenance: what was scored, and how.
        resampling: how the intervals were computed.
        unit, resampling_unit: the names of a unit and of a block.
        total: the scores of all units.
        slices: by field and value, the scores of the units with that value.
        titles: the names of the scores in tables, by the metric's name; a score without one is shown by its name.
        preset: the name of the official score whose options these are; None if there is none.
        legend: a sentence that explains names of scores below tables; empty if none needs it.
        explanations: what is counted in each unit, by its id; None if that was not asked for.

    >>> import closeread
    >>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
    >>> report = closeread.score("mctaco", rows, config="sample", ci=False)
    >>> report
    <Report of mctaco sample test: 25 questions, Exact match 0.00, F1 61.31>
    >>> float(report["f1"]) > 0.6, report.name_score("exact_match"), report.to_dict()["n_units"]
    (True, 'Exact match', 25)
    >>> texts = report.to_markdown(), report.to_latex(), report.to_html(), report.to_csv()
    >>> report.to_frame("arrow").num_rows, Report.from_json(report.to_json()) == report
    (2, True)
    >>> report.save("report.json")
    >>> Report.load("report.json") == report
    True
    """

    provenance: Provenance
    resampling: Resampling
    unit: str
    resampling_unit: str
    total: Scores
    slices: Mapping[str, Mapping[str, Scores]]
    titles: Mapping[str, str] = field(default_factory=dict, compare=False)
    preset: str | None = field(default=None, compare=False)
    _unit_rows: Sequence[UnitRow] | None = field(default=None, compare=False)
    explanations: Mapping[str, Sequence[object]] | None = field(default=None, compare=False)
    legend: str = field(default="", compare=False)

    @property
    def scores(self) -> Mapping[str, Estimate]:
        """The scores of all units by the metric's name."""
        return self.total.scores

    def __getitem__(self, name: str) -> Estimate:
        """Return a score of all units by name, "conll/f1", its title, "CoNLL F1", or a metric of one score, "conll"."""
        return find_score(self.scores, name, self.titles)

    @property
    def units(self) -> Sequence[UnitRow]:
        """A row for each unit, with its id, block, fields, scores and counts by name, made when it is asked for."""
        if self._unit_rows is None:
            raise RequestError(
                f"this report was read from JSON that has no {self.unit}s; score the predictions again, "
                "or save the report with units=True"
            )
        return self._unit_rows

    def name_score(self, metric: str) -> str:
        """Return the name of a score in tables."""
        return self.titles.get(metric, metric)

    def _with_titles(self, procedure: Procedure) -> Report:
        """Return the report with the titles and presets of its procedure, which JSON may lack."""
        every = procedure.with_metrics(procedure.families)
        titles = {
            metric.name: metric.title for metric in every.metrics if metric.name in self.scores
        }
        preset = procedure.name_preset(self.provenance.options)
        return replace(self, titles=titles, preset=preset, legend=make_legend(procedure, titles))

    def __repr__(self) -> str:
        what = " ".join(
            filter(None, (self.provenance.procedure, self.provenance.config, self.provenance.split))
        )
        scores = list_scores(self, lambda name: percent(self.scores[name].value))
        return escape_line(
            f"<Report of {what}: {pluralize(self.total.n_units, self.unit)}, {scores}>"
        )

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its table, laid out for a style."""
        return [report_grid(self, style)]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score of the whole and of each slice, ratios in full precision."""
        header = [
            "field",
            "value",
            "metric",
            "score",
            "low",
            "high",
            "undefined",
            "n_units",
            "n_blocks",
            "signature",
        ]
        return header, [
            [
                by,
                value,
                name,
                *astuple(one),
                scores.n_units,
                scores.n_blocks,
                self.provenance.signature,
            ]
            for by, value, scores in list_groups(self)
            for name, one in scores.scores.items()
        ]

    def save(self, path: str | Path, *, units: bool = False) -> None:
        """Write the report as JSON, completely or not at all, perhaps with a row for each unit; `load` reads it."""
        stored = {**self.to_dict(), "titles": dict(self.titles), "preset": self.preset}
        if units:
            stored["units"] = list(self.units)
        write_json(Path(path), stored)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the report in a file, such as `save` writes."""
        return cls.from_json(read_json(Path(path)), path)

    def to_dict(self) -> dict[str, object]:
        """Return the report in the JSON format that is printed, stored and submitted."""
        p, total = self.provenance, self.total.to_dict()
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
            **write_resampling(self.resampling),
            "missing": p.missing,
            **{name: total[name] for name in ("scores", "counts")},
            "slices": {
                field: {value: scores.to_dict() for value, scores in values.items()}
                for field, values in self.slices.items()
            },
        }

    @classmethod
    def from_json(cls, found: object, source: object = "report") -> Self:
        """Return the report of its JSON.

        Args:
            found: what `to_json` or `to_dict` returned; keys that are unknown are ignored.
            source: where it is from, for messages.
        """
        if isinstance(found, str):
            found = decode_json(found, source)
        check_format(found, FORMAT, source)
        check_json(found, "closeread.counts/report.schema.json#report", source)
        checked = cast("Mapping[str, Any]", found)
        about = {name: checked[name] for name in (one.name for one in fields(Provenance))}
        about |= {name: int(about[name]) for name in ("procedure_version", "missing")}
        return cls(
            Provenance(**about),
            read_resampling(checked),
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


def list_scores(
    report: Report, show: Callable[[str], str], names: Iterable[str] | None = None
) -> str:
    """Return the titles of the first scores, each with the text of `show`; by default, without precision and recall."""
    if names is None:
        names = [name for name in report.scores if not name.endswith(PARTS)]
    names = list(names)
    shown = [f"{report.name_score(name)} {show(name)}" for name in names[:SHOWN]]
    return ", ".join([*shown, *(["…"] if len(names) > SHOWN else [])])


def list_groups(report: Report) -> list[tuple[str, str, Scores]]:
    """Return field, value and scores of all units, and of every slice."""
    slices = [
        (name, value, scores)
        for name, values in report.slices.items()
        for value, scores in values.items()
    ]
    return [("", "all", report.total), *slices]


def report_grid(report: Report, style: Style, *, digits: int = 2) -> Grid:
    """Return the table of a report: scores and intervals for all units and every slice, with a row for each metric.

    Precision, recall and F1 of a metric share a row, with the interval of F1.  In a terminal, which is too narrow for
    another column, the name of a slice then has a row above its metrics, and so has the field.
    """
    groups = list_groups(report)
    units, blocks = f"{report.unit}s", f"{report.resampling_unit}s"
    sizes = list(dict.fromkeys([units, blocks]))  # if units are blocks, one column is enough
    interval = (
        [f"{100 * report.resampling.confidence:g}% interval"]
        if report.resampling.n_resamples > 0
        else []
    )
    parted = any(name.endswith(PARTS) for name in report.total.scores)
    header = [*(["precision", "recall", "F1"] if parted else ["score"]), *interval]
    stacked = bool(report.slices) and parted and style == "table"
    sliced = bool(report.slices) and not stacked
    rows: list[list[str]] = []
    before = ""
    for by, value, scores in groups:
        name, n = value, [f"{scores.n_units:,}", f"{scores.n_blocks:,}"][: len(sizes)]
        if by and len(report.slices) > 1:
            name = f"{by}: {value}"
        if stacked:
            blank = [""] * len(header)
            if by != before:
                rows.append([f"by {by}", *blank, *[""] * len(sizes)])
            rows.append([value, *blank, *n])
            before = by
        kept = [
            (metric, estimate)
            for metric, estimate in scores.scores.items()
            if not metric.endswith(PARTS)
        ]
        for position, (metric, estimate) in enumerate(kept):
            title, star = report.name_score(metric), format_star(estimate)
            cells = [percent(estimate.value, digits) + star]
            if parted:
                title, family = (
                    title.removesuffix(" F1").removesuffix("/f1"),
                    metric.removesuffix("/f1"),
                )
                parts = [scores.scores.get(f"{family}{part}") for part in PARTS]
                cells = [
                    *(
                        "" if one is None else percent(one.value, digits) + format_star(one)
                        for one in parts
                    ),
                    *cells,
                ]
            else:
                title, cells = title + star, [percent(estimate.value, digits)]
            if interval:
                cells.append(format_interval(estimate, digits))
            label = [name if position == 0 else ""] if sliced else []
            ends = n if position == 0 and not stacked else [""] * len(sizes)
            rows.append([*label, f"  {title}" if stacked else title, *cells, *ends])
    header = [*(["slice"] if sliced else []), "metric", *header, *sizes]
    ditto = frozenset() if stacked else frozenset({"slice", *sizes})
    labels = header.index("metric") + 1
    grid = Grid(
        make_title(report),
        header,
        rows,
        _list_notes(report),
        prose=frozenset({"metric"}),
        ditto=ditto,
        labels=labels,
    )
    return grid if sliced else replace(grid, narrower=_drop_sizes(grid, len(sizes)))


def _drop_sizes(grid: Grid, number: int) -> Grid:
    """Return the table of a report with a note instead of its last columns, the numbers of units."""
    rows, notes = [], list(grid.notes)
    for row in grid.rows:
        cells, sizes = [*row[:-number]], zip(row[-number:], grid.header[-number:], strict=True)
        said = ", ".join(
            f"{n} {name.removesuffix('s') if n == '1' else name}" for n, name in sizes if n
        )
        if said and any(cells[1:]):
            notes.insert(0, f"{said}.")
        elif said:
            cells[0] += f" ({said})"
        rows.append(cells)
    return replace(grid, header=grid.header[:-number], rows=rows, notes=notes, ditto=frozenset())


def format_star(estimate: Estimate) -> str:
    """Return the mark of a score that is set by convention."""
    return "*" if estimate.undefined else ""


def format_interval(estimate: Estimate, digits: int) -> str:
    """Return an interval times 100; a dash if there is none."""
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{percent(estimate.low, digits)} to {percent(estimate.high, digits)}"


def make_title(report: Report) -> str:
    """Return the part of the corpus that was scored."""
    p = report.provenance
    title = " ".join(part for part in (p.corpus, p.config, p.split) if part and part != "default")
    return f"{title} (not the released gold)" if p.released is False else title


def warn_of_few_blocks(report: Report, advice: str = "") -> list[str]:
    """Return a warning if there are too few blocks for resampling."""
    n_blocks = report.total.n_blocks
    if not report.resampling.n_resamples or n_blocks >= ENOUGH_BLOCKS:
        return []
    blocks = pluralize(n_blocks, report.resampling_unit)
    if n_blocks <= 1:
        return [f"With only {blocks}, there is nothing to resample."]
    return [f"With only {blocks}, bootstrap intervals are too narrow{advice}."]


def _list_notes(report: Report) -> list[str]:
    notes, drawing = [], report.resampling
    if drawing.n_resamples:
        notes.append(
            f"Intervals: {drawing.title} over {report.resampling_unit}s, "
            f"{drawing.n_resamples:,} resamples, seed {drawing.seed}."
        )
    notes += warn_of_few_blocks(report)
    if report.provenance.missing:
        treatment = (
            "skipped" if report.provenance.options.get("missing") == "skip" else "scored as empty"
        )
        notes.append(
            f"No prediction for {pluralize(report.provenance.missing, 'gold record')} ({treatment})."
        )
    if any(one.undefined for _, _, scores in list_groups(report) for one in scores.scores.values()):
        notes.append(SET_BY_CONVENTION)
    return [*notes, *name_options(report)]


def make_legend(procedure: Procedure, scores: Iterable[str]) -> str:
    """Return a sentence that explains the names of these scores, where they need it."""
    return "; ".join(procedure.legend[name] for name in scores if name in procedure.legend)


def name_options(report: Report) -> list[str]:
    """Return the legend of the scores, the preset, if the options are those of one, and the signature."""
    legend = [f"{report.legend}."] if report.legend else []
    preset = [f"Preset: {report.preset}."] if report.preset else []
    return [*legend, *preset, Whole(f"Signature: {report.provenance.signature}")]


def units_grid(
    rows: Sequence[Mapping[str, object]], procedure: Procedure, *, with_counts: bool, digits: int
) -> Grid:
    """Return a table of units: their ids and scores, and their blocks, fields and counts if these are asked for.

    Precision and recall stand beside counts only.
    """
    every = {metric.name: metric.title for metric in procedure.metrics}
    titles = {
        name: title for name, title in every.items() if with_counts or not name.endswith(PARTS)
    }
    notes = (
        ["Precision and recall: --with-counts, --json or --format csv."]
        if len(titles) < len(every)
        else []
    )
    names = [procedure.unit, *titles]
    if with_counts and rows:
        names += [name for name in rows[0] if name not in names]

    def format_value(name: str, value: object) -> str:
        if value is None:
            return NOTHING
        if not isinstance(value, float):
            return str(value)
        if name in titles:
            return percent(value, digits)
        return f"{value:.0f}" if value == int(value) else f"{value:.6f}".rstrip("0")

    units = drop_part([str(row[procedure.unit]) for row in rows])
    cells = [
        [one, *(format_value(name, row[name]) for name in names[1:])]
        for one, row in zip(units, rows, strict=True)
    ]
    header = [titles.get(name, name) for name in names]
    grid = Grid("", header, cells, notes, frozenset({procedure.unit}), labels=1)
    return replace(grid, narrower=transpose(grid, procedure.unit))


def drop_part(names: Sequence[str]) -> list[str]:
    """Return the names of documents without their part numbers, if these are all 0.

    >>> drop_part(["a; part 000", "b"]), drop_part(["a; part 000", "a; part 001"])
    (['a', 'b'], ['a; part 000', 'a; part 001'])
    """
    found = [PART_0.sub("", name) for name in names]
    is_needed = any("; part " in name for name in found) or len({*found}) < len(found)
    return list(names) if is_needed else found


class Column(NamedTuple):
    """A column of a table of slices."""

    title: str  # its name; that of an interval is its confidence level
    # shows a count, a score times 100, or the interval of a score
    what: Literal["count", "score", "interval"]
    name: str  # the name of the count or the score

    def show(self, scores: Scores) -> str:
        """Return the cell of a slice, with a star if the score is 0/0 and its value a convention."""
        if self.what == "count":
            return format_number(scores.counts[self.name])
        estimate = scores.scores[self.name]
        if self.what == "interval":
            return format_interval(estimate, 2)
        return percent(estimate.value) + format_star(estimate)


def make_slice_grid(
    report: Report, field: str, title: str, columns: Sequence[Column], *, parts: Sequence[str] = ()
) -> Grid:
    """Return the table of one field of a report; `parts` are the values of the field to show first, in order."""
    slices = report.slices[field]
    shown = [
        column for column in columns if column.what != "interval" or report.resampling.n_resamples
    ]
    values = [
        *(part for part in parts if part in slices),
        *(value for value in slices if value not in parts),
    ]
    rows = [[value, *(column.show(slices[value]) for column in shown)] for value in values]
    stars = (
        [SET_BY_CONVENTION] if any(cell.endswith("*") for row in rows for cell in row[1:]) else []
    )
    interval = f"{100 * report.resampling.confidence:g}% interval"
    header = [field, *(interval if column.what == "interval" else column.title for column in shown)]
    return Grid(title, header, rows, stars, texts=frozenset({field}), labels=1)
