"""Records of TimeLine: statistics, views for readers, and flat rows (one for each event mention).

Conventions: a line is an entry of a timeline: an event with one or more mentions; a coreference line has several.  Only
timelines with at least one line are evaluated.  A timeline's documents are those that its mentions name, available or
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, format_cell, mark_spans
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.timeline.timeline_mentions import list_texts, parse_mention


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count timelines, lines and mentions, and the mentions that do not name exactly one event mention of track B."""
    evaluated = [record for record in records if record["entries"]]
    lines = list(chain.from_iterable(record["entries"] for record in evaluated))
    spans = chain.from_iterable(line["spans"] for line in lines)
    n_events = [len(span["events"]) for span in spans]
    unplaced = [line for line in lines if line["position"] == 0]
    mean_documents = ratio(sum(map(count_documents, evaluated)), len(evaluated))
    return {
        "target entities": len(records),
        "timelines evaluated": len(evaluated),
        "lines": len(lines),
        "mentions": len(list_texts(lines)),
        "mentions at position 0": len(list_texts(unplaced)),
        "coreference lines": sum(len(line["mentions"]) > 1 for line in lines),
        "documents per timeline": round(float(mean_documents), 2),
        "timelines of fewer than 3 lines": sum(len(record["entries"]) < 3 for record in records),
        "timelines of fewer than 2 documents": sum(
            count_documents(record) < 2 for record in records
        ),
        "mentions that are no event of track B": n_events.count(0),
        "mentions that may be several events": sum(number > 1 for number in n_events),
    }


def count_documents(timeline: Record) -> int:
    """Count the documents that the mentions of a timeline name."""
    mentions = map(parse_mention, list_texts(timeline["entries"]))
    return len({mention[0] for mention in mentions if mention})


def text_facts(records: Sequence[Record]) -> dict[str, float]:
    """Count documents, sentences, tokens and event mentions."""
    names: Counter[str] = Counter()
    for record in records:
        names.update(event["mention"] for event in record["events"])
    return {
        "documents": len(records),
        "sentences": sum(len(set(record["sentences"])) for record in records),
        "tokens": sum(len(record["tokens"]) for record in records),
        "track B event mentions": names.total(),
        "names of several event mentions": sum(number > 1 for number in names.values()),
    }


ENTRY = ("position", "anchor", "mentions")
N_EXAMPLE_ENTRIES = 2
"""How many entries an example has."""


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the entries of each timeline, in the order of the file."""
    for number, record in enumerate(records):
        yield f"{record['entity']} ({record['id']})"
        if system is None:
            yield _draw_entries("", record["entries"])
        else:
            yield _draw_entries("Gold", record["entries"])
            row = system[number]
            yield _draw_entries("Predictions", [] if row is None else row["entries"])


def _draw_entries(title: str, entries: Sequence[Record]) -> Grid:
    rows = [
        [str(entry["position"]), entry["anchor"], ", ".join(entry["mentions"])] for entry in entries
    ]
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
        names = ("id", "title", "creation_time", "url")
        rows = [[name, format_cell(record[name])] for name in names]
        yield Grid("", ["", ""], rows, texts=frozenset({""}))
        yield "\n".join(_mark_sentences(record))
        events = [[event["id"], event["mention"]] for event in record["events"]]
        yield Grid("", ["event", "mention"], events, texts=frozenset({"event", "mention"}))


def _mark_sentences(document: Record) -> Iterator[str]:
    """Yield the sentences of a document with the ids of its event mentions."""
    runs: list[tuple[int, int, str]] = []
    for event in document["events"]:
        runs += _find_runs(event["tokens"], event["id"])
    tokens = zip(document["sentences"], mark_spans(document["tokens"], runs), strict=True)
    for sentence, pairs in groupby(tokens, key=lambda pair: pair[0]):
        text = " ".join(token for _, token in pairs)
        yield f"{sentence}: {text}"


def _find_runs(tokens: Sequence[int], label: str) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of adjacent tokens of a mention, which may be discontinuous."""
    for _, run in groupby(enumerate(sorted(set(tokens))), lambda pair: pair[1] - pair[0]):
        numbers = [token for _, token in run]
        yield numbers[0], numbers[-1], label


def predict(record: Record) -> Record:
    """Predict the first entries."""
    entries = list(map(_predict_entry, record["entries"][:N_EXAMPLE_ENTRIES]))
    return {"id": record["id"], "entity": record["entity"], "entries": entries}


def _predict_entry(entry: Record) -> Record:
    return {name: entry[name] for name in ENTRY}


VIEWS = {"document": View(draw, predict=predict), "text": View(draw_documents)}


SPAN = ("document", "sentence", "start", "end")
FLAT = ("id", "entity", "entry", "position", "anchor", "mention", *SPAN)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each event mention, in the order of the timelines, of their entries and of the mentions."""
    rows = []
    for record in records:
        for number, entry in enumerate(record["entries"]):
            columns = (record["id"], record["entity"], number, entry["position"], entry["anchor"])
            spans = entry.get("spans") or [{}] * len(entry["mentions"])
            for mention, span in zip(entry["mentions"], spans, strict=True):
                place = [span.get(name) for name in SPAN]
                rows.append((*columns, mention, *place))
    return ColumnRecords.from_rows(FLAT, rows)
