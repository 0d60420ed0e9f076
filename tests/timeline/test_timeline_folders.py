"""Folders of timelines: what is read, what is refused, and what is written."""

import os

import pytest
from shared.for_each import for_each
from shared.timelines import CORPUS, GOLD, GOLD_WITH_DOCUMENTS, entry, write_texts

from closeread import limits
from closeread.corpus.gold import read_own_gold
from closeread.corpus.submissions import read_submission
from closeread.exceptions import FormatError, Problem, SubmissionError
from closeread.tasks.timeline.gold import Timelines, timelines_of
from closeread.tasks.timeline.rules import find_inconsistencies, find_oddities
from closeread.tasks.timeline.timeline_txt import (
    read_entities,
    read_files,
    read_folder,
    read_records,
    read_submission_folder,
    write_folder,
)

EXPECTED = "(expected at least 3: position, anchor, mention, mention, …)"


def test_a_folder(tmp_path):
    write_texts(tmp_path, bea="Bea\n", ann="Ann\n1\tXXXX-XX-XX\t7-2-a\n")
    write_texts(tmp_path, **{".hidden": "x", "._ann": b"\0\5"})
    (tmp_path / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    found = read_folder(tmp_path)
    assert [record["id"] for record in found.records] == ["ann", "bea"]
    assert found.files == ["ann.txt", "bea.txt"]
    assert found.problems == []
    assert found.notices == [
        Problem("has no entries, and is not scored", 1, "bea.txt"),
        Problem("is hidden, and is ignored", None, ".hidden.txt"),
    ]
    assert Timelines(found.records).empty == {"bea"}


def test_all_problems_of_a_folder_at_once(tmp_path):
    good = "1\t2007\t7-2-a\n"
    folder = write_texts(
        tmp_path / "gold",
        ann="Ann\n" + good,
        bea="Bea\nx\t2007\t7-2-a\n1\t2007\n",
        cy="Cy\n1\t2007\tcaf\xe9\n".encode("latin-1"),
        dee=b"",
        eve=b"\xff\xfeE\0",
        fay="Ann\n" + good,
        gus=good,
    )
    (folder / "sub").mkdir()
    (folder / "ann.csv").write_text("x")
    (folder / "link.txt").symlink_to(folder / "ann.txt")
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, folder)
    assert str(caught.value) == "\n".join(
        f"{folder}{line}"
        for line in (
            ": 11 problems:",
            "/ann.csv: is not a timeline (expected a name ending in .txt)",
            f"/bea.txt:2: the position is 'x' (expected a whole number from 0 to {2**53 - 1})",
            f"/bea.txt:3: the number of columns is 2 {EXPECTED}",
            "/cy.txt:2: byte 11 (0xe9) is not valid UTF-8",
            "/dee.txt: is empty",
            "/eve.txt: is UTF-16 text (expected UTF-8)",
            "/fay.txt: duplicate entity 'Ann' (first in ann.txt)",
            "/gus.txt:1: is '1\\t2007\\t7-2-a' (expected the name of the entity; entries start on the second line)",
            "/link.txt: is a symbolic link (expected a file)",
            "/pipe.txt: is not a regular file",
            "/sub: is a folder (expected a file)",
        )
    )


def test_an_empty_folder(tmp_path):
    (tmp_path / ".DS_Store").write_bytes(b"x")
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: contains no timeline (expected files ending in .txt)"


def test_a_folder_that_is_gone(tmp_path):
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path / "gone")
    assert str(caught.value) == f"{tmp_path / 'gone'}: can't be read: No such file or directory"


def test_too_much(tmp_path, monkeypatch):
    write_texts(tmp_path, ann="Ann\n", bea="Bea\n", cy="Cy\n")
    monkeypatch.setattr(limits, "MAX_FILES", 2)
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: contains more than 2 files"
    monkeypatch.setattr(limits, "MAX_FILES", 3)
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 10)
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is too large: 11 bytes in all (limit: 10)"


def test_names_that_are_no_text(tmp_path):
    write_texts(tmp_path, ann="Ann\n")
    (tmp_path / "a\nb.txt").write_text("Bea\n")
    if os.fsencode("\udcff") == b"\xff":
        (tmp_path / "\udcff.txt").write_text("Cy\n")
    found = read_folder(tmp_path)
    assert found.files == ["ann.txt"]
    assert {problem.message for problem in found.problems} == {
        "has control characters or invalid bytes in its name (expected letters, digits and '_')"
    }
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, tmp_path)
    assert str(caught.value).replace("\n", "").isprintable()


AND = "S&P 500\n1\t2007\t7-2-a\n"


@for_each(
    ("texts", "notices_of"),
    [
        ({"s&p_500": AND}, []),
        ({"s_and_p_500": AND}, []),
        (
            {"s&p_500": AND, "s_and_p_500": AND},
            [Problem("ignored, since it is identical to s_and_p_500.txt", 1, "s&p_500.txt")],
        ),
    ],
)
def test_two_names_of_one_timeline(tmp_path, texts, notices_of):
    write_texts(tmp_path, **texts)
    for found in (read_folder(tmp_path), read_submission_folder(tmp_path, [])):
        assert [record["id"] for record in found.records] == ["s_and_p_500"]
        assert (found.problems, found.notices) == ([], notices_of)
    assert read_submission(tmp_path, CORPUS, [{"id": "s_and_p_500", "entries": [1]}]).missing == ()


def test_two_names_of_two_timelines(tmp_path):
    write_texts(tmp_path, **{"s&p_500": AND, "s_and_p_500": AND.replace("7-2-a", "7-2-b")})
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, [{"id": "s_and_p_500", "entries": [1]}])
    assert str(caught.value) == (
        f"{tmp_path}/s&p_500.txt:1: differs from s_and_p_500.txt, which has the same id "
        "(expected only one of them, or identical files)"
    )


SPAN = {"document": None, "sentence": None, "start": None, "end": None, "events": []}


def test_a_single_timeline(tmp_path):
    write_texts(tmp_path, **{"s&p_500": AND})
    gold = read_own_gold(CORPUS, tmp_path / "s&p_500.txt")
    assert [record["id"] for record in gold.records] == ["s_and_p_500"]
    assert read_records(tmp_path / "s&p_500.txt", "x").lines == [1]


def test_inconsistencies():
    records = [GOLD[0], {**GOLD[0], "entries": [{**entry(1, "", "a", "b"), "spans": [SPAN]}]}]
    assert list(find_inconsistencies(records)) == [
        (1, "entry 1 has 2 mentions and 1 spans (expected one span per mention, or no spans)")
    ]


def test_gold_and_its_documents():
    assert (GOLD_WITH_DOCUMENTS.sentences, GOLD_WITH_DOCUMENTS.empty) == ({"7": {0, 2}, "8": {1, 4}}, {"bea"})
    assert (Timelines(GOLD).sentences, Timelines(GOLD).empty) == ({}, {"bea"})
    assert timelines_of(GOLD_WITH_DOCUMENTS) is GOLD_WITH_DOCUMENTS
    assert GOLD_WITH_DOCUMENTS == GOLD
    assert list(find_oddities(GOLD)) == []


# Splits of a corpus.


def test_a_list_of_entities(tmp_path):
    path = tmp_path / "list_target_entities_x.txt"
    path.write_text("\nBea\n\nNobody\nAnn \n", "utf-8")
    assert read_entities(path) == {"Bea": 2, "Nobody": 4, "Ann": 5}
    write_texts(tmp_path, ann="Ann\n", bea="Bea\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [record["id"] for record in found.records] == ["ann", "bea"]
    assert found.problems == []
    assert [notice for notice in found.notices if notice.file not in ("ann.txt", "bea.txt")] == [
        Problem("no documents found, so mentions are not looked up"),
        Problem("there is no timeline of the entity 'Nobody'", 4, path.name),
    ]
    path.write_bytes(b"\xff\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [(problem.file, problem.line) for problem in found.problems] == [(path.name, 1)]


def test_without_documents_no_mention_is_looked_up(tmp_path):
    write_texts(tmp_path, ann="Ann\n1\t2007\t7-2-a\n")
    found = read_files({"TimeLines_x/ann.txt": tmp_path / "ann.txt"}, "x")
    assert [notice.what for notice in found.notices] == ["no documents found, so mentions are not looked up"]
    assert found.records[0]["entries"][0]["spans"] == [SPAN]


def test_a_folder_is_written(tmp_path):
    write_folder(GOLD, tmp_path / "new" / "folder")
    assert list(read_folder(tmp_path / "new" / "folder").records) == GOLD


@for_each("name", ["../ann", "a/b/c", "a/.b", "a/..", "a/", "/ann", ".ann", "..", "a\\b", "a\nb", ""])
def test_an_id_leads_nowhere_else(tmp_path, name):
    with pytest.raises(ValueError, match="can't be the name of a file"):
        write_folder([{**GOLD[0], "id": name}], tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []
