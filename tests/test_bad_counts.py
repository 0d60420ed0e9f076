"""`compare` of count files, and of files that only look like them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.bad_input import ROWS, SAMPLE, lines, put, refuses


@pytest.fixture
def kept(run, here):
    put("system", lines(*ROWS))
    for name in ("error", "skip"):
        options = ["--no-ci", "--missing", name, "--counts", f"{name}.counts"]
        assert run("score", "mctaco", "system", *SAMPLE, *options).exit_code == 0
    return "error.counts"


def test_incomparable(run, kept):
    message = (
        "the systems are not comparable: they were not scored {}:\n'skip': option missing is 'skip' (expected 'error')"
    )
    refuses(run("compare", "mctaco", kept, "skip.counts"), message.format("as 'error' was"), code=2)
    message = message.format("on the gold and with the options given")
    refuses(run("compare", "mctaco", "system", "skip.counts", *SAMPLE), message, code=2)


def test_of_another_procedure_or_version(run, kept):
    table = pq.read_table(kept)
    provenance = json.loads(table.schema.metadata[b"closeread"]) | {"procedure_version": 2}
    pq.write_table(table.replace_schema_metadata({"closeread": json.dumps(provenance)}), "other.counts")
    message = "other.counts: contains counts of mctaco version 2 (expected mctaco version 1)"
    refuses(run("compare", "mctaco", kept, "other.counts"), message)
    assert run("baseline", "tne", "all-pairs", "--config", "sample", "-o", "tne.jsonl").exit_code == 0
    assert run("score", "tne", "tne.jsonl", "--config", "sample", "--no-ci", "--counts", "tne.counts").exit_code == 0
    message = "tne.counts: contains counts of tne version 1 (expected mctaco version 1)"
    refuses(run("compare", "mctaco", kept, "tne.counts"), message)


@pytest.mark.extended
def test_a_changed_byte(run, kept):
    """Wherever it is: the file is refused, or nothing that is scored has changed."""
    data = Path(kept).read_bytes()
    put("other.counts", data)
    before = run("compare", "mctaco", kept, "other.counts", "--resamples", "2").stdout
    for place in range(4, len(data), 41):
        put("other.counts", data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        result = run("compare", "mctaco", kept, "other.counts", "--resamples", "2")
        if result.exit_code == 0:
            assert result.stdout == before
        else:
            assert result.stderr.startswith("Error: ")


CHANGED = "other.counts: was changed after it was written: its content has another digest; score again"


def test_blocks_that_are_others(run, kept):
    table = pq.read_table(kept).drop_columns(["block_name"])  # as earlier versions wrote it
    blocks = table["block"].to_pylist()
    table = table.set_column(table.column_names.index("block"), "block", pa.array(blocks[::-1], pa.int64()))
    pq.write_table(table, "other.counts")
    refuses(run("compare", "mctaco", kept, "other.counts"), CHANGED)
    about = json.loads(table.schema.metadata[b"closeread"])
    older = {name: value for name, value in about.items() if name not in ("format", "digest")}
    pq.write_table(table.replace_schema_metadata({"closeread": json.dumps(older)}), "other.counts")
    message = "the two results have different counts, or group the units into different blocks"
    refuses(run("compare", "mctaco", kept, "other.counts"), message, code=2)


def test_gold_for_kept_counts(run, kept):
    message = "counts and reports include their gold and options; omit the options for these"
    refuses(run("compare", "mctaco", kept, kept, *SAMPLE), message, code=2)


def test_one_system(run, kept):
    refuses(run("compare", "mctaco", kept), "a comparison needs at least two systems", code=2)
