"""Names of files and units are shown on one line: no line end or escape sequence in them reaches a terminal."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared import json_lines
from shared.doors import CORPORA, KEY, RESPONSE, sample_gold, system_rows, write_key
from shared.for_each import for_each

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
    *(("validate", corpus, f"{NAME}{corpus}.jsonl", *CONFIG) for corpus in CORPORA),
    *(("score", corpus, f"{NAME}{corpus}.jsonl", *CONFIG, *FEW) for corpus in CORPORA),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", "--gold", f"gold {NAME}mctaco.jsonl", *FEW),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--counts", f"{NAME}a.counts", *FEW),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--output", f"{NAME}a.json", *FEW),
    ("score", "mctaco", f"{NAME}bad.jsonl", *CONFIG),
    ("score", "mctaco", f"{NAME}no such.jsonl", *CONFIG),
    ("score", "mctaco", f"{NAME}folder", *CONFIG),
    ("score", "mctaco", f"{NAME}.txt", *CONFIG),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", "--config", NAME),
    ("score", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--by", NAME),
    ("score", NAME, f"{NAME}mctaco.jsonl"),
    (NAME,),
    ("score", "coref", f"{NAME}key.conll", f"{NAME}response.conll", *FEW),
    ("score", "coref", f"{NAME}key.conll", f"{NAME}bad.jsonl", *FEW),
    ("score", "coref", f"{NAME}bad.jsonl", f"{NAME}folder", *FEW),
    ("score", "timeline", f"{NAME}folder", *CONFIG),
    ("compare", "mctaco", f"{NAME}mctaco.jsonl", f"{NAME}mctaco.jsonl", *CONFIG, *FEW),
    ("compare", "mctaco", f"{NAME}bad.jsonl", f"{NAME}folder", *CONFIG, *FEW),
    ("table", "mctaco", f"{NAME}mctaco.jsonl", f"{NAME}bad.jsonl", *CONFIG, *FEW),
    *(
        ("table", "mctaco", f"{NAME}mctaco.jsonl", f"{NAME}mctaco.jsonl", *CONFIG, *FEW, "--format", style)
        for style in ("table", "markdown", "latex", "html")
    ),
    ("merge", f"{NAME}bad.jsonl", f"{NAME}folder", "-o", f"{NAME}merged"),
    ("errors", "coref", f"{NAME}key.conll", f"{NAME}response.conll"),
    ("errors", "tne", f"{NAME}tne.jsonl", *CONFIG, *FEW),
    ("errors", "mctaco", f"{NAME}mctaco.jsonl", *CONFIG, "--by", NAME),
    ("errors", "mctaco", f"{NAME}bad.jsonl", *CONFIG),
    ("plot", "label-scores", f"{NAME}mctaco.jsonl", *CONFIG, "-o", f"{NAME}.png"),
    ("agreement", "coref", f"{NAME}key.conll", f"{NAME}response.conll"),
    ("agreement", "tne", f"{NAME}tne.jsonl", f"{NAME}bad.jsonl", *CONFIG),
    ("baseline", "mctaco", "always-positive", *CONFIG, "-o", f"{NAME}b.jsonl"),
    ("baseline", "mctaco", "always-positive", *CONFIG, "-o", f"{NAME}folder"),
    ("convert", "coref", f"{NAME}key.conll", "-o", f"{NAME}key.jsonl"),
    ("convert", "coref", f"{NAME}.txt", "-o", f"{NAME}key.jsonl"),
    ("export", "mctaco", f"{NAME}export", "--config", "sample"),
    ("export", "mctaco", f"{NAME}folder/{NAME}", "--config", "sample"),
    ("info", NAME),
    ("show", "mctaco", NAME, *CONFIG),
    ("cite", NAME),
    ("plot", "mctaco", f"{NAME}bad.jsonl", *CONFIG, "-o", f"{NAME}.png"),
    ("install-modules", f"{NAME}folder"),
)


@for_each("arguments", COMMANDS, ids=lambda arguments: " ".join(a.replace(NAME, "N") for a in arguments))
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
