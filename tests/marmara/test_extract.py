"""`closeread prepare marmara_coref treebank`: from fragments to a file for each document."""

import pytest
from shared.marmara_xml import SENTENCES, put, write_fragment, write_treebank

FIRST, SECOND, THIRD = SENTENCES
FRAGMENTS = {
    "77000112010.xml": write_fragment([SENTENCES[THIRD]]).encode("windows-1254"),
    "77000112003.xml": write_fragment([SENTENCES[FIRST], SENTENCES[SECOND]], "'").encode(
        "windows-1254"
    ),
}
COMMAND = ("prepare", "marmara_coref", "treebank")


@pytest.fixture
def extract(run, here):
    """Writes fragments and extracts them to `OUT`; returns the result of the command."""

    def call(*options, fragments=FRAGMENTS, **files):
        put(here / "in", fragments)
        put(here, files)
        return run(*COMMAND, "in", "-o", "out", *options)

    return call


def check_refused(result, here, *lines, code=1):
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.splitlines() == [f"Error: {lines[0]}", *lines[1:]]
    assert not (here / "out").exists()


def test_documents(extract, here):
    result = extract()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "out: 1 document, 3 sentences, 13 tokens\n"
    assert [path.name for path in (here / "out").iterdir()] == ["77000112.xml"]
    text = (here / "out" / "77000112.xml").read_text("utf-8")
    # The forms of the quotation marks in attributes are the writer's own, but for those that XML needs.
    assert text.replace("&apos;", "'").replace("'[", '"[').replace("]'", ']"') == write_treebank(
        SENTENCES
    ).replace("&quot;", '"').replace("'[", '"[').replace("]'", ']"')


def test_a_document_is_written_as_the_corpus_has_it(extract, here):
    raw = '<Set sentences="9"><S No="1"><W LEM="" IX="1" REL="[,( )]" ORG_IG2=\'[(1,"b")]\' IG="[(1,"\'+Punc")]" '
    raw += "MORPH=' ' ORG_IG1='a>b'>\n'&amp;<\n</W></S></Set>"
    assert extract(fragments={"770001121.xml": raw.encode("utf-8")}).exit_code == 0
    assert (here / "out" / "77000112.xml").read_text("utf-8").splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<Set sentences="1">',
        '<S No="770001121.1">',
        """<W IX="1" LEM="" MORPH=" " IG='[(1,"&apos;+Punc")]' REL="[,( )]" ORG_IG2='[(1,"b")]' ORG_IG1="a&gt;b"> """
        """'&amp;&lt; </W>""",
        "</S>",
        "</Set>",
    ]


def test_split(extract, here):
    result = extract("--split", THIRD, "--split", SECOND)
    assert result.stdout == "out: 3 documents, 3 sentences, 13 tokens\n"
    for name, number in zip(("77000112", "77000112_2", "77000112_3"), SENTENCES, strict=True):
        assert f'<S No="{number}">' in (here / "out" / f"{name}.xml").read_text("utf-8")


def test_a_split_must_be_a_sentence_that_begins_a_second_document(extract, here):
    result = extract("--split", FIRST, "--split", "77000112003.3", "--split", "77000112004.1")
    check_refused(
        result,
        here,
        "in: 3 problems:",
        f"in: sentence '{FIRST}' is the first of document '77000112' (expected one that begins a new document)",
        "in: there is no sentence '77000112003.3' that a document could begin with",
        "in: there is no sentence '77000112004.1' that a document could begin with",
    )


def test_encodings(extract, here):
    fragments = {"770001121.xml": write_fragment([SENTENCES[THIRD]]).encode("utf-16")}
    found = "in/770001121.xml: is UTF-16 text (expected UTF-8 or windows-1254)"
    check_refused(extract(fragments=fragments), here, found)


def test_all_errors_at_once_and_nothing_is_written(extract, here):
    fragments = {
        **FRAGMENTS,
        "77000112004.xml": "",
        "77000112005.xml": '<Set>\n<S No="1"><W IX="1"> a </S></Set>',
        "77000112006.xml": '<Set>\n<S No="1"><W IX="x"> a </W>\n<W> b </W></S></Set>',
        "other.xml": write_fragment([SENTENCES[THIRD]]),
    }
    check_refused(
        extract("--split", "x", fragments=fragments),
        here,
        "in: 6 problems:",
        "in: there is no sentence 'x' that a document could begin with",
        "in/77000112004.xml: is empty",
        "in/77000112005.xml:2: is not well-formed XML: mismatched tag",
        "in/77000112006.xml:2: sentence '77000112006.1': IX 'x' is not a positive integer",
        "in/77000112006.xml:3: sentence '77000112006.1': a word has no IX",
        "in/other.xml: is not the name of a fragment (expected 8 digits of the document and 1 to 4 of the fragment)",
    )


def test_what_is_odd_is_copied_and_noted(extract, here):
    words = "\n".join(f'<W IX="{ix}" IG="?{ix}" REL="[,( )]"> a </W>' for ix in range(1, 23))
    fragments = {"770001121.xml": f'<Set><S No="1">\n{words}</S></Set>', "README": "text"}
    result = extract(fragments=fragments)
    assert result.stdout == "out: 1 document, 1 sentence, 22 tokens\n"
    notes = result.stderr.splitlines()
    assert notes[0] == "note: in: 23 notes about the fragments (first 20 shown)"
    assert (
        notes[2]
        == "note: in/770001121.xml:2: sentence '770001121.1': word 1: IG '?1' can't be read"
    )
    assert len(notes) == 21
    assert 'IG="?22"' in (here / "out" / "77000112.xml").read_text("utf-8")


def test_folders_that_are_missing_empty_or_in_use(run, extract, here):
    assert (
        run(*COMMAND, "in", "-o", "out").stderr
        == "Error: in: can't be read: No such file or directory\n"
    )
    (here / "in").mkdir()
    expected = "Error: in: contains no fragment (expected files ending in .xml)\n"
    assert run(*COMMAND, "in", "-o", "out").stderr == expected
    put(here, {"in/README": "text"})
    assert run(*COMMAND, "in", "-o", "out").stderr == expected
    (here / "in" / "README").unlink()
    put(here, {"out/file": "text"})
    result = extract()
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: out: is not a new or an empty folder; choose another folder\n"
    assert [path.name for path in (here / "out").iterdir()] == ["file"]
    assert (
        run(*COMMAND, "in", "-o", "in").stderr
        == "Error: in is also an input; choose another output folder\n"
    )


def test_sentences_without_words(extract, here):
    fragments = {"770001121.xml": '<Set>\n<S No="1"></S></Set>'}
    check_refused(extract(fragments=fragments), here, "in: contains no words")
