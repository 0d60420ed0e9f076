"""Timelines and articles for a reader: the entries of an entity; a text with its event mentions marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from closeread.corpus.showing import Part, View, format_cell, mark_spans
from closeread.records import Record
from closeread.tables import Grid

ENTRY = ("position", "anchor", "mentions")
EXAMPLES = 2
"""The number of entries of an example."""


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
    return Grid(title, list(ENTRY), rows, prose=frozenset({"mentions"}), texts=frozenset({"anchor", "mentions"}))


def draw_documents(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text of each article, a paragraph for each sentence, with the ids of its event mentions."""
    del system
    for record in records:
        rows = [[name, format_cell(record[name])] for name in ("id", "title", "creation_time", "url")]
        yield Grid("", ["", ""], rows, texts=frozenset({""}))
        runs = [run for event in record["events"] for run in _find_runs(event["tokens"], event["id"])]
        marked = mark_spans(record["tokens"], runs)
        numbered = groupby(zip(record["sentences"], marked, strict=True), key=lambda pair: pair[0])
        yield "\n".join(f"{sentence}: {' '.join(token for _, token in pairs)}" for sentence, pairs in numbered)
        events = [[event["id"], event["mention"]] for event in record["events"]]
        yield Grid("", ["event", "mention"], events, texts=frozenset({"event", "mention"}))


def _find_runs(tokens: Sequence[int], label: str) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of adjacent tokens of a mention, which may be discontinuous."""
    start = last = None
    for token in sorted(tokens):
        if last is None or start is None or token > last + 1:
            if last is not None and start is not None:
                yield start, last, label
            start = token
        last = token
    if last is not None and start is not None:
        yield start, last, label


def predict(record: Record) -> Record:
    """Predict the first entries."""
    few = [{name: entry[name] for name in ENTRY} for entry in record["entries"][:EXAMPLES]]
    return {"id": record["id"], "entity": record["entity"], "entries": few}


VIEWS = {"document": View(draw, predict=predict), "text": View(draw_documents)}
