"""A lack of memory ends in one line, whatever the command was doing, and leaves nothing."""

import builtins
import io
import os
import random
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.every_command import fill_in, list_lines, prepare, standing_in
from shared.file_faults import read_tree

from closeread.counts import storage
from closeread.counts.counts import Counts
from closeread.formats import text
from closeread.formats.parquet import read_columns

WRONG = {
    MemoryError: "there is not enough memory for this",
    RecursionError: "something is nested too deeply",
}
FILES = {"score": 1, "validate": 1, "compare": 2, "table": 2}
READ, WRITTEN = "in", "out"
MEBIBYTE = 2**20
ALL = os.environ.get("CLOSEREAD_FAULTS") == "all"
pytestmark = [pytest.mark.extended, pytest.mark.timeout(7200 if ALL else 1500)]
TRIED = 16
"""The commands that are tried in every run of the tests."""

SLOW = ("baseline", "plot", "publish")
"""Commands that take half of the time, and write as others do."""


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("command", FILES)
def test_reading(here, run, monkeypatch, command, kind):
    def fail(*arguments):
        raise kind

    (here / "a.jsonl").write_text("{}\n")
    monkeypatch.setattr(text, "read_bytes", fail)
    done = run(command, "mctaco", *["a.jsonl"] * FILES[command], "--config", "sample")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"Error: {WRONG[kind]}\n"


def test_a_library_that_does_not_fit(here, run, monkeypatch):
    """As Linux says it of a shared library; another that can't be imported is a fault of the installation."""
    for message in (
        "x.so: failed to map segment from shared object",
        "x.so: cannot allocate memory in static TLS",
    ):
        monkeypatch.setattr(text, "read_bytes", mock.Mock(side_effect=ImportError(message)))
        done = run("score", "mctaco", "a.jsonl", "--config", "sample")
        assert (done.exit_code, done.stderr) == (1, f"Error: {WRONG[MemoryError]}\n")
    monkeypatch.setattr(text, "read_bytes", mock.Mock(side_effect=ImportError("no x")))
    with pytest.raises(ImportError, match="no x"):
        run("score", "mctaco", "a.jsonl", "--config", "sample")


def test_arrow_without_memory_is_no_damaged_file(here, monkeypatch):
    """Its error is an error about data, too."""
    fail = mock.Mock(side_effect=pa.ArrowMemoryError("malloc failed"))
    pq.write_table(
        pa.table({"a": [1]}).replace_schema_metadata(
            {storage.METADATA_KEY: '{"format": 1, "breakdowns": {}}'}
        ),
        "a.parquet",
    )
    monkeypatch.setattr(storage, "_make_table", fail)
    with pytest.raises(MemoryError):
        Counts.load("a.parquet")
    table = mock.MagicMock(column_names=["a"])
    table["a"].validate = fail
    with pytest.raises(MemoryError):
        read_columns("a", table)


@contextmanager
def no_memory(folder):
    """Have every file below a folder that is opened in the block take too much memory; yield those that were."""
    inside, opened, open_file = os.path.realpath(folder) + os.sep, [], io.open

    def fail(place, *rest, **options):
        if not isinstance(place, int) and os.path.realpath(os.fspath(place)).startswith(inside):
            opened.append(place)
            raise MemoryError
        return open_file(place, *rest, **options)

    with mock.patch.object(io, "open", fail), mock.patch.object(builtins, "open", fail):
        yield opened


def test_every_command_says_so_in_one_line(folder, run, monkeypatch):
    """Of all that read files or write some, or a few by the seed that the header shows; and nothing is left."""
    monkeypatch.chdir(folder[0])
    lines, tried = list_lines(), 0
    rng = random.Random(os.environ["CLOSEREAD_FUZZ_SEED"])
    quick = [name for name, line in lines.items() if line[0] not in SLOW]
    with standing_in():
        for name in lines if ALL else rng.sample(quick, TRIED):
            line = lines[name]
            for place in {READ, WRITTEN} & {word.partition("/")[0] for word in line}:
                if place == WRITTEN and line[0] in SLOW:
                    continue
                before = prepare(name)
                with no_memory(place) as opened:
                    done = run(*fill_in(line, folder[1]))
                if opened:
                    told = [one for one in done.stderr.splitlines() if not one.startswith("note: ")]
                    assert (done.exit_code, told) == (1, [f"Error: {WRONG[MemoryError]}"]), (
                        name,
                        place,
                        told,
                    )
                    assert read_tree(WRITTEN).items() >= before.items()
                    assert not any(".closeread" in path for path in read_tree(WRITTEN)), name
                    tried += 1
    assert tried > (60 if ALL else TRIED // 2)


def test_a_process_without_memory_says_so_in_one_line(here):
    """A file of 27 MB, in a process that may take 64 MiB more than it has without one."""
    Path("long.jsonl").write_bytes(
        b'{"document": "a", "clusters": [' + b"[[0, 0]], " * 2_700_000 + b"[[0, 0]]]}\n"
    )
    code = """
import resource, sys
from closeread.cli import main
import closeread.scoring, numpy
from pathlib import Path
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv.pop(1)), resource.RLIM_INFINITY))
main()
"""
    line = (
        sys.executable,
        "-c",
        code,
        str(64 * MEBIBYTE),
        "score",
        "coref",
        "long.jsonl",
        "long.jsonl",
    )
    done = subprocess.run(
        line, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {WRONG[MemoryError]}\n")
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY  # not this process
