"""CoNLL files: what is read, what is refused and how, and what is written."""

import re

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from closeread.errors import FormatError
from closeread.files import write_text
from closeread.formats.problems import LISTED
from closeread.tasks.coref import conll, conll_text
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.conll import read_conll
from closeread.tasks.coref.conll_cells import mentions_at_once
from closeread.tasks.coref.conll_writer import dump_conll
from closeread.tasks.coref.token_differences import token_differences


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("conll") / "file"


@pytest.fixture
def read(file):
    """Reads text, given as a string or as bytes."""

    def call(text):
        file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return read_conll(file)

    return call


def document(*rows, name="(a)", end="#end document\n"):
    return f"#begin document {name}\n" + "".join(f"{row}\n" for row in rows) + end


def plain(table):
    """All of a table that can be compared, with the mentions of an entity by their place."""
    numbers = range(len(table.names))
    rows = zip(*(c.tolist() for c in (table.document, table.entity, table.start, table.end)), strict=True)
    return {
        "names": list(table.names),
        "n_tokens": table.n_tokens.tolist(),
        "mentions": sorted(rows),
        "words": [list(table.words(i)) for i in numbers] if table.words else None,
    }


CELLS = {
    "-": [],
    "_": [],
    "(2)": [(2, 2)],
    "(0)|(0)": [(2, 2), (2, 2)],
    "(0)(0)": [(2, 2), (2, 2)],
}


@pytest.mark.parametrize(("cell", "spans"), CELLS.items())
def test_a_cell_of_whole_mentions(read, cell, spans):
    table = read(document("x y -", "x y -", f"x y {cell}", "x y -"))
    assert list(zip(table.start.tolist(), table.end.tolist(), strict=True)) == spans


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
        (["(0", "0)|(0", "0)"], [[[0, 1], [1, 2]]]),
        (["(7", "(3", "7)", "3)"], [[[0, 2]], [[1, 3]]]),
        (["(1(3(3", "3)3)", "1)"], [[[0, 2]], [[0, 1], [0, 1]]]),
        (["(007)", "(7)"], [[[0, 0]], [[1, 1]]]),
    ],
)
def test_brackets(read, cells, clusters):
    table = read(document(*(f"a\t{cell}" for cell in cells)))
    assert table[0] == {"document": "a", "clusters": clusters}


def test_what_is_no_token(read):
    table = read(
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
    assert list(table.names) == ["nw/a (1); part 000", "nw/a (1); part 001", "c"]
    assert [list(table.words(i)) for i in range(3)] == [["The", "end"], ["Ä\u3000😀", "#b"], []]
    assert table.n_tokens.tolist() == [2, 2, 0]
    assert list(table.labels) == ["4", "4"]
    assert [table[i]["clusters"] for i in range(3)] == [[[[0, 0]]], [[[0, 1]]], []]
    assert [table.words.line_of(0, i) for i in range(2)] + [table.words.line_of(1, 1)] == [4, 7, 12]
    with pytest.raises(IndexError):
        table.words.line_of(1, 2)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["-", "(1)"], None),
        (["a -", "b (1)"], ["a", "b"]),
        (["n a -", "n b (1)"], ["a", "b"]),
        (["n 0 a -", "n 0 b (1)"], ["a", "b"]),
        (["n 0 0 a -", "n 0 1 b (1)"], ["a", "b"]),
        (["n 0 0 a x -", "n 0 1 b y (1)"], ["a", "b"]),
        (["n 0 0 a x y", "n 0 1 b y (1)"], None),
    ],
)
def test_where_the_word_stands(read, rows, words):
    if words is None and len(rows[0].split()) > 1:
        with pytest.raises(FormatError, match="'y' is no mention cell"):
            read(document(*rows))
    else:
        table = read(document(*rows))
        assert (list(table.words(0)) if table.words else None) == words


def test_a_last_cell_may_be_empty(read):
    """So in LitBank: a row without a mention ends in a tab."""
    table = read(document("n\t0\t0\ta\t_\t", "n\t0\t1\tb\tx\t(0)\t", "n\t0\t2\tc\t(9)\t", "n\t0\t3\td\t_\t-"))
    assert table[0]["clusters"] == [[[1, 1]]]
    assert list(table.words(0)) == ["a", "b", "c", "d"]
    # Where all rows end in a tab, none says that a cell is missing.
    assert read(document("n\ta\t-\t", "n\tb\t(1)\t"))[0]["clusters"] == [[[1, 1]]]


def test_one_empty_document_is_a_file(read):
    table = read(document())
    assert (len(table), table.n_tokens.tolist(), len(table.start), table.n_entities) == (1, [0], 0, 0)


@pytest.mark.parametrize(
    "text", ["\ufeff" + document("a (1)"), document("a (1)", end="#end document"), document("a (1)")]
)
def test_the_ends_of_a_file(read, text):
    assert read(text)[0]["clusters"] == [[[0, 0]]]


CONLL_IDS = "needed: '-', '(ID)', '(ID' or 'ID)', several by '|'"
NEEDED_NAME = "names no document; needed: '#begin document (NAME)' or '#begin document (NAME); part PART'"
BROKEN = {
    "": ["is empty"],
    "\ufeff": ["is empty"],
    "\n": ["holds no document; needed: '#begin document (NAME)' before its first token"],
    "# a\n": ["holds no document; needed: '#begin document (NAME)' before its first token"],
    "a\0": ["is a binary file: it contains NUL bytes (expected UTF-8 text)"],
    b"\xff\xfea": ["is UTF-16 text (expected UTF-8)"],
    b"#begin document (\xe9)\n#end document\n\xff\n": [
        "1: byte 18 (0xe9) is not valid UTF-8",
        "3: byte 1 (0xff) is not valid UTF-8",
    ],
    document("a\x0b -", "b\r -", "c\x7f -"): [
        "2: character 2 is the control character U+000B",
        "3: character 2 is the control character U+000D",
        "4: character 2 is the control character U+007F",
    ],
    "a -\nb -\n": ["1: a token stands outside a document; needed: '#begin document (NAME)' before"],
    "x -\n# a\ny -\n" + document("a -") + "\nb -\n\nc -\n#end document\n" + document("d -", name="(d)"): [
        "1: a token stands outside a document; needed: '#begin document (NAME)' before",
        "8: a token stands outside a document; needed: '#begin document (NAME)' before",
        "11: '#end document', but no document has begun",
    ],
    document("a 0)"): ["2: column 2: entity 0 closes but is not open"],
    document("a (0)|0)"): ["2: column 2: entity 0 closes but is not open"],
    document("n 0 0 a -", "n 0 1 b (12", "n 0 2 c (12"): [
        "3: column 5: entity 12 opens but never closes",
        "4: column 5: entity 12 opens but never closes",
    ],
    document("a (0") + document("a 0)", name="(b)"): [
        "2: column 2: entity 0 opens but never closes",
        "5: column 2: entity 0 closes but is not open",
    ],
    **{
        document(f"a {cell}"): [f"2: column 2: '{cell}' is no mention cell; {CONLL_IDS}"]
        for cell in [
            "x",
            "*",
            "--",
            "0",
            "()",
            "(",
            ")",
            "(a)",
            "(0|",
            "|(0)",
            "(0)||(1)",
            "(0))",
            "((0)",
            "(-1)",
            "(٣)",
        ]
    },
    document("a -", "b", "c d e -"): [
        "3: the number of columns is 1; needed: 2, as in the other rows of the document",
        "4: the number of columns is 4; needed: 2, as in the other rows of the document",
    ],
    document("a\tb\t-", "b\t", "c\td\t"): [
        "3: the number of columns is 1; needed: 3, as in the other rows of the document",
    ],
    document("a -") + document("b -"): ["4: document 'a' stands on line 1 already; needed: one of a name"],
    document("a -", end="") + document("b -", name="(b)"): [
        "3: a document begins, but 'a' of line 1 has not ended; needed: '#end document' between them"
    ],
    document("a -", end=""): ["1: document 'a' never ends; needed: '#end document' after it"],
    "#end document\n": ["1: '#end document', but no document has begun"],
    document("a -", name="a"): [f"1: '#begin document a' {NEEDED_NAME}"],
    document("a -", name="()"): [f"1: '#begin document ()' {NEEDED_NAME}"],
    document("a -", name="(a) part 1"): [f"1: '#begin document (a) part 1' {NEEDED_NAME}"],
    document("a -", name="(\x85)"): [r"1: the name '\x85' holds the control character U+0085"],
}


@pytest.mark.parametrize(("text", "problems"), BROKEN.items())
def test_broken_files(read, file, text, problems):
    with pytest.raises(FormatError) as caught:
        read(text)
    found = [p.what if p.line is None else f"{p.line}: {p.what}" for p in caught.value.problems]
    assert found == problems
    assert str(caught.value).startswith(f"{file}:")


def test_a_hopeless_file_is_refused_in_a_few_words(read, monkeypatch):
    rows = [*("a b" for _ in range(50 * LISTED)), "(1 (1"]
    for text in (document(*rows), document("x -", *("a b c" for _ in rows)), "a\x01b\n" * (2 * LISTED)):
        with pytest.raises(FormatError) as caught:
            read(text)
        assert len(caught.value.problems) == LISTED + 1
        found = re.fullmatch(r"has ([0-9,]+) problems or more; 300 of them are named", caught.value.problems[0].what)
        assert int(found[1].replace(",", "")) > LISTED


def test_a_line_has_a_limit(read, monkeypatch):
    monkeypatch.setattr(conll_text, "MAX_LINE_BYTES", 20)
    monkeypatch.setattr(conll_text, "BLOCK", 8)
    with pytest.raises(FormatError, match=r":2: line is too long: 22 bytes (limit: 20)$"):
        read(f"# a\n{'b' * 21}\n")


NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8) | st.sampled_from(
    ["a; part 000", "(a); part 1", "a); part b)", "#", "a;", ")", "; part 0", " a "]
)
WORD = st.text(st.sampled_from("a#_-()|é\x85\u2028😀\u3000\ufeff"), min_size=1, max_size=4)


@st.composite
def tables(draw, *, with_words=True):
    """Tables whose mentions a CoNLL file can express."""
    names = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    documents, n_tokens = [], []
    for _ in names:
        n = draw(st.integers(1, 8))
        span = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).map(sorted)
        clusters = []
        for mentions in draw(st.lists(st.lists(span, min_size=1, max_size=5), max_size=4)):
            kept = []
            for start, end in sorted(mentions, key=lambda m: (m[0], -m[1])):
                if not any(s < start < e < end for s, e in kept):
                    kept.append([start, end])
            clusters.append(kept)
        # As they open: by the first mention, the longer first, single tokens last.
        documents.append(sorted(clusters, key=lambda c: (c[0][0], -c[0][1])))
        n_tokens.append(n)
    words = [draw(st.lists(WORD, min_size=n, max_size=n)) for n in n_tokens]
    table = mention_table(names, documents)
    return MentionTable(
        **{**vars(table), "n_tokens": np.array(n_tokens), "words": Words(words) if with_words else None}
    )


class Words:
    """Words that are in no file."""

    def __init__(self, words):
        self.words = words

    def __call__(self, document):
        return self.words[document]

    def packed(self, document):
        return "".join(f"{word}\n" for word in self.words[document]).encode()

    def line_of(self, document, token):
        return 100 * (document + 1) + token


@given(table=tables(), block=st.sampled_from([1, 7, 40, 1000]))
def test_round_trip(file, table, block):
    write_text(file, dump_conll(table))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll_text, "BLOCK", block)
        again = read_conll(file)
        assert plain(again) == plain(table)
        assert [again[i] for i in range(len(again))] == [table[i] for i in range(len(table))]
        assert token_differences(table, again) == []
    assert dump_conll(again) == dump_conll(table)


def test_ids_are_written_back(read):
    text = "#begin document (a); part 3\na\t3\t0\tx\t(12\na\t3\t1\ty\t12)|(07)\n\n#end document\n"
    assert dump_conll(read(text)) == text


def test_what_is_written_without_words(read):
    table = MentionTable(**{**vars(mention_table(["a b"], [[[[0, 1]], [[1, 1]]]])), "n_tokens": np.array([3])})
    rows = ["a_b\t0\t0\t_\t(0", "a_b\t0\t1\t_\t0)|(1)", "a_b\t0\t2\t_\t-", ""]
    assert dump_conll(table) == document(*rows, name="(a b)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_tokens": None}, "a CoNLL file has a row for every token, and the number of tokens is not known"),
        ({"parts": {0: ((0, 0), (2, 2))}}, "a CoNLL file can't express mentions of several parts"),
        ({"names": ["a\n"]}, r"document 'a\n': a CoNLL file can't express this name"),
        ({"names": [""]}, "document '': a CoNLL file can't express this name"),
        ({"words": Words([["a", "b c", "d", "e"]])}, "document 'a': a CoNLL file can't express the word 'b c'"),
        ({"words": Words([["a", "", "d", "e"]])}, "document 'a': a CoNLL file can't express the word ''"),
        (
            {"end": np.array([2, 3])},
            "document 'a': a CoNLL file can't express two mentions of one entity that cross, "
            "the second on tokens 1 to 3",
        ),
    ],
)
def test_what_can_not_be_written(change, message):
    table = {**vars(mention_table(["a"], [[[[0, 2], [1, 2]]]])), "n_tokens": np.array([4])}
    assert dump_conll(MentionTable(**table))
    with pytest.raises(ValueError, match=re.escape(message)):
        dump_conll(MentionTable(**{**table, **change}))


def slow_read(text):
    """The obvious reader: (name, words, mentions by place) of every document; ValueError for anything odd."""
    lines = text.removeprefix("\ufeff").split("\n")
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)", text):
        raise ValueError
    documents, current = [], None
    for line in lines:
        line = line.removesuffix("\r")
        marker = re.match(r"#[ \t]*(begin|end)[ \t]+document\b", line, re.ASCII)
        if marker and marker[1] == "begin":
            name = re.fullmatch(
                r"#[ \t]*begin[ \t]+document[ \t]*\((.+)\)[ \t]*(;[ \t]*(part[ \t]+([^ \t()]+)[ \t]*)?)?",
                line.rstrip(" \t"),
            )
            if current is not None or re.search(r"[\t\x80-\x9f]", name[1] + (name[4] or "")):
                raise ValueError
            current = (name[1] + (f"; part {name[4]}" if name[4] else ""), [])
        elif marker:
            documents.append((current[0], *slow_document(current[1])))
            current = None
        elif line.strip(" \t") and not line.startswith("#"):
            current[1].append(line)
    if current is not None or not documents or len({d[0] for d in documents}) < len(documents):
        raise ValueError
    return documents


def slow_document(rows):
    cells = [re.split(r"[ \t]+", row.strip(" \t")) for row in rows]
    firm = [len(c) for c, row in zip(cells, rows, strict=True) if not row.endswith("\t")]
    width = firm[0] if firm else len(cells[0]) if cells else 0
    words, mentions, stacks, numbers = [], [], {}, {}
    for token, (row, columns) in enumerate(zip(rows, cells, strict=True)):
        if row.endswith("\t") and len(columns) == width - 1:
            columns = [*columns, "-"]
        if len(columns) != width:
            raise ValueError
        words.append(columns[3 if width >= 5 else -2] if width > 1 else None)
        if columns[-1] in "-_":
            continue
        if not re.fullmatch(r"\|(\([0-9]+\)?|[0-9]+\))(\|?(\([0-9]+\)?|[0-9]+\)))*", "|" + columns[-1]):
            raise ValueError
        for opens, name, closes in re.findall(r"(\()?([0-9]+)(\))?", columns[-1]):
            if opens:
                numbers.setdefault(name, len(numbers))
                mentions.append([numbers[name], token, None])
                stacks.setdefault(name, []).append(mentions[-1])
            if closes:
                stacks[name].pop()[2] = token
    if any(stacks.values()):
        raise ValueError
    return words, sorted(map(tuple, mentions))


FRAGMENTS = [
    "#begin document (a)\n",
    "#begin document (b); part 1\n",
    "#end document\n",
    "\n",
    "# c\n",
    "\r\n",
    "\ufeff",
]
PIECES = st.sampled_from(
    [*"(()))|-_\t \n#01ab", " x ", "(0)", "(0", "0)", "a\t-\n", "a (1)\n", *FRAGMENTS, "\x85", "\x1c"]
)
MESS = st.lists(PIECES, max_size=25).map("".join)
ROW = st.lists(st.sampled_from(["-", "_", "(0", "0)", "(1)", "(1", "1)", "(0)1)"]), min_size=1, max_size=6)
LIKELY = ROW.map(lambda cells: document(*(f"w{i}\t{cell}" for i, cell in enumerate(cells))))


@st.composite
def mutated(draw):
    """A right file with a few characters changed."""
    text = dump_conll(draw(tables())).replace("\t", draw(st.sampled_from(["\t", " ", "  "])))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 2)) :]
    return text


@given(text=MESS | LIKELY | mutated(), block=st.sampled_from([1, 5, 64, 10**6]))
@example(text=document("a\t_\t", "b\t_\t(0)"), block=1)
@example(text=document("a -", end="#end document"), block=3)
@example(text="#begin\t document (0)\n0\t-\n#end  document\n", block=1)
def test_the_slow_twin_agrees(file, text, block):
    file.write_bytes(text.encode("utf-8"))
    try:
        slow = slow_read(text)
    except (ValueError, TypeError, KeyError, IndexError):
        slow = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll_text, "BLOCK", block)
        if slow is None:
            with pytest.raises(FormatError):
                read_conll(file)
            return
        table = read_conll(file)
        assert list(table.names) == [name for name, _, _ in slow]
        for i, (_, words, mentions) in enumerate(slow):
            assert (list(table.words(i)) if table.words else []) == [word for word in words if word is not None]
            chosen = table.document == i
            entity = table.entity[chosen] - (table.entity[chosen].min() if chosen.any() else 0)
            columns = (entity, table.start[chosen], table.end[chosen])
            assert sorted(zip(*(c.tolist() for c in columns), strict=True)) == mentions


@given(text=LIKELY | mutated(), many=st.booleans())
@example(text=document("a (1(01(1", "b 1)01)", "c 1)"), many=False)
@example(text=document("a (12345678901234567", "b 12345678901234567)"), many=False)
def test_cells_read_at_once_are_those_read_one_by_one(file, text, many):
    if many:
        text += text.replace("begin document (", "begin document (other")
    file.write_bytes(text.encode("utf-8"))
    at_once = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "mentions_at_once", lambda *a: at_once.append(mentions_at_once(*a)) or at_once[-1])
        fast = outcome(file)
        patch.setattr(conll, "mentions_at_once", lambda *a: None)
        slow = outcome(file)
    assert fast == slow
    # What is refused was never read at once, and what is read has no reason to be slow but the length of an id.
    if isinstance(fast, str):
        assert at_once in ([], [None])
    else:
        assert at_once != [None] or re.search(r"[0-9]{17}", text)


def outcome(file):
    """What a file is read as, or what is said of it."""
    try:
        table = read_conll(file)
    except FormatError as error:
        return str(error)
    columns = (table.document, table.entity, table.start, table.end)
    return plain(table), [column.tolist() for column in columns], list(table.labels)


@given(data=st.binary(max_size=200) | st.sampled_from([*BROKEN]))
def test_any_bytes_are_a_table_or_a_format_error(file, data):
    file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    try:
        table = read_conll(file)
    except FormatError:
        pass
    else:
        assert len(table.names) == len(table.n_tokens)


def test_tokens_that_differ(read):
    key = read(document("n 0 0 a -", "n 0 1 b -") + document("c -", name="(b)") + document("x -", name="(only key)"))
    same = read(document("z -", name="(only response)") + document("c -", name="(b)") + document("a -", "b (1)"))
    assert token_differences(key, same) == []
    other = read(document("a -", "", "B -", "c -") + document("-", name="(b)"))
    assert [(problem.what, problem.line) for problem in token_differences(key, other)] == [
        ("token 1 of document 'a' is 'B'; in the key (line 3) it is 'b'", 4),
        ("document 'a' has 3 tokens; in the key it has 2", 4),
    ]
    fewer = read(document("a -"))
    assert [(problem.what, problem.line) for problem in token_differences(key, fewer)] == [
        ("document 'a' has 1 tokens; in the key it has 2", None)
    ]
    without_words = read(document("-", "-", "-"))
    assert [(problem.what, problem.line) for problem in token_differences(key, without_words)] == [
        ("document 'a' has 3 tokens; in the key it has 2", None)
    ]
    assert token_differences(key, mention_table(["a"], [[]])) == []
    assert token_differences(key, read(document("_ -", "_ (0)"))) == []


@given(table=tables(), at=st.integers(0, 7))
def test_one_changed_word_is_found(file, table, at):
    words = [list(table.words(i)) for i in range(len(table))]
    place = at % len(words[-1])
    assume(any(set(word) != {"_"} for word in words[-1]))  # that would say that no word is known
    words[-1][place] += "x"
    write_text(file, dump_conll(MentionTable(**{**vars(table), "words": Words(words)})))
    found = token_differences(table, read_conll(file))
    assert [problem.what.split(" of document ")[0] for problem in found] == [f"token {place}"]
    assert file.read_text("utf-8").split("\n")[found[0].line - 1].split("\t")[3] == words[-1][place]
