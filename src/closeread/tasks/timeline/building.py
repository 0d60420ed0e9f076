"""Build timelines from annotated events: the automatic step by which the TimeLine corpus was made.

Source: Minard et al. (2015), section 3: events are ordered by anchor, events with the same anchor share a position, and
events with an unknown anchor are at position 0.

Conventions: an anchor is a full or partial date: `2007-03-19`, `2007-03-XX` or `2007-03`, `2007-XX-XX` or `2007`.
Dates are compared part by part, and a partial date precedes the dates that complete it: 2007, 2007-03, 2007-03-19,
2007-04.  The paper does not state this, but nearly all released timelines follow it.  `2007-03`, a month, and
`2007-03-XX`, an unknown day of it, are the same time (granularity "merge"), or two times of which the coarser comes
first ("keep"), since the paper gives one position to events with the same value only.  All other anchors are unknown
times: `XXXX-XX-XX`, `XXXX-XX`, `XXXX`, and impossible dates.  Events at the same position keep their given order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import read_own_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.schema import load_validator
from closeread.corpus.validation import validate_records
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.json_lines import read_json_lines
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import mention_name, read_folder
from closeread.tasks.timeline.rules import find_odd_rows
from closeread.tasks.timeline.timeline_mentions import Timelines, date_of, file_stem
from closeread.tasks.timeline.timeline_txt import SUFFIX

UNKNOWN = "XXXX-XX-XX"

Event = tuple[str, Sequence[str]]
"""The anchor of an event, and its mentions as named in timelines."""


def order_events(events: Iterable[Event], granularity: str = "merge") -> list[Record]:
    """Return events as the entries of a timeline, in order."""
    entries = []
    times = []
    for anchor, mentions in events:
        entries.append({"position": 0, "anchor": anchor, "mentions": list(mentions)})
        # A year is less exact than a month, and a month than a day; they are one time unless granularities are kept.
        times.append((date_of(anchor), anchor.count("-") if granularity == "keep" else 0))
    dated = sorted({time for time in times if time[0]})
    positions = {time: position for position, time in enumerate(dated, start=1)}
    for entry, time in zip(entries, times, strict=True):
        entry["position"] = positions.get(time, 0)
    return sorted(entries, key=lambda entry: entry["position"])


def recompute_positions(timeline: Record, granularity: str = "merge") -> Record:
    """Recompute the positions of a timeline from its anchors."""
    events = [(entry["anchor"], entry["mentions"]) for entry in timeline["entries"]]
    entries = order_events(events, granularity)
    return {"id": timeline["id"], "entity": timeline["entity"], "entries": entries}


def build_timelines(
    events: Sequence[Record], documents: Mapping[str, Record], granularity: str = "merge"
) -> list[Record]:
    """Build the timeline of every entity that takes part in an event, in order of first appearance.

    An event has the first known anchor of its mentions.
    """
    mentions_by_entity: dict[str, dict[object, list[Record]]] = defaultdict(dict)
    for number, event in enumerate(events):
        name = event.get("coreference")
        events_of_entity = mentions_by_entity[event["entity"]]
        events_of_entity.setdefault(number if name is None else name, []).append(event)
    timelines = []
    for entity, events_of_entity in mentions_by_entity.items():
        merged = [_merge_mentions(mentions, documents) for mentions in events_of_entity.values()]
        entries = order_events(merged, granularity)
        timelines.append({"id": file_stem(entity), "entity": entity, "entries": entries})
    return timelines


def _merge_mentions(mentions: Sequence[Record], documents: Mapping[str, Record]) -> Event:
    anchors = list(map(_get_anchor, mentions))
    dates = list(filter(date_of, anchors))
    return (dates or anchors)[0], [_get_mention(mention, documents) for mention in mentions]


def _get_anchor(event: Record) -> str:
    anchor = event.get("anchor")
    return UNKNOWN if anchor is None else str(anchor)


def _get_mention(event: Record, documents: Mapping[str, Record]) -> str:
    if event.get("mention") is not None:
        return str(event["mention"])
    return mention_name(documents[event["document"]], event["tokens"])


def find_inconsistencies(
    events: Sequence[Record], documents: Mapping[str, Record]
) -> Iterator[tuple[int, str]]:
    """Find errors in annotated events that no schema can express."""
    entities: dict[str, str] = {}
    anchors: dict[tuple[str, str], str] = {}
    for index, event in enumerate(events):
        for message in _check_mention(event, documents):
            yield index, message
        entity = event["entity"]
        stem = file_stem(entity)
        first_entity = entities.setdefault(stem, entity)
        if first_entity != entity:
            names = f"{quote(entity)} and {quote(first_entity)}"
            yield index, f"the timelines of {names} would both be named {quote(stem)}"
        name = event.get("coreference")
        anchor = _get_anchor(event)
        if name is not None and date_of(anchor):
            first_anchor = anchors.setdefault((entity, name), anchor)
            if first_anchor != anchor:
                expected = f"{quote(first_anchor)}, as an earlier mention of {quote(name)} has it"
                yield index, f"the anchor is {quote(anchor)} (expected {expected})"


def _check_mention(event: Record, documents: Mapping[str, Record]) -> Iterator[str]:
    """Check that an event has either the name of its mention or tokens of a document."""
    fields = [name for name in ("mention", "document", "tokens") if event.get(name) is not None]
    if fields not in (["mention"], ["document", "tokens"]):
        yield f"has {' and '.join(fields) or 'no mention'} (expected either mention, or document and tokens)"
    elif "document" in fields:
        name = f"document {quote(event['document'])}"
        document = documents.get(event["document"])
        if document is None:
            yield f"{name} is not among the documents"
            return
        last = max(event["tokens"])
        n_tokens = len(document["tokens"])
        if last >= n_tokens:
            yield f"{name} has no token {last} (the last is {n_tokens - 1})"


def read_timelines(
    source: Path, corpus: Corpus, documents: Mapping[str, Record], granularity: str
) -> list[Record]:
    """Build timelines from a file of annotated events, or compute the positions of a folder of timelines again."""
    if source.is_dir():
        if all(file.is_file() and file.suffix != SUFFIX for file in source.iterdir()):
            problem = Problem(f"contains no timelines (expected files ending in {SUFFIX})")
            raise FormatError(source, [problem])
        gold = read_own_gold(corpus, source)
        warn_all(gold.notices)
        return [recompute_positions(timeline, granularity) for timeline in gold.records]
    return build_timelines(read_events(source, corpus, documents), documents, granularity)


def read_texts(folder: Path, corpus: Corpus) -> dict[str, Record]:
    """Read a folder of documents in CAT, by id."""
    validator = load_validator(corpus.schema, "text")
    records = validate_records(folder, read_folder(folder), validator, "id")
    return {record["id"]: record for record in records}


def read_events(path: Path, corpus: Corpus, documents: Mapping[str, Record]) -> Sequence[Record]:
    """Read a file of annotated events."""
    return validate_records(
        path,
        read_json_lines(path),
        load_validator(corpus.schema, "event"),
        find_inconsistencies=partial(find_inconsistencies, documents=documents),
    )


def find_oddities(timelines: Sequence[Record], documents: Mapping[str, Record]) -> Iterator[str]:
    """Describe oddities of built timelines, such as a mention in a sentence that its document lacks."""
    for index, message in find_odd_rows(timelines, Timelines((), documents.values())):
        yield f"timeline {quote(timelines[index]['id'])}: {message}"
