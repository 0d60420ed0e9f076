"""McTaco's records: statistics, views of questions, and flat rows (records are single candidate answers already).

In the statistics, a question is a (sentence, question) pair; tokens are separated by whitespace.  Mean lengths are over
candidates, as in Table 1 of the paper (means over questions or sentences differ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View
from closeread.records import Record
from closeread.tables import NOTHING, Grid


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Corpus size, label balance, mean lengths, and numbers of questions and candidates by category."""
    category = {record["question_id"]: record["category"] for record in records}
    with_yes = {record["question_id"] for record in records if record["label"] == "yes"}
    n = len(records)
    sizes = {
        "candidates": n,
        "questions": len(category),
        "sentences": len({record["sentence_id"] for record in records}),
        "candidates labelled yes": sum(record["label"] == "yes" for record in records),
        "questions without a yes": len(category) - len(with_yes),
    }
    lengths = {
        f"mean tokens of the {name}": float(
            ratio(sum(len(record[name].split()) for record in records), n)
        )
        for name in ("sentence", "question", "answer")
    }
    questions = Counter(category.values())
    candidates = Counter(record["category"] for record in records)
    by_category: dict[str, float] = {}
    for name in sorted(questions):
        by_category[f"questions: {name}"] = questions[name]
        by_category[f"candidates per question: {name}"] = float(
            ratio(candidates[name], questions[name])
        )
    return {**sizes, **lengths, **by_category}


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


def flatten(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records, which have single values only."""
    return records
