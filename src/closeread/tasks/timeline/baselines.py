"""TimeLine's baselines: an entity takes part in what is said in the sentences that name it, when it is said.

Conventions: events are those of track B.  A sentence names an entity where its tokens have the words of the name one
after the other, in any case.  Every mention is an event of its own and anchored at the creation time of its document,
as written; where that is no date, the event's place is not known (`closeread.tasks.timeline.building`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from closeread.corpora.baselines import Baseline, path_option
from closeread.errors import FormatError, RequestError
from closeread.records import Record
from closeread.tasks.timeline.building import UNKNOWN, Event, in_order
from closeread.tasks.timeline.cat_xml import read_folder
from closeread.tasks.timeline.gold import timelines_of


class Said(NamedTuple):
    """An event mention in its sentence.

    Attributes:
        event: the event.
        sentence: the tokens of the sentence, in lower case, each between blanks.
    """

    event: Event
    sentence: str


def by_creation_time(events: Sequence[Event]) -> list[Record]:
    """Events in the order of their anchors; those of one anchor are simultaneous."""
    return in_order(events)


def by_text(events: Sequence[Event]) -> list[Record]:
    """Events one after the other: in the order of their anchors and, of documents of a day, of the texts."""
    entries = in_order(events)
    unknown = sum(entry["position"] == 0 for entry in entries)
    return [{**entry, "position": max(0, number)} for number, entry in enumerate(entries, start=1 - unknown)]


def timelines(
    order: Callable[[Sequence[Event]], list[Record]], records: Sequence[Record], *, articles: str
) -> list[Record]:
    """A timeline for every entity, of the events whose sentences name it.

    Raises:
        RequestError: there are no documents.
        FormatError: the folder of documents can't be read.
    """
    folder = Path(articles) if articles else None
    said = [one for document in _documents(records, folder) for one in _said(document)]
    rows = []
    for record in records:
        name = _between_blanks(record["entity"].split())
        entries = order([one.event for one in said if name in one.sentence])
        rows.append({"id": record["id"], "entity": record["entity"], "entries": entries})
    return rows


def _documents(records: Sequence[Record], articles: Path | None) -> Sequence[Record]:
    if articles is not None:
        parsed = read_folder(articles)
        if parsed.problems:
            raise FormatError(articles, parsed.problems)
        return parsed.records
    documents = timelines_of(records).documents
    if not documents:
        raise RequestError("there are no documents beside these timelines; name a folder of them with --articles")
    return documents


def _said(document: Record) -> Iterator[Said]:
    """The event mentions of a document in the order of its text."""
    words: dict[int, list[str]] = defaultdict(list)
    for token, sentence in zip(document["tokens"], document["sentences"], strict=True):
        words[sentence].append(token)
    texts = {sentence: _between_blanks(tokens) for sentence, tokens in words.items()}
    time = document["creation_time"]
    for event in sorted(document["events"], key=lambda event: event["tokens"][0]):
        sentence = document["sentences"][event["tokens"][0]]
        yield Said(Event(UNKNOWN if time is None else time, [event["mention"]]), texts[sentence])


def _between_blanks(words: Sequence[str]) -> str:
    return f" {' '.join(words)} ".casefold()


ARTICLES = path_option("articles", "Read the documents in CAT (.xml) from this folder.  [default: the corpus's own]")
BASELINES = (
    Baseline(
        "creation-time",
        partial(timelines, by_creation_time),
        "Predict the events in sentences that name the entity, at the creation time of their document.",
        (ARTICLES,),
    ),
    Baseline(
        "text-order",
        partial(timelines, by_text),
        "Predict the same events as creation-time, one after the other as in the text.",
        (ARTICLES,),
    ),
)
