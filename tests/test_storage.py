"""Stored counts: all that is written is read back, what was changed is refused, and other columns are one error."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.random_systems import DRAWN, FROM_FILES, draw_table

from closeread.counts import storage
from closeread.counts.counted import Counted, Provenance, merge_counts
from closeread.counts.storage import read_any_counts, write_counts
from closeread.exceptions import FormatError, RequestError
from closeread.tasks import load_procedure


def keep(path, table, procedure, options, **changes):
    """Store counts, with made-up gold, and return them."""
    table = replace(table, digests=[bytes([i]) * 32 for i in range(len(table.units))])
    signature = procedure.signature(options, table.gold_digest)
    about = Provenance(procedure.name, procedure.version, options, signature, "own", None, None, None, 0)
    counted = Counted(table, procedure, replace(about, **changes))
    write_counts(Path(path), counted)
    return counted


def read(path="kept.parquet"):
    return read_any_counts(Path(path), load_procedure)


def refusal(path="kept.parquet"):
    with pytest.raises(FormatError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_counts_are_read_back(kind, here):
    """Of random systems by random options."""
    for seed in range(12):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        procedure, options, table = drawn
        before, after = keep("kept.parquet", table, procedure, options), read()
        assert after.provenance == before.provenance, seed
        assert list(after.table.units) == list(before.table.units)
        assert after.table.fields == {name: list(column) for name, column in before.table.fields.items()}
        assert after.table.names == before.table.names
        assert np.array_equal(after.table.values, before.table.values)
        for name, parts in before.table.breakdowns.items():
            for of_parts in ("unit", "part", "values"):
                found, expected = (getattr(one, of_parts) for one in (after.table.breakdowns[name], parts))
                assert np.array_equal(found, expected), (seed, name)
        scores = {metric.name for metric in procedure.metrics if metric.is_defined(table.names)}
        assert {metric.name for metric in after.procedure.metrics} >= scores


@pytest.mark.parametrize("name", DRAWN)
def test_every_value_of_every_option_is_drawn(name, here):
    wanted = {(o.name, value) for o in load_procedure(name).options if not o.reading for value in o.choices}
    seen = set()
    for kind in (name, *(FROM_FILES if name == "coref" else ())):
        for seed in range(60):
            seen |= set(draw_table(kind, seed, here, count=False)[1].items())
    assert seen >= wanted


@pytest.fixture
def kept(here):
    """A file of TNE's counts, with breakdowns."""
    procedure, options, table = draw_table("tne", 1, here)
    return keep("kept.parquet", table, procedure, options)


def rewrite(change=lambda table: table, about=lambda about: about):
    """Write the kept file again with other columns and other metadata."""
    table = change(pq.read_table("kept.parquet"))
    metadata = about(json.loads(table.schema.metadata[b"closeread"]))
    pq.write_table(table.replace_schema_metadata({"closeread": json.dumps(metadata)}), "kept.parquet")


def unsigned(about):
    """The metadata of a file of format 1."""
    return {name: value for name, value in about.items() if name not in ("format", "digest")}


def test_a_file_of_format_1_is_read(kept):
    rewrite(about=unsigned)
    assert read().provenance == kept.provenance


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (4, "kept.parquet: has format 4 (expected 1 to 3): it was written by a newer closeread; update closeread"),
        (0, "kept.parquet: has format 0 (expected 1 to 3)"),
        ("3", "kept.parquet: has format '3' (expected 1 to 3)"),
        (True, "kept.parquet: has format true (expected 1 to 3)"),
    ],
)
def test_an_unknown_format_is_one_error(kept, number, message):
    rewrite(about=lambda about: {"format": number, "unknown": about})
    assert refusal() == message


@pytest.mark.parametrize("column", ["unit", "block", "gold", "part", "breakdown", "field:domain", "count:links/right"])
def test_each_column_is_in_the_digest(kept, column):
    """Two rows change places in one column."""

    def swap(table):
        values = table[column].to_pylist()
        known = [i for i, value in enumerate(values) if value is not None and value != values[0]]
        first = next(i for i, value in enumerate(values) if value is not None)
        other = next((i for i in known if values[i] != values[first]), None)
        if other is None:  # all alike: replace one
            values[first] = {"field:domain": "x", "breakdown": "expressed"}.get(column, values[first])
        else:
            values[first], values[other] = values[other], values[first]
        place = table.column_names.index(column)
        return table.set_column(place, column, pa.array(values, table.schema.field(column).type))

    rewrite(swap)
    with pytest.raises(FormatError):
        read()


def test_a_bit_is_noticed(kept):
    """The last bit of one number."""
    values = kept.table.values.astype(np.float64)
    values[0, 0] = np.nextafter(values[0, 0], np.inf)
    digest = json.loads(pq.read_schema("kept.parquet").metadata[b"closeread"])["digest"]
    write_counts(Path("kept.parquet"), replace(kept, table=replace(kept.table, values=values)))
    rewrite(about=lambda about: about | {"digest": digest})
    assert refusal() == "kept.parquet: was changed after it was written: its content has another digest; score again"


def test_a_row_less_has_another_gold(kept):
    rewrite(lambda table: table.slice(1), unsigned)
    assert "the signature does not match the options and the gold" in refusal() or "not a file of counts" in refusal()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"uprep": "middle"}, "option uprep: 'middle' is not one of 'any', 'last'"),
        ({"other": "x"}, "option of tne"),
        ({"uprep": "last"}, "the signature does not match the options and the gold"),
    ],
)
def test_options_of_the_metadata(kept, changes, message):
    rewrite(about=lambda about: about | {"options": {**kept.provenance.options, **changes}})
    assert message in refusal()


def test_options_that_were_added_later_are_at_their_defaults(here):
    """Files of versions without them are read, and merged with new ones."""
    drawn = (draw_table("coref", seed, here) for seed in range(100))
    procedure, options, table = next(
        found
        for found in drawn
        if found and len(found[2].units) and (found[1]["average"], found[1]["zeros"]) == ("micro", "linear")
    )
    earlier = {name: value for name, value in options.items() if name not in ("zeros", "split_antecedents", "layer")}
    keep("kept.parquet", table, procedure, earlier)
    assert read().provenance.options == options
    other = replace(table, units=[f"other {name}" for name in table.units])
    keep("other.parquet", other, procedure, options)
    assert merge_counts([read(), read("other.parquet")], ["a", "b"]).provenance.options == options


def test_names_that_can_not_be_shown_are_not_stored(kept):
    unsafe = replace(kept.table, units=["a\x1b[31m", *kept.table.units[1:]])
    with pytest.raises(RequestError, match=r"new.parquet: the counts can't be stored: document 'a\\x1b\[31m' contains"):
        write_counts(Path("new.parquet"), replace(kept, table=unsafe))
    assert not Path("new.parquet").exists()


def test_a_part_with_too_large_a_count(kept):
    parts = kept.table.breakdowns["expressed"]
    values = parts.values.copy()
    values[0, 0] = -1
    table = replace(kept.table, breakdowns={**kept.table.breakdowns, "expressed": replace(parts, values=values)})
    write_counts(Path("kept.parquet"), replace(kept, table=table))
    assert f"document '{kept.table.units[parts.unit[0]]}', by expressed: " in refusal()
    assert " is -1 (expected a number from 0 to 2**53)" in refusal()


def test_more_cells_than_are_read(kept, monkeypatch):
    monkeypatch.setattr(storage, "MAX_CELLS", 10)
    assert "kept.parquet: is too large: " in refusal()


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


def read_rows(rows, sizes=(5,), names=None):
    """Read the columns of a file whose chunks have these sizes."""
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    columns = []
    for values, kind in zip(rows.values(), TYPES, strict=True):
        whole = pa.array(values, kind)
        coded = whole.dictionary_encode() if kind == pa.string() else whole
        columns.append(pa.chunked_array([coded[start : start + n] for start, n in zip(starts, sizes, strict=True)]))
    names = list(names or rows)
    chunks = storage._list_chunks(pa.schema(list(zip(names, TYPES, strict=True))), pa.table(columns, names))
    return storage._read_table(chunks, {"side": ["left"], "kind": ["a", "b"]}, {})


@pytest.mark.parametrize("sizes", [(5,), (1, 1, 3), (3, 0, 2), (0, 5)])
def test_a_table_is_read_from_any_chunks(sizes):
    table = read_rows(ROWS, sizes)
    assert (table.units, table.blocks.tolist(), table.names) == (["u", "v"], [0, 1], ("right", "gold"))
    assert (table.values.tolist(), table.digests) == ([[1, 3], [2, 4]], [b"1" * 32, b"2" * 32])
    assert table.fields == {"genre": ["news", "letter"]}
    kind, side = table.breakdowns["kind"], table.breakdowns["side"]
    assert (kind.parts, kind.unit.tolist(), kind.part.tolist()) == (("a", "b"), [1, 0], [1, 0])
    np.testing.assert_array_equal(kind.values, [[2, 4], [np.nan, 1]])
    assert (side.unit.tolist(), side.part.tolist(), side.values.tolist()) == ([1], [0], [[0.5, 1]])
    assert (table.values.base, table.blocks.base) == (None, None)  # nothing of the other rows is kept


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
        ({"unit": ["u", None, "v", "u", "v"]}, "column unit is not one column of string"),
        ({"field:genre": ["news", "letter", None, "news", "letter"]}, "column field:genre is not"),
        ({"block": [0, 1, 1, None, 1]}, "column block is not one column of int64"),
    ],
)
def test_rows_that_are_not_those_of_a_table(changed, message):
    with pytest.raises(ValueError, match=message):
        read_rows(ROWS | changed)


def test_columns_that_are_not_those_of_a_table():
    names = list(ROWS)
    with pytest.raises(ValueError, match="column count:right is not one column"):
        read_rows(ROWS, names=[*names[:-1], "count:right"])
    with pytest.raises(ValueError, match="column other is not one column of None"):
        read_rows(ROWS, names=[*names[:-1], "other"])
    with pytest.raises(KeyError, match="block"):
        storage._read_table({name: [] for name in names if name != "block"}, {}, {})


@st.composite
def columns(draw, values, kind):
    """Chunks of a column, some of them slices of longer ones."""
    chunks = []
    for rows in draw(st.lists(st.lists(values, max_size=12), max_size=3)):
        start = draw(st.integers(0, len(rows)))
        chunks.append(pa.array(rows, kind)[start : draw(st.integers(start, len(rows)))])
    return chunks


@given(
    columns(st.none() | st.floats(), pa.float64()),
    columns(st.integers(-(2**63), 2**63 - 1), pa.int64()),
    columns(st.none() | st.sampled_from(["", "a", "bc", "é", "\U0001f600"]), pa.string()),
)
def test_values_are_those_of_pyarrow(floats, numbers, texts):
    expected = [value for chunk in floats for value in chunk.to_pylist()]
    np.testing.assert_array_equal(storage._read_numbers(floats, "f8", np.nan), np.array(expected, np.float64))
    assert storage._read_numbers(numbers, "i8").tolist() == [value for chunk in numbers for value in chunk.to_pylist()]
    codes, names = storage._read_texts([chunk.dictionary_encode() for chunk in texts])
    expected = [value for chunk in texts for value in chunk.to_pylist()]
    assert [None if code < 0 else names[code] for code in codes.tolist()] == expected
    assert len(set(names)) == len(names)


@pytest.mark.gate
def test_reading_imports_neither_pandas_nor_functions_of_columns(kept):
    code = """if True:
        import sys
        from pathlib import Path
        from closeread.counts.storage import read_any_counts
        from closeread.tasks import load_procedure
        read_any_counts(Path("kept.parquet"), load_procedure)
        print(sorted({"pandas", "pyarrow.compute"} & set(sys.modules)))
    """
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"
