"""McTaco's tables, recomputed from the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from closeread.corpora.gold import load_corpus, read_gold
from closeread.corpora.reproduction import Inputs, Recompute, Recomputed
from closeread.corpora.submissions import read_submission
from closeread.records import Record
from closeread.tasks.mctaco.baselines import always_negative, always_positive
from closeread.tasks.mctaco.facts import facts
from closeread.tasks.mctaco.kernels.choices import expected_coin_scores
from closeread.tasks.mctaco.procedure import PROCEDURE

CATEGORIES = ("Frequency", "Event Duration", "Stationarity", "Event Ordering", "Typical Time")
RELEASED_PREDICTIONS = {
    "ESIM + GloVe": "experiments/esim/esim.glove.output.txt",
    "ESIM + ELMo": "experiments/esim/esim.elmo.output.txt",
    "BERT + unit normalization": "experiments/bert/bert.norm.output.txt",
    "RoBERTa": "experiments/roberta/roberta.output.txt",
}
NAMES = {"f1": "F1", "exact_match": "EM"}


def table_1(inputs: Inputs) -> Recomputed:
    """Recompute the sizes, from both splits."""
    found = facts([*_read_records("validation", inputs), *_read_records("test", inputs)])
    cells = {
        ("all", "questions"): found["questions"],
        ("all", "candidates"): found["candidates"],
    }
    for name in ("sentence", "question", "answer"):
        cells[name, "tokens"] = found[f"mean tokens of the {name}"]
    for category in CATEGORIES:
        for figure in ("questions", "candidates a question"):
            cells[category, figure] = found[f"{figure}: {category}"]
    return cells


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute the rows without a model and those with released predictions, on the test split."""
    gold = _read_records("test", inputs)
    return {
        **_make_cells("Always Positive", _score(gold, always_positive(gold))),
        **_make_cells("Always Negative", _score(gold, always_negative(gold))),
        **_make_cells("Random", _expect_coin_scores(gold)),
        **_score_released_predictions(gold, inputs.upstream),
    }


def _score_released_predictions(gold: Sequence[Record], upstream: Path | None) -> dict[tuple[str, str], float]:
    if upstream is None:
        return {}
    corpus = load_corpus("mctaco")
    return {
        cell: value
        for name, path in RELEASED_PREDICTIONS.items()
        for cell, value in _make_cells(name, _score(gold, read_submission(upstream / path, corpus, gold).rows)).items()
    }


def _read_records(split: str, inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus("mctaco"), "default", split, inputs.data_dir).records


def _score(gold: Sequence[Record], system: Sequence[Record | None]) -> dict[str, float]:
    table = PROCEDURE.count(gold=gold, system=system)
    totals = table.values.sum(axis=0)
    return {metric.name: float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics}


def _expect_coin_scores(gold: Sequence[Record]) -> dict[str, float]:
    table = PROCEDURE.count(gold=gold, system=gold)
    column = {name: table.values[:, i].astype(np.int64) for i, name in enumerate(table.names)}
    exact, f1 = expected_coin_scores(column["candidates"], column["gold_yes"])
    return {"exact_match": float(exact.mean()), "f1": float(f1.mean())}


def _make_cells(name: str, scores: Mapping[str, float]) -> dict[tuple[str, str], float]:
    return {(name, NAMES[metric]): 100 * value for metric, value in scores.items()}


RECOMPUTE: Mapping[str, Recompute] = {"Table 1": table_1, "Table 2": table_2}
