"""Records of the corpus, from treebank, coreference and genres."""

import gzip
from xml.sax.saxutils import escape

import pytest
from shared.marmara_xml import (
    CHAINS,
    MENTIONS,
    SENTENCES,
    messages,
    truncate,
    write_coreference,
    write_corpus,
    write_treebank,
)

from closeread.exceptions import FormatError
from closeread.tasks.marmara.coreference import dump_annotation
from closeread.tasks.marmara.corpus_files import (
    FORMAT,
    GENRES,
    KNOWN_GENRES,
    read_corpus_files,
    read_corpus_folder,
)

FIRST, SECOND, THIRD = SENTENCES
TREEBANK = {"77000112.xml": write_treebank(SENTENCES)}
COREFERENCE = {"77000112.xml": write_coreference(MENTIONS, CHAINS)}


def mention(m_id, number, first, last):
    """A mention of one word or more, with an empty text."""
    return (
        m_id,
        number,
        first,
        last,
        " ".join(form for form, *_ in SENTENCES[number][first - 1 : last]),
    )


def read(folder, coreference, treebank=TREEBANK, genres=None):
    return read_corpus_folder(write_corpus(folder, treebank, coreference, genres))


def check_clean(found):
    assert (found.problems, found.notices) == ([], [])


def test_a_record(tmp_path):
    found = read(tmp_path, COREFERENCE)
    check_clean(found)
    assert list(found.places) == ["coreference/77000112.xml"]
    (record,) = found.records
    assert [one["number"] for one in record.pop("sentences")] == list(SENTENCES)
    # The sentences have 5, 5 and 3 tokens.  The longer of two mentions at a place comes first; chains by first mention.
    assert record == {
        "document": "77000112",
        "genre": None,
        "mentions": [
            {"id": "1", "sentence": FIRST, "from": 1, "to": 3, "start": 0, "end": 2},
            {"id": "0", "sentence": FIRST, "from": 1, "to": 2, "start": 0, "end": 1},
            {"id": "4", "sentence": SECOND, "from": 2, "to": 2, "start": 6, "end": 6},
            {"id": "3", "sentence": SECOND, "from": 3, "to": 3, "start": 7, "end": 7},
            {"id": "7", "sentence": THIRD, "from": 1, "to": 1, "start": 10, "end": 10},
        ],
        "clusters": [[[0, 2], [7, 7]], [[0, 1], [10, 10]]],
        "n_tokens": 13,
    }


def test_without_coreference_there_are_no_mentions(tmp_path):
    found = read(tmp_path, None)
    check_clean(found)
    assert [(one["mentions"], one["clusters"], one["n_tokens"]) for one in found.records] == [
        ([], [], 13)
    ]
    assert list(found.places) == ["treebank/77000112.xml"]


def test_words_with_gaps_in_their_numbers(tmp_path):
    words = zip((1, 3, 4, 6, 9), SENTENCES[FIRST], strict=True)
    elements = [
        f"<W IX='{ix}' IG='[(1,\"söz+Noun\")]' REL='[,( )]'>{escape(form)}</W>"
        for ix, (form, *_) in words
    ]
    treebank = "\n".join([f'<Set><S No="{FIRST}">', *elements, "</S></Set>"])
    mentions = [("0", FIRST, 3, 4, "evindeki kedi"), ("1", FIRST, 6, 9, "uyudu .")]
    coreference = write_coreference(mentions, [["0", "1"]])
    found = read(tmp_path, {"a.xml": coreference}, {"a.xml": treebank})
    assert found.problems == []
    (record,) = found.records
    spans = [(one["from"], one["to"], one["start"], one["end"]) for one in record["mentions"]]
    assert spans == [(3, 4, 1, 2), (6, 9, 3, 4)]
    assert dump_annotation(record) == coreference
    found = read(
        tmp_path / "b",
        {"a.xml": write_coreference([("0", FIRST, 2, 4, "")], [])},
        {"a.xml": treebank},
    )
    assert messages(found.problems) == [
        f"DIR/coreference/a.xml:3: mention '0', sentence '{FIRST}': fromWordIX is 2, but the sentence has no such word"
    ]


def test_errors_that_only_the_treebank_shows(tmp_path):
    mentions = [
        mention("0", FIRST, 1, 2),
        ("1", FIRST, 5, 6, ""),
        ("2", SECOND, 7, 9, ""),
        ("3", "77000112004.1", 1, 1, ""),
        ("4", "x", 1, 1, ""),
    ]
    chains = [["0", "1", "2"], ["3", "4"]]
    wrong = read(tmp_path, {"a.xml": write_coreference(mentions, chains), "b.xml": "<coref>"})
    assert wrong.records == []
    place = "DIR/coreference/a.xml"
    assert messages(wrong.problems) == [
        f"{place}:4: mention '1', sentence '{FIRST}': toWordIX is 6, but the sentence has words 1 to 5",
        f"{place}:5: mention '2', sentence '{SECOND}': fromWordIX is 7, but the sentence has words 1 to 5",
        f"{place}:5: mention '2', sentence '{SECOND}': toWordIX is 9, but the sentence has words 1 to 5",
        f"{place}:6: mention '3', sentence '77000112004.1': the treebank has no such sentence",
        f"{place}:7: mention '4', sentence 'x': the treebank has no such sentence",
        "DIR/coreference/b.xml:1: is not well-formed XML: no element found at column 8",
    ]


def test_errors_of_the_treebank_come_with_those_of_the_coreference(tmp_path):
    found = read(tmp_path, {"a.xml": write_coreference(MENTIONS, [["0"]])}, {"a.xml": ""})
    assert messages(found.problems) == [
        "DIR/treebank/a.xml: is empty",
        "DIR/coreference/a.xml:10: the chain has 1 mention, '0' (expected two or more)",
    ]


def test_a_mention_without_a_sentence_in_a_chain(tmp_path):
    found = read(
        tmp_path,
        {"a.xml": write_coreference([("0", FIRST, 1, 1, ""), ("1", "", 2, 2, "")], [["0", "1"]])},
    )
    assert messages(found.problems) == ["DIR/coreference/a.xml:4: mention '1': has no sentenceNo"]
    assert found.records == []


def test_texts_that_are_not_those_of_the_words_are_noted(tmp_path):
    mentions = [
        ("0", FIRST, 1, 3, "Ayşe’nin_evindeki kedi"),
        ("1", SECOND, 3, 3, "köpeği"),
        ("2", SECOND, 2, 2, ""),
    ]
    found = read(tmp_path, {"a.xml": write_coreference(mentions, [["0", "1"]])})
    assert found.problems == []
    place = "DIR/coreference/a.xml"
    assert messages(found.notices) == [
        f"{place}:4: mention '1', sentence '{SECOND}': the text is 'köpeği', the words are 'kediyi'",
        f"{place}:5: mention '2', sentence '{SECOND}': the text is '', the words are 'O'",
    ]


def test_many_notes_are_cut_with_their_total(tmp_path):
    words = [(f"söz{number}", '[(1,"söz+Noun")]', "[,( )]") for number in range(25)]
    mentions = [(str(number), FIRST, number + 1, number + 1, "laf") for number in range(25)]
    treebank = {"a.xml": write_treebank({FIRST: words}).replace("(1,", "(2,")}
    found = read(tmp_path, {"a.xml": write_coreference(mentions, [["0", "1"]])}, treebank)
    shown = messages(found.notices)
    assert len(shown) == 42
    assert shown[0] == "DIR: 25 notes about the treebank (first 20 shown)"
    assert (
        shown[20]
        == f"DIR/treebank/a.xml:23: sentence '{FIRST}': word 20: IG '[(2,\"söz+Noun\")]' can't be read"
    )
    assert shown[21] == "DIR: 25 notes about the coreference (first 20 shown)"


ONE = write_coreference([mention("0", FIRST, 1, 1), mention("1", SECOND, 2, 2)], [["0", "1"]])
TWO = write_coreference([mention("0", THIRD, 1, 1), mention("1", THIRD, 2, 2)], [["0", "1"]])


def test_two_files_that_follow_each_other_cut_a_document(tmp_path):
    found = read(tmp_path, {"b.xml": ONE, "a.xml": TWO})  # their names say nothing
    assert messages(found.notices) == [
        f"DIR/coreference/a.xml: document '77000112' is cut before sentence '{THIRD}', where this file begins"
    ]
    first, second = found.records
    assert [one["document"] for one in found.records] == ["77000112", "77000112_2"]
    assert list(found.places) == ["coreference/b.xml", "coreference/a.xml"]
    assert [one["number"] for one in first["sentences"]] == [FIRST, SECOND]
    assert [one["number"] for one in second["sentences"]] == [THIRD]
    assert (first["clusters"], second["clusters"]) == ([[[0, 0], [6, 6]]], [[[0, 0], [1, 1]]])
    assert (first["n_tokens"], second["n_tokens"]) == (10, 3)


def test_a_cut_document_pushes_the_numbers_of_later_ones(tmp_path):
    more = {"77000112020.1": SENTENCES[THIRD]}
    treebank = {**TREEBANK, "more.xml": write_treebank(more)}
    third = write_coreference(
        [("0", "77000112020.1", 1, 1, "Orası"), ("1", "77000112020.1", 2, 2, "sıcak")], [["0", "1"]]
    )
    found = read(tmp_path, {"b.xml": ONE, "a.xml": TWO, "c.xml": third}, treebank)
    assert [
        (one["document"], file) for one, file in zip(found.records, found.places, strict=True)
    ] == [
        ("77000112", "coreference/b.xml"),
        ("77000112_2", "coreference/a.xml"),
        ("77000112_3", "coreference/c.xml"),
    ]


@pytest.mark.parametrize("number", [FIRST, SECOND])
def test_files_that_interleave_are_an_error(tmp_path, number):
    two = write_coreference([mention("0", number, 3, 3), mention("1", THIRD, 2, 2)], [["0", "1"]])
    found = read(tmp_path, {"a.xml": ONE, "b.xml": two})
    assert messages(found.problems) == [
        "DIR/coreference/b.xml: its sentences interleave with those of coreference/a.xml, in document '77000112' "
        "(expected one file for each document)"
    ]


def test_a_file_belongs_to_one_document(tmp_path):
    treebank = {**TREEBANK, "more.xml": write_treebank({"66000112001.1": SENTENCES[THIRD]})}
    mentions = [
        mention("0", FIRST, 1, 1),
        ("1", "66000112001.1", 1, 1, "Orası"),
        ("2", "66000112001.1", 2, 2, "sıcak"),
    ]
    found = read(tmp_path, {"a.xml": write_coreference(mentions, [["0", "1"]])}, treebank)
    assert messages(found.problems) == [
        "DIR/coreference/a.xml:4: mention '1', sentence '66000112001.1': is in document '66000112', but the first "
        "mention of the file in '77000112' (expected one document)"
    ]


def test_documents_and_files_without_mentions_are_noted(tmp_path):
    found = read(tmp_path, {"a.xml": write_coreference([], [])})
    assert messages(found.notices) == [
        "DIR/coreference/a.xml: has no mentions, so it belongs to no document",
        "DIR: 1 document without coreference: '77000112'",
    ]
    assert [(one["document"], one["mentions"]) for one in found.records] == [("77000112", [])]


def test_genres_from_a_file(tmp_path):
    found = read(tmp_path, COREFERENCE, genres="document\tgenre\tby\n77000112\tShort Story\tme\n\n")
    check_clean(found)
    assert [one["genre"] for one in found.records] == ["Short Story"]


# Rows after the header, and what is said of them.
GENRE_ERRORS = {
    "77000112": "2: '77000112' has one column (expected document TAB genre)",
    "77000112\tPoem": f"2: genre 'Poem' is not one of {', '.join(map(repr, GENRES))}",
    "77000112\tnovel": f"2: genre 'novel' is not one of {', '.join(map(repr, GENRES))}; did you mean 'Novel'?",
    "77000112\tNovel\n66000112\tNovel": "3: document '66000112' is not in the corpus",
    "77000112\tNovel\n77000112\tEssay": "3: document '77000112' already has a genre on line 2",
}


@pytest.mark.parametrize("rows", GENRE_ERRORS)
def test_errors_of_genres(tmp_path, rows):
    found = read(tmp_path, COREFERENCE, genres=f"document\tgenre\n{rows}\n")
    assert messages(found.problems) == [f"DIR/genres.tsv:{GENRE_ERRORS[rows]}"]


def test_a_file_of_genres_without_header_or_text(tmp_path):
    found = read(tmp_path, COREFERENCE, genres="77000112\tNovel\n")
    expected = r"has no header: '77000112\tNovel' (expected document TAB genre)"
    assert messages(found.problems) == [f"DIR/genres.tsv:1: {expected}"]
    found = read(tmp_path, COREFERENCE, genres="")
    assert messages(found.problems) == ["DIR/genres.tsv: is empty"]


def test_genres_that_are_not_used_or_lack(tmp_path):
    found = read(tmp_path, COREFERENCE, genres="document\tgenre\n77000112_2\tNovel\n")
    assert messages(found.notices) == [
        "DIR/genres.tsv:2: document '77000112_2' is not cut off here, so its genre is not used",
        "DIR/genres.tsv: 1 document without a row: '77000112'",
    ]


def test_genres_that_follow_from_the_printed_sums(tmp_path):
    # Section 1 of the format names them: 9 of News, 2 essays, 2 monographs, 3 articles, 1 each of Travel and Other.
    assert sorted(KNOWN_GENRES.values()) == sorted(
        ["News"] * 9 + ["Essay", "Research Monograph"] * 2 + ["Article"] * 3 + ["Travel", "Other"]
    )
    treebank = {
        f"{name}.xml": write_treebank({f"{name}001.1": SENTENCES[THIRD]})
        for name in ("00220166", "00170166")
    }
    treebank["more.xml"] = write_treebank({"00220166002.1": SENTENCES[THIRD]})
    found = read(tmp_path, None, treebank)
    genres = {one["document"]: one["genre"] for one in found.records}
    assert genres == {"00170166": None, "00220166": "Travel", "00220166_2": "Travel"}


def test_only_the_folders_themselves_are_read(tmp_path):
    folder = write_corpus(
        tmp_path, TREEBANK, {**COREFERENCE, "old/77000112.xml": "<coref>", "link.txt": "x"}
    )
    (folder / "coreference" / "gone.xml").symlink_to("nowhere")
    found = read_corpus_folder(folder)
    assert (found.problems, len(found.records)) == ([], 1)
    assert messages(found.notices) == [
        "DIR/coreference/gone.xml: is ignored: is a symbolic link (expected a file)",
        "DIR/coreference/link.txt: is ignored (expected a name ending in .xml)",
    ]
    files = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*.xml")
        if path.name != "gone.xml"
    }
    assert read_corpus_files(files, "test").records == found.records


def test_folders_that_are_missing_or_empty(tmp_path):
    with pytest.raises(FormatError, match="treebank: can't be read: No such file or directory"):
        read_corpus_folder(tmp_path)
    write_corpus(tmp_path, TREEBANK)
    (tmp_path / "coreference").mkdir(exist_ok=True)
    with pytest.raises(FormatError, match="coreference: contains no files"):
        read_corpus_folder(tmp_path)
    with pytest.raises(
        FormatError,
        match=r"is a file \(expected a folder with the folders treebank and coreference, or records in .jsonl\)",
    ):
        FORMAT.read(tmp_path / "treebank" / "77000112.xml", "test")


def test_gzipped_and_truncated_files(tmp_path):
    treebank = {"a.xml.gz": gzip.compress(TREEBANK["77000112.xml"].encode())}
    coreference = COREFERENCE["77000112.xml"].encode()
    check_clean(read(tmp_path / "whole", {"a.xml.gz": gzip.compress(coreference)}, treebank))
    found = read(tmp_path, {"a.xml.gz": truncate(coreference)}, treebank)
    assert messages(found.problems) == [
        "DIR/coreference/a.xml.gz: is not a valid gzip file: it is truncated"
    ]
