"""What is published loads elsewhere: datasets in a process without closeread, metrics in one that has not imported it.

One process loads everything, because datasets and evaluate take seconds to import.
"""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from shared.hub_client import client_here, run_client
from shared.stand_in_hub import StandInHub

from closeread.cli import main
from closeread.corpora.gold import load_corpus, read_gold
from closeread.corpora.sources import CACHE_VARIABLE, DATA_VARIABLE
from closeread.files import package_folder
from closeread.hf.export import export

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
print(json.dumps(found))
"""
ROWS = [{"text": "It rained.", "wet": True}, {"text": "It snowed.", "wet": False}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with invented texts in the place of TNE's test split."""
    made = tmp_path_factory.mktemp("published")
    sample = (package_folder("closeread.loaders.tne") / "sample.jsonl").read_bytes()
    (made / "test.jsonl.gz").write_bytes(gzip.compress(sample))
    return made


@pytest.fixture(scope="module")
def published(folder):
    """A Hub with two datasets and two metrics, and what `closeread publish` said."""
    with StandInHub() as hub, pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder / "cache"))
        patch.delenv(DATA_VARIABLE, raising=False)
        hub.add_user("olga", orgs=["lab"])
        assert hub.add_user("ann") == "hf_ann"
        hub.add_repository("lab/wet", "space", {"wet.py": WET}, sdk="static")
        said = {}
        with client_here(hub, folder / "home") as log_in:
            log_in("olga")
            for arguments in (
                ["dataset", "tne", "lab/tne", "--config", "default", "--config", "sample", "--data-dir", folder],
                ["dataset", "mctaco", "lab/rain"],
                ["metric", "coref_lea", "lab/my-lea"],
            ):
                done = CliRunner().invoke(main, ["publish", *map(str, arguments)], catch_exceptions=False)
                assert done.exit_code == 0, done.stderr
                said[arguments[2]] = done.stderr
        yield hub, said


@pytest.fixture(scope="module")
def loaded(published, folder):
    """What a process finds that is not logged in."""
    hub, _ = published
    code = f"ROWS = {ROWS}{LOAD}"
    done = run_client(hub, None, code, cwd=folder, home=folder / "elsewhere", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    return json.loads(done.stdout)


def test_the_exported_rows(published, loaded):
    _, said = published
    assert "test.jsonl.gz is not the released file" in said["lab/tne"]
    gold = [dict(record) for record in read_gold(load_corpus("tne"), "sample").records]
    assert loaded["configs"] == ["default", "sample"]
    assert loaded["default"] == {"test": gold}
    assert loaded["sample"] == gold


def test_the_sample_of_a_refused_corpus(loaded, tmp_path):
    [file] = [path for path in export("mctaco", tmp_path / "here", configs=["sample"]) if path.suffix == ".parquet"]
    assert loaded["refused"] == pq.read_table(file).to_pylist()


def test_a_metric(loaded):
    # Two entities of two mentions, of which the response has one: recall 1/2, precision 1.
    assert loaded["lea"] == {"lea/precision": 1.0, "lea/recall": 0.5, "lea/f1": 0.6666666666666666}


def test_the_stand_in_takes_and_gives_datasets_and_metrics_of_others(published, loaded):
    hub, _ = published
    assert any(path.endswith(".parquet") for path in hub.files("ann/rain"))
    assert loaded["pushed"] == loaded["streamed"] == ROWS
    assert loaded["wet"] == {"right": 2}
