"""Baselines of TimeLine: an entity takes part in all events of the sentences that name it, at the document's date.

Conventions: events are those of track B.  A sentence names an entity if it contains the words of the name in sequence,
ignoring case.  Every mention is an event of its own, anchored at the creation time of its document, as written; if that
is not a date, the event is at position 0 (`closeread.tasks.timeline.building`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.baselines import Baseline, path_option
from closeread.exceptions import FormatError, RequestError, name_option
from closeread.records import Record
from closeread.tasks.timeline.building import UNKNOWN, Event, order_events
from closeread.tasks.timeline.cat_xml import read_folder
from closeread.tasks.timeline.gold import Timelines, timelines_of


class EventInSentence(NamedTuple):
    """An event mention in its sentence."""

    event: Event  # the event
    sentence: str  # the case-folded tokens of the sentence, each surrounded by spaces


def by_creation_time(events: Sequence[Event]) -> list[Record]:
    """Order events by anchor; events with the same anchor are simultaneous."""
    return order_events(events)


def by_text(events: Sequence[Event]) -> list[Record]:
    """Order events strictly: by anchor, then in text order."""
    entries = order_events(events)
    unknown = sum(entry["position"] == 0 for entry in entries)
    return [{**entry, "position": max(0, number)} for number, entry in enumerate(entries, start=1 - unknown)]


def timelines(
    order: Callable[[Sequence[Event]], list[Record]], records: Sequence[Record], *, articles: str
) -> list[Record]:
    """Predict a timeline for every entity: the events whose sentences name it, in the documents of the entity's split.

    For the timelines of several splits, `articles` has a folder for each.
    """
    folder = Path(articles) if articles else None
    known = timelines_of(records)
    if known.splits:
        return [
            {**row, "id": f"{split}/{row['id']}"}
            for split, of_split in known.splits.items()
            for row in timelines(order, of_split, articles=str(folder / split) if folder else "")
        ]
    events = [one for document in _get_documents(known, folder) for one in _find_events(document)]
    rows = []
    for record in known:
        name = _join_words(record["entity"].split())
        entries = order([one.event for one in events if name in one.sentence])
        rows.append({"id": record["id"], "entity": record["entity"], "entries": entries})
    return rows


def _get_documents(known: Timelines, articles: Path | None) -> Sequence[Record]:
    if articles is not None:
        parsed = read_folder(articles)
        if parsed.problems:
            raise FormatError(articles, parsed.problems)
        return parsed.records
    if not known.documents:
        option = name_option("articles")
        raise RequestError(f"these timelines have no documents; use {option} to name a folder of documents")
    return known.documents


def _find_events(document: Record) -> Iterator[EventInSentence]:
    """Yield the event mentions of a document in text order."""
    words: dict[int, list[str]] = defaultdict(list)
    for token, sentence in zip(document["tokens"], document["sentences"], strict=True):
        words[sentence].append(token)
    texts = {sentence: _join_words(tokens) for sentence, tokens in words.items()}
    time = document["creation_time"]
    for event in sorted(document["events"], key=lambda event: event["tokens"][0]):
        sentence = document["sentences"][event["tokens"][0]]
        yield EventInSentence(Event(UNKNOWN if time is None else time, [event["mention"]]), texts[sentence])


def _join_words(words: Sequence[str]) -> str:
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
