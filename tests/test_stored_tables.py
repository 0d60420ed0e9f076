"""Tables of counts from the columns of a file, and columns that no table was written as."""

import numpy as np
import pyarrow as pa
import pytest

from closeread.counts.stored_tables import StoredColumns, read_table

ROWS = {
    "unit": ["u", "v", "v", "u", "v"],
    "block": [0, 1, 1, 0, 1],
    "gold": [b"1" * 32, b"2" * 32, None, None, None],
    "breakdown": [None, None, "kind", "kind", "side"],
    "part": [None, None, "b", "a", "left"],
    "field:genre": ["news", "letter", "letter", "news", "letter"],
    "count:right": [1.0, 2.0, 2.0, None, 0.5],
    "count:gold": [3.0, 4.0, 4.0, 1.0, 1.0],
}
TYPES = [pa.string(), pa.int64(), pa.binary(32), *[pa.string()] * 3, *[pa.float64()] * 2]
PARTS = {"side": ["left"], "kind": ["a", "b"]}


def store(rows, sizes=(5,), names=None):
    """The columns of a file whose batches have these sizes, the texts of every other one as dictionaries."""
    fields = list(zip(names or rows, TYPES, strict=True))
    chunks = []
    for values, kind in zip(rows.values(), TYPES, strict=True):
        whole, starts = pa.array(values, kind), np.cumsum([0, *sizes[:-1]]).tolist()
        parts = [whole[start : start + size] for start, size in zip(starts, sizes, strict=True)]
        is_text = kind == pa.string()
        chunks.append([part.dictionary_encode() if is_text and i % 2 == 0 else part for i, part in enumerate(parts)])
    return StoredColumns(pa.schema(fields), chunks)


@pytest.mark.parametrize("sizes", [(5,), (1, 1, 3), (3, 0, 2), (0, 5)])
def test_a_table_is_read_from_any_chunks(sizes):
    table = read_table(store(ROWS, sizes), PARTS, {})
    assert (table.units, table.blocks.tolist(), table.names) == (["u", "v"], [0, 1], ("right", "gold"))
    assert (table.values.tolist(), table.digests) == ([[1, 3], [2, 4]], [b"1" * 32, b"2" * 32])
    assert table.fields == {"genre": ["news", "letter"]}
    kind, side = table.breakdowns["kind"], table.breakdowns["side"]
    assert (kind.parts, kind.unit.tolist(), kind.part.tolist()) == (("a", "b"), [1, 0], [1, 0])
    np.testing.assert_array_equal(kind.values, [[2, 4], [np.nan, 1]])
    assert (side.unit.tolist(), side.part.tolist(), side.values.tolist()) == ([1], [0], [[0.5, 1]])


def test_a_table_keeps_nothing_of_the_rows_of_its_breakdowns():
    table = read_table(store(ROWS), PARTS, {})
    assert table.values.base is None
    assert table.blocks.base is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"unit": ["u", "v", "w", "u", "v"]}, "of no unit"),
        ({"part": [None, None, "c", "a", "left"]}, "unknown name"),
        ({"part": [None, None, None, "a", "left"]}, "unknown name"),
        ({"breakdown": [None, "kind", None, "kind", "side"]}, "not after the units"),
        ({"breakdown": [None, None, "kind", "other", "side"]}, "unknown name"),
        ({"breakdown": [None, None, "kind", "", "side"]}, "unknown name"),
        ({"gold": [b"1" * 32, None, None, None, None]}, "no digest"),
        ({"unit": ["u", None, "v", "u", "v"]}, "column unit is not a column of string"),
        ({"field:genre": ["news", "letter", None, "news", "letter"]}, "column field:genre is not"),
        ({"block": [0, 1, 1, None, 1]}, "column block is not a column of int64"),
    ],
)
def test_rows_that_are_not_those_of_a_table(changed, message):
    with pytest.raises(ValueError, match=message):
        read_table(store(ROWS | changed), PARTS, {})


def test_columns_that_are_not_those_of_a_table():
    names = list(ROWS)
    with pytest.raises(ValueError, match="two columns have the same name"):
        read_table(store(ROWS, names=[*names[:-1], "count:right"]), PARTS, {})
    with pytest.raises(ValueError, match="column other is not a column of None"):
        read_table(store(ROWS, names=[*names[:-1], "other"]), PARTS, {})
    with pytest.raises(KeyError, match="block"):
        read_table(store(ROWS, names=["unit", "blocks", *names[2:]]), PARTS, {})
