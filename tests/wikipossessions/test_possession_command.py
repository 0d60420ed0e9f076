"""`closeread score wikipossessions`, the evaluate module, and article texts supplied by the user."""

import json
from pathlib import Path

import pytest

import closeread
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.wikipossessions.possession_csv import dump_records

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*1 possession has a relation to an unknown anchor:closeread.CloseReadWarning",
    "ignore:.*known odd:closeread.CloseReadWarning",
    "ignore:.*is not the released file:closeread.CloseReadWarning",
)  # those of the samples are expected

FIELDS = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")
CORPUS = load_corpus("wikipossessions")


def predict(records, step=1):
    """Predict every `step`-th gold possession."""
    return [
        {
            "article": record["article"],
            "possessions": [
                {name: p[name] for name in FIELDS} for p in record["possessions"][::step]
            ],
        }
        for record in records
    ]


@pytest.fixture
def sample():
    return read_gold(CORPUS, "sample").records


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def own_folder(sample, tmp_path):
    """A folder with the user's own file in the format of the corpus."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "annotations.csv").write_text(dump_records(sample), "utf-8")
    return folder


def test_texts_do_not_change_the_digest(own_folder, sample):
    before = read_own_gold(CORPUS, own_folder / "annotations.csv")
    (own_folder / "articles").mkdir()
    (own_folder / "articles" / f"{sample[0]['article']}.txt").write_text(
        "An invented text.", "utf-8"
    )
    after = read_own_gold(CORPUS, own_folder / "annotations.csv")
    assert (before.records[0]["text"], after.records[0]["text"]) == (None, "An invented text.")
    assert before.digest == after.digest


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_added_and_removed_texts_are_noticed(own_folder, sample, tmp_path, monkeypatch, datasets):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")

    def text():
        loaded = closeread.load_dataset("wikipossessions", split="test", data_dir=own_folder)
        return next(row["text"] for row in loaded if row["article"] == sample[0]["article"])

    assert text() is None
    (own_folder / "articles").mkdir()
    file = own_folder / "articles" / f"{sample[0]['article']}.txt"
    for content in ("An invented text.", "Another text."):
        file.write_text(content, "utf-8")
        assert text() == content
    file.unlink()
    assert text() is None


def test_notes_on_predictions(run, sample, tmp_path):
    rows = predict(sample)
    rows[1]["possessions"][0]["anchor"] = "1931-1920"
    path = write_rows(tmp_path / "odd.jsonl", rows)
    for command in (("score", "--no-ci"), ("validate",)):
        done = run(command[0], "wikipossessions", path, "--config", "sample", *command[1:])
        assert done.exit_code == 0
        note = f"note: {path}:2: article {rows[1]['article']!r}: 1 possession has an anchor whose later year comes first"
        assert note in done.stderr


def test_no_notes_on_released_gold(corpora, run):
    assert run("info", "wikipossessions", "--stats").stderr == ""
