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
from itertools import chain, takewhile
from typing import NamedTuple

from closeread.exceptions import quote
from closeread.records import Record

MENTION = re.compile(r"([^-]+)-([0-9]{1,9})-(.+)", re.DOTALL)
ANCHOR = re.compile(
    r"([0-9]{4})(?:-(?:([0-9]{2})|XX)(?:-(?:([0-9]{2})|XX))?)?|XXXX(?:-XX(?:-XX)?)?"
)
"""An anchor; its groups are the numbers of year, month and day."""

Date = tuple[int, ...]
"""Year, month and day as far as they are known."""


class Oddity(NamedTuple):
    """Something unusual about a timeline; oddities are reported, and the text is kept as it is.

    Attributes:
        kind: the kind, by which oddities are grouped in notices.
        entry: the number of the entry, from 0; None if it concerns the timeline as a whole.
        message: the value that is unusual and the one expected.
        subject: the mention or the anchor that it concerns, if any.
    """

    kind: str
    entry: int | None
    message: str
    subject: str = ""

    @classmethod
    def of_mention(cls, kind: str, entry: int, mention: str, message: str) -> Oddity:
        """Return an oddity of a mention."""
        name = quote(mention)
        return cls(kind, entry, f"mention {name} {message}", name)


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
        self.documents = tuple(documents)
        self.splits = splits or {}

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


def merge_splits(splits: Mapping[str, Sequence[Record]]) -> Timelines:
    """Return the timelines of several splits together.

    Corpora have timelines of the same entities, so an id begins with its split and a slash.
    """
    parts = {split: timelines_of(records) for split, records in splits.items()}
    timelines: list[Record] = []
    documents: list[Record] = []
    for split, part in parts.items():
        timelines += [{**record, "id": f"{split}/{record['id']}"} for record in part]
        documents += part.documents
    return Timelines(timelines, documents, parts)


class Texts(NamedTuple):
    """An index of documents for looking up mentions.

    Attributes:
        sentences: for each document and sentence, the number of its first token and its tokens.
        events: the event mentions by the names that timelines use.
    """

    sentences: Mapping[str, Mapping[int, tuple[int, Sequence[str]]]]
    events: Mapping[str, Sequence[Record]]


def as_texts(documents: Iterable[Record]) -> Texts:
    """Index documents (`closeread.tasks.timeline.cat_xml`) for looking up mentions."""
    texts: dict[str, dict[int, tuple[int, list[str]]]] = {}
    events: dict[str, list[Record]] = defaultdict(list)
    for document in documents:
        sentences = texts.setdefault(document["id"], {})
        tokens = zip(document["tokens"], document["sentences"], strict=True)
        for number, (token, sentence) in enumerate(tokens):
            _, words = sentences.setdefault(sentence, (number, []))
            words.append(token)
        for event in document["events"]:
            events[event["mention"]].append(event)
    return Texts(texts, events)


def list_texts(entries: Iterable[Record]) -> list[str]:
    """List the mentions of the entries of a timeline."""
    return list(chain.from_iterable(entry["mentions"] for entry in entries))


def parse_mention(mention: str) -> tuple[str, int, str] | None:
    """Split a mention into document, sentence and extent; return None if it has another form.

    >>> parse_mention("8951-4-take-off")
    ('8951', 4, 'take-off')
    """
    match = MENTION.fullmatch(mention)
    return None if match is None else (match[1], int(match[2]), match[3])


def check_place(
    mention: str, entry: int, sentences: Mapping[str, Collection[int]]
) -> Oddity | None:
    """Return the oddity of a mention's form, document or sentence; None if all of them are known."""
    parsed = parse_mention(mention)
    if parsed is None:
        return Oddity.of_mention("form", entry, mention, "is not of the form docid-sentid-extent")
    document, sentence, _ = parsed
    if document in sentences and sentence in sentences[document]:
        return None
    if document in sentences:
        kind = "sentence"
        message = f"names sentence {sentence}, which its document does not have"
    elif ANCHOR.fullmatch(mention):
        kind = "date"
        message = "looks like an anchor (two lines may have been joined)"
    else:
        kind = "document"
        message = f"names document {quote(document)}, which is not available"
    return Oddity.of_mention(kind, entry, mention, message)


def locate_mention(mention: str, entry: int, texts: Texts) -> tuple[Record, Oddity | None]:
    """Find the place of a mention, and its oddity, if any.

    A mention refers to the event mention of that name, or, if there is none, to the tokens of that extent.  If there
    are several, it is ambiguous.
    """
    span: Record = dict.fromkeys(("document", "sentence", "start", "end"))
    span["events"] = []
    oddity = check_place(mention, entry, texts.sentences)
    parsed = parse_mention(mention)
    if parsed is None:
        return span, oddity
    document, sentence, extent = parsed
    if document in texts.sentences:
        span["document"] = document
    if oddity is not None:
        return span, oddity
    span["sentence"] = sentence
    events = texts.events.get(mention, ())
    span["events"] = [event["id"] for event in events]
    if len(events) > 1:
        message = f"is ambiguous: {len(events)} event mentions have this name"
        return span, Oddity.of_mention("ambiguous", entry, mention, message)
    if events:
        tokens = events[0]["tokens"]
        span.update(start=min(tokens), end=max(tokens))
        return span, None
    first_token, words = texts.sentences[document][sentence]
    places = list(_find_extent(words, extent))
    message = "is not an event mention of track B"
    if len(places) == 1:
        start, end = places[0]
        span.update(start=first_token + start, end=first_token + end)
        return span, Oddity.of_mention("event", entry, mention, message)
    times = f"{len(places)} times in" if places else "nowhere in"
    message += f", and its extent occurs {times} its sentence"
    return span, Oddity.of_mention("words", entry, mention, message)


def _find_extent(tokens: Sequence[str], extent: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last token of every occurrence of an extent."""
    for start, token in enumerate(tokens):
        end = start
        joined = token
        while extent.startswith(f"{joined}_") and end + 1 < len(tokens):
            end += 1
            joined += f"_{tokens[end]}"
        if joined == extent:
            yield start, end


def date_of(anchor: str) -> Date:
    """Parse an anchor as a date, as far as it is known; return () if it is not a possible date.

    >>> [date_of(anchor) for anchor in ("2007-03-19", "2007-03-XX", "2007-03", "2007-XX-XX", "XXXX-XX-XX", "in May")]
    [(2007, 3, 19), (2007, 3), (2007, 3), (2007,), (), ()]
    >>> date_of("2007-02-30"), date_of("2007-13")
    ((), ())
    """
    match = ANCHOR.fullmatch(anchor)
    if match is None:
        return ()
    numbers = tuple(int(part) for part in takewhile(bool, match.groups()))
    try:
        date(*(*numbers, 1, 1, 1)[:3])
    except ValueError:
        return ()
    return numbers


def is_anchor(anchor: str) -> bool:
    """Test whether an anchor has one of the released forms and is a possible date; an empty anchor is valid."""
    match = ANCHOR.fullmatch(anchor)
    if match is None:
        return not anchor
    # A day of an unknown month is no part of a date.
    n_numbers = sum(part is not None for part in match.groups())
    return len(date_of(anchor)) == n_numbers


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
