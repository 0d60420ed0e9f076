"""Reports: scores with intervals, their provenance, and their JSON format.

The JSON of a report is a file format (``"format": 1``); its values are ratios between 0 and 1, null if undefined, and
never NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, Self

from closeread._version import __version__
from closeread.counts.estimates import (
    Estimate,
    Resampling,
    Scores,
)
from closeread.counts.metrics import PARTS
from closeread.counts.procedure import Procedure
from closeread.counts.results import FORMAT, Result, find_score
from closeread.exceptions import RequestError, escape_line, pluralize
from closeread.formats.json_lines import decode_json, read_json, write_json
from closeread.tables import NOTHING, Grid, Style, Whole, format_number, percent, transpose

MAX_SCORES_SHOWN = 4
"""The number of scores in the short form of a result."""

ENOUGH_BLOCKS = 30
"""From this number on, bootstrap intervals and p-values are close to nominal (`tests/shared/coverage.py`)."""

ENOUGH_BLOCKS_OF_GROUP = 10
"""If most groups have fewer, intervals of their mean are too narrow."""

FIRST_PART = re.compile(r"; part 0+$")
"""The end of the name of a document that is the first part of a text."""

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
        preset: the name of the official score whose options these are; None if there is none.
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
    preset: str | None = None


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
        groups: the scores of each group, of which those of `total` are the means; empty if they are not averaged so.
        secondary: reports of the same system, counted in other ways; empty if that was not asked for.
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
    groups: Mapping[str, Scores] = field(default_factory=dict)
    secondary: Mapping[str, Report] = field(default_factory=dict, compare=False)

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
        metrics = procedure.with_metrics(procedure.families).metrics
        titles = {metric.name: metric.title for metric in metrics if metric.name in self.scores}
        preset = self.preset or procedure.name_preset(self.provenance.options)
        return replace(self, titles=titles, preset=preset, legend=procedure.explain_names(titles))

    def __repr__(self) -> str:
        provenance = self.provenance
        parts = (provenance.procedure, provenance.config, provenance.split)
        scored = " ".join(part for part in parts if part)
        units = pluralize(self.total.n_units, self.unit)
        scores = list_scores(self, lambda name: percent(self.scores[name].value))
        return escape_line(f"<Report of {scored}: {units}, {scores}>")

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return its tables, laid out for a style."""
        return report_grids(self, style)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each score of the whole and of each slice, ratios in full precision."""
        header = ["field", "value", "metric", "score", "low", "high", "undefined"]
        header += ["n_units", "n_blocks", "signature"]
        signature = self.provenance.signature
        rows: list[list[object]] = []
        rows_by_group = list_groups(self)
        for name, scores in self.groups.items():
            rows_by_group.append(("group", name, scores))
        for field_name, value, scores in rows_by_group:
            sizes = (scores.n_units, scores.n_blocks)
            for metric, estimate in scores.scores.items():
                rows.append([field_name, value, metric, *astuple(estimate), *sizes, signature])
        return header, rows

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
        from closeread.counts.report_file import ReportFile

        slices = {}
        for field_name, by_value in self.slices.items():
            slices[field_name] = {value: asdict(scores) for value, scores in by_value.items()}
        fields: dict[str, object] = {
            **vars(self.provenance),
            **vars(self.resampling),
            **asdict(self.total),
            "format": FORMAT,
            "closeread": __version__,
            "options": dict(self.provenance.options),
            "unit": self.unit,
            "n_resamples": int(self.resampling.n_resamples),
            "resampling_unit": self.resampling_unit,
            "slices": slices,
        }
        del fields["preset"]
        if self.secondary:
            fields["secondary"] = {
                name: report.to_dict() for name, report in self.secondary.items()
            }
        if self.groups:
            fields["groups"] = {name: asdict(scores) for name, scores in self.groups.items()}
        if self.resampling.interval == "percentile":
            del fields["interval"]
        # Not by msgspec, which refuses names and numbers of NumPy's types.
        return {name: fields[name] for name in ReportFile.__struct_fields__ if name in fields}

    @classmethod
    def from_json(cls, found: object, source: object = "report") -> Self:
        """Return the report of its JSON.

        Args:
            found: what `to_json` or `to_dict` returned; keys that are unknown are ignored.
            source: where it is from, for messages.
        """
        import msgspec

        from closeread.counts.report_file import read_report

        if isinstance(found, str):
            found = decode_json(found, source)
        stored = read_report(found, source)
        return cls(
            msgspec.convert(stored, Provenance, from_attributes=True),
            msgspec.convert(stored, Resampling, from_attributes=True),
            stored.unit,
            stored.resampling_unit,
            msgspec.convert(stored, Scores, from_attributes=True),
            stored.slices,
            stored.titles,
            stored.preset,
            stored.units,
            groups=msgspec.convert(stored.groups, dict[str, Scores], from_attributes=True),
        )


def list_scores(
    report: Report, show: Callable[[str], str], names: Iterable[str] | None = None
) -> str:
    """Return the titles of the first scores, each with the text of `show`; by default, without precision and recall."""
    if names is None:
        names = [name for name in report.scores if not name.endswith(PARTS)]
    names = list(names)
    scores = [f"{report.name_score(name)} {show(name)}" for name in names[:MAX_SCORES_SHOWN]]
    if len(names) > MAX_SCORES_SHOWN:
        scores.append("…")
    return ", ".join(scores)


def list_groups(report: Report) -> list[tuple[str, str, Scores]]:
    """Return field, value and scores of all units, and of every slice."""
    groups = [("", "mean" if report.groups else "all", report.total)]
    for field_name, by_value in report.slices.items():
        groups += [(field_name, value, scores) for value, scores in by_value.items()]
    return groups


def report_grids(
    report: Report, style: Style, *, digits: int = 2, parts: Sequence[str] = ("f1",)
) -> list[Grid]:
    """Return the tables of a report: of its groups, if it has any; of the whole and its slices, otherwise or besides.

    Args:
        report: the report.
        style: the style that they are laid out for.
        digits: the number of decimals.
        parts: what to show of each metric of groups: "p", "r", "f1".
    """
    grids = []
    if report.groups:
        grids.append(make_group_grid(report, digits=digits, parts=parts))
    if report.slices or not report.groups:
        grids.append(report_grid(report, style, digits=digits))
    if report.secondary:
        grids.append(make_secondary_grid(report, digits=digits))
    return grids


PART_NAMES = {"p": "precision", "r": "recall", "f1": "f1"}
"""The ends of the names of scores, by their names as columns."""


def make_group_grid(report: Report, *, digits: int, parts: Sequence[str]) -> Grid:
    """Return the table of groups, a row for each, with their mean last, and its interval."""
    titles = {}
    for name in report.scores:
        family, _, part = name.partition("/")
        has_parts = f"{family}/precision" in report.scores
        if has_parts and part not in [PART_NAMES[part] for part in parts]:
            continue
        title = report.name_score(name)
        if has_parts and len(parts) == 1:
            titles[name] = title.removesuffix(" F1")
        else:
            titles[name] = title.replace(" precision", " P").replace(" recall", " R")
    sizes = _name_sizes(report)
    header = ["group", *titles.values(), *sizes]
    rows = []
    for group, scores in [*report.groups.items(), ("mean", report.total)]:
        row: list[str] = [Whole(group)]
        for name in titles:
            estimate = scores.scores[name]
            row.append(_format_estimate(estimate, digits))
        row += _format_sizes(scores, sizes)
        rows.append(row)
    notes = _list_notes(report)
    if report.resampling.n_resamples:
        last = list(titles)[-1]
        header.append(f"{100 * report.resampling.confidence:g}% interval")
        for row in rows:
            row.append("")
        rows[-1][-1] = format_interval(report.scores[last], digits)
        notes[0] = (
            f"Interval: of the mean {report.name_score(last)}, for these groups; {report.resampling.title} over "
            f"{report.resampling_unit}s inside each group, {report.resampling.n_resamples:,} resamples, seed "
            f"{report.resampling.seed}."
        )
    return Grid(make_title(report), header, rows, notes, frozenset({"group"}), labels=1)


def _name_sizes(report: Report) -> list[str]:
    """Return what the last columns of a table count: units and, if they are other ones, blocks."""
    return list(dict.fromkeys([f"{report.unit}s", f"{report.resampling_unit}s"]))


def _format_sizes(scores: Scores, sizes: Sequence[str]) -> list[str]:
    """Return how many units and blocks a group has."""
    return [f"{scores.n_units:,}", f"{scores.n_blocks:,}"][: len(sizes)]


def _format_estimate(estimate: Estimate, digits: int) -> str:
    """Return a score with its star; a dash if it has no value."""
    if estimate.value is None:
        return NOTHING
    return percent(estimate.value, digits) + format_star(estimate)


def make_secondary_grid(report: Report, *, digits: int) -> Grid:
    """Return the table of other countings of the headline score, a row for each group, with their mean last."""
    score = list(report.scores)[-1]
    rows = []
    for group in [*report.groups, ""]:
        row: list[str] = [Whole(group or ("mean" if report.groups else "all"))]
        for other in report.secondary.values():
            scores = other.groups[group] if group else other.total
            row.append(_format_estimate(scores.scores[score], digits))
        rows.append(row)
    title = f"{report.name_score(score)}, counted in other ways"
    return Grid(title, ["group", *report.secondary], rows, texts=frozenset({"group"}), labels=1)


def report_grid(report: Report, style: Style, *, digits: int = 2) -> Grid:
    """Return the table of a report: scores and intervals for all units and every slice, with a row for each metric.

    Precision, recall and F1 of a metric share a row, with the interval of F1.  In a terminal, which is too narrow for
    another column, the name of a slice then has a row above its metrics, and so has the field.
    """
    layout = _Layout(report, style, digits)
    rows: list[list[str]] = []
    last_field = ""
    for field_name, value, scores in list_groups(report):
        if layout.is_stacked:
            if field_name != last_field:
                rows.append(layout.make_label(f"by {field_name}"))
            rows.append(layout.make_label(value, _format_sizes(scores, layout.sizes)))
            last_field = field_name
        name = f"{field_name}: {value}" if field_name and len(report.slices) > 1 else value
        rows += layout.make_rows(name, scores)
    header = layout.header
    ditto = frozenset[str]() if layout.is_stacked else frozenset({"slice", *layout.sizes})
    grid = Grid(
        make_title(report),
        header,
        rows,
        _list_notes(report),
        prose=frozenset({"metric"}),
        ditto=ditto,
        labels=header.index("metric") + 1,
    )
    if layout.has_slice_column:
        return grid
    return replace(grid, narrower=_drop_sizes(grid, len(layout.sizes)))


class _Layout:
    """The columns of the table of a report, and the rows of its groups.

    Attributes:
        has_parts: whether metrics have precision, recall and F1, each in a column.
        has_intervals: whether there is a column for intervals.
        is_stacked: whether the name of a slice has a row above its metrics.
        has_slice_column: whether it has a column.
        sizes: what the last columns count.
        header: the names of all columns.
    """

    def __init__(self, report: Report, style: Style, digits: int) -> None:
        self.report = report
        self.digits = digits
        self.has_parts = any(name.endswith(PARTS) for name in report.total.scores)
        self.has_intervals = report.resampling.n_resamples > 0
        self.is_stacked = bool(report.slices) and self.has_parts and style == "table"
        self.has_slice_column = bool(report.slices) and not self.is_stacked
        self.sizes = _name_sizes(report)
        self.header = ["slice", "metric"] if self.has_slice_column else ["metric"]
        self.header += ["precision", "recall", "F1"] if self.has_parts else ["score"]
        if self.has_intervals:
            self.header.append(f"{100 * report.resampling.confidence:g}% interval")
        self.header += self.sizes

    def make_label(self, text: str, sizes: Sequence[str] = ()) -> list[str]:
        """Return a row of a stacked table that has no score."""
        n_blank = len(self.header) - 1 - len(sizes)
        return [text, *[""] * n_blank, *sizes]

    def make_rows(self, name: str, scores: Scores) -> list[list[str]]:
        """Return a row for each metric of a group; the first one has the name and the size of the group."""
        rows: list[list[str]] = []
        for metric, estimate in scores.scores.items():
            if metric.endswith(PARTS):
                continue
            title, *cells = self._make_cells(metric, estimate, scores)
            if self.has_intervals:
                cells.append(format_interval(estimate, self.digits))
            is_first = not rows
            sizes = [""] * len(self.sizes)
            if is_first and not self.is_stacked:
                sizes = _format_sizes(scores, self.sizes)
            if self.is_stacked:
                title = f"  {title}"
            row = [title, *cells, *sizes]
            if self.has_slice_column:
                row.insert(0, name if is_first else "")
            rows.append(row)
        return rows

    def _make_cells(self, metric: str, estimate: Estimate, scores: Scores) -> list[str]:
        """Return the title of a metric and its values; the star stands where there is most room."""
        title = self.report.name_score(metric)
        if not self.has_parts:
            return [title + format_star(estimate), percent(estimate.value, self.digits)]
        cells = [title.removesuffix(" F1").removesuffix("/f1")]
        family = metric.removesuffix("/f1")
        estimates = [*(scores.scores.get(f"{family}{part}") for part in PARTS), estimate]
        for part_estimate in estimates:
            if part_estimate is None:
                cells.append("")
            else:
                value = percent(part_estimate.value, self.digits)
                cells.append(value + format_star(part_estimate))
        return cells


def _drop_sizes(grid: Grid, n_columns: int) -> Grid:
    """Return the table of a report with a note instead of its last columns, the numbers of units."""
    rows = []
    notes = list(grid.notes)
    nouns = grid.header[-n_columns:]
    for row in grid.rows:
        cells = list(row[:-n_columns])
        sizes = ", ".join(
            f"{size} {noun.removesuffix('s') if size == '1' else noun}"
            for size, noun in zip(row[-n_columns:], nouns, strict=True)
            if size
        )
        if sizes and any(cells[1:]):
            notes.insert(0, f"{sizes}.")
        elif sizes:
            cells[0] += f" ({sizes})"
        rows.append(cells)
    return replace(grid, header=grid.header[:-n_columns], rows=rows, notes=notes, ditto=frozenset())


def format_star(estimate: Estimate) -> str:
    """Return the mark of a score that is set by convention."""
    return "*" if estimate.undefined and estimate.value is not None else ""


def format_interval(estimate: Estimate, digits: int) -> str:
    """Return an interval times 100; a dash if there is none."""
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{percent(estimate.low, digits)} to {percent(estimate.high, digits)}"


def make_title(report: Report) -> str:
    """Return the part of the corpus that was scored."""
    provenance = report.provenance
    parts = (provenance.corpus, provenance.config, provenance.split)
    title = " ".join(part for part in parts if part and part != "default")
    return f"{title} (not the released gold)" if provenance.released is False else title


def warn_of_few_blocks(report: Report, advice: str = "") -> list[str]:
    """Return a warning if there are too few blocks for resampling."""
    n_blocks = report.total.n_blocks
    if not report.resampling.n_resamples:
        return []
    if report.groups:
        return list(_warn_of_small_groups(report, advice))
    if n_blocks >= ENOUGH_BLOCKS:
        return []
    blocks = pluralize(n_blocks, report.resampling_unit)
    if n_blocks <= 1:
        return [f"With only {blocks}, there is nothing to resample."]
    return [f"With only {blocks}, bootstrap intervals are too narrow{advice}."]


def _warn_of_small_groups(report: Report, advice: str) -> Iterator[str]:
    """Yield warnings if there are groups with a single block, or if most groups have few."""
    sizes = [group.n_blocks for group in report.groups.values()]
    n_single = sizes.count(1)
    block = report.resampling_unit
    if n_single:
        verb, whose = ("has", "its") if n_single == 1 else ("have", "their")
        groups = f"{n_single:,} of {pluralize(len(sizes), 'group')} {verb} one {block}"
        yield f"{groups}: the interval ignores {whose} variation."
    n_small = sum(size < ENOUGH_BLOCKS_OF_GROUP for size in sizes)
    if 2 * n_small > len(sizes):
        groups = f"{n_small:,} of {pluralize(len(sizes), 'group')}"
        yield f"With fewer than {ENOUGH_BLOCKS_OF_GROUP} {block}s in {groups}, bootstrap intervals are too narrow{advice}."


def _list_notes(report: Report) -> list[str]:
    """Return the sentences below the table of a report."""
    notes = []
    resampling = report.resampling
    if resampling.n_resamples:
        notes.append(
            f"Intervals: {resampling.title} over {report.resampling_unit}s, "
            f"{resampling.n_resamples:,} resamples, seed {resampling.seed}."
        )
    notes += warn_of_few_blocks(report)
    provenance = report.provenance
    if provenance.missing:
        is_skipped = provenance.options.get("missing") == "skip"
        treatment = "skipped" if is_skipped else "scored as empty"
        records = pluralize(provenance.missing, "gold record")
        notes.append(f"No prediction for {records} ({treatment}).")
    parts = [scores for _, _, scores in list_groups(report)]
    for scores in (*parts, *report.groups.values()):
        if any(format_star(estimate) for estimate in scores.scores.values()):
            notes.append(SET_BY_CONVENTION)
            break
    return [*notes, *name_options(report)]


def name_options(report: Report) -> list[str]:
    """Return the legend of the scores, the preset, if the options are those of one, and the signature."""
    lines = []
    if report.legend:
        lines.append(f"{report.legend}.")
    if report.preset:
        lines.append(f"Preset: {report.preset}.")
    return [*lines, Whole(f"Signature: {report.provenance.signature}")]


def units_grid(
    rows: Sequence[Mapping[str, object]], procedure: Procedure, *, with_counts: bool, digits: int
) -> Grid:
    """Return a table of units: their ids and scores, and their blocks, fields and counts if these are asked for.

    Precision and recall stand beside counts only.
    """
    titles = {metric.name: metric.title for metric in procedure.metrics}
    notes = []
    if not with_counts:
        n_metrics = len(titles)
        titles = {name: title for name, title in titles.items() if not name.endswith(PARTS)}
        if len(titles) < n_metrics:
            notes.append("Precision and recall: --with-counts, --json or --format csv.")
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
    cells = []
    for unit, row in zip(units, rows, strict=True):
        values = [format_value(name, row[name]) for name in names[1:]]
        cells.append([unit, *values])
    header = [titles.get(name, name) for name in names]
    grid = Grid("", header, cells, notes, frozenset({procedure.unit}), labels=1)
    return replace(grid, narrower=transpose(grid, procedure.unit))


def drop_part(names: Sequence[str]) -> list[str]:
    """Return the names of documents without their part numbers, if these are all 0.

    >>> drop_part(["a; part 000", "b"]), drop_part(["a; part 000", "a; part 001"])
    (['a', 'b'], ['a; part 000', 'a; part 001'])
    """
    documents = [FIRST_PART.sub("", name) for name in names]
    has_other_parts = any("; part " in document for document in documents)
    are_distinct = len(set(documents)) == len(documents)
    return documents if are_distinct and not has_other_parts else list(names)


class Column(NamedTuple):
    """A column of a table of slices.

    Attributes:
        title: its name; that of an interval is its confidence level.
        what: what it shows: a count, a score times 100, or the interval of a score.
        name: the name of the count or the score.
    """

    title: str
    what: Literal["count", "score", "interval"]
    name: str

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
    has_intervals = report.resampling.n_resamples > 0
    interval = f"{100 * report.resampling.confidence:g}% interval"
    drawn_columns = []
    header = [field]
    for column in columns:
        if column.what != "interval":
            header.append(column.title)
        elif has_intervals:
            header.append(interval)
        else:
            continue
        drawn_columns.append(column)
    values = [part for part in parts if part in slices]
    values += [value for value in slices if value not in parts]
    rows = []
    notes = []
    for value in values:
        cells = [column.show(slices[value]) for column in drawn_columns]
        if any(cell.endswith("*") for cell in cells):
            notes = [SET_BY_CONVENTION]
        rows.append([value, *cells])
    return Grid(title, header, rows, notes, texts=frozenset({field}), labels=1)
