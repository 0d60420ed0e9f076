"""Statistics of McTaco's records.

Conventions: a question is a (sentence, question) pair; tokens are separated by whitespace.  Mean lengths are over
candidates, as in Table 1 of the paper (means over questions or sentences differ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from closeread.arrays import ratio
from closeread.records import Record


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
        f"mean tokens of the {name}": float(ratio(sum(len(record[name].split()) for record in records), n))
        for name in ("sentence", "question", "answer")
    }
    questions = Counter(category.values())
    candidates = Counter(record["category"] for record in records)
    by_category: dict[str, float] = {}
    for name in sorted(questions):
        by_category[f"questions: {name}"] = questions[name]
        by_category[f"candidates a question: {name}"] = float(ratio(candidates[name], questions[name]))
    return {**sizes, **lengths, **by_category}
