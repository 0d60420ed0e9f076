"""McTaco's tables, Figure 2 and figures of the running text, recomputed from the corpus.

Conventions: scores are in percent.  What needs the authors' released predictions is left out without a checkout of
their repository.  Scores of runs of one's own are means over seeds; runs of a learning curve are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.gold import Gold, read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed, load_printed
from closeread.corpus.submissions import read_submission
from closeread.counts.printed_tables import Chance, Claim, OwnModel, Value
from closeread.counts.table import CountTable
from closeread.exceptions import MissingExtraError, RequestError, fill_options, pluralize, quote
from closeread.neural.run_files import find_complete_runs
from closeread.records import Record
from closeread.tasks.mctaco.baselines import always_negative, always_positive
from closeread.tasks.mctaco.models import METRICS, TASK, estimate_mean, predict
from closeread.tasks.mctaco.perturbation.rules import UNIT_SETS, WORD_RULES, perturb
from closeread.tasks.mctaco.perturbation.units import normalize_units, plural
from closeread.tasks.mctaco.procedure import (
    CATEGORIES,
    PROCEDURE,
    expect_random,
    score_labels,
    score_table,
    slice_by_category,
)
from closeread.tasks.mctaco.records import facts

PLAIN, BERT, ROBERTA = "BERT", "BERT + unit normalization", "RoBERTa"
RELEASED_PREDICTIONS = {
    "ESIM + GloVe": "experiments/esim/esim.glove.output.txt",
    "ESIM + ELMo": "experiments/esim/esim.elmo.output.txt",
    BERT: "experiments/bert/bert.norm.output.txt",
    ROBERTA: "experiments/roberta/roberta.output.txt",
}
NAMES = {"f1": "F1", "exact_match": "EM"}
COLUMNS = {
    "adjective": "Adjectives",
    "frequency": "Frequency",
    "period": "Period",
    "typical time": "Typical time",
}
"""The columns of Table 3, by the group of rules."""

EXAMPLES = {"2 a.m.": "3 p.m.", "1 day": "10 days", "once a week": "twice a month"}
"""The examples of rule-based perturbation in step 3."""

SAMPLE = 100  # the number of questions that the human answered
PLATEAU = 2500  # the number of question-answer pairs from which on Figure 3 is flat


def table_1(inputs: Inputs) -> Recomputed:
    """Recompute Table 1: sizes, of both splits."""
    found = facts(
        [record for split in ("validation", "test") for record in _read(split, inputs).records]
    )
    cells = {
        ("# of unique questions", "value"): found["questions"],
        ("# of unique question-answer pairs", "value"): found["candidates"],
    }
    for name in ("sentence", "question", "answer"):
        cells[f"avg. {name} length", "value"] = found[f"mean tokens of the {name}"]
    for category in CATEGORIES:
        row = f"event {category.lower().removeprefix('event ')}"
        cells[row, "# questions"] = found.get(f"questions: {category}", 0)
        cells[row, "avg # of candidate"] = found.get(f"candidates per question: {category}", 0)
    return cells


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2 on the test split: the rows without a model, with released predictions, and of runs at hand."""
    whole = _read("test", inputs)
    gold = whole.records
    scores: dict[str, Mapping[str, Value]] = {
        "Always Positive": _score(gold, always_positive(gold)),
        "Always Negative": _score(gold, always_negative(gold)),
        "Random": _expect_random(PROCEDURE.count(gold=gold, system=gold)),
    }
    if inputs.runs is not None:
        of_runs, inputs.remarks["Table 2"] = score_runs(inputs, whole)
        if inputs.upstream is not None and BERT in of_runs:
            raise RequestError(
                fill_options(f"{BERT} is in {{upstream}} and in {{runs}} (expected one of the two)")
            )
        scores.update(of_runs)
    for name, system in _read_released_predictions(gold, inputs):
        if name != ROBERTA:
            scores[name] = _score(gold, system)
    return {
        (row, title): of_row[metric]
        for row, of_row in scores.items()
        for metric, title in NAMES.items()
    }


def table_3(inputs: Inputs) -> Recomputed:
    """List the replacements of the package's own rules as Table 3 does; no file is needed."""
    del inputs
    cells = {
        (word, COLUMNS[group]): ", ".join(others)
        for group, rules in WORD_RULES.items()
        for word, others in rules.items()
    }
    for units in UNIT_SETS:
        for unit in units:
            others = [other for other in units if other != unit]
            cells[unit, "Units"] = ", ".join(others)
            cells[plural(unit), "Units"] = ", ".join(map(plural, others))
    return cells


def figure_2(inputs: Inputs) -> Recomputed:
    """Compute exact match by category on the test split: for random labels and for the released predictions."""
    gold = _read("test", inputs).records
    cells: dict[tuple[str, str], Value] = {
        (category, "Random"): _expect_random(table)["exact_match"]
        for category, table in slice_by_category(gold, gold).items()
    }
    for name, system in _read_released_predictions(gold, inputs):
        for category, table in slice_by_category(gold, system).items():
            cells[category, name] = 100 * score_table(table)["exact_match"]
    return cells


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text, some of them from printed scores."""
    splits = [_read(split, inputs).records for split in ("validation", "test")]
    questions = [facts(records)["questions"] for records in splits]
    shares = [100 * float(ratio(number, sum(questions))) for number in questions]
    n = sum(map(len, splits))
    in_sample = SAMPLE * float(ratio(len(splits[1]), questions[1]))  # the mean of random samples
    cells: dict[tuple[str, str], Value] = {
        ("tuples", "3"): _claim_about(n, 13_000, 1000),
        ("classes of temporal common sense", "3"): len(
            {row["category"] for records in splits for row in records}
        ),
        ("split of the data, dev / test, percent", "4"): Claim(
            " / ".join(f"{share:.1f}" for share in shares),
            [round(share) for share in shares] == [30, 70],
        ),
        ("tuples in these", "4"): _claim_about(in_sample, 700, 100),
        ("the same as a share of the data, percent", "A.2"): _claim_about(
            100 * float(ratio(PLATEAU, n)), 20, 10
        ),
    }
    # From the scores printed in Table 2, which suffice for the statements about them.
    printed = next(
        table["rows"] for table in load_printed("mctaco")["tables"] if table["name"] == "Table 2"
    )
    drops = {
        row: float(Decimal(of["F1"]) - Decimal(of["EM"]))
        for row, of in printed.items()
        if "EM" in of
    }
    behind = float(Decimal(printed["Human"]["F1"]) - Decimal(printed[BERT]["F1"]))
    trained = [drops[row] for row in ("ESIM + GloVe", "ESIM + ELMo", PLAIN, BERT)]
    claim = Claim(
        f"{min(trained):.1f} to {max(trained):.1f}", min(trained) >= 25 and max(trained) < 30
    )
    cells |= {
        ("how far the best systems are behind humans, percent", "abstract"): _claim_about(
            behind, 20, 10
        ),
        ("drop from F1 to EM of humans", "4"): drops["Human"],
        ("drop from F1 to EM of the other systems", "4"): claim,
    }
    for name, system in _read_released_predictions(splits[1], inputs):
        table = PROCEDURE.count(gold=splits[1], system=system)
        if name == ROBERTA:
            scores = _score(splits[1], system)
            cells |= {
                (f"{ROBERTA}, {title}", "4, footnote 9"): scores[metric]
                for metric, title in NAMES.items()
            }
        elif name == BERT and len(table.units) > SAMPLE:
            for count, metric in (("f1_sum", "F1"), ("exact", "EM")):
                cells[f"{BERT} on the {SAMPLE} questions, {metric}", "4, footnote 7"] = (
                    sample_questions(table, count)
                )
    try:
        made = [new in perturb(old, changes=2, units="any") for old, new in EXAMPLES.items()]
        cells["examples of rule-based perturbation", "3, step 3"] = Claim(
            f"{sum(made)} of {len(made)}", all(made)
        )
        cells["example of unit normalization", "4"] = f"30 months -> {normalize_units('30 months')}"
    except MissingExtraError:  # without its library
        pass
    return cells


def sample_questions(table: CountTable, count: str) -> Chance:
    """Return mean and standard deviation of a count, in percent, over random samples of `SAMPLE` of more questions.

    The samples are drawn without replacement: the variance of their mean is S² / n · (1 - n / N), with the variance S²
    of all N questions (with N - 1).
    """
    values = 100 * table.values[:, table.names.index(count)]
    left = 1 - float(ratio(SAMPLE, len(values)))
    return Chance(
        float(values.mean()), math.sqrt(float(ratio(np.var(values, ddof=1), SAMPLE)) * left)
    )


def _claim_about(value: float, number: int, unit: int) -> Claim:
    """Claim that a value is `number` if rounded to `unit`."""
    return Claim(value, abs(value - number) <= unit / 2)


def _read_released_predictions(
    gold: Sequence[Record], inputs: Inputs
) -> Iterator[tuple[str, Sequence[Record | None]]]:
    """Yield the names of systems and their released labels; nothing without a checkout."""
    if inputs.upstream is not None:
        for name, path in RELEASED_PREDICTIONS.items():
            yield name, read_submission(inputs.upstream / path, load_corpus("mctaco"), gold).rows


def _read(split: str, inputs: Inputs) -> Gold:
    return inputs.once(
        split, lambda: read_gold(load_corpus("mctaco"), "default", split, inputs.data_dir)
    )


def _score(gold: Sequence[Record], system: Sequence[Record | None]) -> dict[str, float]:
    return {name: 100 * value for name, value in score_labels(gold, system).items()}


def _expect_random(table: CountTable) -> dict[str, Chance]:
    return {
        name: Chance(100 * one.mean, 100 * one.deviation)
        for name, one in expect_random(table).items()
    }


def score_runs(inputs: Inputs, gold: Gold) -> tuple[Mapping[str, Mapping[str, Value]], str]:
    """Score runs on the test split: the means of each row, and a remark on the models and their numbers.

    The scores that a run has noted for the same questions stand; other runs predict first.
    """
    scores: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    encoders: dict[str, set[str]] = defaultdict(set)
    for run, described in find_complete_runs(inputs.runs, TASK).items() if inputs.runs else ():
        if run.parent.name.startswith("size-"):
            continue
        row = PLAIN if described.get("unit_normalization", "off") == "off" else BERT
        noted: Mapping[str, Any] = described.get("test", {})
        if noted.get("data") != gold.digest:
            from closeread.neural.devices import choose_hardware

            noted = score_labels(gold.records, predict(gold.records, run, choose_hardware()))
        scores[row].append(noted)
        encoders[row].add(str(described["model"]["encoder"]))
    means, remarks = {}, []
    for row, runs in scores.items():
        found = {name: estimate_mean([100 * float(run[name]) for run in runs]) for name in METRICS}
        means[row] = {name: OwnModel(mean) for name, (mean, _) in found.items()}
        errors = ", ".join(
            f"{METRICS[name]} {error:.1f}"
            for name, (_, error) in found.items()
            if error is not None
        )
        names = ", ".join(quote(name, 80) for name in sorted(encoders[row]))
        of = f"{row} of {pluralize(len(runs), 'run')} with {names}"
        remarks.append(f"{of}, standard errors: {errors}" if errors else of)
    return means, f"Runs here: {'; '.join(remarks)}" if remarks else ""


TAKES = ("upstream", "runs")

RECOMPUTE: Mapping[str, Recompute] = {
    "Table 1": table_1,
    "Table 2": table_2,
    "Table 3": table_3,
    "Figure 2": figure_2,
    "Text": text,
}
