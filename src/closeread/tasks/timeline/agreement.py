"""Agreement of two annotators of TimeLine, by Dice's coefficient.

Source: Minard et al. (2015), section 3, for the coefficient and for what is compared, mentions of events and the
entities that mentions refer to; Dice (1945).

Conventions: two mentions are the same where they have the same tokens of the same document; in timelines, where their
strings are the same, several of one string being paired one to one.  Entities are the same where their names are.  0/0
is None: where both say nothing there is nothing to agree on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from closeread.arrays import ratio
from closeread.errors import FormatError, Problem, join_names, quote
from closeread.records import Record

Items = Callable[[Sequence[Record]], Iterable[Hashable]]
"""What an annotator says, item by item."""


@dataclass(frozen=True)
class Overlap:
    """How much of what two annotators say both say.

    Attributes:
        first, second: how many items each has.
        both: how many both have.
        dice: twice the shared ones among all; None where there are none.
    """

    first: int
    second: int
    both: int
    dice: float | None


def dice(first: Iterable[Hashable], second: Iterable[Hashable]) -> Overlap:
    """Dice's coefficient of two multisets.

    >>> dice("abb", "bbcd")
    Overlap(first=3, second=4, both=2, dice=0.5714285714285714)
    """
    one, two = Counter(first), Counter(second)
    both, total = (one & two).total(), one.total() + two.total()
    return Overlap(one.total(), two.total(), both, float(ratio(2 * both, total)) if total else None)


def of_documents(first: Sequence[Record], second: Sequence[Record], names: tuple[str, str]) -> Mapping[str, Overlap]:
    """The agreement of two annotators of documents, by what is compared.

    Args:
        first, second: the same documents (`closeread.tasks.timeline.cat_entities`) in any order.
        names: what to call the annotators in messages.

    Raises:
        FormatError: they don't have the same documents, or one has other tokens or sentences than the other; all
            problems at once.
    """
    texts = [{one["id"]: (one["tokens"], one["sentences"]) for one in side} for side in (first, second)]
    _refuse("document", texts, names, "has other tokens or sentences")
    return _compared(first, second, OF_DOCUMENTS)


def of_timelines(first: Sequence[Record], second: Sequence[Record], names: tuple[str, str]) -> Mapping[str, Overlap]:
    """The agreement of two annotators of timelines, by what is compared.

    Args:
        first, second: the timelines of the same entities in any order.
        names: what to call the annotators in messages.

    Raises:
        FormatError: they don't have timelines of the same entities; all problems at once.
    """
    entities = [{one["id"]: one["entity"] for one in side} for side in (first, second)]
    _refuse("timeline", entities, names, "is about another entity")
    return _compared(first, second, OF_TIMELINES)


def _compared(
    first: Sequence[Record], second: Sequence[Record], compared: Mapping[str, Items]
) -> Mapping[str, Overlap]:
    return {what: dice(items(first), items(second)) for what, items in compared.items()}


def _refuse(unit: str, sides: Sequence[Mapping[str, object]], names: tuple[str, str], other: str) -> None:
    """Refuse two sides that are not of the same units."""
    one, two = sides
    problems = []
    for ours, theirs, (own, others) in ((one, two, names), (two, one, names[::-1])):
        lacking = [name for name in ours if name not in theirs]
        if lacking:
            problems.append(
                f"{others} lacks {len(lacking):,} of the {len(ours):,} {unit}s of {own}: {join_names(lacking)}"
            )
    differ = [name for name, value in one.items() if name in two and two[name] != value]
    problems += [f"{unit} {quote(name)} of {names[1]} {other} than that of {names[0]}" for name in differ]
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])


def _event_mentions(documents: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], *sorted(event["tokens"])) for one in documents for event in one["events"])


def _entity_mentions(documents: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], *sorted(mention["tokens"])) for one in documents for mention in one["entity_mentions"])


def _entities(documents: Sequence[Record]) -> Iterator[Hashable]:
    """Every mention of an entity with the entity."""
    for one in documents:
        for mention in one["entity_mentions"]:
            yield from ((entity, one["id"], *sorted(mention["tokens"])) for entity in mention["entities"])


def _mentions(timelines: Sequence[Record]) -> Iterator[Hashable]:
    return ((one["id"], name) for one in timelines for entry in one["entries"] for name in entry["mentions"])


def _anchored(timelines: Sequence[Record]) -> Iterator[Hashable]:
    for one in timelines:
        for entry in one["entries"]:
            yield from ((one["id"], entry["anchor"], name) for name in entry["mentions"])


OF_DOCUMENTS: Mapping[str, Items] = {
    "event mentions": _event_mentions,
    "entity mentions": _entity_mentions,
    "entity coreference": _entities,
}
OF_TIMELINES: Mapping[str, Items] = {
    "event mentions": _mentions,
    "event mentions with their anchors": _anchored,
}
