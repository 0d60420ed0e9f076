"""CoNLL-U files of UD_Turkish-IMST, read as the treebank: invented sentences, and files with mistakes."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.ud_sentences import document, multiword, plain, row, sentence

from closeread.formats.text import decompress
from closeread.tasks.marmara.documents import Notes
from closeread.tasks.marmara.universal_dependencies import UdTreebank

CAT = sentence(
    "77000112_1",
    multiword("1-2", "Evdeki"),
    "1 Evde ev NOUN 3 nmod Case=Loc",
    "2 ki ki ADP 1 case",
    "3 kedi kedi NOUN 4 nsubj",
    "4 uyudu uyu VERB 0 root",
    "5 . . PUNCT 4 punct",
)


def read(*texts):
    """Read texts as the files a.conllu, b.conllu …"""
    named = zip("abc", texts, strict=False)
    files = {
        f"{name}.conllu": (Path(name), text if isinstance(text, bytes) else text.encode())
        for name, text in named
    }
    return UdTreebank(files, Notes())


def problems(*texts):
    return [problem.at("ud").removeprefix("ud/") for problem in read(*texts).notes.problems]


def in_sentence(*rows):
    """The problems of a sentence of these rows, which begin on line 3; those of other lines have their number."""
    found = problems(document("77000112", sentence("77000112_1", *rows)))
    return [problem.removeprefix("a.conllu:") for problem in found]


def forms(treebank):
    return {
        name: {one["number"]: [token["form"] for token in one["tokens"]] for one in sentences}
        for name, sentences in treebank.documents.items()
    }


def test_a_sentence():
    """Columns: form, lemma, groups, head, group of the head, relation."""
    treebank = read(document("77000112", CAT))
    assert treebank.notes.problems == []
    assert treebank.files == {"77000112": "a.conllu"}
    (found,) = treebank.documents["77000112"]
    assert found["number"] == "77000112_1"
    assert [tuple(token.values()) for token in found["tokens"]] == [
        ("Evdeki", "ev", [["Noun"], ["Adj"]], 2, 1, "MODIFIER"),
        ("kedi", "kedi", [["Noun"]], 3, 1, "SUBJECT"),
        ("uyudu", "uyu", [["Verb"]], None, None, "SENTENCE"),
        (".", ".", [["Punc"]], 3, 1, "PUNCT"),
    ]


def test_documents_of_several_files():
    first = document("77000112", "Ali geldi", "Veli gitti") + document("77000113", "Kedi uyudu")
    treebank = read(first, document("77000200", "Son"))
    assert treebank.notes.problems == []
    assert forms(treebank) == {
        "77000112": {"77000112_1": ["Ali", "geldi"], "77000112_2": ["Veli", "gitti"]},
        "77000113": {"77000113_1": ["Kedi", "uyudu"]},
        "77000200": {"77000200_1": ["Son"]},
    }
    assert treebank.files == {
        "77000112": "a.conllu",
        "77000113": "a.conllu",
        "77000200": "b.conllu",
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n\n", "\n\n \t\n\n"),
        lambda text: (
            "# global.columns = ID FORM\n" + text.replace("# sent_id", "# text = x\n#sent_id")
        ),
        # an empty node
        lambda text: text.replace("3\tkedi", "2.1\t_\t_\t_\t_\t_\t_\t_\t3:dep\t_\n3\tkedi"),
        lambda text: decompress(Path("a"), gzip.compress(text.encode())),
    ],
)
def test_what_does_not_matter(change):
    text = document("77000112", CAT, plain("77000112_2", "Ali geldi"))
    one, other = read(change(text)), read(text)
    assert (one.documents, one.files) == (other.documents, other.files)
    assert one.notes.problems == other.notes.problems == []
    assert len(forms(read(text))["77000112"]) == 2


def test_a_form_with_a_blank():
    """UD allows blanks in numbers."""
    treebank = read(document("77000112", sentence("x", "1 10~000 10000 NUM 0 root")))
    assert forms(treebank) == {"77000112": {"x": ["10 000"]}}


GOOD = "1 Ali Ali PROPN 0 root"
TAGS = (
    "NOUN, PROPN, PRON, VERB, AUX, ADJ, ADV, DET, NUM, ADP, CCONJ, SCONJ, PUNCT, INTJ, X, PART, SYM"
)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1\tAli\t_"], ["3: the number of columns is 3 (expected 10, separated by tabs)"]),
        (["2 Ali Ali NOUN 0 root"], ["3: column 1: '2' (expected 1, 0.1 or a range from 1)"]),
        (
            [GOOD, "3 b b NOUN 1 nmod"],
            ["4: column 1: '3' follows word 1 (expected 2, 1.1 or a range from 2)"],
        ),
        (["x Ali Ali NOUN 0 root"], ["3: column 1: 'x' (expected 1, 0.1 or a range from 1)"]),
        (
            [GOOD, multiword("2-2", "b"), "2 b b NOUN 1 nmod"],
            ["4: column 1: '2-2' follows word 1 (expected 2, 1.1 or a range from 2)"],
        ),
        (
            [multiword("1-2", "ab"), GOOD, multiword("2-3", "bc"), "2 b b NOUN 1 nmod"],
            ["5: column 1: '2-3' follows word 1 (expected 2, 1.1 or a range from 2)"],
        ),
        (
            [multiword("1-2", "ab"), GOOD],
            ["5: the sentence ends before word 2, the last of a multiword token"],
        ),
        (
            [row(GOOD).replace("Ali", "", 1)],
            ["3: column 2: the word is empty (expected a word or '_')"],
        ),
        (
            [row(GOOD).replace("Ali", "A\x07", 1)],
            ["3: character 4 is the control character U+0007"],
        ),
        (
            ["1 Ali Ali FOO 0 root"],
            [f"3: column 4: 'FOO' is not a part of speech of UD (expected one of {TAGS})"],
        ),
        (
            ["1 Ali Ali NOUN 2 root"],
            ["3: column 7: '2' is not a word of the sentence (expected 0 to 1)"],
        ),
        (
            ["1 Ali Ali NOUN _ root"],
            ["3: column 7: '_' is not a word of the sentence (expected 0 to 1)"],
        ),
        (["1 Ali Ali NOUN 0 nsubj"], ["3: column 8: 'nsubj' (expected root, since the head is 0)"]),
        (
            [GOOD, "2 b b NOUN 1 root", "3 c c NOUN 1 _"],
            [
                f"{line}: column 8: '{name}' (expected a relation other than root)"
                for line, name in ((4, "root"), (5, "_"))
            ],
        ),
        (
            [GOOD, "2 b b NOUN 3 nmod", "3 c c NOUN 2 nmod"],
            ["4: column 7: the heads of words 2, 3 form a circle"],
        ),
        (
            ["1 Ali Ali FOO 4 root", "1 b b NOUN 1 nmod"],
            [
                f"3: column 4: 'FOO' is not a part of speech of UD (expected one of {TAGS})",
                "3: column 7: '4' is not a word of the sentence (expected 0 to 2)",
                "4: column 1: '1' follows word 1 (expected 2, 1.1 or a range from 2)",
            ],
        ),
    ],
)
def test_wrong_rows(rows, expected):
    assert in_sentence(*rows) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["a.conllu: is empty"]),
        (b"\xff\xfea", ["a.conllu: is UTF-16 text (expected UTF-8)"]),
        (
            b"# x\n\xe7\n",
            ["a.conllu:2: is not UTF-8 from column 1 (byte 0xe7); convert the file to UTF-8"],
        ),
        (
            "\n\n",
            [
                "a.conllu: contains no document (expected '# newdoc id = NAME' before the first sentence)"
            ],
        ),
        (
            plain("x", "Ali") + plain("y", "Veli"),
            ["a.conllu:2: sentence outside a document (expected '# newdoc id = NAME' before it)"],
        ),
        (
            document("", "Ali"),
            ["a.conllu:1: document without a name (expected '# newdoc id = NAME')"],
        ),
        (
            "# newdoc\n" + plain("x", "Ali"),
            ["a.conllu:1: document without a name (expected '# newdoc id = NAME')"],
        ),
        (
            "# newdoc id = 77000112\n" + row(GOOD),
            ["a.conllu:2: sentence without a name (expected '# sent_id = NAME' before it)"],
        ),
        (
            document("7", plain("", "Ali")),
            ["a.conllu:2: sentence without a name (expected '# sent_id = NAME')"],
        ),
        (
            document("7", plain("a\x1bb", "Ali")),
            ["a.conllu:2: the name 'a\\x1bb' contains the control character U+001B"],
        ),
        (
            document("7", plain("x", "Ali"), plain("x", "Veli")),
            ["a.conllu:5: duplicate sentence 'x' (first on line 2)"],
        ),
        (
            document("7", "Ali") + document("8", "Veli").replace("= 8\n", "= 7\n"),
            ["a.conllu:5: duplicate document '7' (first on line 1)"],
        ),
        (
            document("7", "Ali")
            + "# newdoc id = 8\n# newdoc id = 9\n"
            + plain("x", "Veli")
            + "# newdoc id = 10\n",
            [
                "a.conllu:5: document '8' has no sentences",
                "a.conllu:10: document '10' has no sentences",
            ],
        ),
        (document("7", "Ali") + "# sent_id = y\n\n", ["a.conllu:5: sentence 'y' has no words"]),
        (
            document("7", "Ali").rstrip("\n") + "\n" + plain("y", "Veli"),
            ["a.conllu:4: a sentence begins inside a sentence (expected a blank line before it)"],
        ),
        (
            document("7", "Ali").rstrip("\n") + "\n" + document("8", "Veli"),
            ["a.conllu:4: a document begins inside a sentence (expected a blank line before it)"],
        ),
        (
            document("7", "# sent_id = y\n" + plain("x", "Ali")),
            ["a.conllu:2: sentence 'y' has no words"],
        ),
    ],
)
def test_wrong_files(text, expected):
    assert problems(text) == expected


def test_names_in_several_files():
    one = document("7", plain("x", "Ali"))
    assert problems(one, one, document("8", "Veli", "9\t")) == [
        "b.conllu:1: duplicate document '7' (first in a.conllu on line 1)",
        "b.conllu:2: duplicate sentence 'x' (first in a.conllu on line 2)",
        "c.conllu:5: the number of columns is 2 (expected 10, separated by tabs)",
    ]


def test_many_problems_are_not_all_listed():
    found = problems("# newdoc id = 7\n" + "x\n" * 1000)
    assert len(found) == 300


LINES = st.sampled_from(
    [
        "",
        "# newdoc id = 7",
        "# newdoc",
        "# newdoc id = 8",
        *(f"# sent_id = {name}" for name in "abc"),
        multiword("1-2", "Evdeki"),
        multiword("2-3", "x"),
        *map(
            row,
            (
                "1 a a NOUN 0 root",
                "1 a a NOUN 2 obl Case=Dat",
                "2 b _ ADP 1 case",
                "3 c c VERB 2 nmod:poss",
            ),
        ),
        "1.1\t_\t_\t_\t_\t_\t_\t_\t_\t_",
        "x\ty",
    ]
)


@given(st.lists(LINES, max_size=12).map("\n".join) | st.text(max_size=60) | st.binary(max_size=60))
@settings(max_examples=300)
def test_problems_or_sentences(text):
    """Whatever a file contains, it has problems, or sentences with tokens whose heads are tokens."""
    treebank = read(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    sentences = [one for document in treebank.documents.values() for one in document]
    assert treebank.notes.problems or sentences
    for one in sentences:
        tokens = one["tokens"]
        assert tokens
        assert all(token["head"] is None or 1 <= token["head"] <= len(tokens) for token in tokens)
        for token in tokens:
            if token["head"] is not None:
                assert 1 <= token["head_group"] <= len(tokens[token["head"] - 1]["groups"])
