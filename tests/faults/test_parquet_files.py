"""Parquet files that are damaged, or too large: one line of ours."""

import random
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closeread.exceptions import FormatError
from closeread.formats import parquet

TABLE = pa.table(
    {
        "id": [f"test/{i}" for i in range(20)],
        "label": ["yes"] * 20,
        "np": [[{"text": "a", "n": i}] for i in range(20)],
    }
)


def read(path):
    return parquet.read_parquet(Path(path), lambda found: [])


def refused(path):
    with pytest.raises(FormatError) as caught:
        read(path)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.parquet"
    pq.write_table(TABLE, path)
    return path


def test_what_is_read_is_what_was_written(file):
    assert list(read(file)) == TABLE.to_pylist()


BROKEN = {
    "no parquet": (lambda data: b"id,label\n", "is not a Parquet file"),
    "only the first half": (lambda data: data[: len(data) // 2], "is not a valid Parquet file: it is truncated"),
    "only the magic numbers": (lambda data: b"PAR1PAR1", "is not a valid Parquet file: it is damaged"),
    "a footer that is longer than the file": (lambda data: data[:-8] + struct.pack("<i", 2**31 - 1) + data[-4:],
        "is not a valid Parquet file: it is damaged"),
    "a footer of nothing": (lambda data: data[:-8] + struct.pack("<i", 0) + data[-4:],
        "is not a valid Parquet file: it is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_are_broken(file, name):
    change, said = BROKEN[name]
    file.write_bytes(change(file.read_bytes()))
    assert refused(file) == said


def test_a_page_with_another_checksum_is_damaged(tmp_path):
    path = tmp_path / "checked.parquet"
    pq.write_table(TABLE, path, write_page_checksum=True, compression="none")
    data = path.read_bytes()
    place = data.index(b"test/7") + 5
    path.write_bytes(data[:place] + b"X" + data[place + 1 :])
    assert refused(path) == "is not a valid Parquet file: it is damaged"


@pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 22, reason="pyarrow 21 ends the process")
def test_flipped_bytes(file):
    """Every file is read, or refused in words."""
    data, rng, ends = file.read_bytes(), random.Random(18), set()
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 4])):
            changed[rng.randrange(len(data))] = rng.choice([0, 127, 255, rng.randrange(256)])
        file.write_bytes(changed)
        try:
            read(file)
            ends.add("read")
        except FormatError as error:
            ends.add(
                "refused"
                if all(map(str.isprintable, str(error).splitlines()))
                else "in other words"
            )
    assert ends == {"read", "refused"}
