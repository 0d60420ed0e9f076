"""The limit of sizes: what has exactly as many bytes is read; one more is refused in one line."""

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from shared.marmara_xml import put

from closeread import limits

COREF = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
LONGER = COREF + "\n\n"
COMMANDS = {
    "score": ("key.conll", "response.conll", "--no-ci"),
    "validate": ("key.conll", "response.conll"),
    "compare": ("key.conll", "key.conll", "response.conll"),
    "table": ("key.conll", "response.conll"),
    "errors": ("key.conll", "response.conll"),
}


@pytest.fixture
def sides(here):
    put(here, {"key.conll": COREF, "response.conll": LONGER})
    return here


@pytest.fixture
def check(run, monkeypatch):
    """Check that a command runs with a limit, and that with one byte less it refuses something in one line."""

    def call(size, said, *arguments, stdin=None):
        monkeypatch.setattr(limits, "MAX_FILE_BYTES", size)
        done = run(*arguments, stdin=stdin)
        assert done.exit_code == 0, done.stderr
        monkeypatch.setattr(limits, "MAX_FILE_BYTES", size - 1)
        done = run(*arguments, stdin=stdin)
        assert (done.exit_code, done.stdout) == (1, "")
        assert [line for line in done.stderr.splitlines() if not line.startswith("note: ")] == [
            f"Error: {said}"
        ]

    return call


@pytest.mark.parametrize("command", COMMANDS)
def test_a_plain_file(check, sides, command):
    size = len(LONGER)
    said = f"response.conll: is too large: {size} bytes (limit: {size - 1})"
    check(size, said, command, "coref", *COMMANDS[command])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_gzipped_file(check, sides, command):
    size = len(LONGER) + 1000
    Path("response.conll").write_bytes(gzip.compress(LONGER.encode() + b"\n" * 1000))
    said = f"response.conll: is too large: more than {size - 1:,} bytes when decompressed"
    check(size, said, command, "coref", *COMMANDS[command])


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_input(check, sides, command):
    arguments = [word.replace("response.conll", "-") for word in COMMANDS[command]]
    said = f"/dev/stdin: is too large: more than {len(LONGER) - 1} bytes"
    check(len(LONGER), said, command, "coref", *arguments, stdin=LONGER)


@pytest.fixture
def mctaco(ran):
    """Predictions, counts and a report of McTaco's sample; its own gold is larger than the predictions."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "rows.jsonl")
    made = ran(
        "score",
        "mctaco",
        "rows.jsonl",
        "--config",
        "sample",
        "--no-ci",
        "--json",
        "--counts",
        "counts.parquet",
    )
    Path("report.json").write_text(made)
    return {
        name: Path(name).stat().st_size for name in ("rows.jsonl", "counts.parquet", "report.json")
    }


def test_files_of_counts_and_reports(check, mctaco):
    size, report = mctaco["counts.parquet"], mctaco["report.json"]
    assert size > pq.read_table("counts.parquet").nbytes
    said = f"counts.parquet: is too large: {size:,} bytes (limit: {size - 1:,})"
    check(size, said, "score", "--from-counts", "counts.parquet", "--no-ci")
    check(size, said, "table", "mctaco", "counts.parquet")
    check(
        report,
        f"report.json: is too large: {report:,} bytes (limit: {report - 1:,})",
        "table",
        "mctaco",
        "report.json",
    )
