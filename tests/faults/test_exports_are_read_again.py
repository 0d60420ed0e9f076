"""What is exported is read back the same, by `datasets`, by pandas and by us, whatever the texts are."""

import json
from pathlib import Path

import pytest
from shared.entry_points import sample_gold
from shared.hostile_texts import HOSTILE
from shared.late import Late, datasets, pandas

import closeread
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.files import write_text
from closeread.tasks.mctaco.mctaco_tsv import dump_records as dump_tsv
from closeread.tasks.tne.tne_jsonl import dump_records as dump_jsonl
from closeread.tasks.wikipossessions.possession_csv import dump_records as dump_csv

exports = Late("closeread.hf.export")

# Old `datasets` leave CSV files to the garbage collector.
UNCLOSED = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)


@pytest.fixture(autouse=True)
def offline(monkeypatch, here):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", here / "hf")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def mctaco(number, text):
    record = sample_gold("mctaco")[0]
    return {**record, "sentence": f"{number}{text}", "question": text, "answer": text}


def tne(number, text):
    record = sample_gold("tne")[0]
    return {**record, "id": text or str(number)}


def wikipossessions(number, text):
    record = sample_gold("wikipossessions")[0]
    return {
        **record,
        "article": f"{number}{text}",
        "possessions": [{**record["possessions"][0], "possessor": text}],
    }


CORPORA = {
    "mctaco": (mctaco, dump_tsv, "test_9442.tsv"),
    "tne": (tne, dump_jsonl, "test.jsonl.gz"),
    "wikipossessions": (wikipossessions, dump_csv, "annotations.csv"),
}
"""How a record with a text is made, how it is written, and the file of the test split."""


def take_hostile(corpus, make, dump):
    """The records with hostile texts that the corpus takes and its own format holds."""
    taken = []
    for number, text in enumerate(HOSTILE):
        record = make(number, text)
        try:
            read_own_gold(load_corpus(corpus), [record])
            dump([record])
        except UnicodeError:
            raise
        except ValueError:
            continue
        taken.append(record)
    assert len(taken) > len(HOSTILE) / 2
    return taken


@pytest.fixture(params=CORPORA)
def corpus(request, here):
    """A corpus with a folder of hostile data as its test split, called `data`."""
    make, dump, name = CORPORA[request.param]
    Path("data").mkdir()
    write_text(Path("data", name), dump(take_hostile(request.param, make, dump)))
    return request.param


@pytest.mark.filterwarnings("ignore:.* is not the released file")
def test_exports(corpus):
    kind = "parquet" if corpus == "tne" else "jsonl"
    exports.export(
        corpus, Path("out"), configs=["default", "flat"], data_dir=Path("data"), format=kind
    )
    for config in ("default", "flat"):
        expected = closeread.load_dataset(corpus, config, split="test", data_dir="data")
        read = datasets.load_dataset("./out", config, split="test")
        assert read.features == expected.features
        assert list(read) == list(expected)
    (file,) = Path("out/default").iterdir()
    expected = closeread.load_dataset(corpus, split="test", data_dir="data")
    assert list(read_own_gold(load_corpus(corpus), file).records) == list(expected)
    if kind == "jsonl":
        for line in file.read_text("utf-8").rstrip("\n").split("\n"):
            json.loads(line, parse_constant=pytest.fail)


@UNCLOSED
@pytest.mark.filterwarnings("ignore:.* is not the released file")
def test_csv(corpus):
    exports.export(corpus, Path("out"), configs=["flat"], data_dir=Path("data"), format="csv")
    expected = list(closeread.load_dataset(corpus, "flat", split="test", data_dir="data"))
    read = datasets.load_dataset("./out", "flat", split="test")
    frame = pandas.read_csv("out/flat/test.csv", dtype=str, keep_default_na=False)
    name = {"mctaco": "answer", "tne": "id", "wikipossessions": "possessor"}[corpus]
    cells = [row[name] for row in expected]
    assert {"NA", "null", "None", "nan"} <= set(cells)
    assert list(read[name]) == list(frame[name]) == cells


@UNCLOSED
@pytest.mark.parametrize("corpus", ["semeval2015_timeline", "wikipossessions"])
def test_csv_of_samples(corpus):
    """Numbers are still numbers, and what is null is null."""
    exports.export(corpus, Path("out"), configs=["sample_flat"], format="csv")
    expected = list(closeread.load_dataset(corpus, "sample_flat", split="test"))
    read = list(datasets.load_dataset("./out", "sample_flat", split="test"))
    assert len(read) == len(expected)
    for row, original in zip(read, expected, strict=True):
        for name, value in original.items():
            assert (row[name] is None) is (value in (None, ""))
            assert not isinstance(value, bool) or row[name] is value
            assert not isinstance(value, int) or row[name] == value
