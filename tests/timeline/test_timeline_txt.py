"""The text file of a timeline: what is kept, what is refused, and that what is written is read again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.timelines import entry

from closeread.exceptions import Problem
from closeread.files import write_text
from closeread.formats.text import read_lines
from closeread.tasks.timeline.timeline_txt import (
    dump_timeline,
    parse_timeline,
)

EXPECTED = "(expected at least 3: position, anchor, mention, mention, …)"


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


@for_each(
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


@for_each(
    ("line", "problem"),
    [
        ("1", f"the number of columns is 1 {EXPECTED}"),
        ("1\tX", f"the number of columns is 2 {EXPECTED}"),
        ("1\tX\t", f"the number of columns is 2 {EXPECTED}"),  # the tab is white space at the end
        ("1 X 7-2-a", f"the number of columns is 1 {EXPECTED}"),
        *(
            (f"{position}\tX\t7-2-a", f"the position is {position!r} (expected a whole number from 0 to {2**53 - 1})")
            for position in ("-1", "1.0", "+1", " 1", "1 ", "one", "", "٣", "1e3", str(2**53), "9" * 17)
        ),
        ("1\tX\t7-2-a\x1b", "'7-2-a\\x1b' contains the control character U+001B"),
        ("1\tX\x85\t7-2-a", "'X\\x85' contains the control character U+0085"),
    ],
)
def test_broken_lines(line, problem):
    timeline = parse("1\tX\t7-2-b", line, "2\tX\t7-2-c")
    assert timeline.problems == [Problem(problem, 3)]
    assert timeline.lines == [2, 4]


@for_each(
    ("line", "problem"),
    [
        ("", "is blank (expected the name of the entity)"),
        (" \t ", "is blank (expected the name of the entity)"),
        ("1\tX\ta", "is '1\\tX\\ta' (expected the name of the entity; entries start on the second line)"),
        ("An\x07n", "the entity 'An\\x07n' contains the control character U+0007"),
    ],
)
def test_broken_headers(line, problem):
    assert parse_timeline("ann", [line, "1\tX\t7-2-b"]).problems == [Problem(problem, 1)]


def test_white_space_is_dropped_and_told():
    timeline = parse("1\tX\ta \t", "", "2\tX\tb", " \t", "3\tX\tc ")
    assert [e["mentions"] for e in timeline.record["entries"]] == [["a"], ["b"], ["c"]]
    assert timeline.lines == [2, 4, 6]
    assert timeline.notices == [
        Problem("trailing white space ignored; 1 more: line 6", 2),
        Problem("blank line ignored; 1 more: line 5", 3),
    ]


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


@for_each(
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
