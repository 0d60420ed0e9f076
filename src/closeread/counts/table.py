"""Counts, and what is made of them: the one path from any procedure to any score.

A procedure turns gold and system into a `CountTable`, one row a unit.  Rows are summed, and a `Metric` makes a
score of the sums.  Intervals, paired tests, slices and merging need nothing else: they sum the rows with other
weights.  Ratios are never stored; a mean is a ratio of two counts.

Conventions: scores are ratios between 0 and 1; NaN stands for 0/0 until a convention or the report decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closeread.errors import RequestError

UNITS = "units"
"""The column that counts units, where scores are averaged over them."""

FloatArray = NDArray[np.float64]
Columns = Mapping[str, FloatArray]


@dataclass(frozen=True)
class CountTable:
    """Counts of every unit.

    Attributes:
        units: (n,) the ids of the finest units that are reported.
        blocks: (n,) int64, which units are resampled together; numbered from 0 without gaps.
        names: (k,) what each column counts.
        values: (n, k) float64.
        fields: properties of the units to slice by, each (n,).
        parts: of what is counted inside units, such as prepositions, what gives its values, each with the counts of
            that part of every unit, (n, k); made only when they are asked for.
    """

    units: Sequence[str]
    blocks: NDArray[np.int64]
    names: tuple[str, ...]
    values: FloatArray
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parts: Mapping[str, Callable[[], Mapping[str, FloatArray]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the shapes.

        Raises:
            ValueError: they do not fit together.
        """
        n = len(self.units)
        if self.values.shape != (n, len(self.names)) or self.blocks.shape != (n,):
            raise ValueError(f"{n} units, blocks {self.blocks.shape}, counts {self.values.shape} do not fit")
        if any(len(column) != n for column in self.fields.values()):
            raise ValueError(f"a field has another length than the {n} units")

    @classmethod
    def of_columns(cls, units: Sequence[str], columns: Columns) -> CountTable:
        """The table of named columns, (n,) each, every unit a block of its own."""
        return cls(units, np.arange(len(units)), tuple(columns), np.column_stack(list(columns.values())))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return int(self.blocks.max(initial=-1)) + 1

    def block_totals(self) -> FloatArray:
        """The sums of the counts of every block, (n_blocks, k)."""
        totals = [np.bincount(self.blocks, column, minlength=self.n_blocks) for column in self.values.T]
        return np.column_stack(totals) if totals else np.zeros((self.n_blocks, 0))

    def select(self, rows: NDArray[np.bool_]) -> CountTable:
        """The table of the rows where the mask is true, its blocks numbered anew; where it is everywhere, itself."""
        if rows.all():
            return self
        kept = np.flatnonzero(rows).tolist()
        _, blocks = np.unique(self.blocks[kept], return_inverse=True)
        return CountTable(
            [self.units[i] for i in kept],
            blocks.astype(np.int64),
            self.names,
            self.values[kept],
            {name: [column[i] for i in kept] for name, column in self.fields.items()},
            {name: partial(_rows_of_parts, parts, kept) for name, parts in self.parts.items()},
        )

    def with_counts(self, names: Sequence[str]) -> CountTable:
        """The table with these columns only."""
        places = [self.names.index(name) for name in names]
        return CountTable(self.units, self.blocks, tuple(names), self.values[:, places], self.fields)

    def slices(self, name: str) -> dict[str, CountTable]:
        """A table for every value of a field, in order of first appearance; or for every part that counts anything.

        Raises:
            RequestError: the units have no such field, and nothing inside them.
        """
        if name in self.parts:
            tables = {value: replace(self, values=values, parts={}) for value, values in self.parts[name]().items()}
            counted = {value: table.values.sum(axis=1) > 0 for value, table in tables.items()}
            return {value: tables[value].select(rows) for value, rows in counted.items() if rows.any()}
        if name not in self.fields:
            known = ", ".join([*self.fields, *self.parts]) or "none"
            raise RequestError(f"no field '{name}' to slice by (there are: {known})")
        column = np.asarray(self.fields[name], dtype=object)
        return {value: self.select(column == value) for value in dict.fromkeys(self.fields[name])}


def _rows_of_parts(parts: Callable[[], Mapping[str, FloatArray]], rows: Sequence[int]) -> Mapping[str, FloatArray]:
    return {value: values[rows] for value, values in parts().items()}


def factorize(names: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers for names, from 0 in order of first appearance, and the distinct names in that order.

    >>> numbers, distinct = factorize(["b", "a", "b"])
    >>> numbers.tolist(), distinct
    ([0, 1, 0], ['b', 'a'])
    """
    distinct = list(dict.fromkeys(names))
    number = {name: i for i, name in enumerate(distinct)}
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names)), distinct


def merge(tables: Sequence[CountTable]) -> CountTable:
    """The tables of several shards as one; no block may reach over two shards.

    Raises:
        ValueError: there is none, their columns differ, or a unit occurs twice.
    """
    if not tables:
        raise ValueError("nothing to merge")
    if len({(table.names, tuple(table.fields)) for table in tables}) > 1:
        raise ValueError("the tables count different things")
    units = [unit for table in tables for unit in table.units]
    if len(set(units)) < len(units):
        raise ValueError("a unit occurs in two tables")
    starts = np.cumsum([0] + [table.n_blocks for table in tables[:-1]])
    return CountTable(
        units,
        np.concatenate([table.blocks + start for table, start in zip(tables, starts, strict=True)]),
        tables[0].names,
        np.concatenate([table.values for table in tables]),
        {name: [v for table in tables for v in table.fields[name]] for name in tables[0].fields},
    )


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """Numerator / denominator, NaN where both are 0: the one division of scoring code."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    with np.errstate(invalid="ignore"):
        quotient: FloatArray = np.divide(top, bottom)
    return quotient


def harmonic_mean(precision: FloatArray, recall: FloatArray) -> FloatArray:
    """F1; NaN where precision and recall both are 0/0, and 0 where they are 0.

    >>> harmonic_mean(np.array([0.5, 0.0, np.nan]), np.array([1.0, 0.0, np.nan])).round(3).tolist()
    [0.667, 0.0, nan]
    """
    p, r = np.nan_to_num(precision), np.nan_to_num(recall)
    f1 = ratio(2 * p * r, np.where(p + r == 0, 1, p + r))
    return np.where(np.isnan(precision) & np.isnan(recall), np.nan, f1)


@dataclass(frozen=True)
class Metric:
    """A score, as a function of summed counts.

    Attributes:
        name: its name in reports, such as `f1` or `muc/recall`.
        title: its name in tables.
        description: what it says, in a sentence.
        formula: from summed counts, each of any one shape, to scores of that shape; NaN where undefined.
        empty: what 0/0 is by the procedure's convention; None where there is none.
    """

    name: str
    title: str
    description: str
    formula: Callable[[Columns], FloatArray]
    empty: float | None = None

    def score(self, totals: FloatArray, names: Sequence[str]) -> FloatArray:
        """Scores of sums of counts.

        Args:
            totals: (..., k) sums of the counts.
            names: (k,) what each counts.

        Returns:
            (...) scores between 0 and 1, the convention put in where it is needed, NaN where there is none.
        """
        values = self.formula({name: totals[..., i] for i, name in enumerate(names)})
        return values if self.empty is None else np.where(np.isnan(values), self.empty, values)

    def decided(self, totals: FloatArray, names: Sequence[str]) -> bool:
        """Whether the score of these sums, (k,), is 0/0 and what the convention makes of it."""
        return self.empty is not None and bool(
            np.isnan(self.formula({name: totals[..., i] for i, name in enumerate(names)}))
        )


class Ratio(NamedTuple):
    """A part of a whole, both counted.

    Attributes:
        part, whole: the names of the counts.
        description: what the ratio says, in a sentence.
    """

    part: str
    whole: str
    description: str

    def formula(self, counts: Columns) -> FloatArray:
        """The ratio of the two."""
        return ratio(counts[self.part], counts[self.whole])


def precision_recall_f1(name: str, title: str, precision: Ratio, recall: Ratio) -> tuple[Metric, Metric, Metric]:
    """Three metrics, `NAME/precision`, `NAME/recall` and `NAME/f1`, of summed counts; 0/0 is 0."""

    def f1(counts: Columns) -> FloatArray:
        return harmonic_mean(precision.formula(counts), recall.formula(counts))

    return (
        Metric(f"{name}/precision", f"{title} precision", precision.description, precision.formula, empty=0.0),
        Metric(f"{name}/recall", f"{title} recall", recall.description, recall.formula, empty=0.0),
        Metric(f"{name}/f1", f"{title} F1", "Harmonic mean of precision and recall.", f1, empty=0.0),
    )


def unit_scores(columns: Columns, metrics: Iterable[Metric]) -> dict[str, FloatArray]:
    """Counts whose sums give means over units: of every unit 1, its scores, and which of them are 0/0.

    Args:
        columns: what is counted of every unit, (n,) each.
        metrics: the metrics of the summed counts.
    """
    means = {UNITS: np.ones(len(next(iter(columns.values()))))}
    for metric in metrics:
        scores = metric.formula(columns)
        means[f"{metric.name}:sum"] = np.nan_to_num(scores)
        means[f"{metric.name}:undefined"] = np.isnan(scores).astype(np.float64)
    return means


def average(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """The metrics, which are means over units where `unit_scores` was summed."""
    return tuple(replace(metric, formula=partial(_mean_or, metric.name, metric.formula)) for metric in metrics)


def average_option(unit: str) -> Option:
    """The option of procedures whose metrics are made by `average`."""
    return Option(
        "average",
        ("micro", "macro"),
        "micro",
        f"Whether counts are summed over {unit}s and then divided, or scores are averaged over {unit}s.",
    )


def _mean_or(name: str, formula: Callable[[Columns], FloatArray], counts: Columns) -> FloatArray:
    """The mean of a score over units where `unit_scores` was summed, else the score of the summed counts.

    A unit whose score is 0/0 counts as 0; where all are, so is the mean.
    """
    if f"{name}:sum" not in counts:
        return formula(counts)
    defined = counts[UNITS] > counts[f"{name}:undefined"]
    return np.where(defined, ratio(counts[f"{name}:sum"], counts[UNITS]), np.nan)


@dataclass(frozen=True)
class Option:
    """A named choice that changes what is computed.

    Attributes:
        name: as a keyword, with underscores; the command line writes it with hyphens.
        choices: what it can be; none where it is any text of a form.
        default: what it is when nothing is said.
        help: one sentence.
        pattern: the form of a free text, as a regular expression; None where there are choices.
        needed: that form in words.
        plain: brings values that mean the same into one form, so that equal computations have equal signatures.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    help: str
    pattern: str | None = None
    needed: str = ""
    plain: Callable[[str], str] = str

    @property
    def allowed(self) -> str:
        """What it can be, in words.

        >>> Option("tolerance", (), "0", "", pattern="[0-9]+", needed="a whole number").allowed
        'a whole number'
        """
        return self.needed if self.pattern is not None else f"one of {', '.join(self.choices)}"

    def allows(self, value: object) -> bool:
        """Whether it can be this."""
        if self.pattern is None:
            return value in self.choices
        return re.fullmatch(self.pattern, str(value)) is not None


MISSING_HELP = "What a unit without a prediction is: an error, an empty prediction, or left out."


def check_present(present: NDArray[np.bool_], units: str, missing: str, what: str = "prediction") -> None:
    """Refuse units without a prediction where they are an error.

    Args:
        present: (n_units,) which units have one.
        units: what the units are, in the plural.
        missing: the option of that name.
        what: what a unit should have.

    Raises:
        ValueError: `missing` is "error" and a unit has none.
    """
    if missing == "error" and not present.all():
        absent = len(present) - int(present.sum())
        raise ValueError(f"{absent:,} of {len(present):,} {units} have no {what}")


@dataclass(frozen=True)
class Procedure:
    """A published way to score.

    Attributes:
        name: its name in commands.
        version: an integer, raised only when a number can change.
        title: its name in prose.
        unit: what a row of counts is, in the singular.
        resampling_unit: what is resampled together, in the singular.
        options: the choices it offers.
        metrics: the scores, in order.
        modules: the evaluate modules that compute its scores, or some of them.
        count: keyword arguments `gold` (records), `system` (a row for every record, None where the system sent
            none) and one for each option, to a table of counts.
        citation: BibTeX of where it was published; None where that is the corpus's own paper.
        problems: what no schema can say of the inputs of `count`: with the same keyword arguments, every problem as the
            side ("gold" or "system"), the row from 0, and what is wrong; None where a schema says all.
        rows: makes what a system sent ready for `problems` and `count`, which both read it; None where it is as it is.
    """

    name: str
    version: int
    title: str
    unit: str
    resampling_unit: str
    options: tuple[Option, ...]
    metrics: tuple[Metric, ...]
    modules: tuple[str, ...]
    count: Callable[..., CountTable]
    citation: str | None
    problems: Callable[..., Iterable[tuple[str, int, str]]] | None = None
    rows: Callable[[Sequence[Any]], Sequence[Any]] | None = None

    def resolve_options(self, chosen: Mapping[str, object]) -> dict[str, str]:
        """Every option with its value as text, chosen or default, in declared order; True is "true".

        Raises:
            RequestError: an option does not exist or can't have that value.
        """
        known = {option.name: option for option in self.options}
        values = {name: str(value).lower() if isinstance(value, bool) else value for name, value in chosen.items()}
        for name, value in values.items():
            if name not in known:
                raise RequestError(f"{self.name} has no option '{name}' (it has: {', '.join(known)})")
            if not known[name].allows(value):
                raise RequestError(f"option {name} is '{value}'; needed: {known[name].allowed}")
        return {name: option.plain(str(values.get(name, option.default))) for name, option in known.items()}

    def signature(self, options: Mapping[str, str], gold_digest: str) -> str:
        """What makes two numbers comparable: procedure, version, every option, and the gold as scored.

        >>> from closeread.tasks.mctaco.procedure import PROCEDURE
        >>> PROCEDURE.signature({"missing": "error"}, "0123456789abcdef" * 4)
        'mctaco|version:1|missing:error|gold:0123456789ab'
        """
        chosen = [f"{name}:{value}" for name, value in options.items()]
        return "|".join([self.name, f"version:{self.version}", *chosen, f"gold:{gold_digest[:12]}"])
