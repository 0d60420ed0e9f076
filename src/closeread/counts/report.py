"""Reports: scores with intervals, their provenance, and their JSON format.

The JSON of a report is a file format (``"format": 1``); its values are ratios between 0 and 1, null if undefined, and
never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.counts.metrics import Metric
from closeread.counts.procedure import Procedure
from closeread.counts.report_schema import check_report
from closeread.counts.resampling import Difference, bootstrap_totals, compare, percentile_interval
from closeread.counts.table import CountTable
from closeread.errors import RequestError, quote, suggest

FORMAT = 1


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


@dataclass(frozen=True)
class Counted:
    """The counts of a system.

    Attributes:
        table: the counts.
        procedure: the procedure that counted.
        provenance: what was counted.
        notices: notices for the user.
    """

    table: CountTable
    procedure: Procedure
    provenance: Provenance
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class Resampling:
    """Parameters of the bootstrap.

    Attributes:
        n_resamples: the number of resamples; 0 for no intervals.
        confidence: the confidence level of the intervals.
        seed: the random seed.
    """

    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class Estimate:
    """A score with its interval.

    Attributes:
        value: between 0 and 1; None if it is 0/0 and no convention gives it a value.
        low, high: the ends of the interval; None without resampling, with a single block, and if the score is 0/0 in a
            resample and no convention gives it a value.
        undefined: whether the score is 0/0, so that `value` is the procedure's convention.
    """

    value: float | None
    low: float | None
    high: float | None
    undefined: bool


@dataclass(frozen=True)
class Scores:
    """The scores of some units.

    Attributes:
        n_units, n_blocks: the number of units, and of the blocks that are resampled.
        scores: the scores by the metric's name.
        counts: the sums of the counts by name.
    """

    n_units: int
    n_blocks: int
    scores: Mapping[str, Estimate]
    counts: Mapping[str, float]


@dataclass(frozen=True)
class Report:
    """The scores of a system.

    Attributes:
        provenance: what was scored, and how.
        resampling: how the intervals were computed.
        unit, resampling_unit: the names of a unit and of a block.
        total: the scores of all units.
        slices: by field and value, the scores of the units with that value.
    """

    provenance: Provenance
    resampling: Resampling
    unit: str
    resampling_unit: str
    total: Scores
    slices: Mapping[str, Mapping[str, Scores]]

    def to_json(self) -> dict[str, Any]:
        """Return the report in the JSON format that is printed, stored and submitted."""
        p = self.provenance
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
            "n_resamples": self.resampling.n_resamples,
            "seed": self.resampling.seed,
            "missing": p.missing,
            "scores": _scores_json(self.total),
            "counts": dict(self.total.counts),
            "slices": {
                field: {
                    value: {
                        "n_units": s.n_units,
                        "n_blocks": s.n_blocks,
                        "scores": _scores_json(s),
                        "counts": dict(s.counts),
                    }
                    for value, s in values.items()
                }
                for field, values in self.slices.items()
            },
        }

    @classmethod
    def from_json(cls, found: Any) -> Report:
        """Read the JSON of a report.

        Args:
            found: the JSON value; other keys, such as `units`, are ignored.

        Raises:
            FormatError: it is not a report; all problems at once.
        """
        check_report(found)
        about = {name: found[name] for name in (field.name for field in fields(Provenance))}
        return cls(
            Provenance(**about),
            Resampling(found["n_resamples"], found["confidence"], found["seed"]),
            found["unit"],
            found["resampling_unit"],
            _scores_from_json(found),
            {
                field: {value: _scores_from_json(one) for value, one in values.items()}
                for field, values in found["slices"].items()
            },
        )


def _scores_from_json(found: Mapping[str, Any]) -> Scores:
    scores = {name: Estimate(**estimate) for name, estimate in found["scores"].items()}
    return Scores(found["n_units"], found["n_blocks"], scores, found["counts"])


def _scores_json(scores: Scores) -> dict[str, dict[str, Any]]:
    return {name: asdict(estimate) for name, estimate in scores.scores.items()}


def make_report(counted: Counted, *, by: Sequence[str] = (), resampling: Resampling | None = None) -> Report:
    """Compute scores and intervals from a system's counts.

    Args:
        counted: the counts and their provenance.
        by: fields or breakdowns to slice by.
        resampling: parameters of the bootstrap; None for the defaults.

    Raises:
        RequestError: there is no such field, or the parameters of the bootstrap are out of range.
    """
    resampling = resampling or Resampling()
    if resampling.n_resamples < 0 or not 0 < resampling.confidence < 1:
        raise RequestError("the number of resamples must be at least 0, and the confidence level between 0 and 1")
    procedure = counted.procedure
    known = dict.fromkeys([*counted.table.fields, *procedure.breakdowns])
    for field in by:
        if field not in known:
            guess = suggest(field, list(known), procedure.aliases)
            choices = ", ".join([*known, *([procedure.more_fields] if procedure.more_fields else [])]) or "none"
            raise RequestError(f"no field {quote(field)} to slice by{guess and '.'}{guess} (choose from: {choices})")
    return Report(
        counted.provenance,
        resampling,
        procedure.unit,
        procedure.resampling_unit,
        score(counted.table, procedure.metrics, resampling),
        {field: _score_slices(counted, field, resampling) for field in by},
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


def score(table: CountTable, metrics: tuple[Metric, ...], resampling: Resampling) -> Scores:
    """Compute the scores of a table, with intervals."""
    totals = table.values.sum(axis=0)
    samples = None
    if resampling.n_resamples and table.n_blocks > 1:  # a single block can't be resampled
        samples = bootstrap_totals(table, resampling.n_resamples, np.random.default_rng(resampling.seed))
    return Scores(
        len(table.units),
        table.n_blocks,
        {metric.name: _estimate(metric, table.names, totals, samples, resampling) for metric in metrics},
        dict(zip(table.names, totals.tolist(), strict=True)),
    )


def _estimate(
    metric: Metric,
    names: tuple[str, ...],
    totals: Floats,
    samples: Floats | None,
    resampling: Resampling,
) -> Estimate:
    value = float(metric.score(totals, names))
    low = high = math.nan
    if samples is not None and not math.isnan(value):
        low, high = percentile_interval(metric.score(samples, names), resampling.confidence)
    return Estimate(_number(value), _number(low), _number(high), metric.is_undefined(totals, names))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def per_unit(counted: Counted) -> list[dict[str, Any]]:
    """Return a row for every unit, with its id, block, fields, scores and counts."""
    table, procedure = counted.table, counted.procedure
    scores = {metric.name: metric.score(table.values, table.names) for metric in procedure.metrics}
    return [
        {
            procedure.unit: unit,
            "block": int(table.blocks[i]),
            **{name: column[i] for name, column in table.fields.items()},
            **{name: _number(float(column[i])) for name, column in scores.items()},
            **dict(zip(table.names, table.values[i].tolist(), strict=True)),
        }
        for i, unit in enumerate(table.units)
    ]


@dataclass(frozen=True)
class Comparison:
    """A comparison of two systems on the same units.

    Attributes:
        names: the names of the systems.
        first, second: their reports.
        differences: the differences, second minus first, by the metric's name.
    """

    names: tuple[str, str]
    first: Report
    second: Report
    differences: Mapping[str, Difference]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON; NaN becomes null."""
        return {
            "format": FORMAT,
            "first": {"name": self.names[0], **self.first.to_json()},
            "second": {"name": self.names[1], **self.second.to_json()},
            "differences": {
                name: {key: _number(value) for key, value in difference._asdict().items()}
                for name, difference in self.differences.items()
            },
        }


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
