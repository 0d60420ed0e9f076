"""What is published loads elsewhere: datasets in a process without closeread, metrics in one that has not imported it.

One process loads everything, because datasets and evaluate take seconds to import.
"""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from shared.hub_client import run_client

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.files import package_folder

pytestmark = pytest.mark.gate

WET = b"""import evaluate
import datasets


class Wet(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("bool"), "references": datasets.Value("bool")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references):
        return {"right": sum(p == r for p, r in zip(predictions, references))}
"""

LOAD = """
import json, os, sys
sys.modules["closeread"] = None  # any import of it fails
sys.modules["transformers"] = None  # evaluate would import it, which takes seconds
import datasets, evaluate
del sys.modules["transformers"]
found = {
    "configs": datasets.get_dataset_config_names("lab/tne"),
    "default": {split: list(rows) for split, rows in datasets.load_dataset("lab/tne").items()},
    "sample": list(datasets.load_dataset("lab/tne", "sample", split="test", streaming=True)),
    "refused": list(datasets.load_dataset("lab/rain", split="test")),
    "wet": evaluate.load("lab/wet").compute(predictions=[True, True, False], references=[True, False, False]),
}
del sys.modules["closeread"]
assert not any(name.split(".")[0] == "closeread" for name in sys.modules)
key = [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]
found["lea"] = evaluate.load("lab/my-lea").compute(predictions=[key[:1]], references=[key])
os.environ["HF_TOKEN"] = "hf_ann"
datasets.Dataset.from_list(ROWS).push_to_hub("ann/rain", split="test")
found["pushed"] = datasets.load_dataset("ann/rain", split="test").to_list()
found["streamed"] = list(datasets.load_dataset("ann/rain", split="test", streaming=True))
print(json.dumps(found), flush=True)
os._exit(0)  # once in many runs, pyarrow aborts while Python ends
"""
ROWS = [{"text": "It rained.", "wet": True}, {"text": "It snowed.", "wet": False}]


@pytest.fixture
def folder(tmp_path):
    """A folder with invented texts in the place of TNE's test split."""
    sample = (package_folder("closeread.loaders.tne") / "sample.jsonl").read_bytes()
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(sample))
    return tmp_path


@pytest.fixture
def published(hub, log_in, run, folder):
    """A Hub with two datasets and two metrics, and what `closeread publish` said."""
    hub.add_repository("lab/wet", "space", {"wet.py": WET}, sdk="static")
    log_in("olga")
    said = {}
    for arguments in (
        [
            "dataset",
            "tne",
            "lab/tne",
            "--config",
            "default",
            "--config",
            "sample",
            "--data-dir",
            folder,
        ],
        ["dataset", "mctaco", "lab/rain"],
        ["metric", "coref_lea", "lab/my-lea"],
    ):
        done = run("publish", *arguments)
        assert done.exit_code == 0, done.stderr
        said[arguments[2]] = done.stderr
    return hub, said


def test_what_is_published_loads_elsewhere(published, folder):
    """One test, so that it is one process, whichever worker of pytest runs it; that process is not logged in."""
    from closeread.hf.export import export

    hub, said = published
    code = f"ROWS = {ROWS}{LOAD}"
    done = run_client(
        hub,
        None,
        code,
        cwd=folder,
        home=folder / "elsewhere",
        HF_DATASETS_DISABLE_PROGRESS_BARS="1",
    )
    loaded = json.loads(done.stdout)

    # The exported rows.
    assert "test.jsonl.gz is not the released file" in said["lab/tne"]
    gold = [dict(record) for record in read_gold(load_corpus("tne"), "sample").records]
    assert loaded["configs"] == ["default", "sample"]
    assert loaded["default"] == {"test": gold}
    assert loaded["sample"] == gold

    # The sample of a corpus that may not be redistributed.
    [file] = [
        path
        for path in export("mctaco", folder / "here", configs=["sample"])
        if path.suffix == ".parquet"
    ]
    assert loaded["refused"] == pq.read_table(file).to_pylist()

    # A metric. Two entities of two mentions, of which the response has one: recall 1/2, precision 1.
    assert loaded["lea"] == {"lea/precision": 1.0, "lea/recall": 0.5, "lea/f1": 0.6666666666666666}

    # Datasets and metrics that others publish.
    assert any(path.endswith(".parquet") for path in hub.files("ann/rain"))
    assert loaded["pushed"] == loaded["streamed"] == ROWS
    assert loaded["wet"] == {"right": 2}
