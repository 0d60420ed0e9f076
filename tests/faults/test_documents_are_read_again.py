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
from closeread.formats.xml_tree import check_characters, read_xml
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

pytestmark = pytest.mark.usefixtures("here")

CONTROL = {text for text in HOSTILE if set(text) & set("\0\x1c\x7f\x85\ud800\udcff")}
NOT_IN_XML = CONTROL | {"\ufffe", "\uffff"}
"""Worked out from the definition of characters in XML 1.0, section 2.2, and from what all our readers refuse."""


def write(text, name="a.xml"):
    write_text(Path(name), text)
    return Path(name)


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
        ValueError, match=r"XML can't represent the character U\+FFFE \(in 'b\\ufffecx+'\)"
    ):
        check_characters("b\ufffec" + "x" * 1000)
    # another noncharacter, which XML can hold
    assert read_xml(write("<a>\ufdd0</a>")).text() == "\ufdd0"
