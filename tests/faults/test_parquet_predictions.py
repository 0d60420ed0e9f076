"""Parquet files where predictions are expected: the error says what they are, and never takes them for labels."""

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
        for arguments in (("mctaco", name, "--config", "sample"), ("coref", "key.conll", name)):
            done = run("validate", *arguments)
            assert (done.exit_code, done.stdout) == (1, "")
            told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            assert told == [f"Error: {name}: {SAID}"]
        assert closeread.validate("mctaco", name, config="sample").problems == [
            f"{name}: {SAID.replace('closeread score --from-counts', 'closeread.Counts.load')}"
        ]
    Path("labels.txt").write_text("yes\n" * 103)
    assert run("score", "mctaco", "labels.txt", "--config", "sample", "--no-ci").exit_code == 0
