"""What the tests of the Hugging Face face share: caches of their own, no network, and libraries imported late."""

import os
import subprocess
import sys
from pathlib import Path

import pages
import pytest

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus


@pytest.fixture(scope="session")
def export(datasets):
    """`closeread.hf.export.export`, whose module imports datasets."""
    from closeread.hf.export import export

    return export


@pytest.fixture(params=["closeread", "datasets"])
def load(request, datasets):
    """Both functions that load a dataset by name."""
    import closeread

    return (datasets if request.param == "datasets" else closeread).load_dataset


@pytest.fixture
def offline(monkeypatch, tmp_path, datasets, evaluate):
    """Empty caches, and the Hub declared out of reach."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "hf-metrics")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "hf-modules")
    # The package lies in the modules cache of an earlier test, or of the user.
    for name in [name for name in sys.modules if name.split(".")[0] == "evaluate_modules"]:
        monkeypatch.delitem(sys.modules, name)
    places = [place for place in sys.path if not Path(place, "evaluate_modules").is_dir()]
    monkeypatch.setattr(sys, "path", places)
    datasets.disable_progress_bars()
    return tmp_path


@pytest.fixture
def sample():
    """Gold records of the sample and labels with every third turned."""
    records = list(read_gold(load_corpus("mctaco"), "sample").records)
    turned = {"yes": "no", "no": "yes"}
    return records, [r["label"] if i % 3 else turned[r["label"]] for i, r in enumerate(records)]


@pytest.fixture
def mctaco(offline, evaluate):
    return evaluate.load("mctaco")


@pytest.fixture
def python(tmp_path):
    """What a fresh Python says on both channels when it runs code in an empty folder, offline, with empty caches."""
    folder = tmp_path / "cwd"
    folder.mkdir(exist_ok=True)

    def run(code, stdin="", **environment):
        own = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join([str(pages.HIDDEN), os.environ.get("PYTHONPATH", "")]),
            "HOME": str(tmp_path),
            "HF_HOME": str(tmp_path / "hf-home"),
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
            "PYTHONWARNINGS": "error::UserWarning",
        }
        command = [sys.executable, "-c", code]
        channels = {"input": stdin, "capture_output": True, "text": True}
        return subprocess.run(command, cwd=folder, env=own | environment, **channels)

    return run
