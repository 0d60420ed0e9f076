"""Run McTaco's official evaluator and keep what it says.

    python tests/agreed/mctaco_official.py EVALUATOR

EVALUATOR is `evaluator/evaluator.py` of github.com/CogComp/MCTACO; CLOSEREAD_DATA must name the corpora.  Writes
`mctaco_official.json` beside this file.  The systems are made here by rules, so that a test can make them again.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def systems(labels):
    """Predictions by name: rules, coins, and gold with a share of the labels turned."""
    n = len(labels)
    made = {"always-positive": ["yes"] * n, "always-negative": ["no"] * n, "gold": list(labels)}
    turned = {"yes": "no", "no": "yes"}
    for seed, share in enumerate((0.5, 0.3, 0.1, 0.02)):
        flips = np.random.default_rng(seed).random(n) < share
        made[f"gold, {share:.0%} turned"] = [
            turned[label] if flip else label for label, flip in zip(labels, flips, strict=True)
        ]
    return made


def corpora():
    """The rows of the corpora, by name; those that are not here are left out."""
    files = {"sample": Path(str(resources.files("closeread.loaders.mctaco"))) / "sample.tsv"}
    if "CLOSEREAD_DATA" in os.environ:
        folder = Path(os.environ["CLOSEREAD_DATA"]) / "mctaco"
        files |= {"validation": folder / "dev_3783.tsv", "test": folder / "test_9442.tsv"}
    return {
        name: path.read_text("utf-8").removesuffix("\n").split("\n") for name, path in files.items()
    }


def official(evaluator, gold, predictions):
    """Exact match and F1 of the official evaluator."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("gold.tsv", "predictions.txt", "scores.json")]
        for path, lines in zip(paths, (gold, predictions), strict=False):
            path.write_text("".join(line + "\n" for line in lines), "utf-8")
        options = ["--test_file", paths[0], "--prediction_file", paths[1], "--output", paths[2]]
        subprocess.run(
            [sys.executable, evaluator, "eval", *options], check=True, capture_output=True
        )
        said = json.loads(paths[2].read_text("utf-8"))
    return {"exact_match": said["em"], "f1": said["f1"]}


def main(evaluator):
    """Score every system on every corpus, as a whole and category by category."""
    figures = []
    for corpus, rows in corpora().items():
        categories = [row.split("\t")[4] for row in rows]
        for system, predictions in systems([row.split("\t")[3] for row in rows]).items():
            for category in ["all", *sorted(set(categories))]:
                kept = [i for i, name in enumerate(categories) if category in ("all", name)]
                scores = official(
                    evaluator, [rows[i] for i in kept], [predictions[i] for i in kept]
                )
                figures.append({"corpus": corpus, "system": system, "category": category, **scores})
    written = {
        "tool": "github.com/CogComp/MCTACO evaluator/evaluator.py",
        "version": f"sha256 {hashlib.sha256(Path(evaluator).read_bytes()).hexdigest()}",
        "command": "python evaluator.py eval --test_file GOLD --prediction_file PREDICTIONS --output SCORES",
        "figures": figures,
    }
    (HERE / "mctaco_official.json").write_text(json.dumps(written, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
