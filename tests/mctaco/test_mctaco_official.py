"""Agreement with the official evaluator, whose scores are stored in `agreed/mctaco_official.json`."""

import json
from pathlib import Path

import pytest
from agreed.mctaco_official import systems

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.operations.score import score

AGREED = Path(__file__).parent.parent / "agreed" / "mctaco_official.json"
FIGURES = json.loads(AGREED.read_text("utf-8"))["figures"]
SPLITS = {
    "sample": ("sample", "test"),
    "validation": ("default", "validation"),
    "test": ("default", "test"),
}


@pytest.mark.parametrize("name", SPLITS)
def test_agrees_with_the_official_evaluator(name, request, tmp_path):
    if name != "sample":
        request.getfixturevalue("corpora")
    config, split = SPLITS[name]
    gold = read_gold(load_corpus("mctaco"), config, split)
    compared = 0
    for system, labels in systems([record["label"] for record in gold.records]).items():
        path = tmp_path / "predictions.txt"
        path.write_text("".join(f"{label}\n" for label in labels), "utf-8")
        report = score(
            "mctaco", path, config=config, split=split, by="category", resampling=Resampling(0)
        )
        groups = {"all": report.total, **report.slices["category"]}
        official = {
            f["category"]: f for f in FIGURES if (f["corpus"], f["system"]) == (name, system)
        }
        assert groups.keys() == official.keys()
        for category, scores in groups.items():
            for metric in ("exact_match", "f1"):
                assert scores.scores[metric].value == pytest.approx(
                    official[category][metric], abs=1e-12
                ), (
                    system,
                    category,
                    metric,
                )
                compared += 1
    assert compared == sum(2 for f in FIGURES if f["corpus"] == name) > 0
