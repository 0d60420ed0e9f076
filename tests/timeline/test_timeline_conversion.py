"""Which conversions and comparisons of TimeLine's files there are, by the files alone."""

from pathlib import Path

import pytest
from shared.for_each import for_each

from closeread.counts.annotators import Annotator
from closeread.exceptions import FormatError, RequestError
from closeread.tasks.timeline.agreement import DOCUMENTS, TIMELINES, choose_kind
from closeread.tasks.timeline.cat_timeml import convert_document, is_document
from closeread.tasks.timeline.plot_layout import count_mentions, find_timeline

RECORDS = [
    {"id": "ann_lee", "entity": "Ann Lee", "entries": [{"mentions": ["7-2-a", "7-3-b"]}, {"mentions": ["8-0-c"]}]},
    {"id": "bo", "entity": "Bo", "entries": []},
]


@for_each(
    ("source", "output", "document"),
    [("7.xml", "7.tml", True), ("7.tml", "7.xml", True), ("7.xml", "all.jsonl", True), ("folder", "all.jsonl", False)],
)
def test_documents_are_known_by_their_suffixes(source, output, document):
    assert is_document(Path(source), Path(output)) is document


@for_each("output", ["7.xml", "7.jsonl", "folder"])
def test_a_document_becomes_one_of_the_other_format_only(output):
    with pytest.raises(RequestError, match=r"can't convert 8.xml to .* \(expected a document in CAT, .xml, and one in"):
        convert_document(Path("8.xml"), Path(output))


@for_each(("source", "output"), [("bad.xml", "bad.tml"), ("bad.tml", "bad.xml")])
def test_broken_documents_are_named(tmp_path, source, output):
    (tmp_path / source).write_text("<Other/>")
    with pytest.raises(FormatError, match=source):
        convert_document(tmp_path / source, tmp_path / output)


def annotators(*paths):
    return [Annotator(str(path), path) for path in paths]


def test_what_is_compared_follows_from_the_files(tmp_path):
    for folder, file in (("documents", "7.xml"), ("timelines", "ann.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch()
    documents, timelines = tmp_path / "documents", tmp_path / "timelines"
    assert choose_kind(annotators(documents, documents / "7.xml")) is DOCUMENTS
    assert choose_kind(annotators(timelines, tmp_path / "ann.jsonl", timelines)) is TIMELINES
    with pytest.raises(RequestError, match=r"timelines has timelines and .*documents has documents"):
        choose_kind(annotators(timelines, documents))


def test_a_timeline_is_found_by_name_or_id():
    assert find_timeline(RECORDS, "Ann Lee") is find_timeline(RECORDS, "ann_lee") is RECORDS[0]
    with pytest.raises(RequestError, match=r"no such entity: 'Ann Le'\. Did you mean 'Ann Lee'"):
        find_timeline(RECORDS, "Ann Le")
    assert [count_mentions(timeline["entries"]) for timeline in RECORDS] == [3, 0]
