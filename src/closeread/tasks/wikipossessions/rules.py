"""Rules for possessions beyond the schema: contradictory fields are errors, oddities give notes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.wikipossessions.dates import parse_anchor

DERIVED = ("anchor_kind", "lower", "upper", "open_start", "open_end")
"""The fields that are derived from the text of the anchor."""


def derive_anchor(anchor: str | None) -> Record:
    """Return the fields of a possession that are derived from its anchor."""
    parsed = parse_anchor(anchor)
    return dict(zip(DERIVED, parsed[: len(DERIVED)], strict=True))


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find possessions with contradictory fields, and names with whitespace around them."""
    for index, record in enumerate(records):
        if is_padded(record["article"]):
            yield index, f"article {quote(record['article'])} has leading or trailing whitespace (expected none)"
        for position, possession in enumerate(record["possessions"]):
            for what in _find_contradictions(possession):
                yield index, f"possessions[{position}]: {what}"


def _find_contradictions(possession: Mapping[str, Any]) -> Iterator[str]:
    for name in ("possessor", "anchor"):
        text = possession[name]
        if text is not None and is_padded(text):
            yield f"{name} {quote(text)} has leading or trailing whitespace (expected none)"
    given = possession.get("anchor_kind") is not None  # references may leave out the derived fields
    for name, value in derive_anchor(possession["anchor"]).items():
        found = possession.get(name)
        if found != value and (given or found is not None):
            expected = f"expected {_to_json(value)} for anchor {_to_json(possession['anchor'])}"
            yield f"{name} is {_to_json(found)} ({expected})"
    if possession["relation"] is not None and possession["anchor"] is None:
        yield f"relation is {quote(possession['relation'])} but anchor is null (expected an anchor, or no relation)"
    if (possession["relation"] is None) != (possession["relation_certainty"] is None):
        found = f"relation is {_to_json(possession['relation'])} but relation_certainty is "
        yield f"{found}{_to_json(possession['relation_certainty'])} (expected both or neither)"


def is_padded(text: str) -> bool:
    """Return whether a text is empty or has leading or trailing whitespace."""
    return text != text.strip() or not text


def _to_json(value: object) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find oddities in valid rows of a system; yield the index of the row and a note."""
    del gold
    for index, row in enumerate(rows):
        anchors = [(place, one, parse_anchor(one["anchor"])) for place, one in enumerate(row["possessions"])]
        reverse = [(place, one) for place, one, anchor in anchors if anchor.reversed]
        loose = [(place, one) for place, one, anchor in anchors if one["relation"] and anchor.kind == "unknown"]
        for found, what in (
            (reverse, "an anchor whose later year comes first, which is read in reverse order"),
            (loose, "a relation to an unknown anchor, which is kept"),
        ):
            if found:
                place, one = found[0]
                first = f"possessions[{place}] ({quote(one['possessor'])}), {quote(one['anchor'])}"
                note = f"{_count_possessions(len(found))} {what} (first: {first})"
                yield index, f"article {quote(row['article'])}: {note}"


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Find oddities in valid records; yield one note per kind."""
    # References of evaluate modules may leave out the derived fields, such as the kind of an anchor.
    possessions = [
        (record["article"], one, parse_anchor(one["anchor"])) for record in records for one in record["possessions"]
    ]
    reverse = [(article, one) for article, one, anchor in possessions if anchor.reversed]
    if reverse:
        article, one = reverse[0]
        found = (
            f"{_count_possessions(len(reverse))} an anchor whose later year comes first, which is read in reverse order"
        )
        yield f"{found} (first: {quote(one['anchor'])} in {quote(article)})."
    loose = [article for article, one, anchor in possessions if one["relation"] and anchor.kind == "unknown"]
    if loose:
        yield f"{_count_possessions(len(loose))} a relation to an unknown anchor (first: in {quote(loose[0])})."


def _count_possessions(number: int) -> str:
    return "1 possession has" if number == 1 else f"{number:,} possessions have"


RULES = {"document": Rules(find_inconsistencies, find_oddities, find_odd_rows)}
