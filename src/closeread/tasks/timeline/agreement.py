"""Agreement of annotators of TimeLine, two at a time, by Dice's coefficient.

Sources: Minard et al. (2015), section 3, for the coefficient and the annotations compared: event mentions and the
entities that mentions refer to; Dice (1945).  The paper has three annotators and one coefficient; that it is the mean
over the three pairs is our reading.

Conventions: two mentions match if they have the same tokens of the same document; in timelines, if their strings are
equal, with copies of a string matched one to one.  Entities match by name.  0/0 is None: if both annotators mark
nothing, agreement is undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from closeread.arrays import ratio
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.counts.annotators import (
    Annotator,
    Pair,
    average_pairs,
    describe_left_out,
    find_repeated_paths,
    list_agreements,
    list_pairs,
    make_pair_grid,
    require_two,
)
from closeread.counts.results import Result
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    join_names,
    pluralize,
    quote,
    read_all,
)
from closeread.records import Record
from closeread.tables import Grid, Style, format_percent
from closeread.tasks.timeline.annotated_cat import read_annotations
from closeread.tasks.timeline.cat_xml import holds_documents

COUNTED = ("first", "second", "both", "Dice")


@dataclass(frozen=True)
class Overlap:
    """The overlap of two annotators."""

    first: int  # the number of items of each
    second: int
    both: int  # the number of shared items
    dice: float | None  # 2 * both / (first + second); None if there are no items


def dice(first: Iterable[Hashable], second: Iterable[Hashable]) -> Overlap:
    """Compute Dice's coefficient of two multisets.

    >>> dice("abb", "bbcd")
    Overlap(first=3, second=4, both=2, dice=0.5714285714285714)
    """
    one, two = Counter(first), Counter(second)
    both, total = (one & two).total(), one.total() + two.total()
    return Overlap(one.total(), two.total(), both, float(ratio(2 * both, total)) if total else None)


@dataclass(frozen=True)
class Agreement(Result):
    """The agreement of two annotators or more.

    Attributes:
        names: the names of the annotators.
        pairs: the agreement of every two of them, by what is compared.
        notices: what else a user should know about their files, one sentence each.
    """

    names: Sequence[str]
    pairs: Mapping[Pair, Mapping[str, Overlap]]
    notices: Sequence[str] = ()

    @property
    def mean(self) -> Mapping[str, float | None]:
        """The mean of Dice's coefficients over the pairs that have one, by the kind of items; None if none has."""
        return average_pairs(self._coefficients)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table: the counts of two annotators; of more, the coefficients of every pair, and their means."""
        del style
        if len(self.pairs) == 1:
            header, rows = self._to_rows()
            return [
                Grid(
                    "",
                    header,
                    [list(map(format_percent, cast("list[float]", row))) for row in rows],
                )
            ]
        coefficients = {
            pair: [one.dice for one in found.values()] for pair, found in self.pairs.items()
        }
        notes = [
            "Dice's coefficient times 100.",
            *describe_left_out(self._coefficients, {what: what for what in self.mean}),
        ]
        return [
            make_pair_grid(
                self.names, list(self.mean), coefficients, list(self.mean.values()), notes
            )
        ]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts; of several pairs, every pair and then the means."""
        rows: list[list[object]] = [
            [self.names[i], self.names[j], what, o.first, o.second, o.both, o.dice]
            for (i, j), overlaps in self.pairs.items()
            for what, o in overlaps.items()
        ]
        if len(self.pairs) == 1:
            return ["", *COUNTED], [row[2:] for row in rows]
        rows += [["mean", None, what, None, None, None, value] for what, value in self.mean.items()]
        return ["first annotator", "second annotator", "compared", *COUNTED], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the overlap of two annotators by the kind of items; of more, the mean and every pair."""
        pairs = {
            pair: {what: asdict(one) for what, one in found.items()}
            for pair, found in self.pairs.items()
        }
        if len(pairs) == 1:
            return pairs[0, 1]
        return {
            "annotators": list(self.names),
            "mean": self.mean,
            "pairs": list_agreements(self.names, pairs),
        }

    @property
    def _coefficients(self) -> list[Mapping[str, float | None]]:
        return [
            {what: overlap.dice for what, overlap in found.items()} for found in self.pairs.values()
        ]


class Kind(NamedTuple):
    """A kind of annotation for which annotators may be compared."""

    read: Callable[[Annotator], Sequence[Record]]
    unit: str  # the name of a record
    has: Callable[[Record], object]  # the part of a record that must be equal for all annotators
    difference: str  # the message if that part differs
    # the marked items by kind
    list_items: Callable[[Sequence[Record]], Mapping[str, Sequence[Hashable]]]


def compare_annotators(annotators: Sequence[Annotator]) -> Agreement:
    """Measure the agreement of annotators: files or folders in CAT, or timelines as files, folders or rows."""
    require_two(annotators)
    documents = [isinstance(one.source, Path) and holds_documents(one.source) for one in annotators]
    if len(set(documents)) > 1:
        kinds = ("documents" if has_documents else "timelines" for has_documents in documents)
        has = [f"{one.name} has {kind}" for one, kind in zip(annotators, kinds, strict=True)]
        raise RequestError(f"{', '.join(has[:-1])} and {has[-1]} (expected the same kind)")
    kind = DOCUMENTS if documents[0] else TIMELINES
    found = measure_agreement(
        read_all(annotators, kind.read), [one.name for one in annotators], kind
    )
    return replace(found, notices=tuple(find_repeated_paths(annotators)))


def measure_agreement(
    annotators: Sequence[Sequence[Record]], names: Sequence[str], kind: Kind
) -> Agreement:
    """Measure the agreement of every pair of annotators."""
    units = [{one["id"]: kind.has(one) for one in records} for records in annotators]
    others = zip(units[1:], names[1:], strict=True)
    problems = [
        one
        for other, name in others
        for one in _compare_units(kind, units[0], other, names[0], name)
    ]
    if problems:
        raise FormatError("annotations", problems)
    marked = [kind.list_items(records) for records in annotators]
    pairs = list_pairs(len(annotators))
    found = {
        (i, j): {what: dice(items, marked[j][what]) for what, items in marked[i].items()}
        for i, j in pairs
    }
    return Agreement(names, found)


def _compare_units(
    kind: Kind, first: Mapping[str, object], second: Mapping[str, object], name: str, other: str
) -> Iterator[Problem]:
    """Find the units that only one of two annotators has, and those that differ."""
    for own, others, own_name, other_name in (
        (first, second, name, other),
        (second, first, other, name),
    ):
        if lacking := [unit for unit in own if unit not in others]:
            size = pluralize(len(own), kind.unit)
            yield Problem(
                f"{other_name} lacks {len(lacking):,} of {size} of {own_name}: {join_names(lacking)}"
            )
    for unit, value in first.items():
        if unit in second and second[unit] != value:
            yield Problem(f"{kind.unit} {quote(unit)}: {name} and {other} {kind.difference}")


def _read_documents(annotator: Annotator) -> Sequence[Record]:
    documents, problems = read_annotations(cast("Path", annotator.source))
    if problems:
        raise FormatError(annotator.name, sorted(problems, key=lambda problem: problem.order))
    return documents


def _read_timelines(annotator: Annotator) -> Sequence[Record]:
    return read_own_gold(
        load_corpus("semeval2015_timeline"), annotator.source, name=annotator.name
    ).records


def _list_in_documents(documents: Sequence[Record]) -> Mapping[str, Sequence[Hashable]]:
    every = [(one["id"], mention) for one in documents for mention in one["entity_mentions"]]
    mentions = [
        ((name, *sorted(mention["tokens"])), mention["entities"]) for name, mention in every
    ]
    return {
        "event mentions": [
            (one["id"], *sorted(event["tokens"])) for one in documents for event in one["events"]
        ],
        "entity mentions": [place for place, _ in mentions],
        "entity coreference": [
            (entity, *place) for place, entities in mentions for entity in entities
        ],
    }


def _list_in_timelines(timelines: Sequence[Record]) -> Mapping[str, Sequence[Hashable]]:
    entries = [(one["id"], entry) for one in timelines for entry in one["entries"]]
    mentions = [
        (name, entry["anchor"], mention) for name, entry in entries for mention in entry["mentions"]
    ]
    return {
        "event mentions": [(name, mention) for name, _, mention in mentions],
        "event mentions with their anchors": mentions,
    }


DOCUMENTS = Kind(
    _read_documents,
    "document",
    lambda document: (document["tokens"], document["sentences"]),
    "have different tokens or sentences",
    _list_in_documents,
)
TIMELINES = Kind(
    _read_timelines,
    "timeline",
    lambda timeline: timeline["entity"],
    "are about different entities",
    _list_in_timelines,
)
