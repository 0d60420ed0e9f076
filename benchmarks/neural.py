"""Trained models on the test splits of TNE and McTaco; what was trained, and how, is in `neural.md`.

    CLOSEREAD_DATA=… python benchmarks/neural.py --tne DIR --mctaco DIR --curve DIR

DIR are folders of runs, as `closeread train` writes them.  Writes `results/neural.json`.
"""

import argparse
import json
import os
import statistics
import struct
from collections import defaultdict
from pathlib import Path

import torch
import transformers
from measure import name_processor

import closeread

LINKS = ("links/precision", "links/recall", "links/f1")
TNE = (*LINKS, "unlabeled/precision", "unlabeled/recall", "unlabeled/f1", "iprep", "uprep")
MCTACO = ("f1", "exact_match")
LAYERS_OF_A_LARGE_ENCODER = 24


def find_runs(folder):
    """Return what each complete run in a folder was, by the folder of the run."""
    runs = {}
    for path in sorted(folder.rglob("run.json")):
        run = json.loads(path.read_text("utf-8"))
        if "runs" not in run and run["state"] == "complete":
            runs[path.parent] = run
    return runs


def describe(folder, run):
    """Return what was trained, and for how long."""
    with (folder / "model.safetensors").open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    # An encoder that stays as it is has parameters, too, but does not learn them.
    is_frozen = run["model"].get("kind") == "frozen"
    shapes = [
        tensor["shape"]
        for name, tensor in header.items()
        if name != "__metadata__" and not (is_frozen and name.startswith("encoder."))
    ]
    setting = run["setting"]
    return {
        "run": folder.name,
        "parameters": sum(torch.Size(shape).numel() for shape in shapes),
        "epochs": len(run["epochs"]),
        "best": run["best"]["epoch"],
        "batch": setting["batch_size"],
        "rates": [setting["learning_rate"], setting["head_learning_rate"]],
        "threads": run["threads"],
    }


def name_row(folder, model):
    """Return the row of the paper's tables that a run stands beside."""
    variant = model["variant"].capitalize()
    if model["kind"] == "static":
        return f"{variant}-static"
    config = json.loads((folder / "config.json").read_text("utf-8"))["encoder"]
    is_large = config.get("num_hidden_layers", 0) >= LAYERS_OF_A_LARGE_ENCODER
    size = "large" if is_large else "base"
    return f"{variant}-frozen-{size}" if model["kind"] == "frozen" else f"{variant}-{size}"


def score(corpus, folder, names, **options):
    """Predict the test split by a run; return the scores in percent, each with its interval."""
    rows = closeread.predict(corpus, folder, split="test", **options)
    report = closeread.score(corpus, rows, split="test")
    scores = {}
    for name in names:
        estimate = report[name]
        scores[name] = [100 * end for end in (estimate.value, estimate.low, estimate.high)]
    return scores


def score_tne(folder):
    """Return the scores of all runs of TNE, by the rows of the paper's tables."""
    rows = {}
    for path, run in find_runs(folder).items():
        row = describe(path, run) | {"scores": score("tne", path, TNE)}
        if run["model"]["variant"] == "decoupled":
            row["printed_decoding"] = score("tne", path, LINKS, decoding="printed")
        rows[name_row(path, run["model"])] = row
    return dict(sorted(rows.items()))


def score_mctaco(folder):
    """Return the scores of all runs of McTaco but those of a learning curve."""
    rows = []
    for path, run in find_runs(folder).items():
        if not path.parent.name.startswith("size-"):
            row = describe(path, run) | {"scores": score("mctaco", path, MCTACO)}
            row["unit_normalization"] = run["unit_normalization"]
            row["seed"] = run["setting"]["seed"]
            rows.append(row)
    return rows


def summarize_curve(folder):
    """Return means and standard errors of the scores that runs have noted, by the share of questions learnt from."""
    scores = defaultdict(list)
    for run in find_runs(folder).values():
        scores[run["data"]["size"]].append([100 * run["test"][name] for name in MCTACO])
    rows = []
    for size, runs in sorted(scores.items()):
        if len(runs) > 1:
            summary = {}
            for name, values in zip(MCTACO, zip(*runs, strict=True), strict=True):
                error = statistics.stdev(values) / len(values) ** 0.5
                summary[name] = [statistics.mean(values), error]
            rows.append({"size": size, "runs": len(runs), "scores": summary})
    return rows


PARTS = {"tne": score_tne, "mctaco": score_mctaco, "curve": summarize_curve}


def main():
    """Score the runs, and replace what was kept of these parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in PARTS:
        parser.add_argument(f"--{name}", type=Path, metavar="DIR")
    path = Path(__file__).parent / "results" / "neural.json"
    results = json.loads(path.read_text("utf-8"))
    for name, folder in vars(parser.parse_args()).items():
        if folder is not None:
            results[name] = PARTS[name](folder)
            results["machines"][name] = f"{name_processor()}, {os.cpu_count()} cores"
            software = f"PyTorch {torch.__version__}, transformers {transformers.__version__}"
            results["software"][name] = software
    results["closeread"] = closeread.__version__
    path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
