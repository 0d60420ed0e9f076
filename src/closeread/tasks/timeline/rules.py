"""Rules for timelines and their documents that no schema can express."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize, quote
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import mention_name
from closeread.tasks.timeline.gold import timelines_of
from closeread.tasks.timeline.timeline_mentions import Oddity, check_place, describe_oddities, inspect_timeline


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find entries that do not have one span per mention."""
    for index, record in enumerate(records):
        for number, entry in enumerate(record["entries"], start=1):
            spans = entry.get("spans")
            if spans is not None and len(spans) != len(entry["mentions"]):
                found = f"entry {number} has {len(entry['mentions'])} mentions and {len(spans)} spans"
                yield index, f"{found} (expected one span per mention, or no spans)"


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Yield oddities of gold timelines that were not read from a folder, one sentence each."""
    for index, what in find_odd_rows(records, ()):
        yield f"timeline {quote(records[index]['id'])}: {what}."


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield oddities of timelines that were not read from a folder, with the number of the row, from 0."""
    find_odd = oddities_given(gold)
    for index, row in enumerate(rows):
        for entry, what in describe_oddities(find_odd(row), range(1, len(row["entries"]) + 1), "entry"):
            yield index, what if entry is None else f"entry {entry}: {what}"


def oddities_given(gold: Sequence[Record]) -> Callable[[Record], Iterator[Oddity]]:
    """Return a function that finds what is odd about a system's timeline, by itself and compared with gold."""
    known = timelines_of(gold)

    def find_odd(record: Record) -> Iterator[Oddity]:
        yield from inspect_timeline(record)
        if record["id"] in known.empty:
            yield Oddity("empty", None, "is not scored, because the gold timeline has no entries")
        sentences = known.split_of(record["id"]).sentences
        for number, entry in enumerate(record["entries"] if sentences else ()):
            for mention in entry["mentions"]:
                oddity = check_place(mention, sentences)
                if oddity is not None:
                    yield oddity._replace(entry=number)

    return find_odd


def is_scored(record: Record) -> bool:
    """Test whether a gold timeline is scored, that is, has entries or may have some."""
    return bool(record.get("entries", True))


def find_document_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find documents without one sentence number per token, mentions of unknown tokens, and wrongly named events."""
    for index, record in enumerate(records):
        tokens, sentences = record["tokens"], record["sentences"]
        if len(sentences) != len(tokens):
            found = f"has {pluralize(len(tokens), 'token')} and {pluralize(len(sentences), 'sentence number')}"
            yield index, f"{found} (expected one per token)"
            continue
        mentions = [("creation_time_tokens", record["creation_time_tokens"])]
        mentions += [(f"event {quote(event['id'])}", event["tokens"]) for event in record["events"]]
        beyond = [(what, max(of)) for what, of in mentions if max(of, default=-1) >= len(tokens)]
        for what, number in beyond:
            yield index, f"{what}: there is no token {number} (the last is {len(tokens) - 1})"
        for event in () if beyond else record["events"]:
            of = event["tokens"]
            name = mention_name(record["id"], sentences[of[0]], [tokens[number] for number in of])
            if event["mention"] != name:
                yield index, f"event {quote(event['id'])} is named {quote(event['mention'])} (expected {quote(name)})"


RULES = {
    "document": Rules(find_inconsistencies, find_oddities, find_odd_rows, is_scored),
    "text": Rules(find_document_inconsistencies),
}
