"""closeread beside McTaco's official evaluator, in one run.

    CLOSEREAD_DATA=… python benchmarks/mctaco.py EVALUATOR

EVALUATOR is `evaluator/evaluator.py` of github.com/CogComp/MCTACO.  Writes `results/mctaco.json` and prints it; the
tables in README.md are made from it by `python tools/documentation.py`.

Every time is the median of several runs; processes are timed from start to end, and their peak memory is what the
kernel says of each.  The two tools take turns, so that neither has the machine to itself.
"""

import contextlib
import importlib.util
import io
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import calls, cpu, processes

from closeread import __version__, scoring
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling, score
from closeread.tasks.mctaco.procedure import PROCEDURE

CLOSEREAD = Path(sys.executable).parent / "closeread"
SIZES = (10_000, 100_000, 1_000_000, 5_000_000)
CATEGORIES = ("Event Duration", "Event Ordering", "Frequency", "Typical Time", "Stationarity")


def official(evaluator):
    """A function that runs the official evaluator in this process on two files."""
    spec = importlib.util.spec_from_file_location("official", evaluator)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(gold, predictions):
        with contextlib.redirect_stdout(io.StringIO()):
            module.McTacoEvaluator(str(gold), str(predictions), None).print_result()

    return run


def synthetic(n_rows, folder):
    """A corpus of invented rows with random predictions: two files."""
    rng = np.random.default_rng(n_rows)
    rows, sentence = [], 0
    while len(rows) < n_rows:
        text = f"Sentence number {sentence} tells of something that took a while, and of what came of it later on."
        for question in range(4):
            for number in rng.integers(1, 99, size=rng.integers(1, 14)):
                label = "yes" if rng.random() < 0.35 else "no"
                rows.append(
                    f"{text}\tHow long did it take, {question}?\t{number} days\t{label}\t{CATEGORIES[question]}\n"
                )
        sentence += 1
    gold, predictions = folder / f"{n_rows}.tsv", folder / f"{n_rows}.txt"
    gold.write_text("".join(rows[:n_rows]), "utf-8")
    predictions.write_text(
        "".join("yes\n" if coin else "no\n" for coin in rng.random(n_rows) < 0.5), "utf-8"
    )
    return gold, predictions


def resampled(run, corpus, said, folder):
    """Seconds that 1,000 resamples take by scoring files of drawn sentences, each written beforehand."""
    rows = corpus.read_text("utf-8").splitlines(keepends=True)
    sentences = {}
    for index, row in enumerate(rows):
        sentences.setdefault(row.split("\t", 1)[0], []).append(index)
    blocks, rng, seconds = list(sentences.values()), np.random.default_rng(0), 0.0
    gold, predictions = folder / "resampled.tsv", folder / "resampled.txt"
    for _ in range(1000):
        drawn = [blocks[i] for i in rng.integers(0, len(blocks), len(blocks))]
        # A sentence that is drawn twice counts twice: its copies get names of their own.
        gold.write_text(
            "".join(f"{copy} {rows[i]}" for copy, block in enumerate(drawn) for i in block), "utf-8"
        )
        predictions.write_text("".join(f"{said[i]}\n" for block in drawn for i in block), "utf-8")
        start = time.perf_counter()
        run(gold, predictions)
        seconds += time.perf_counter() - start
    return seconds


def from_files(predictions):
    """All that `closeread score` does between start-up and printing, without intervals."""
    return scoring.score("mctaco", predictions, resampling=Resampling(0))


def disturb(labels):
    """The labels with three in ten turned round, the same ones every time."""
    flips = np.random.default_rng(0).random(len(labels)) < 0.3
    turned = {"yes": "no", "no": "yes"}
    return [turned[label] if flip else label for label, flip in zip(labels, flips, strict=True)]


def measure_processes(evaluator, corpus, predictions):
    """Both tools as processes, beside what takes time at every start."""
    ours = [CLOSEREAD, "score", "mctaco", predictions]
    theirs = [
        sys.executable,
        evaluator,
        "eval",
        "--test_file",
        corpus,
        "--prediction_file",
        predictions,
    ]
    return processes(
        {
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            "closeread --version": [CLOSEREAD, "--version"],
            "closeread score mctaco": ours,
            "closeread score mctaco --no-ci": [*ours, "--no-ci"],
            "official evaluator": theirs,
        },
        runs=9,
    )


def measure_calls(run, corpus, predictions, gold, said):
    """Both tools inside this process."""
    rows = [{"id": record["id"], "label": label} for record, label in zip(gold, said, strict=True)]
    table = PROCEDURE.count(gold=gold, system=rows)
    return calls(
        {
            "official evaluator, files to scores": lambda: run(corpus, predictions),
            "closeread, files to scores": lambda: from_files(predictions),
            "closeread, records to scores": lambda: PROCEDURE.count(gold=gold, system=rows),
            "closeread, 1,000 resamples": lambda: score(table, PROCEDURE.metrics, Resampling(1000)),
        },
        runs=21,
    )


def measure_growth(evaluator, size, folder):
    """Both tools as processes, on a synthetic corpus, beside a program that does no more than read it."""
    big, random = synthetic(size, folder)
    both = ["--test_file", big, "--prediction_file", random]
    return processes(
        {
            "closeread score mctaco": [CLOSEREAD, "score", "mctaco", random, "--gold", big],
            "closeread score mctaco --no-ci": [
                CLOSEREAD,
                "score",
                "mctaco",
                random,
                "--gold",
                big,
                "--no-ci",
            ],
            "official evaluator": [sys.executable, evaluator, "eval", *both],
            "wc -l": ["wc", "-l", big, random],
        },
        runs=3,
    )


def main(evaluator):
    """Measure everything and keep it."""
    corpus = Path(os.environ["CLOSEREAD_DATA"]) / "mctaco" / "test_9442.tsv"
    gold = read_gold(load_corpus("mctaco")).records
    said = disturb([record["label"] for record in gold])
    result = {
        "command": "python benchmarks/mctaco.py EVALUATOR",
        "machine": f"{cpu()}, {os.cpu_count()} cores",
        "software": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "closeread": __version__,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        predictions = folder / "predictions.txt"
        predictions.write_text("".join(f"{label}\n" for label in said), "utf-8")
        result["processes"] = measure_processes(evaluator, corpus, predictions)
        run = official(evaluator)
        result["in_process"] = measure_calls(run, corpus, predictions, gold, said)
        result["resampling"] = {
            "official evaluator, 1,000 resampled files": {
                "seconds": resampled(run, corpus, said, folder)
            },
            "closeread, 1,000 resamples": result["in_process"].pop("closeread, 1,000 resamples"),
        }
        result["growth"] = {str(size): measure_growth(evaluator, size, folder) for size in SIZES}
    path = Path(__file__).parent / "results" / "mctaco.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(path.read_text("utf-8"), end="")


if __name__ == "__main__":
    main(sys.argv[1])
