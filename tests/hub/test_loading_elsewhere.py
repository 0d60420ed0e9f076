"""What is published loads elsewhere: datasets in a process without closeread, metrics in one that has not imported it.

One process loads everything, because datasets and evaluate take seconds to import.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.files import package_folder

pytestmark = pytest.mark.gate

LOAD = """
import json, os, sys
sys.modules["closeread"] = None  # any import of it fails
sys.modules["transformers"] = None  # evaluate would import it, which takes seconds
import datasets, evaluate
del sys.modules["transformers"]
found = {
    "configs": datasets.get_dataset_config_names("./tne"),
    "default": {split: list(rows) for split, rows in datasets.load_dataset("./tne").items()},
    "sample": list(datasets.load_dataset("./tne", "sample", split="test", streaming=True)),
    "refused": list(datasets.load_dataset("./rain", split="test")),
}
del sys.modules["closeread"]
assert not any(name.split(".")[0] == "closeread" for name in sys.modules)
key = [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
found["lea"] = evaluate.load("./my-lea").compute(predictions=[key[:1]], references=[key])
print(json.dumps(found), flush=True)
os._exit(0)  # once in many runs, pyarrow aborts while Python ends
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with invented texts in the place of TNE's test split."""
    sample = (package_folder("closeread.loaders.tne") / "sample.jsonl").read_bytes()
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(sample))
    return tmp_path


@pytest.fixture
def published(hub, log_in, run, folder):
    """A folder with what `closeread publish` puts into two datasets and the Space of a metric."""
    log_in("olga")
    configs = ["--config", "default", "--config", "sample", "--data-dir", folder]
    for arguments in (
        ["dataset", "tne", "lab/tne", *configs],
        ["dataset", "mctaco", "lab/rain"],
        ["metric", "coref_lea", "lab/my-lea"],
    ):
        done = run("publish", *arguments)
        assert done.exit_code == 0, done.stderr
    for (_, name), repository in hub.repositories.items():
        shutil.copytree(repository.find().folder, folder / name.removeprefix("lab/"))
    return folder


def test_what_is_published_loads_elsewhere(published):
    """One test, so that it is one process, whichever worker of pytest runs it."""
    from closeread.hf.export import export

    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(published / "elsewhere")}
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=environment,
        cwd=published,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)

    # The exported rows.
    gold = [dict(record) for record in read_gold(load_corpus("tne"), "sample").records]
    assert loaded["configs"] == ["default", "sample"]
    assert loaded["default"] == {"test": gold}
    assert loaded["sample"] == gold

    # The sample of a corpus that may not be redistributed.
    paths = export("mctaco", published / "here", configs=["sample"])
    [file] = [path for path in paths if path.suffix == ".parquet"]
    assert loaded["refused"] == pq.read_table(file).to_pylist()

    # A metric. Two entities of two mentions, of which the response has one: recall 1/2, precision 1.
    assert loaded["lea"] == {"lea/precision": 1.0, "lea/recall": 0.5, "lea/f1": 0.6666666666666666}
