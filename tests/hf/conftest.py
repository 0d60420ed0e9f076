"""What the tests of the Hugging Face face share: caches of their own, and no network."""

import sys

import datasets
import evaluate
import pytest

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """Empty caches, and the Hub declared out of reach."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "hf-metrics")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "hf-modules")
    for name in [name for name in sys.modules if name.split(".")[0] == "evaluate_modules"]:
        monkeypatch.delitem(sys.modules, name)  # the package lies in the modules cache of an earlier test
    monkeypatch.setattr(sys, "path", [place for place in sys.path if not place.endswith("hf-modules")])
    datasets.disable_progress_bars()
    return tmp_path


@pytest.fixture
def sample():
    """Gold records of the sample and labels with every third turned."""
    records = list(read_gold(load_corpus("mctaco"), "sample").records)
    turned = {"yes": "no", "no": "yes"}
    return records, [r["label"] if i % 3 else turned[r["label"]] for i, r in enumerate(records)]


@pytest.fixture
def mctaco(offline):
    return evaluate.load("mctaco")
