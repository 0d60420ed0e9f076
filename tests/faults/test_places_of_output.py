"""Where outputs may be: beside inputs, but not over them."""

from pathlib import Path

import pytest
from shared.file_faults import read_tree
from shared.marmara_xml import put

from closeread.files import check_outputs

KEY = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"


@pytest.fixture
def annotators(here):
    put(here, {"ann/a.conll": KEY, "ben/a.conll": KEY})
    return here


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("adjudicate", "coref", "ann", "ben", "-o"), "ann/new.conll"),
        (("adjudicate", "coref", "ann", "ben", "-o"), "linked/new.conll"),
        (("adjudicate", "coref", "ann", "ben", "-o", "gold.conll", "--report"), "ben/new.json"),
        (("convert", "coref", "ann", "-o"), "ann/new.jsonl"),
        (("score", "coref", "ann", "ben", "--no-ci", "--counts"), "ben/counts.parquet"),
        (("publish", "codabench", "coref", "--gold", "ann"), "ann/task"),
        (("convert", "coref", "ann", "-o"), "ann.jsonl"),
    ],
)
def test_an_output_may_be_in_a_folder_that_is_read(run, annotators, arguments, output):
    Path("linked").symlink_to("ben")
    before = read_tree(".")
    done = run(*arguments, output)
    assert done.exit_code == 0, done.stderr
    assert Path(output).exists()
    after = read_tree(".")
    assert before.items() <= after.items()


def test_an_output_may_be_in_the_folder_where_the_command_runs(run, annotators, monkeypatch):
    monkeypatch.chdir("ann")
    assert run("convert", "coref", ".", "-o", "new.jsonl").exit_code == 0


@pytest.mark.parametrize(
    "output", ["ann/a.conll", "linked/a.conll", "other.conll", "hard.conll", "here/a.conll"]
)
def test_what_a_folder_holds_is_not_overwritten(run, annotators, output, monkeypatch):
    Path("linked").symlink_to("ann")
    Path("other.conll").symlink_to("ann/a.conll")
    Path("hard.conll").hardlink_to("ann/a.conll")
    before = read_tree(".")
    source = "ann/a.conll" if output == "hard.conll" else "ann"
    if output == "here/a.conll":
        monkeypatch.chdir("ann")
        source, output = ".", "a.conll"
    done = run("convert", "coref", source, "-o", output)
    assert (done.exit_code, done.stderr) == (
        2,
        f"Error: {output} is also an input; choose another output file\n",
    )
    monkeypatch.chdir(annotators)
    assert read_tree(".") == before


TAKEN = "is also an input; choose another output"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "mctaco", "data", "--data-dir", "data"), f"data {TAKEN} folder"),
        (("export", "mctaco", "linked", "--data-dir", "data"), f"linked {TAKEN} folder"),
        (("export", "mctaco", "data/file", "--data-dir", "data"), f"data/file {TAKEN} file"),
        (
            (
                "prepare",
                "wikipossessions",
                "articles",
                "file",
                "--as-of",
                "2017-06-12",
                "--gold",
                "file",
            ),
            f"file {TAKEN} file",
        ),
        (
            (
                "prepare",
                "wikipossessions",
                "articles",
                "data",
                "--as-of",
                "2017-06-12",
                "--data-dir",
                "data",
            ),
            f"data {TAKEN} folder",
        ),
        (("publish", "codabench", "coref", "file", "--gold", "file"), f"file {TAKEN} file"),
        (("publish", "codabench", "coref", "data", "--gold", "data"), f"data {TAKEN} folder"),
        (("leaderboard", "build", "data", "-o", "data"), f"data {TAKEN} folder"),
        (("leaderboard", "build", "data", "-o", "data/file"), f"data/file {TAKEN} file"),
    ],
)
def test_folders_that_are_written(run, here, arguments, said):
    put(here, {"data/file": KEY, "file": KEY})
    Path("linked").symlink_to("data")
    before = read_tree(".")
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {said}\n")
    assert read_tree(".") == before


def test_a_store_on_the_hub_is_no_folder():
    check_outputs([(Path("hf://datasets/org/board"), False)], [Path("index.html"), Path("hf")])
