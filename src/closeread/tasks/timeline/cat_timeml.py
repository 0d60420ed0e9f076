"""Conversion of documents between CAT and TimeML; the organisers of TimeLine released each document in both.

Conventions: TimeML has the tokens of a sentence separated by spaces, sentences as `s`, the text of the first sentence
as title, and event ids prefixed with `e`.  An event is marked from its first token to the last one before a gap (the
release marks only the first token).  Only CAT has the remaining tokens of events, the tokens of the creation time, and
the document's name and URL.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, RequestError, describe_problems, pluralize, quote
from closeread.formats.timeml import (
    DCT,
    EVENT,
    TEXT,
    TIMEX,
    Document,
    Passage,
    Span,
    dump_timeml,
    read_timeml,
)
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import (
    CREATION_TIME,
    NUMBER,
    SUFFIX,
    TITLES_SUFFIX,
    dump_document,
    mention_name,
    read_document,
)

SENTENCE = "s"
TITLE = "EXTRAINFO"
TIME_ID = "t0"
WORD = re.compile(r"\S+")


def as_timeml(document: Record) -> Document:
    """Convert a CAT document (`closeread.tasks.timeline.cat_xml`) to TimeML."""
    marked = {token: event for event in document["events"] for token in event["tokens"]}
    if len(marked) < sum(len(event["tokens"]) for event in document["events"]):
        raise ValueError("two events share a token, which TimeML can't represent")
    if any(char.isspace() for token in document["tokens"] for char in token):
        raise ValueError("a token contains white space, which TimeML can't represent")
    text = _make_text(document)
    first = next(span for span in text.spans if span.name == SENTENCE)
    title = document["title"] if document["title"] is not None else text.words(first)
    passages = (*_make_creation_time(document), Passage(TITLE, title), text)
    return Document(document["id"], passages)


def _make_creation_time(document: Record) -> Iterator[Passage]:
    time = document["creation_time"]
    if time is not None:
        attributes = {"functionInDocument": CREATION_TIME, "tid": TIME_ID, "type": "DATE", "value": time}
        yield Passage(DCT, time, (Span(TIMEX, 0, len(time), attributes),))


def _make_text(document: Record) -> Passage:
    """Return the sentences with their events as a passage."""
    ends = {event["tokens"][0]: (event, _find_last(event["tokens"])) for event in document["events"]}
    starts, place = [], 0
    sentences = document["sentences"]
    for number, token in enumerate(document["tokens"]):
        starts.append(place)
        place += len(token) + (number + 1 < len(sentences) and sentences[number + 1] == sentences[number])

    def end(token: int) -> int:
        return starts[token] + len(document["tokens"][token])

    spans: list[Span] = []
    text: list[str] = []
    for sentence, group in groupby(range(len(sentences)), key=sentences.__getitem__):
        numbers = list(group)
        text.append(" ".join(document["tokens"][number] for number in numbers))
        spans.append(Span(SENTENCE, starts[numbers[0]], end(numbers[-1]), {"id": str(sentence)}))
        for number in numbers:
            if number in ends:
                event, last = ends[number]
                spans.append(Span(EVENT, starts[number], end(last), {"eid": f"e{event['id']}"}))
    return Passage(TEXT, "".join(text), tuple(spans))


def _find_last(tokens: Sequence[int]) -> int:
    """Return the last token before the first gap."""
    return next((one for one, other in pairwise(tokens) if other != one + 1), tokens[-1])


def lost_in_timeml(document: Record) -> list[str]:
    """Describe what is lost when a CAT document is converted to TimeML."""
    gaps = sum(_find_last(event["tokens"]) != event["tokens"][-1] for event in document["events"])
    found = []
    if gaps:
        found.append(f"the tokens after a gap in {gaps:,} of {pluralize(len(document['events']), 'event')}")
    named = {"name": "the name", "url": "the URL", "creation_time_tokens": "the tokens of the creation time"}
    return [*found, *(words for field, words in named.items() if document[field])]


def as_cat(document: Document) -> Record:
    """Convert a TimeML document with sentences to CAT."""
    passage = document.passage(TEXT)
    if not document.id or passage is None:
        raise ValueError("has no DOCID or no text (expected both)")
    tokens = _split_tokens(passage)
    words = [passage.text[token.start : token.end] for token in tokens]
    sentences = [token.sentence for token in tokens]
    if "".join(words) != "".join(passage.text.split()) or sentences != sorted(sentences):
        raise ValueError(
            f"text is outside sentences (expected all text in <{SENTENCE} id=…>, with ids in ascending order)"
        )
    time = document.creation_time
    events = [span for span in passage.spans if span.name == EVENT]
    names = _make_ids(events, () if time is None else (time.id,))
    of = [_align_tokens(event, tokens) for event in events]
    return {
        "id": document.id,
        "name": None,
        "url": None,
        "title": document.title,
        "creation_time": None if time is None else time.attributes.get("value", ""),
        "creation_time_id": None if time is None else time.id,
        "creation_time_tokens": [],
        "tokens": words,
        "sentences": sentences,
        "events": [
            {
                "id": name,
                "mention": mention_name(document.id, sentences[numbers[0]], [words[number] for number in numbers]),
                "tokens": numbers,
            }
            for name, numbers in zip(names, of, strict=True)
        ],
    }


class Token(NamedTuple):
    """A token of a text: its characters, the end exclusive, and its sentence."""

    start: int
    end: int
    sentence: int


def _split_tokens(passage: Passage) -> list[Token]:
    """Return the words of the sentences, in order."""
    return [
        Token(span.start + word.start(), span.start + word.end(), int(span.attributes["id"]))
        for span in passage.spans
        if span.name == SENTENCE and NUMBER.fullmatch(span.attributes.get("id", ""))
        for word in WORD.finditer(passage.words(span))
    ]


def _align_tokens(event: Span, tokens: Sequence[Token]) -> list[int]:
    first, after = (bisect_left(tokens, (place,)) for place in (event.start, event.end))
    if first == after or tokens[first].start != event.start or tokens[after - 1].end != event.end:
        raise ValueError(f"event {quote(event.id)} does not align with token boundaries")
    return list(range(first, after))


def _make_ids(events: Sequence[Span], taken: Sequence[str]) -> list[str]:
    """Return the ids of events in CAT: without their `e` prefix if all have it and the ids stay distinct."""
    shorter = [event.id.removeprefix("e") for event in events]
    distinct = all(event.id.startswith("e") for event in events) and not {"", *taken} & set(shorter)
    return shorter if distinct else [event.id for event in events]


def lost_in_cat(document: Document) -> list[str]:
    """Describe what is lost when a TimeML document is converted to CAT."""
    others = len(document.spans(TIMEX)) - (document.creation_time is not None)
    outside = sum(passage.name != TEXT for passage, _ in document.spans(EVENT))
    described = sum(len(event.attributes) > 1 for _, event in document.spans(EVENT))
    links = len(document.tlinks) + len(document.others)
    counts = (
        ("time", " other than the creation time", others),
        ("event", " outside the text", outside),
        ("event instance", "", len(document.instances)),
        ("link", "", links),
    )
    found = [f"{pluralize(number, noun)}{which}" for noun, which, number in counts if number]
    return found + [f"the attributes of {pluralize(described, 'event')}"] * bool(described)


class Conversion(NamedTuple):
    """A document in another format."""

    text: str  # the text of the new file
    lost: list[str]  # what the new format can't hold, in words
    notices: list[str]  # what is odd about the old file, in words


def is_document(source: Path, output: Path) -> bool:
    """Return whether a conversion from one path to another is about a document in CAT or TimeML, by their suffixes."""
    return bool({source.suffix, output.suffix} & {SUFFIX, TITLES_SUFFIX})


def convert_document(source: Path, output: Path) -> Conversion:
    """Convert a document between CAT and TimeML; the suffixes of the paths are the formats."""
    if (source.suffix, output.suffix) == (SUFFIX, TITLES_SUFFIX):
        return _convert_to_timeml(source)
    if (source.suffix, output.suffix) == (TITLES_SUFFIX, SUFFIX):
        return _convert_to_cat(source)
    found = f"can't convert {source.name} to {output.name}"
    raise RequestError(f"{found} (expected a document in CAT, {SUFFIX}, and one in TimeML, {TITLES_SUFFIX})")


def _convert_to_timeml(path: Path) -> Conversion:
    read = read_document(path)
    if read.problems:
        raise FormatError(path, read.problems)
    try:
        text = dump_timeml(as_timeml(read.document))
    except ValueError as error:
        raise FormatError(path, [Problem(str(error))]) from None
    return Conversion(text, lost_in_timeml(read.document), describe_problems(str(path), read.notices))


def _convert_to_cat(path: Path) -> Conversion:
    document = read_timeml(path)
    try:
        return Conversion(dump_document(as_cat(document)), lost_in_cat(document), [])
    except ValueError as error:
        raise FormatError(path, [Problem(str(error))]) from None
