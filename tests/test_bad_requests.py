"""Requests that click refuses, places that can't be written, files that aren't the released ones.

Those for unknown names and unusable options are in `recorded/requests.txt`.
"""

import hashlib
import os
from pathlib import Path

import pytest
from shared.bad_input import GOOD, SAMPLE, put, refuses, tsv

import closeread

pytestmark = pytest.mark.usefixtures("here")

USAGE = {
    "unknown value": (
        ["score", "mctaco", "system", *SAMPLE, "--missing", "nought"],
        "score mctaco",
        "--missing",
    ),
    "unknown option": (["score", "mctaco", "system", "--zz"], "score mctaco", "--zz"),
    "no resamples": (
        ["score", "mctaco", "system", "--resamples", "0"],
        "score mctaco",
        "--resamples",
    ),
    "too fast": (
        ["train", "mctaco", "out", "--learning-rate", "1.5"],
        "train mctaco",
        "--learning-rate",
    ),
    "no speed": (
        ["train", "tne", "out", "--head-learning-rate", "0"],
        "train tne",
        "--head-learning-rate",
    ),
    "no system to compare": (["compare", "mctaco"], "compare mctaco", "SYSTEMS"),
    "no output": (["convert", "coref", "key.conll"], "convert coref", "--output"),
}
"""Requests that click refuses in its own words, which differ from version to version."""


@pytest.mark.parametrize("name", USAGE)
def test_usage(run, name):
    arguments, command, named = USAGE[name]
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Usage: main {command} [OPTIONS]")
    assert named in result.stderr.split("Error: ")[1]


def test_special_files_are_not_replaced(run, here):
    os.mkfifo("pipe")
    Path("target").write_text("before")
    Path("link").symlink_to("target")
    command = ["baseline", "mctaco", "random", *SAMPLE, "-o"]
    refuses(run(*command, "pipe"), "pipe: can't be written: is not a regular file")
    refuses(run(*command, os.devnull), f"{os.devnull}: can't be written: is not a regular file")
    assert Path("pipe").is_fifo()
    assert run(*command, "link").exit_code == 0
    assert Path("link").is_symlink()
    assert Path("target").read_text().startswith('{"id": "test-00000"')


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_other_files_named_by_data_dir_are_a_note(run):
    Path("data").mkdir()
    path = put("data/test_9442.tsv", tsv(GOOD))
    put("system", "yes\n")
    note = (
        f"note: {path} is not the released file (sha256 {sha256(path)[:12]}…); using it as it is.\n"
    )
    for arguments in (
        ["score", "mctaco", "system", "--no-ci"],
        ["validate", "mctaco", "system"],
        ["compare", "mctaco", "system", "system", "--resamples", "2"],
        ["baseline", "mctaco", "random", "-o", "out"],
    ):
        result = run(*arguments, "--data-dir", "data")
        assert (result.exit_code, result.stderr) == (0, note), arguments
        assert result.stdout


@pytest.mark.parametrize(
    ("name", "options", "path"),
    [
        ("mctaco", {"config": "sample"}, "none"),
        ("mctaco", {"gold": "key"}, "key"),
        ("coref", {"gold": [[[[0, 0], [1, 1]]]]}, "none"),
        ("coref", {"gold": "key"}, "key"),
        ("tlinks", {"gold": "key"}, "key"),
    ],
)
def test_a_missing_file_is_a_file_not_found_error(name, options, path):
    with pytest.raises(FileNotFoundError) as raised:
        closeread.score(name, "none", **options)
    assert isinstance(raised.value, closeread.InputError)
    assert str(raised.value) == f"{path}: can't be read: No such file or directory"


@pytest.mark.parametrize(
    ("resampling", "message"),
    [
        ({"confidence": 2.0}, "confidence is 2.0 (expected a number above 0 and below 1)"),
        (
            {"confidence": 95.0},
            "confidence is 95.0 (expected a number above 0 and below 1; write 0.95)",
        ),
        ({"n_resamples": -1}, "n_resamples is -1 (expected a whole number from 0)"),
        ({"seed": -1}, "seed is -1 (expected a whole number from 0)"),
    ],
)
def test_ranges_are_checked_before_anything_is_read(resampling, message):
    with pytest.raises(closeread.RequestError) as raised:
        closeread.Resampling(**resampling)
    assert str(raised.value) == message
    (name, value), *_ = resampling.items()
    if name == "n_resamples":
        return
    for function in (closeread.score, closeread.compare, closeread.table):
        systems = "none" if function is closeread.score else ["none", "none"]
        with pytest.raises(closeread.RequestError, match=f"{name} is {value}"):
            function("mctaco", systems, config="sample", **{name: value})


def test_a_percentage_is_told_how_to_be_written(run):
    result = run("score", "mctaco", "none", "--confidence", "95")
    expected = "95 (expected a number above 0 and below 1; write 0.95)"
    assert result.exit_code == 2
    assert f"Invalid value for '--confidence': {expected}" in result.stderr
