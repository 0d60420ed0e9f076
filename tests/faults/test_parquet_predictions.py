"""Parquet files where predictions are expected: the error says what they are, and never takes them for labels."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.marmara_xml import put

import closeread

COUNTS = "contains counts, not predictions; use `closeread score --from-counts` to score them"
OTHER = "is a Parquet file (expected predictions as text, such as JSON Lines)"
KEY = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"


@pytest.fixture
def counts(ran):
    """Counts of McTaco's sample."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "rows.jsonl")
    ran("score", "mctaco", "rows.jsonl", "--config", "sample", "--no-ci", "--counts", "counts.parquet")
    return Path("counts.parquet").read_bytes()


def refuse(run, said, *arguments):
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert [line for line in done.stderr.splitlines() if not line.startswith("note: ")] == [f"Error: {said}"]


def test_counts_are_no_predictions(run, counts):
    Path("counts").write_bytes(counts)  # known by its content
    put(Path(), {"key.conll": KEY})
    refuse(run, f"counts: {COUNTS}", "score", "mctaco", "counts", "--config", "sample")
    refuse(run, f"counts.parquet: {COUNTS}", "validate", "coref", "key.conll", "counts.parquet")
    assert closeread.validate("mctaco", "counts", config="sample").problems == [f"counts: {COUNTS}"]


BROKEN = {
    "labels between magic numbers": (
        b"PAR1yes\nno\nyes\nPAR1",
        "bad.txt",
        "is not a valid Parquet file: its footer is damaged",
    ),
    "the first bytes": (b"PAR1\nyes\nno\n", "bad.txt", "is not a valid Parquet file: it is truncated"),
    "labels by another name": (b"yes\n" * 103, "rows.parquet", "is not a Parquet file"),
    "the name in capitals": (b"yes\n" * 103, "ROWS.PARQUET", "is not a Parquet file"),
    "nothing": (b"", "rows.parquet", "is empty"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damaged_files_are_no_labels(run, here, name):
    content, file, said = BROKEN[name]
    Path(file).write_bytes(content)
    refuse(run, f"{file}: {said}", "validate", "mctaco", file, "--config", "sample")


def test_predictions_are_text(run, here):
    pq.write_table(pa.table({"id": ["test-00000"], "label": ["yes"]}), "rows.parquet")
    refuse(run, f"rows.parquet: {OTHER}", "score", "mctaco", "rows.parquet", "--config", "sample")
    Path("labels.txt").write_text("yes\n" * 103)
    assert run("score", "mctaco", "labels.txt", "--config", "sample", "--no-ci").exit_code == 0
