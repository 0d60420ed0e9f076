"""Documents in CAT XML: what is kept, what is refused and in which words, and that it is written the same."""

import pytest
from hypothesis import strategies as st

from closeread.exceptions import Problem
from closeread.records import Parsed
from closeread.tasks.timeline.cat_xml import (
    read_document,
    read_files,
    read_folder,
    read_records,
)
from closeread.tasks.timeline.rules import find_document_inconsistencies

HEAD = '<?xml version="1.0" ?><Document doc_id="7" doc_name="7_Rain.txt" src_url="http://example.org/rain?a=1&amp;b=2">'
TOKENS = """
<token number="0" sentence="0" t_id="1">Rain</token>
<token number="1" sentence="0" t_id="2">stops</token>
<token number="2" sentence="1" t_id="3">May</token>
<token number="3" sentence="1" t_id="4">1</token>
<token number="4" sentence="3" t_id="5">It</token>
<token number="5" sentence="3" t_id="6">let</token>
<token number="6" sentence="3" t_id="7">us</token>
<token number="7" sentence="3" t_id="8">down</token>"""
TIME = """
<TIMEX3 functionInDocument="CREATION_TIME" m_id="9" type="DATE" value="2012-05-01">
<token_anchor t_id="3"/><token_anchor t_id="4"/></TIMEX3>"""
EVENTS = """
<EVENT_MENTION m_id="12"><token_anchor t_id="2"/></EVENT_MENTION>

<EVENT_MENTION m_id="4"><token_anchor t_id="6"/><token_anchor t_id="8"/></EVENT_MENTION>"""
TIMEML = (
    '<?xml version="1.0" ?><TimeML><DOCID>7</DOCID><DCT><TIMEX3 tid="t0" type="DATE" value="2012-05-01">2012-05-01'
    "</TIMEX3></DCT><EXTRAINFO>Rain stops</EXTRAINFO><TEXT>Rain stops</TEXT></TimeML>"
)
RECORD = {
    "id": "7",
    "name": "7_Rain.txt",
    "url": "http://example.org/rain?a=1&b=2",
    "title": None,
    "creation_time": "2012-05-01",
    "creation_time_id": "9",
    "creation_time_tokens": [2, 3],
    "tokens": ["Rain", "stops", "May", "1", "It", "let", "us", "down"],
    "sentences": [0, 0, 1, 1, 3, 3, 3, 3],
    "events": [
        {"id": "12", "mention": "7-0-stops", "tokens": [1]},
        {"id": "4", "mention": "7-3-let_down", "tokens": [5, 7]},
    ],
}


def document(head=HEAD, tokens=TOKENS, markables=TIME + EVENTS):
    return f"{head}{tokens}\n<Markables>{markables}\n</Markables>\n</Document>"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("cat") / "7_Rain.txt.xml"


def read(file, content):
    file.write_text(content, "utf-8")
    return read_document(file)


def test_a_document(file):
    assert read(file, document()) == (RECORD, [])
    assert read_records(file, "x") == Parsed([RECORD], [1], [])
    assert list(find_document_inconsistencies([RECORD])) == []


@pytest.mark.parametrize(
    ("text", "expected"), [("2012-02-29", True), ("2013-02-29", False), ("03-02-2009", False)]
)
def test_creation_times(file, text, expected):
    read_as = read(file, document(markables=TIME.replace("2012-05-01", text) + EVENTS))
    assert read_as.document["creation_time"] == text  # as it is written
    found = f"the creation time '{text}' is not a date such as 2009-03-02"
    assert read_as.notices == ([] if expected else [Problem(found, 11)])


def test_what_is_not_read_is_told(file):
    more = '<TIMEX3 m_id="30" value="2012"/><CLINK m_id="31"/>'
    content = document(markables=TIME + more + EVENTS).replace(
        "</Document>", "<Relations/></Document>"
    )
    found = "3 elements ignored, starting here: 'CLINK', 'Relations', 'TIMEX3'"
    assert read(file, content) == (RECORD, [Problem(found, 12)])


def test_titles_come_from_timeml(tmp_path):
    (tmp_path / "a.xml").write_text(document(), "utf-8")
    (tmp_path / "b.xml").write_text(document().replace('doc_id="7"', 'doc_id="8"'), "utf-8")
    (tmp_path / "other-name.tml").write_text(TIMEML, "utf-8")
    parsed = read_folder(tmp_path)
    assert [(record["id"], record["title"]) for record in parsed.records] == [
        ("7", "Rain stops"),
        ("8", None),
    ]
    assert parsed.places == ["a.xml", "b.xml"]
    assert (parsed.problems, parsed.notices, parsed.oddities) == ([], [], [])


def test_all_problems_of_all_files(tmp_path):
    for name, content in (
        ("a.xml", document()),
        ("b.xml", document().replace('t_id="3"/>', 't_id="30"/>')),
        ("c.xml", "<Document>"),
        ("d.tml", "no XML"),
        ("e.xml", document(markables=EVENTS)),
    ):
        (tmp_path / name).write_text(content, "utf-8")
    files = {f"folder/{path.name}": path for path in sorted(tmp_path.iterdir())}
    found = read_files(files, "x")
    assert found.places == ["folder/a.xml", "folder/e.xml"]
    assert [(problem.file, problem.line) for problem in found.problems] == [
        ("folder/b.xml", 12),
        ("folder/c.xml", 1),
        ("folder/d.tml", 1),
    ]
    assert found.oddities == [Problem("has no creation time", 1, "folder/e.xml")]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"sentences": [0]}, ["has 8 tokens and 1 sentence number (expected one per token)"]),
        (
            {"creation_time_tokens": [8]},
            ["creation_time_tokens: there is no token 8 (the last is 7)"],
        ),
        (
            {"events": [{"id": "12", "mention": "7-0-stops", "tokens": [1, 9]}]},
            ["event '12': there is no token 9 (the last is 7)"],
        ),
        (
            {"events": [{"id": "12", "mention": "7-0-stopped", "tokens": [1]}]},
            ["event '12' is named '7-0-stopped' (expected '7-0-stops')"],
        ),
    ],
)
def test_inconsistencies(changes, problems):
    assert list(find_document_inconsistencies([RECORD, {**RECORD, **changes}])) == [
        (1, what) for what in problems
    ]


# What is written is read again.

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
