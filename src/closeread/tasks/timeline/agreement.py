"""Agreement of two annotators of TimeLine, by Dice's coefficient.

Sources: Minard et al. (2015), section 3, for the coefficient and the annotations compared: event mentions and the
entities that mentions refer to; Dice (1945).

Conventions: two mentions match if they have the same tokens of the same document; in timelines, if their strings are
equal, with copies of a string matched one to one.  Entities match by name.  0/0 is None: if both annotators mark
nothing, agreement is undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from closeread.arrays import ratio
from closeread.corpora.declaration import Corpus
from closeread.corpora.gold import read_own_gold
from closeread.errors import FormatError, Problem, RequestError, join_names, pluralize, quote
from closeread.records import Record, find_repeated
from closeread.tasks.timeline.cat_entities import read_annotations
from closeread.tasks.timeline.cat_xml import holds_documents

Items = Callable[[Sequence[Record]], Iterable[Hashable]]
"""A function that returns the items an annotator marked."""


@dataclass(frozen=True)
class Overlap:
    """The overlap of two annotators.

    Attributes:
        first, second: the number of items of each.
        both: the number of shared items.
        dice: 2 * both / (first + second); None if there are no items.
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
    one, two = Counter(first), Counter(second)
    both, total = (one & two).total(), one.total() + two.total()
    return Overlap(one.total(), two.total(), both, float(ratio(2 * both, total)) if total else None)


def of_documents(first: Sequence[Record], second: Sequence[Record], names: tuple[str, str]) -> Mapping[str, Overlap]:
    """Compute the agreement of two annotators of documents, by type of annotation.

    Args:
        first, second: the same documents (`closeread.tasks.timeline.cat_entities`) in any order.
        names: the names of the annotators in messages.

    Raises:
        FormatError: their documents, or the tokens or sentences of a document, differ; all problems at once.
    """
    texts = [{one["id"]: (one["tokens"], one["sentences"]) for one in side} for side in (first, second)]
    _check_units("document", texts, names, "have different tokens or sentences")
    return _compare(first, second, OF_DOCUMENTS)


def of_timelines(first: Sequence[Record], second: Sequence[Record], names: tuple[str, str]) -> Mapping[str, Overlap]:
    """Compute the agreement of two annotators of timelines, by type of annotation.

    Args:
        first, second: the timelines of the same entities in any order.
        names: the names of the annotators in messages.

    Raises:
        FormatError: their timelines are of different entities; all problems at once.
    """
    entities = [{one["id"]: one["entity"] for one in side} for side in (first, second)]
    _check_units("timeline", entities, names, "are about different entities")
    return _compare(first, second, OF_TIMELINES)


def _compare(first: Sequence[Record], second: Sequence[Record], compared: Mapping[str, Items]) -> Mapping[str, Overlap]:
    return {what: dice(items(first), items(second)) for what, items in compared.items()}


def _check_units(unit: str, sides: Sequence[Mapping[str, object]], names: tuple[str, str], difference: str) -> None:
    """Check that two sides have the same units."""
    one, two = sides
    problems = []
    for ours, theirs, (own, others) in ((one, two, names), (two, one, names[::-1])):
        lacking = [name for name in ours if name not in theirs]
        if lacking:
            problems.append(
                f"{others} lacks {len(lacking):,} of {pluralize(len(ours), unit)} of {own}: {join_names(lacking)}"
            )
    differ = [name for name, value in one.items() if name in two and two[name] != value]
    problems += [f"{unit} {quote(name)}: {names[0]} and {names[1]} {difference}" for name in differ]
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])


def _list_event_mentions(documents: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], *sorted(event["tokens"])) for one in documents for event in one["events"])


def _list_entity_mentions(documents: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], *sorted(mention["tokens"])) for one in documents for mention in one["entity_mentions"])


def _list_entities(documents: Sequence[Record]) -> Iterator[Hashable]:
    """Yield every mention of an entity together with the entity."""
    for one in documents:
        for mention in one["entity_mentions"]:
            yield from ((entity, one["id"], *sorted(mention["tokens"])) for entity in mention["entities"])


def _list_mentions(timelines: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], name) for one in timelines for entry in one["entries"] for name in entry["mentions"])


def _list_anchored_mentions(timelines: Sequence[Record]) -> Iterator[Hashable]:
    for one in timelines:
        for entry in one["entries"]:
            yield from ((one["id"], entry["anchor"], name) for name in entry["mentions"])


OF_DOCUMENTS: Mapping[str, Items] = {
    "event mentions": _list_event_mentions,
    "entity mentions": _list_entity_mentions,
    "entity coreference": _list_entities,
}
OF_TIMELINES: Mapping[str, Items] = {
    "event mentions": _list_mentions,
    "event mentions with their anchors": _list_anchored_mentions,
}


class Kind(NamedTuple):
    """A kind of annotation that two annotators may be compared on.

    Attributes:
        read: from a path and the corpus to an annotator's records.
        measure: from two annotators' records and names to their agreement, by what is compared.
    """

    read: Callable[[Path, Corpus], Sequence[Record]]
    measure: Callable[[Sequence[Record], Sequence[Record], tuple[str, str]], Mapping[str, Overlap]]


def choose_kind(first: Path, second: Path) -> Kind:
    """Return how to compare two paths: documents in CAT, or timelines.

    Raises:
        RequestError: one has documents and the other timelines.
    """
    documents = holds_documents(first)
    if documents != holds_documents(second):
        has = [f"{path} has {'documents' if holds_documents(path) else 'timelines'}" for path in (first, second)]
        raise RequestError(f"{' and '.join(has)} (expected the same kind)")
    return Kind(_read_documents, of_documents) if documents else Kind(_read_timelines, of_timelines)


def _read_documents(path: Path, corpus: Corpus) -> Sequence[Record]:
    """Read an annotator's documents, with mentions of entities."""
    del corpus  # its schema does not have mentions of entities
    parsed = read_annotations(path)
    if problems := parsed.problems or find_repeated(parsed, "id", "id"):
        raise FormatError(path, problems)
    return parsed.records


def _read_timelines(path: Path, corpus: Corpus) -> Sequence[Record]:
    return read_own_gold(corpus, path).records
