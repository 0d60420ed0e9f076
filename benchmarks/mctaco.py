"""closeread beside McTaco's official evaluator.

    CLOSEREAD_DATA=… python benchmarks/mctaco.py EVALUATOR

EVALUATOR is `evaluator/evaluator.py` of github.com/CogComp/MCTACO.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import CLOSEREAD, keep, measure_commands

OFFICIAL = "official evaluator"
SIZES = (10_000, 100_000, 1_000_000)
SHARE_TURNED = 0.3


def write_labels(path, labels):
    """Write labels, three in ten of them turned round."""
    rng = np.random.default_rng(0)
    turned = {"yes": "no", "no": "yes"}
    lines = [turned[label] if rng.random() < SHARE_TURNED else label for label in labels]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def write_questions(path, n_rows):
    """Write invented rows; return their labels."""
    rng = np.random.default_rng(n_rows)
    labels = ["yes" if coin else "no" for coin in rng.random(n_rows) < 0.35]
    with path.open("w", encoding="utf-8") as file:
        for number, label in enumerate(labels):
            sentence = f"Sentence number {number // 28} tells of something that took a while."
            question = f"How long did it take, {number // 7 % 4}?"
            days = rng.integers(1, 99)
            row = (sentence, question, f"{days} days", label, "Event Duration")
            file.write("\t".join(row) + "\n")
    return labels


def make_commands(evaluator, gold, labels, *options):
    """Return the commands of both tools on two files."""
    ours = [CLOSEREAD, "score", "mctaco", labels, *options]
    theirs = [sys.executable, evaluator, "eval", "--test_file", gold, "--prediction_file", labels]
    return {
        "closeread score mctaco": ours,
        "closeread score mctaco --no-ci": [*ours, "--no-ci"],
        OFFICIAL: theirs,
    }


def main(evaluator):
    """Measure and keep the result."""
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        gold = Path(os.environ["CLOSEREAD_DATA"], "mctaco", "test_9442.tsv")
        rows = gold.read_text("utf-8").splitlines()
        labels = write_labels(folder / "test.txt", [row.split("\t")[3] for row in rows])
        commands = make_commands(evaluator, gold, labels)
        tables["test"] = (OFFICIAL, measure_commands(commands))
        for size in SIZES:
            gold = folder / f"{size}.tsv"
            labels = write_labels(folder / f"{size}.txt", write_questions(gold, size))
            commands = make_commands(evaluator, gold, labels, "--gold", gold)
            tables[f"rows_{size}"] = (OFFICIAL, measure_commands(commands, runs=3))
    keep("mctaco", tables)


if __name__ == "__main__":
    main(sys.argv[1])
