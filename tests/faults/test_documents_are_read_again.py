"""Documents of every format are written so that they are read again, or refused, whatever their names and words are."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from shared.conll_documents import InventedWords
from shared.hostile_texts import HOSTILE, split_refused
from shared.marmara_sample import treebank_files

from closeread.files import write_text
from closeread.formats.timeml import Document, Entry, Passage, Span, Tlink, dump_timeml, read_timeml
from closeread.formats.xml_tree import read_xml
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.files import dump_documents, load_format, read_documents
from closeread.tasks.coref.formats import WrittenFormat
from closeread.tasks.coref.marmara.coreference import (
    dump_annotation,
    normalize_text,
    read_annotations,
)
from closeread.tasks.coref.marmara.extraction import dump_document as dump_treebank
from closeread.tasks.coref.marmara.treebank import XmlReader, get_form
from closeread.tasks.timeline.cat_xml import dump_document, read_document

pytestmark = pytest.mark.usefixtures("here")

CONTROL = {text for text in HOSTILE if set(text) & set("\0\x1c\x7f\x85\ud800\udcff")}
NOT_IN_XML = CONTROL | {"\ufffe", "\uffff"}
"""Worked out from the definition of characters in XML 1.0, section 2.2, and from what all our readers refuse."""


def write(text, name="a.xml"):
    write_text(Path(name), text)
    return Path(name)


def make_cat(text, field):
    """A document in CAT of which one field is a text."""
    name, token, event = (
        text if field == one else other
        for one, other in (("id", "7"), ("token", "a"), ("event", "3"))
    )
    time = {"creation_time": "2009-03-02", "creation_time_id": "1"} | (
        {field: text} if "time" in field else {}
    )
    return {
        "id": name,
        "name": text if field == "name" else None,
        "url": text if field == "url" else None,
        "title": None,
        **time,
        "creation_time_tokens": [0],
        "tokens": [token, "b"],
        "sentences": [0, 1],
        "events": [{"id": event, "mention": f"{name}-0-{token}", "tokens": [0]}],
    }


@pytest.mark.parametrize(
    "field", ["id", "name", "url", "creation_time", "creation_time_id", "token", "event"]
)
def test_cat(field):
    def check(text, made):
        assert read_document(write(made)).document == make_cat(text, field)

    may_be_empty = field in ("name", "url", "creation_time")
    refused = split_refused(lambda text: dump_document(make_cat(text, field)), check)
    same_id = {"1"} if field == "event" else set()
    assert refused == NOT_IN_XML | (set() if may_be_empty else {""}) | same_id


def test_cat_without_words():
    with pytest.raises(ValueError, match="there are no tokens"):
        dump_document({**make_cat("", ""), "tokens": [], "sentences": [], "events": []})


def without_lines(document):
    """A TimeML document without the lines of its elements."""
    passages = tuple(
        one._replace(spans=tuple(span._replace(line=None) for span in one.spans))
        for one in document.passages
    )
    entries = {
        name: tuple(one._replace(line=None) for one in getattr(document, name))
        for name in ("instances", "tlinks", "others")
    }
    return replace(document, passages=passages, **entries)


@pytest.mark.parametrize("field", ["id", "DCT", "TITLE", "TEXT", "attribute", "link"])
def test_timeml(field):
    def make(text):
        event = Span(
            "EVENT", 0, 0, {"eid": "e1", "class": text if field == "attribute" else "I_STATE"}
        )
        passages = [
            Passage("DCT", text if field == "DCT" else "", (Span("TIMEX3", 0, 0, {"tid": "t1"}),)),
            Passage("TITLE", text if field == "TITLE" else ""),
            Passage("TEXT", text if field == "TEXT" else "", (event,)),
        ]
        instances = (Entry("MAKEINSTANCE", {"eiid": "ei1", "eventID": "e1"}),)
        links = (
            Tlink("ei1", "t1", "BEFORE", {"lid": "l1", "origin": text if field == "link" else ""}),
        )
        return Document(text if field == "id" else None, tuple(passages), instances, links)

    def check(text, made):
        assert without_lines(read_timeml(write(made))) == make(text)

    refused = split_refused(lambda text: dump_timeml(make(text)), check)
    blank = (
        {text for text in HOSTILE if text != text.strip()} | {"a\rb"} if field == "id" else set()
    )
    assert refused == NOT_IN_XML | blank


def test_marmara_coreference():
    def make(text):
        row = {"from": 1, "to": 1}
        mentions = [
            row | {"id": "0", "sentence": "77000112003.1", "start": 0, "end": 0},
            row | {"id": "1", "sentence": "77000112003.2", "start": 1, "end": 1},
        ]
        sentences = [{"tokens": [{"form": form}]} for form in (text, "b")]
        return {"sentences": sentences, "mentions": mentions, "clusters": [[[0, 0], [1, 1]]]}

    def check(text, made):
        found = read_annotations({"a.xml": write(made)})
        assert found.problems == []
        (read,) = found.annotations
        assert [one[:4] for one in read.mentions] == [
            ("0", "77000112003.1", 1, 1),
            ("1", "77000112003.2", 1, 1),
        ]
        assert normalize_text(read.mentions[0].text) == normalize_text(text)
        assert read.chains == [["0", "1"]]

    assert split_refused(lambda text: dump_annotation(make(text)), check) == NOT_IN_XML | {"a\rb"}


@pytest.mark.parametrize("attribute", ["LEM", "Ünlü", None])
def test_marmara_treebank(attribute):
    """A treebank's words are written as they were read, in which white space is one blank."""
    path = next(iter(treebank_files().values()))
    sentence = XmlReader().read_extracted(path.name, path, path.read_bytes())[0]

    def make(text):
        word, *others = sentence.words.values()
        attributes = word.attributes if attribute is None else {**word.attributes, attribute: text}
        changed = replace(
            word, attributes=attributes, content=[text] if attribute is None else word.content
        )
        return sentence._replace(words=dict(enumerate([changed, *others], 1)))

    def check(text, made):
        (again,) = XmlReader().read_extracted(path.name, write(made), made.encode())
        expected = make(text)
        assert [(ix, get_form(one), one.attributes) for ix, one in again.words.items()] == [
            (ix, get_form(one), one.attributes) for ix, one in expected.words.items()
        ]

    texts = [
        text
        for text in HOSTILE
        if attribute is not None or (text and text == " ".join(text.split()))
    ]
    assert split_refused(
        lambda text: dump_treebank([make(text)]), check, texts
    ) == NOT_IN_XML & set(texts)


PLAIN = {"e\u0301", "NA", "=1+1", "&amp;", "😀", "<b>", "1", "null"}
TRIED = {"": HOSTILE, ".gz": HOSTILE[::6]}


def suffix_of(name):
    """The suffix of files of coreference in a format, by its name."""
    # Parquet is only read.
    return ".jsonl" if name == "coref-data" else load_format(name).suffixes[0]


@pytest.mark.parametrize("form", get_args(WrittenFormat))
@pytest.mark.parametrize(
    ("field", "packed"), [("name", ""), ("word", ""), ("label", ""), ("name", ".gz")]
)
def test_coreference(form, field, packed):
    suffix = suffix_of(form)
    path = Path(f"out{suffix}{packed}")

    def make(text):
        return replace(
            mention_table([text if field == "name" else "d"], [[[[0, 1]], [[1, 1], [2, 2]]]]),
            n_tokens=np.array([3]),
            words=InventedWords([[text if field == "word" else "a", "b", "c"]]),
            labels=[text if field == "label" else "0", "x"],
        )

    def check(text, made):
        table = make(text)
        write_text(path, made)
        assert path.read_bytes().startswith(b"\x1f\x8b") is bool(packed)
        again = read_documents(path)
        if form != "crac-text":  # which has no names
            assert list(again.names) == list(table.names)
        assert (again.start.tolist(), again.end.tolist()) == (
            table.start.tolist(),
            table.end.tolist(),
        )
        assert again.entity.tolist() == table.entity.tolist()
        if form != "jsonl":
            blank = "_" if form in ("crac-text", "crac-json") else " "
            words = [word.replace(" ", blank) for word in table.words(0)]
            assert list(again.words(0)) == words

    refused = split_refused(
        lambda text: dump_documents(make(text), path, form), check, TRIED[packed]
    )
    # Entities get other ids, JSON Lines has no words, and CRAC's text no names.
    has_field = {"name": form != "crac-text", "word": form != "jsonl", "label": False}[field]
    expected = CONTROL if has_field else set()
    assert refused >= (
        expected - {"\x85"} if suffix == ".conll" and field == "word" else expected
    ) & set(TRIED[packed])
    assert not refused & PLAIN


def test_what_xml_can_not_hold_is_shown():
    with pytest.raises(
        ValueError,
        match=r"XML can't represent the character U\+FFFE \(in '.* src_url=\"b\\ufffecx{18}'\)",
    ):
        dump_document(make_cat("b\ufffec" + "x" * 1000, "url"))
    # another noncharacter, which XML can hold
    assert read_xml(write("<a>\ufdd0</a>")).text() == "\ufdd0"
