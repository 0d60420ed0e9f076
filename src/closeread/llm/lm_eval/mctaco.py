"""What the task of McTaco for lm-evaluation-harness calls.

The model reads sentence and question, and each answer is yes if its likelihood exceeds the mean of the question's
answers.  The harness does not tell how many tokens an answer has, so that likelihoods are means over bytes, not over
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from closeread.records import Record

SMALLEST_DIFFERENCE = 1e-6
"""Likelihoods that differ less count as equal: that of the same text in another batch may differ by this."""

LabelledQuestion = tuple[list[Record], list[Record]]
"""The gold of a question's candidates, and the rows of a submission."""


def load_questions(
    config: str | None = None, split: str | None = None, data_dir: str | None = None, **_: object
) -> dict[str, Any]:
    """Return the questions of a part of the corpus, as the test split; other metadata of the harness is ignored."""
    import datasets

    from closeread.scoring import find_gold, open_scorer
    from closeread.tasks.mctaco.models import make_context

    source, options = find_gold("mctaco", config=config, split=split, data_dir=data_dir)
    questions: dict[str, list[Record]] = {}
    for record in open_scorer(source, options).gold.records:
        questions.setdefault(str(record["question_id"]), []).append(record)
    rows = []
    for candidates in questions.values():
        labels = [candidate["label"] for candidate in candidates]
        rows.append(
            {
                "text": make_context(candidates[0]),
                "answers": [candidate["answer"] for candidate in candidates],
                # The harness wants one right answer; it is not used.
                "target": labels.index("yes") if "yes" in labels else 0,
                "candidates": candidates,
            }
        )
    return {"test": datasets.Dataset.from_list(rows)}


def label_answers(
    question: Mapping[str, Any], results: Sequence[tuple[float, bool]]
) -> dict[str, LabelledQuestion]:
    """Return the labels of a question's answers from their log-likelihoods, for both scores."""
    import numpy as np

    from closeread.tasks.mctaco.procedure import make_rows

    candidates = list(question["candidates"])
    totals = np.array([likelihood for likelihood, *_ in results])
    n_bytes = [len(candidate["answer"].encode()) for candidate in candidates]
    likelihoods = totals / n_bytes
    rows = make_rows(candidates, likelihoods - likelihoods.mean() > SMALLEST_DIFFERENCE)
    return dict.fromkeys(("exact_match", "f1"), (candidates, rows))


def average_exact_match(questions: Sequence[LabelledQuestion]) -> float:
    """Return their exact match, as `closeread score mctaco` does."""
    return _score(questions, "exact_match")


def average_f1(questions: Sequence[LabelledQuestion]) -> float:
    """Return their F1, as `closeread score mctaco` does."""
    return _score(questions, "f1")


def _score(questions: Sequence[LabelledQuestion], name: str) -> float:
    from closeread.scoring import find_gold, open_scorer

    gold = []
    rows = []
    for candidates, labelled in questions:
        gold += candidates
        rows += labelled
    scorer = open_scorer(*find_gold("mctaco", gold=gold))
    return float(scorer.count(scorer.read(rows)).report(ci=False)[name])
