"""Rules for possessions beyond the schema: contradictory fields are errors, oddities give notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.formats.text import describe_unsafe
from closeread.records import Record
from closeread.tasks.wikipossessions.dates import parse_anchor

_YEAR = re.compile("(?<![0-9])(?:1[0-9]|20)[0-9]{2}(?![0-9])")
_REVERSED = "an anchor whose later year comes first, which is read in reverse order"
_LOOSE = "a relation to an unknown anchor"
_DATED = "an anchor that contains a year but is read as an event (expected years, such as 1888 or 1888-1890)"

DERIVED = ("anchor_kind", "lower", "upper", "open_start", "open_end")
"""The fields that are derived from the text of the anchor."""


def derive_anchor(anchor: str | None) -> Record:
    """Return the fields of a possession that are derived from its anchor."""
    return dict(zip(DERIVED, parse_anchor(anchor)[: len(DERIVED)], strict=True))


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find possessions with contradictory fields, and names with whitespace around them."""
    for index, record in enumerate(records):
        article = record["article"]
        if is_padded(article):
            yield (
                index,
                f"article {quote(article)} has leading or trailing whitespace (expected none)",
            )
        unsafe = describe_unsafe(article)
        if unsafe:
            yield index, f"article {unsafe}"
        for position, possession in enumerate(record["possessions"]):
            for message in (*_find_wrong_fields(possession), *find_contradictions(possession)):
                yield index, f"possessions[{position}]: {message}"


def _find_wrong_fields(possession: Mapping[str, Any]) -> Iterator[str]:
    for name in ("possessor", "anchor"):
        text = possession[name]
        if text is None:
            continue
        unsafe = describe_unsafe(text)
        if unsafe:
            yield f"{name} {unsafe}"
        if is_padded(text):
            yield f"{name} {quote(text)} has leading or trailing whitespace (expected none)"
    # References of evaluate modules may leave out the derived fields, such as the kind of an anchor.
    is_complete = possession.get("anchor_kind") is not None
    for name, expected in derive_anchor(possession["anchor"]).items():
        value = possession.get(name)
        if value != expected and (is_complete or value is not None):
            reason = f"expected {_to_json(expected)} for anchor {_to_json(possession['anchor'])}"
            yield f"{name} is {_to_json(value)} ({reason})"


def find_contradictions(possession: Mapping[str, Any]) -> Iterator[str]:
    """Find a relation without an anchor, or without its certainty, or the reverse."""
    relation = possession.get("relation")
    certainty = possession.get("relation_certainty")
    if relation is not None and possession.get("anchor") is None:
        yield f"relation is {quote(relation)} but anchor is null (expected an anchor, or no relation)"
    if (relation is None) != (certainty is None):
        values = f"relation is {_to_json(relation)} but relation_certainty is {_to_json(certainty)}"
        yield f"{values} (expected both or neither)"


def is_padded(text: str) -> bool:
    """Return whether a text is empty or has leading or trailing whitespace."""
    return text != text.strip() or not text


def _to_json(value: object) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


class PlacedPossession(NamedTuple):
    """A possession: the index of its record, the title of the article, its position there, and its fields."""

    record: int
    article: str
    position: int
    possession: Record

    def note(self, message: str, detail: str = "") -> tuple[int, str]:
        """Return a note on possessions of which this is the first."""
        possessor = quote(self.possession["possessor"])
        anchor = quote(self.possession["anchor"] or "")
        first = f"first: possessions[{self.position}] ({possessor}), {anchor}{detail}"
        return self.record, f"article {quote(self.article)}: {message} ({first})"


def _list_places(records: Sequence[Record]) -> list[PlacedPossession]:
    """List the possessions of all records."""
    places = []
    for number, record in enumerate(records):
        for position, possession in enumerate(record["possessions"]):
            places.append(PlacedPossession(number, record["article"], position, possession))
    return places


def _find_reversed(places: Sequence[PlacedPossession]) -> list[PlacedPossession]:
    return [place for place in places if parse_anchor(place.possession["anchor"]).reversed]


def _find_loose(places: Sequence[PlacedPossession]) -> list[PlacedPossession]:
    """Find the possessions with a relation to an unknown anchor."""
    related = [place for place in places if place.possession["relation"]]
    return [
        place for place in related if parse_anchor(place.possession["anchor"]).kind == "unknown"
    ]


def _find_dated(places: Sequence[PlacedPossession]) -> list[PlacedPossession]:
    """Find the possessions whose anchor contains a year but is read as an event."""
    dated = [place for place in places if _YEAR.search(place.possession["anchor"] or "")]
    return [place for place in dated if parse_anchor(place.possession["anchor"]).kind == "event"]


def _count_having(places: Sequence[PlacedPossession], oddity: str) -> str:
    """Say how many possessions have an oddity."""
    if len(places) == 1:
        return f"1 possession has {oddity}"
    return f"{len(places):,} possessions have {oddity}"


def find_repairs(records: Sequence[Record]) -> Iterator[str]:
    """Find anchors in valid records that are read in reverse order; yield a note if there are any."""
    places = _find_reversed(_list_places(records))
    if places:
        anchor = quote(places[0].possession["anchor"])
        first = f"first: {anchor} in {quote(places[0].article)}"
        yield f"{_count_having(places, _REVERSED)} ({first})."


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Find relations to unknown anchors in valid records; yield a note if there are any."""
    places = _find_loose(_list_places(records))
    if places:
        yield f"{_count_having(places, _LOOSE)} (first: in {quote(places[0].article)})."


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find oddities in valid rows of a system; yield the index of the row and a note."""
    del gold
    places = _list_places(rows)
    for _, group in groupby(places, lambda place: place.record):
        places_of_row = list(group)
        reversed_places = _find_reversed(places_of_row)
        if reversed_places:
            first = reversed_places[0]
            years = parse_anchor(first.possession["anchor"])
            reading = f", read as {years.lower} to {years.upper or 'now'}"
            yield first.note(_count_having(reversed_places, _REVERSED), reading)
        loose_places = _find_loose(places_of_row)
        if loose_places:
            yield loose_places[0].note(f"{_count_having(loose_places, _LOOSE)}, which is kept")
    repeated = _find_repeated(places)
    if repeated:
        number = "1 possession is" if len(repeated) == 1 else f"{len(repeated):,} possessions are"
        yield repeated[0].note(f"{number} predicted again")
    dated = _find_dated(places)
    if dated:
        yield dated[0].note(_count_having(dated, _DATED))


def _find_repeated(places: Sequence[PlacedPossession]) -> list[PlacedPossession]:
    """Find the possessions that an article has already."""
    repeated = []
    earlier = set()
    for place in places:
        fields = sorted(place.possession.items())
        key = (place.record, *fields)
        if key in earlier:
            repeated.append(place)
        earlier.add(key)
    return repeated


RULES = {
    "document": Rules(find_inconsistencies, find_oddities, find_odd_rows, find_repairs=find_repairs)
}
