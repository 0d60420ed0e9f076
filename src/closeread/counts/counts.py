"""The counts of a system, from which all of its scores follow: reports, files of counts, and the merging of shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast, overload

from closeread.arrays import Floats
from closeread.counts.estimates import Estimate, Resampling, Scores, number_or_none, score
from closeread.counts.metrics import GroupMean, Metric, average_groups
from closeread.counts.procedure import Options, Procedure
from closeread.counts.report import Provenance, Report, UnitRow
from closeread.counts.storage import decode_counts, encode_counts
from closeread.counts.table import CountTable, merge
from closeread.digests import combine_digests
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    escape,
    pluralize,
    quote,
    suggest,
)
from closeread.files import replacing
from closeread.formats.text import read_bytes
from closeread.records import IntervalKind
from closeread.tasks import load_procedure

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, unused-ignore]


@dataclass(frozen=True, repr=False)
class Counts:
    """The counts of a system, from which all of its scores follow; they can be pickled.

    Attributes:
        table: the counts, a row for each unit.
        procedure: the procedure that counted.
        provenance: what was counted, and how.
        notices: notices for the user, one sentence each.

    >>> import closeread
    >>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
    >>> closeread.count("mctaco", rows, config="sample")
    <Counts of mctaco: 25 questions>
    >>> counts = closeread.count("mctaco", rows, config="sample")
    >>> Counts.from_bytes(counts.to_bytes()).report(resamples=100)
    <Report of mctaco sample test: 25 questions, Exact match 0.00, F1 61.31>
    >>> counts.save("counts.parquet")
    >>> Counts.load("counts.parquet")
    <Counts of mctaco: 25 questions>
    """

    table: CountTable
    procedure: Procedure
    provenance: Provenance
    notices: Sequence[str] = ()

    @property
    def signature(self) -> str:
        """Identifies the procedure, its options and the gold: scores with equal signatures are comparable."""
        return self.provenance.signature

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The scores of all units: those of the procedure, or their means over groups."""
        if not self.table.groups:
            return self.procedure.metrics
        return average_groups(self.procedure.metrics, self.provenance.options["undefined"])

    def _score_groups(self, resampling: Resampling) -> dict[str, Scores]:
        """Return the scores of each group; those that are left out of the mean have no value."""
        means = self.metrics
        sums = self.table.sums()
        scores_by_group = {}
        for number, (name, part) in enumerate(self.table.split_groups().items()):
            scores = score(part, self.procedure.metrics, resampling)
            estimates = dict(scores.scores)
            for metric in means:
                formula = cast(GroupMean, metric.formula)
                if formula.undefined == "skip" and formula.find_undefined(sums)[number]:
                    estimates[metric.name] = Estimate(None, None, None, undefined=True)
            scores_by_group[name] = replace(scores, scores=estimates)
        return scores_by_group

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.table.units)

    def __repr__(self) -> str:
        return f"<Counts of {self.procedure.name}: {pluralize(len(self), self.procedure.unit)}>"

    def report(
        self,
        by: str | Sequence[str] = (),
        *,
        ci: bool = True,
        resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
        interval: IntervalKind = "percentile",
    ) -> Report:
        """Return the scores, as `closeread.score` does.

        Args:
            by: a field to slice by, or several.
            ci: whether to compute confidence intervals.
            resamples, confidence, seed, interval: parameters of the bootstrap; the confidence is between 0 and 1.
        """
        fields = (by,) if isinstance(by, str) else tuple(by)
        return make_report(
            self,
            by=fields,
            resampling=Resampling(resamples if ci else 0, confidence, seed, interval),
        )

    def save(self, path: str | Path) -> None:
        """Write the counts to a Parquet file, as `closeread score --counts` does."""
        data = self.to_bytes()
        with replacing(Path(path)) as partial:
            partial.write_bytes(data)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return counts that `save` or `closeread score --counts` wrote."""
        return cls.from_bytes(read_bytes(Path(path)), str(path))

    def to_bytes(self) -> bytes:
        """Return the bytes of the file that `save` writes."""
        return encode_counts(self.table, self.provenance)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "counts") -> Self:
        """Return counts from the bytes that `to_bytes` returned, with all metrics that can be computed from them.

        Args:
            data: the bytes.
            name: what to call them in messages.
        """
        table, provenance = decode_counts(data, name)
        procedure = load_procedure(provenance.procedure)
        if provenance.procedure_version != procedure.version:
            stored = f"contains counts of {procedure.name} version {provenance.procedure_version}"
            problem = f"{stored} (expected {procedure.name} version {procedure.version})"
            raise FormatError(name, [Problem(problem)])
        try:  # options that were added since are at their defaults
            resolved = procedure.resolve_options(provenance.options)
        except RequestError as error:
            raise FormatError(name, [Problem(str(error))]) from None
        options = procedure.keep_options(resolved, reading=True)
        procedure = _select_defined_metrics(procedure, table, name, provenance.preset)
        if provenance.signature != sign(procedure, options, table):
            problem = "the signature does not match the options and the gold; score again"
            raise FormatError(name, [Problem(problem)])
        return cls(table, procedure, replace(provenance, options=options))


def _select_defined_metrics(
    procedure: Procedure, table: CountTable, source: object, preset: str | None
) -> Procedure:
    """Return the procedure with the metrics that can be computed from stored counts, unless a preset leaves them out."""
    complete = procedure.with_metrics(procedure.families)
    lacking = {metric.family for metric in complete.metrics if not metric.is_defined(table.names)}
    if preset is not None and preset in procedure.presets:
        lacking |= {*procedure.always_counted} - {*procedure.presets[preset].metrics}
    families = [family for family in complete.families if family not in lacking]
    if not families:
        raise FormatError(source, [Problem("contains no counts for any score; score them again")])
    return complete.with_metrics(families)


@dataclass(frozen=True, eq=False, repr=False)
class UnitRows(Sequence[UnitRow]):
    """A row for every unit of a system, made when it is asked for."""

    counts: Counts

    @cached_property
    def _scores(self) -> dict[str, Floats]:
        """The scores of all units, (n,) each, by the metric's name."""
        table = self.counts.table
        return {
            metric.name: metric.score(table.values, table.names)
            for metric in self.counts.procedure.metrics
        }

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, place: int) -> UnitRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[UnitRow]: ...

    def __getitem__(self, place: int | slice) -> UnitRow | list[UnitRow]:
        """Return the row of a unit by its number, or those of several."""
        numbers = range(len(self))[place]
        if isinstance(numbers, int):
            return self._make_row(numbers)
        return [self._make_row(number) for number in numbers]

    def __repr__(self) -> str:
        return f"<{pluralize(len(self), self.counts.procedure.unit)}>"

    def to_frame(self) -> DataFrame:
        """Return the scores of the units, from 0 to 1, as a data frame of pandas.

        Its index has the units' ids, and its columns their fields and scores; undefined scores are NaN.
        """
        from pandas import DataFrame

        table = self.counts.table
        columns = {**table.fields, **self._scores}
        frame = DataFrame(columns, index=list(table.units))
        frame.index.name = self.counts.procedure.unit
        return frame

    def _repr_html_(self) -> str:
        """Return the frame as a notebook shows it, with the first and the last units."""
        html: str = self.to_frame()._repr_html_()
        return html

    def _make_row(self, number: int) -> UnitRow:
        table = self.counts.table
        row: UnitRow = {
            self.counts.procedure.unit: table.units[number],
            "block": int(table.blocks[number]),
        }
        for name, column in table.fields.items():
            row[name] = column[number]
        for name, scores in self._scores.items():
            row[name] = number_or_none(float(scores[number]))
        row.update(zip(table.names, table.values[number].tolist(), strict=True))
        return row


def make_report(
    counts: Counts, *, by: Sequence[str] = (), resampling: Resampling | None = None
) -> Report:
    """Compute scores and intervals from a system's counts, and those of slices by some fields or breakdowns."""
    resampling = resampling or Resampling()
    procedure = counts.procedure
    preset = counts.provenance.preset
    for name in by:
        _check_field(counts, name)
    titles = {metric.name: metric.title for metric in procedure.metrics}
    if preset is not None:
        preset = procedure.describe_preset(preset, counts.table.group_names)
    return Report(
        counts.provenance,
        resampling,
        procedure.unit,
        procedure.resampling_unit,
        score(counts.table, counts.metrics, resampling),
        {name: _score_slices(counts, name, resampling) for name in by},
        titles,
        preset,
        UnitRows(counts),
        legend=procedure.explain_names(titles),
        groups=counts._score_groups(resampling) if counts.table.groups else {},
    )


def sign(procedure: Procedure, options: Options, table: CountTable) -> str:
    """Return the signature of the scores of a table, whose shards have that of the whole when they are merged."""
    if len(table.digests) != len(table.units):
        raise ValueError("the digests of the units are unknown")
    digest = combine_digests(table.digests, table.groups)
    return procedure.signature(options, digest, len(table.group_names))


def _check_field(counts: Counts, name: str) -> None:
    """Check that counts can be sliced by a field."""
    procedure = counts.procedure
    fields = list(dict.fromkeys([*counts.table.fields, *procedure.breakdowns]))
    if name in fields:
        return
    guess = suggest(name, fields, procedure.aliases)
    if procedure.more_fields:
        fields.append(procedure.more_fields)
    choices = f"(choose from: {', '.join(fields) or 'none'})"
    if name in procedure.fields:
        raise RequestError(f"no {procedure.unit} has a {name} to slice by {choices}")
    end = "." if guess else ""
    raise RequestError(f"no field {quote(name)} to slice by{end}{guess} {choices}")


def _score_slices(counts: Counts, name: str, resampling: Resampling) -> dict[str, Scores]:
    """Score each value of a field or breakdown, by the metrics that are defined there."""
    procedure = counts.procedure
    breakdown = counts.table.breakdowns.get(name)
    if breakdown is not None and breakdown.names:
        metrics = [metric for metric in procedure.metrics if metric.is_defined(breakdown.names)]
        if not metrics:
            families = dict.fromkeys(count.partition("/")[0] for count in breakdown.names)
            undefined = " and ".join(counts.procedure.families)
            choices = f"(choose from: {', '.join(families)})"
            raise RequestError(f"there are no slices of {undefined} by {name} {choices}")
        procedure = replace(procedure, metrics=tuple(metrics))
    # Slices of a field need no breakdown.
    breakdowns = {} if breakdown is None else {name: breakdown}
    slices = replace(counts.table, breakdowns=breakdowns).slices(name)
    metrics_of_slices = replace(counts, procedure=procedure).metrics
    return {value: score(part, metrics_of_slices, resampling) for value, part in slices.items()}


def merge_counts(parts: Sequence[Counts], names: Sequence[str]) -> Counts:
    """Merge the counts of shards, which may share blocks; messages call the shards by `names`."""
    first = parts[0].provenance
    for part, name in zip(parts[1:], names[1:], strict=True):
        for attribute in ("procedure", "procedure_version", "corpus", "options"):
            actual = getattr(part.provenance, attribute)
            expected = getattr(first, attribute)
            if actual != expected:
                noun = attribute.replace("_", " ")
                raise RequestError(
                    f"cannot merge these counts: {name} has {noun} {_format_value(actual)} "
                    f"(expected {_format_value(expected)}, as in {names[0]})"
                )
    try:
        table = merge([part.table for part in parts])
    except ValueError as error:
        raise RequestError(f"cannot merge these counts: {error}") from None
    procedure = parts[0].procedure
    provenance = replace(
        first,
        signature=sign(procedure, first.options, table),
        missing=sum(part.provenance.missing for part in parts),
        **{name: _find_common(parts, name) for name in ("config", "split", "released", "preset")},
    )
    return Counts(table, procedure, provenance, _describe_dropped(parts, table))


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{choice}" for name, choice in value.items())
    return escape(str(value))


def _find_common(parts: Sequence[Counts], attribute: str) -> Any:
    """Return what all parts have as an attribute of their provenance; None if they differ."""
    values = {getattr(part.provenance, attribute) for part in parts}
    return values.pop() if len(values) == 1 else None


def _describe_dropped(parts: Sequence[Counts], merged: CountTable) -> list[str]:
    """Return a notice about fields and breakdowns that only some parts have."""
    names: dict[str, None] = {}
    for part in parts:
        names |= dict.fromkeys([*part.table.fields, *part.table.breakdowns])
    dropped = [
        name for name in names if name not in merged.fields and name not in merged.breakdowns
    ]
    if not dropped:
        return []
    fields = ", ".join(dropped)
    return [f"the merged counts can't be sliced by {fields}: only some files can"]
