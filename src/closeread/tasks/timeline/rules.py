"""Rules for timelines and their documents beyond the schema: errors and oddities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize, quote
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import mention_name
from closeread.tasks.timeline.relations import find_contradictions
from closeread.tasks.timeline.timeline_mentions import (
    Oddity,
    check_place,
    file_stem,
    is_anchor,
    timelines_of,
)

MAX_NAMED_ODDITIES = 20
"""How many oddities of a kind are named besides the first; the others are only counted."""


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find entries that do not have one span per mention."""
    for index, record in enumerate(records):
        for number, entry in enumerate(record["entries"], start=1):
            spans = entry.get("spans")
            if spans is not None and len(spans) != len(entry["mentions"]):
                message = (
                    f"entry {number} has {len(entry['mentions'])} mentions and {len(spans)} spans"
                )
                yield index, f"{message} (expected one span per mention, or no spans)"


def find_document_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find documents without one sentence number per token, mentions of unknown tokens, and wrongly named events."""
    for index, record in enumerate(records):
        for message in _check_document(record):
            yield index, message


def _check_document(document: Record) -> Iterator[str]:
    n_tokens = len(document["tokens"])
    n_sentences = len(document["sentences"])
    if n_sentences != n_tokens:
        numbers = pluralize(n_sentences, "sentence number")
        yield f"has {pluralize(n_tokens, 'token')} and {numbers} (expected one per token)"
        return
    mentions = [("creation_time_tokens", document["creation_time_tokens"])]
    mentions += [(f"event {quote(event['id'])}", event["tokens"]) for event in document["events"]]
    has_unknown_tokens = False
    for name, tokens in mentions:
        last = max(tokens, default=-1)
        if last >= n_tokens:
            has_unknown_tokens = True
            yield f"{name}: there is no token {last} (the last is {n_tokens - 1})"
    if has_unknown_tokens:
        return
    for event in document["events"]:
        name = mention_name(document, event["tokens"])
        if event["mention"] != name:
            label = f"event {quote(event['id'])} is named {quote(event['mention'])}"
            yield f"{label} (expected {quote(name)})"


def is_scored(record: Record) -> bool:
    """Test whether a gold timeline is scored, that is, has entries or may have some."""
    return bool(record.get("entries", True))


# Oddities


def inspect_timeline(record: Record) -> Iterator[Oddity]:
    """Find oddities of a timeline by itself: of its name, positions, relations and anchors, and repeated mentions."""
    name = record["id"].rpartition("/")[2]
    entries = record["entries"]
    stem = file_stem(record["entity"])
    if stem != name:
        expected = f"{quote(stem)} for the entity {quote(record['entity'])}"
        yield Oddity("name", None, f"the timeline is named {quote(name)} (expected {expected})")
    positions = {entry["position"] for entry in entries} - {0}
    last_position = max(positions, default=0)
    if len(positions) != last_position:
        gaps = f"{pluralize(len(positions), 'position')} up to {last_position:,}"
        message = f"positions have gaps: {gaps} (released timelines count from 1 without gaps)"
        yield Oddity("positions", None, message)
    anchors = {entry["anchor"] for entry in entries}
    # A timeline without anchors belongs to the track "ordering", in which nothing contradicts.
    contradictions = find_contradictions(entries) if any(anchors) else []
    if contradictions:
        verb = "contradicts" if len(contradictions) == 1 else "contradict"
        relations = f"{pluralize(len(contradictions), 'relation')} {verb} earlier ones"
        message = (
            f"{relations} in track full, starting here; still counted, but ignored for inference"
        )
        yield Oddity("contradiction", contradictions[0], message)
    no_dates = {anchor for anchor in anchors if not is_anchor(anchor)}
    mentions: set[str] = set()
    for number, entry in enumerate(entries):
        if entry["anchor"] in no_dates:
            anchor = quote(entry["anchor"])
            message = f"the anchor {anchor} is not a date such as 2009-03-XX"
            yield Oddity("anchor", number, message, anchor)
        for mention in entry["mentions"]:
            if mention in mentions:
                yield Oddity.of_mention("repeated", number, mention, "is already in the timeline")
            mentions.add(mention)


def oddities_given(gold: Sequence[Record]) -> Callable[[Record], Iterator[Oddity]]:
    """Return a function that finds oddities of a system's timeline, by itself and compared with gold."""
    timelines = timelines_of(gold)
    empty = {record["id"] for record in timelines if not is_scored(record)}

    def find_odd(record: Record) -> Iterator[Oddity]:
        yield from inspect_timeline(record)
        if record["id"] in empty:
            yield Oddity("empty", None, "is not scored, because the gold timeline has no entries")
        sentences = timelines.split_of(record["id"]).sentences
        if not sentences:
            return
        for number, entry in enumerate(record["entries"]):
            for mention in entry["mentions"]:
                oddity = check_place(mention, number, sentences)
                if oddity is not None:
                    yield oddity

    return find_odd


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Yield oddities of gold timelines that were not read from a folder, one sentence each."""
    for index, message in find_odd_rows(records, ()):
        yield f"timeline {quote(records[index]['id'])}: {message}."


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield oddities of timelines that were not read from a folder, with the number of the row, from 0."""
    find_odd = oddities_given(gold)
    for index, row in enumerate(rows):
        numbers = range(1, len(row["entries"]) + 1)
        for entry, message in describe_oddities(find_odd(row), numbers, "entry"):
            yield index, message if entry is None else f"entry {entry}: {message}"


def describe_oddities(
    oddities: Iterable[Oddity], places: Sequence[int], unit: str = "line"
) -> Iterator[tuple[int | None, str]]:
    """Describe oddities, grouped by kind: the place of the first, its description, and where the others are."""
    oddities_by_kind: dict[str, list[Oddity]] = defaultdict(list)
    for oddity in oddities:
        oddities_by_kind[oddity.kind].append(oddity)
    for first, *repetitions in oddities_by_kind.values():
        texts = []
        for oddity in repetitions[:MAX_NAMED_ODDITIES]:
            if oddity.entry is not None:
                place = f"{unit} {places[oddity.entry]}"
                texts.append(f"{oddity.subject} ({place})" if oddity.subject else place)
        n_more = len(repetitions)
        if n_more > MAX_NAMED_ODDITIES:
            texts.append("…")
        message = first.message
        if repetitions:
            message += f"; {n_more:,} more: {', '.join(texts)}"
        yield None if first.entry is None else places[first.entry], message


RULES = {
    "document": Rules(find_inconsistencies, find_oddities, find_odd_rows, is_scored),
    "text": Rules(find_document_inconsistencies),
}
