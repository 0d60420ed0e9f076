"""TimeML: what is read, what is refused in which words, and that what is written is read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from shared.timeml_files import dump_timeml

from closeread.formats.timeml import (
    TimeMLDocument,
    read_timeml,
)

WITH_INSTANCES = """<?xml version="1.0" ?>
<TimeML xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<DOCID> ferry_01 </DOCID>
<DCT>OSLO, <TIMEX3 tid="t0" type="DATE" value="2012-05-04" functionInDocument="CREATION_TIME">May 4, 2012</TIMEX3></DCT>
<TITLE>The ferry</TITLE>
<TEXT>
Marta <EVENT eid="e1" class="OCCURRENCE">waited</EVENT> &amp; <EVENT eid="e2">slept</EVENT>
until <TIMEX3 tid="t1" type="DATE" value="2012-05-03">Thursday</TIMEX3><!-- or so -->.
</TEXT>
<MAKEINSTANCE eiid="ei1" eventID="e1" tense="PAST"/>
<MAKEINSTANCE eiid="ei2" eventID="e2"/>
<MAKEINSTANCE eiid="ei3" eventID="e2"/>
<TLINK lid="l1" eventInstanceID="ei1" relatedToEventInstance="ei2" relType="IBEFORE"/>
<TLINK lid="l2" eventInstanceID="ei3" relatedToTime="t1" relType="BEFORE" signalID="s1"/>
<TLINK timeID="t1" relatedToTime="t0" relType="BEFORE"/>
<TLINK lid="l4" eventID="e1" relatedToTime="t0" relType="BEFORE"/>
<SLINK lid="l5" eventInstanceID="ei1" subordinatedEventInstance="ei2" relType="MODAL"/>
</TimeML>
"""
WITHOUT_INSTANCES = """<?xml version='1.0' encoding='utf-8'?>
<TimeML><DOCID>1664</DOCID>
<DCT><TIMEX3 functionInDocument="CREATION_TIME" tid="t0" type="DATE" value="2005-10-13">2005-10-13</TIMEX3></DCT>
<EXTRAINFO>The ferry</EXTRAINFO>
<TEXT><s id="0">The ferry</s><s id="1">It <EVENT eid="e7">left</EVENT> and <EVENT eid="e9">sank</EVENT> .</s></TEXT>
<TLINK eventID="e7" relatedToEvent="e9" relType="BEFORE"/>
<TLINK eventInstanceID="e9" relatedToTime="t0" relType="AFTER"/>
</TimeML>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("timeml") / "file.tml"


def read(file: Path, text: str) -> TimeMLDocument:
    file.write_text(text, "utf-8", newline="")
    return read_timeml(file)


def without_lines(document: TimeMLDocument) -> TimeMLDocument:
    passages = tuple(
        p._replace(spans=tuple(s._replace(line=None) for s in p.spans)) for p in document.passages
    )
    parts = {
        name: tuple(one._replace(line=None) for one in getattr(document, name))
        for name in ("instances", "tlinks")
    }
    return replace(document, passages=passages, **parts)


def test_a_file_with_instances(file: Path) -> None:
    document = read(file, WITH_INSTANCES)
    assert (document.id, document.title) == ("ferry_01", "The ferry")
    assert document.text == "\nMarta waited & slept\nuntil Thursday.\n"
    assert document.creation_time is not None
    assert document.creation_time.attributes["value"] == "2012-05-04"
    assert [(p.words(e), e.id, e.line) for p, e in document.spans("EVENT")] == [
        ("waited", "e1", 7),
        ("slept", "e2", 7),
    ]
    words = {
        name: (passage.name, passage.words(span))
        for name, (passage, span) in document.intervals.items()
    }
    assert words == {
        "ei1": ("TEXT", "waited"),
        "ei2": ("TEXT", "slept"),
        "ei3": ("TEXT", "slept"),
        "t0": ("DCT", "May 4, 2012"),
        "t1": ("TEXT", "Thursday"),
    }
    assert [(t.source, t.relation, t.target, t.line) for t in document.tlinks] == [
        ("ei1", "IBEFORE", "ei2", 13),
        ("ei3", "BEFORE", "t1", 14),
        ("t1", "BEFORE", "t0", 15),
        ("ei1", "BEFORE", "t0", 16),  # the only instance of the event
    ]
    assert document.tlinks[1].attributes == {"lid": "l2", "signalID": "s1"}


def test_a_file_without_instances(file: Path) -> None:
    document = read(file, WITHOUT_INSTANCES)
    assert document.title == "The ferry"
    assert list(document.intervals) == ["e7", "e9", "t0"]
    assert [(t.source, t.relation, t.target) for t in document.tlinks] == [
        ("e7", "BEFORE", "e9"),
        ("e9", "AFTER", "t0"),
    ]
    (passage,) = [passage for passage in document.passages if passage.name == "TEXT"]
    sentences = [(s.attributes["id"], passage.words(s)) for s in passage.spans if s.name == "s"]
    assert sentences == [("0", "The ferry"), ("1", "It left and sank .")]


def test_a_file_without_a_text_element(file: Path) -> None:
    """As in TimeBank 1.2: what is no other element is the text."""
    document = read(
        file,
        '<TimeML>\nIt <EVENT eid="e1">left</EVENT>.\n<MAKEINSTANCE eiid="ei1" eventID="e1"/></TimeML>',
    )
    assert document.text.split() == ["It", "left."]
    assert list(document.intervals) == ["ei1"]
    assert (document.id, document.title, document.creation_time) == (None, None, None)


def test_the_creation_time_may_be_unnamed_and_anywhere(file: Path) -> None:
    first = read(
        file,
        '<TimeML><DCT><TIMEX3 tid="t5">now</TIMEX3></DCT><TEXT><TIMEX3 tid="t6"/></TEXT></TimeML>',
    )
    assert first.creation_time is not None
    assert first.creation_time.id == "t5"
    called = '<TIMEX3 tid="t6" functionInDocument="CREATION_TIME"/>'
    second = read(file, f'<TimeML><TEXT><TIMEX3 tid="t5">now</TIMEX3>{called}</TEXT></TimeML>')
    assert second.creation_time is not None
    assert second.creation_time.id == "t6"


@pytest.mark.parametrize("text", [WITH_INSTANCES, WITHOUT_INSTANCES])
def test_what_is_written_is_read_again(file: Path, text: str) -> None:
    document = read(file, text)
    assert without_lines(read(file, dump_timeml(document))) == without_lines(document)


def body(*elements: str) -> str:
    """A file with two events, one of which has instances, a time, and these elements from line 5 on."""
    events = '<TEXT><EVENT eid="e1">left</EVENT> <EVENT eid="e2">sank</EVENT> <TIMEX3 tid="t1">May</TIMEX3></TEXT>'
    instances = '<MAKEINSTANCE eiid="ei1" eventID="e1"/><MAKEINSTANCE eiid="ei2" eventID="e1"/>'
    return "\n".join(["<TimeML>", events, instances, "", *elements, "</TimeML>"])


def tlink(ends: str, relation: str = ' relType="BEFORE"') -> str:
    return f'<TLINK lid="l1" {ends}{relation}/>'


@pytest.mark.parametrize(
    ("ends", "interval"),
    [
        ('eventInstanceID="ei1" relatedToEventInstance="ei1"', "ei1"),
        ('timeID="t1" relatedToTime="t1"', "t1"),
        # by two names of an event without instances
        ('eventID="e2" relatedToEventInstance="e2"', "e2"),
    ],
)
def test_a_link_of_an_interval_with_itself(file: Path, ends: str, interval: str) -> None:
    document = read(file, body(tlink(ends, ' relType="SIMULTANEOUS"')))
    assert [(t.source, t.relation, t.target, t.line) for t in document.tlinks] == [
        (interval, "SIMULTANEOUS", interval, 5)
    ]


@pytest.mark.parametrize(
    ("folder", "n_sentences", "n_events"),
    [
        ("Corpus-trial-data_task4_events_timelines_TimeML", 464, 188),
        ("SemEval_Task4_data/corpus_1/corpus_trackB_TimeML", 446, 315),
        ("SemEval_Task4_data/corpus_2/corpus_trackB_TimeML", 430, 324),
    ],
)
def test_the_released_files(
    corpora: Path, file: Path, folder: str, n_sentences: int, n_events: int
) -> None:
    """As many sentences as Minard et al. (2015) count, and as many events as the corpus has in CAT XML."""
    found = [
        read_timeml(path)
        for path in sorted((corpora / "semeval2015_timeline" / folder).glob("*.tml"))
    ]
    assert len(found) == 30
    assert sum(len(document.spans("s")) for document in found) == n_sentences
    assert sum(len(document.spans("EVENT")) for document in found) == n_events
    for document in found:
        assert document.creation_time is not None
        assert document.title
        assert without_lines(read(file, dump_timeml(document))) == without_lines(document)
