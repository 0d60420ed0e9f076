"""Bundles for Codabench: complete, valid, deterministic, and written completely or not at all."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml
from shared.entry_points import COREF_FORMATS, TASKS, TIMEML_FILES, write_key

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import UnavailableError
from closeread.leaderboard.codabench.bundle import PACKAGE, BundleSettings, make_bundle
from closeread.leaderboard.declaration import make_board
from closeread.tasks import load_procedure

pytestmark = pytest.mark.gate

SCHEMA = json.loads(Path(__file__).with_name("codabench.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PATHS = {"image", "terms", "file", "scoring_program", "reference_data", "starting_kit"}
"""The keys of competition.yaml that name a file or a folder of the bundle."""


def read_competition(folder):
    return yaml.safe_load((folder / "competition.yaml").read_text("utf-8"))


def read_tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def paths_in(value):
    """The paths that a part of competition.yaml names."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    here = [value[key] for key in PATHS & value.keys()] if isinstance(value, dict) else []
    return here + [path for part in inside for path in paths_in(part)]


def gold_arguments(name):
    """The arguments for a bundle of some gold; keys are written to the working directory."""
    scored, _, form = name.partition(" ")
    if scored == "tlinks":
        Path("key").mkdir()
        for document, text in TIMEML_FILES["key"].items():
            Path("key", f"{document}.tml").write_text(text)
        return [scored, "task", "--gold", "key"]
    if scored == "coref":
        return [scored, "task", "--gold", write_key("key", form)]
    return [scored, "task", "--config", "sample"]


@pytest.mark.parametrize("name", [*TASKS, "tlinks", *(f"coref {form}" for form in COREF_FORMATS)])
def test_every_gold_makes_a_valid_bundle(here, ran, name):
    arguments = gold_arguments(name)
    written = ran("publish", "codabench", *arguments)
    competition = read_competition(here / "task")
    VALIDATOR.validate(competition)
    found = paths_in(competition)
    assert len(found) == 9
    assert all((here / "task" / path).exists() for path in found)
    assert all(
        (here / "task" / path).read_text("utf-8").startswith("# ")
        for path in found
        if path.endswith(".md")
    )
    assert sorted(written.split()) == sorted(f"task/{path}" for path in read_tree(here / "task"))
    assert str(here).encode() not in b"".join(read_tree(here / "task").values())
    (board,) = competition["leaderboards"]
    procedure = load_procedure(TASKS.get(name, arguments[0]))
    if name in TASKS and load_corpus(name).preset:
        preset = procedure.presets[load_corpus(name).preset]
        procedure = procedure.with_metrics(preset.metrics)
    keys = [column["key"] for column in board["columns"]]
    assert keys[0] == procedure.headline.replace("/", "_")
    assert sorted(keys) == sorted(metric.name.replace("/", "_") for metric in procedure.metrics)
    assert [column["index"] for column in board["columns"]] == list(range(len(keys)))


TITLE = "Time: 'how long'? 2027-01-01 📏 \"x\" <y> & {{z}}"


def test_the_organisers_decisions_are_in_the_competition(here, ran):
    ran(
        "publish", "codabench", "mctaco", "task", "--config", "sample", "--title", TITLE,
        "--start", "2027-01-10 08:30:00", "--end", "2027-02-10 23:59:59", "--per-day", "3", "--max-submissions", "30",
        "--docker-image", "org/closeread:1", "--option", "missing=empty",
    )  # fmt: skip
    competition = read_competition(here / "task")
    assert competition["title"] == TITLE
    assert competition["docker_image"] == "org/closeread:1"
    (phase,) = competition["phases"]
    dates = (phase["start"], phase["end"])
    # text: Codabench cuts off the time of other dates
    assert dates == ("2027-01-10 08:30:00", "2027-02-10 23:59:59")
    assert (phase["max_submissions_per_day"], phase["max_submissions"]) == (3, 30)
    assert "missing:empty" in (here / "task" / "pages" / "evaluation.md").read_text("utf-8")


@pytest.mark.extended
def test_the_same_command_gives_the_same_bytes(here, ran):
    for folder in ("one", "two"):
        ran("publish", "codabench", "tne", folder, "--config", "sample", "--zip")
    assert read_tree(here / "one") == read_tree(here / "two")
    assert (here / "one.zip").read_bytes() == (here / "two.zip").read_bytes()
    with zipfile.ZipFile(here / "one.zip") as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == read_tree(here / "one")


def test_the_command_of_the_starting_kit_runs(here, ran):
    ran("publish", "codabench", "tne", "task", "--config", "sample")
    kit = here / "task" / "starting_kit"
    command = re.search(r"```bash\ncloseread (.*)\n```", (kit / "README.md").read_text("utf-8"))[
        1
    ].split()
    named = [kit / part if part.endswith(".jsonl") else part for part in command]
    assert "tne (not the released gold)" in ran(*named)


def test_a_corpus_without_simple_baselines_has_invented_gold_in_its_starting_kit(here, ran):
    ran("publish", "codabench", "wikipossessions", "task", "--config", "sample")
    kit = here / "task" / "starting_kit"
    assert sorted(path.name for path in kit.iterdir()) == ["README.md", "sample_gold.jsonl"]


@pytest.mark.extended
def test_what_the_licence_forbids_is_told(here, run, corpora):
    found = run("publish", "codabench", "mctaco", "task").stderr
    assert "McTaco may not be redistributed (the authors state no licence)" in found
    assert "task/reference_data is the gold: upload the bundle, but publish it nowhere" in found
    found = run("publish", "codabench", "mctaco", "other", "--config", "sample").stderr
    assert "redistributed" not in found


@pytest.mark.parametrize("corpus", TASKS)
@pytest.mark.extended
def test_the_gold_of_released_corpora_is_scored_as_it_was(corpora, tmp_path, run, corpus):
    try:
        read_gold(load_corpus(corpus))
    except UnavailableError:
        pytest.skip(f"{corpus} is not here")
    # The bundle is written only if the signature of its gold is that of the corpus.
    assert run("publish", "codabench", corpus, tmp_path / "task").exit_code == 0
    signature = make_board(corpus).signature
    assert signature in (tmp_path / "task" / "pages" / "evaluation.md").read_text("utf-8")


DATE = "is not a date (expected YYYY-MM-DD HH:MM:SS, UTC)"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--start", "2027-01-10"], f"start: '2027-01-10' {DATE}"),
        (["--start", "2027-1-1 0:0:0"], f"start: '2027-1-1 0:0:0' {DATE}"),
        (
            ["--end", "2027-02-30 00:00:00", "--start", "now"],
            f"start: 'now' {DATE}\nend: '2027-02-30 00:00:00' {DATE}",
        ),
        (
            ["--start", "2027-01-10 00:00:00", "--end", "2027-01-10 00:00:00"],
            "end: 2027-01-10 00:00:00 is not after the start, 2027-01-10 00:00:00",
        ),
        (["--title", "a\u202eb"], r"title: 'a\u202eb' contains an invisible character, U+202E"),
        (
            ["--option", "missing"],
            "'missing' is not an option with its value (expected NAME=VALUE).",
        ),
        (
            ["--option", "missing=empty", "--option", "missing=error"],
            "option missing is given twice: empty and error.",
        ),
        (["--option", "missing=skip"], "a board can't skip units"),
        (["--option", "x=1"], "no such option of mctaco: 'x'"),
        (["--config", "x"], "no such config of mctaco: 'x'"),
        (["--docker-image", "a b"], "docker_image: 'a b' is not valid"),
        (["--wheel", "library.zip"], "--wheel: is not a wheel: 'library.zip'"),
        (
            ["--wheel", "closeread-1-py3-none-any.whl", "--wheel", "closeread-2-py3-none-any.whl"],
            "several wheels",
        ),
        (["--per-day", "0"], "0 is not in the range x>=1."),
    ],
)
def test_bad_requests_leave_nothing_behind(here, run, arguments, expected):
    known = [] if "--config" in arguments else ["--config", "sample"]
    result = run("publish", "codabench", "mctaco", "new/folder/task", *known, *arguments, "--zip")
    assert result.exit_code == 2
    assert expected in result.stderr
    assert list(here.iterdir()) == []


def test_own_gold_needs_a_key_and_no_file_of_fields(here, run):
    assert (
        "needs gold of your own; give it with --gold"
        in run("publish", "codabench", "coref", "task").stderr
    )
    Path("fields.csv").write_text("document,genre\na,news\nb,fiction\n")
    arguments = [
        "coref",
        "task",
        "--gold",
        write_key("key", "conll"),
        "--option",
        "fields=fields.csv",
    ]
    found = run("publish", "codabench", *arguments).stderr
    assert "option fields is a path, which is not available in a bundle" in found
    assert not Path("task").exists()


@pytest.mark.parametrize("place", ["file", "full", "."])
def test_nothing_is_overwritten(here, run, place):
    (here / "file").write_text("mine")
    (here / "full").mkdir()
    (here / "full" / "mine").touch()
    result = run("publish", "codabench", "mctaco", place, "--config", "sample")
    assert result.exit_code == 1
    assert f"{place}: is not a new or an empty folder; choose another folder" in result.stderr
    assert {path.name for path in here.rglob("*")} == {"file", "full", "mine"}


def test_a_zip_file_is_not_overwritten(here, run):
    (here / "task.zip").write_text("mine")
    result = run("publish", "codabench", "mctaco", "task", "--config", "sample", "--zip")
    assert "task.zip exists; delete it, or choose another folder" in result.stderr
    assert [path.name for path in here.iterdir()] == ["task.zip"]


def test_a_bundle_that_fails_halfway_leaves_nothing_behind(here, run):
    result = run(
        "publish",
        "codabench",
        "mctaco",
        "a/b",
        "--config",
        "sample",
        "--wheel",
        "closeread-1.whl",
        "--zip",
    )
    assert result.exit_code == 1
    assert "closeread-1.whl" in result.stderr
    assert list(here.iterdir()) == []


@pytest.fixture(scope="module")
def mctaco_bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle") / "task"
    make_bundle("mctaco", folder, BundleSettings(), config="sample", archive=False)
    return folder


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", 1),
        ("title", "a" * 257),
        ("image", "../logo.png"),
        ("image", "/logo.png"),
        ("leaderboards", []),
        ("phases.0.start", "2027-01-10"),
        ("phases.0.tasks", []),
        ("phases.0.unknown", 1),
        ("tasks.0.name", 7),
        ("leaderboards.0.submission_rule", "Best"),
        ("leaderboards.0.columns.0.sorting", "down"),
        ("leaderboards.0.columns.0.key", "muc/f1"),
        ("leaderboards.0.columns.0.computation", "avg"),
    ],
)
def test_the_schema_rejects_what_codabench_rejects(mctaco_bundle, path, value):
    competition = read_competition(mctaco_bundle)
    VALIDATOR.validate(competition)
    *steps, last = path.split(".")
    place = competition
    for step in steps:
        place = place[int(step) if step.isdigit() else step]
    place[last] = value
    assert not VALIDATOR.is_valid(competition)


def test_the_program_has_the_whole_package(here, ran):
    ran("publish", "codabench", "mctaco", "task", "--config", "sample")
    assert (here / "task" / "logo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with zipfile.ZipFile(here / "task" / "scoring_program" / PACKAGE) as package:
        assert not [name for name in package.namelist() if name.endswith((".pyc", ".whl"))]
        package.extractall(here / "site")
    look = "import closeread; print(closeread.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=here / "site", capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(here / "site" / "closeread" / "__init__.py"))
    assert (here / "site" / "closeread" / "loaders" / "mctaco" / "sample.tsv").exists()


def test_wheels_are_added_to_the_program(here, ran):
    Path("closeread-9-py3-none-any.whl").write_bytes(b"own")
    Path("numpy-9-py3-none-any.whl").write_bytes(b"library")
    wheels = [part for path in sorted(here.glob("*.whl")) for part in ("--wheel", path)]
    ran("publish", "codabench", "mctaco", "task", "--config", "sample", *wheels)
    found = {
        path.name: path.read_bytes() for path in (here / "task" / "scoring_program").glob("*.whl")
    }
    assert found == {"closeread-9-py3-none-any.whl": b"own", "numpy-9-py3-none-any.whl": b"library"}
