"""Reading CoNLL files: brackets, words, markers, and the messages for invalid files."""

import pytest
from shared.conll_documents import ONTONOTES, ONTONOTES_CLUSTERS, document

from closeread import limits
from closeread.exceptions import FormatError


def words_of(documents):
    """The words of each document."""
    return [list(document.words.read()) for document in documents.documents]


CELLS = {"-": [], "_": [], "(2)": [(2, 2)], "(0)|(0)": [(2, 2), (2, 2)], "(0)(0)": [(2, 2), (2, 2)]}


@pytest.mark.parametrize(("cell", "spans"), CELLS.items())
def test_a_cell_of_whole_mentions(read, cell, spans):
    (read_document,) = read(document("x y -", "x y -", f"x y {cell}", "x y -")).documents
    assert [(mention.start, mention.end) for mention in read_document.mentions] == spans


@pytest.mark.parametrize(
    ("cells", "clusters"),
    [
        (["(0", "0)"], [[[0, 1]]]),
        (["(0|(1", "0)", "1)"], [[[0, 1]], [[0, 2]]]),
        (["(0(1", "0)1)"], [[[0, 1]], [[0, 1]]]),
        (["(0(0", "0)", "0)"], [[[0, 2], [0, 1]]]),
        (["(0", "(0", "0)|0)"], [[[0, 2], [1, 2]]]),
        (["(0", "(0)0)"], [[[0, 1], [1, 1]]]),
        (["(0", "0)(0)"], [[[0, 1], [1, 1]]]),
        # The reference scorer, coval and corefud-scorer open before they close.
        (["(0", "0)|(0", "0)"], [[[0, 2], [1, 1]]]),
        (["(0", "0)(0", "0)"], [[[0, 2], [1, 1]]]),
        (["0)|(0"], [[[0, 0]]]),
        (["(0|0)"], [[[0, 0]]]),
        (["(0", "0)|(0|0)"], [[[0, 1], [1, 1]]]),
        (["(0|(0", "0)|(0", "0)|0)"], [[[0, 2], [0, 2], [1, 1]]]),
        (["(0", "0)|(1", "1)"], [[[0, 1]], [[1, 2]]]),
        (["(abc12|(3", "3)abc12)"], [[[0, 1]], [[0, 1]]]),
        (["(place-1-York%2C_Ö(place-2", "-", "place-2)place-1-York%2C_Ö)"], [[[0, 2]], [[0, 2]]]),
        (["(aÀ(b一", "aÀ)b一)"], [[[0, 1]], [[0, 1]]]),  # with a byte 0x80, the lowest beyond ASCII
        (["(e12345678)", "(e123456789", "(e12345679)|e123456789)"], [[[0, 0]], [[1, 2]], [[2, 2]]]),
        (["(7", "(3", "7)", "3)"], [[[0, 2]], [[1, 3]]]),
        (["(1(3(3", "3)3)", "1)"], [[[0, 2]], [[0, 1], [0, 1]]]),
        (["(007)", "(7)"], [[[0, 0]], [[1, 1]]]),
    ],
)
def test_brackets(read, cells, clusters):
    documents = read(document(*(f"a\t{cell}" for cell in cells)))
    assert list(documents) == [{"document": "a", "clusters": clusters}]


def test_comments_markers_and_blank_lines(read):
    documents = read(
        "# before\n"
        "#begin document (nw/a (1)); part 000\n"
        "\n"
        "n 0 0 The (4)\n"
        "  \t \n"
        "# between\n"
        "n 0 0 end -\n"
        "#end document\n"
        "\n"
        "#begin document (nw/a (1)); part 001\r\n"
        "n   0 \t 0   Ä\u3000😀   (4\r\n"
        "n   0 \t 1   #b   4)  \r\n"
        "#end document\r\n"
        "# begin document (c);\n"
        "# end document\n"
    )
    assert list(documents.names) == ["nw/a (1); part 000", "nw/a (1); part 001", "c"]
    assert words_of(documents) == [["The", "end"], ["Ä\u3000😀", "#b"], []]
    assert [document.n_tokens for document in documents.documents] == [2, 2, 0]
    assert [record["clusters"] for record in documents] == [[[[0, 0]]], [[[0, 1]]], []]
    first, second, third = documents.documents
    assert [
        [entity.label for entity in document.entities] for document in (first, second, third)
    ] == [["4"], ["4"], []]
    assert [first.line_of(0), first.line_of(1), second.line_of(1)] == [4, 7, 12]
    with pytest.raises(IndexError):
        second.line_of(2)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["-", "(1)"], []),
        (["a -", "b (1)"], ["a", "b"]),
        (["n a -", "n b (1)"], ["a", "b"]),
        (["n 0 a -", "n 0 b (1)"], ["a", "b"]),
        (["n 0 0 a -", "n 0 1 b (1)"], ["a", "b"]),
        (["n 0 0 a x -", "n 0 1 b y (1)"], ["a", "b"]),
        (["1 a x -", "2 b y (1)"], ["a", "b"]),
        (["1 a x N -", "2 b y N (1)"], ["a", "b"]),
        (["12 0 0 a x -", "12 0 1 b y (1)"], ["a", "b"]),
        (["n 0 0 a x y", "n 0 1 b y (1)"], []),
    ],
)
def test_the_column_of_the_word(read, rows, words):
    if not words and len(rows[0].split()) > 1:
        with pytest.raises(FormatError, match="'y' is not a valid mention cell"):
            read(document(*rows))
    else:
        assert words_of(read(document(*rows))) == [words]


SEMEVAL = """\
#begin document news/17.xml
1\t1984\t1984\t1984\tNum\tNum\tn=s\tn=s\t2\t2\tSUBJ\tSUBJ\t_\t_\t_\t_\t(7|(8)
2\tfell\tfall\tfall\tV\tV\t_\t_\t0\t0\tROOT\tROOT\t_\t_\tfall.01\t_\t7)
\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t
1\tIt\tit\tit\tP\tP\tn=s\tn=s\t2\t2\tSUBJ\tSUBJ\t_\t_\t_\t_\t(8)
#end document news/17.xml
"""


def test_semeval_2010(read):
    documents = read(SEMEVAL)
    assert list(documents) == [
        {"document": "news/17.xml", "clusters": [[[0, 1]], [[0, 0], [2, 2]]]}
    ]
    assert words_of(documents) == [["1984", "fell", "It"]]


def test_the_word_column_can_be_given(file, read):
    words = [words_of(read(SEMEVAL, column)) for column in (2, 3, 16)]
    assert words == [[["1984", "fell", "It"]], [["1984", "fall", "it"]], [["_", "_", "_"]]]
    text = SEMEVAL + document("n 0 0 x (1)", name="(b)") + document(name="(c)")
    has = "columns, and the last contains the mentions"
    with pytest.raises(FormatError) as caught:
        read(text, 17)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (1, f"the word column is 17, but the document has 17 {has} (expected 1 to 16)"),
        (7, f"the word column is 17, but the document has 5 {has} (expected 1 to 4)"),
    ]
    with pytest.raises(
        FormatError, match=r":7: the word column is 5, but the document has 5 columns"
    ):
        read(text, 5)
    with pytest.raises(
        FormatError, match=r"has 1 column, and the last contains the mentions \(expected auto\)"
    ):
        read(document("-"), 1)


@pytest.mark.parametrize(
    ("begin", "name"),
    [
        ("#begin document (a); ", "a"),
        ("#begin document (a);", "a"),
        ("#begin document a", "a"),
        ("#begin document a;", "a"),
        ("# begin document nw/a-1.xml ", "nw/a-1.xml"),
        ("#begin document nw/a; part 001", "nw/a; part 001"),
        ("#begin document a (b)", "a (b)"),
        ("#begin document a;b", "a;b"),
        ("#begin document", "1"),
        ("# begin document ", "1"),
    ],
)
def test_names_of_documents(read, begin, name):
    (read_document,) = read(f"{begin}\na (1)\n#end document\n").documents
    assert (read_document.name, read_document.is_named) == (name, name != "1")


def test_documents_without_names_are_numbered(read):
    """So in OntoGUM, of which every file has one document without a name."""
    documents = read(
        "# begin document \n0\ta\t(1)\n# end document\n" * 2
        + document("a -")
        + document("b -", name="")
    )
    assert [(document.name, document.is_named) for document in documents.documents] == [
        ("1", False),
        ("2", False),
        ("a", True),
        ("4", False),
    ]
    assert documents.count_unnamed() == 3


def test_brackets_that_close_first_are_noted(read):
    cells = ["(1|(2", "1)|(1|2)|(2)", "1)|(1", "1)"]
    documents = read(document(*(f"a\t{cell}" for cell in cells)))
    assert documents[0]["clusters"] == [[[0, 3], [1, 1], [2, 2]], [[0, 1], [1, 1]]]
    where = "an entity closes and opens again in 2 cells"
    how = "what opens is read before what closes, as the reference scorer does"
    assert documents.notices == [f"{where}; {how} (first: '1)|(1|2)|(2)' on line 3)"]
    assert read(document("a (1", "b 1)|(1)|(2", "c 2)")).notices == []


def test_a_last_cell_may_be_empty(read):
    """So in LitBank: a row without a mention ends in a tab."""
    documents = read(
        document("n\t0\t0\ta\t_\t", "n\t0\t1\tb\tx\t(0)\t", "n\t0\t2\tc\t(9)\t", "n\t0\t3\td\t_\t-")
    )
    assert documents[0]["clusters"] == [[[1, 1]]]
    assert words_of(documents) == [["a", "b", "c", "d"]]
    # Where all rows end in a tab, none says that a cell is missing.
    assert read(document("n\ta\t-\t", "n\tb\t(1)\t"))[0]["clusters"] == [[[1, 1]]]


@pytest.mark.parametrize("others", [["0\ta\t(1", "2\tb\t1)"], ["0 a (1", "2  \t\tb\t 1)"]])
@pytest.mark.parametrize("end", ["", "\r"])
def test_a_word_may_be_empty(read, others, end):
    """So in OntoGUM, whose columns are separated by tabs."""
    first, last = others
    documents = read(document(*(row + end for row in [first, "1\t\t(2)", last, "3\t\t_", "4\t\t"])))
    assert documents[0]["clusters"] == [[[0, 2]], [[1, 1]]]
    assert words_of(documents) == [["a", "", "b", "", ""]]
    assert documents.documents[0].n_tokens == 5
    # The first row does not say how many columns there are if one may be empty.
    assert words_of(read(document("0\t\t_", "1\tb\t(1)"))) == [["", "b"]]


def test_digests_tell_empty_words_from_blanks(read):
    empty_first, empty_last = document("a\t-", "\t-", "b\t\t-"), document("a\t\t-", "b\t-", "\t-")
    one, other = (read(text).documents[0].words for text in (empty_first, empty_last))
    assert [list(one.read()), list(other.read())] == [["a", "", "b"], ["a", "b", ""]]
    assert one.digest != other.digest


def test_one_empty_document_is_a_file(read):
    (read_document,) = read(document()).documents
    assert (read_document.n_tokens, list(read_document.entities)) == (0, [])


@pytest.mark.parametrize(
    "text",
    ["\ufeff" + document("a (1)"), document("a (1)", end="#end document"), document("a (1)")],
)
def test_the_ends_of_a_file(read, text):
    assert read(text)[0]["clusters"] == [[[0, 0]]]


def test_reading_stops_after_many_problems(read, monkeypatch):
    rows = [*("a b" for _ in range(50 * limits.MAX_PROBLEMS)), "(1 (1"]
    for text in (
        document(*rows),
        document("x -", *("a b c" for _ in rows)),
        "a\x01b\n" * (2 * limits.MAX_PROBLEMS),
    ):
        with pytest.raises(FormatError) as caught:
            read(text)
        assert len(caught.value.problems) <= limits.MAX_PROBLEMS + 1
        assert sum(problem.times for problem in caught.value.problems) > limits.MAX_PROBLEMS


def test_a_line_has_a_limit(read, monkeypatch):
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 20)
    with pytest.raises(FormatError, match=r":2: line is too long: 21 bytes \(limit: 20\)$"):
        read(f"# a\n{'b' * 21}\n")


def test_a_column_for_each_predicate_of_the_sentence(read):
    documents = read(ONTONOTES)
    assert {record["document"]: record["clusters"] for record in documents} == ONTONOTES_CLUSTERS
    assert words_of(documents) == [
        ["The", "ferry", "left", "and", "sank", "Quiet", "It", "was"],
        ["She", "saw"],
    ]
    assert [documents.documents[0].line_of(token) for token in (4, 5, 6)] == [6, 8, 10]
    assert not documents.notices


def test_rows_that_begin_with_a_hash(read):
    row = "#wow 0 {} w{} {}"
    rows = [row.format(0, 0, "(1)"), row.format(1, 1, "-"), "# a comment", row.format(2, 2, "(1)")]
    wider = "#wow 0 0 w3 x (1)"
    (found,) = read(document(*rows, "", wider, name="(#wow); part 000"))
    assert found["clusters"] == [[[0, 0], [2, 2], [3, 3]]]
    assert list(read(document("x (0)", "# (0)", "# one two"))[0]["clusters"]) == [[[0, 0], [1, 1]]]
    assert list(read(document("# (0)"))[0]["clusters"]) == [[[0, 0]]]
    assert words_of(read(document("# wow (0", "# end 0)", name="(#)"))) == [["wow", "end"]]
