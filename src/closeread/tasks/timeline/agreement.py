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
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

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
    """The overlap of two annotators.

    Attributes:
        first, second: how many annotations each has.
        both: how many they share.
        dice: 2 * both / (first + second); None if there are none.
    """

    first: int
    second: int
    both: int
    dice: float | None


def dice(first: Iterable[Hashable], second: Iterable[Hashable]) -> Overlap:
    """Compute Dice's coefficient of two multisets.

    >>> dice("abb", "bbcd")
    Overlap(first=3, second=4, both=2, dice=0.5714285714285714)
    """
    counts = Counter(first)
    second_counts = Counter(second)
    both = (counts & second_counts).total()
    total = counts.total() + second_counts.total()
    coefficient = 2 * both / total if total else None
    return Overlap(counts.total(), second_counts.total(), both, coefficient)


Overlaps = Mapping[str, Overlap]
"""The overlap of two annotators, by the kind of annotations."""


@dataclass(frozen=True)
class Agreement(Result):
    """The agreement of two annotators or more.

    Attributes:
        names: the names of the annotators.
        pairs: the agreement of every two of them, by what is compared.
        notices: what else a user should know about their files, one sentence each.
    """

    names: Sequence[str]
    pairs: Mapping[Pair, Overlaps]
    notices: Sequence[str] = ()

    @property
    def mean(self) -> Mapping[str, float | None]:
        """The mean of Dice's coefficients over the pairs that have one, by the kind of items; None if none has."""
        return average_pairs(list(self._coefficients.values()))

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table: the counts of two annotators; of more, the coefficients of every pair, and their means."""
        del style
        if len(self.pairs) == 1:
            header, counts = self._to_rows()
            rows = [list(map(format_percent, cast("list[float]", row))) for row in counts]
            return [Grid("", header, rows)]
        mean = self.mean
        coefficients = self._coefficients
        left_out = describe_left_out(list(coefficients.values()), {kind: kind for kind in mean})
        notes = ["Dice's coefficient times 100.", *left_out]
        scores = {pair: list(by_kind.values()) for pair, by_kind in coefficients.items()}
        return [make_pair_grid(self.names, list(mean), scores, list(mean.values()), notes)]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts; of several pairs, every pair and then the means."""
        if len(self.pairs) == 1:
            return ["", *COUNTED], _list_counts(self.pairs[0, 1])
        rows: list[list[object]] = []
        for (first, second), overlaps in self.pairs.items():
            names = [self.names[first], self.names[second]]
            rows += [[*names, *counts] for counts in _list_counts(overlaps)]
        for kind, coefficient in self.mean.items():
            rows.append(["mean", None, kind, None, None, None, coefficient])
        return ["first annotator", "second annotator", "compared", *COUNTED], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the overlap of two annotators by the kind of items; of more, the mean and every pair."""
        pairs = {pair: _to_dicts(overlaps) for pair, overlaps in self.pairs.items()}
        if len(pairs) == 1:
            return pairs[0, 1]
        return {
            "annotators": list(self.names),
            "mean": self.mean,
            "pairs": list_agreements(self.names, pairs),
        }

    @property
    def _coefficients(self) -> dict[Pair, dict[str, float | None]]:
        """Dice's coefficients of every pair, by the kind of annotations."""
        return {pair: _list_coefficients(overlaps) for pair, overlaps in self.pairs.items()}


def _list_coefficients(overlaps: Overlaps) -> dict[str, float | None]:
    return {kind: overlap.dice for kind, overlap in overlaps.items()}


def _list_counts(overlaps: Overlaps) -> list[list[object]]:
    return [[kind, *astuple(overlap)] for kind, overlap in overlaps.items()]


def _to_dicts(overlaps: Overlaps) -> dict[str, dict[str, Any]]:
    return {kind: asdict(overlap) for kind, overlap in overlaps.items()}


class Comparable(NamedTuple):
    """Records for which annotators may be compared.

    Attributes:
        read: reads the records of an annotator.
        unit: the name of a record.
        content: returns the part of a record that must be equal for all annotators.
        difference: the message if that part differs.
        list_annotations: lists what is annotated, by kind.
    """

    read: Callable[[Annotator], Sequence[Record]]
    unit: str
    content: Callable[[Record], object]
    difference: str
    list_annotations: Callable[[Sequence[Record]], Mapping[str, Sequence[Hashable]]]


def compare_annotators(annotators: Sequence[Annotator]) -> Agreement:
    """Measure the agreement of annotators: files or folders in CAT, or timelines as files, folders or rows."""
    require_two(annotators)
    kinds = []
    for annotator in annotators:
        source = annotator.source
        has_documents = isinstance(source, Path) and holds_documents(source)
        kinds.append("documents" if has_documents else "timelines")
    if len(set(kinds)) > 1:
        *contents, last = [
            f"{annotator.name} has {kind}"
            for annotator, kind in zip(annotators, kinds, strict=True)
        ]
        raise RequestError(f"{', '.join(contents)} and {last} (expected the same kind)")
    comparable = COMPARABLE[kinds[0]]
    records = read_all(annotators, comparable.read)
    names = [annotator.name for annotator in annotators]
    agreement = measure_agreement(records, names, comparable)
    return replace(agreement, notices=tuple(find_repeated_paths(annotators)))


def measure_agreement(
    annotators: Sequence[Sequence[Record]], names: Sequence[str], comparable: Comparable
) -> Agreement:
    """Measure the agreement of every pair of annotators."""
    problems: list[Problem] = []
    for records, name in zip(annotators[1:], names[1:], strict=True):
        problems += _compare_units(comparable, annotators[0], records, names[0], name)
    if problems:
        raise FormatError("annotations", problems)
    annotations = [comparable.list_annotations(records) for records in annotators]
    pairs = {}
    for first, second in list_pairs(len(annotators)):
        pairs[first, second] = {
            kind: dice(marked, annotations[second][kind])
            for kind, marked in annotations[first].items()
        }
    return Agreement(names, pairs)


def _compare_units(
    comparable: Comparable,
    first: Sequence[Record],
    second: Sequence[Record],
    name: str,
    second_name: str,
) -> Iterator[Problem]:
    """Find the units that only one of two annotators has, and those that differ."""
    contents = {record["id"]: comparable.content(record) for record in first}
    second_contents = {record["id"]: comparable.content(record) for record in second}
    yield from _find_lacking(comparable.unit, contents, second_contents, name, second_name)
    yield from _find_lacking(comparable.unit, second_contents, contents, second_name, name)
    for unit, content in contents.items():
        if unit in second_contents and second_contents[unit] != content:
            names = f"{name} and {second_name}"
            yield Problem(f"{comparable.unit} {quote(unit)}: {names} {comparable.difference}")


def _find_lacking(
    noun: str, units: Collection[str], other_units: Collection[str], name: str, other_name: str
) -> Iterator[Problem]:
    """Find the units of an annotator that another lacks."""
    lacking = [unit for unit in units if unit not in other_units]
    if lacking:
        share = f"{len(lacking):,} of {pluralize(len(units), noun)}"
        yield Problem(f"{other_name} lacks {share} of {name}: {join_names(lacking)}")


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
    events: list[Hashable] = []
    mentions: list[Hashable] = []
    entities: list[Hashable] = []
    for document in documents:
        name = document["id"]
        events += [(name, *sorted(event["tokens"])) for event in document["events"]]
        for mention in document["entity_mentions"]:
            place = (name, *sorted(mention["tokens"]))
            mentions.append(place)
            entities += [(entity, *place) for entity in mention["entities"]]
    return {"event mentions": events, "entity mentions": mentions, "entity coreference": entities}


def _list_in_timelines(timelines: Sequence[Record]) -> Mapping[str, Sequence[Hashable]]:
    mentions: list[Hashable] = []
    anchored_mentions: list[Hashable] = []
    for timeline in timelines:
        name = timeline["id"]
        for entry in timeline["entries"]:
            mentions += [(name, mention) for mention in entry["mentions"]]
            anchor = entry["anchor"]
            anchored_mentions += [(name, anchor, mention) for mention in entry["mentions"]]
    return {"event mentions": mentions, "event mentions with their anchors": anchored_mentions}


DOCUMENTS = Comparable(
    _read_documents,
    "document",
    lambda document: (document["tokens"], document["sentences"]),
    "have different tokens or sentences",
    _list_in_documents,
)
TIMELINES = Comparable(
    _read_timelines,
    "timeline",
    lambda timeline: timeline["entity"],
    "are about different entities",
    _list_in_timelines,
)

COMPARABLE = {"documents": DOCUMENTS, "timelines": TIMELINES}
"""What annotators may be compared for."""
