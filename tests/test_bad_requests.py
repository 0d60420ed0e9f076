"""Bad requests: unknown names, unusable options, places that can't be written, files that aren't the released ones.

Each case checks all of standard error and the exit code, and that nothing is printed or written.
"""

import hashlib
import os
from pathlib import Path

import pytest
from shared.bad_input import GOOD, ROWS, SAMPLE, lines, put, refuses, tsv

from closeread.corpus.names import corpus_names
from closeread.tasks import procedure_names

pytestmark = pytest.mark.usefixtures("here")

REQUESTS = {
    "unknown corpus": (["stats", "mctacos"],
        f"no such corpus: 'mctacos'. Did you mean 'mctaco'? (choose from: {', '.join(corpus_names())})"),
    "corpus like no other": (["stats", "x"], f"no such corpus: 'x' (choose from: {', '.join(corpus_names())})"),
    "unknown procedure": (["score", "mtcaco", "system"],
        f"no such procedure: 'mtcaco'. Did you mean 'mctaco'? (choose from: {', '.join(procedure_names())})"),
    "unknown config": (["score", "mctaco", "system", "--config", "smaple"],
        "no such config of mctaco: 'smaple'. Did you mean 'sample'? (choose from: default, flat, sample, sample_flat)"),
    "unknown split": (["score", "mctaco", "system", *SAMPLE, "--split", "dev"],
        "no such split of mctaco (sample): 'dev' (choose from: test)"),
    "unknown baseline": (["baseline", "mctaco", "positive", *SAMPLE, "-o", "out"],
        "no such baseline of mctaco: 'positive'. Did you mean 'always-positive'? "
        "(choose from: always-positive, always-negative, random)"),
    "unknown field": (["score", "mctaco", "system", *SAMPLE, "--by", "categories", "--counts", "out"],
        "no field 'categories' to slice by. Did you mean 'category'? (choose from: category)"),
    "escape in a name": (["score", "mctaco", "system", *SAMPLE, "--split", "\x1b[2J"],
        r"no such split of mctaco (sample): '\x1b[2J' (choose from: test)"),
    "two places for gold": (["score", "mctaco", "system", *SAMPLE, "--gold", "system"],
        "your own gold can't be combined with a config or a data folder"),
    "a board of two tasks": (["leaderboard", "init", "out", "--corpus", "mctaco", "--procedure", "coref"],
        "give either --corpus or --procedure"),
    "a board of no task": (["leaderboard", "init", "out"], "give either --corpus or --procedure"),
    "a corpus's name with a dot": (["baseline", "mctaco.x", "random", "-o", "out"],
        f"no such corpus: 'mctaco.x'. Did you mean 'mctaco'? (choose from: {', '.join(corpus_names())})"),
    "a folder for the sample": (["score", "mctaco", "system", *SAMPLE, "--data-dir", "nowhere"],
        "config sample of mctaco comes with the package; it takes no data folder"),
    "a split that can't begin an id": (["score", "mctaco", "system", "--gold", "system", "--split", "a b"],
        "split 'a b' is not valid (expected 1 to 40 ASCII letters, digits, '_', '.' and '-')"),
    "one system to compare": (["compare", "mctaco", "system", *SAMPLE], "a comparison needs at least two systems"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_request(run, here, name):
    arguments, message = REQUESTS[name]
    put("system", lines(*ROWS))
    refuses(run(*arguments), message, code=2)
    assert os.listdir(here) == ["system"]


USAGE = {
    "unknown value": (["score", "mctaco", "system", *SAMPLE, "--missing", "nought"], "score mctaco", "--missing"),
    "unknown option": (["score", "mctaco", "system", "--zz"], "score mctaco", "--zz"),
    "no resamples": (["score", "mctaco", "system", "--resamples", "0"], "score mctaco", "--resamples"),
    "too fast": (["train", "mctaco", "out", "--learning-rate", "1.5"], "train mctaco", "--learning-rate"),
    "no speed": (["train", "tne", "out", "--head-learning-rate", "0"], "train tne", "--head-learning-rate"),
    "no system to compare": (["compare", "mctaco"], "compare mctaco", "SYSTEMS"),
    "no output": (["baseline", "mctaco", "random", *SAMPLE], "baseline mctaco random", "--output"),
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


def test_a_dash_is_no_file(run, here):
    result = run("baseline", "mctaco", "random", *SAMPLE, "-o", "-")
    assert result.exit_code == 2
    assert "'-' is not a file (expected a file name)." in result.stderr
    assert os.listdir(here) == []


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_other_files_named_by_data_dir_are_a_note(run):
    Path("data").mkdir()
    path = put("data/test_9442.tsv", tsv(GOOD))
    put("system", "yes\n")
    note = f"note: {path} is not the released file (sha256 {sha256(path)[:12]}…); using it as it is.\n"
    for arguments in (
        ["score", "mctaco", "system", "--no-ci"],
        ["validate", "mctaco", "system"],
        ["compare", "mctaco", "system", "system", "--resamples", "2"],
        ["baseline", "mctaco", "random", "-o", "out"],
    ):
        result = run(*arguments, "--data-dir", "data")
        assert (result.exit_code, result.stderr) == (0, note), arguments
        assert result.stdout
