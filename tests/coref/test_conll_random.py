"""The CoNLL reader on random text, at once and in parts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.conll_documents import as_plain_values, document, random_tables

from closeread.exceptions import FormatError
from closeread.tasks.coref.formats import lines
from closeread.tasks.coref.formats.conll import dump_conll, read_conll, read_records

FRAGMENTS = [
    "#begin document (a)\n",
    "#begin document (b); part 1\n",
    "#begin document c\n",
    "#begin document d; part 1\n",
    "# begin document \n",
    "#end document\n",
    "\n",
    "# c\n",
    "\r\n",
    "\ufeff",
]
PIECES = st.sampled_from(
    [
        *"(()))|-_\t \n#01ab;*+",
        " x ",
        "(0)",
        "(0",
        "0)",
        "(a1",
        "a1)",
        "a\t-\n",
        "\t\t",
        "a\t\t-\n",
        "a (1)\n",
        *FRAGMENTS,
        "é",
        "\x85",
        "\x1c",
    ]
)
MESS = st.lists(PIECES, max_size=25).map("".join)
LONG_ID = "person-12-Anna_Ört"
PIECE = st.sampled_from(["(0", "0)", "(1)", "(1", "1)", "(a", "a)", f"({LONG_ID}", f"{LONG_ID})", f"({LONG_ID}s)"])
COLUMNS = ["{0}", "w{0}", "d 0 {0} w{0}", "{0} w{0} l{0}", "1 {0} w{0}", "5 5 w{0} l{0}"]


@st.composite
def likely(draw):
    """Draw a file whose brackets match more often than not: few close what is not open, and all close in the end."""
    drawn = draw(st.lists(st.lists(PIECE, max_size=4), min_size=1, max_size=6))
    still_open, cells = [], []
    for pieces in drawn:
        still_open += [piece[1:] for piece in pieces if piece[0] == "(" and piece[-1] != ")"]
        kept = []
        for piece in pieces:
            if piece[0] == "(" or piece[:-1] in still_open:
                kept.append(piece)
                still_open = still_open if piece[0] == "(" else remove_one(still_open, piece[:-1])
        cells.append(draw(st.sampled_from(["|", "|", ""])).join(kept) or "-")
    cells.append("|".join(f"{label})" for label in still_open) or "-")
    columns = draw(st.sampled_from(COLUMNS))
    rows = [f"{columns.format(i)} {cell}" for i, cell in enumerate(cells)]
    return document(*rows, name=draw(st.sampled_from(["(a)", "(a); part 1", "a", "a; part 1", ""])))


def remove_one(labels, label):
    at = labels.index(label)
    return labels[:at] + labels[at + 1 :]


@st.composite
def mutated(draw):
    """Draw a valid file with a few characters changed."""
    text = dump_conll(draw(random_tables())).replace("\t", draw(st.sampled_from(["\t", " ", "  "])))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 2)) :]
    return text


@given(
    text=MESS | likely() | mutated(),
    many=st.integers(1, 3),
    mark=st.sampled_from(["", "\ufeff"]),
    part=st.integers(1, 40),
)
@example(text=document("a (1", "b 1)(1)", "c 1)|(1"), many=3, mark="\ufeff", part=7)
@example(text=document("a (1(01(1", "b 1)01)", "c 1)"), many=2, mark="", part=30)
@example(text=document(f"a ({'a' * 129}|(1|({'a' * 129})|1)", f"b {'a' * 129})"), many=3, mark="", part=9)
@example(text=document("a -", "b (1"), many=2, mark="", part=1)
@example(text=document("a\x01b -"), many=2, mark="", part=4)
@example(text=document("a -", "\x00 -"), many=2, mark="", part=4)
@example(text="#begin document\na b (1)\n#end document\n", many=3, mark="", part=8)
def test_a_file_read_in_parts_is_that_read_at_once(file, text, many, mark, part):
    texts = (text.replace("begin document (", f"begin document ({i}") for i in range(many))
    file.write_bytes((mark + "".join(texts)).encode("utf-8"))
    expected = read_outcome(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", part)
        assert read_outcome(file) == expected


def read_outcome(file):
    """Return the table of a file as plain values, or its error message."""
    try:
        table = read_conll(file)
    except FormatError as error:
        return str(error)
    columns = (table.document, table.entity, table.start, table.end)
    rank = None if table.rank is None else table.rank.tolist()
    words = [[table.words.digest(i), table.words(i)] for i in range(len(table))] if table.words else None
    lines = read_records(file, "").lines
    return (
        *(as_plain_values(table), [column.tolist() for column in columns], list(table.labels), rank, table.notices),
        *(words, lines, table.unnamed),
    )


@given(text=st.lists(st.text("ab\r", max_size=9), max_size=8).map("\n".join).map(str.encode), part=st.integers(1, 12))
def test_parts_are_whole_lines(text, part):
    found = [line + b"\n" for line in text.split(b"\n")]
    assert b"".join(lines.iterate_lines(text, 0)) == text
    assert list(lines.iterate_lines(text, 0)) == [*found[:-1], *filter(None, [found[-1][:-1]])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", part)
        parts = list(lines.iterate_parts(text, 0, len(text)))
    assert b"".join(data for _, data in parts) == text
    assert all(text[place : place + len(data)] == data for place, data in parts)
    assert all(len(data) <= part or data.count(b"\n") <= 1 for _, data in parts)
    assert all(data.endswith(b"\n") for _, data in parts[:-1])
