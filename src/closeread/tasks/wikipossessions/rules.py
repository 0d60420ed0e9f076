"""What no schema can say of possessions: fields that contradict each other, and what is odd but no error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.corpora.rules import Rules
from closeread.errors import quote
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.anchors import parse_anchor

DERIVED = ("anchor_kind", "lower", "upper", "open_start", "open_end")
"""The fields that say what an anchor's text says."""


def derive_anchor(anchor: str | None) -> Record:
    """What an anchor says, by the names of a possession's fields."""
    parsed = parse_anchor(anchor)
    return dict(zip(DERIVED, parsed[: len(DERIVED)], strict=True))


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Possessions whose fields contradict each other, and names with white space around them."""
    for index, record in enumerate(records):
        if is_padded(record["article"]):
            yield index, f"article {quote(record['article'])} is padded with white space; needed: the bare title"
        for position, possession in enumerate(record["possessions"]):
            for what in _contradictions(possession):
                yield index, f"possessions[{position}]: {what}"


def _contradictions(possession: Mapping[str, Any]) -> Iterator[str]:
    for name in ("possessor", "anchor"):
        text = possession[name]
        if text is not None and is_padded(text):
            yield f"{name} {quote(text)} is padded with white space; needed: the bare text"
    given = possession.get("anchor_kind") is not None  # a reference may leave out what the anchor says anyway
    for name, value in derive_anchor(possession["anchor"]).items():
        found = possession.get(name)
        if found != value and (given or found is not None):
            yield f"{name} is {_json(found)}; needed: {_json(value)}, as anchor {_json(possession['anchor'])} says"
    if possession["relation"] is not None and possession["anchor"] is None:
        yield f"relation is {quote(possession['relation'])} and anchor null; needed: an anchor, or no relation"
    if (possession["relation"] is None) != (possession["relation_certainty"] is None):
        found = f"relation is {_json(possession['relation'])}"
        yield f"{found} and relation_certainty {_json(possession['relation_certainty'])}; needed: both or neither"


def is_padded(text: str) -> bool:
    """Whether a text is empty or has white space around it."""
    return text != text.strip() or not text


def _json(value: object) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """What is odd about valid rows of a system, by the number of the row, from 0."""
    del gold
    for index, row in enumerate(rows):
        anchors = [(place, one, parse_anchor(one["anchor"])) for place, one in enumerate(row["possessions"])]
        turned = [(place, one) for place, one, anchor in anchors if anchor.reversed]
        loose = [(place, one) for place, one, anchor in anchors if one["relation"] and anchor.kind == "unknown"]
        for found, what in (
            (turned, "an anchor with the later side first, which is read the other way round"),
            (loose, "a relation to an unknown anchor, which is kept"),
        ):
            if found:
                place, one = found[0]
                first = f"possessions[{place}] ({quote(one['possessor'])}), {quote(one['anchor'])}"
                yield index, f"article {quote(row['article'])}: {_possessions(len(found))} {what} (the first: {first})"


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """What a user should know about valid records, one sentence each."""
    possessions = [(record["article"], one) for record in records for one in record["possessions"]]
    turned = [(article, one) for article, one in possessions if parse_anchor(one["anchor"]).reversed]
    if turned:
        article, one = turned[0]
        yield (
            f"{_possessions(len(turned))} an anchor with the later side first, which is read the other way round "
            f"(the first: {quote(one['anchor'])} in {quote(article)})."
        )
    loose = [article for article, one in possessions if one["relation"] and one["anchor_kind"] == "unknown"]
    if loose:
        yield f"{_possessions(len(loose))} a relation to an unknown anchor (the first in {quote(loose[0])})."


def _possessions(number: int) -> str:
    return "1 possession has" if number == 1 else f"{number:,} possessions have"


RULES = {"document": Rules(find_inconsistencies, find_oddities, find_odd_rows)}
