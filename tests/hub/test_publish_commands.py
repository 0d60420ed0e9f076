"""`closeread publish` against a fake Hub."""

import gzip
import json
import re
import subprocess
import sys

import pytest
from huggingface_hub.errors import OfflineModeIsEnabled
from shared.fake_hub import CUT, WRITES, Fault

from closeread.files import package_folder


@pytest.fixture
def publish(hub, log_in, run, here, monkeypatch):
    """Runs `closeread publish ARGUMENTS` as a user in a folder of the test's own."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments, user="olga"):
        log_in(user)
        return run("publish", *arguments)

    return call


@pytest.fixture
def own_tne(tmp_path):
    """A folder with invented texts in the place of TNE's test split."""
    folder = tmp_path / "own"
    folder.mkdir()
    sample = (package_folder("closeread.loaders.tne") / "sample.jsonl").read_bytes()
    (folder / "test.jsonl.gz").write_bytes(gzip.compress(sample))
    return folder


def test_a_dry_run_lists_files_and_sizes_and_publishes_nothing(hub, publish):
    done = publish("dataset", "mctaco", "lab/rain", "--dry-run", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(file["path"], file["change"]) for file in found["files"]] == [
        ("README.md", "new"),
        ("mctaco.json", "new"),
        ("sample/test-00000-of-00001.parquet", "new"),
    ]
    assert (found["dry_run"], found["changed"], found["commit"]) == (True, False, None)
    assert found["redistribution"] == "the authors state no licence"
    assert hub.repositories == {}
    assert [name for name, _ in hub.calls if re.fullmatch(WRITES, name)] == []
    # The sizes are those of the files that are published next.
    assert publish("dataset", "mctaco", "lab/rain").exit_code == 0
    sizes = {path: len(content) for path, content in hub.files("lab/rain").items()}
    assert sizes == {file["path"]: file["size"] for file in found["files"]}


def test_one_commit_and_twice_changes_nothing(hub, publish):
    first = publish("dataset", "mctaco", "lab/rain")
    assert first.stderr == (
        "note: McTaco may not be redistributed (the authors state no licence); publishing its card without its data.\n"
    )
    assert hub.count_calls("create_commit") == 1
    [initial, published] = hub.commits("lab/rain")
    assert published.title == "Publish McTaco with closeread"
    assert f"Published: {hub.url}/datasets/lab/rain/commit/{published.sha}" in first.stdout
    again = publish("dataset", "mctaco", "lab/rain", user="otto")
    assert again.exit_code == 0, again.stderr
    assert (
        f"Nothing to publish: {hub.url}/datasets/lab/rain has these files already." in again.stdout
    )
    assert hub.count_calls("create_commit") == 1
    assert hub.commits("lab/rain") == [initial, published]


def test_configs_of_a_corpus_that_may_be_published(hub, publish, own_tne):
    arguments = (
        "--config",
        "default",
        "--config",
        "sample",
        "--data-dir",
        "own",
    )
    done = publish("dataset", "tne", "lab/tne", *arguments)
    assert done.exit_code == 0, done.stderr
    assert "own/test.jsonl.gz is not the released file" in done.stderr
    assert sorted(hub.files("lab/tne")) == [
        "LICENSE",
        "README.md",
        "default/test-00000-of-00001.parquet",
        "sample/test-00000-of-00001.parquet",
        "tne.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--config", "default"],
            "(the authors state no licence): config default can't be published.",
        ),
        (["--data-dir", "."], "(the authors state no licence): --data-dir can't be published"),
    ],
)
def test_a_licence_that_forbids_it(hub, publish, arguments, message):
    done = publish("dataset", "mctaco", "lab/rain", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert hub.calls == []


def test_data_published_before_is_deleted_and_other_files_are_kept(hub, publish):
    theirs = {
        "notes.md": b"mine",
        "default/notes.md": b"mine",
        "data/test-00000-of-00001.parquet": b"mine",
    }
    stale = {
        "default/test-00000-of-00001.parquet": b"PAR1",
        "sample/train-00000-of-00002.parquet": b"PAR1",
    }
    hub.add_repository("lab/rain", files={**theirs, **stale, "README.md": b"# Old"})
    planned = json.loads(publish("dataset", "mctaco", "lab/rain", "--dry-run", "--json").stdout)
    assert {file["path"]: file["change"] for file in planned["files"]} == {
        "README.md": "changed",
        "default/test-00000-of-00001.parquet": "deleted",
        "mctaco.json": "new",
        "sample/test-00000-of-00001.parquet": "new",
        "sample/train-00000-of-00002.parquet": "deleted",
    }
    assert publish("dataset", "mctaco", "lab/rain").exit_code == 0
    files = hub.files("lab/rain")
    assert {path: files[path] for path in theirs} == theirs
    assert not stale.keys() & files.keys()
    assert len(hub.commits("lab/rain")) == 3


@pytest.mark.parametrize("error", [400, 403, CUT, ValueError("the YAML is not valid")], ids=str)
def test_a_fault_in_the_middle_leaves_the_repository_unchanged(hub, publish, error):
    hub.add_repository(
        "lab/rain", files={"README.md": b"# Old", "default/test-00000-of-00001.parquet": b"PAR1"}
    )
    commits = hub.commits("lab/rain")
    hub.faults = [Fault("create_commit", error)]
    done = publish("dataset", "mctaco", "lab/rain")
    assert done.exit_code != 0
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert hub.faults[0].times == 0
    assert hub.commits("lab/rain") == commits


def test_a_metric_is_published_once(hub, publish):
    done = publish("metric", "coref_lea", "lab/my-lea")
    assert done.exit_code == 0, done.stderr
    assert hub.repositories["space", "lab/my-lea"].sdk == "static"
    assert hub.count_calls("create_commit") == 1
    assert "Nothing to publish" in publish("metric", "coref_lea", "lab/my-lea").stdout
    assert hub.count_calls("create_commit") == 1


def test_private_and_what_the_hub_refuses(hub, publish):
    assert publish("metric", "mctaco", "lab/hidden", "--private").exit_code == 0
    assert hub.repositories["space", "lab/hidden"].private
    assert publish("metric", "mctaco", "lab/hidden", "--private").exit_code == 0
    assert hub.count_calls("create_commit") == 1
    hub.add_repository("lab/seen", "space")
    assert "is public" in publish("metric", "mctaco", "lab/seen", "--private").stderr
    hub.faults = [Fault("create_repo", 402)]
    done = publish("metric", "mctaco", "lab/paid")
    assert done.exit_code != 0
    assert "plan" in done.stderr
    assert "Traceback" not in done.stderr
    stranger = publish("metric", "mctaco", "lab/other", user="ann")
    assert stranger.exit_code != 0
    assert "lab/other" in stranger.stderr
    assert "Traceback" not in stranger.stderr
    assert set(hub.repositories) == {("space", "lab/hidden"), ("space", "lab/seen")}


def test_a_dry_run_without_network(hub, publish):
    hub.faults = [Fault(".*", OfflineModeIsEnabled("offline"), times=99)]
    done = publish("metric", "mctaco", "lab/mctaco", "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("note: lab/mctaco can't be compared: ")
    assert "unknown" in done.stdout


def test_unknown_metrics(run):
    done = run("publish", "metric", "coref_l", "lab/x")
    assert (done.exit_code, "Did you mean 'coref_lea'?" in done.stderr) == (2, True)


@pytest.mark.gate
def test_publishing_is_not_imported_by_other_commands(tmp_path):
    code = (
        "import sys\nfrom closeread.cli import main\n"
        "try:\n    main(['publish', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([n for n in ('huggingface_hub', 'jinja2', 'markdown_it', 'datasets') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
