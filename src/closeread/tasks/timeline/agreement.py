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
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.counts.agreement import PairwiseAgreement, Scores, compare_pairs, find_lacking
from closeread.counts.annotators import Annotator, find_repeated_paths, require_two
from closeread.exceptions import FormatError, Problem, RequestError, quote, read_all
from closeread.records import Record
from closeread.tasks.timeline.annotated_cat import read_annotations
from closeread.tasks.timeline.cat_xml import holds_documents

Annotations = Mapping[str, Sequence[Hashable]]
"""What an annotator marked, by kind."""


def dice(first: Iterable[Hashable], second: Iterable[Hashable]) -> dict[str, float | None]:
    """Compute Dice's coefficient of two multisets, 2 * both / (first + second).

    >>> dice("abb", "bbcd")
    {'first': 3, 'second': 4, 'both': 2, 'dice': 0.5714285714285714}
    """
    counts = Counter(first)
    second_counts = Counter(second)
    both = (counts & second_counts).total()
    total = counts.total() + second_counts.total()
    coefficient = 2 * both / total if total else None
    sizes = {"first": counts.total(), "second": second_counts.total(), "both": both}
    return {**sizes, "dice": coefficient}


def compare(first: Annotations, second: Annotations) -> Scores:
    """Return the overlap of two annotators for every kind of annotations."""
    scores: dict[str, float | None] = {}
    for kind, marked in first.items():
        for measure, value in dice(marked, second[kind]).items():
            scores[f"{kind}/{measure}"] = value
    return scores


class Comparable(NamedTuple):
    """Records for which annotators may be compared.

    Attributes:
        read: reads the records of an annotator.
        unit: the name of a record.
        content: returns the part of a record that must be equal for all annotators.
        difference: the message if that part differs.
        list_annotations: lists what is annotated.
    """

    read: Callable[[Annotator], Sequence[Record]]
    unit: str
    content: Callable[[Record], object]
    difference: str
    list_annotations: Callable[[Sequence[Record]], Annotations]

    def list_contents(self, records: Sequence[Record]) -> dict[str, object]:
        """Return the contents of records by id."""
        return {record["id"]: self.content(record) for record in records}


def compare_annotators(annotators: Sequence[Annotator]) -> PairwiseAgreement:
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
) -> PairwiseAgreement:
    """Measure the agreement of every pair of annotators."""
    contents = list(map(comparable.list_contents, annotators))
    problems = list(find_lacking(contents, names, comparable.unit))
    for other_contents, name in zip(contents[1:], names[1:], strict=True):
        for unit, content in contents[0].items():
            if other_contents.get(unit, content) != content:
                place = f"{comparable.unit} {quote(unit)}"
                problems.append(Problem(f"{place}: {names[0]} and {name} {comparable.difference}"))
    if problems:
        raise FormatError("annotations", problems)
    annotations = list(map(comparable.list_annotations, annotators))
    pairs = compare_pairs(annotations, compare)
    return PairwiseAgreement(names, pairs, len(contents[0]), comparable.unit, {}, ["dice"])


def _read_documents(annotator: Annotator) -> Sequence[Record]:
    documents, problems = read_annotations(cast("Path", annotator.source))
    if problems:
        raise FormatError(annotator.name, sorted(problems, key=lambda problem: problem.order))
    return documents


def _read_timelines(annotator: Annotator) -> Sequence[Record]:
    return read_own_gold(
        load_corpus("semeval2015_timeline"), annotator.source, name=annotator.name
    ).records


def _list_in_documents(documents: Sequence[Record]) -> Annotations:
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


def _list_in_timelines(timelines: Sequence[Record]) -> Annotations:
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
