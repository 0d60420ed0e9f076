"""TNE's gold written and read again in every form, and damaged files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.for_each import for_each
from shared.json_lines import dump
from shared.tne_files import TNE, put
from shared.tne_released import document

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.schema import load_schema
from closeread.tasks.tne.tne_jsonl import dump_records


@pytest.fixture(scope="module")
def sample():
    return read_gold(TNE, "sample")


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


@pytest.mark.extended
def test_the_release_through_parquet(corpora, tmp_path, features):
    gold, path = read_gold(TNE), tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest
    path = put(tmp_path / "gold.jsonl", dump_records(gold.records))
    assert read_own_gold(TNE, path).digest == gold.digest
