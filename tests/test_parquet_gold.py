"""Odd Parquet files of gold, and the same tables in memory: one sentence each."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closeread
from closeread.exceptions import InputError

NAMES = ("id", "question_id", "sentence_id", "sentence", "question", "answer", "label", "category")
LARGEST = {32: 2**31 - 1, 64: 2**60}


def with_sentences(kind, bits):
    """Return a table of one candidate, whose sentence is the largest value of a type."""
    table = {name: ["x"] for name in NAMES} | {"label": ["yes"], "category": ["Frequency"]}
    number = pa.array([LARGEST[bits]], pa.int32() if bits == 32 else pa.int64())
    return pa.table(table | {"sentence": number.cast(kind)})


NO_ROWS = "has no rows (expected at least one)"
TABLES = {
    "no rows": (pa.table({name: pa.array([], pa.string()) for name in NAMES}), NO_ROWS),
    "no rows, other columns": (pa.table({"a": pa.array([], pa.string())}), NO_ROWS),
    "other columns": (
        pa.table({"a": ["x"], "b": ["y"]}),
        "has no column 'id' (columns: 'a', 'b')",
    ),
    "date": (
        with_sentences(pa.date32(), 32),
        "column 'sentence' can't be read as date32[day] (",
    ),
    "timestamp": (
        with_sentences(pa.timestamp("ms", tz="UTC"), 64),
        "column 'sentence' can't be read as timestamp[ms, tz=UTC] (",
    ),
    "duration": (
        with_sentences(pa.duration("s"), 64),
        "column 'sentence' can't be read as duration[s] (",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_odd_gold_is_refused_in_a_sentence(name, tmp_path):
    table, message = TABLES[name]
    path = tmp_path / "gold.parquet"
    pq.write_table(table, path)
    for source, place in ((path, str(path)), (table, "gold")):
        with pytest.raises(InputError) as error:
            closeread.score("mctaco", [{"id": "x", "label": "yes"}], gold=source, ci=False)
        assert str(error.value).startswith(f"{place}: {message}")
