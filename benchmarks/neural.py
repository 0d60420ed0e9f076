"""Trained models on the test splits, beside the rows of the papers.

    CLOSEREAD_DATA=… python benchmarks/neural.py --tne DIR --mctaco DIR [--curve DIR] [--documents FILE]

DIR are folders of runs, as `closeread train` writes them; what was trained, and how, is in `neural.md`.  With FILE, the
time to predict its documents by the first coupled run of TNE whose encoder was trained, too.  Writes
`results/neural.json` and prints it; the tables in `neural.md` and in the dataset cards are made from it by `python
tools/documentation.py`.
"""

import argparse
import json
import os
import statistics
import struct
import time
from collections import defaultdict
from pathlib import Path

import torch
import transformers
from measure import cpu

import closeread
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.neural.run_files import find_complete_runs
from closeread.tasks.mctaco.models import predict as predict_labels
from closeread.tasks.tne.models import predict as predict_links
from closeread.tasks.tne.reproduction import name_row

TNE = (
    "links/precision",
    "links/recall",
    "links/f1",
    "unlabeled/precision",
    "unlabeled/recall",
    "unlabeled/f1",
)
ACCURACIES = ("iprep", "uprep")
MCTACO = ("f1", "exact_match")
TIMED = ("coupled", "tuned")


def take_scores(report, names):
    """The scores of a report in percent, each with its interval."""
    return {
        name: [100 * getattr(report.total.scores[name], end) for end in ("value", "low", "high")]
        for name in names
    }


def describe(run, described):
    """What was trained, and for how long."""
    with (run / "model.safetensors").open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    shapes = [tensor["shape"] for name, tensor in header.items() if name != "__metadata__"]
    return {
        "run": run.name,
        "parameters": sum(torch.Size(shape).numel() for shape in shapes),
        "epochs": len(described["epochs"]),
        "best": described["best"]["epoch"],
        "batch": described["setting"]["batch_size"],
        "rates": [
            described["setting"]["learning_rate"],
            described["setting"]["head_learning_rate"],
        ],
        "threads": described["threads"],
    }


def score_tne(folder):
    """The scores of every run, by the row of the paper's tables that it stands beside."""
    gold = read_gold(load_corpus("tne"), "default", "test")
    found = {}
    for run, described in find_complete_runs(folder, "tne").items():
        report = closeread.score("tne", predict_links(gold, run), split="test")
        scores = take_scores(report, (*TNE, *ACCURACIES))
        found[name_row(run, described["model"])] = {**describe(run, described), "scores": scores}
        if described["model"]["variant"] == "decoupled":
            report = closeread.score(
                "tne", predict_links(gold, run, decoding="printed"), split="test"
            )
            found[name_row(run, described["model"])]["printed_decoding"] = take_scores(
                report, TNE[:3]
            )
    return dict(sorted(found.items()))


def score_mctaco(folder):
    """The scores of every run."""
    records = read_gold(load_corpus("mctaco"), "default", "test").records
    found = []
    for run, described in find_complete_runs(folder, "mctaco").items():
        if run.parent.name.startswith("size-"):  # of the learning curve
            continue
        report = closeread.score("mctaco", predict_labels(records, run), split="test")
        more = {
            "unit_normalization": described["unit_normalization"],
            "seed": described["setting"]["seed"],
        }
        found.append({**describe(run, described), **more, "scores": take_scores(report, MCTACO)})
    return found


def summarize_curve(folder):
    """Means and standard errors of the scores that runs have noted, by how many of the questions they learnt from."""
    scores = defaultdict(list)
    for described in find_complete_runs(folder, "mctaco").values():
        scores[described["data"]["size"]].append([100 * described["test"][name] for name in MCTACO])
    return [
        {
            "size": size,
            "runs": len(runs),
            "scores": {
                name: [statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5]
                for name, values in zip(MCTACO, zip(*runs, strict=True), strict=True)
            },
        }
        for size, runs in sorted(scores.items())
        if len(runs) > 1
    ]


def time_predicting(folder, documents):
    """The seconds to predict the documents of a file, and how many there are."""
    runs = find_complete_runs(folder, "tne").items()
    run = next(
        run
        for run, described in runs
        if (described["model"]["variant"], described["model"]["kind"]) == TIMED
    )
    gold = read_own_gold(load_corpus("tne"), documents)
    start = time.perf_counter()
    rows = predict_links(gold, run, fallbacks=False)
    return {
        "documents": len(rows),
        "seconds": time.perf_counter() - start,
        "threads": torch.get_num_threads(),
    }


def main():
    """Score the runs and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--tne", type=Path, metavar="DIR", help="Score the runs of TNE in this folder on test."
    )
    parser.add_argument(
        "--mctaco",
        type=Path,
        metavar="DIR",
        help="Score the runs of McTaco in this folder on test.",
    )
    parser.add_argument(
        "--curve", type=Path, metavar="DIR", help="Average the test scores in a folder of --sizes."
    )
    parser.add_argument(
        "--documents", type=Path, metavar="FILE", help="Time the prediction of these, with --tne."
    )
    given = parser.parse_args()
    path = Path(__file__).parent / "results" / "neural.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {"machines": {}}
    new = {}
    if given.tne:
        new["tne"] = score_tne(given.tne)
    if given.mctaco:
        new["mctaco"] = score_mctaco(given.mctaco)
    if given.curve:
        new["curve"] = summarize_curve(given.curve)
    if given.documents:
        new["predicting"] = time_predicting(given.tne, given.documents)
    found |= new
    found["machines"] |= dict.fromkeys(new, f"{cpu()}, {os.cpu_count()} cores")
    found |= {
        "software": f"PyTorch {torch.__version__}, transformers {transformers.__version__}",
        "closeread": closeread.__version__,
    }
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
