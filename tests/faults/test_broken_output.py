"""Standard output and standard error that are closed, full or read by nobody, and disks that are full."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared import json_lines
from shared.encoded_output import broken, run_encoded, run_with
from shared.entry_points import KEY, RESPONSE, system_rows, write_key
from shared.file_sizes import small_files

CONFIG = ("--config", "sample")
FEW = (*CONFIG, "--resamples", "2")
FULL = OSError(errno.ENOSPC, "No space left on device")
NOBODY = BrokenPipeError(errno.EPIPE, "Broken pipe")
SAID = "Error: standard output: can't be written: No space left on device\n"
CLOSED = "Error: standard output: can't be written: Bad file descriptor\n"
PRINTING = (
    ("list",),
    ("--help",),
    ("--version",),
    ("score", "--help"),
    ("show", "mctaco", *CONFIG),
    ("info", "mctaco", "--schema"),
    ("info", "mctaco", "--cite"),
    *(
        ("score", "mctaco", "mctaco.jsonl", *FEW, *style)
        for style in ((), ("--json",), ("--format", "csv"))
    ),
    *(
        ("table", "mctaco", "mctaco.jsonl", *FEW, "--format", style)
        for style in ("latex", "markdown", "html")
    ),
    ("validate", "mctaco", "mctaco.jsonl", *CONFIG),
)
ENDS = {
    ("list",): 0,
    ("info", "mctaco", "--schema"): 0,
    ("validate", "mctaco", "bad.jsonl", *CONFIG): 1,
    ("score", "--no"): 2,
    ("no",): 2,
}
"""Exit codes."""


@pytest.fixture
def files(here):
    json_lines.write("mctaco.jsonl", system_rows("mctaco"))
    write_key("key", "conll", KEY)
    write_key("response", "conll", RESPONSE)
    Path("bad.jsonl").write_text("{")


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
@pytest.mark.parametrize(("error", "said"), [(FULL, SAID), (NOBODY, "")], ids=["full", "nobody"])
def test_results_that_can_not_be_written(files, arguments, error, said):
    told = listen()
    with broken(error) as stdout:
        assert run_with(arguments, stdout, told) == 1
    assert told.buffer.getvalue().decode() == said


def listen():
    """A stream to memory."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


@pytest.mark.parametrize("arguments", ENDS, ids=" ".join)
def test_streams_that_are_closed(files, arguments):
    code = ENDS[arguments] or 1  # there is no place for results
    assert run_with(arguments, None, None) == code
    told, printed = listen(), listen()
    assert run_with(arguments, None, told) == code
    assert (told.buffer.getvalue().decode() == CLOSED) == (ENDS[arguments] == 0)
    assert run_with(arguments, printed, None) == ENDS[arguments]
    assert b"Error: " not in printed.buffer.getvalue()


CLOSEREAD = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'closeread'; from closeread.cli import main; main()",
]


def run_process(*arguments, variables=None, **streams):
    """Run a process; its exit code, and what it wrote.  Development mode tells of errors while Python ends."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONDEVMODE": "1", **(variables or {})}
    opened = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run([*CLOSEREAD, *arguments], env=environment, check=False, **opened)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.gate
def test_a_process_with_a_full_output(files):
    with open("/dev/full", "wb") as full:
        assert run_process("list", stdout=full) == (1, None, SAID.encode())


@pytest.mark.gate
def test_a_process_that_nobody_reads(files):
    ours, theirs = os.pipe()
    os.close(ours)
    assert run_process("list", stdout=theirs) == (1, None, b"")
    os.close(theirs)


@pytest.mark.gate
def test_a_process_whose_output_was_closed(files):
    """What is written does not get into a file that is opened later, and has the number of standard output."""
    arguments = ("score", "mctaco", "mctaco.jsonl", *FEW, "--output", "report.txt")
    done = run_process(
        *arguments,
        variables={"PYTHONDEVMODE": ""},
        stdout=None,
        preexec_fn=lambda: os.closerange(0, 2),
    )
    assert done == (0, None, b"")
    assert Path("report.txt").read_text().startswith("mctaco sample test\n")


@pytest.mark.gate
def test_results_are_not_lost_in_a_closed_output(files):
    for arguments in (("list",), ("score", "mctaco", "mctaco.jsonl", *FEW), ("--version",)):
        done = run_process(*arguments, stdout=None, preexec_fn=lambda: os.close(1))
        assert done == (1, None, CLOSED.encode())


WRITING = (
    ("baseline", "mctaco", "always-positive", *CONFIG, "-o", "new/yes.jsonl"),
    ("score", "mctaco", "mctaco.jsonl", *FEW, "--counts", "new/one.counts"),
    ("score", "mctaco", "mctaco.jsonl", *FEW, "--output", "new/report.json"),
    ("merge", "one.counts", "-o", "new/merged.counts"),
    *(
        ("table", "mctaco", "mctaco.jsonl", *FEW, "--format", f, "-o", f"new/{f}")
        for f in ("csv", "json", "latex")
    ),
    ("convert", "coref", "key.conll", "-o", "new/key.jsonl"),
    ("export", "mctaco", "new/folder", *CONFIG),
)


def test_a_full_disk(files):
    """Files of more than 20 bytes are refused, in one line that names the file, and nothing is left."""
    assert (
        run_encoded(("score", "mctaco", "mctaco.jsonl", *FEW, "--counts", "one.counts"), "utf-8")[0]
        == 0
    )
    os.mkdir("new")
    for arguments in WRITING:
        with small_files(20):
            code, _, told = run_encoded(arguments, "utf-8")
        assert code == 1, arguments
        assert len(told.splitlines()) == 1, told
        assert "File too large" in told, told
        assert "new" in told or arguments[0] == "export", told
        assert os.listdir("new") == [], arguments
