"""Folders of timelines: what is read, what is refused, and what is written."""

import os

import pytest
from shared.timelines import CORPUS, GOLD, GOLD_WITH_DOCUMENTS, entry, write_texts

from closeread import limits
from closeread.corpus.gold import read_own_gold
from closeread.corpus.submissions import read_submission
from closeread.exceptions import FormatError, Problem, SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.timeline.rules import find_inconsistencies
from closeread.tasks.timeline.timeline_txt import (
    dump_timeline,
    parse_timeline,
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
    assert found.places == ["ann.txt", "bea.txt"]
    assert found.problems == []
    assert found.notices == [
        Problem("has no entries, and is not scored", 1, "bea.txt"),
    ]


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
            ": 10 problems:",
            f"/bea.txt:2: the position is 'x' (expected a whole number from 0 to {2**53 - 1})",
            f"/bea.txt:3: the number of columns is 2 {EXPECTED}",
            "/cy.txt:2: is not UTF-8 from column 11 (byte 0xe9); convert the file to UTF-8",
            "/dee.txt: is empty",
            "/eve.txt: is UTF-16 text (expected UTF-8)",
            "/fay.txt: duplicate entity 'Ann' (first in ann.txt)",
            "/gus.txt:1: is '1\\t2007\\t7-2-a' (expected the name of the entity; entries start on the second line)",
            "/link.txt: is a symbolic link (expected a file)",
            "/pipe.txt: is not a regular file",
            "/sub: is a folder (expected a file)",
        )
    )


AND = "S&P 500\n1\t2007\t7-2-a\n"


@pytest.mark.parametrize(
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


# Splits of a corpus.


def test_a_list_of_entities(tmp_path):
    path = tmp_path / "list_target_entities_x.txt"
    path.write_text("\nBea\n\nNobody\nAnn \n", "utf-8")
    assert read_entities(path) == {"Bea": 2, "Nobody": 4, "Ann": 5}
    write_texts(tmp_path, ann="Ann\n", bea="Bea\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [record["id"] for record in found.records] == ["ann", "bea"]
    assert found.problems == []
    assert Problem("no documents found, so mentions are not looked up") in found.notices
    assert found.oddities == [Problem("there is no timeline of the entity 'Nobody'", 4, path.name)]
    path.write_bytes(b"\xff\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [(problem.file, problem.line) for problem in found.problems] == [(path.name, 1)]


def test_a_folder_is_written(tmp_path):
    write_folder(GOLD, tmp_path / "new" / "folder")
    assert list(read_folder(tmp_path / "new" / "folder").records) == GOLD


@pytest.mark.parametrize(
    "name", ["../ann", "a/b/c", "a/.b", "a/..", "a/", "/ann", ".ann", "..", "a\\b", "a\nb", ""]
)
def test_an_id_leads_nowhere_else(tmp_path, name):
    with pytest.raises(ValueError, match="can't be the name of a file"):
        write_folder([{**GOLD[0], "id": name}], tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []


def test_what_is_odd_about_a_submission(tmp_path):
    write_texts(
        tmp_path,
        ann="Anna\n1\tZZZZ\t7-9-b\tx\n\n3\t2007\t9-2-b\t7-2-a\n",
        bea="Bea\n1\t2007\t7-2-b\n",
    )
    at = f"{tmp_path}/ann.txt"
    assert read_submission(tmp_path, CORPUS, GOLD_WITH_DOCUMENTS, "empty").notices == (
        f"{at}:1: the timeline is named 'ann' (expected 'anna' for the entity 'Anna')",
        f"{at}:1: positions have gaps: 2 positions up to 3 (released timelines count from 1 without gaps)",
        f"{at}:2: the anchor 'ZZZZ' is not a date such as 2009-03-XX",
        f"{at}:2: mention '7-9-b' names sentence 9, which its document does not have",
        f"{at}:2: mention 'x' is not of the form docid-sentid-extent",
        f"{at}:3: blank line ignored",
        f"{at}:4: mention '9-2-b' names document '9', which is not available",
        f"{tmp_path}/bea.txt:1: is not scored, because the gold timeline has no entries",
    )


# An anchor at two positions: of the relations of neighbours b < a2 and d < c2 contradict what was said.
TWICE = "Ann\n1\t2007\t7-2-a\n2\t2008\t7-2-b\n3\t2007\t7-2-a2\n4\t2009\t7-2-d\n5\t2008\t7-2-b2\n6\t2009\t7-2-d2\n"
TWO = "2 relations contradict earlier ones in track full, starting here"


def test_contradictions_are_told_of_gold_and_of_a_system(tmp_path):
    # 2007 < 2008; 2008 < 2007 is out; 2007 < 2009; 2009 < 2008 is new, and so 2008 < 2009 is out.
    write_texts(tmp_path / "gold", ann=TWICE)
    told = f"{TWO}; still counted, but ignored for inference"
    for found in (read_folder(tmp_path / "gold"), read_submission_folder(tmp_path / "gold", [])):
        assert found.oddities == [Problem(told, 4, "ann.txt")]
    rows = read_folder(tmp_path / "gold").records
    (tmp_path / "rows.jsonl").write_text(dump_json_lines(rows), "utf-8")
    assert read_own_gold(CORPUS, tmp_path / "rows.jsonl").notices == (
        f"timeline 'ann': entry 3: {told}.",
    )
    submission = read_submission(tmp_path / "rows.jsonl", CORPUS, [{"id": "ann", "entries": [1]}])
    assert submission.notices == (f"{tmp_path / 'rows.jsonl'}:1: entry 3: {told}",)


def test_one_position_an_anchor_contradicts_nothing(tmp_path):
    write_texts(
        tmp_path,
        ann="Ann\n0\t2007\t7-2-a\n1\t2008\t7-2-b\n2\t2007\t7-2-c\n2\t2009\t7-2-d\n2\t2007\t7-2-e\n",
    )
    assert read_folder(tmp_path).oddities == []


def test_the_same_in_json_lines(tmp_path):
    rows = [
        {"id": "bea", "entity": "Bea", "entries": [entry(1, "2007", "7-2-b")]},
        {
            "id": "ann",
            "entity": "Anna",
            "entries": [entry(1, "2007", "7-2-b"), entry(3, "ZZZZ", "9-2-b")],
        },
    ]
    path = tmp_path / "system.jsonl"
    path.write_text(dump_json_lines(rows), "utf-8")
    submission = read_submission(path, CORPUS, GOLD_WITH_DOCUMENTS, "empty")
    assert submission.rows == [rows[1], rows[0], None]
    assert submission.notices == (
        f"{path}:1: is not scored, because the gold timeline has no entries",
        f"{path}:2: the timeline is named 'ann' (expected 'anna' for the entity 'Anna')",
        f"{path}:2: positions have gaps: 2 positions up to 3 (released timelines count from 1 without gaps)",
        f"{path}:2: entry 2: the anchor 'ZZZZ' is not a date such as 2009-03-XX",
        f"{path}:2: entry 2: mention '9-2-b' names document '9', which is not available",
    )


def parse(*lines):
    """The timeline of lines that follow the entity's, without what is odd about it by itself."""
    return parse_timeline("ann", ["Ann", *lines])


def entries_of(*lines):
    timeline = parse(*lines)
    assert timeline.problems == []
    return timeline.record["entries"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1\t\t7-2-a", entry(1, "", "7-2-a")),  # an empty anchor is legal
        # and every further cell is a mention, whatever it holds
        ("1\t\t\t7-2-a", entry(1, "", "", "7-2-a")),
        ("1\ta b\t c", entry(1, "a b", " c")),
        ("007\tX\t7-2-a", entry(7, "X", "7-2-a")),
        ("0\tX\t7-2-a\t2007-03-19\t7-2-b", entry(0, "X", "7-2-a", "2007-03-19", "7-2-b")),
        (f"{2**53 - 1}\tX\t7-2-a", entry(2**53 - 1, "X", "7-2-a")),
        ("1\tX\té\u2028\xa0", entry(1, "X", "é\u2028\xa0")),
    ],
)
def test_lines(line, expected):
    assert entries_of(line) == [expected]


def test_white_space_is_dropped_and_told():
    timeline = parse("1\tX\ta \t", "", "2\tX\tb", " \t", "3\tX\tc ")
    assert [e["mentions"] for e in timeline.record["entries"]] == [["a"], ["b"], ["c"]]
    assert timeline.lines == [2, 4, 6]
    assert timeline.notices == [
        Problem("trailing white space ignored; 1 more: line 6", 2),
        Problem("blank line ignored; 1 more: line 5", 3),
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("timelines") / "ann.txt"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"entity": "A\tB"}, "entity"),
        ({"entity": " A"}, "entity"),
        ({"entity": ""}, "entity"),
        ({"entries": [entry(1, "a\tb", "c")]}, "entry"),
        ({"entries": [entry(1, "a", "c\n")]}, "entry"),
        ({"entries": [entry(1, "a", "c ")]}, "entry"),
        ({"entries": [entry(1, "a", "")]}, "entry"),
    ],
)
def test_what_can_not_be_read_is_not_written(change, what):
    with pytest.raises(ValueError, match=f"^'ann': this format can't represent the {what} "):
        dump_timeline({"id": "ann", "entity": "Ann", "entries": [], **change})


def test_more_timelines_than_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 1000)
    records = [{"id": f"t{number}", "entity": "Ann", "entries": []} for number in range(1001)]
    with pytest.raises(ValueError, match=r"there are 1,001 timelines \(limit of a folder: 1,000\)"):
        write_folder(records, tmp_path / "out")
    assert os.listdir(tmp_path) == []
    write_folder(records[:1000], tmp_path / "out")


def test_all_names_that_can_not_be_written_at_once(tmp_path):
    names = ["s&p", "s_and_p", "Ann", "ann", "x" * 300, "..", "a\0b", "", "a\\b", "e\u0301", "\xe9"]
    with pytest.raises(FormatError) as caught:
        write_folder(
            [{"id": name, "entity": "Ann", "entries": []} for name in names], tmp_path / "out"
        )
    assert [line.partition("out: ")[2] for line in str(caught.value).splitlines()[1:]] == [
        "'ann' and 'Ann' can't both be names of files: they differ only in case or accents",
        f"'{'x' * 27} … {'x' * 27}' can't be the name of a file: it is too long: 304 bytes (limit: 255)",
        "'..' can't be the name of a file: it begins with a dot",
        "'a\\x00b' can't be the name of a file: it contains the control character U+0000",
        "'' can't be the name of a file: it is empty",
        "'a\\\\b' can't be the name of a file: it contains a slash",
        "'\xe9' and 'e\u0301' can't both be names of files: they differ only in case or accents",
        "'s&p' would be read again as 's_and_p'",
    ]
    assert os.listdir(tmp_path) == []
