"""What is on record of TimeLine's corpora beside what the files hold."""

import shutil

import pytest

from closeread.corpora.gold import load_corpus, splits_at_hand
from closeread.corpora.reproduction import Inputs, reproduce
from closeread.corpora.sources import DATA_VARIABLE

NAME = "semeval2015_timeline"
EVALUATION = ("corpus 1", "corpus 2", "corpus 3")


@pytest.fixture
def here(corpora):
    """The columns whose files are there."""
    return {split.replace("_", " ") for split in splits_at_hand(load_corpus(NAME), "default")}


def cells(table, inputs=None):
    return {(cell.row, cell.column): cell for cell in reproduce(NAME, table, inputs)[0].cells}


def test_table_1_agrees_wherever_the_files_are(here):
    found = cells("1")
    assert len(found) == 11 * 5
    whole = here | ({"evaluation"} if set(EVALUATION) <= here else set())
    for (row, column), cell in found.items():
        if column not in whole:
            assert (cell.recomputed, cell.agrees) == (None, None)
            assert cell.why.startswith("needs the files of")
        elif cell.printed is None:
            assert (row, column) == ("documents a timeline", "evaluation")
        else:
            assert cell.agrees, cell


def test_counts_agree_exactly(here):
    for (row, column), cell in cells("Table 1").items():
        if column in here and row != "documents a timeline":
            assert cell.recomputed == cell.printed


def test_the_text_does_not_hold(here):
    found = cells("Text")
    assert {column for _, column in found} == set(EVALUATION)
    for (_, column), cell in found.items():
        assert cell.agrees is (False if column in here else None)
        assert cell.recomputed is None or 9_900 < cell.recomputed < 10_100


def test_scores_are_not_recomputed(run):
    cell = cells("Tables 2 and 3")["best run, track A", "F1"]
    assert (cell.printed, cell.recomputed, cell.agrees) == (7.85, None, None)
    assert "no run was published" in cell.why
    done = run("reproduce", NAME, "Tables 2 and 3")
    assert "no run was published" in done.stdout


def test_a_changed_record_changes_the_cells(here, corpora, tmp_path):
    shutil.copytree(corpora / NAME, tmp_path / NAME)
    folder = tmp_path / NAME / "SemEval_Task4_data" / "corpus_1"
    with (folder / "TimeLines_Gold_Standard" / "eads.txt").open("a") as file:
        file.write("0\tXXXX-XX-XX\t1173-2-deal\t1173-4-dealhead\n")
    document = next((folder / "corpus_trackB_CAT").glob("1173_*.xml"))
    text = document.read_text("utf-8")
    document.write_text(
        text.replace("<EVENT_MENTION ", "<OTHER ", 1).replace("</EVENT_MENTION>", "</OTHER>", 1), "utf-8"
    )
    honest, changed = cells("1"), cells("1", Inputs(data_dir=tmp_path / NAME))
    moved = {
        cell: changed[cell].recomputed - honest[cell].recomputed
        for cell in honest
        if honest[cell].recomputed is not None
    }
    expected = {
        ("event instances", "corpus 1"): 1,
        ("event mentions", "corpus 1"): 2,
        ("event mentions at position 0", "corpus 1"): 2,
        ("coreferring event instances", "corpus 1"): 1,
        ("event mentions of track B", "corpus 1"): -1,
    }
    found = {
        cell: value
        for cell, value in moved.items()
        if value and cell[1] == "corpus 1" and cell[0] != "documents a timeline"
    }
    assert found == expected
    assert not any(value for (_, column), value in moved.items() if column in ("trial", "corpus 2", "corpus 3"))


def test_without_any_files(run, monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    done = run("reproduce", NAME, "--data-dir", tmp_path)
    assert done.exit_code == 1
    assert "contains no file" in done.stderr
