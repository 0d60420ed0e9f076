"""Rules for possessions beyond the schema: contradictory fields are errors, oddities give notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.formats.text import describe_unsafe
from closeread.records import Record
from closeread.tasks.wikipossessions.dates import parse_anchor

_YEAR = re.compile("(?<![0-9])(?:1[0-9]|20)[0-9]{2}(?![0-9])")
_AS_EVENT = (
    "that contains a year but is read as an event (expected years, such as 1888 or 1888-1890)"
)

DERIVED = ("anchor_kind", "lower", "upper", "open_start", "open_end")
"""The fields that are derived from the text of the anchor."""


def derive_anchor(anchor: str | None) -> Record:
    """Return the fields of a possession that are derived from its anchor."""
    return dict(zip(DERIVED, parse_anchor(anchor)[: len(DERIVED)], strict=True))


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find possessions with contradictory fields, and names with whitespace around them."""
    for index, record in enumerate(records):
        if is_padded(record["article"]):
            yield (
                index,
                f"article {quote(record['article'])} has leading or trailing whitespace (expected none)",
            )
        if unsafe := describe_unsafe(record["article"]):
            yield index, f"article {unsafe}"
        for position, possession in enumerate(record["possessions"]):
            for what in (*_find_wrong_fields(possession), *find_contradictions(possession)):
                yield index, f"possessions[{position}]: {what}"


def _find_wrong_fields(possession: Mapping[str, Any]) -> Iterator[str]:
    for name in ("possessor", "anchor"):
        text = possession[name]
        if text is None:
            continue
        if unsafe := describe_unsafe(text):
            yield f"{name} {unsafe}"
        if is_padded(text):
            yield f"{name} {quote(text)} has leading or trailing whitespace (expected none)"
    given = possession.get("anchor_kind") is not None  # references may leave out the derived fields
    for name, value in derive_anchor(possession["anchor"]).items():
        found = possession.get(name)
        if found != value and (given or found is not None):
            expected = f"expected {_to_json(value)} for anchor {_to_json(possession['anchor'])}"
            yield f"{name} is {_to_json(found)} ({expected})"


def find_contradictions(possession: Mapping[str, Any]) -> Iterator[str]:
    """Find a relation without an anchor, or without its certainty, or the reverse."""
    relation, certainty = possession.get("relation"), possession.get("relation_certainty")
    if relation is not None and possession.get("anchor") is None:
        yield f"relation is {quote(relation)} but anchor is null (expected an anchor, or no relation)"
    if (relation is None) != (certainty is None):
        found = f"relation is {_to_json(relation)} but relation_certainty is {_to_json(certainty)}"
        yield f"{found} (expected both or neither)"


def is_padded(text: str) -> bool:
    """Return whether a text is empty or has leading or trailing whitespace."""
    return text != text.strip() or not text


def _to_json(value: object) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find oddities in valid rows of a system; yield the index of the row and a note."""
    del gold
    for index, row in enumerate(rows):
        article = f"article {quote(row['article'])}"
        places = list(enumerate(row["possessions"]))
        for what, place, possession in _find_reversed(places):
            years = parse_anchor(possession["anchor"])
            first = _name_possession(place, possession)
            read = f"read as {years.lower} to {years.upper or 'now'}"
            yield index, f"{article}: {what} (first: {first}, {read})"
        for what, place, possession in _find_loose(places):
            first = _name_possession(place, possession)
            yield index, f"{article}: {what}, which is kept (first: {first})"
    yield from _find_mistakes(rows)


def find_repairs(records: Sequence[Record]) -> Iterator[str]:
    """Find anchors in valid records that are read in reverse order; yield a note if there are any."""
    for what, article, possession in _find_reversed(_list_possessions(records)):
        yield f"{what} (first: {quote(possession['anchor'])} in {quote(article)})."


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Find relations to unknown anchors in valid records; yield a note if there are any."""
    for what, article, _ in _find_loose(_list_possessions(records)):
        yield f"{what} (first: in {quote(article)})."


def _list_possessions(records: Sequence[Record]) -> list[tuple[Any, Record]]:
    """Return the possessions of all records, each with its article."""
    possessions = []
    for record in records:
        possessions += [(record["article"], possession) for possession in record["possessions"]]
    return possessions


# References of evaluate modules may leave out the derived fields, such as the kind of an anchor.


def _find_reversed(possessions: Iterable[tuple[Any, Record]]) -> Iterator[tuple[str, Any, Record]]:
    """Yield anchors whose years are in reverse order: how many, and the first place and possession."""
    places = [place for place in possessions if parse_anchor(place[1]["anchor"]).reversed]
    what = "an anchor whose later year comes first, which is read in reverse order"
    return _describe_first(places, what)


def _find_loose(possessions: Iterable[tuple[Any, Record]]) -> Iterator[tuple[str, Any, Record]]:
    """Yield relations to unknown anchors: how many, and the first place and possession."""
    places = [
        (place, possession)
        for place, possession in possessions
        if possession["relation"] and parse_anchor(possession["anchor"]).kind == "unknown"
    ]
    return _describe_first(places, "a relation to an unknown anchor")


def _describe_first(
    places: Sequence[tuple[Any, Record]], what: str
) -> Iterator[tuple[str, Any, Record]]:
    if places:
        have = "1 possession has" if len(places) == 1 else f"{len(places):,} possessions have"
        yield f"{have} {what}", *places[0]


def _name_possession(place: int, possession: Record) -> str:
    possessor, anchor = quote(possession["possessor"]), quote(possession["anchor"])
    return f"possessions[{place}] ({possessor}), {anchor}"


def _find_mistakes(rows: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield each kind of probable mistake of a system once: the index of the first row, and a note."""
    repeated, dated = [], []
    for index, row in enumerate(rows):
        seen: set[tuple[object, ...]] = set()
        for place, one in enumerate(row["possessions"]):
            values = tuple(one[name] for name in sorted(one))
            if values in seen:
                repeated.append((index, place, one))
            seen.add(values)
            if _YEAR.search(one["anchor"] or "") and parse_anchor(one["anchor"]).kind == "event":
                dated.append((index, place, one))
    for found, has, have in (
        (repeated, "1 possession is predicted again", "possessions are predicted again"),
        (
            dated,
            f"1 possession has an anchor {_AS_EVENT}",
            f"possessions have an anchor {_AS_EVENT}",
        ),
    ):
        if found:
            what = has if len(found) == 1 else f"{len(found):,} {have}"
            index, place, one = found[0]
            first = (
                f"possessions[{place}] ({quote(one['possessor'])}), {quote(one['anchor'] or '')}"
            )
            yield index, f"article {quote(rows[index]['article'])}: {what} (first: {first})"


RULES = {
    "document": Rules(find_inconsistencies, find_oddities, find_odd_rows, find_repairs=find_repairs)
}
