"""Corpora as `datasets` objects."""

import functools
import hashlib
import importlib
import inspect
import itertools
import json
import shutil
import typing
from pathlib import Path

import pytest
from shared.file_sizes import small_files

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import load_schema
from closeread.exceptions import FormatError, InputError, RequestError, UnavailableError
from closeread.files import package_folder
from closeread.hf import modules
from closeread.signatures import read_hints
from closeread.tasks.mctaco.mctaco_tsv import dump_records

pytestmark = pytest.mark.usefixtures("offline")


@pytest.mark.parametrize("name", corpus_names())
def test_the_sample_holds_the_records(name, features):
    loaded = closeread.load_dataset(name, "sample")
    corpus = load_corpus(name)
    own = features(load_schema(load_corpus(name).schema))
    assert set(loaded) == set(corpus.configs["sample"].splits)
    for split, rows in loaded.items():
        assert rows.features == own
        assert list(rows) == [
            own.encode_example(record) for record in read_gold(corpus, "sample", split).records
        ]


def test_what_hub_users_know():
    test = closeread.load_dataset("mctaco", "sample", split="test")
    assert list(test.features) == [
        *("id", "question_id", "sentence_id", "sentence", "question", "answer", "label", "category")
    ]
    encoded = test.class_encode_column("label")
    assert encoded.features["label"].names == ["no", "yes"]  # as on the Hub
    assert [encoded.features["label"].int2str(i) for i in encoded["label"]] == list(test["label"])


def test_slices_streaming_and_processes(load):
    assert len(load("mctaco", "sample", split="test[:10%]+test[5:8]")) == 13
    stream = load("mctaco", "sample", split="test", streaming=True)
    assert next(iter(stream))["id"] == "test-00000"
    assert len(list(stream)) == 103


@pytest.mark.gate
def test_processes(load):
    mapped = load("mctaco", "sample", split="test", num_proc=2).map(
        lambda row: {"n": len(row["answer"])}, num_proc=2
    )
    assert mapped[0]["n"] == len(mapped[0]["answer"])


def test_what_can_be_asked_beforehand(datasets, features):
    assert datasets.get_dataset_config_names("mctaco") == [
        "default",
        "flat",
        "sample",
        "sample_flat",
    ]
    assert datasets.get_dataset_default_config_name("mctaco") == "default"
    assert datasets.load_dataset_builder("mctaco", "sample").info.features == features(
        load_schema("mctaco")
    )
    assert datasets.get_dataset_split_names("mctaco", "sample") == ["test"]
    assert datasets.get_dataset_split_names("mctaco") == ["validation", "test"]


@pytest.mark.parametrize("argument", ["revision", "data_files"])
def test_arguments_without_a_meaning_are_refused(argument, load):
    with pytest.raises(
        RequestError, match=f"{argument}= does not apply to mctaco, which ships with closeread"
    ):
        load("mctaco", "sample", **{argument: "main"})


def test_a_stream_has_one_process():
    with pytest.raises(RequestError, match="streaming= and num_proc= can't be combined"):
        closeread.load_dataset("mctaco", "sample", streaming=True, num_proc=2)


def test_an_unknown_argument_is_named_in_few_words(datasets):
    with pytest.raises(ValueError, match="doesn't have a 'flavour' key") as caught:
        datasets.load_dataset("mctaco", "sample", flavour="mild")
    assert len(str(caught.value)) < 300


def test_how_it_is_loaded_reaches_datasets(monkeypatch):
    read = []
    monkeypatch.setattr(
        "closeread.hf.builder.read_gold", lambda *a: read.append(a) or read_gold(*a)
    )
    load = functools.partial(closeread.load_dataset, "mctaco", "sample", split="test")
    assert load().cache_files != []
    assert load(keep_in_memory=True).cache_files == []
    assert len(read) == 1
    load(download_mode="force_redownload", verification_mode="no_checks")
    assert len(read) == 2
    with pytest.raises(ValueError, match="nonsense"):
        load(verification_mode="nonsense")
    with pytest.raises(ValueError, match=r"num_proc|processes"):
        load(num_proc=0, download_mode="force_redownload")


def test_names_that_do_not_exist(datasets):
    with pytest.raises(RequestError, match=r"no such corpus: 'mctacos'\. Did you mean 'mctaco'"):
        closeread.load_dataset("mctacos")
    with pytest.raises(
        RequestError, match=r"^no such config of mctaco: 'small' \(choose from: default, flat"
    ):
        closeread.load_dataset("mctaco", "small")
    with pytest.raises(
        ValueError, match=r"'small' not found. Available: \['default', 'flat', 'sample'"
    ):
        datasets.load_dataset("mctaco", "small")
    with pytest.raises(ValueError, match="dev"):
        closeread.load_dataset("mctaco", "sample", split="dev")


def test_what_type_checkers_know(datasets):
    from closeread.hf.builder import load_dataset

    returned = [
        inspect.signature(one).return_annotation for one in typing.get_overloads(load_dataset)
    ]
    kinds = ("DatasetDict", "Dataset", "IterableDatasetDict", "IterableDataset")
    assert returned == [*(f"datasets.{kind}" for kind in kinds), "Data"]
    for (streaming, split), kind in zip(
        itertools.product((False, True), (None, "test")), kinds, strict=True
    ):
        loaded = closeread.load_dataset("mctaco", "sample", split=split, streaming=streaming)
        assert type(loaded) is getattr(datasets, kind)


# datasets 4.0 leaves the file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_names_are_none_of_our_business(tmp_path, datasets):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    assert (
        len(datasets.load_dataset("csv", data_files=str(tmp_path / "rows.csv"), split="train")) == 1
    )


def test_the_released_corpus(corpora, datasets):
    loaded = datasets.load_dataset("mctaco")
    assert {split: len(rows) for split, rows in loaded.items()} == {
        "validation": 3783,
        "test": 9442,
    }


@pytest.fixture
def own_folder(tmp_path):
    """A folder with a test split of the user's own."""
    records = read_gold(load_corpus("mctaco"), "sample").records
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "test_9442.tsv").write_text(dump_records(records[:20]), "utf-8")
    return folder


def test_a_changed_byte_is_seen(own_folder, load):
    with pytest.warns(
        UserWarning, match=r"is not the released file \(sha256 \w+…\); using it as it is"
    ):
        first = load("mctaco", data_dir=str(own_folder))
    assert {split: len(rows) for split, rows in first.items()} == {"test": 20}
    path = own_folder / "test_9442.tsv"
    text = path.read_text("utf-8")
    changed = text.replace("three hours", "three hoarse", 1)
    assert changed != text
    path.write_text(changed, "utf-8")
    with pytest.warns(UserWarning, match="is not the released file"):
        second = load("mctaco", data_dir=str(own_folder))
    assert second["test"][0]["answer"] == "three hoarse"


def test_the_notice_comes_once_for_each_content_and_points_here(own_folder, load):
    path = own_folder / "test_9442.tsv"
    for _ in range(2):
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
        with pytest.warns(closeread.CloseReadWarning, match="is not the released file") as caught:
            load("mctaco", data_dir=str(own_folder), streaming=True)
        assert [warning.filename for warning in caught] == [__file__]
        load("mctaco", data_dir=str(own_folder))  # warnings are errors here


def test_the_sample_goes_without_a_folder(own_folder, load):
    with pytest.raises(
        RequestError,
        match="config sample of mctaco comes with the package; it takes no data folder",
    ):
        load("mctaco", "sample", data_dir=str(own_folder))


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_a_relative_folder_is_found_later(own_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = closeread.load_dataset(
        "mctaco", split="test", data_dir=own_folder.name, streaming=True
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    home = closeread.load_dataset(
        "mctaco", split="test", data_dir=f"~/{own_folder.name}", streaming=True
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(list(stream)) == len(list(home)) == 20


def test_a_reloaded_room_still_works(datasets):
    from closeread.hf import builder

    importlib.reload(builder)
    assert builder.load_dataset_builder("mctaco", "sample").CORPUS.name == "mctaco"


RECORDS = {
    "marmara_coref sample 1.1.0": "10644159e4db",
    "marmara_coref sample_flat 1.1.0": "7325b9616280",
    "mctaco sample 1.1.0": "8e16ce3619ec",
    "mctaco sample_flat 1.1.0": "8e16ce3619ec",
    "semeval2015_timeline sample 1.1.0": "4128b39bee97",
    "semeval2015_timeline sample_flat 1.1.0": "f154c093c24c",
    "tne sample 1.1.0": "4df6129939b5",
    "tne sample_flat 1.1.0": "f1866634e6ae",
    "wikipossessions sample 1.1.0": "9fbb9861de6d",
    "wikipossessions sample_flat 1.1.0": "42210719c3c9",
}
"""Digests of the records of all configs that ship with the package, by `builder.VERSION`."""


def test_other_records_have_another_version():
    """Tables are cached by declaration, schema, data and version: who changes what is read raises the version."""
    found = {}
    for name in corpus_names():
        for config in (
            config for config, one in load_corpus(name).configs.items() if one.is_bundled
        ):
            loaded = closeread.load_dataset_builder(name, config)
            loaded.download_and_prepare()
            rows = {split: list(rows) for split, rows in loaded.as_dataset().items()}
            digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
            found[f"{name} {config} {loaded.config.version}"] = digest[:12]
    assert found.items() >= RECORDS.items()  # a corpus may be added


def test_another_declaration_or_schema_is_another_table(monkeypatch, tmp_path):
    places = {
        name: shutil.copytree(package_folder(f"closeread.{name}"), tmp_path / name)
        for name in ("schemas",)
    }
    places["loaders.mctaco"] = shutil.copytree(
        package_folder("closeread.loaders.mctaco"), tmp_path / "mctaco"
    )
    for module in ("closeread.corpus.names", "closeread.hf.modules"):
        monkeypatch.setattr(
            f"{module}.package_folder", lambda name: places[name.removeprefix("closeread.")]
        )
    digest = modules.digest_declaration.__wrapped__
    found = [modules.digest_declaration("mctaco"), digest("mctaco")]
    for path in (tmp_path / "schemas" / "mctaco.json", tmp_path / "mctaco" / "declaration.py"):
        path.write_bytes(path.read_bytes() + b" ")
        found.append(digest("mctaco"))
    assert [found.index(one) for one in found] == [0, 0, 2, 3]


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_a_file_that_changes_while_it_is_read(own_folder, monkeypatch):
    def change(*arguments):
        path = own_folder / "test_9442.tsv"
        path.write_text(path.read_text("utf-8").replace("three hours", "three hoarse", 1), "utf-8")
        return read_gold(*arguments)

    changing = closeread.load_dataset_builder("mctaco", data_dir=own_folder)
    with monkeypatch.context() as patch:
        patch.setattr("closeread.hf.builder.read_gold", change)
        with pytest.raises(FormatError) as caught:
            changing.download_and_prepare()
    assert str(caught.value) == f"{own_folder}: changed while it was read; load it again"
    assert not Path(changing.cache_dir).exists()
    assert (
        closeread.load_dataset("mctaco", split="test", data_dir=own_folder)[0]["answer"]
        == "three hoarse"
    )


def test_paths_are_paths_after_streaming(tmp_path):
    next(iter(closeread.load_dataset("mctaco", "sample", split="test", streaming=True)))
    read_hints.cache_clear()  # `datasets` has put a class of its own in the place of Path
    assert len(closeread.load_dataset("mctaco", "sample", split="test", cache_dir=tmp_path))


def test_a_cache_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        closeread.load_dataset("mctaco", "sample", cache_dir=tmp_path / "file")
    assert str(caught.value).startswith(
        f"{tmp_path / 'file'}: the cache of tables is not writable: "
    )
    with small_files(2**11), pytest.raises(InputError) as caught:
        closeread.load_dataset("mctaco", "sample")
    assert (
        str(caught.value)
        .splitlines()[0]
        .endswith(
            ": the cache of tables is not writable: File too large; pass another folder as cache_dir= or set "
            "HF_DATASETS_CACHE"
        )
    )
    assert [
        path
        for path in (tmp_path / "hf-datasets").glob("mctaco/**/*")
        if path.suffix in (".arrow", ".json")
    ] == []


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_the_same_content_elsewhere_is_the_same_data(own_folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    own_folder.rename(elsewhere)
    own_folder.mkdir()
    (own_folder / "test_9442.tsv").write_bytes((elsewhere / "test_9442.tsv").read_bytes())
    first, second = (
        closeread.load_dataset_builder("mctaco", data_dir=folder)
        for folder in (own_folder, elsewhere)
    )
    assert first.cache_dir == second.cache_dir


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(
        UnavailableError, match=r"contains none of the files of McTaco: dev_3783.tsv, test_9442.tsv"
    ):
        closeread.load_dataset("mctaco", data_dir=tmp_path)


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_a_bad_file_gets_our_own_words(own_folder):
    with (own_folder / "test_9442.tsv").open("a") as file:
        file.write("only\tthree\tcells\n")
    with pytest.raises(FormatError, match=r"test_9442\.tsv:21: the number of columns is 3"):
        closeread.load_dataset("mctaco", data_dir=own_folder)


def test_labels_follow_the_features_that_are_asked_for(datasets, features):
    wanted = features(load_schema("mctaco"))
    wanted["label"] = datasets.ClassLabel(names=["yes", "no"])
    rows = closeread.load_dataset("mctaco", "sample", split="test", features=wanted)
    records = read_gold(load_corpus("mctaco"), "sample").records
    assert [rows.features["label"].int2str(row["label"]) for row in rows] == [
        r["label"] for r in records
    ]
    assert list(rows["category"]) == [record["category"] for record in records]


def test_the_same_bytes_under_another_name_are_another_split(own_folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "dev_3783.tsv").write_bytes((own_folder / "test_9442.tsv").read_bytes())
    with pytest.warns(UserWarning, match="is not the released file"):
        assert set(closeread.load_dataset("mctaco", data_dir=own_folder)) == {"test"}
    with pytest.warns(UserWarning, match="is not the released file"):
        assert set(closeread.load_dataset("mctaco", data_dir=other)) == {"validation"}


def test_no_folder_is_not_an_empty_folder(corpora, tmp_path, datasets):
    for load in (closeread.load_dataset, datasets.load_dataset):
        assert len(load("mctaco", data_dir="")["test"]) == 9442
    with pytest.raises(UnavailableError):
        closeread.load_dataset("mctaco", data_dir=tmp_path)
