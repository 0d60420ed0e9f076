"""Mentions of timelines: where they are in their documents, and what is odd about a timeline.

Source: Minard et al. (2015), section 3; the files of SemEval-2015 Task 4.

Conventions: a mention is written `docid-sentid-extent`, split at the first two hyphens; the extent is the tokens joined
by `_`, in their own case.  Nothing is repaired: what a mention does not say exactly it does not say.  Oddities are no
errors: they are told, and everything stays as it is written.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from closeread.errors import pluralize, quote
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import is_date

MENTION = re.compile(r"([^-]+)-([0-9]{1,9})-(.+)", re.DOTALL)
ANCHOR = re.compile(r"([0-9]{4})(?:-([0-9]{2}|XX)(?:-([0-9]{2}|XX))?)?|XXXX-XX-XX")
LISTED = 20
"""How many mentions or anchors with one kind of oddity are named; of the others the lines are."""


class Texts(NamedTuple):
    """Documents, as mentions are looked up in them.

    Attributes:
        sentences: the sentences of each document, as the number of the first token and the tokens.
        events: the event mentions by the names that timelines give them.
    """

    sentences: Mapping[str, Mapping[int, tuple[int, Sequence[str]]]]
    events: Mapping[str, Sequence[Mapping[str, Any]]]


class Oddity(NamedTuple):
    """Something that is odd about a timeline.

    Attributes:
        kind: what kind of thing it is, to tell like ones together.
        entry: the entry, from 0; None where it concerns the timeline as a whole.
        what: what was found, and what it should have been.
        about: the mention or the anchor that it is about, where it is about one.
    """

    kind: str
    entry: int | None
    what: str
    about: str = ""


def as_texts(documents: Iterable[Record]) -> Texts:
    """Documents (`closeread.tasks.timeline.cat_xml`) as mentions are looked up in them."""
    sentences: dict[str, dict[int, tuple[int, list[str]]]] = {}
    events: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for document in documents:
        of_document = sentences.setdefault(document["id"], {})
        for number, (token, sentence) in enumerate(zip(document["tokens"], document["sentences"], strict=True)):
            of_document.setdefault(sentence, (number, []))[1].append(token)
        for event in document["events"]:
            events[event["mention"]].append(event)
    return Texts(sentences, events)


def resolved(mention: str, texts: Texts) -> tuple[Record, Oddity | None]:
    """Where a mention is, and what is odd about it; the oddity has no entry yet.

    A mention is the event mention of that name, or, where there is none, the tokens of that extent; where several are,
    it can't be told which.

    Returns:
        The span: the `document`, the `sentence`, the numbers of the first and the last token, both inclusive (`start`
        and `end`), each None where that can't be told, and the ids of the `events` of that name.
    """
    unknown = unknown_place(mention, texts.sentences)
    if unknown is not None:
        document = named_document(mention)
        return _span(document if document in texts.sentences else None, None, None, ()), unknown
    document, sentence, extent = split_mention(mention)
    events = texts.events.get(mention, ())
    ids = [event["id"] for event in events]
    if len(events) > 1:
        found = f"is the name of {len(events)} event mentions, and it can't be told which is meant"
        return _span(document, sentence, None, ids), _of_mention("ambiguous", mention, found)
    if events:
        tokens = events[0]["tokens"]
        return _span(document, sentence, (min(tokens), max(tokens)), ids), None
    first, words = texts.sentences[document][sentence]
    places = [(first + start, first + end) for start, end in _places(words, extent)]
    found = "is no event mention of track B"
    if len(places) == 1:
        return _span(document, sentence, places[0], ids), _of_mention("event", mention, found)
    found += f", and its sentence has it {len(places)} times" if places else ", and its sentence does not have it"
    return _span(document, sentence, None, ids), _of_mention("words", mention, found)


def split_mention(mention: str) -> tuple[str, int, str]:
    """A mention's document, sentence and extent.

    >>> split_mention("8951-4-take-off")
    ('8951', 4, 'take-off')

    Raises:
        ValueError: it is no mention.
    """
    parts = MENTION.fullmatch(mention)
    if parts is None:
        raise ValueError(f"{quote(mention)} is no mention; needed: docid-sentid-extent")
    return parts[1], int(parts[2]), parts[3]


def unknown_place(mention: str, sentences: Mapping[str, Iterable[int]]) -> Oddity | None:
    """What is odd about a mention's form, document or sentence; None where all of them are known.

    Args:
        mention: the mention.
        sentences: the numbers of the sentences of every document.
    """
    parts = MENTION.fullmatch(mention)
    if parts is None:
        return _of_mention("form", mention, "is no docid-sentid-extent")
    if parts[1] not in sentences:
        if ANCHOR.fullmatch(mention):
            return _of_mention("date", mention, "has the form of an anchor, as where two lines run together")
        return _of_mention("document", mention, f"is of a document {quote(parts[1])}, which is not there")
    if int(parts[2]) not in sentences[parts[1]]:
        return _of_mention("sentence", mention, f"is of a sentence {int(parts[2])}, which its document does not have")
    return None


def oddities(record: Record) -> Iterator[Oddity]:
    """What is odd about a timeline by itself: its name, its positions, its anchors, and mentions that come again."""
    if file_stem(record["entity"]) != record["id"]:
        needed = f"{file_stem(record['entity'])}, as the entity {quote(record['entity'])} has it"
        yield Oddity("name", None, f"the timeline is named {quote(record['id'])} and not {needed}")
    positions = {entry["position"] for entry in record["entries"]} - {0}
    if len(positions) != max(positions, default=0):
        found = f"{len(positions):,} positions go up to {max(positions):,}"
        yield Oddity("positions", None, f"{found}; released timelines count from 1 without gaps")
    yield from _contradictions(record["entries"])
    no_dates = {anchor for anchor in {entry["anchor"] for entry in record["entries"]} if not is_anchor(anchor)}
    seen: set[str] = set()
    for number, entry in enumerate(record["entries"]):
        if entry["anchor"] in no_dates:
            anchor = quote(entry["anchor"])
            yield Oddity("anchor", number, f"the anchor {anchor} is no date such as 2009-03-XX", anchor)
        for mention in entry["mentions"]:
            if mention in seen:
                yield _of_mention("repeated", mention, "is in the timeline already")._replace(entry=number)
            seen.add(mention)


def _contradictions(entries: Sequence[Record]) -> Iterator[Oddity]:
    """How many relations of a timeline contradict others, as they do where an anchor has two positions.

    Without any anchor a timeline is of the track "ordering", in which none do.
    """
    if not any(entry["anchor"] for entry in entries):
        return
    from closeread.tasks.timeline.kernels.timelines import contradictory

    found = contradictory(entries)
    if found:
        what = f"{pluralize(len(found), 'relation')} in contradiction to earlier ones (track full), here the first"
        yield Oddity("contradiction", found[0], f"{what}: it counts as all do, and nothing follows from it")


def told(found: Iterable[Oddity], places: Sequence[int], unit: str = "line") -> Iterator[tuple[int | None, str]]:
    """Oddities in words, those of a kind together: the place of the first, and what it is and where the others are.

    Args:
        found: the oddities of a timeline.
        places: the place of every entry.
        unit: what places count.
    """
    kinds: dict[str, list[Oddity]] = defaultdict(list)
    for oddity in found:
        kinds[oddity.kind].append(oddity)
    for first, *others in kinds.values():
        named = [
            f"{o.about} ({unit} {places[o.entry]})" if o.about else f"{unit} {places[o.entry]}"
            for o in others[:LISTED]
            if o.entry is not None
        ]
        rest = [places[o.entry] for o in others[LISTED:] if o.entry is not None]
        named += [f"{unit} {stretch}" for stretch in _stretches(rest)]
        more = f"; {len(others):,} more like it: {', '.join(named)}" if others else ""
        yield None if first.entry is None else places[first.entry], f"{first.what}{more}"


def _stretches(places: Iterable[int]) -> Iterator[str]:
    """Places in words, neighbours together.

    >>> list(_stretches([7, 9, 8, 8, 12]))
    ['7 to 9', '12']
    """
    for _, together in groupby(enumerate(sorted(set(places))), key=lambda numbered: numbered[1] - numbered[0]):
        first, *others = [place for _, place in together]
        yield f"{first} to {others[-1]}" if others else str(first)


def file_stem(entity: str) -> str:
    """The name of an entity's file without `.txt`; `&` is written `and`, as in the file that is scored.

    >>> file_stem("S&P 500")
    's_and_p_500'
    """
    return stem_of_id(entity.lower().replace(" ", "_"))


def stem_of_id(name: str) -> str:
    """A timeline's file name without `.txt`, of the two that the release has for one timeline the one that is scored.

    >>> stem_of_id("s&p_500")
    's_and_p_500'
    """
    return name.replace("&", "_and_")


def _of_mention(kind: str, mention: str, found: str) -> Oddity:
    return Oddity(kind, None, f"mention {quote(mention)} {found}", quote(mention))


def _span(document: str | None, sentence: int | None, tokens: tuple[int, int] | None, events: Sequence[str]) -> Record:
    start, end = tokens or (None, None)
    return {"document": document, "sentence": sentence, "start": start, "end": end, "events": list(events)}


def named_document(mention: str) -> str | None:
    """The document that a mention names, whether it is there or not; None where it is no mention."""
    parts = MENTION.fullmatch(mention)
    return None if parts is None else parts[1]


def _places(tokens: Sequence[str], extent: str) -> Iterator[tuple[int, int]]:
    """The first and the last of every run of tokens that make up an extent."""
    for start, token in enumerate(tokens):
        joined, end = token, start
        while len(joined) < len(extent) and end + 1 < len(tokens) and extent.startswith(f"{joined}_"):
            end += 1
            joined = f"{joined}_{tokens[end]}"
        if joined == extent:
            yield start, end


def is_anchor(anchor: str) -> bool:
    """Whether an anchor is one of the released forms and not impossible; an empty one is legal."""
    if not anchor or is_date(anchor):
        return True
    parts = ANCHOR.fullmatch(anchor)
    if parts is None:
        return False
    year, month, day = (part if part and part.isdecimal() else None for part in parts.groups())
    if year is None or (day is not None and month is None):
        return year is None
    return is_date(f"{year}-{month or '01'}-{day or '01'}")
