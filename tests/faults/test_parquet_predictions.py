"""Parquet files where predictions are expected: the error says what they are, and never takes them for labels."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from shared.marmara_xml import put

import closeread

SAID = (
    "is a Parquet file (expected predictions as text, such as JSON Lines; counts are scored by "
    "`closeread score --from-counts`)"
)
KEY = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"


def test_parquet_is_no_predictions(run, ran, here):
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "rows.jsonl")
    ran(
        "score",
        "mctaco",
        "rows.jsonl",
        "--config",
        "sample",
        "--no-ci",
        "--counts",
        "counts.parquet",
    )
    Path("counts").write_bytes(Path("counts.parquet").read_bytes())  # known by its content
    put(Path(), {"key.conll": KEY})
    pq.write_table(pa.table({"id": ["test-00000"], "label": ["yes"]}), "table.parquet")
    Path("bad.txt").write_bytes(b"PAR1yes\nno\nyes\nPAR1")
    Path("LABELS.PARQUET").write_bytes(b"yes\n" * 103)
    Path("empty.parquet").touch()
    for name in (
        "counts",
        "counts.parquet",
        "table.parquet",
        "bad.txt",
        "LABELS.PARQUET",
        "empty.parquet",
    ):
        done = run("validate", "mctaco", name, "--config", "sample")
        assert (done.exit_code, done.stdout) == (1, "")
        told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        assert told == [f"Error: {name}: {SAID}"]
        assert run("validate", "coref", "key.conll", name).exit_code == 1
        in_python = SAID.replace("closeread score --from-counts", "closeread.Counts.load")
        verdict = closeread.validate("mctaco", name, config="sample")
        assert verdict.problems == [f"{name}: {in_python}"]
    Path("labels.txt").write_text("yes\n" * 103)
    assert run("score", "mctaco", "labels.txt", "--config", "sample", "--no-ci").exit_code == 0


def test_coreference_in_parquet_is_a_response(run, ran, here):
    response = KEY.replace("b\t(0)", "b\t(1)")
    put(Path(), {"key.conll": KEY, "response.conll": response})
    ran("convert", "coref", "response.conll", "--to", "coref-data", "-o", "response.jsonl")
    rows = [json.loads(line) for line in Path("response.jsonl").read_text("utf-8").splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), "response.parquet")
    expected = str(closeread.score("coref", "response.conll", gold="key.conll", ci=False))
    table = pq.read_table("response.parquet")
    for source in ("response.parquet", table, table.to_pandas(), table.to_pylist()):
        assert str(closeread.score("coref", source, gold="key.conll", ci=False)) == expected
    assert ran("score", "coref", "key.conll", "response.parquet", "--no-ci") == expected + "\n"
    assert closeread.validate("coref", "response.parquet", gold="key.conll").problems == []
    ran("score", "coref", "key.conll", "response.conll", "--counts", "counts.parquet")
    rows = ran("compare", "coref", "key.conll", "response.parquet", "counts.parquet")
    assert "0.00" in rows
    done = run("score", "coref", "key.conll", "counts.parquet")
    assert done.stderr == (
        "Error: counts.parquet: is a Parquet file without 'id', 'sentences', 'coref_chains' "
        "(expected coref-data; counts are scored by `closeread score --from-counts`)\n"
    )
