"""The rows of Table 2 with BERT, of runs of one's own, on the test split.

Conventions: scores are times 100, and means over runs with different seeds; runs of a learning curve
are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from closeread.corpus.gold import Gold
from closeread.counts.printed_tables import OwnModel, Value
from closeread.exceptions import pluralize, quote
from closeread.neural.run_files import find_complete_runs
from closeread.tasks.mctaco.trained_runs import METRICS, TASK
from closeread.tasks.mctaco.training import predict, score_labels

PLAIN, BERT = "BERT", "BERT + unit normalization"


def score_runs(folder: Path, gold: Gold) -> tuple[Mapping[str, Mapping[str, Value]], str]:
    """Score runs: the means of each row, and a remark on what they are of.

    The scores that a run has noted for the same questions stand; other runs predict first.

    Args:
        folder: of the runs, which may lie in folders of their own.
        gold: the test split.

    Raises:
        RequestError: the folder holds no complete run.
    """
    scores: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    encoders: dict[str, set[str]] = defaultdict(set)
    for run, described in find_complete_runs(folder, TASK).items():
        if run.parent.name.startswith("size-"):
            continue
        row = PLAIN if described.get("unit_normalization", "off") == "off" else BERT
        scores[row].append(_score_run(run, described, gold))
        encoders[row].add(str(described["model"]["encoder"]))
    means = {
        row: {name: OwnModel(100 * float(np.mean([run[name] for run in runs]))) for name in METRICS}
        for row, runs in scores.items()
    }
    remark = "; ".join(_describe(row, scores[row], encoders[row]) for row in means)
    return means, f"Runs here: {remark}" if remark else ""


def _score_run(run: Path, described: Mapping[str, Any], gold: Gold) -> Mapping[str, float]:
    noted = described.get("test", {})
    if noted.get("data") == gold.digest:
        return {name: noted[name] for name in METRICS}
    from closeread.neural.devices import check_libraries, choose_device, choose_precision

    check_libraries("a trained model")
    device = choose_device(None)
    rows = predict(gold.records, run, device=device, precision=choose_precision("auto", device))
    return score_labels(gold.records, rows)


def _describe(row: str, runs: list[Mapping[str, float]], encoders: set[str]) -> str:
    errors = [
        f"{title} {100 * float(np.std([run[name] for run in runs], ddof=1)) / len(runs) ** 0.5:.1f}"
        for name, title in METRICS.items()
        if len(runs) > 1
    ]
    found = f", standard errors: {', '.join(errors)}" if errors else ""
    return (
        f"{row} of {pluralize(len(runs), 'run')} with {', '.join(quote(name, 80) for name in sorted(encoders))}{found}"
    )
