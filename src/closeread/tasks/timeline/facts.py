"""Statistics of TimeLine's timelines and documents.

Conventions: a line is an entry of a timeline: an event with one or more mentions; a coreference line has several.  Only
timelines with at least one line are evaluated.  A timeline's documents are those that its mentions name, available or
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from closeread.arrays import ratio
from closeread.records import Record
from closeread.tasks.timeline.timeline_mentions import document_of


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count timelines, lines and mentions, and the mentions that do not name exactly one event mention of track B."""
    evaluated = [record["entries"] for record in records if record["entries"]]
    lines = [line for entries in evaluated for line in entries]
    events = [len(span["events"]) for line in lines for span in line["spans"]]
    return {
        "target entities": len(records),
        "timelines evaluated": len(evaluated),
        "lines": len(lines),
        "mentions": sum(len(line["mentions"]) for line in lines),
        "mentions at position 0": sum(len(line["mentions"]) for line in lines if line["position"] == 0),
        "coreference lines": sum(len(line["mentions"]) > 1 for line in lines),
        "documents a timeline": round(mean_documents(records), 2),
        "timelines of fewer than 3 lines": sum(len(record["entries"]) < 3 for record in records),
        "timelines of fewer than 2 documents": sum(count_documents(record) < 2 for record in records),
        "mentions that are no event of track B": sum(number == 0 for number in events),
        "mentions that may be several events": sum(number > 1 for number in events),
    }


def count_documents(timeline: Record) -> int:
    """Count the documents that the mentions of a timeline name."""
    return len({document_of(mention) for line in timeline["entries"] for mention in line["mentions"]} - {None})


def mean_documents(timelines: Sequence[Record]) -> float:
    """Return the mean number of documents of the timelines that have lines; NaN if none has."""
    evaluated = [timeline for timeline in timelines if timeline["entries"]]
    return float(ratio(sum(map(count_documents, evaluated)), len(evaluated)))


def text_facts(records: Sequence[Record]) -> dict[str, float]:
    """Count documents, sentences, tokens and event mentions."""
    names = Counter(event["mention"] for record in records for event in record["events"])
    return {
        "documents": len(records),
        "sentences": sum(len(set(record["sentences"])) for record in records),
        "tokens": sum(len(record["tokens"]) for record in records),
        "track B event mentions": names.total(),
        "names of several event mentions": sum(number > 1 for number in names.values()),
    }
