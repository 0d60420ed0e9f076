"""Baselines of TimeLine: an entity takes part in all events of the sentences that name it, at the document's date.

Conventions: events are those of track B.  A sentence names an entity if it contains the words of the name in sequence,
ignoring case.  Every mention is an event of its own, anchored at the creation time of its document, as written; if that
is not a date, the event is at position 0 (`closeread.tasks.timeline.building`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from closeread.corpus.baselines import Baseline, path_option
from closeread.exceptions import FormatError, RequestError, name_option
from closeread.records import Record
from closeread.tasks.timeline.building import UNKNOWN, Event, order_events
from closeread.tasks.timeline.cat_xml import read_folder
from closeread.tasks.timeline.timeline_mentions import Timelines, merge_splits, timelines_of


def predict_timelines(records: Sequence[Record], *, articles: str, strictly: bool) -> list[Record]:
    """Predict a timeline for every entity: the events whose sentences name it, in the documents of the entity's split.

    Events with the same anchor are simultaneous, or, strictly, in text order.  For the timelines of several splits,
    `articles` has a folder for each.
    """
    folder = Path(articles) if articles else None
    timelines = timelines_of(records)
    if not timelines.splits:
        return _predict_split(timelines, folder, strictly=strictly)
    predictions = {}
    for split, in_split in timelines.splits.items():
        split_folder = None if folder is None else folder / split
        predictions[split] = _predict_split(in_split, split_folder, strictly=strictly)
    return merge_splits(predictions)


def _predict_split(timelines: Timelines, articles: Path | None, *, strictly: bool) -> list[Record]:
    events: list[tuple[Event, str]] = []
    for document in _get_documents(timelines, articles):
        events += _find_events(document)
    rows = []
    for record in timelines:
        name = _join_words(record["entity"].split())
        entries = order_events(event for event, sentence in events if name in sentence)
        if strictly:
            n_unknown = sum(entry["position"] == 0 for entry in entries)
            for number, entry in enumerate(entries, start=1 - n_unknown):
                entry["position"] = max(0, number)
        rows.append({"id": record["id"], "entity": record["entity"], "entries": entries})
    return rows


def _get_documents(timelines: Timelines, articles: Path | None) -> Sequence[Record]:
    if articles is not None:
        parsed = read_folder(articles)
        if parsed.problems:
            raise FormatError(articles, parsed.problems)
        return parsed.records
    if not timelines.documents:
        option = name_option("articles")
        raise RequestError(
            f"these timelines have no documents; use {option} to name a folder of documents"
        )
    return timelines.documents


def _find_events(document: Record) -> Iterator[tuple[Event, str]]:
    """Yield the event mentions of a document in text order, each with the words of its sentence."""
    words: dict[int, list[str]] = defaultdict(list)
    for token, sentence in zip(document["tokens"], document["sentences"], strict=True):
        words[sentence].append(token)
    texts = {sentence: _join_words(tokens) for sentence, tokens in words.items()}
    date = UNKNOWN if document["creation_time"] is None else document["creation_time"]
    for event in sorted(document["events"], key=lambda event: event["tokens"][0]):
        sentence = document["sentences"][event["tokens"][0]]
        yield (date, [event["mention"]]), texts[sentence]


def _join_words(words: Sequence[str]) -> str:
    """Return case-folded words, each surrounded by spaces."""
    return f" {' '.join(words)} ".casefold()


ARTICLES = path_option(
    "articles", "Read the documents in CAT (.xml) from this folder.  [default: the corpus's own]"
)
BASELINES = (
    Baseline(
        "creation-time",
        partial(predict_timelines, strictly=False),
        "Predict the events in sentences that name the entity, at the creation time of their document.",
        (ARTICLES,),
    ),
    Baseline(
        "text-order",
        partial(predict_timelines, strictly=True),
        "Predict the same events as creation-time, in the order of the text.",
        (ARTICLES,),
    ),
)
