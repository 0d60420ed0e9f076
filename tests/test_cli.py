"""The command line: what it prints in each format, what it imports, how it teaches."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import click
import pytest
from shared.commands import list_commands

import closeread
from closeread import scoring, tasks
from closeread.cli import commands, options
from closeread.corpus import gold, names, sources, submissions
from closeread.corpus import gold as corpora
from closeread.corpus.names import load_corpus

SCORE = ["score", "mctaco", "yes.jsonl", "--config", "sample"]


@pytest.fixture(autouse=True)
def baselines(ran):
    """Two baselines of the sample."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl")
    ran("baseline", "mctaco", "random", "--seed", "3", "--config", "sample", "-o", "coin.txt")


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*case, id=" ".join(case[0])) for case in list_commands()]
)
def test_help_teaches_by_example(run, path, command):
    result = run(*path, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    documented = ("leaderboard", "submit") if path == ("submit",) else path
    assert f"closeread {' '.join(documented)}" in result.stdout.split("Example", 1)[1]
    assert all(
        parameter.help for parameter in command.params if isinstance(parameter, click.Option)
    )


def test_what_a_folder_holds_is_not_written_over(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "test.tsv").write_text("kept")
    told = run(
        "baseline", "mctaco", "always-positive", "--data-dir", data, "-o", data / "test.tsv"
    ).stderr
    assert "test.tsv is also an input; choose another output file" in told
    assert (data / "test.tsv").read_text() == "kept"
    # below the folder that is read, and where the command runs
    Path("picture.txt").write_text("old")
    Path("test_9442.tsv").write_bytes(loader_file("sample.tsv").read_bytes())
    assert (
        run(
            "baseline", "mctaco", "always-positive", "--data-dir", ".", "-o", "picture.txt"
        ).exit_code
        == 0
    )
    assert Path("picture.txt").read_text() != "old"


def test_devices_and_loops_of_links(run):
    Path("one").symlink_to("other")
    Path("other").symlink_to("one")
    assert run(
        "score", "mctaco", "yes.jsonl", "--config", "sample", "--counts", "one"
    ).exit_code in (0, 1)
    done = run(
        "adjudicate", "mctaco", "yes.jsonl", "coin.txt", "-o", "/dev/null", "--dropped", "/dev/null"
    )
    assert "given for two outputs" not in done.stderr


def test_intervals_follow_their_options(ran):
    def width(*options):
        f1 = json.loads(ran(*SCORE, "--json", *options))["scores"]["f1"]
        return f1["high"] - f1["low"]

    assert width("--confidence", "0.5") < width() < width("--confidence", "0.99")
    assert width() == width("--seed", "0") != width("--seed", "1")
    assert width("--resamples", "50") != width()


@pytest.fixture
def two_corpora(monkeypatch):
    """McTaco and a corpus that differs in name and in what a missing prediction is, both scored alike."""
    other = replace(load_corpus("mctaco"), name="other", procedure_defaults={"missing": "empty"})
    real = corpora.load_corpus
    scoring.find_procedure.cache_clear()
    for module in (corpora, names, gold, submissions, scoring, commands, options):
        monkeypatch.setattr(
            module, "load_corpus", lambda name: other if name == "other" else real(name)
        )
    monkeypatch.setattr(names, "corpus_names", lambda: ["mctaco", "other"])
    folder = sources.package_folder("closeread.loaders.mctaco")
    monkeypatch.setattr(sources, "package_folder", lambda name: folder)


def loader_file(name):
    return Path(str(resources.files("closeread.loaders.mctaco"))) / name


def test_a_corpus_name_stands_for_its_procedure(two_corpora, ran):
    Path("few.jsonl").write_text('{"id": "test-00000", "label": "yes"}\n')
    report = json.loads(
        ran("score", "other", "few.jsonl", "--config", "sample", "--no-ci", "--json")
    )
    assert (report["corpus"], report["procedure"], report["options"]) == (
        "other",
        "mctaco",
        {"missing": "empty", "average": "micro", "undefined": "skip"},
    )
    assert report["missing"] == 102
    assert "[default: empty]" in " ".join(ran("score", "other", "--help").split())


def test_a_procedure_of_several_corpora_needs_a_corpus(two_corpora, run, monkeypatch):
    corpus = load_corpus("mctaco")
    scoring.find_procedure.cache_clear()
    monkeypatch.setattr(names, "corpus_names", lambda: ["other", "another"])
    monkeypatch.setattr(names, "load_corpus", lambda name: corpus)
    result = run("score", "mctaco", "yes.jsonl")
    assert result.exit_code == 2
    assert "procedure mctaco scores other and another; give the name of a corpus" in result.stderr


def test_skipped_units_are_in_the_signature(ran):
    rows = Path("yes.jsonl").read_text("utf-8").splitlines(keepends=True)
    Path("first.jsonl").write_text("".join(rows[:50]))
    Path("second.jsonl").write_text("".join(rows[50:]))
    skip = ["--config", "sample", "--missing", "skip", "--no-ci", "--json"]
    reports = [
        json.loads(ran("score", "mctaco", f"{name}.jsonl", *skip))
        for name in ("first", "second", "yes")
    ]
    assert len({report["signature"] for report in reports}) == 3
    assert reports[0]["n_units"] + reports[1]["n_units"] in (24, 25)


def test_own_folders_are_told(ran, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_9442.tsv").write_bytes(loader_file("sample.tsv").read_bytes())
    report = json.loads(
        ran("score", "mctaco", "yes.jsonl", "--data-dir", "own", "--json", "--no-ci")
    )
    assert report["released"] is False
    assert json.loads(ran(*SCORE, "--json", "--no-ci"))["released"] is True
    assert "(not the released gold)" in ran(
        "score", "mctaco", "yes.jsonl", "--data-dir", "own", "--no-ci"
    )


def test_two_fields_are_told_apart(ran):
    from closeread.operations.score import score

    report = score("mctaco", "yes.jsonl", config="sample", by="category")
    assert "category: Frequency" not in str(report)
    assert "Frequency" in str(report)
    twice = {**report.slices, "other": report.slices["category"]}
    assert "category: Frequency" in str(replace(report, slices=twice))
    assert "other: Frequency" in str(replace(report, slices=twice))


def test_a_single_block_is_told(ran, tmp_path):
    gold = tmp_path / "key.conll"
    gold.write_text("#begin document (d); part 000\nd 0 0 Ida (0)\n\n#end document\n")
    for command in (("score", "coref", gold, gold), ("compare", "coref", gold, gold, gold)):
        shown = ran(*command)
        assert "With only 1 document, there is nothing to resample.\n" in shown
        assert "1 documents" not in shown


def test_the_signature_is_that_of_the_content_of_gold(ran, tmp_path):
    from closeread.corpus.gold import read_gold
    from closeread.tasks.mctaco.mctaco_tsv import dump_records

    records = read_gold(load_corpus("mctaco"), "sample").records
    changed = [{**record} for record in records]
    changed[0]["label"] = "no" if changed[0]["label"] == "yes" else "yes"
    whole = json.loads(ran(*SCORE, "--json"))
    same, other = (
        json.loads(ran("score", "mctaco", "yes.jsonl", "--gold", f"{name}.tsv", "--json"))
        for name, rows in (("same", records), ("other", changed))
        if (tmp_path / f"{name}.tsv").write_text(dump_records(rows), "utf-8")
    )
    assert (same["scores"], same["signature"]) == (whole["scores"], whole["signature"])
    assert same["config"] is same["split"] is None
    assert other["signature"] != whole["signature"]


HEAVY = {
    "datasets",
    "evaluate",
    "pandas",
    "matplotlib",
    "torch",
    "transformers",
    "sklearn",
    "huggingface_hub",
}
HEAVY |= {"closeread.hub", "closeread.leaderboard", "yaml", "jinja2", "markdown_it"}
HEAVY |= {"playwright"}


@pytest.mark.gate
@pytest.mark.parametrize(
    ("arguments", "also_absent"),
    [
        (["--version"], {"numpy", "wcwidth", "scipy", "pyarrow", "jsonschema"}),
        (["--help"], {"numpy", "scipy", "pyarrow", "wcwidth"}),
        (SCORE, {"scipy", "pyarrow", "jsonschema"}),
        (
            ["compare", "mctaco", "yes.jsonl", "coin.txt", "--config", "sample"],
            {"scipy", "pyarrow", "jsonschema"},
        ),
    ],
    ids=["version", "help", "score", "compare"],
)
def test_nothing_is_imported_that_is_not_needed(ran, tmp_path, arguments, also_absent):
    look = "import atexit, sys; from closeread.cli import main\n"
    look += "atexit.register(lambda: print('\\n'.join(sorted(sys.modules)), file=sys.stderr))\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{look}main({arguments!r})"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert not set(done.stderr.split()) & (HEAVY | also_absent)


@pytest.mark.parametrize("words", ["--version", "--help", "score --help", "list"])
def test_commands_that_compute_nothing_import_no_numpy(words):
    look = (
        "import sys; from closeread.__main__ import run\n"
        f"sys.argv = ['closeread', *{words.split()!r}]\n"
        "try: run()\n"
        "except SystemExit as end: assert not end.code\n"
        "hooks = [type(finder).__module__ for finder in sys.meta_path]\n"
        "print('numpy' in sys.modules, 'closeread.hf.register' in hooks, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert done.stderr == "False False\n"
    assert done.stdout


def test_summaries_are_those_of_the_procedures():
    assert set(tasks.SUMMARIES) == set(tasks.procedure_names())
    for name, summary in tasks.SUMMARIES.items():
        procedure = tasks.load_procedure(name)
        assert summary == (procedure.title, procedure.reader.key_first)


def test_the_package_runs_as_a_module():
    for words, printed in (
        (["-V"], f"closeread, version {closeread.__version__}\n"),
        (["lst"], ""),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "closeread", *words], capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0 if printed else 2, printed)
        assert ("Did you mean 'list'?" in done.stderr) != bool(printed)


def test_import_closeread_is_light():
    look = "import closeread, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    absent = HEAVY | {
        "numpy",
        "scipy",
        "pyarrow",
        "click",
        "closeread.operations",
        "closeread.corpus",
    }
    assert not set(done.stdout.split()) & absent


def test_files_have_a_name_by_default(ran):
    ran("baseline", "mctaco", "always-negative", "--config", "sample")
    assert Path("always-negative.jsonl").read_text("utf-8").count('"no"') == 103
    ran("score", "mctaco", "yes.jsonl", "--config", "sample", "--counts", "part.parquet")
    assert ran("merge", "part.parquet").startswith("counts.parquet: ")
    ran("score", "--from-counts", "counts.parquet")
