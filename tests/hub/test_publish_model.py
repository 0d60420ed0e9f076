"""`closeread publish model` against a fake Hub."""

import json

import pytest

import closeread

RUN = {
    "format": 1,
    "closeread": "0.1.0",
    "task": "mctaco",
    "unit_normalization": "off",
    "data": {"training": "5b02", "validation": 0.1, "size": 100.0, "questions": 23},
    "model": {"encoder": "lab/*bert*", "labels": ["no", "yes"], "encoder_dropout": None},
    "setting": {
        "epochs": 2,
        "patience": 2,
        "batch_size": 16,
        "learning_rate": 0.001,
        "head_learning_rate": 0.001,
        "seed": 7,
        "precision": "float32",
        "device": "cpu",
        "weight_decay": 0.01,
        "warmup": 0.1,
        "clip": 1.0,
    },
    "versions": {"torch": "2.13.0"},
    "device": "x86_64",
    "threads": 1,
    "state": "complete",
    "epochs": [
        {"number": 1, "loss": 0.5, "scores": {"f1": 0.625, "exact_match": None}, "seconds": 1}
    ],
    "best": {"epoch": 1, "f1": 0.625, "exact_match": None},
    "seconds": 1.0,
}


@pytest.fixture
def publish(hub, log_in, run, here):
    """Runs `closeread publish model ARGUMENTS` beside the folder of a run."""
    log_in("olga")
    folder = here / "run"
    (folder / "checkpoint-2").mkdir(parents=True)
    files = {
        "config.json": "{}",
        "model.safetensors": "weights",
        "tokenizer.json": "{}",
        "curves.svg": "<svg/>",
        "training_args.bin": "code",
        "checkpoint-2/optimizer.pt": "state",
        "run.json": json.dumps(RUN),
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return lambda *arguments: run("publish", "model", *arguments)


@pytest.fixture
def report(here):
    rows = closeread.baseline("mctaco", "always-positive", config="sample")
    closeread.score("mctaco", rows, config="sample").save(here / "report.json")
    return "report.json"


PUBLISHED = ["README.md", "config.json", "model.safetensors", "run.json", "tokenizer.json"]


def test_a_dry_run_lists_what_is_published_next(hub, publish, report, here):
    arguments = ("run", "--repo", "lab/ferry", "--report", report)
    done = publish(*arguments, "--dry-run", "--json")
    assert done.exit_code == 0, done.stderr
    listed = json.loads(done.stdout)
    assert [(file["path"], file["change"]) for file in listed["files"]] == [
        (path, "new") for path in PUBLISHED
    ]
    assert hub.repositories == {}
    assert publish(*arguments).exit_code == 0
    files = {
        path: content
        for path, content in hub.files("lab/ferry", kind="model").items()
        if path in PUBLISHED
    }
    assert {path: len(content) for path, content in files.items()} == {
        file["path"]: file["size"] for file in listed["files"]
    }
    assert files["model.safetensors"] == (here / "run/model.safetensors").read_bytes()
    assert "Nothing to publish" in publish(*arguments).stdout


def test_the_card_tells_data_settings_and_scores_with_intervals(hub, publish, report):
    assert publish("run", "--repo", "lab/ferry", "--report", report).stderr == ""
    card = hub.files("lab/ferry", kind="model")["README.md"].decode()
    for line in (
        "pipeline_tag: text-classification",
        "- validation: 0.1 of the training sentences",
        "- seed: 7",
        r"- encoder: lab/\*bert\*",
        "- f1: 62.50",
    ):
        assert line in card.replace(r"\_", "_").splitlines()
    # Of the sample, 47 of 103 candidates are plausible: the scores of "always yes" are in other tests.
    assert "| F1          |   61.31 |" in card
    assert "Signature: mctaco|version:1|" in card
    assert 'pipeline("text-classification", "lab/ferry")' in card
    assert "base_model" not in card  # "lab/*bert*" is no name on the Hub


def test_without_a_report_a_note_says_so(publish):
    done = publish("run", "--repo", "lab/ferry", "--dry-run")
    assert done.stderr == (
        "note: the card has scores on validation data only, without intervals; "
        "--report adds those of closeread score.\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "training"}, "run/run.json: the run is not complete (expected state complete)"),
        ({"task": "tne"}, "a report is of mctaco, and the run of tne"),
        (
            {"runs": []},
            "run/run.json: describes several runs (expected the folder of a training run: none)",
        ),
    ],
)
def test_runs_that_can_not_be_published(change, message, publish, report, here):
    (here / "run/run.json").write_text(json.dumps(RUN | change), "utf-8")
    done = publish("run", "--repo", "lab/ferry", "--report", report)
    assert done.exit_code in (1, 2)
    assert done.stderr.splitlines()[-1] == f"Error: {message}"


def test_a_run_without_weights(publish, here):
    (here / "run/model.safetensors").unlink()
    done = publish("run", "--repo", "lab/ferry")
    missing = "run/model.safetensors: does not exist (expected a trained model)"
    assert done.stderr.splitlines()[-1] == f"Error: {missing}"


def test_in_python(hub, log_in, publish, here):
    log_in("olga")
    with pytest.warns(closeread.CloseReadWarning, match="report= adds those of closeread score"):
        done = closeread.publish_model(here / "run", repo="lab/ferry")
    assert done.to_dict()["changed"]
    assert done.to_dict()["url"] == f"{hub.url}/lab/ferry"
