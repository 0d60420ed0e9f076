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
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import read_own_gold
from closeread.corpus.notices import warn_all
from closeread.corpus.schema import load_validator
from closeread.corpus.validation import check_records, validate_records
from closeread.exceptions import FormatError, Problem, ProblemList, describe_problems, quote
from closeread.formats.json_lines import read_json_lines
from closeread.records import Record
from closeread.tasks.timeline.cat_xml import mention_name, read_folder
from closeread.tasks.timeline.rules import find_odd_rows
from closeread.tasks.timeline.timeline_mentions import Timelines, date_of, file_stem
from closeread.tasks.timeline.timeline_txt import SUFFIX

UNKNOWN = "XXXX-XX-XX"

Event = tuple[str, Sequence[str]]  # the anchor of an event, and its mentions as named in timelines


def order_events(events: Iterable[Event], granularity: str = "merge") -> list[Record]:
    """Return events as the entries of a timeline, in order."""
    dated = []
    for anchor, mentions in events:
        date = date_of(anchor)
        # A year is less exact than a month, and a month than a day; they are one time unless granularities are kept.
        time = date, anchor.count("-") if date and granularity == "keep" else 0
        dated.append((time, anchor, list(mentions)))
    position = {
        time: number
        for number, time in enumerate(sorted({time for time, *_ in dated if time[0]}), start=1)
    }
    entries = [
        {"position": position.get(time, 0), "anchor": one, "mentions": of}
        for time, one, of in dated
    ]
    return sorted(entries, key=lambda entry: entry["position"])


def recompute_positions(timeline: Record, granularity: str = "merge") -> Record:
    """Recompute the positions of a timeline from its anchors."""
    entries = order_events(
        ((entry["anchor"], entry["mentions"]) for entry in timeline["entries"]), granularity
    )
    return {"id": timeline["id"], "entity": timeline["entity"], "entries": entries}


def build_timelines(
    events: Sequence[Record], documents: Mapping[str, Record], granularity: str = "merge"
) -> list[Record]:
    """Build the timeline of every entity that takes part in an event, in order of first appearance.

    An event has the first known anchor of its mentions.
    """
    lines: dict[str, dict[object, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for number, event in enumerate(events):
        name = event.get("coreference")
        lines[event["entity"]][number if name is None else name].append(event)
    timelines = []
    for entity, events_of in lines.items():
        merged = []
        for of in events_of.values():
            anchors = [_get_anchor(one) for one in of]
            anchor = next((anchor for anchor in anchors if date_of(anchor)), anchors[0])
            merged.append((anchor, [_get_mention(one, documents) for one in of]))
        timelines.append(
            {
                "id": file_stem(entity),
                "entity": entity,
                "entries": order_events(merged, granularity),
            }
        )
    return timelines


def _get_anchor(event: Record) -> str:
    anchor = event.get("anchor")
    return UNKNOWN if anchor is None else str(anchor)


def _get_mention(event: Record, documents: Mapping[str, Record]) -> str:
    if event.get("mention") is not None:
        return str(event["mention"])
    return mention_name(documents[event["document"]], event["tokens"])


def inconsistencies(
    events: Sequence[Record | None], documents: Mapping[str, Record], lines: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Find errors in annotated events that no schema can express."""
    entities: dict[str, str] = {}
    anchors: dict[tuple[str, str], tuple[int, str]] = {}
    for index, event in enumerate(events):
        if event is None:
            continue
        given = [name for name in ("mention", "document", "tokens") if event.get(name) is not None]
        if given not in (["mention"], ["document", "tokens"]):
            found = f"has {' and '.join(given) or 'no mention'}"
            yield index, f"{found} (expected either mention, or document and tokens)"
        elif event.get("document") is not None:
            document = documents.get(event["document"])
            what = f"document {quote(event['document'])}"
            if document is None:
                yield index, f"{what} is not among the documents"
            elif (last := max(event["tokens"])) >= (n := len(document["tokens"])):
                yield index, f"{what} has no token {last} (the last is {n - 1})"
        entity, name, anchor = event["entity"], event.get("coreference"), _get_anchor(event)
        stem = file_stem(entity)
        if (other := entities.setdefault(stem, entity)) != entity:
            yield (
                index,
                f"the timelines of {quote(entity)} and {quote(other)} would both be named {quote(stem)}",
            )
        if name is not None and date_of(anchor):
            first, known = anchors.setdefault((entity, name), (index, anchor))
            if known != anchor:
                expected = f"{quote(known)}, as on line {lines[first]}, with which it corefers"
                yield index, f"the anchor is {quote(anchor)} (expected {expected})"


def read_timelines(
    source: Path, corpus: Corpus, documents: Mapping[str, Record], granularity: str = "merge"
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
    validator = load_validator(corpus.schema, "event")
    dropped: list[Problem] = ProblemList()
    parsed, problems, _ = check_records(read_json_lines(path), validator, (), dropped=dropped)
    warn_all(describe_problems(str(path), dropped))
    # Of very many problems, only the first are kept.
    events = parsed.records
    valid = [event if not problems or validator.accepts(event) else None for event in events]
    problems += [
        parsed.problem(index, what)
        for index, what in inconsistencies(valid, documents, parsed.lines)
    ]
    problems.raise_any(path)
    return parsed.records


def find_oddities(timelines: Sequence[Record], documents: Mapping[str, Record]) -> Iterator[str]:
    """Describe oddities of built timelines, such as a mention in a sentence that its document lacks."""
    for index, what in find_odd_rows(timelines, Timelines((), documents.values())):
        yield f"timeline {quote(timelines[index]['id'])}: {what}"
