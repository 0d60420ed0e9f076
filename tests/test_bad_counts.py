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


@pytest.mark.parametrize("damage", ["foreign", "garbage", "broken off", "no provenance"])
def test_no_file_of_counts(run, kept, damage):
    if damage == "foreign":
        pq.write_table(pa.table({"unit": ["a"], "block": [0]}), "other.counts")
    elif damage == "garbage":
        put("other.counts", b"PAR1" + b"\1garbage" * 100)
    elif damage == "broken off":
        put("other.counts", Path(kept).read_bytes()[:-100])
    else:
        pq.write_table(pq.read_table(kept).replace_schema_metadata({"closeread": "{}"}), "other.counts")
    message = "other.counts: is not a file of counts (expected one written by --counts)"
    refuses(run("compare", "mctaco", kept, "other.counts"), message)
    refuses(run("compare", "mctaco", "other.counts", "system", *SAMPLE), message)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("procedure", "tne\x1b[31m", r"tne\x1b[31m version 1"),
        ("procedure_version", 2, "mctaco version 2"),
    ],
)
def test_of_another_procedure(run, kept, name, value, found):
    table = pq.read_table(kept)
    provenance = json.loads(table.schema.metadata[b"closeread"]) | {name: value}
    pq.write_table(table.replace_schema_metadata({"closeread": json.dumps(provenance)}), "other.counts")
    message = f"other.counts: contains counts of {found} (expected mctaco version 1)"
    refuses(run("compare", "mctaco", kept, "other.counts"), message)


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


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("block", [-1] * 25, "blocks are -1 (expected 0, 1, 2 and so on, each at least once)"),
        ("block", [10**9] * 25, "blocks are 1000000000 (expected 0, 1, 2 and so on, each at least once)"),
        ("block", [0, *range(2, 26)], "blocks are 0, 2, 3, 4, 5, … (expected 0, 1, 2 and so on, each at least once)"),
        ("unit", ["the same"] * 25, "question 'the same' occurs twice"),
        ("count:questions", [float("nan")] * 25, "questions is nan (expected a number from 0 to 2**53) (25 rows)"),
        ("count:questions", [float("inf")] * 25, "questions is inf (expected a number from 0 to 2**53) (25 rows)"),
        ("count:questions", [-1.0] * 25, "questions is -1 (expected a number from 0 to 2**53) (25 rows)"),
        ("count:questions", [2.0**53] * 25, "questions is 9.00719925474099e+15 (expected a number"),
        ("count:questions", [2.0**49] * 25, "questions sums to 1.40737488355328e+16 (expected less than 2**53)"),
        ("count:questions", None, "contains no counts for any score; score them again"),
    ],
)
def test_counts_that_can_not_be(run, kept, name, values, found):
    table = pq.read_table(kept)
    place = table.column_names.index(name)
    if values is None:
        table = table.drop_columns([name])
    else:
        table = table.set_column(place, name, pa.array(values, table.schema.field(name).type))
    pq.write_table(table, "other.counts")
    result = run("compare", "mctaco", kept, "other.counts")
    assert (result.exit_code, result.stdout) == (1, "")
    assert found in result.stderr
    assert values is None or result.stderr.endswith(f"{CHANGED}\n")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("block", pa.array([None] * 25, pa.int64())),
        ("block", pa.array([0.5] * 25)),
        ("unit", pa.array([None] * 25, pa.string())),
        ("unit", pa.array(range(25))),
        ("field:category", pa.array([None] * 25, pa.string())),
        ("count:exact", pa.array(["1"] * 25)),
    ],
)
def test_columns_of_another_kind(run, kept, name, values):
    table = pq.read_table(kept)
    pq.write_table(table.set_column(table.column_names.index(name), name, values), "other.counts")
    message = "other.counts: is not a file of counts (expected one written by --counts)"
    refuses(run("compare", "mctaco", kept, "other.counts"), message)


@pytest.mark.parametrize(
    "changes",
    [{"config": 5}, {"corpus": {}}, {"missing": -1}, {"released": "yes"}, {"more": 1}, {"options": []}, "[" * 5000],
    ids=str,
)
def test_a_provenance_that_is_none(run, kept, changes):
    table = pq.read_table(kept)
    text = table.schema.metadata[b"closeread"]
    text = changes if isinstance(changes, str) else json.dumps({**json.loads(text), **changes})
    pq.write_table(table.replace_schema_metadata({"closeread": text}), "other.counts")
    message = "other.counts: is not a file of counts (expected one written by --counts)"
    refuses(run("compare", "mctaco", kept, "other.counts"), message)


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


def test_names_of_blocks_that_are_others(run, kept):
    table = pq.read_table(kept)
    names = table["block_name"].to_pylist()
    table = table.set_column(table.column_names.index("block_name"), "block_name", pa.array(names[::-1], pa.binary(32)))
    pq.write_table(table, "other.counts")
    refuses(run("compare", "mctaco", kept, "other.counts"), CHANGED)


def test_gold_for_kept_counts(run, kept):
    message = "counts and reports include their gold and options; omit the options for these"
    refuses(run("compare", "mctaco", kept, kept, *SAMPLE), message, code=2)


def test_one_system(run, kept):
    refuses(run("compare", "mctaco", kept), "a comparison needs at least two systems", code=2)


def test_predictions_that_are_counts(run, kept):
    message = f"{kept}: contains counts, not predictions; use `closeread score --from-counts` to score them"
    refuses(run("score", "mctaco", kept, *SAMPLE), message)
