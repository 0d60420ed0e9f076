"""Ids, anchors and mentions of timelines, and the documents in which mentions are looked up.

Source: Minard et al. (2015), section 3; the files of SemEval-2015 Task 4.

Conventions: a mention is written `docid-sentid-extent`, split at the first two hyphens; the extent is the tokens joined
by `_`, in their original case.  Nothing is repaired: mentions match exactly or not at all.  An anchor is a full or
partial date: `2007-03-19`, `2007-03-XX` or `2007-03`, `2007-XX-XX` or `2007`, or unknown: `XXXX-XX-XX` and the like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

from closeread.exceptions import quote
from closeread.records import Record

MENTION = re.compile(r"([^-]+)-([0-9]{1,9})-(.+)", re.DOTALL)
ANCHOR = re.compile(r"([0-9]{4})(?:-([0-9]{2}|XX)(?:-([0-9]{2}|XX))?)?|XXXX(?:-XX(?:-XX)?)?")

Date = tuple[int, ...]  # year, month and day as far as they are known


class Oddity(NamedTuple):
    """Something unusual about a timeline; oddities are reported, and the text is kept as it is."""

    kind: str  # the kind, by which oddities are grouped in notices
    entry: int | None  # the entry, from 0; None if it concerns the timeline as a whole
    what: str  # the value found and the one expected
    about: str = ""  # the mention or the anchor that it concerns, if any

    @classmethod
    def of_mention(cls, kind: str, entry: int, mention: str, found: str) -> Oddity:
        """Return an oddity of a mention."""
        return cls(kind, entry, f"mention {quote(mention)} {found}", quote(mention))


class Timelines(list[Record]):
    """Gold timelines, and the documents of their split.

    Args:
        timelines: the records.
        documents: the documents (`closeread.tasks.timeline.cat_xml`); empty if unknown.
        splits: for the timelines of several splits, those of each split; their ids begin with the split and a slash.
    """

    def __init__(
        self,
        timelines: Iterable[Record],
        documents: Iterable[Record] = (),
        splits: Mapping[str, Timelines] | None = None,
    ) -> None:
        super().__init__(timelines)
        self.documents: Sequence[Record] = tuple(documents)
        self.splits: Mapping[str, Timelines] = splits or {}

    @cached_property
    def sentences(self) -> Mapping[str, Collection[int]]:
        """The sentence numbers of every document; empty if the documents are unknown."""
        numbers: dict[str, set[int]] = defaultdict(set)
        for document in self.documents:
            numbers[document["id"]].update(document["sentences"])
        return dict(numbers)

    def split_of(self, name: str) -> Timelines:
        """Return the timelines of the split to which the timeline with this id belongs."""
        return self.splits.get(name.rpartition("/")[0], self)


def timelines_of(records: Sequence[Record]) -> Timelines:
    """Return the records as `Timelines`, with their documents if they have any."""
    return records if isinstance(records, Timelines) else Timelines(records)


def unite(splits: Mapping[str, Sequence[Record]]) -> Timelines:
    """Return the timelines of several splits together.

    Corpora have timelines of the same entities, so an id begins with its split and a slash.
    """
    parts = {split: timelines_of(records) for split, records in splits.items()}
    timelines = (
        {**record, "id": f"{split}/{record['id']}"}
        for split, part in parts.items()
        for record in part
    )
    return Timelines(
        timelines, (document for part in parts.values() for document in part.documents), parts
    )


class Texts(NamedTuple):
    """An index of documents for looking up mentions."""

    # for each document and sentence, the number of its first token and its tokens
    sentences: Mapping[str, Mapping[int, tuple[int, Sequence[str]]]]
    # the event mentions by the names that timelines use
    events: Mapping[str, Sequence[Mapping[str, Any]]]


def as_texts(documents: Iterable[Record]) -> Texts:
    """Index documents (`closeread.tasks.timeline.cat_xml`) for looking up mentions."""
    sentences: dict[str, dict[int, tuple[int, list[str]]]] = {}
    events: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for document in documents:
        of_document = sentences.setdefault(document["id"], {})
        for number, (token, sentence) in enumerate(
            zip(document["tokens"], document["sentences"], strict=True)
        ):
            of_document.setdefault(sentence, (number, []))[1].append(token)
        for event in document["events"]:
            events[event["mention"]].append(event)
    return Texts(sentences, events)


def parse_mention(mention: str) -> tuple[str, int, str] | None:
    """Split a mention into document, sentence and extent; return None if it has another form.

    >>> parse_mention("8951-4-take-off")
    ('8951', 4, 'take-off')
    """
    found = MENTION.fullmatch(mention)
    return None if found is None else (found[1], int(found[2]), found[3])


def check_place(
    mention: str, entry: int, sentences: Mapping[str, Collection[int]]
) -> Oddity | None:
    """Return the oddity of a mention's form, document or sentence; None if all of them are known."""
    parsed = parse_mention(mention)
    if parsed is None:
        return Oddity.of_mention("form", entry, mention, "is not of the form docid-sentid-extent")
    document, sentence, _ = parsed
    if document not in sentences:
        if ANCHOR.fullmatch(mention):
            found = "looks like an anchor (two lines may have been joined)"
            return Oddity.of_mention("date", entry, mention, found)
        return Oddity.of_mention(
            "document", entry, mention, f"names document {quote(document)}, which is not available"
        )
    if sentence not in sentences[document]:
        found = f"names sentence {sentence}, which its document does not have"
        return Oddity.of_mention("sentence", entry, mention, found)
    return None


def locate_mention(mention: str, entry: int, texts: Texts) -> tuple[Record, Oddity | None]:
    """Find the place of a mention, and its oddity, if any.

    A mention refers to the event mention of that name, or, if there is none, to the tokens of that extent.  If there
    are several, it is ambiguous.
    """
    parsed, oddity = parse_mention(mention), check_place(mention, entry, texts.sentences)
    document = parsed[0] if parsed and parsed[0] in texts.sentences else None
    span: Record = {
        "document": document,
        "sentence": None,
        "start": None,
        "end": None,
        "events": [],
    }
    if parsed is None or oddity is not None:
        return span, oddity
    document, span["sentence"], extent = parsed
    events = texts.events.get(mention, ())
    span["events"] = [event["id"] for event in events]
    if len(events) > 1:
        found = f"is ambiguous: {len(events)} event mentions have this name"
        return span, Oddity.of_mention("ambiguous", entry, mention, found)
    if events:
        span.update(start=min(events[0]["tokens"]), end=max(events[0]["tokens"]))
        return span, None
    first, words = texts.sentences[document][span["sentence"]]
    places, found = list(_find_extent(words, extent)), "is not an event mention of track B"
    if len(places) == 1:
        span.update(start=first + places[0][0], end=first + places[0][1])
        return span, Oddity.of_mention("event", entry, mention, found)
    times = f"{len(places)} times in" if places else "nowhere in"
    found += f", and its extent occurs {times} its sentence"
    return span, Oddity.of_mention("words", entry, mention, found)


def _find_extent(tokens: Sequence[str], extent: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last token of every occurrence of an extent."""
    for start, joined in enumerate(tokens):
        end = start
        while (
            len(joined) < len(extent) and end + 1 < len(tokens) and extent.startswith(f"{joined}_")
        ):
            end += 1
            joined = f"{joined}_{tokens[end]}"
        if joined == extent:
            yield start, end


def date_of(anchor: str) -> Date:
    """Parse an anchor as a date, as far as it is known; return () if it is not a possible date.

    >>> [date_of(anchor) for anchor in ("2007-03-19", "2007-03-XX", "2007-03", "2007-XX-XX", "XXXX-XX-XX", "in May")]
    [(2007, 3, 19), (2007, 3), (2007, 3), (2007,), (), ()]
    >>> date_of("2007-02-30"), date_of("2007-13")
    ((), ())
    """
    parts = ANCHOR.fullmatch(anchor)
    if parts is None:
        return ()
    known = tuple(
        int(part)
        for part in takewhile(lambda part: part is not None and part.isdecimal(), parts.groups())
    )
    try:
        date(*(*known, 1, 1, 1)[:3])
    except ValueError:
        return ()
    return known


def is_anchor(anchor: str) -> bool:
    """Test whether an anchor has one of the released forms and is a possible date; an empty anchor is valid."""
    parts = ANCHOR.fullmatch(anchor)
    if parts is None:
        return not anchor
    given = [part for part in parts.groups() if part is not None and part.isdecimal()]
    return len(date_of(anchor)) == len(given)


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
