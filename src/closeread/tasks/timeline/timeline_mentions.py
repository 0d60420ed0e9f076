"""Ids and mentions of timelines: names of files, places in the documents, and notices about unusual timelines.

Source: Minard et al. (2015), section 3; the files of SemEval-2015 Task 4.

Conventions: a mention is written `docid-sentid-extent`, split at the first two hyphens; the extent is the tokens joined
by `_`, in their original case.  Nothing is repaired: mentions match exactly or not at all.  Oddities are not errors:
they are reported, and the text is kept as it is.
"""

from __future__ import annotations

import operator
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from closeread import limits
from closeread.exceptions import Problem, pluralize, quote
from closeread.formats.folders import find_unwritable
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import is_date


def find_unwritable_ids(ids: Sequence[str], suffix: str) -> list[Problem]:
    """Find why a folder of timelines with these ids can't be written and read again."""
    below: dict[str | None, list[str]] = {}
    for name in ids:
        split, slash, own = name.rpartition("/")
        below.setdefault(split if slash else None, []).append(own)
    problems = [] if ids else [Problem("there are no timelines (expected at least one)")]
    if None in below and len(below) > 1:
        named = " and ".join(
            quote(next(name for name in ids if ("/" in name) is is_below)) for is_below in (True, False)
        )
        problems.append(Problem(f"ids {named}: all or none must begin with a split"))
    problems += find_unwritable([split for split in below if split is not None])
    for names in below.values():
        if len(names) > limits.MAX_FILES:
            problems.append(Problem(f"there are {len(names):,} timelines (limit of a folder: {limits.MAX_FILES:,})"))
        problems += find_unwritable(names, suffix)
        read = ((name, stem_of_id(name)) for name in names)
        problems += [
            Problem(f"{quote(name)} would be read again as {quote(other)}") for name, other in read if other != name
        ]
    return problems


MENTION = re.compile(r"([^-]+)-([0-9]{1,9})-(.+)", re.DOTALL)
ANCHOR = re.compile(r"([0-9]{4})(?:-([0-9]{2}|XX)(?:-([0-9]{2}|XX))?)?|XXXX(?:-XX(?:-XX)?)?")
MAX_RANGES = 300  # the most ranges of lines with one kind of oddity that are given

SHOWN = 20  # how many mentions or anchors with one kind of oddity are named; for the others only lines are given


class Texts(NamedTuple):
    """An index of documents for looking up mentions."""

    # for each document and sentence, the number of its first token and its tokens
    sentences: Mapping[str, Mapping[int, tuple[int, Sequence[str]]]]
    events: Mapping[str, Sequence[Mapping[str, Any]]]  # the event mentions by the names that timelines use


class Oddity(NamedTuple):
    """Something unusual about a timeline."""

    kind: str  # the kind, by which oddities are grouped in notices
    entry: int | None  # the entry, from 0; None if it concerns the timeline as a whole
    what: str  # what was found and what was expected
    about: str = ""  # the mention or the anchor that it concerns, if any


def as_texts(documents: Iterable[Record]) -> Texts:
    """Index documents (`closeread.tasks.timeline.cat_xml`) for looking up mentions."""
    sentences: dict[str, dict[int, tuple[int, list[str]]]] = {}
    events: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for document in documents:
        of_document = sentences.setdefault(document["id"], {})
        for number, (token, sentence) in enumerate(zip(document["tokens"], document["sentences"], strict=True)):
            of_document.setdefault(sentence, (number, []))[1].append(token)
        for event in document["events"]:
            events[event["mention"]].append(event)
    return Texts(sentences, events)


def locate_mention(mention: str, texts: Texts) -> tuple[Record, Oddity | None]:
    """Find the place of a mention, and its oddity, if any; the oddity has no entry yet.

    A mention refers to the event mention of that name, or, if there is none, to the tokens of that extent.  If there
    are several, it is ambiguous.
    """
    unknown = check_place(mention, texts.sentences)
    if unknown is not None:
        document = document_of(mention)
        return _make_span(document if document in texts.sentences else None, None, None, ()), unknown
    document, sentence, extent = split_mention(mention)
    events = texts.events.get(mention, ())
    ids = [event["id"] for event in events]
    if len(events) > 1:
        found = f"is ambiguous: {len(events)} event mentions have this name"
        return _make_span(document, sentence, None, ids), _mention_oddity("ambiguous", mention, found)
    if events:
        tokens = events[0]["tokens"]
        return _make_span(document, sentence, (min(tokens), max(tokens)), ids), None
    first, words = texts.sentences[document][sentence]
    places = [(first + start, first + end) for start, end in _find_extent(words, extent)]
    found = "is not an event mention of track B"
    if len(places) == 1:
        return _make_span(document, sentence, places[0], ids), _mention_oddity("event", mention, found)
    times = f"{len(places)} times in" if places else "nowhere in"
    found += f", and its extent occurs {times} its sentence"
    return _make_span(document, sentence, None, ids), _mention_oddity("words", mention, found)


def split_mention(mention: str) -> tuple[str, int, str]:
    """Split a mention into document, sentence and extent.

    >>> split_mention("8951-4-take-off")
    ('8951', 4, 'take-off')
    """
    parts = MENTION.fullmatch(mention)
    if parts is None:
        raise ValueError(f"{quote(mention)} is not a mention (expected docid-sentid-extent)")
    return parts[1], int(parts[2]), parts[3]


def check_place(mention: str, sentences: Mapping[str, Iterable[int]]) -> Oddity | None:
    """Return the oddity of a mention's form, document or sentence; None if all of them are known."""
    parts = MENTION.fullmatch(mention)
    if parts is None:
        return _mention_oddity("form", mention, "is not of the form docid-sentid-extent")
    if parts[1] not in sentences:
        if ANCHOR.fullmatch(mention):
            return _mention_oddity("date", mention, "looks like an anchor (two lines may have been joined)")
        return _mention_oddity("document", mention, f"names document {quote(parts[1])}, which is not available")
    if int(parts[2]) not in sentences[parts[1]]:
        return _mention_oddity("sentence", mention, f"names sentence {int(parts[2])}, which its document does not have")
    return None


def inspect_timeline(record: Record) -> Iterator[Oddity]:
    """Find what is odd about a timeline by itself: its name, positions, anchors, and repeated mentions."""
    name = record["id"].rpartition("/")[2]
    if file_stem(record["entity"]) != name:
        expected = f"{quote(file_stem(record['entity']))} for the entity {quote(record['entity'])}"
        yield Oddity("name", None, f"the timeline is named {quote(name)} (expected {expected})")
    positions = {entry["position"] for entry in record["entries"]} - {0}
    if len(positions) != max(positions, default=0):
        found = f"{pluralize(len(positions), 'position')} up to {max(positions):,}"
        yield Oddity("positions", None, f"positions have gaps: {found} (released timelines count from 1 without gaps)")
    yield from _count_contradictions(record["entries"])
    no_dates = {anchor for anchor in {entry["anchor"] for entry in record["entries"]} if not is_anchor(anchor)}
    seen: set[str] = set()
    for number, entry in enumerate(record["entries"]):
        if entry["anchor"] in no_dates:
            anchor = quote(entry["anchor"])
            yield Oddity("anchor", number, f"the anchor {anchor} is not a date such as 2009-03-XX", anchor)
        for mention in entry["mentions"]:
            if mention in seen:
                yield _mention_oddity("repeated", mention, "is already in the timeline")._replace(entry=number)
            seen.add(mention)


def _count_contradictions(entries: Sequence[Record]) -> Iterator[Oddity]:
    """Count the relations that contradict earlier ones, as happens when an anchor has two positions.

    A timeline without anchors belongs to the track "ordering", in which there are none.
    """
    if not any(entry["anchor"] for entry in entries):
        return
    from closeread.tasks.timeline.kernels.timelines import find_contradictions

    found = find_contradictions(entries)
    if found:
        verb = "contradicts" if len(found) == 1 else "contradict"
        what = f"{pluralize(len(found), 'relation')} {verb} earlier ones in track full, starting here"
        yield Oddity("contradiction", found[0], f"{what}; still counted, but ignored for inference")


def describe_oddities(
    found: Iterable[Oddity], places: Sequence[int], unit: str = "line"
) -> Iterator[tuple[int | None, str]]:
    """Describe oddities, grouped by kind: the place of the first, its description, and where the others are."""
    kinds: dict[str, list[Oddity]] = defaultdict(list)
    rest: dict[str, array[int]] = defaultdict(lambda: array("I"))  # oddities take much more memory than lines
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
    """Format places as ranges, `MAX_RANGES` at most.

    >>> list(_format_ranges([7, 9, 8, 8, 12], "line"))
    ['line 7-9', 'line 12']
    """
    in_order = places if all(map(operator.le, places, islice(places, 1, None))) else sorted(set(places))
    ranges = 0
    first = last = -1
    for place in in_order:
        if place > last + 1 and last >= 0:
            yield f"{unit} {first}-{last}" if last > first else f"{unit} {first}"
            ranges += 1
        if ranges == MAX_RANGES:
            yield f"and further ones from {unit} {place} to {in_order[-1]}"
            return
        first, last = first if 0 <= last >= place - 1 else place, place
    if last >= 0:
        yield f"{unit} {first}-{last}" if last > first else f"{unit} {first}"


def file_stem(entity: str) -> str:
    """Return the name of an entity's file without `.txt`; `&` becomes `_and_`, as in the file that is scored.

    A slash, which no file name can have, becomes `_`.

    >>> file_stem("S&P 500"), file_stem("AC/DC")
    ('s_and_p_500', 'ac_dc')
    """
    return stem_of_id(entity.lower().replace(" ", "_").replace("/", "_"))


def stem_of_id(name: str) -> str:
    """Return the file name, without `.txt`, that is scored, of the two that the release has for one timeline.

    >>> stem_of_id("s&p_500")
    's_and_p_500'
    """
    return name.replace("&", "_and_")


def _mention_oddity(kind: str, mention: str, found: str) -> Oddity:
    return Oddity(kind, None, f"mention {quote(mention)} {found}", quote(mention))


def _make_span(
    document: str | None, sentence: int | None, tokens: tuple[int, int] | None, events: Sequence[str]
) -> Record:
    start, end = tokens or (None, None)
    return {"document": document, "sentence": sentence, "start": start, "end": end, "events": list(events)}


def document_of(mention: str) -> str | None:
    """Return the document that a mention names, available or not; None if it is not a mention."""
    parts = MENTION.fullmatch(mention)
    return None if parts is None else parts[1]


def _find_extent(tokens: Sequence[str], extent: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last token of every occurrence of an extent."""
    for start, token in enumerate(tokens):
        joined, end = token, start
        while len(joined) < len(extent) and end + 1 < len(tokens) and extent.startswith(f"{joined}_"):
            end += 1
            joined = f"{joined}_{tokens[end]}"
        if joined == extent:
            yield start, end


def is_anchor(anchor: str) -> bool:
    """Test whether an anchor has one of the released forms and is a possible date; an empty anchor is valid."""
    if not anchor or is_date(anchor):
        return True
    parts = ANCHOR.fullmatch(anchor)
    if parts is None:
        return False
    year, month, day = (part if part and part.isdecimal() else None for part in parts.groups())
    if year is None or (day is not None and month is None):
        return year is None
    return is_date(f"{year}-{month or '01'}-{day or '01'}")
