"""Agreement of annotators, two at a time, in the same form for all tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, TypeVar

from closeread.arrays import ratio
from closeread.counts.results import Result
from closeread.exceptions import Problem, join_names, pluralize
from closeread.tables import Grid, Style, format_percent

Scores = Mapping[str, float | None]
"""Scores by name; None if undefined, or if there is nothing to compare."""

Pair = tuple[int, int]
"""Two annotators, in the order in which they are given."""


T = TypeVar("T")
R = TypeVar("R")


def compare_pairs(annotations: Sequence[T], compare: Callable[[T, T], R]) -> dict[Pair, R]:
    """Compare every annotator with those before, given the scores of two annotations, the second against the first.

    >>> compare_pairs("aab", lambda first, second: {"equal": float(first == second)})
    {(0, 1): {'equal': 1.0}, (0, 2): {'equal': 0.0}, (1, 2): {'equal': 0.0}}
    """
    return {
        (first, second): compare(annotations[first], annotations[second])
        for first, second in combinations(range(len(annotations)), 2)
    }


def find_lacking(
    units: Sequence[Collection[str]], names: Sequence[str], noun: str
) -> Iterator[Problem]:
    """Find the units that the first annotator has and others lack, and those that only others have."""
    first, *others = units
    for annotated, name in zip(others, names[1:], strict=True):
        sides = ((first, names[0], annotated, name), (annotated, name, first, names[0]))
        for present, owner, compared, lacking_name in sides:
            lacking = [unit for unit in present if unit not in compared]
            if lacking:
                share = f"{len(lacking):,} of the {pluralize(len(present), noun)} of {owner}"
                expected = f"expected the same {noun}s"
                yield Problem(f"{lacking_name} lacks {share}: {join_names(lacking)} ({expected})")


@dataclass(frozen=True)
class PairwiseAgreement(Result):
    """The agreement of two annotators or more, two at a time.

    The name of a score is what is compared and a measure of it, such as "links/f1"; without a measure, it is an
    accuracy.  Means are over pairs; they leave out the pairs without a value.

    Attributes:
        names: the names of the annotators.
        pairs: the scores of every two annotators, the second against the first.
        n_units: how many documents, or other units, they annotated.
        unit: the name of a unit.
        titles: what is compared, as tables call it, if not by its name.
        symmetric: the measures whose means are reported: it makes no difference which annotator comes first.
        notes: sentences below the tables.
        notices: what else a user should know about the files, one sentence each.
        slices: the agreement about the units of each value of a field, by field and value.
    """

    names: Sequence[str]
    pairs: Mapping[Pair, Scores]
    n_units: int
    unit: str
    titles: Mapping[str, str]
    symmetric: Collection[str]
    notes: Sequence[str] = ()
    notices: Sequence[str] = ()
    slices: Mapping[str, Mapping[str, PairwiseAgreement]] = field(default_factory=dict)

    @property
    def mean(self) -> dict[str, float | None]:
        """The means over the pairs of the symmetric scores by name; None if no pair has a value."""
        means = {}
        for name, values in self._list_values().items():
            means[name] = float(ratio(sum(values), len(values))) if values else None
        return means

    @property
    def partial(self) -> dict[str, int]:
        """The symmetric scores that some pairs lack, and how many do."""
        lacking = {
            name: len(self.pairs) - len(values) for name, values in self._list_values().items()
        }
        return {name: number for name, number in lacking.items() if 0 < number < len(self.pairs)}

    def _list_values(self) -> dict[str, list[float]]:
        """Return the values of the symmetric scores in all pairs that have one."""
        values_by_name: dict[str, list[float]] = {}
        for scores in self.pairs.values():
            for name, value in scores.items():
                _, measure = split_score(name)
                if measure in self.symmetric:
                    values = values_by_name.setdefault(name, [])
                    if value is not None:
                        values.append(value)
        return values_by_name

    def _name_score(self, name: str) -> str:
        """Return the title of a symmetric score, with its measure only if others are reported, too."""
        subject, measure = split_score(name)
        title = self.titles.get(subject, subject.replace("_", " "))
        has_others = len(set(self.symmetric) - {ACCURACY}) > 1
        return f"{title} {MEASURES.get(measure, measure)}" if has_others else title

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of all units, and one for every field."""
        del style
        grid = self._make_grid_of_two() if len(self.pairs) == 1 else self._make_grid_of_pairs()
        return [grid, *map(self._make_slice_grid, self.slices)]

    def _make_grid_of_two(self) -> Grid:
        """Return the table of two annotators, with all scores: what is compared by row, the measures by column."""
        scores = self.pairs[0, 1]
        subjects = dict.fromkeys(split_score(name)[0] for name in scores)
        measures = dict.fromkeys(split_score(name)[1] for name in scores)
        rows = []
        for subject in subjects:
            row = [self.titles.get(subject, subject.replace("_", " "))]
            for measure in measures:
                name = subject if measure == ACCURACY else f"{subject}/{measure}"
                row.append(format_percent(scores.get(name, "")))
            rows.append(row)
        header = ["", *(MEASURES.get(measure, measure) for measure in measures)]
        size = pluralize(self.n_units, self.unit)
        sides = f"{self.names[1]} against {self.names[0]}, {size}."
        return Grid("", header, rows, [sides, *self.notes])

    def _make_grid_of_pairs(self) -> Grid:
        """Return the table of several annotators, with the symmetric scores of every pair, and the means.

        Annotators are numbered, since the names of files would leave no room for scores.
        """
        mean = self.mean
        rows = []
        for (first, second), scores in self.pairs.items():
            cells = [format_percent(scores.get(name)) for name in mean]
            rows.append([f"{first + 1} and {second + 1}", *cells])
        rows.append(["mean", *map(format_percent, mean.values())])
        numbered = ", ".join(f"{number} is {name}" for number, name in enumerate(self.names, 1))
        notes = [
            f"Annotators: {numbered}.",
            f"The second annotator against the first, {pluralize(self.n_units, self.unit)}.",
            *self.notes,
            *self._describe_partial(),
        ]
        return Grid("", ["annotators", *map(self._name_score, mean)], rows, notes)

    def _describe_partial(self) -> Iterator[str]:
        """Yield a sentence for the means that leave out the same number of pairs."""
        names_by_number: dict[int, list[str]] = {}
        for name, number in self.partial.items():
            names_by_number.setdefault(number, []).append(self._name_score(name))
        for number, names in names_by_number.items():
            means = "the mean leaves" if len(names) == 1 else "the means leave"
            pairs = f"{number:,} of {pluralize(len(self.pairs), 'pair')}"
            yield f"{', '.join(names)}: {means} out {pairs}, without a value."

    def _make_slice_grid(self, field_name: str) -> Grid:
        """Return the table of a field, with the symmetric scores of each of its values, or their means over pairs."""
        agreements = {**self.slices[field_name], "all": self}
        means = {value: agreement.mean for value, agreement in agreements.items()}
        # Scores that no group of units has would only make the table wider.
        defined = set(chain.from_iterable(map(list_defined, means.values())))
        names = [name for name in self.mean if name in defined]
        rows = []
        for value, agreement in agreements.items():
            row = [value, f"{agreement.n_units:,}"]
            for name in names:
                star = "*" if name in agreement.partial else ""
                row.append(format_percent(means[value][name]) + star)
            rows.append(row)
        notes = [f"n is the number of {self.unit}s."]
        if any(agreement.partial for agreement in agreements.values()):
            notes.append("* The mean leaves out pairs without a value.")
        header = [field_name, "n", *map(self._name_score, names)]
        return Grid("", header, rows, notes, texts=frozenset({field_name}))

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all scores of every pair, also by field; of several pairs, then the means."""
        header = ["first annotator", "second annotator", "field", "group", "score", "value"]
        rows: list[list[object]] = []
        groups: list[tuple[str | None, str | None, PairwiseAgreement]] = [(None, None, self)]
        for field_name, agreements in self.slices.items():
            groups += [(field_name, value, agreement) for value, agreement in agreements.items()]
        for group_field, value, agreement in groups:
            group = (group_field, value)
            for (first, second), scores in agreement.pairs.items():
                names = (self.names[first], self.names[second])
                rows += [[*names, *group, *score] for score in scores.items()]
            if len(self.pairs) > 1:
                rows += [["mean", None, *group, *score] for score in agreement.mean.items()]
        return header, rows

    def to_dict(self) -> dict[str, Any]:
        """Return the scores of every pair and their means, also by field."""
        pairs = []
        for (first, second), scores in self.pairs.items():
            names = {"first": self.names[first], "second": self.names[second]}
            pairs.append({**names, "scores": dict(scores)})
        agreement: dict[str, Any] = {
            "annotators": list(self.names),
            "unit": self.unit,
            "n_units": self.n_units,
            "mean": self.mean,
            "pairs": pairs,
        }
        if self.slices:
            slices: dict[str, dict[str, Any]] = {}
            for field_name, agreements in self.slices.items():
                slices[field_name] = {}
                for value, part in agreements.items():
                    slices[field_name][value] = part.to_dict()
            agreement["slices"] = slices
        return agreement


ACCURACY = "accuracy"
"""The measure of scores whose names have none."""

MEASURES = {"f1": "F1", "dice": "Dice"}
"""The names of measures in tables, if they are others."""


def list_defined(scores: Scores) -> list[str]:
    """Return the names of the scores that have a value."""
    return [name for name, value in scores.items() if value is not None]


def split_score(name: str) -> tuple[str, str]:
    """Return what a score compares, and the measure.

    >>> split_score("links/f1"), split_score("iprep")
    (('links', 'f1'), ('iprep', 'accuracy'))
    """
    subject, slash, measure = name.rpartition("/")
    return (subject, measure) if slash else (name, ACCURACY)
