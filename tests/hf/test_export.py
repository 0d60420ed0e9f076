"""A corpus as a dataset repository that plain `datasets` reads."""

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from shared.file_sizes import small_files

import closeread
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.exceptions import InputError, RequestError
from closeread.files import package_folder
from closeread.records import UserFiles
from closeread.tasks.mctaco.mctaco_tsv import dump_records

pytestmark = pytest.mark.usefixtures("offline")


PLAIN = """
import datasets, json, sys
for name in sys.stdin.read().split():
    configs = datasets.get_dataset_config_names(f"../{name}")
    print(json.dumps([name, {s: len(r) for s, r in datasets.load_dataset(f"../{name}", "sample").items()}, configs]))
assert "closeread" not in sys.modules
sys.stdout.flush()
__import__("os")._exit(0)  # once in many runs, older versions of pyarrow abort while Python ends
"""


@pytest.mark.gate
def test_plain_datasets_reads_it(tmp_path, export, python):
    for name in corpus_names():
        export(name, tmp_path / name, configs=["sample"])
    done = python(PLAIN, stdin="\n".join(corpus_names()))
    sizes = {
        name: {"test": len(read_gold(load_corpus(name), "sample", "test").records)}
        for name in corpus_names()
    }
    assert done.stderr == ""
    assert list(map(json.loads, done.stdout.splitlines())) == [
        [name, sizes[name], ["sample"]] for name in sizes
    ]


def test_it_holds_what_the_loader_gives(tmp_path, datasets, export):
    export("mctaco", tmp_path / "repository", configs=["sample"])
    plain = datasets.load_dataset(str(tmp_path / "repository"), "sample", split="test")
    ours = closeread.load_dataset("mctaco", "sample", split="test")
    assert list(plain) == list(ours)
    assert plain.features == ours.features


def test_two_runs_give_the_same_bytes(corpora, tmp_path, export):
    first, second = export("mctaco", tmp_path / "one"), export("mctaco", tmp_path / "two")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert [str(path.relative_to(tmp_path / "one")) for path in first] == [
        "README.md",
        "default/test-00000-of-00001.parquet",
        "default/validation-00000-of-00001.parquet",
        "flat/test-00000-of-00001.parquet",
        "flat/validation-00000-of-00001.parquet",
        "sample/test-00000-of-00001.parquet",
        "sample_flat/test-00000-of-00001.parquet",
    ]


def test_a_folder_that_holds_something(tmp_path, export):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(OSError, match="is not a new or an empty folder; choose another folder"):
        export("mctaco", tmp_path / "full", configs=["sample"])
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine.txt"]


def test_interrupted_it_leaves_nothing(tmp_path, monkeypatch, export):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "write_table", interrupted)
    target = tmp_path / "below" / "repository"
    with pytest.raises(KeyboardInterrupt):
        export("mctaco", target, configs=["sample"])
    assert not (tmp_path / "below").exists()


def test_a_card_says_what_is_not_the_release(tmp_path, export):
    export("mctaco", tmp_path / "sample", configs=["sample"])
    records = read_gold(load_corpus("mctaco"), "sample").records
    own = tmp_path / "own"
    own.mkdir()
    (own / "test_9442.tsv").write_text(dump_records(records[:20]), "utf-8")
    with pytest.warns(UserWarning, match="is not the released file"):
        export("mctaco", tmp_path / "mine", files=UserFiles(own))
    for name, why in (
        ("sample", "it has only sample"),
        ("mine", "its files come from a user's own folder"),
    ):
        card = (tmp_path / name / "README.md").read_text("utf-8")
        assert f"> This export differs from the release: {why}." in card
        assert "\nsize_categories:\n- n<1K\n" in card  # the release has 13,225 records: 10K<n<100K
        assert "9,442" not in card
        assert "## How it is scored" in card


def test_the_card_of_the_release(corpora, tmp_path, export):
    export("mctaco", tmp_path / "repository")
    card = (tmp_path / "repository" / "README.md").read_text("utf-8")
    front = yaml.safe_load(card.split("---")[1])
    assert [config["config_name"] for config in front["configs"]] == [
        "default",
        "flat",
        "sample",
        "sample_flat",
    ]
    splits = {info["config_name"]: info["splits"] for info in front["dataset_info"]}
    assert {s["name"]: s["num_examples"] for s in splits["default"]} == {
        "validation": 3783,
        "test": 9442,
    }
    assert "9,442" in card
    assert "size_categories" in card
    assert "not the released files" not in card


def test_a_folder_is_for_the_default_config(tmp_path, export):
    with pytest.raises(
        RequestError, match="a data folder applies only to config default, which is not exported"
    ):
        export("mctaco", tmp_path / "out", configs=["sample"], files=UserFiles(tmp_path))


def test_an_export_contains_the_licence_that_asks_for_it(tmp_path, export):
    written = export("tne", tmp_path / "out", configs=["sample"])
    assert "LICENSE" in [path.name for path in written]
    assert "Copyright (c) 2018, yanai" in (tmp_path / "out" / "LICENSE").read_text("utf-8")


def test_targets_that_can_not_be(tmp_path, monkeypatch, export):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for target in (Path(), Path("file")):
        with pytest.raises(OSError, match="is not a new or an empty folder; choose another"):
            export("mctaco", target, configs=["sample"])
    with pytest.raises(RequestError, match="no such config of mctaco: 'nope'"):
        export("mctaco", Path("deep") / "out", configs=["nope"])
    assert [path.name for path in tmp_path.iterdir() if path.name != "hf-datasets"] == ["file"]


def test_no_room_for_temporary_tables(tmp_path, export):
    """It is told, also where a config without files would be left out."""
    with small_files(2**11), pytest.raises(InputError) as caught:
        export("mctaco", tmp_path / "out", configs=["sample"])
    told = str(caught.value)
    assert told.endswith(
        ": can't be written: File too large; set TMPDIR to a folder with room for temporary tables"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", corpus_names())
def test_json_lines_are_gold(name, tmp_path, datasets, export):
    files = export(name, tmp_path / "repository", configs=["sample"], format="jsonl")
    lines = next(path for path in files if path.suffix == ".jsonl")
    assert lines.name == "test.jsonl"
    corpus = load_corpus(name)
    assert read_own_gold(corpus, lines).digest == read_gold(corpus, "sample").digest
    plain = datasets.load_dataset(str(tmp_path / "repository"), split="test")
    assert plain.features == closeread.load_dataset(name, "sample", split="test").features


# datasets 4.0 leaves the file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_csv_of_flat_configs(tmp_path, corpora, datasets, export):
    files = export("wikipossessions", tmp_path / "all", format="csv")
    assert [str(path.relative_to(tmp_path / "all")) for path in files] == [
        *("README.md", "flat/test.csv", "sample_flat/test.csv")
    ]
    plain = datasets.load_dataset(str(tmp_path / "all"), "sample_flat", split="test")
    assert (
        plain["possessor"]
        == closeread.load_dataset("wikipossessions", "sample_flat", split="test")["possessor"]
    )
    with pytest.raises(
        RequestError, match="config sample of wikipossessions has lists; csv files hold flat"
    ):
        export("wikipossessions", tmp_path / "none", configs=["sample", "flat"], format="csv")
    with pytest.raises(RequestError, match="no such format: 'xml'"):
        export("wikipossessions", tmp_path / "none", format="xml")


@pytest.mark.filterwarnings("ignore:.*is not the released file", "ignore:.*is skipped")
def test_absent_splits_and_configs_are_left_out(tmp_path, monkeypatch, export):
    folder = tmp_path / "data" / "tne"
    folder.mkdir(parents=True)
    sample = package_folder("closeread.loaders.tne") / "sample.jsonl"
    (folder / "test.jsonl.gz").write_bytes(gzip.compress(sample.read_bytes()))
    monkeypatch.setenv("CLOSEREAD_DATA", str(tmp_path / "data"))
    with pytest.warns(UserWarning, match="config ood_domains of tne is skipped"):
        files = export("tne", tmp_path / "out", files=UserFiles(folder))
    assert [
        str(path.relative_to(tmp_path / "out")) for path in files if path.suffix == ".parquet"
    ] == [
        *(
            f"{name}/test-00000-of-00001.parquet"
            for name in ("default", "flat", "sample", "sample_flat")
        )
    ]
