"""Where nothing is written: into what is read."""

from pathlib import Path

import pytest
from shared.file_faults import read_tree
from shared.marmara_xml import put

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
