"""A question for a reader: sentence, question, and candidate answers with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.showing import Part, View
from closeread.records import Record
from closeread.tables import NOTHING, Grid


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the candidates of one question."""
    first = records[0]
    yield f"{first['question_id']} ({first['category']})"
    yield first["sentence"]
    yield first["question"]
    header = ["id", "answer", "label"]
    rows = [[record["id"], record["answer"], record["label"]] for record in records]
    if system is not None:
        header.append("predicted")
        for cells, prediction in zip(rows, system, strict=True):
            cells.append(NOTHING if prediction is None else prediction["label"])
    yield Grid("", header, rows, prose=frozenset({"answer"}), texts=frozenset(header))


def predict(record: Record) -> Record:
    """Predict the gold label."""
    return {"id": record["id"], "label": record["label"]}


VIEWS = {"document": View(draw, "question_id", predict)}
