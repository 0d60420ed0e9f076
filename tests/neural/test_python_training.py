"""`closeread.train`, `closeread.predict` and plots of runs do what the commands do."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.tasks.tne.tne_jsonl import dump_records

pytestmark = pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")

ROWS = read_gold(load_corpus("mctaco"), "sample", "test").records[:8]
SAMPLE = {"config": "sample", "split": "test"}
SMALL = {"epochs": 2, "device": "cpu", "head_learning_rate": 1e-2}


@pytest.fixture(scope="module")
def documents():
    return read_gold(load_corpus("tne"), "sample", "test").records


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, documents):
    words = {token.lower() for record in documents for token in record["tokens"] if token.strip()}
    return make_encoder(tmp_path_factory.mktemp("encoder"), words, longest=64)


def read_run(folder):
    """What of a run does not depend on the clock."""
    run = json.loads((folder / "run.json").read_text("utf-8"))
    epochs = [
        {name: value for name, value in epoch.items() if name != "seconds"}
        for epoch in run.pop("epochs")
    ]
    return {**run, "seconds": None, "epochs": epochs}


def test_tne(encoder, ran, tmp_path):
    options = {**SAMPLE, "validation_split": "test", "variant": "decoupled", **SMALL}
    trained = closeread.train("tne", tmp_path / "python", encoder=str(encoder), **options)
    flags = [
        text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)
    ]
    ran("train", "tne", "--encoder", encoder, *flags, "-o", tmp_path / "command")
    assert read_run(tmp_path / "python") == read_run(tmp_path / "command")
    assert list(trained.to_frame()["epoch"]) == [1, 2]
    assert trained.best["epoch"] in (1, 2)
    assert "IPrep" in str(trained)
    assert (tmp_path / "python" / "curves.svg").read_text("utf-8").lstrip().startswith("<?xml")

    rows = closeread.predict(
        "tne", tmp_path / "python", config="sample", output=tmp_path / "a.jsonl", device="cpu"
    )
    ran(
        "predict",
        "tne",
        tmp_path / "command",
        "--config",
        "sample",
        "-o",
        tmp_path / "b.jsonl",
        "--device",
        "cpu",
    )
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert closeread.score("tne", rows, config="sample") == closeread.score(
        "tne", tmp_path / "b.jsonl", config="sample"
    )
    assert all(not row.get("fallback") for row in closeread.predict(
        "tne", tmp_path / "python", config="sample", device="cpu", fallbacks=False
    ))  # fmt: skip

    # Rows of one's own are those of a file.
    again = closeread.train(
        "tne", tmp_path / "own", encoder=str(encoder), training=_load_rows(tmp_path), variant="decoupled",
        validation=tmp_path / "own.jsonl", **SMALL,
    )  # fmt: skip
    assert again.best == trained.best
    assert closeread.plot("training", tmp_path / "python", tmp_path / "own").axes


def _load_rows(tmp_path):
    records = read_gold(load_corpus("tne"), "sample", "test").records
    (tmp_path / "own.jsonl").write_text(dump_records(records), "utf-8")
    return list(records)


def test_mctaco(encoder, ran, tmp_path):
    options = {**SAMPLE, "seeds": 2, **SMALL, "epochs": 1, "batch_size": 64}
    trained = closeread.train(
        "mctaco", tmp_path / "python", encoder=str(encoder), sizes=[0, 100], **options
    )
    flags = [
        text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)
    ]
    ran(
        "train",
        "mctaco",
        "--encoder",
        encoder,
        *flags,
        "--sizes",
        "0,100",
        "-o",
        tmp_path / "command",
    )
    for run in trained.runs:
        assert read_run(tmp_path / "python" / run.folder) == read_run(
            tmp_path / "command" / run.folder
        )
    assert [(run.size, run.seed) for run in trained.runs] == [(0, 0), (0, 1), (100, 0), (100, 1)]
    assert closeread.plot("learning-curve", tmp_path / "python").axes
    assert trained.is_complete
    assert closeread.train(
        "mctaco", tmp_path / "one", encoder=str(encoder), **SAMPLE, **SMALL
    ).is_complete

    run = tmp_path / "python" / "size-100" / "seed-1"
    rows = closeread.predict("mctaco", run, config="sample", device="cpu")
    ran(
        "predict",
        "mctaco",
        run,
        "--config",
        "sample",
        "--device",
        "cpu",
        "-o",
        tmp_path / "labels.txt",
    )
    assert [row["label"] for row in rows] == (tmp_path / "labels.txt").read_text("utf-8").split()


@pytest.mark.parametrize(("arguments", "options", "message"), [
    (("tne", "run"), {"variant": "tripled"}, "no such variant: 'tripled'"),
    (("tne", "run"), {"sizes": [1]}, "no such option of train tne: 'sizes'"),
    (("tne", "run"), {"epochs": 0}, r"epochs is 0 \(expected a whole number from 1\)"),
    (("tne", "run"), {"precision": "int8"}, "no such precision: 'int8'"),
    (("tne", "run"), {"training": [], "split": "test"}, "training is given twice"),
    (("tne", "run"), {"encoder_dropout": 1.0}, r"encoder_dropout is 1.0 \(expected a number from 0 and below 1\)"),
    (("tne", "run"), {"report_to": "paper"}, "no such report_to: 'paper'"),
    (("mctaco", "run"), {"encoder_dropout": -0.1}, r"encoder_dropout is -0.1 \(expected"),
    (("mctaco", "run"), {"validation_share": 0.2, "validation": ROWS}, "validation_share= and validation= exclude"),
    (("mctaco", "run"), {"validation_share": 1.5}, r"validation_share is 1.5 \(expected a number above 0 and below 1\)"),
    (("mctaco", "run"), {"sizes": [10, 10]}, "sizes: a percentage is given twice"),
    (("mctaco", "run"), {"unit_normalization": "on"}, "no such unit_normalization: 'on'"),
    (("semeval2015_timeline", "run"), {}, "no such corpus with models: 'semeval2015_timeline'"),
])  # fmt: skip
def test_what_can_not_be_trained(arguments, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"config": "sample", "split": "test"} if "training" not in options else {}
    if not {"training", "validation", "sizes"} & options.keys():
        rows["validation_split"] = "test"
    with pytest.raises(RequestError, match=message):
        closeread.train(*arguments, encoder="nothing", **rows, **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["config", "data_dir"])
def test_own_data_are_in_no_config(option, tmp_path):
    """That would be ignored."""
    with pytest.raises(
        RequestError, match=f"{option}= has no effect: no split of the corpus is read"
    ):
        closeread.train(
            "mctaco", tmp_path / "run", encoder="nothing", training=ROWS, **{option: "sample"}
        )
    with pytest.raises(RequestError, match="can't be combined with a config or a data folder"):
        closeread.predict("mctaco", tmp_path / "run", gold=ROWS, **{option: "sample"})


def test_places_of_output_are_checked_first(tmp_path):
    """Before a model is asked for, which may take hours."""
    own = tmp_path / "own.jsonl"
    own.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    with pytest.raises(RequestError, match=r"own.jsonl is also an input; choose another output"):
        closeread.predict("mctaco", tmp_path / "run", gold=own, output=tmp_path / "." / "own.jsonl")
    with pytest.raises(RequestError, match=r"cannot write mctaco predictions with suffix '.docx'"):
        closeread.predict("mctaco", tmp_path / "run", gold=own, output=tmp_path / "labels.docx")


@pytest.mark.parametrize("corpus", ["mctaco", "tne"])
def test_suffixes_are_checked_first(corpus, run, tmp_path):
    found = run(
        "predict", corpus, tmp_path / "run", "--config", "sample", "-o", tmp_path / "a.docx"
    )
    assert found.exit_code
    assert "cannot write" in found.stderr
