"""A result: scores with their intervals, what they were computed from, and how it is written as JSON.

The JSON of a report is a file format (``"format": 1``); its values are ratios between 0 and 1, null where no
convention gives one, never NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from typing import Any

import numpy as np

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.counts.metrics import Metric
from closeread.counts.procedure import Procedure
from closeread.counts.resampling import Difference, bootstrap_totals, compare, percentile_interval
from closeread.counts.table import CountTable
from closeread.errors import FormatError, Problem, RequestError, quote, shorten

FORMAT = 1


@dataclass(frozen=True)
class Provenance:
    """What a table of counts was computed from and how; stored with it, so that a result explains itself.

    Attributes:
        procedure, procedure_version, options: how it was scored, every option with its value.
        signature: equal signatures mean comparable numbers.
        corpus: whose schema the gold follows.
        config, split: the part of the corpus; None for the user's own gold file.
        released: whether the gold is the released one; None where there is no release.
        missing: how many gold records the system sent nothing for.
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
    """A system's output, counted.

    Attributes:
        table: the counts.
        procedure: how it was counted.
        provenance: what was counted.
        notices: what a user should know beside the scores.
    """

    table: CountTable
    procedure: Procedure
    provenance: Provenance
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn.

    Attributes:
        n_resamples: how many resamples; 0 for no intervals.
        confidence: the share of intervals that should hold the truth.
        seed: of the random generator.
    """

    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class Estimate:
    """A score.

    Attributes:
        value: between 0 and 1; None where it is 0/0 and no convention says what that is.
        low, high: the interval's ends; None where none was asked for, with a single block, and where the score is 0/0
            in a resample by no convention.
        undefined: it is 0/0, and `value` is the procedure's convention.
    """

    value: float | None
    low: float | None
    high: float | None
    undefined: bool


@dataclass(frozen=True)
class Scores:
    """The scores of some units.

    Attributes:
        n_units, n_blocks: how many units there are, and how many blocks the intervals resample.
        scores: by the metric's name.
        counts: the sums of the counts, by name.
    """

    n_units: int
    n_blocks: int
    scores: Mapping[str, Estimate]
    counts: Mapping[str, float]


@dataclass(frozen=True)
class Report:
    """Everything that is said about one system's output.

    Attributes:
        provenance: what was scored and how.
        resampling: how the intervals were drawn.
        unit, resampling_unit: what a unit and a block are, in words.
        total: the scores over all units.
        slices: field to value to the scores over the units with that value.
    """

    provenance: Provenance
    resampling: Resampling
    unit: str
    resampling_unit: str
    total: Scores
    slices: Mapping[str, Mapping[str, Scores]]

    def to_json(self) -> dict[str, Any]:
        """The report in the JSON format that is printed, stored and submitted."""
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
        """The report that `to_json` gave, read back.

        Args:
            found: the JSON value; what else stands in it, such as `units`, is ignored.

        Raises:
            FormatError: it is not a report; all problems at once.
        """
        _check_json(found)
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


def _check_json(found: Any) -> None:
    """Check a report by its schema.

    Raises:
        FormatError: it breaks the schema.
    """
    import jsonschema
    import jsonschema_rs

    schema = json.loads(resources.files("closeread.counts").joinpath("report.schema.json").read_text("utf-8"))
    if not jsonschema_rs.is_valid(schema, found):
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(found), key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError("report", problems)


def _scores_from_json(found: Mapping[str, Any]) -> Scores:
    scores = {name: Estimate(**estimate) for name, estimate in found["scores"].items()}
    return Scores(found["n_units"], found["n_blocks"], scores, found["counts"])


def _scores_json(scores: Scores) -> dict[str, dict[str, Any]]:
    return {name: asdict(estimate) for name, estimate in scores.scores.items()}


def make_report(counted: Counted, *, by: Sequence[str] = (), resampling: Resampling | None = None) -> Report:
    """Score a system's counts.

    Args:
        counted: the counts, and where they come from.
        by: fields or parts to slice by.
        resampling: how to draw intervals; None for the defaults.

    Raises:
        RequestError: the units have no such field, or the resampling makes no sense.
    """
    resampling = resampling or Resampling()
    if resampling.n_resamples < 0 or not 0 < resampling.confidence < 1:
        raise RequestError("the number of resamples must be at least 0, and the confidence between 0 and 1")
    procedure = counted.procedure
    known = dict.fromkeys([*counted.table.fields, *procedure.breakdowns])
    for field in by:
        if field not in known:
            choices = ", ".join(known) or "none"
            raise RequestError(f"no field {quote(field)} to slice by (choose from: {choices})")
    return Report(
        counted.provenance,
        resampling,
        procedure.unit,
        procedure.resampling_unit,
        score(counted.table, procedure.metrics, resampling),
        {
            field: {
                value: score(part, procedure.metrics, resampling) for value, part in counted.table.slices(field).items()
            }
            for field in by
        },
    )


def score(table: CountTable, metrics: tuple[Metric, ...], resampling: Resampling) -> Scores:
    """The scores of a table, with intervals."""
    totals = table.values.sum(axis=0)
    samples = None
    if resampling.n_resamples and table.n_blocks > 1:  # one block is no sample
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
    """A row for every unit: its id, its block, its fields, its scores and its counts."""
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
    """Two systems on the same units.

    Attributes:
        names: what to call the two.
        first, second: their reports.
        differences: second minus first, by the metric's name.
    """

    names: tuple[str, str]
    first: Report
    second: Report
    differences: Mapping[str, Difference]

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON; NaN becomes null."""
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
        names: what to call the two.
        first, second: their counts; differences are second minus first.
        resampling: how to resample; None for the defaults.

    Raises:
        RequestError: their signatures or their units differ, so that their numbers can't be compared.
    """
    if first.provenance.options.get("missing") == "skip":
        _refuse_other_units(names, first, second)
    if first.provenance.signature != second.provenance.signature:
        signatures = f"{first.provenance.signature} and {second.provenance.signature}"
        raise RequestError(f"the two results are not comparable: their signatures are {signatures}")
    resampling = resampling or Resampling()
    if resampling.n_resamples < 1:
        raise RequestError("a comparison needs at least one resample")
    shared = [name for name in first.table.names if name in second.table.names]  # kept counts may be of more metrics
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


def _refuse_other_units(names: tuple[str, str], first: Counted, second: Counted) -> None:
    """Refuse systems that lack different units, which can't be compared where those are skipped.

    Raises:
        RequestError: they do; the message names a unit.
    """
    unit = first.procedure.unit
    one, two = set(first.table.units), set(second.table.units)
    for lacks, lacking, having in ((two - one, names[0], names[1]), (one - two, names[1], names[0])):
        if lacks:
            found = f"{lacking} has no prediction for {unit} {quote(min(lacks))}, and {having} has one"
            raise RequestError(f"{found}; with missing=skip both must lack the same {unit}s")
