"""McTaco's records: statistics, views of questions, and flat rows (records are single candidate answers already).

In the statistics, a question is a (sentence, question) pair; tokens are separated by whitespace.  Mean lengths are over
candidates, as in Table 1 of the paper (means over questions or sentences differ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View
from closeread.records import Record, column
from closeread.tables import NOTHING, Grid


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Corpus size, label balance, mean lengths, and numbers of questions and candidates by category."""
    category_by_question = {record["question_id"]: record["category"] for record in records}
    questions_with_yes = {record["question_id"] for record in records if record["label"] == "yes"}
    statistics: dict[str, float] = {}
    statistics["candidates"] = len(records)
    statistics["questions"] = len(category_by_question)
    statistics["sentences"] = len(set(column(records, "sentence_id")))
    statistics["candidates labelled yes"] = column(records, "label").count("yes")
    n_without_yes = len(category_by_question) - len(questions_with_yes)
    statistics["questions without a yes"] = n_without_yes
    for name in ("sentence", "question", "answer"):
        n_tokens = sum(len(text.split()) for text in column(records, name))
        statistics[f"mean tokens of the {name}"] = float(ratio(n_tokens, len(records)))
    n_questions = Counter(category_by_question.values())
    n_candidates = Counter(column(records, "category"))
    for category in sorted(n_questions):
        mean = ratio(n_candidates[category], n_questions[category])
        statistics[f"questions: {category}"] = n_questions[category]
        statistics[f"candidates per question: {category}"] = float(mean)
    return statistics


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
