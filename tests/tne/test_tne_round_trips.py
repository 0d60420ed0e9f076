"""TNE's gold written and read again in every form, and damaged files."""

import copy
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import json_lines
from shared.error_messages import check_message
from shared.for_each import for_each
from shared.json_lines import dump
from shared.tne_files import TNE, put
from shared.tne_released import document

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.schema import load_schema
from closeread.exceptions import FormatError
from closeread.tasks.tne.tne_jsonl import dump_records


@pytest.fixture(scope="module")
def sample():
    return read_gold(TNE, "sample")


@for_each("suffix", [".jsonl", ".jsonl.gz", ".json.gz", ".ndjson", ".parquet", ".txt"])
def test_every_form_of_gold_is_the_same(sample, tmp_path, suffix, features):
    path = tmp_path / f"gold{suffix}"
    if suffix == ".parquet":
        schema = features(load_schema("tne")).arrow_schema
        pq.write_table(pa.Table.from_pylist(list(sample.records), schema=schema), path)
    elif suffix == ".ndjson":
        path.write_text(json_lines.dump(sample.records), "utf-8")
    else:
        content = dump_records(sample.records).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content)
    own = read_own_gold(TNE, path)
    assert own.digest == sample.digest
    assert own.notices == tuple(sample.known_oddities)


def test_what_is_written_is_the_release(sample):
    written = [json.loads(line) for line in dump_records(sample.records).splitlines()]
    wanted = [{k: v for k, v in record.items() if k not in ("domain", "forum")} for record in sample.records]
    assert written == wanted
    assert read_gold(TNE, "sample").records[0] == sample.records[0]  # nothing was changed by writing


@for_each("changes", [{"np_relations": None}, {"metadata": None}, {"metadata": {}}, {"np_relations": []}])
def test_fields_that_are_null_are_not_written(file, tmp_path, changes, features):
    gold = read_own_gold(TNE, put(file, dump([document(**changes)])))
    (written,) = (json.loads(line) for line in dump_records(gold.records).splitlines())
    assert {name for name in changes if name not in written} == {name for name in changes if changes[name] is None}
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest
    path = tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest


def test_an_exported_repository_is_gold(sample, ran, tmp_path):
    ran("export", "tne", "repository", "--config", "sample")
    (parquet,) = (tmp_path / "repository").rglob("*.parquet")
    own = read_own_gold(TNE, parquet)
    assert own.digest == sample.digest
    assert own.notices == tuple(sample.known_oddities)


# Anything.


SAMPLE = read_gold(TNE, "sample").records
PIECES = [
    b"\n",
    b"\r",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\xe2\x80\xa8",
    b"1e999",
    b"NaN",
    b"-",
    b"null",
]
PIECES += [
    b"9" * 40,
    b"[" * 300,
    b"\x00",
    b"\xff",
    b"np0",
    b"np1",
    b"np99999",
    b"cc0",
    b"cc99999",
    b"true",
    b"[]",
    b"{}",
]
PIECES += [b'"of"', b'"Of"', b'"id": "s1", ', b'"id": 7, ', b"0", b"7", b"2147483647", b"2147483648", b"standard"]


@st.composite
def damaged(draw, whole):
    """The bytes with a few pieces put in, cut out, overwritten or repeated."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 3, 10, 300])))
        how = draw(st.sampled_from(["replace", "repeat"]))
        data[start:end] = draw(st.sampled_from(PIECES)) if how == "replace" else bytes(data[start:end]) * 2
    return bytes(data)


VALUES = [
    None,
    True,
    0,
    -1,
    7,
    1.5,
    2**40,
    "",
    "np0",
    "np99",
    "np01",
    "cc0",
    "of",
    "x",
    [],
    {},
    ["np0"],
    [["np0"]],
    {"id": "np0"},
]


@st.composite
def changed(draw):
    """The sample with a value of it replaced, taken away or moved."""
    records = copy.deepcopy(list(SAMPLE))
    place = draw(st.sampled_from(records))
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place = place[key]
            continue
        how = draw(st.sampled_from(["replace", "replace", "drop", "repeat", "swap"]))
        if how == "drop":
            del place[key]
        elif how == "repeat" and isinstance(place, list):
            place.append(place[key])
        elif how == "swap":
            other = draw(st.sampled_from(keys))
            place[key], place[other] = place[other], place[key]
        else:
            place[key] = draw(st.sampled_from(VALUES))
        return dump(records).encode()


@given(
    data=damaged(dump_records(SAMPLE).encode())
    | damaged(gzip.compress(dump_records(SAMPLE).encode(), mtime=0))
    | changed()
)
@settings(max_examples=200)
def test_any_file_is_read_or_refused(file, data):
    file.write_bytes(data)
    try:
        gold = read_own_gold(TNE, file)
    except FormatError as error:
        check_message(error)
        return
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest


@pytest.mark.extended
def test_the_release_through_parquet(corpora, tmp_path, features):
    gold, path = read_gold(TNE), tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest
    path = put(tmp_path / "gold.jsonl", dump_records(gold.records))
    assert read_own_gold(TNE, path).digest == gold.digest
