"""The treebank's fragments as distributed: encodings, repair, order."""

import pytest
from shared.marmara_xml import SENTENCES, list_tokens, messages, put, write_fragment, write_treebank

from closeread.formats.xml_tree import parse_xml
from closeread.tasks.marmara.treebank import XmlReader, decode, read_treebank, repair

FIRST, SECOND, THIRD = SENTENCES


def read_fragments(paths):
    """The reader of fragments and their documents."""
    reader = XmlReader()
    documents = reader.read_fragments(
        {name: (path, path.read_bytes()) for name, path in paths.items()}
    )
    reader.check_numbers(documents.values())
    return reader, documents


# A word as it may stand in a fragment, and its attributes and text, read by hand.
REPAIRED = {
    """<W IX="1" IG="[(1,""+Punc")]" REL="[,( )]"> " </W>""": (
        {"IX": "1", "IG": '[(1,""+Punc")]'},
        '"',
    ),
    """<W IX="1" IG='[(1,"'+Punc")]' REL="[,( )]"> ' </W>""": ({"IG": '[(1,"\'+Punc")]'}, "'"),
    """<W IX="1" IG='[(1,"Ayşe'nin+Noun")]' REL="[,( )]"> Ayşe'nin </W>""": (
        {"IG": '[(1,"Ayşe\'nin+Noun")]'},
        "Ayşe'nin",
    ),
    """<W IX="1" IG="[(1,"<+Punc")]" REL="[,( )]"> < </W>""": ({"IG": '[(1,"<+Punc")]'}, "<"),
    """<W IX="1" IG="[(1,">+Punc")]" REL="[,( )]"> > </W>""": ({"IG": '[(1,">+Punc")]'}, ">"),
    """<W IX="1" IG='[(1,"&+Punc")]' REL="[,( )]"> & </W>""": ({"IG": '[(1,"&+Punc")]'}, "&"),
    """<W IX="1" IG='[(1,"A&B;+Noun")]'> A&B; </W>""": ({"IG": '[(1,"A&B;+Noun")]'}, "A&B;"),
    """<W IX="1" IG="[(1,&quot;&lt;+Punc&quot;)]"> &lt;&amp;&#65;&#x42; </W>""": (
        {"IG": '[(1,"<+Punc")]'},
        "<&AB",
    ),
    """<W IX="1" IG='[(1,"]+Punc")]' REL="[,( )]"> ] </W>""": (
        {"IG": '[(1,"]+Punc")]', "REL": "[,( )]"},
        "]",
    ),
    # `]"` ends the value only where a name and `=`, or `>`, follow.
    """<W IX="1" IG="[(1,"]"+Punc")]" REL="[,( )]"> ]" </W>""": ({"IG": '[(1,"]"+Punc")]'}, ']"'),
    """<W IX="1" IG="[(1,"a]" b+Noun")]"> a]"_b </W>""": ({"IG": '[(1,"a]" b+Noun")]'}, 'a]"_b'),
    """<W IX="1" LEM="" MORPH=" " IG='[(1,"a+Noun")]'  REL = "[,( )]" > a </W>""": (
        {"REL": "[,( )]", "MORPH": " "},
        "a",
    ),
    """<W\n IX="1"\n IG="[(1,"a+Noun")]"\n REL='[,( )]' > a\n </W>""": (
        {"IG": '[(1,"a+Noun")]', "REL": "[,( )]"},
        "a",
    ),
    """<W IX='1' LEM="it's" IG='[(1,"a+Noun")]'> a </W>""": ({"LEM": "it's", "IX": "1"}, "a"),
    """<W IX="1" IG="[(1,"a+Noun")]" ORG_IG1='[(1,"b'+Noun")]'> a </W>""": (
        {"ORG_IG1": '[(1,"b\'+Noun")]'},
        "a",
    ),
    """<W IX="1"/>""": ({"IX": "1"}, ""),
}


@pytest.mark.parametrize("raw", REPAIRED)
def test_repair(tmp_path, raw):
    attributes, text = REPAIRED[raw]
    word = parse_xml(tmp_path, repair(raw).encode())
    assert {name: word.attributes[name] for name in attributes} == attributes
    assert word.text().strip() == text
    assert repair(raw).count("\n") == raw.count("\n")


def test_only_words_are_repaired(tmp_path):
    outside = """<Set a="[x"y]"><S No="1"> & <Word x="[(1,""+Punc")]"> & </Word></S></Set>"""
    assert repair(outside) == outside


# What can't be repaired stays as it is, and takes no other word with it: the line of each, and the one of its error.
BROKEN = {'<W IX="1" IG="[(1,"a+Noun"> a </W>': 3, "<W IX=1> a </W>": 3, '<W IX="1" IG="[(1': 4}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_beyond_repair_is_an_error_with_its_line(tmp_path, broken):
    text = f"""<Set>\n<S No="1">\n{broken}\n<W IX="2" IG="[(1,""+Punc")]"> " </W>\n</S>\n</Set>"""
    assert repair(broken) == broken
    assert (
        repair(text).splitlines()[3] == '<W IX="2" IG="[(1,&quot;&quot;+Punc&quot;)]"> &quot; </W>'
    )
    found, _ = read_fragments(put(tmp_path, {"77000112003.xml": text, "77000112004.xml": text}))
    wrong = f":{BROKEN[broken]}: is not well-formed XML: not well-formed (invalid token)"
    assert messages(found.problems) == [f"DIR/7700011200{number}.xml{wrong}" for number in (3, 4)]


def test_encodings():
    turkish = "ığüşöçİĞÜŞÖÇ"
    declared = '<?xml version="1.0" encoding="windows-1254" ?>'
    assert decode(turkish.encode("windows-1254")) == turkish
    # valid UTF-8, whatever it declares
    assert decode((declared + turkish).encode()) == declared + turkish
    assert decode(b"\xef\xbb\xbfabc") == "abc"
    assert decode(b"abc") == "abc"


# Bytes that are no text, and what is said of them.
UNDECODABLE = {
    b"<Set>\nab\x81\xfe</Set>": ":2: byte 3 (0x81) is not valid windows-1254",
    b"\xef\xbb\xbf<Set>\xfd</Set>": ":1: byte 9 (0xfd) is not valid utf-8",
    "<Set/>".encode("utf-16"): ": is UTF-16 text (expected UTF-8 or windows-1254)",
}


@pytest.mark.parametrize("data", UNDECODABLE)
def test_bytes_that_are_no_text(tmp_path, data):
    reader = XmlReader()
    reader.read_fragments({"77000112003.xml": (tmp_path, data)})
    assert messages(reader.problems) == [f"DIR/77000112003.xml{UNDECODABLE[data]}"]


def test_fragments_are_read_as_the_documents_that_they_make_up(tmp_path):
    fragments = {
        "77000112010.xml": write_fragment([SENTENCES[THIRD]]).encode("windows-1254"),
        "77000112003.xml": write_fragment([SENTENCES[FIRST], SENTENCES[SECOND]], "'").encode(),
        "660001129.xml": write_fragment([SENTENCES[SECOND]]).encode("windows-1254"),
        "6600011210.xml": write_fragment([SENTENCES[THIRD]]).encode("windows-1254"),
    }
    reader, documents = read_fragments(put(tmp_path / "fragments", fragments))
    assert (reader.problems, reader.notices) == ([], [])
    extracted = read_treebank(put(tmp_path, {"a.xml": write_treebank(SENTENCES)}))
    assert list_tokens(documents["77000112"]) == extracted.documents["77000112"]
    # Fragment 9 comes before fragment 10.
    assert [one.number for one in documents["66000112"]] == ["660001129.1", "6600011210.1"]


def test_numbers_that_begin_with_the_fragment_are_kept(tmp_path):
    text = write_fragment([SENTENCES[FIRST], SENTENCES[SECOND]]).replace(
        'No="1"', 'No="77000112003.7"'
    )
    _, documents = read_fragments(put(tmp_path, {"77000112003.xml": text}))
    numbers = [sentence.number for sentence in documents["77000112"]]
    assert numbers == ["77000112003.7", "77000112003.2"]


def test_names_that_are_no_fragments(tmp_path):
    text = write_fragment([SENTENCES[FIRST]])
    found, _ = read_fragments(
        put(tmp_path, {"77000112.xml": text, "7700011200001.xml": text, "a.xml": text})
    )
    expected = "is not the name of a fragment (expected 8 digits of the document and 1 to 4 of the fragment)"
    names = ("77000112.xml", "7700011200001.xml", "a.xml")
    assert sorted(messages(found.problems)) == [f"DIR/{name}: {expected}" for name in names]


# What a fragment may not have, and what is said of it.
WRONG = {
    '<S No="1"><W IX="0"> a </W></S>': "2: sentence '77000112003.1': IX '0' is not a positive integer",
    '<S No="1"><W IX="1"> a </W></S><S No="1"><W IX="1"> b </W></S>': (
        "2: the sentence number '77000112003.1' is already used on line 2"
    ),
    '<S No="1 2"><W IX="1"> a </W></S>': (
        "2: the sentence number '1 2' has another form (expected a number such as 1)"
    ),
    '<S No="1"><W IX="1"> a </S>': "2: is not well-formed XML: mismatched tag",
}


@pytest.mark.parametrize("inside", WRONG)
def test_errors_in_fragments(tmp_path, inside):
    found, _ = read_fragments(put(tmp_path, {"77000112003.xml": f"<Set>\n{inside}</Set>"}))
    assert messages(found.problems) == [f"DIR/77000112003.xml:{WRONG[inside]}"]


def test_declarations_are_refused(tmp_path):
    text = '<!DOCTYPE Set [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<Set><S No="1"><W IX="1"> &a; </W></S></Set>'
    found, _ = read_fragments(put(tmp_path, {"77000112003.xml": text}))
    expected = "the document type declares 'a' (expected XML without declarations)"
    assert messages(found.problems) == [f"DIR/77000112003.xml:1: {expected}"]
