"""The counts of a system, from which all of its scores follow: reports, files of counts, and the merging of shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from closeread.arrays import Floats
from closeread.counts.estimates import Resampling, Scores, number_or_none, score
from closeread.counts.procedure import Procedure
from closeread.counts.report import Provenance, Report, UnitRow, make_legend
from closeread.counts.storage import decode_counts, encode_counts, name_writer
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

LARGEST = 2**53  # the limit of counts: whole numbers below it are exact


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
        return cls._decode(read_bytes(Path(path)), path)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file that `save` writes."""
        return encode_counts(self.table, self.provenance)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "counts") -> Self:
        """Return counts from the bytes that `to_bytes` returned.

        Args:
            data: the bytes.
            name: what to call them in messages.
        """
        return cls._decode(data, name)

    @classmethod
    def _decode(cls, data: bytes, source: object) -> Self:
        """Read counts, with all metrics that can be computed from them."""
        table, provenance, is_changed = decode_counts(data, source)
        procedure = load_procedure(provenance.procedure)
        if provenance.procedure_version != procedure.version:
            found = f"contains counts of {procedure.name} version {provenance.procedure_version}"
            raise FormatError(
                source,
                [Problem(f"{found} (expected {procedure.name} version {procedure.version})")],
            )
        try:  # options that were added since are at their defaults
            options = procedure.keep_options(
                procedure.resolve_options(provenance.options), reading=True
            )
        except RequestError as error:
            raise FormatError(source, [Problem(str(error))]) from None
        procedure = procedure.with_metrics(procedure.families)
        lacking = {
            metric.family for metric in procedure.metrics if not metric.is_defined(table.names)
        }
        if lacking >= set(procedure.families):
            raise FormatError(
                source, [Problem("contains no counts for any score; score them again")]
            )
        procedure = procedure.with_metrics(
            [family for family in procedure.families if family not in lacking]
        )
        if provenance.signature != procedure.signature(options, table.gold_digest):
            raise FormatError(
                source,
                [Problem("the signature does not match the options and the gold; score again")],
            )
        if is_changed:
            what = "was changed after it was written: its content has another digest; score again"
            raise FormatError(source, [Problem(what)])
        if problems := list(map(Problem, _find_wrong_numbers(table, procedure.unit))):
            what = f"contains counts that {name_writer()} never writes; score again"
            raise FormatError(source, [*problems, Problem(what)])
        return cls(table, procedure, replace(provenance, options=options))


def _find_wrong_numbers(table: CountTable, unit: str) -> Iterator[str]:
    """Yield the counts that are not finite, or not from 0 to 2**53."""
    every = [("", np.arange(len(table.units)), table.names, table.values)]
    for name, parts in table.breakdowns.items():
        every.append((f", by {name}", parts.unit, parts.names or table.names, parts.values))
    for within, rows, names, values in every:
        for name, column in zip(names, values.T, strict=True):
            wrong = np.flatnonzero(~((column >= 0) & (column < LARGEST)))
            if len(wrong):
                more = f" ({len(wrong):,} rows)" if len(wrong) > 1 else ""
                first = f"{unit} {quote(table.units[rows[wrong[0]]])}{within}"
                yield f"{first}: {name} is {column[wrong[0]]:.15g} (expected a number from 0 to 2**53){more}"


class UnitRows(Sequence[UnitRow]):
    """A row for every unit of a system, made when it is asked for."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

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
        return (
            self._make_row(numbers)
            if isinstance(numbers, int)
            else [self._make_row(i) for i in numbers]
        )

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

    def _make_row(self, i: int) -> UnitRow:
        table = self.counts.table
        return {
            self.counts.procedure.unit: table.units[i],
            "block": int(table.blocks[i]),
            **{name: column[i] for name, column in table.fields.items()},
            **{name: number_or_none(float(column[i])) for name, column in self._scores.items()},
            **dict(zip(table.names, table.values[i].tolist(), strict=True)),
        }


def make_report(
    counts: Counts, *, by: Sequence[str] = (), resampling: Resampling | None = None
) -> Report:
    """Compute scores and intervals from a system's counts, and those of slices by some fields or breakdowns."""
    resampling = resampling or Resampling()
    procedure = counts.procedure
    known = dict.fromkeys([*counts.table.fields, *procedure.breakdowns])
    for name in by:
        if name not in known:
            guess = suggest(name, list(known), procedure.aliases)
            choices = (
                ", ".join([*known, *([procedure.more_fields] if procedure.more_fields else [])])
                or "none"
            )
            if name in procedure.fields:
                raise RequestError(
                    f"no {procedure.unit} has a {name} to slice by (choose from: {choices})"
                )
            raise RequestError(
                f"no field {quote(name)} to slice by{guess and '.'}{guess} (choose from: {choices})"
            )
    return Report(
        counts.provenance,
        resampling,
        procedure.unit,
        procedure.resampling_unit,
        score(counts.table, procedure.metrics, resampling),
        {name: _score_slices(counts, name, resampling) for name in by},
        {metric.name: metric.title for metric in procedure.metrics},
        procedure.name_preset(counts.provenance.options),
        UnitRows(counts),
        legend=make_legend(procedure, (metric.name for metric in procedure.metrics))
        if procedure.legend
        else "",
    )


def _score_slices(counts: Counts, name: str, resampling: Resampling) -> dict[str, Scores]:
    """Score each value of a field or breakdown, by the metrics that are defined there."""
    kept = {one: parts for one, parts in counts.table.breakdowns.items() if one == name}
    slices = replace(counts.table, breakdowns=kept).slices(name)
    metrics, parts = counts.procedure.metrics, counts.table.breakdowns.get(name)
    if parts is not None and parts.names:
        metrics = tuple(metric for metric in metrics if metric.is_defined(parts.names))
        if not metrics:
            families = ", ".join(dict.fromkeys(count.partition("/")[0] for count in parts.names))
            undefined = " and ".join(counts.procedure.families)
            raise RequestError(
                f"there are no slices of {undefined} by {name} (choose from: {families})"
            )
    return {value: score(part, metrics, resampling) for value, part in slices.items()}


def merge_counts(parts: Sequence[Counts], names: Sequence[str]) -> Counts:
    """Merge the counts of shards, which may share blocks; messages call the shards by `names`."""

    def format_value(value: object) -> str:
        if isinstance(value, dict):
            return ", ".join(f"{name}:{choice}" for name, choice in value.items())
        return escape(str(value))

    def find_common(what: str) -> Any:
        values = {getattr(part.provenance, what) for part in parts}
        return values.pop() if len(values) == 1 else None

    first, procedure = parts[0].provenance, parts[0].procedure
    for part, name in zip(parts[1:], names[1:], strict=True):
        for what in ("procedure", "procedure_version", "corpus", "options"):
            found, expected = getattr(part.provenance, what), getattr(first, what)
            if found != expected:
                differs = f"{name} has {what.replace('_', ' ')} {format_value(found)}"
                as_first = f"expected {format_value(expected)}, as in {names[0]}"
                raise RequestError(f"cannot merge these counts: {differs} ({as_first})")
    try:
        table = merge([part.table for part in parts])
    except ValueError as error:
        raise RequestError(f"cannot merge these counts: {error}") from None
    provenance = replace(
        first,
        signature=procedure.signature(first.options, combine_digests(table.digests)),
        missing=sum(part.provenance.missing for part in parts),
        **{what: find_common(what) for what in ("config", "split", "released")},
    )
    slicing = dict.fromkeys(
        name for part in parts for name in (*part.table.fields, *part.table.breakdowns)
    )
    dropped = [
        name for name in slicing if name not in table.fields and name not in table.breakdowns
    ]
    notices = (
        [f"the merged counts can't be sliced by {', '.join(dropped)}: only some files can"]
        if dropped
        else []
    )
    return Counts(table, procedure, provenance, notices)
