"""Columns of Arrow as arrays and lists, beside pyarrow's own conversions."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.counts.arrow_arrays import list_bytes, list_floats, list_ints, list_texts, measure_texts

TEXTS = st.sampled_from(["", "a", "bc", "é", "\U0001f600"])


@st.composite
def columns(draw, values, kind):
    """Chunks of a column, some of them slices of longer ones."""
    chunks = []
    for rows in draw(st.lists(st.lists(values, max_size=12), max_size=3)):
        start = draw(st.integers(0, len(rows)))
        chunks.append(pa.array(rows, kind)[start : draw(st.integers(start, len(rows)))])
    return chunks


def list_plainly(chunks):
    """The values of all chunks."""
    return [value for chunk in chunks for value in chunk.to_pylist()]


@given(columns(st.none() | st.floats(), pa.float64()))
def test_floats_are_those_of_pyarrow(chunks):
    expected = [np.nan if value is None else value for value in list_plainly(chunks)]
    np.testing.assert_array_equal(list_floats(chunks), np.array(expected, np.float64))


@given(columns(st.integers(-(2**63), 2**63 - 1), pa.int64()))
def test_whole_numbers_are_those_of_pyarrow(chunks):
    assert list_ints(chunks).tolist() == list_plainly(chunks)


@given(columns(st.none() | st.binary(min_size=3, max_size=3), pa.binary(3)))
def test_bytes_are_those_of_pyarrow(chunks):
    assert list_bytes(chunks, 3) == list_plainly(chunks)


@given(columns(st.none() | TEXTS, pa.string()), st.lists(st.booleans(), min_size=3, max_size=3))
def test_texts_are_those_of_pyarrow(chunks, coded):
    expected = list_plainly(chunks)
    mixed = [chunk.dictionary_encode() if one else chunk for chunk, one in zip(chunks, coded, strict=False)]
    found = list_texts(mixed)
    assert [None if code < 0 else found.values[code] for code in found.codes.tolist()] == expected
    assert len(set(found.values)) == len(found.values)
    assert (found.codes == found.find("bc")).tolist() == [text == "bc" for text in expected]
    size = sum(measure_texts(chunk.dictionary_encode()) for chunk in chunks)
    assert size == sum(len((text or "").encode()) for text in expected)


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array([1, 2])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None])),
        pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array(["a", "b"]), safe=False),
        pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int32()), pa.array(["a", "b"]), safe=False),
    ],
    ids=["numbers", "null", "beyond the dictionary", "before the dictionary"],
)
def test_texts_that_are_not_in_a_dictionary(column):
    with pytest.raises(ValueError, match=r"dictionary|texts are"):
        measure_texts(column)


@pytest.mark.gate
def test_reading_counts_imports_neither_pandas_nor_functions_of_columns(tmp_path):
    path = tmp_path / "kept.parquet"
    code = f"""if True:
        import sys
        from pathlib import Path
        from closeread.counts.files import read_counts
        from closeread.tasks import load_procedure
        read_counts(Path({str(path)!r}), load_procedure("mctaco"))
        print(sorted({{"pandas", "pyarrow.compute"}} & set(sys.modules)))
    """
    closeread = [Path(sys.executable).with_name("closeread")]
    labels, sample = tmp_path / "labels.jsonl", ["--config", "sample"]
    make = [*closeread, "baseline", "mctaco", "random", "--seed", "1", *sample, "-o", labels]
    keep = [*closeread, "score", "mctaco", labels, *sample, "--counts", path]
    for command in (make, keep):
        subprocess.run(command, check=True, capture_output=True)
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"
