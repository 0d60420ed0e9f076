"""Extracted files of the treebank."""

import gzip

from shared.marmara_xml import SENTENCES, messages, put, truncate, write_fragment, write_treebank

from closeread.tasks.marmara.treebank import read_treebank

FIRST, SECOND, THIRD = SENTENCES
ONE = '<Set><S No="77000112003.1">\n{}\n</S></Set>'
WORD = """<W IX="1" IG='[(1,"ev+Noun")]' REL="[,( )]"> ev </W>"""


def test_sentences_and_their_words(tmp_path):
    found = read_treebank(put(tmp_path, {"any name.xml": write_treebank(SENTENCES)}))
    assert (found.problems, found.notices, list(found.documents)) == ([], [], ["77000112"])
    sentences = found.documents["77000112"]
    assert [sentence["number"] for sentence in sentences] == [FIRST, SECOND, THIRD]
    assert sentences[0]["tokens"][1] == {
        "form": "evindeki",
        "lemma": "ev",
        "groups": [["Noun", "A3sg", "P3sg", "Loc"], ["Adj", "Rel"]],
        "head": 3,
        "head_group": 1,
        "relation": "MODIFIER",
    }
    assert sentences[1]["tokens"][0] == {
        "form": '"',
        "lemma": '"',
        "groups": [["Punc"]],
        "head": None,
        "head_group": None,
        "relation": None,
    }


def test_what_is_odd_is_a_note(tmp_path):
    words = [
        """<W IX="2" IG='[(1,"ev+Noun")]' REL="[4,1,(SUBJECT)]"> ev </W>""",
        """<W IX="4" IG='[(1,"yan+Verb")]' REL="[3,1,(SENTENCE)]"> yandı </W>""",
        """<W IX="5" IG="[]" REL="[ ]"> ! </W>""",
        '<W IX="6"> dedi  \n  ki </W>',
        '<W IX="7" IG="none" REL="[,( )]"/>',
        "text <X/>",
    ]
    found = read_treebank(put(tmp_path, {"a.xml": ONE.format("\n".join(words)) + "\n"}))
    assert found.problems == []
    assert messages(found.notices) == [
        "DIR/a.xml:1: sentence '77000112003.1': the text 'text' outside a word is ignored",
        "DIR/a.xml:8: sentence '77000112003.1': the element 'X' is ignored (expected W)",
        "DIR/a.xml:2: sentence '77000112003.1': word 2: the first IX is 2",
        "DIR/a.xml:3: sentence '77000112003.1': word 4: IX 4 follows 2",
        "DIR/a.xml:3: sentence '77000112003.1': word 4: the head 3 is not a word of the sentence",
        "DIR/a.xml:4: sentence '77000112003.1': word 5: IG '[]' can't be read",
        "DIR/a.xml:4: sentence '77000112003.1': word 5: REL '[ ]' can't be read",
        "DIR/a.xml:5: sentence '77000112003.1': word 6: has no IG",
        "DIR/a.xml:5: sentence '77000112003.1': word 6: has no REL",
        "DIR/a.xml:7: sentence '77000112003.1': word 7: IG 'none' can't be read",
        "DIR/a.xml:7: sentence '77000112003.1': word 7: has no text (read as _)",
    ]
    tokens = found.documents["77000112"][0]["tokens"]
    # The head of the first word is the second one, whatever its IX is; without groups the lemma is the form.
    assert [(one["form"], one["lemma"], one["head"]) for one in tokens] == [
        ("ev", "ev", 2),
        ("yandı", "yan", None),
        ("!", "!", None),
        ("dedi ki", "dedi ki", None),
        ("_", "_", None),
    ]
    assert [one["groups"] for one in tokens[1:]] == [[["Verb"]], [], [], []]
    assert found.word_numbers == {"77000112003.1": [2, 4, 5, 6, 7]}


def test_other_elements_and_sentences_without_words_are_noted(tmp_path):
    text = f'<Set>\nhello\n<!-- no --><T/><S No="77000112003.1">{WORD}</S>\n<S No="77000112003.2"></S></Set>'
    found = read_treebank(put(tmp_path, {"a.xml": text}))
    assert messages(found.notices) == [
        "DIR/a.xml:1: the text 'hello' outside a sentence is ignored",
        "DIR/a.xml:3: the element 'T' is ignored (expected S)",
        "DIR/a.xml:4: sentence '77000112003.2': is left out: it has no words",
    ]
    assert [sentence["number"] for sentence in found.documents["77000112"]] == [FIRST]


def test_documents_are_named_by_their_sentences_and_numbered_in_their_order(tmp_path):
    # By file: 77000112 from fragment 10, another id, 77000112 from fragment 9.
    texts = {
        "a.xml": "77000112010.1",
        "b.xml": "66000112003.1",
        "c.xml": "77000112009.2",
        "d.xml": "77000112009.10",
    }
    files = {name: write_treebank({number: SENTENCES[FIRST]}) for name, number in texts.items()}
    found = read_treebank(put(tmp_path, files))
    assert found.files == {
        "66000112": "b.xml",
        "77000112": "c.xml",
        "77000112_2": "d.xml",
        "77000112_3": "a.xml",
    }
    both = write_treebank({"77000112003.1": SENTENCES[FIRST], "66000112003.1": SENTENCES[FIRST]})
    found = read_treebank(put(tmp_path / "two ids", {"a.xml": both}))
    assert list(found.documents) == ["77000112"]
    assert messages(found.notices) == [
        "DIR/a.xml: has sentences of '77000112', '66000112', and is named by the first"
    ]


def test_a_number_in_two_files_is_used_twice(tmp_path):
    text = write_treebank({FIRST: SENTENCES[FIRST]})
    found = read_treebank(put(tmp_path, {"a.xml": text, "b.xml": text}))
    expected = f"DIR/b.xml:3: the sentence number '{FIRST}' is already used on line 3 of a.xml"
    assert messages(found.problems) == [expected]


def test_all_files_are_of_one_kind(tmp_path):
    files = {
        "a.xml": write_treebank({FIRST: SENTENCES[FIRST]}),
        "77000112004.xml": write_fragment([SENTENCES[SECOND]]),
        "c.conllu": "# newdoc id = 77000112\n",
    }
    extract = "expected an extracted file; see closeread prepare marmara_coref treebank"
    assert messages(read_treebank(put(tmp_path, files)).problems) == [
        f"DIR/77000112004.xml: is a fragment as distributed ({extract})",
        "DIR/c.conllu: is CoNLL-U, but a.xml is an extracted file (expected files of one kind)",
    ]


def test_files_of_other_names_are_ignored_with_a_note(tmp_path):
    files = {"README.txt": "hello", "a.xml": write_treebank(SENTENCES)}
    note = "DIR/README.txt: is ignored (expected a name ending in .xml or .conllu)"
    found = read_treebank(put(tmp_path, files))
    assert (found.problems, messages(found.notices)) == ([], [note])
    found = read_treebank(put(tmp_path, {"README.txt": "hello"}))
    none = ["DIR: contains no treebank files (expected files ending in .xml or .conllu)"]
    assert (messages(found.problems), messages(found.notices)) == (none, [note])
    assert messages(read_treebank({}).problems) == none


def test_gzipped_files(tmp_path):
    data = write_treebank(SENTENCES).encode()
    found = read_treebank(put(tmp_path, {"a.xml.gz": gzip.compress(data)}))
    assert (found.problems, list(found.documents)) == ([], ["77000112"])
    found = read_treebank(put(tmp_path, {"a.xml.gz": truncate(data), "b.xml": ""}))
    assert messages(found.problems) == [
        "DIR/a.xml.gz: is not a valid gzip file: it is truncated",
        "DIR/b.xml: is empty",
    ]


def test_a_document_type_that_declares_nothing_is_accepted(tmp_path):
    text = write_treebank(SENTENCES).replace("<Set", '<!DOCTYPE Set SYSTEM "Set.dtd">\n<Set', 1)
    assert read_treebank(put(tmp_path, {"a.xml": text})).problems == []
