"""Where nothing is written: into what is read."""

from pathlib import Path

import pytest
from shared.file_faults import read_tree
from shared.marmara_xml import put

from closeread.cli.writing import check_outputs

KEY = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"


@pytest.fixture
def annotators(here):
    put(here, {"ann/a.conll": KEY, "ben/a.conll": KEY})
    return here


@pytest.mark.parametrize(
    ("arguments", "inside", "folder"),
    [
        (("adjudicate", "coref", "ann", "ben", "-o"), "ann/new.conll", "ann"),
        (("adjudicate", "coref", "ann", "ben", "-o"), "linked/new.conll", "ben"),
        (("adjudicate", "coref", "ann", "ben", "-o", "gold.conll", "--report"), "ben/new.json", "ben"),
        (("convert", "coref", "ann", "-o"), "ann/below/new.jsonl", "ann"),
        (("score", "coref", "ann", "ben", "--no-ci", "--counts"), "ben/counts.parquet", "ben"),
        (("score", "coref", "ann", ".", "--no-ci", "-o"), "report.txt", "."),
    ],
)
def test_a_new_file_inside_a_folder_that_is_read(run, annotators, arguments, inside, folder):
    Path("linked").symlink_to("ben")
    before = read_tree(".")
    done = run(*arguments, inside)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {inside} is inside {folder}, which is an input; choose another output file\n")
    assert read_tree(".") == before


def test_beside_it_is_fine(run, annotators):
    assert run("convert", "coref", "ann", "-o", "ann.jsonl").exit_code == 0
    assert sorted(read_tree(".")) == ["ann", "ann.jsonl", "ann/a.conll", "ben", "ben/a.conll"]


TAKEN = "is also an input; choose another output"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "mctaco", "data", "--data-dir", "data"), f"data {TAKEN} folder"),
        (("export", "mctaco", "linked", "--data-dir", "data"), f"linked {TAKEN} folder"),
        (("export", "mctaco", "data/file", "--data-dir", "data"), f"data/file {TAKEN} file"),
        (
            ("export", "mctaco", "data/new", "--data-dir", "data"),
            "data/new is inside data, which is an input; choose another output file",
        ),
        (("articles", "wikipossessions", "file", "--as-of", "2017-06-12", "--gold", "file"), f"file {TAKEN} file"),
        (
            ("articles", "wikipossessions", "data", "--as-of", "2017-06-12", "--data-dir", "data"),
            f"data {TAKEN} folder",
        ),
        (("publish", "codabench", "coref", "file", "--gold", "file"), f"file {TAKEN} file"),
        (("publish", "codabench", "coref", "data", "--gold", "data"), f"data {TAKEN} folder"),
        (
            ("publish", "codabench", "coref", "data/task", "--gold", "data"),
            "data/task is inside data, which is an input; choose another output file",
        ),
        (("leaderboard", "build", "data", "-o", "data"), f"data {TAKEN} folder"),
        (("leaderboard", "build", "data", "-o", "data/file"), f"data/file {TAKEN} file"),
        (
            ("leaderboard", "download", "data", "3f9a1c0d2b7e", "-o", "data/new"),
            "data/new is inside data, which is an input; choose another output file",
        ),
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
