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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.counts.agreement import PairwiseAgreement, Scores, compare_pairs, find_lacking
from closeread.counts.annotators import Annotator, find_repeated_paths, require_two
from closeread.exceptions import FormatError, Problem, RequestError, quote, read_all
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


class AnnotatedUnits(NamedTuple):
    """What an annotator was given, and what is annotated.

    Attributes:
        contents: the documents or timelines by id: of each, the part that must be equal for all annotators.
        annotations: the annotations.
    """

    contents: Mapping[str, object]
    annotations: Annotations


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
    read, unit, difference = KINDS[kinds[0]]
    names = [annotator.name for annotator in annotators]
    agreement = measure_agreement(read_all(annotators, read), names, unit, difference)
    return replace(agreement, notices=tuple(find_repeated_paths(annotators)))


def measure_agreement(
    annotators: Sequence[AnnotatedUnits], names: Sequence[str], unit: str, difference: str
) -> PairwiseAgreement:
    """Measure the agreement of every pair of annotators; `difference` says how units differ that should not."""
    contents = [annotator.contents for annotator in annotators]
    problems = list(find_lacking(contents, names, unit))
    for other_contents, name in zip(contents[1:], names[1:], strict=True):
        for unit_name, content in contents[0].items():
            if other_contents.get(unit_name, content) != content:
                place = f"{unit} {quote(unit_name)}"
                problems.append(Problem(f"{place}: {names[0]} and {name} {difference}"))
    if problems:
        raise FormatError("annotations", problems)
    pairs = compare_pairs([annotator.annotations for annotator in annotators], compare)
    return PairwiseAgreement(names, pairs, len(contents[0]), unit, {}, ["dice"])


def read_documents(annotator: Annotator) -> AnnotatedUnits:
    """Read the mentions of an annotator's documents in CAT, which have the same tokens and sentences for all."""
    documents, problems = read_annotations(cast("Path", annotator.source))
    if problems:
        raise FormatError(annotator.name, sorted(problems, key=lambda problem: problem.order))
    contents: dict[str, object] = {}
    events: list[Hashable] = []
    mentions: list[Hashable] = []
    entities: list[Hashable] = []
    for document in documents:
        name = document["id"]
        contents[name] = (document["tokens"], document["sentences"])
        events += [(name, *sorted(event["tokens"])) for event in document["events"]]
        for mention in document["entity_mentions"]:
            place = (name, *sorted(mention["tokens"]))
            mentions.append(place)
            entities += [(entity, *place) for entity in mention["entities"]]
    annotations = {
        "event mentions": events,
        "entity mentions": mentions,
        "entity coreference": entities,
    }
    return AnnotatedUnits(contents, annotations)


def read_timelines(annotator: Annotator) -> AnnotatedUnits:
    """Read the mentions of an annotator's timelines, which are about the same entities for all."""
    gold = read_own_gold(load_corpus("semeval2015_timeline"), annotator.source, name=annotator.name)
    contents: dict[str, object] = {}
    mentions: list[Hashable] = []
    anchored_mentions: list[Hashable] = []
    for timeline in gold.records:
        name = timeline["id"]
        contents[name] = timeline["entity"]
        for entry in timeline["entries"]:
            for mention in entry["mentions"]:
                mentions.append((name, mention))
                anchored_mentions.append((name, entry["anchor"], mention))
    annotations = {
        "event mentions": mentions,
        "event mentions with their anchors": anchored_mentions,
    }
    return AnnotatedUnits(contents, annotations)


KINDS = {
    "documents": (read_documents, "document", "have different tokens or sentences"),
    "timelines": (read_timelines, "timeline", "are about different entities"),
}
"""What annotators may be compared for: how it is read, what a unit is called, and how units may differ."""
