"""`closeread reproduce --runs`: rows with a model are what `closeread predict` and `closeread score` give."""

import json
import math
import statistics

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder  # noqa: E402
from shared.tne_release import write  # noqa: E402

from closeread.corpus.gold import read_gold  # noqa: E402
from closeread.corpus.names import load_corpus  # noqa: E402
from closeread.corpus.reproduction import Inputs, reproduce  # noqa: E402
from closeread.counts.printed_tables import OWN_MODEL  # noqa: E402
from closeread.exceptions import RequestError  # noqa: E402
from closeread.tasks.tne.reproduction import name_row  # noqa: E402

pytestmark = pytest.mark.extended

FAST = ("--epochs", 9, "--head-learning-rate", "1e-2", "--device", "cpu")
TABLE_3 = {"Precision": "links/precision", "Recall": "links/recall", "F1": "links/f1"}
TABLE_5 = {
    "Links-P": "unlabeled/precision",
    "Links-R": "unlabeled/recall",
    "Links-F1": "unlabeled/f1",
    "IPrep-Acc": "iprep",
    "UPrep-Acc": "uprep",
}


@pytest.fixture
def release(tmp_path):
    """A release of TNE whose test split is the sample."""
    return write(tmp_path / "release", test=list(read_gold(load_corpus("tne"), "sample").records))


@pytest.fixture
def runs(release, tmp_path, ran):
    """A coupled and two decoupled runs on random word vectors."""
    words = {
        word
        for record in read_gold(load_corpus("tne"), "sample").records
        for word in record["tokens"]
    }
    drawn = torch.randn(len(words), 4, generator=torch.Generator().manual_seed(1)).tolist()
    vectors = tmp_path / "vectors.txt"
    lines = (
        " ".join([word, *map(str, row)])
        for word, row in zip(sorted(words), drawn, strict=True)
        if word.strip()
    )
    vectors.write_text("\n".join(lines), "utf-8")
    for folder, variant, seed in (
        ("one", "coupled", 0),
        ("more/two", "decoupled", 0),
        ("more/three", "decoupled", 1),
    ):
        ran(
            *(
                "train",
                "tne",
                "--encoder",
                f"static:{vectors}",
                "--variant",
                variant,
                "--seed",
                seed,
                *FAST,
            ),
            *(
                "--config",
                "sample",
                "--split",
                "test",
                "--validation-split",
                "test",
                "-o",
                tmp_path / "runs" / folder,
            ),
        )
    return tmp_path / "runs"


def score(corpus, run, ran, tmp_path, *options, gold):
    """The scores of what a run predicts, through files."""
    output = tmp_path / "predictions.jsonl"
    ran("predict", corpus, run, *gold, *options, "-o", output, "--device", "cpu")
    scores = json.loads(ran("score", corpus, output, *gold, "--json", "--no-ci"))["scores"]
    return {
        name: math.nan if found["value"] is None else 100 * found["value"]
        for name, found in scores.items()
    }


def cells_of(corpus, table, **inputs):
    (found,) = reproduce(corpus, table, Inputs(**inputs))
    return {
        (cell.row, cell.column): cell for cell in found.cells if cell.recomputed is not None
    }, found.note


def test_tne(release, runs, ran, tmp_path):
    gold = ("--config", "sample")
    cells, note = cells_of("tne", "3", data_dir=release, runs=runs)
    coupled = score("tne", runs / "one", ran, tmp_path, gold=gold)
    for column, name in TABLE_3.items():
        assert cells["Coupled-static", column].recomputed == pytest.approx(coupled[name], abs=1e-9)
    for row, decoding in (
        ("Decoupled-static", "printed"),
        ("Decoupled-static, links first", "links"),
    ):
        both = [
            score("tne", runs / "more" / run, ran, tmp_path, "--decoding", decoding, gold=gold)
            for run in ("two", "three")
        ]
        for column, name in TABLE_3.items():
            assert cells[row, column].recomputed == pytest.approx(
                statistics.mean(s[name] for s in both), abs=1e-9
            )
    assert cells["Decoupled-static", "Precision"].verdict == OWN_MODEL
    assert f"; Coupled-static of one with '{tmp_path / 'vectors.txt'}'" in note

    cells, _ = cells_of("tne", "5", data_dir=release, runs=runs)
    assert {row for row, _ in cells} == {"Coupled-static", "Decoupled-static"}
    for column, name in TABLE_5.items():
        assert cells["Coupled-static", column].recomputed == pytest.approx(coupled[name], abs=1e-9)


def test_rows_of_encoders(tmp_path):
    (tmp_path / "encoder").mkdir()
    for layers, size in ((6, "base"), (12, "base"), (24, "large")):
        (tmp_path / "encoder" / "config.json").write_text(
            json.dumps({"num_hidden_layers": layers}), "utf-8"
        )
        assert name_row(tmp_path, {"variant": "coupled", "kind": "tuned"}) == f"Coupled-{size}"
        assert (
            name_row(tmp_path, {"variant": "decoupled", "kind": "frozen"})
            == f"Decoupled-frozen-{size}"
        )


@pytest.mark.filterwarnings("ignore:.*longer than the 96 tokens")
def test_mctaco(ran, tmp_path):
    """One of two runs has noted its scores; without the note, it predicts again."""
    records = read_gold(load_corpus("mctaco"), "sample").records
    columns = ("sentence", "question", "answer", "label", "category")
    lines = ("\t".join(record[name] for name in columns) for record in records)
    test = tmp_path / "release" / "test_9442.tsv"
    test.parent.mkdir()
    test.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    words = sorted({word for record in records for word in record["answer"].lower().split()})
    encoder = make_encoder(tmp_path / "encoder", words, longest=96)
    runs = tmp_path / "runs"
    for more in (
        ("--seeds", 2, "-o", runs / "off"),
        ("--unit-normalization", "proper", "-o", runs / "proper"),
    ):
        ran(
            *(
                "train",
                "mctaco",
                "--encoder",
                encoder,
                "--config",
                "sample",
                "--split",
                "test",
                "--test",
                test,
            ),
            *("--epochs", 1, "--batch-size", 16, "--learning-rate", 1e-3, "--device", "cpu", *more),
        )
    gold = ("--gold", test)
    found = [
        score("mctaco", runs / name, ran, tmp_path, gold=gold)
        for name in ("off/seed-0", "off/seed-1")
    ]
    means = {name: statistics.mean(one[name] for one in found) for name in ("f1", "exact_match")}
    path = runs / "off" / "seed-1" / "run.json"
    for note in (True, False):
        if not note:
            path.write_text(
                json.dumps({**json.loads(path.read_text("utf-8")), "test": {}}), "utf-8"
            )
        cells, remark = cells_of("mctaco", "2", data_dir=test.parent, runs=runs)
        assert cells["BERT", "F1"].recomputed == pytest.approx(means["f1"], abs=1e-9)
        assert cells["BERT", "EM"].recomputed == pytest.approx(means["exact_match"], abs=1e-9)
        assert f"BERT of 2 runs with '{encoder}', standard errors: " in remark
        assert f"BERT + unit normalization of 1 run with '{encoder}'" in remark
    with pytest.raises(
        RequestError, match="BERT \\+ unit normalization is in upstream= and in runs="
    ):
        reproduce("mctaco", "2", Inputs(test.parent, upstream=tmp_path, runs=runs))


def test_a_folder_without_runs(release, run):
    done = run("reproduce", "tne", "3", "--data-dir", release, "--runs", release)
    assert done.exit_code == 2
    assert f"Error: {release}: holds no complete run of tne" in done.stderr
