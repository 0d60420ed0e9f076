"""The paper's tables: as they are printed, and recomputed from the sample and its annotators."""

import shutil

import pytest
from shared.for_each import for_each
from shared.marmara_sample import SAMPLE

from closeread.corpus.reproduction import Inputs, reproduce
from closeread.exceptions import FormatError
from closeread.tasks.coref.errors import ChainErrors
from closeread.tasks.coref.marmara.equalities import read_annotation_files
from closeread.tasks.coref.marmara.reproduction import TOTAL, _recompute_mistakes, _score_by_genre

TABLES = (*(f"Table {n}" for n in range(1, 5)), "Text")


@pytest.fixture
def folder(tmp_path):
    """The sample as if it was the corpus, with the annotators of three of its documents."""
    for name in ("treebank", "coreference", "given"):
        shutil.copytree(SAMPLE / name, tmp_path / "mine" / name)
    shutil.copy(SAMPLE / "genres.tsv", tmp_path / "mine")
    shutil.copytree(
        SAMPLE / "annotations",
        tmp_path / "mine/annotations",
        ignore=shutil.ignore_patterns("*.conll"),
    )
    return tmp_path / "mine"


def recompute(name, folder, *, annotated=True):
    inputs = Inputs(folder, annotations=folder / "annotations" if annotated else None)
    (table,) = reproduce("marmara_coref", name, inputs)
    return table


def values(table):
    return {(cell.row, cell.column): cell.recomputed for cell in table.cells}


@for_each("name", TABLES)
@for_each("annotated", [True, False])
def test_every_cell_is_recomputed_or_says_why_not(name, annotated, folder):
    if annotated is False and name not in ("Table 1", "Text"):
        pytest.skip("needs no annotators")
    if name in ("Table 3", "Table 4", "Text"):
        pytest.importorskip("sklearn")
    absent = {"Novel", "Research Monograph"}  # genres that the sample lacks
    for cell in recompute(name, folder, annotated=annotated).cells:
        assert cell.recomputed is not None or cell.why or cell.row in absent, cell


def test_sizes_by_hand(folder):
    found = values(recompute("Table 2", folder))
    assert found["News", "Doc sum"] == 1
    assert (found["News", "Tok sum"], found["News", "M sum"], found["News", "C sum"]) == (78, 20, 7)
    assert (found["Overall", "Tok sum"], found["Overall", "M sum"], found["Overall", "C sum"]) == (
        504,
        113,
        38,
    )
    assert found["Overall", "Tok avg"] == 84


def count_lines(name):
    """What the annotators of a document sent, counted in the text of their files: annotators, mentions and chains."""
    files = sorted((SAMPLE / "annotations" / name).glob("*.txt"))
    lines = [
        [one for one in file.read_text("utf-8").splitlines() if "=" in one and one[0] != "#"]
        for file in files
    ]
    return (
        len(files),
        [sum(one.count("=") + 1 for one in of) for of in lines],
        [len(of) for of in lines],
    )


@for_each("name", ["Table 2", "Table 3"])
def test_without_genres_all_documents_are_one_row(name, folder):
    if name == "Table 3":
        pytest.importorskip("sklearn")
    (folder / "genres.tsv").unlink(missing_ok=True)
    assert {
        row for (row, _), value in values(recompute(name, folder)).items() if value is not None
    } <= {
        "Overall",
        "Total",
    }


def test_annotations_by_hand(folder):
    found = values(recompute("Table 1", folder))
    annotators, mentions, chains = count_lines("77000112")
    assert found["News", "Ann"] == annotators == 3
    assert found["News", "AM"] == pytest.approx(sum(mentions) / 3)
    assert found["News", "AC"] == pytest.approx(sum(chains) / 3)
    given = (SAMPLE / "given/77000112.conll").read_text("utf-8")
    assert found["News", "GM"] == given.count("(") - 1  # that of the first line
    pytest.importorskip("sklearn")  # the text tells of the baseline, too
    told = values(recompute("Text", folder))
    assert told["annotation files of Phase II", "3.1"] == 9
    assert told["annotators in Phase II", "3.1"] == 3
    assert told["annotations per document in Phase II", "3.1"] == 3


def test_scores_are_percentages():
    """Of two entities of two mentions each, one is found: MUC's recall is one link of two, in all and in its genre."""
    gold = [{"document": "a", "genre": "News", "clusters": [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]}]
    system = [{"document": "a", "genre": "News", "clusters": [[[0, 0], [1, 1]]]}]
    found = _score_by_genre(gold, system, ("muc",))
    assert [found[row]("muc/recall") for row in ("News", TOTAL)] == [50, 50]
    assert found[TOTAL]("muc/precision") == 100


def test_mistakes_by_hand():
    """Of 10 mistaken chains 8 lack mentions: 2 one, 3 two or three, 3 four; 2 mix chains: 1 by one mention."""
    kinds = {"exact": 30, "missing": 8, "mixed": 2, "extra": 0, "spurious": 0}
    found = _recompute_mistakes(
        ChainErrors(kinds, {"1": 2, "2": 1, "3": 2, "4": 3}, {"1": 1, "4": 1}, n_mentions=90)
    )
    assert found["annotated chains"] == 40
    assert found["percent of annotated chains that equal a gold chain"] == 75
    assert found["percent of mistaken chains: missing mentions"] == 80
    assert found["of these, percent missing one mention"] == 25
    assert found["of these, percent missing at most three"] == 62.5
    assert found["of these, percent with one foreign mention"] == 50
    assert found["of these, percent with at most three"] == 50


def test_chains_and_equalities_are_the_same_annotations():
    files = read_annotation_files(SAMPLE / "annotations")
    assert files.annotators == [name for name in ("anna", "ben", "cleo") for _ in range(2)] * 3
    chains = [(table.names[0], next(iter(table))["clusters"]) for table in files.tables]
    assert chains[::2] == chains[1::2]


def test_all_problems_of_annotators_at_once(folder):
    shutil.rmtree(folder / "given")
    (folder / "annotations/notes.md").write_text("", "utf-8")
    (folder / "annotations/77000112/dan.conll").write_text(
        "#begin document (77000112);\nno end\t(1\n", "utf-8"
    )
    with pytest.raises(FormatError) as error:
        read_annotation_files(folder / "annotations")
    messages = [problem.at("DIR") for problem in error.value.problems]
    missing = "equalities need given/{}.conll beside the folder of annotations, which is missing or invalid"
    for name in ("77000112", "77000345", "77000603"):
        assert f"DIR/{name}/anna.txt: {missing.format(name)}" in messages
    expected = "expected DOCUMENT/ANNOTATOR.conll or DOCUMENT/ANNOTATOR.txt"
    assert f"DIR/notes.md: is not an annotator's file ({expected})" in messages
    assert (
        "DIR/77000112/dan.conll:1: document '77000112' never ends (expected '#end document')"
        in messages
    )


def test_the_command_names_what_is_missing(ran, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # no note is wrapped
    said = ran("reproduce", "marmara_coref", "1", "--data-dir", folder, "--missing")
    assert "needs the annotators' files: see --annotations" in said
    said = ran(
        "reproduce",
        "marmara_coref",
        "1",
        "--data-dir",
        folder,
        "--annotations",
        folder / "annotations",
    )
    assert "needs the annotators' files" not in said
