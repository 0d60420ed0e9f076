"""Conversion of documents between CAT and TimeML; the organisers of TimeLine released each document in both.

Conventions: TimeML has the tokens of a sentence separated by spaces, sentences as `s`, the text of the first sentence
as title, and event ids prefixed with `e`.  An event is marked from its first token to the last one before a gap (the
release marks only the first token).  Only CAT has the remaining tokens of events, the tokens of the creation time, and
the document's name and URL.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_problems,
    pluralize,
    quote,
)
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
    name_event,
    read_document,
)

SENTENCE = "s"
TITLE = "EXTRAINFO"
TIME_ID = "t0"
WORD = re.compile(r"\S+")


def is_document(source: Path, output: Path) -> bool:
    """Return whether a conversion from one path to another is about a document in CAT or TimeML, by their suffixes."""
    return bool({source.suffix, output.suffix} & {SUFFIX, TITLES_SUFFIX})


def convert_document(source: Path, output: Path) -> tuple[str, list[str]]:
    """Convert a document between CAT and TimeML, by the suffixes of the paths.

    Returns the text of the new file, and in words what is odd about the old one and what the new one can't hold.
    """
    if {source.suffix, output.suffix} != {SUFFIX, TITLES_SUFFIX}:
        found = f"can't convert {source.name} to {output.name}"
        raise RequestError(
            f"{found} (expected a document in CAT, {SUFFIX}, and one in TimeML, {TITLES_SUFFIX})"
        )
    notices: list[str] = []
    try:
        if source.suffix == SUFFIX:
            read = read_document(source)
            notices += describe_problems(str(source), read.notices)
            text, lost = dump_timeml(as_timeml(read.document)), lost_in_timeml(read.document)
        else:
            document = read_timeml(source)
            text, lost = dump_document(as_cat(document)), lost_in_cat(document)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(source, [Problem(str(error))]) from None
    return text, [*notices, *(f"lost: {what}." for what in lost)]


def as_timeml(document: Record) -> Document:
    """Convert a CAT document (`closeread.tasks.timeline.cat_xml`) to TimeML."""
    words, sentences = document["tokens"], document["sentences"]
    marked = [token for event in document["events"] for token in event["tokens"]]
    if len(set(marked)) < len(marked):
        raise ValueError("two events share a token, which TimeML can't represent")
    if any(char.isspace() for word in words for char in word):
        raise ValueError("a token contains white space, which TimeML can't represent")
    starts, ends, place = [], [], 0
    for number, word in enumerate(words):
        place += number > 0 and sentences[number] == sentences[number - 1]
        starts.append(place)
        place += len(word)
        ends.append(place)
    events = {event["tokens"][0]: event for event in document["events"]}
    spans: list[Span] = []
    texts: list[str] = []
    for sentence, group in groupby(range(len(words)), key=sentences.__getitem__):
        numbers = list(group)
        texts.append(" ".join(words[number] for number in numbers))
        spans.append(Span(SENTENCE, starts[numbers[0]], ends[numbers[-1]], {"id": str(sentence)}))
        for number in filter(events.__contains__, numbers):
            last = _find_last(events[number]["tokens"])
            spans.append(
                Span(EVENT, starts[number], ends[last], {"eid": f"e{events[number]['id']}"})
            )
    title, time, passages = document["title"], document["creation_time"], []
    if time is not None:
        attributes = {
            "functionInDocument": CREATION_TIME,
            "tid": TIME_ID,
            "type": "DATE",
            "value": time,
        }
        passages.append(Passage(DCT, time, (Span(TIMEX, 0, len(time), attributes),)))
    passages.append(Passage(TITLE, texts[0] if title is None else title))
    return Document(document["id"], (*passages, Passage(TEXT, "".join(texts), tuple(spans))))


def _find_last(tokens: Sequence[int]) -> int:
    """Return the last token before the first gap."""
    return next((one for one, other in pairwise(tokens) if other != one + 1), tokens[-1])


def lost_in_timeml(document: Record) -> list[str]:
    """Describe the information lost when a CAT document is converted to TimeML."""
    gaps = sum(_find_last(event["tokens"]) != event["tokens"][-1] for event in document["events"])
    events = pluralize(len(document["events"]), "event")
    found = [f"the tokens after a gap in {gaps:,} of {events}"] if gaps else []
    named = {
        "name": "the name",
        "url": "the URL",
        "creation_time_tokens": "the tokens of the creation time",
    }
    return [*found, *(words for field, words in named.items() if document[field])]


class Token(NamedTuple):
    """A token of a text: its characters, the end exclusive, and its sentence."""

    start: int
    end: int
    sentence: int


def as_cat(document: Document) -> Record:
    """Convert a TimeML document with sentences to CAT."""
    passage, time = document.passage(TEXT), document.creation_time
    if not document.id or passage is None:
        raise ValueError("has no DOCID or no text (expected both)")
    tokens = [
        Token(span.start + word.start(), span.start + word.end(), int(span.attributes["id"]))
        for span in passage.spans
        if span.name == SENTENCE and NUMBER.fullmatch(span.attributes.get("id", ""))
        for word in WORD.finditer(passage.words(span))
    ]
    words = [passage.text[token.start : token.end] for token in tokens]
    sentences = [token.sentence for token in tokens]
    if "".join(words) != "".join(passage.text.split()) or sentences != sorted(sentences):
        expected = f"expected all text in <{SENTENCE} id=…>, with ids in ascending order"
        raise ValueError(f"text is outside sentences ({expected})")
    events = [span for span in passage.spans if span.name == EVENT]
    record: Record = {
        "id": document.id,
        "name": None,
        "url": None,
        "title": document.title,
        "creation_time": None if time is None else time.attributes.get("value", ""),
        "creation_time_id": None if time is None else time.id,
        "creation_time_tokens": [],
        "tokens": words,
        "sentences": sentences,
    }
    # Ids lose their prefix `e` if all have it and they stay distinct.
    names = [event.id.removeprefix("e") for event in events]
    if not all(event.id.startswith("e") for event in events) or {"", time and time.id} & set(names):
        names = [event.id for event in events]
    pairs = zip(names, events, strict=True)
    record["events"] = [
        name_event(record, name, _align_tokens(event, tokens)) for name, event in pairs
    ]
    return record


def _align_tokens(event: Span, tokens: Sequence[Token]) -> list[int]:
    first, after = (bisect_left(tokens, (place,)) for place in (event.start, event.end))
    if first == after or tokens[first].start != event.start or tokens[after - 1].end != event.end:
        raise ValueError(f"event {quote(event.id)} does not align with token boundaries")
    return list(range(first, after))


def lost_in_cat(document: Document) -> list[str]:
    """Describe the information lost when a TimeML document is converted to CAT."""
    described = sum(len(event.attributes) > 1 for _, event in document.spans(EVENT))
    counts = (
        (
            "time",
            " other than the creation time",
            len(document.spans(TIMEX)) - (document.creation_time is not None),
        ),
        (
            "event",
            " outside the text",
            sum(passage.name != TEXT for passage, _ in document.spans(EVENT)),
        ),
        ("event instance", "", len(document.instances)),
        ("link", "", len(document.tlinks) + len(document.others)),
    )
    found = [f"{pluralize(number, noun)}{which}" for noun, which, number in counts if number]
    return found + [f"the attributes of {pluralize(described, 'event')}"] * bool(described)
