"""Our `compute` beside evaluate's own, on the same 100,000 predictions, and what `import closeread` costs.

    python benchmarks/evaluate_module.py

Writes `results/evaluate_module.json`.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import datasets
import evaluate
import numpy as np

import closeread
from closeread.tasks.mctaco.procedure import PROCEDURE

N = 100_000


class Stock(evaluate.Metric):
    """The same scores as a module that overrides nothing."""

    def _info(self):
        row = {
            name: datasets.Value("string")
            for name in ("question_id", "sentence_id", "label", "category")
        }
        inputs = datasets.Features({"predictions": datasets.Value("string"), "references": row})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=inputs
        )

    def _compute(self, predictions, references):
        table = PROCEDURE.count(gold=references, system=[{"label": label} for label in predictions])
        totals = table.values.sum(axis=0)
        return {
            metric.name: float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics
        }


def rows():
    """Predictions and references of invented questions with five candidates each."""
    rng = np.random.default_rng(0)
    labels = np.array(["no", "yes"])
    references = [
        {
            "question_id": f"q{i // 5}",
            "sentence_id": f"s{i // 15}",
            "label": label,
            "category": "Frequency",
        }
        for i, label in enumerate(labels[rng.integers(0, 2, N)].tolist())
    ]
    return labels[rng.integers(0, 2, N)].tolist(), references


def seconds(function, runs):
    """The median of several calls."""
    measured = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        measured.append(time.perf_counter() - start)
    return statistics.median(measured)


def process(code, runs=9):
    """The median time of a Python process that runs the code."""
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), runs)


def main():
    """Measure and keep the result."""
    predictions, references = rows()
    with tempfile.TemporaryDirectory() as cache:
        module = closeread.load_metric("mctaco", cache_dir=cache)
        stock = Stock(cache_dir=cache)
        table = datasets.Dataset.from_list(references)
        given = {"predictions": predictions, "references": references}
        result = {
            "command": "python benchmarks/evaluate_module.py",
            "software": f"evaluate {evaluate.__version__}",
            "compute": {
                "compute of evaluate, 100,000 predictions": {
                    "seconds": seconds(lambda: stock.compute(**given), 5)
                },
                "compute of closeread, 100,000 predictions": {
                    "seconds": seconds(lambda: module.compute(**given), 9)
                },
                "compute of closeread, references in a Dataset": {
                    "seconds": seconds(
                        lambda: module.compute(predictions=predictions, references=table), 9
                    )
                },
            },
            "import": {
                "python -c pass": {"seconds": process("pass")},
                "import closeread": {"seconds": process("import closeread")},
                "import evaluate": {"seconds": process("import evaluate", 3)},
            },
        }
    path = Path(__file__).parent / "results" / "evaluate_module.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(path.read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
