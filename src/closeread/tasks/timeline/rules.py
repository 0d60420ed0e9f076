"""Rules for timelines and their documents beyond the schema: errors and oddities."""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

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

# how many mentions or anchors with one kind of oddity are named; for the others only lines are
# given
SHOWN = 20
MAX_RANGES = 300  # the most ranges of lines with one kind of oddity that are given


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find entries that do not have one span per mention."""
    for index, record in enumerate(records):
        for number, entry in enumerate(record["entries"], start=1):
            spans = entry.get("spans")
            if spans is not None and len(spans) != len(entry["mentions"]):
                found = (
                    f"entry {number} has {len(entry['mentions'])} mentions and {len(spans)} spans"
                )
                yield index, f"{found} (expected one span per mention, or no spans)"


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
            name = mention_name(record, event["tokens"])
            if event["mention"] != name:
                yield (
                    index,
                    f"event {quote(event['id'])} is named {quote(event['mention'])} (expected {quote(name)})",
                )


def is_scored(record: Record) -> bool:
    """Test whether a gold timeline is scored, that is, has entries or may have some."""
    return bool(record.get("entries", True))


# Oddities


def inspect_timeline(record: Record) -> Iterator[Oddity]:
    """Find oddities of a timeline by itself: of its name, positions, relations and anchors, and repeated mentions."""
    name, entries = record["id"].rpartition("/")[2], record["entries"]
    if file_stem(record["entity"]) != name:
        expected = f"{quote(file_stem(record['entity']))} for the entity {quote(record['entity'])}"
        yield Oddity("name", None, f"the timeline is named {quote(name)} (expected {expected})")
    positions = {entry["position"] for entry in entries} - {0}
    if len(positions) != max(positions, default=0):
        found = f"{pluralize(len(positions), 'position')} up to {max(positions):,}"
        yield Oddity(
            "positions",
            None,
            f"positions have gaps: {found} (released timelines count from 1 without gaps)",
        )
    # A timeline without anchors belongs to the track "ordering", in which nothing contradicts.
    if any(entry["anchor"] for entry in entries) and (found_at := find_contradictions(entries)):
        verb = "contradicts" if len(found_at) == 1 else "contradict"
        what = f"{pluralize(len(found_at), 'relation')} {verb} earlier ones in track full, starting here"
        yield Oddity(
            "contradiction", found_at[0], f"{what}; still counted, but ignored for inference"
        )
    no_dates = {
        anchor for anchor in {entry["anchor"] for entry in entries} if not is_anchor(anchor)
    }
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        if entry["anchor"] in no_dates:
            anchor = quote(entry["anchor"])
            yield Oddity(
                "anchor", number, f"the anchor {anchor} is not a date such as 2009-03-XX", anchor
            )
        for mention in entry["mentions"]:
            if mention in seen:
                yield Oddity.of_mention("repeated", number, mention, "is already in the timeline")
            seen.add(mention)


def oddities_given(gold: Sequence[Record]) -> Callable[[Record], Iterator[Oddity]]:
    """Return a function that finds oddities of a system's timeline, by itself and compared with gold."""
    known = timelines_of(gold)
    empty = {record["id"] for record in known if not is_scored(record)}

    def find_odd(record: Record) -> Iterator[Oddity]:
        yield from inspect_timeline(record)
        if record["id"] in empty:
            yield Oddity("empty", None, "is not scored, because the gold timeline has no entries")
        sentences = known.split_of(record["id"]).sentences
        for number, entry in enumerate(record["entries"] if sentences else ()):
            found = (check_place(mention, number, sentences) for mention in entry["mentions"])
            yield from (oddity for oddity in found if oddity is not None)

    return find_odd


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Yield oddities of gold timelines that were not read from a folder, one sentence each."""
    for index, what in find_odd_rows(records, ()):
        yield f"timeline {quote(records[index]['id'])}: {what}."


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield oddities of timelines that were not read from a folder, with the number of the row, from 0."""
    find_odd = oddities_given(gold)
    for index, row in enumerate(rows):
        for entry, what in describe_oddities(
            find_odd(row), range(1, len(row["entries"]) + 1), "entry"
        ):
            yield index, what if entry is None else f"entry {entry}: {what}"


def describe_oddities(
    found: Iterable[Oddity], places: Sequence[int], unit: str = "line"
) -> Iterator[tuple[int | None, str]]:
    """Describe oddities, grouped by kind: the place of the first, its description, and where the others are."""
    kinds: dict[str, list[Oddity]] = defaultdict(list)
    # oddities take much more memory than lines
    rest: dict[str, array[int]] = defaultdict(lambda: array("I"))
    for oddity in found:
        if len(kinds[oddity.kind]) <= SHOWN:
            kinds[oddity.kind].append(oddity)
        elif oddity.entry is not None:
            rest[oddity.kind].append(places[oddity.entry])
    for kind, (first, *others) in kinds.items():
        named = [
            f"{o.about} ({unit} {places[o.entry]})" if o.about else f"{unit} {places[o.entry]}"
            for o in others
            if o.entry is not None
        ]
        named += _format_ranges(rest[kind], unit)
        more = f"; {len(others) + len(rest[kind]):,} more: {', '.join(named)}" if others else ""
        yield None if first.entry is None else places[first.entry], f"{first.what}{more}"


def _format_ranges(places: Sequence[int], unit: str) -> Iterator[str]:
    """Format places in ascending order as ranges, `MAX_RANGES` at most.

    >>> list(_format_ranges([7, 8, 8, 9, 12], "line"))
    ['line 7-9', 'line 12']
    """
    distinct = enumerate(place for place, _ in groupby(places))
    for number, (_, run) in enumerate(groupby(distinct, lambda pair: pair[1] - pair[0])):
        _, first = next(run)
        if number == MAX_RANGES:
            yield f"and further ones from {unit} {first} to {places[-1]}"
            return
        rest = deque(run, maxlen=1)  # not a list, since there may be very many
        yield f"{unit} {first}-{rest[0][1]}" if rest else f"{unit} {first}"


RULES = {
    "document": Rules(find_inconsistencies, find_oddities, find_odd_rows, is_scored),
    "text": Rules(find_document_inconsistencies),
}
