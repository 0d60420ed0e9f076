"""Key and response from standard input, from pipes and from gzipped files, in every command."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared.entry_points import COREF_FORMATS, KEY, write_key

from closeread import limits
from closeread.exceptions import FormatError
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.text import STANDARD_INPUT, is_open_pipe, plain_file, read_bytes

pytestmark = pytest.mark.usefixtures("here")

TWICE = "standard input can be read only once (expected a file here)"


def essence(printed):
    report = json.loads(printed)
    return report["signature"], report["scores"]


@pytest.fixture(params=COREF_FORMATS)
def pair(request):
    """Key and response in a format."""
    return write_key("key", request.param), write_key("response", request.param)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_either_side_from_standard_input(pair, pack, ran):
    key, response = pair
    options = ("--no-ci", "--json")
    expected = essence(ran("score", "coref", key, response, *options))
    piped = [pack(path.read_bytes()) for path in pair]
    assert essence(ran("score", "coref", "-", response, *options, stdin=piped[0])) == expected
    assert essence(ran("score", "coref", key, "-", *options, stdin=piped[1])) == expected
    assert essence(ran("score", "coref", key, STANDARD_INPUT, *options, stdin=piped[1])) == expected


def test_the_suffix_before_gz_counts(ran):
    # The first line is no header of CorefUD, and only the suffix tells.
    text = "# anything\n# newdoc id = a\n# global.Entity = eid\n1\tx\t_\t_\t_\t_\t0\t_\t_\tEntity=(e)\n\n"
    Path("key.conllu.gz").write_bytes(gzip.compress(text.encode()))
    assert ran("convert", "coref", "key.conllu.gz", "-o", "out.jsonl") == "out.jsonl: 1 document\n"


def test_other_commands(ran, run):
    key, response = write_key("key", "conll"), write_key("response", "conll")
    piped = response.read_bytes()
    found = ran("validate", "coref", key, "-", stdin=piped)
    assert found == "/dev/stdin: valid; 2 of 2 gold records of key.conll have predictions\n"
    found = ran("errors", "coref", key, "-", "--json", stdin=piped)
    assert json.loads(found) == json.loads(ran("errors", "coref", key, response, "--json"))
    compared = json.loads(ran("compare", "coref", key, response, key, "--json"))
    found = ran("compare", "coref", key, "-", key, "--json", stdin=piped)
    assert json.loads(found.replace('"stdin"', '"response"')) == compared
    found = ran("compare", "coref", "-", response, key, "--json", stdin=key.read_bytes())
    assert json.loads(found) == compared
    ran("convert", "coref", "-", "-o", "out.conll", stdin=piped)
    assert Path("out.conll").read_bytes() == piped


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "coref", "-", "-"),
        ("score", "coref", "-", "/dev/stdin"),
        ("validate", "coref", "-", "-"),
        ("errors", "coref", "-", "-"),
        ("compare", "coref", "-", "key.conll", "-"),
        ("compare", "coref", "key.conll", "-", "-"),
        ("score", "mctaco", "-", "--gold", "-"),
    ],
)
def test_standard_input_for_both(arguments, run):
    done = run(*arguments, stdin=b"")
    assert done.exit_code == 2
    assert TWICE in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("merge", "-", "-o", "out.parquet"),
        ("export", "mctaco", "-"),
        ("info", "mctaco", "--stats", "--data-dir", "-"),
        ("score", "--from-counts", "-"),
        ("convert", "coref", "key.conll", "-o", "-"),
    ],
)
def test_what_must_have_a_name(arguments, run):
    done = run(*arguments)
    assert done.exit_code == 2
    assert "'-' is not a file (expected a file name)" in done.stderr


def test_other_procedures(ran):
    rows = ran(
        "baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl"
    ) and Path("yes.jsonl")
    options = ("--config", "sample", "--no-ci", "--json")
    expected = ran("score", "mctaco", rows, *options)
    assert ran("score", "mctaco", "-", *options, stdin=rows.read_bytes()) == expected
    assert ran("score", "mctaco", "-", *options, stdin=gzip.compress(rows.read_bytes())) == expected


def test_bad_input_names_it(run):
    key = write_key("key", "coref_json")
    for piped, found in {
        b"": "is empty",
        b"\x1f\x8bmore than magic": "is not a valid gzip file: its data is corrupt",
        gzip.compress(b"{}")[:-1]: "is not a valid gzip file: it is truncated",
        b'{"document": "a"}\n': "/dev/stdin:1: field 'clusters' is missing",
    }.items():
        done = run("score", "coref", key, "-", stdin=piped)
        assert done.exit_code == 1
        assert found in done.stderr
        assert done.stderr.startswith("Error: /dev/stdin: ") or done.stderr.startswith(
            "Error: /dev/stdin:1: "
        )


def test_a_file_named_like_it(ran):
    Path("-").write_text(dump_json_lines(KEY))
    assert ran("score", "coref", "./-", "./-", "--no-ci", "--metrics", "lea")


@pytest.mark.gate
def test_a_pipe_that_is_open(ran):
    key, response = write_key("key", "conll"), write_key("response", "conll")
    expected = essence(ran("score", "coref", key, response, "--no-ci", "--json"))
    command = f"{sys.executable} -c 'from closeread.cli import main; main()'"
    for line in (
        f"{command} score coref <(cat key.conll) <(gzip -c response.conll) --no-ci --json",
        f"cat key.conll | {command} score coref - response.conll --no-ci --json",
        f"{command} score coref /dev/stdin response.conll --no-ci --json < key.conll",
        f"{command} score coref key.conll - --no-ci --json < response.conll",
    ):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert essence(done.stdout) == expected
    done = subprocess.run(
        ["bash", "-c", f"{command} score coref key.conll - <&-"], capture_output=True, text=True
    )
    assert done.stderr == "Error: /dev/stdin: is closed\n"


def test_a_named_pipe_may_have_no_writer(run):
    os.mkfifo("pipe")
    key = write_key("key", "conll")
    for given in (("pipe", key), (key, "pipe")):
        done = run("score", "coref", *given)
        assert done.exit_code == 1
        assert "pipe: is not a regular file" in done.stderr


def test_what_is_an_open_pipe(tmp_path):
    assert is_open_pipe(STANDARD_INPUT)
    assert not is_open_pipe(tmp_path)
    assert not is_open_pipe(Path("/dev/null"))
    assert not is_open_pipe(Path("/dev/fd/999999"))
    read, write = os.pipe()
    with (tmp_path / "file").open("w") as file:
        assert is_open_pipe(Path(f"/dev/fd/{read}"))
        assert not is_open_pipe(Path(f"/dev/fd/{file.fileno()}"))
    os.write(write, b"abc")
    os.close(write)
    assert read_bytes(Path(f"/dev/fd/{read}")) == b"abc"
    os.close(read)


def test_a_pipe_that_is_too_long(monkeypatch):
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 2)
    with pytest.raises(FormatError, match=f"/dev/fd/{read}: is too large: more than 2 bytes"):
        read_bytes(Path(f"/dev/fd/{read}"))
    os.close(read)


def test_a_plain_file_is_the_file_itself():
    path = Path("plain")
    path.write_bytes(b"abc")
    with plain_file(path) as found:
        assert found is path
    Path("zipped").write_bytes(gzip.compress(b"abc"))
    with plain_file(Path("zipped")) as found:
        assert found.read_bytes() == b"abc"
    assert not found.exists()
    with (
        pytest.raises(FormatError, match="nothing: can't be read"),
        plain_file(Path("nothing")) as found,
    ):
        read_bytes(found)
