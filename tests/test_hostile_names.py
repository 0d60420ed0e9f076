"""Names of files and units are shown on one line: no line end or escape sequence in them reaches a terminal."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared import json_lines
from shared.entry_points import CORPORA, KEY, RESPONSE, sample_gold, system_rows, write_key

from closeread.cli import main

NAME = "x\nmctaco.jsonl: valid; 103 rows\x1b[31m\u202e"
CONFIG = ("--config", "sample")
FEW = ("--resamples", "2")


@pytest.fixture
def files(here):
    """Files of hostile names, by what they hold."""
    found = {corpus: f"{NAME}{corpus}.jsonl" for corpus in CORPORA}
    for corpus, name in found.items():
        json_lines.write(name, system_rows(corpus))
        json_lines.write(f"gold {name}", sample_gold(corpus))
    Path(f"{NAME}bad.jsonl").write_text('{"id": "x"\n{"id": 5, "x": 1}\n')
    Path(f"{NAME}.txt").write_text("x")
    for side, clusters in (("key", KEY), ("response", RESPONSE)):
        write_key(side, "conll", clusters)
        shutil.move(f"{side}.conll", f"{NAME}{side}.conll")
    os.mkdir(f"{NAME}folder")
    return found


def run_in_colour(*arguments):
    """Run a command as on a terminal with colours, which gets escape sequences unchanged."""
    return CliRunner().invoke(main, arguments, catch_exceptions=False, color=True)


def is_shown_safely(text):
    return "\x1b[31m" not in text and "\u202e" not in text and "\nmctaco.jsonl: valid" not in text


COMMANDS = (
    *(
        (command, corpus, f"{NAME}{corpus}.jsonl", *CONFIG)
        for corpus in CORPORA
        for command in ("validate", "score")
    ),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", "--gold", f"gold {NAME}mctaco.jsonl", *FEW),
    (
        "score",
        "mctaco",
        f"{NAME}mctaco.jsonl",
        *CONFIG,
        "--counts",
        f"{NAME}a.counts",
        "--output",
        f"{NAME}a",
        *FEW,
    ),
    *(
        ("score", "mctaco", f"{NAME}{name}", *CONFIG)
        for name in ("bad.jsonl", "no such.jsonl", "folder", ".txt")
    ),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", "--config", NAME),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--by", NAME),
    ("score", NAME, f"{NAME}mctaco.jsonl"),
    (NAME,),
    ("score", "coref", f"{NAME}key.conll", f"{NAME}response.conll", *FEW),
    ("score", "coref", f"{NAME}bad.jsonl", f"{NAME}folder", *FEW),
    ("compare", "mctaco", f"{NAME}bad.jsonl", f"{NAME}folder", *CONFIG, *FEW),
    *(
        (
            "table",
            "mctaco",
            f"{NAME}mctaco.jsonl",
            f"{NAME}mctaco.jsonl",
            *CONFIG,
            *FEW,
            "--format",
            style,
        )
        for style in ("table", "markdown", "latex", "html")
    ),
    ("merge", f"{NAME}bad.jsonl", f"{NAME}folder", "-o", f"{NAME}merged"),
    ("errors", "coref", f"{NAME}key.conll", f"{NAME}response.conll"),
    ("errors", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--by", NAME),
    (
        "plot",
        "scores",
        "mctaco",
        f"{NAME}mctaco.jsonl",
        *CONFIG,
        "--by",
        "category",
        "-o",
        f"{NAME}.png",
    ),
    ("baseline", "mctaco", "always-positive", *CONFIG, "-o", f"{NAME}folder"),
    ("convert", "coref", f"{NAME}key.conll", "-o", f"{NAME}key.jsonl"),
    ("export", "mctaco", f"{NAME}folder/{NAME}", "--config", "sample"),
    *(("info", NAME), ("info", NAME, "--cite"), ("show", "mctaco", NAME, *CONFIG)),
)


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda arguments: " ".join(a.replace(NAME, "N") for a in arguments)
)
def test_names_of_files(files, arguments):
    result = run_in_colour(*arguments)
    assert is_shown_safely(result.output), result.output
    assert is_shown_safely(result.stderr), result.stderr


def test_names_of_units(here):
    """Units of data can't have such names; those of the user's own documents are refused or escaped."""
    document = f"doc {NAME}"
    Path("key.json").write_text("")
    json_lines.write("key.jsonl", [{"document": document, "clusters": [[[0, 0], [1, 1]]]}])
    result = run_in_colour("score", "coref", "key.jsonl", "key.jsonl", "--per-unit", *FEW)
    assert is_shown_safely(result.output), result.output
    assert is_shown_safely(result.stderr), result.stderr
