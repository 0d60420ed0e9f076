"""Records of TimeLine: statistics, views for readers, and flat rows (one for each event mention).

Conventions: a line is an entry of a timeline: an event with one or more mentions; a coreference line has several.  Only
timelines with at least one line are evaluated.  A timeline's documents are those that its mentions name, available or
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, format_cell, mark_spans
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.timeline.timeline_mentions import parse_mention


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
        "mentions at position 0": sum(
            len(line["mentions"]) for line in lines if line["position"] == 0
        ),
        "coreference lines": sum(len(line["mentions"]) > 1 for line in lines),
        "documents per timeline": round(mean_documents(records), 2),
        "timelines of fewer than 3 lines": sum(len(record["entries"]) < 3 for record in records),
        "timelines of fewer than 2 documents": sum(
            count_documents(record) < 2 for record in records
        ),
        "mentions that are no event of track B": sum(number == 0 for number in events),
        "mentions that may be several events": sum(number > 1 for number in events),
    }


def count_documents(timeline: Record) -> int:
    """Count the documents that the mentions of a timeline name."""
    parsed = (
        parse_mention(mention) for line in timeline["entries"] for mention in line["mentions"]
    )
    return len({mention[0] for mention in parsed if mention})


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


ENTRY = ("position", "anchor", "mentions")
EXAMPLES = 2  # the number of entries of an example


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the entries of each timeline, in the order of the file."""
    for number, record in enumerate(records):
        yield f"{record['entity']} ({record['id']})"
        yield _draw_entries("" if system is None else "Gold", record["entries"])
        if system is not None:
            row = system[number]
            yield _draw_entries("Predictions", [] if row is None else row["entries"])


def _draw_entries(title: str, entries: Sequence[Record]) -> Grid:
    rows = [[str(one["position"]), one["anchor"], ", ".join(one["mentions"])] for one in entries]
    return Grid(
        title,
        list(ENTRY),
        rows,
        prose=frozenset({"mentions"}),
        texts=frozenset({"anchor", "mentions"}),
    )


def draw_documents(
    records: Sequence[Record], system: Sequence[Record | None] | None
) -> Iterator[Part]:
    """Draw the text of each article, a paragraph for each sentence, with the ids of its event mentions."""
    del system
    for record in records:
        rows = [
            [name, format_cell(record[name])] for name in ("id", "title", "creation_time", "url")
        ]
        yield Grid("", ["", ""], rows, texts=frozenset({""}))
        runs = [
            run for event in record["events"] for run in _find_runs(event["tokens"], event["id"])
        ]
        marked = mark_spans(record["tokens"], runs)
        numbered = groupby(zip(record["sentences"], marked, strict=True), key=lambda pair: pair[0])
        yield "\n".join(
            f"{sentence}: {' '.join(token for _, token in pairs)}" for sentence, pairs in numbered
        )
        events = [[event["id"], event["mention"]] for event in record["events"]]
        yield Grid("", ["event", "mention"], events, texts=frozenset({"event", "mention"}))


def _find_runs(tokens: Sequence[int], label: str) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of adjacent tokens of a mention, which may be discontinuous."""
    for _, run in groupby(enumerate(sorted(set(tokens))), lambda pair: pair[1] - pair[0]):
        numbers = [token for _, token in run]
        yield numbers[0], numbers[-1], label


def predict(record: Record) -> Record:
    """Predict the first entries."""
    few = [{name: entry[name] for name in ENTRY} for entry in record["entries"][:EXAMPLES]]
    return {"id": record["id"], "entity": record["entity"], "entries": few}


VIEWS = {"document": View(draw, predict=predict), "text": View(draw_documents)}


SPAN = ("document", "sentence", "start", "end")
FLAT = ("id", "entity", "entry", "position", "anchor", "mention", *SPAN)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each event mention, in the order of the timelines, of their entries and of the mentions."""
    rows = []
    for record in records:
        for number, entry in enumerate(record["entries"]):
            about = (record["id"], record["entity"], number, entry["position"], entry["anchor"])
            spans = entry.get("spans") or [{}] * len(entry["mentions"])
            for mention, span in zip(entry["mentions"], spans, strict=True):
                rows.append((*about, mention, *(span.get(name) for name in SPAN)))
    return ColumnRecords.from_rows(FLAT, rows)
