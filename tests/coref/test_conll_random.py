"""The CoNLL reader on random text: next to a slow twin, cells at once next to one by one, and any bytes."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.conll_documents import as_plain_values, document, random_tables
from twins import conll as twin

from closeread.errors import FormatError
from closeread.tasks.coref import conll, conll_text
from closeread.tasks.coref.conll import read_conll
from closeread.tasks.coref.conll_cells import read_mentions_at_once
from closeread.tasks.coref.conll_writer import dump_conll

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
    """Draw a valid file with a few characters changed."""
    text = dump_conll(draw(random_tables())).replace("\t", draw(st.sampled_from(["\t", " ", "  "])))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 2)) :]
    return text


@given(text=MESS | LIKELY | mutated(), block=st.sampled_from([1, 5, 64, 10**6]))
@example(text=document("a\t_\t", "b\t_\t(0)"), block=1)
@example(text=document("a -", end="#end document"), block=3)
@example(text=document("a b -", "#c d -"), block=5)
@example(text="#begin\t document (0)\n0\t-\n#end  document\n", block=1)
def test_the_slow_twin_agrees(file, text, block):
    file.write_bytes(text.encode("utf-8"))
    try:
        slow = twin.read_conll(text)
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
            rows = table.document == i
            entity = table.entity[rows] - (table.entity[rows].min() if rows.any() else 0)
            columns = (entity, table.start[rows], table.end[rows])
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
        patch.setattr(
            conll, "read_mentions_at_once", lambda *a: at_once.append(read_mentions_at_once(*a)) or at_once[-1]
        )
        fast = read_outcome(file)
        patch.setattr(conll, "read_mentions_at_once", lambda *a: None)
        slow = read_outcome(file)
    assert fast == slow
    # Invalid files are never read at once; of valid files only those with a very long id are not.
    if isinstance(fast, str):
        assert at_once in ([], [None])
    else:
        assert at_once != [None] or re.search(r"[0-9]{17}", text)


def read_outcome(file):
    """Return the table of a file as plain values, or its error message."""
    try:
        table = read_conll(file)
    except FormatError as error:
        return str(error)
    columns = (table.document, table.entity, table.start, table.end)
    return as_plain_values(table), [column.tolist() for column in columns], list(table.labels)


@given(data=st.binary(max_size=200) | MESS | mutated())
def test_any_bytes_are_a_table_or_a_format_error(file, data):
    file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    try:
        table = read_conll(file)
    except FormatError:
        pass
    else:
        assert len(table.names) == len(table.n_tokens)
