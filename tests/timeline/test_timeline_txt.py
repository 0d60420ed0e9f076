"""Timelines as text files: what is kept, what is refused, what is odd, and how folders of them are read."""

import json
import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from closeread.corpora.gold import load_corpus, read_own_gold
from closeread.corpora.submissions import read_submission
from closeread.errors import FormatError, SubmissionError
from closeread.files import write_text
from closeread.formats import folders
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.text import read_lines
from closeread.tasks.timeline.gold import Timelines, timelines_of
from closeread.tasks.timeline.rules import find_inconsistencies, find_oddities
from closeread.tasks.timeline.timeline_mentions import (
    LISTED,
    Oddity,
    as_texts,
    file_stem,
    oddities,
    resolved,
    split_mention,
    told,
    unknown_place,
)
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

CORPUS = load_corpus("semeval2015_timeline")
NEEDED = "needed: 3 or more (position, anchor, mention, mention, …)"


def entry(position, anchor, *mentions):
    return {"position": position, "anchor": anchor, "mentions": list(mentions)}


def parse(*lines):
    """The timeline of lines that follow the entity's, without what is odd about it by itself."""
    return parse_timeline("ann", ["Ann", *lines])


def entries(*lines):
    timeline = parse(*lines)
    assert timeline.problems == []
    return timeline.record["entries"]


def test_a_timeline():
    timeline = parse("1\t2007-03-19\t7-2-take_off\t7-0-takes_off", "0\tXXXX-XX-XX\t8-11-re-open", "1\t2007\t7-2-Flies")
    assert timeline.record == {
        "id": "ann",
        "entity": "Ann",
        "entries": [
            entry(1, "2007-03-19", "7-2-take_off", "7-0-takes_off"),
            entry(0, "XXXX-XX-XX", "8-11-re-open"),
            entry(1, "2007", "7-2-Flies"),
        ],
    }
    assert (timeline.lines, timeline.problems, timeline.notices) == ([2, 3, 4], [], [])


def test_a_header_alone():
    assert parse().record == {"id": "ann", "entity": "Ann", "entries": []}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1\t\t7-2-a", entry(1, "", "7-2-a")),  # an empty anchor is legal
        ("1\t\t\t7-2-a", entry(1, "", "", "7-2-a")),  # and every further cell is a mention, whatever it holds
        ("1\ta b\t c", entry(1, "a b", " c")),
        ("007\tX\t7-2-a", entry(7, "X", "7-2-a")),
        ("0\tX\t7-2-a\t2007-03-19\t7-2-b", entry(0, "X", "7-2-a", "2007-03-19", "7-2-b")),
        (f"{2**53 - 1}\tX\t7-2-a", entry(2**53 - 1, "X", "7-2-a")),
        ("1\tX\té\u2028\xa0", entry(1, "X", "é\u2028\xa0")),
    ],
)
def test_lines(line, expected):
    assert entries(line) == [expected]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1", f"the number of columns is 1; {NEEDED}"),
        ("1\tX", f"the number of columns is 2; {NEEDED}"),
        ("1\tX\t", f"the number of columns is 2; {NEEDED}"),  # the tab is white space at the end
        ("1 X 7-2-a", f"the number of columns is 1; {NEEDED}"),
        *(
            (f"{position}\tX\t7-2-a", f"the position is {position!r}; needed: a whole number from 0 to {2**53 - 1}")
            for position in ("-1", "1.0", "+1", " 1", "1 ", "one", "", "٣", "1e3", str(2**53), "9" * 17)
        ),
        ("1\tX\t7-2-a\x1b", "'7-2-a\\x1b' holds the control character U+001B"),
        ("1\tX\x85\t7-2-a", "'X\\x85' holds the control character U+0085"),
    ],
)
def test_broken_lines(line, problem):
    timeline = parse("1\tX\t7-2-b", line, "2\tX\t7-2-c")
    assert timeline.problems == [(problem, 3, None)]
    assert timeline.lines == [2, 4]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "is blank; needed: the name of the entity"),
        (" \t ", "is blank; needed: the name of the entity"),
        ("1\tX\ta", "is '1\\tX\\ta'; needed: the name of the entity, and entries from the second line on"),
        ("An\x07n", "the entity 'An\\x07n' holds the control character U+0007"),
    ],
)
def test_broken_headers(line, problem):
    assert parse_timeline("ann", [line, "1\tX\t7-2-b"]).problems == [(problem, 1, None)]


def test_white_space_is_dropped_and_told():
    timeline = parse("1\tX\ta \t", "", "2\tX\tb", " \t", "3\tX\tc ")
    assert [e["mentions"] for e in timeline.record["entries"]] == [["a"], ["b"], ["c"]]
    assert timeline.lines == [2, 4, 6]
    assert timeline.notices == [
        ("ends in white space, which is dropped; 1 more like it: line 6", 2, None),
        ("is blank; 1 more like it: line 5", 3, None),
    ]


# What is odd.


@pytest.mark.parametrize(
    "anchor",
    ["", "2007", "2007-03", "2007-XX", "2007-03-19", "2008-02-29", "2007-03-XX", "2007-XX-XX", "XXXX-XX-XX"],
)
def test_anchors(anchor):
    assert list(oddities({"id": "ann", "entity": "Ann", "entries": [entry(1, anchor, "7-2-a")]})) == []


@pytest.mark.parametrize(
    "anchor",
    [
        "XXX-XX-XX",
        "2007-XX-19",
        "2007-13",
        "2007-02-30",
        "2007-3-19",
        "19-03-2007",
        "XXXX-03-XX",
        "ZZZZ",
        "٢٠٠٧",
        "0000",
    ],
)
def test_odd_anchors(anchor):
    (found,) = oddities({"id": "ann", "entity": "Ann", "entries": [entry(1, anchor, "7-2-a")]})
    assert found == ("anchor", 0, f"the anchor {anchor!r} is no date such as 2009-03-XX", repr(anchor))


@pytest.mark.parametrize(
    ("positions", "found"),
    [
        ([], None),
        ([0], None),
        ([0, 0, 1, 2, 2], None),
        ([3, 1, 2], None),
        ([2], "1 positions go up to 2; released timelines count from 1 without gaps"),
        ([0, 1, 3, 3], "2 positions go up to 3; released timelines count from 1 without gaps"),
    ],
)
def test_odd_positions(positions, found):
    of = [entry(position, "", f"7-2-{number}") for number, position in enumerate(positions)]
    expected = [] if found is None else [Oddity("positions", None, found)]
    assert list(oddities({"id": "ann", "entity": "Ann", "entries": of})) == expected


def test_repeated_mentions():
    of = [entry(1, "", "7-2-a", "7-2-b", "7-2-a"), entry(1, "", "7-2-c"), entry(1, "", "7-2-b")]
    found = list(oddities({"id": "ann", "entity": "Ann", "entries": of}))
    assert [(oddity.entry, oddity.about) for oddity in found] == [(0, "'7-2-a'"), (2, "'7-2-b'")]
    assert {oddity.kind for oddity in found} == {"repeated"}


@pytest.mark.parametrize(
    ("entity", "name", "is_odd"),
    [
        ("Airbus A380", "airbus_a380", False),
        ("S&P 500", "s_and_p_500", False),
        ("Airbus A380", "airbus", True),
        ("United States Air Froce", "united_states_air_force", True),
    ],
)
def test_names(entity, name, is_odd):
    found = list(oddities({"id": name, "entity": entity, "entries": []}))
    what = f"the timeline is named {name!r} and not {file_stem(entity)}, as the entity {entity!r} has it"
    assert found == ([Oddity("name", None, what)] if is_odd else [])


def test_like_oddities_are_told_together():
    odd = [Oddity("a", 0, "first", "'x'"), Oddity("b", None, "whole"), Oddity("a", 2, "third", "'z'")]
    assert list(told(odd, [2, 3, 5])) == [(2, "first; 1 more like it: 'z' (line 5)"), (None, "whole")]
    many = [Oddity("a", number, "is", "'x'") for number in range(LISTED + 3)]
    ((place, what),) = told(many, range(2, 100), "entry")
    assert place == 2
    assert what.startswith(f"is; {LISTED + 2} more like it: 'x' (entry 3), ")
    assert what.endswith(f"'x' (entry {LISTED + 2}), entry {LISTED + 3} to {LISTED + 4}")


def test_every_line_with_an_oddity_is_told():
    places = [2, 3, 5, 6, 7, 9, 11, 12]
    odd = [Oddity("a", number, "is", "'x'") for number in [0] * (LISTED + 1) + [1, 2, 3, 3, 4, 6, 7]]
    ((_, what),) = told(odd, places)
    assert what.endswith("'x' (line 2), line 3, line 5 to 7, line 11 to 12")
    assert what.startswith(f"is; {LISTED + 7} more like it: ")


# Where mentions are.

TEXTS = as_texts(
    [
        {
            "id": "7",
            "tokens": ["Rain", "stops", "It", "let", "us", "down", "and", "down", "it", "let", "us", "go", "-", "ed"],
            "sentences": [0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2],
            "events": [
                {"id": "12", "mention": "7-0-stops", "tokens": [1]},
                {"id": "4", "mention": "7-2-let_down", "tokens": [3, 5]},
                {"id": "5", "mention": "7-2-down", "tokens": [5]},
                {"id": "6", "mention": "7-2-down", "tokens": [7]},
            ],
        },
        {"id": "8", "tokens": ["a_b", "c"], "sentences": [0, 0], "events": []},
    ]
)


@pytest.mark.parametrize(
    ("mention", "span", "kind"),
    [
        ("7-0-stops", ("7", 0, 1, 1, ["12"]), None),
        ("7-2-let_down", ("7", 2, 3, 5, ["4"]), None),  # its tokens are no neighbours
        ("7-2-down", ("7", 2, None, None, ["5", "6"]), "ambiguous"),
        ("7-0-Rain", ("7", 0, 0, 0, []), "event"),
        ("7-2-It_let_us_down", ("7", 2, 2, 5, []), "event"),
        ("7-2-go_-_ed", ("7", 2, 11, 13, []), "event"),
        ("8-0-a_b", ("8", 0, 0, 0, []), "event"),
        ("8-0-a_b_c", ("8", 0, 0, 1, []), "event"),
        ("7-2-let_us", ("7", 2, None, None, []), "words"),  # twice
        ("7-0-rain", ("7", 0, None, None, []), "words"),  # case is kept
        ("7-2-let_dow", ("7", 2, None, None, []), "words"),
        ("7-0-stops_It", ("7", 0, None, None, []), "words"),  # over the end of the sentence
        ("7-1-stops", ("7", None, None, None, []), "sentence"),
        ("70-0-stops", (None, None, None, None, []), "document"),
        ("stops", (None, None, None, None, []), "form"),
        ("7-x-stops", (None, None, None, None, []), "form"),
        ("7-0-", (None, None, None, None, []), "form"),
        ("", (None, None, None, None, []), "form"),
        ("2007-03-19", (None, None, None, None, []), "date"),
    ],
)
def test_spans(mention, span, kind):
    found, oddity = resolved(mention, TEXTS)
    assert tuple(found.values()) == span
    assert list(found) == ["document", "sentence", "start", "end", "events"]
    assert (None if oddity is None else oddity.kind) == kind
    assert oddity is None or oddity.what.startswith(f"mention {mention!r} ")


def test_every_event_is_found_by_its_name():
    for event, expected in (("7-0-stops", 1), ("7-2-let_down", 3)):
        assert resolved(event, TEXTS)[0]["start"] == expected
        assert unknown_place(event, TEXTS.sentences) is None


@pytest.mark.parametrize(
    ("mention", "parts"),
    [("3307-3-take_away", ("3307", 3, "take_away")), ("108294-7-re-open", ("108294", 7, "re-open"))],
)
def test_a_mention_is_split_at_the_first_two_hyphens(mention, parts):
    assert split_mention(mention) == parts


def test_what_is_no_mention_is_not_split():
    with pytest.raises(ValueError, match="'travelling' is no mention; needed: docid-sentid-extent"):
        split_mention("travelling")


# Folders.


def put(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_a_folder(tmp_path):
    put(tmp_path, bea="Bea\n", ann="Ann\n1\tXXXX-XX-XX\t7-2-a\n")
    put(tmp_path, **{".hidden": "x", "._ann": b"\0\5"})
    (tmp_path / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    found = read_folder(tmp_path)
    assert [record["id"] for record in found.records] == ["ann", "bea"]
    assert found.files == ["ann.txt", "bea.txt"]
    assert found.problems == []
    assert found.notices == [("has no entry after the entity, and is not scored", 1, "bea.txt")]
    assert Timelines(found.records).empty == {"bea"}


def test_all_problems_of_a_folder_at_once(tmp_path):
    good = "1\t2007\t7-2-a\n"
    folder = put(
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
            "/ann.csv: is no timeline; needed: a name that ends in .txt",
            f"/bea.txt:2: the position is 'x'; needed: a whole number from 0 to {2**53 - 1}",
            f"/bea.txt:3: the number of columns is 2; {NEEDED}",
            "/cy.txt:2: byte 11 (0xe9) is not UTF-8; needed: UTF-8 text",
            "/dee.txt: is empty",
            "/eve.txt: is UTF-16 text; needed: UTF-8",
            "/fay.txt: entity 'Ann' stands in ann.txt already",
            "/gus.txt:1: is '1\\t2007\\t7-2-a'; needed: the name of the entity, and entries from the second line on",
            "/link.txt: is a link; needed: a file",
            "/pipe.txt: is no regular file; needed: one",
            "/sub: is a folder; needed: a file",
        )
    )


def test_an_empty_folder(tmp_path):
    (tmp_path / ".DS_Store").write_bytes(b"x")
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: holds no timeline; needed: files that end in .txt"


def test_a_folder_that_is_gone(tmp_path):
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path / "gone")
    assert str(caught.value) == f"{tmp_path / 'gone'}: can't be read: No such file or directory"


def test_too_much(tmp_path, monkeypatch):
    put(tmp_path, ann="Ann\n", bea="Bea\n", cy="Cy\n")
    monkeypatch.setattr(folders, "MAX_FILES", 2)
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: holds more than 2 files"
    monkeypatch.setattr(folders, "MAX_FILES", 3)
    monkeypatch.setattr(folders, "MAX_FILE_BYTES", 10)
    with pytest.raises(FormatError) as caught:
        read_folder(tmp_path)
    assert str(caught.value) == f"{tmp_path}: has 11 bytes; its files may have 10 together"


def test_names_that_are_no_text(tmp_path):
    put(tmp_path, ann="Ann\n")
    (tmp_path / "a\nb.txt").write_text("Bea\n")
    if os.fsencode("\udcff") == b"\xff":
        (tmp_path / "\udcff.txt").write_text("Cy\n")
    found = read_folder(tmp_path)
    assert found.files == ["ann.txt"]
    assert {problem.what for problem in found.problems} == {
        "has a name that is no text; needed: letters, digits and '_'"
    }
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, tmp_path)
    assert str(caught.value).replace("\n", "").isprintable()


AND = "S&P 500\n1\t2007\t7-2-a\n"


@pytest.mark.parametrize(
    ("texts", "notices_of"),
    [
        ({"s&p_500": AND}, []),
        ({"s_and_p_500": AND}, []),
        (
            {"s&p_500": AND, "s_and_p_500": AND},
            [("is the same timeline as s_and_p_500.txt, under whose name it is kept", 1, "s&p_500.txt")],
        ),
    ],
)
def test_two_names_of_one_timeline(tmp_path, texts, notices_of):
    put(tmp_path, **texts)
    for found in (read_folder(tmp_path), read_submission_folder(tmp_path, [])):
        assert [record["id"] for record in found.records] == ["s_and_p_500"]
        assert (found.problems, found.notices) == ([], notices_of)
    assert read_submission(tmp_path, CORPUS, [{"id": "s_and_p_500", "entries": [1]}]).missing == ()


def test_two_names_of_two_timelines(tmp_path):
    put(tmp_path, **{"s&p_500": AND, "s_and_p_500": AND.replace("7-2-a", "7-2-b")})
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, [{"id": "s_and_p_500", "entries": [1]}])
    assert str(caught.value) == (
        f"{tmp_path}/s&p_500.txt:1: is not the timeline of s_and_p_500.txt, which is the same name; "
        "needed: one of the two, or the same in both"
    )


# What systems send.

GOLD = [
    {"id": "ann", "entity": "Ann", "entries": [entry(1, "2007", "7-2-a")]},
    {"id": "bea", "entity": "Bea", "entries": []},
    {"id": "cy", "entity": "Cy", "entries": [entry(1, "2007", "7-2-c")]},
]
KNOWN = Timelines(
    GOLD,
    [{"id": "7", "sentences": [0, 0, 2]}, {"id": "8", "sentences": [1]}, {"id": "8", "sentences": [4]}],
)


def test_a_submission(tmp_path):
    put(tmp_path, ann="Ann\n1\t2007\t7-2-b\n", cy="Cy\n")
    submission = read_submission(tmp_path, CORPUS, GOLD, "error")
    assert submission.rows == [
        {"id": "ann", "entity": "Ann", "entries": [entry(1, "2007", "7-2-b")]},
        None,
        {"id": "cy", "entity": "Cy", "entries": []},
    ]
    assert submission.missing == ()  # an empty gold timeline is not missed
    assert submission.notices == ()


@pytest.mark.parametrize("missing", ["empty", "skip"])
def test_missing_timelines(tmp_path, missing):
    put(tmp_path, cy="Cy\n")
    assert read_submission(tmp_path, CORPUS, GOLD, missing).missing == ("ann",)
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, GOLD, "error")
    message = "no row for 1 of the 3 ids of the gold: 'ann'; needed: one for each, unless missing is empty or skip"
    assert str(caught.value) == f"{tmp_path}: {message}"


def test_what_is_odd_about_a_submission(tmp_path):
    put(tmp_path, ann="Anna\n1\tZZZZ\t7-9-b\tx\n\n3\t2007\t9-2-b\t7-2-a\n", bea="Bea\n1\t2007\t7-2-b\n")
    at = f"{tmp_path}/ann.txt"
    assert read_submission(tmp_path, CORPUS, KNOWN, "empty").notices == (
        f"{at}:1: the timeline is named 'ann' and not anna, as the entity 'Anna' has it",
        f"{at}:1: 2 positions go up to 3; released timelines count from 1 without gaps",
        f"{at}:2: the anchor 'ZZZZ' is no date such as 2009-03-XX",
        f"{at}:2: mention '7-9-b' is of a sentence 9, which its document does not have",
        f"{at}:2: mention 'x' is no docid-sentid-extent",
        f"{at}:3: is blank",
        f"{at}:4: mention '9-2-b' is of a document '9', which is not there",
        f"{tmp_path}/bea.txt:1: is not scored: gold's timeline has no entry",
    )


# An anchor at two positions: of the relations of neighbours b < a2 and d < c2 contradict what was said.
TWICE = "Ann\n1\t2007\t7-2-a\n2\t2008\t7-2-b\n3\t2007\t7-2-a2\n4\t2009\t7-2-d\n5\t2008\t7-2-b2\n6\t2009\t7-2-d2\n"
TWO = "2 relations in contradiction to earlier ones (track full), here the first"


def test_contradictions_are_told_of_gold_and_of_a_system(tmp_path):
    # 2007 < 2008; 2008 < 2007 is out; 2007 < 2009; 2009 < 2008 is new, and so 2008 < 2009 is out.
    put(tmp_path / "gold", ann=TWICE)
    told = f"{TWO}: it counts as all do, and nothing follows from it"
    for found in (read_folder(tmp_path / "gold"), read_submission_folder(tmp_path / "gold", [])):
        assert found.notices == [(told, 4, "ann.txt")]
    rows = read_folder(tmp_path / "gold").records
    (tmp_path / "rows.jsonl").write_text(dump_json_lines(rows), "utf-8")
    assert read_own_gold(CORPUS, tmp_path / "rows.jsonl").notices == (f"timeline 'ann': entry 3: {told}.",)
    submission = read_submission(tmp_path / "rows.jsonl", CORPUS, [{"id": "ann", "entries": [1]}])
    assert submission.notices == (f"{tmp_path / 'rows.jsonl'}:1: entry 3: {told}",)


def test_the_command_tells_contradictory_gold(tmp_path, run):
    put(tmp_path / "gold", ann=TWICE)
    put(tmp_path / "sent", ann="Ann\n1\t2007\t7-2-a\n")
    done = run("score", "timeline", tmp_path / "sent", "--gold", tmp_path / "gold", "--no-ci")
    assert done.exit_code == 0
    assert f"{tmp_path}/gold/ann.txt:4: {TWO}" in done.stderr
    assert "contradiction" not in done.stdout


def test_without_anchors_nothing_contradicts(tmp_path):
    put(tmp_path, ann="Ann\n1\t\t7-2-a\n2\t\t7-2-b\n3\t\t7-2-c\n")
    assert read_folder(tmp_path).notices == []


def test_one_position_an_anchor_contradicts_nothing(tmp_path):
    put(tmp_path, ann="Ann\n0\t2007\t7-2-a\n1\t2008\t7-2-b\n2\t2007\t7-2-c\n2\t2009\t7-2-d\n2\t2007\t7-2-e\n")
    assert read_folder(tmp_path).notices == []


def test_the_same_in_json_lines(tmp_path):
    rows = [
        {"id": "bea", "entity": "Bea", "entries": [entry(1, "2007", "7-2-b")]},
        {"id": "ann", "entity": "Anna", "entries": [entry(1, "2007", "7-2-b"), entry(3, "ZZZZ", "9-2-b")]},
    ]
    path = tmp_path / "system.jsonl"
    path.write_text(dump_json_lines(rows), "utf-8")
    submission = read_submission(path, CORPUS, KNOWN, "empty")
    assert submission.rows == [rows[1], rows[0], None]
    assert submission.notices == (
        f"{path}:1: is not scored: gold's timeline has no entry",
        f"{path}:2: the timeline is named 'ann' and not anna, as the entity 'Anna' has it",
        f"{path}:2: 2 positions go up to 3; released timelines count from 1 without gaps",
        f"{path}:2: entry 2: the anchor 'ZZZZ' is no date such as 2009-03-XX",
        f"{path}:2: entry 2: mention '9-2-b' is of a document '9', which is not there",
    )


def test_broken_submissions(tmp_path):
    put(tmp_path, ann="Ann\n-1\t2007\t7-2-b\n", dee="Dee\n", cy="Ann\n")
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, GOLD, "error")
    assert str(caught.value) == "\n".join(
        f"{tmp_path}{line}"
        for line in (
            ": 3 problems:",
            f"/ann.txt:2: the position is '-1'; needed: a whole number from 0 to {2**53 - 1}",
            "/cy.txt: entity 'Ann' stands in ann.txt already",
            "/dee.txt: id 'dee' is not in the gold",
        )
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"position": -1}, "entries[0].position: -1 is less than the minimum of 0"),
        ({"position": 1.5}, "entries[0].position: 1.5 is not of type 'integer'"),
        ({"position": "1"}, "entries[0].position: '1' is not of type 'integer'"),
        ({"position": 2**53}, f"entries[0].position: {2**53} is greater than the maximum of {2**53 - 1}"),
        ({"anchor": None}, "entries[0].anchor: None is not of type 'string'"),
        ({"mentions": []}, "entries[0].mentions: [] should be non-empty"),
        ({"mentions": ["a", 1]}, "entries[0].mentions[1]: 1 is not of type 'string'"),
    ],
)
def test_broken_rows(tmp_path, change, problem):
    path = tmp_path / "system.jsonl"
    rows = [{"id": "ann", "entity": "Ann", "entries": [{**entry(1, "2007", "7-2-b"), **change}]}]
    path.write_text(dump_json_lines(rows), "utf-8")
    with pytest.raises(SubmissionError) as caught:
        read_submission(path, CORPUS, GOLD[:1])
    inside = f"(in {json.dumps(rows[0]['entries'][0])})"
    assert str(caught.value) == f"{path}:1: id 'ann': {problem} {inside}"


def test_spans_of_a_system_are_not_read(tmp_path):
    path = tmp_path / "system.jsonl"
    rows = [{"id": "ann", "entity": "Ann", "entries": [{**entry(1, "2007", "7-2-b"), "spans": []}]}]
    path.write_text(dump_json_lines(rows), "utf-8")
    assert read_submission(path, CORPUS, GOLD[:1]).rows == rows


def test_an_entity_has_one_row(tmp_path):
    path = tmp_path / "system.jsonl"
    rows = [{"id": name, "entity": "Ann", "entries": []} for name in ("ann", "cy")]
    path.write_text(dump_json_lines(rows), "utf-8")
    for read, error in (
        (lambda: read_submission(path, CORPUS, GOLD), SubmissionError),
        (lambda: read_own_gold(CORPUS, path), FormatError),
    ):
        with pytest.raises(error) as caught:
            read()
        assert str(caught.value) == f"{path}:2: entity 'Ann' stands on line 1 already"


# The user's own gold.


def test_gold_in_every_form_is_the_same(tmp_path):
    records = [GOLD[0], {"id": "bea", "entity": "Bea", "entries": [entry(1, "ZZZZ", "x")]}]
    write_folder(records, tmp_path / "folder")
    (tmp_path / "gold.jsonl").write_text(dump_json_lines(records), "utf-8")
    folder, rows = (read_own_gold(CORPUS, tmp_path / name) for name in ("folder", "gold.jsonl"))
    assert list(folder.records) == list(rows.records) == records
    assert folder.digest == rows.digest
    assert folder.notices == (f"{tmp_path / 'folder'}/bea.txt:2: the anchor 'ZZZZ' is no date such as 2009-03-XX",)
    assert rows.notices == ("timeline 'bea': entry 1: the anchor 'ZZZZ' is no date such as 2009-03-XX.",)
    spanned = [{**record, "entries": [{**e, "spans": [SPAN]} for e in record["entries"]]} for record in records]
    (tmp_path / "gold.jsonl").write_text(dump_json_lines(spanned), "utf-8")
    assert read_own_gold(CORPUS, tmp_path / "gold.jsonl").digest == rows.digest  # no score depends on spans


SPAN = {"document": None, "sentence": None, "start": None, "end": None, "events": []}


def test_a_single_timeline(tmp_path):
    put(tmp_path, **{"s&p_500": AND})
    gold = read_own_gold(CORPUS, tmp_path / "s&p_500.txt")
    assert [record["id"] for record in gold.records] == ["s_and_p_500"]
    assert read_records(tmp_path / "s&p_500.txt", "x").lines == [1]


def test_inconsistencies():
    records = [GOLD[0], {**GOLD[0], "entries": [{**entry(1, "", "a", "b"), "spans": [SPAN]}]}]
    assert list(find_inconsistencies(records)) == [
        (1, "entry 1 has 2 mentions and 1 spans; needed: one for each mention, or none")
    ]


def test_gold_and_its_documents():
    assert (KNOWN.sentences, KNOWN.empty) == ({"7": {0, 2}, "8": {1, 4}}, {"bea"})
    assert (Timelines(GOLD).sentences, Timelines(GOLD).empty) == ({}, {"bea"})
    assert timelines_of(KNOWN) is KNOWN
    assert KNOWN == GOLD
    assert list(find_oddities(GOLD)) == []


# Splits of a corpus.


def test_a_list_of_entities(tmp_path):
    path = tmp_path / "list_target_entities_x.txt"
    path.write_text("\nBea\n\nNobody\nAnn \n", "utf-8")
    assert read_entities(path) == {"Bea": 2, "Nobody": 4, "Ann": 5}
    put(tmp_path, ann="Ann\n", bea="Bea\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [record["id"] for record in found.records] == ["ann", "bea"]
    assert found.problems == []
    assert [notice for notice in found.notices if notice.file not in ("ann.txt", "bea.txt")] == [
        ("there are no documents, in which mentions could be found", None, None),
        ("no timeline is about an entity of the name 'Nobody'", 4, path.name),
    ]
    path.write_bytes(b"\xff\n")
    found = read_files({p.name: p for p in sorted(tmp_path.iterdir())}, "x")
    assert [(problem.file, problem.line) for problem in found.problems] == [(path.name, 1)]


def test_without_documents_no_mention_is_looked_up(tmp_path):
    put(tmp_path, ann="Ann\n1\t2007\t7-2-a\n")
    found = read_files({"TimeLines_x/ann.txt": tmp_path / "ann.txt"}, "x")
    assert [notice.what for notice in found.notices] == ["there are no documents, in which mentions could be found"]
    assert found.records[0]["entries"][0]["spans"] == [SPAN]


# What is written is read again.

CELL = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
NAME = CELL.filter(lambda text: text.strip(" ") == text and text)
RECORDS = st.fixed_dictionaries(
    {
        "id": st.just("ann"),
        "entity": NAME,
        "entries": st.lists(
            st.builds(
                lambda position, anchor, mentions, last: entry(position, anchor, *mentions, last),
                st.integers(0, 2**53 - 1),
                CELL,
                st.lists(CELL, max_size=3),
                NAME,
            ),
            max_size=4,
        ),
    }
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("timelines") / "ann.txt"


@given(record=RECORDS)
@example(record={"id": "ann", "entity": "\ufeffAnn", "entries": []})
def test_round_trip(file, record):
    write_text(file, dump_timeline(record))
    timeline = parse_timeline("ann", read_lines(file))
    assert timeline.record == record
    assert (timeline.problems, timeline.notices) == ([], [])


PIECES = st.sampled_from(
    [b"\t", b"\n", b"\r", b"\n\n", b"-", b"_", b"0", b"XX", b"\xff", b"\0", b"\x1b", b" ", b"\xc2\x85"]
)


@given(data=st.data())
@settings(max_examples=150)
def test_any_file_is_read_or_refused(file, data):
    whole = bytearray(b"Ann\n0\tXXXX-XX-XX\t7-2-a\n1\t2007-03-19\t7-2-b\t7-0-b\n")
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, min(len(whole), start + 5)))
        whole[start:end] = data.draw(PIECES | st.binary(max_size=4))
    file.write_bytes(whole)
    try:
        gold = read_own_gold(CORPUS, file.parent)
    except FormatError as error:
        check_message(error)
        return
    assert all(notice.replace("\n", "").isprintable() for notice in gold.notices)
    write_text(file, dump_timeline(gold.records[0]))
    assert list(read_own_gold(CORPUS, file.parent).records) == list(gold.records)


def check_message(error):
    """It says something and is fit for a terminal."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()


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
    with pytest.raises(ValueError, match=f"^'ann': this format can't express the {what} "):
        dump_timeline({"id": "ann", "entity": "Ann", "entries": [], **change})


def test_a_folder_is_written(tmp_path):
    write_folder(GOLD, tmp_path / "new" / "folder")
    assert list(read_folder(tmp_path / "new" / "folder").records) == GOLD


@pytest.mark.parametrize("name", ["../ann", "a/b", "/ann", ".ann", "..", "a\\b", "a\nb", ""])
def test_an_id_leads_nowhere_else(tmp_path, name):
    with pytest.raises(ValueError, match="is no name of a file"):
        write_folder([{**GOLD[0], "id": name}], tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []
