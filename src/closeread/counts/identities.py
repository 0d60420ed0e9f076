"""What is true of the counts of any system: the identities by which stored counts are checked.

Conventions: a *sum* is written as terms joined by " + ".  A term is the name of a count, a whole number and the name of
a count ("2 both_yes"), or a whole number.  An identity is about the rows of a table, each a unit or a part of one, and
applies to tables that have all of its counts.  Fractional counts may be off by rounding (`TOLERANCE`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from closeread.arrays import Floats, Mask
from closeread.counts.metrics import F1, UNITS, Columns, Formula, Mean, MeanOf, Metric, Ratio

TOLERANCE = 1e-9
"""The largest error of rounding in a sum of fractional counts, relative to the sum; absolute below 1."""


class Identity(Protocol):
    """Something that is true of every row of counts."""

    @property
    def names(self) -> Sequence[str]:
        """The counts that it is about."""
        ...

    @property
    def of_parts(self) -> bool:
        """Whether it is true of parts of units, too."""
        ...

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows of which it is not true, (n,)."""
        ...

    def describe(self, counts: Columns, row: int) -> str:
        """Say what is found in a row, and what is expected."""
        ...


@dataclass(frozen=True)
class PartsOf:
    """A count of the parts of units sums to at most the units' count of another name.

    Counts of the same name always do.

    Attributes:
        name: the count of parts.
        whole: the count of units.
    """

    name: str
    whole: str

    @property
    def names(self) -> Sequence[str]:
        """The count of parts, and that of units."""
        return self.name, self.whole


@dataclass(frozen=True)
class When:
    """Identities that are true only with some values of an option.

    Attributes:
        option: the name of the option.
        values: these values.
        identities: what is true then.
    """

    option: str
    values: tuple[str, ...]
    identities: tuple[Identity | PartsOf | When, ...]


Identities = tuple[Identity | PartsOf | When, ...]


def select_identities(identities: Identities, options: Mapping[str, str]) -> Iterator[Identity | PartsOf]:
    """Yield the identities that are true with these values of all options."""
    for one in identities:
        if not isinstance(one, When):
            yield one
        elif options[one.option] in one.values:
            yield from select_identities(one.identities, options)


@dataclass(frozen=True)
class Whole:
    """Counts of things: whole numbers."""

    names: tuple[str, ...]
    of_parts: bool = True

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows with a fraction."""
        return np.asarray(np.any([counts[name] % 1 != 0 for name in self.names], axis=0))

    def describe(self, counts: Columns, row: int) -> str:
        """Name the count that is a fraction."""
        name = next(name for name in self.names if counts[name][row] % 1 != 0)
        return f"{name} is {_format(counts[name][row])} (expected a whole number)"


@dataclass(frozen=True)
class AtMost:
    """A sum is at most as large as another."""

    part: str
    whole: str
    of_parts: bool = True

    @property
    def names(self) -> Sequence[str]:
        """The counts of both sums."""
        return _list_names(self.part, self.whole)

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where the first sum is larger."""
        part, whole = _add(self.part, counts), _add(self.whole, counts)
        return np.asarray(part - whole > TOLERANCE * np.maximum(whole, 1))

    def describe(self, counts: Columns, row: int) -> str:
        """Show both sums."""
        part, whole = (_format(_add(one, counts)[row]) for one in (self.part, self.whole))
        return f"{self.part} is {part} (expected at most {_name_value(self.whole, whole)})"


@dataclass(frozen=True)
class Equal:
    """Two sums agree."""

    one: str
    other: str
    of_parts: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The counts of both sums."""
        return _list_names(self.one, self.other)

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where they differ."""
        one, other = _add(self.one, counts), _add(self.other, counts)
        return np.asarray(np.abs(one - other) > TOLERANCE * np.maximum(other, 1))

    def describe(self, counts: Columns, row: int) -> str:
        """Show both sums."""
        one, other = (_format(_add(of, counts)[row]) for of in (self.one, self.other))
        return f"{self.one} is {one} (expected {_name_value(self.other, other)})"


@dataclass(frozen=True)
class Pairs:
    """A sum counts pairs of different things, of which a count gives the number: n (n - 1) / 2.

    Attributes:
        sum: the sum.
        of: the number of things.
        ordered: whether both orders of a pair count.
        every: whether all pairs are counted.
    """

    sum: str
    of: str
    ordered: bool = False
    every: bool = True
    of_parts: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The counts of the sum, and of the things."""
        return _list_names(self.sum, self.of)

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where there are other numbers of pairs."""
        found, expected = _add(self.sum, counts), self._count(counts)
        return np.asarray(found != expected if self.every else found > expected)

    def describe(self, counts: Columns, row: int) -> str:
        """Show the sum and the number of pairs."""
        found, expected = _format(_add(self.sum, counts)[row]), _format(self._count(counts)[row])
        limit = "" if self.every else "at most "
        pairs = f"the {expected} pairs of {self.of}, {_format(counts[self.of][row])}"
        return f"{self.sum} is {found} (expected {limit}{pairs})"

    def _count(self, counts: Columns) -> Floats:
        n = counts[self.of]
        return n * np.maximum(n - 1, 0) / (1 if self.ordered else 2)


@dataclass(frozen=True)
class Flag:
    """A count is 1 where two sums agree, otherwise 0."""

    name: str
    one: str
    other: str
    of_parts: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The flag, and the counts of both sums."""
        return _list_names(self.name, self.one, self.other)

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where the flag is neither."""
        return np.asarray(counts[self.name] != (_add(self.one, counts) == _add(self.other, counts)))

    def describe(self, counts: Columns, row: int) -> str:
        """Show the flag and both sums."""
        one, other = (_format(_add(of, counts)[row]) for of in (self.one, self.other))
        because = f"since {self.one} is {one} of {_name_value(self.other, other)}"
        return f"{self.name} is {_format(counts[self.name][row])} (expected {int(one == other)}, {because})"


@dataclass(frozen=True)
class Computed:
    """A count is a score of the row's other counts, times the row's weight.

    Attributes:
        name: the count.
        formula: computes the score.
        others: the counts that the formula needs.
        zero_division: the value of 0/0.
        weight: the count with the weight; empty for 1.
    """

    name: str
    formula: Formula
    others: tuple[str, ...]
    zero_division: float = 0.0
    weight: str = ""
    of_parts: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The count, and those that it is computed from."""
        return _list_names(self.name, *self.others, *filter(None, [self.weight]))

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where the count is another number."""
        found = counts[self.name]
        return ~(np.abs(found - self._compute(counts)) <= TOLERANCE * np.maximum(found, 1))

    def describe(self, counts: Columns, row: int) -> str:
        """Show the count, and what follows from the others."""
        expected = _format(self._compute(counts)[row])
        from_others = " and ".join(self.others)
        return f"{self.name} is {_format(counts[self.name][row])} (expected {expected}, from {from_others})"

    def _compute(self, counts: Columns) -> Floats:
        with np.errstate(all="ignore"):  # counts that no system has may give any number
            scores = self.formula(counts)
        scores = np.where(np.isnan(scores), self.zero_division, scores)
        return scores * counts[self.weight] if self.weight else scores


@dataclass(frozen=True)
class AllOrNone:
    """A count is 0, or as large as another."""

    name: str
    whole: str
    of_parts: bool = False

    @property
    def names(self) -> Sequence[str]:
        """Both counts."""
        return self.name, self.whole

    def find_broken(self, counts: Columns) -> Mask:
        """Return the rows where it is something else."""
        return np.asarray((counts[self.name] != 0) & (counts[self.name] != counts[self.whole]))

    def describe(self, counts: Columns, row: int) -> str:
        """Show both counts."""
        found, whole = _format(counts[self.name][row]), _format(counts[self.whole][row])
        return f"{self.name} is {found} (expected 0 or {_name_value(self.whole, whole)})"


def find_broken_sums(identities: Identities, options: Mapping[str, str], sums: Columns) -> Iterator[str]:
    """Say which identities the sums of all units break: those that are as true of sums as of each row.

    Args:
        identities: what is true of the counts of a procedure.
        options: the values of all of its options.
        sums: the sums by name, (1,) each.
    """
    for one in select_identities(identities, options):
        if isinstance(one, Whole):
            terms: Sequence[str] = one.names
        elif isinstance(one, AtMost | Equal):
            terms = " + ".join((one.part, one.whole) if isinstance(one, AtMost) else (one.one, one.other)).split(" + ")
        else:
            continue
        has_number = any(term.isdigit() for term in terms)  # "at most 1" is true of a row
        if not has_number and sums.keys() >= set(one.names) and one.find_broken(sums)[0]:
            yield one.describe(sums, 0)


def mean_identities(metrics: Sequence[Metric]) -> Identities:
    """Return what is true of the counts of `closeread.counts.metrics.unit_scores`, but for the limits of scores.

    Args:
        metrics: all metrics that are averaged, made by `closeread.counts.metrics.average`.
    """
    formulas = {m.name: m.formula.formula if isinstance(m.formula, Mean) else m.formula for m in metrics}
    found: list[Identity] = [Whole((UNITS,)), AtMost("1", UNITS)]
    for name, formula in formulas.items():
        found.append(AllOrNone(f"{name}:undefined", UNITS))
        found += _relate_means(name, formula, formulas)
    return tuple(found)


def mean_limits(metrics: Iterable[Metric]) -> Identities:
    """Return that the scores whose means these metrics are lie between 0 and 1, and are 0 where they are undefined."""
    return tuple(AtMost(f"{metric.name}:sum + {metric.name}:undefined", UNITS) for metric in metrics)


def _relate_means(name: str, formula: Formula, formulas: Mapping[str, Formula]) -> Iterator[Identity]:
    """Yield how an F1 follows from precision and recall, and a mean from its scores."""
    inputs: tuple[Formula, ...] = ()
    if isinstance(formula, F1):
        inputs = (formula.precision, formula.recall)
    elif isinstance(formula, MeanOf):
        inputs = formula.formulas
    others = [next((other for other, its in formulas.items() if its == one), None) for one in inputs]
    known = [other for other in others if other is not None]
    if not known or len(known) < len(inputs):
        return
    shares = tuple(Ratio(f"{other}:sum", UNITS) for other in known)
    again = F1(shares[0], shares[1]) if isinstance(formula, F1) else MeanOf(shares)
    yield Computed(f"{name}:sum", again, tuple(f"{other}:sum" for other in known), weight=UNITS)
    undefined = [f"{other}:undefined" for other in known]
    yield from (AtMost(f"{name}:undefined", other) for other in undefined)
    yield AtMost(" + ".join(undefined), " + ".join([f"{name}:undefined", *[UNITS] * (len(known) - 1)]))


@cache
def _list_names(*sums: str) -> tuple[str, ...]:
    """List the counts in sums."""
    names = (name for one in sums for _, name in _split_sum(one))
    return tuple(dict.fromkeys(name for name in names if not name.isdigit()))


@cache
def _split_sum(terms: str) -> tuple[tuple[float, str], ...]:
    """Return the factor and the count of each term of a sum; for a number, 1 and its digits."""
    split = (term.rpartition(" ") for term in terms.split(" + "))
    return tuple((1.0 if name.isdigit() else float(factor or 1), name) for factor, _, name in split)


def _add(terms: str, counts: Columns) -> Floats:
    """Compute a sum, (n,)."""
    total = np.zeros(len(next(iter(counts.values()))))
    for factor, name in _split_sum(terms):
        total = total + (float(name) if name.isdigit() else factor * counts[name])
    return total


def _name_value(terms: str, value: str) -> str:
    """Name a sum with its value, or only the value if the sum is a number."""
    return terms if terms.isdigit() else f"{terms}, {value}"


def _format(value: float) -> str:
    return f"{value:.15g}"
