"""`closeread table`: predictions, counts and reports in one table, in every format."""

import csv
import json
from pathlib import Path

import pytest
from shared import json_lines
from shared.entry_points import CORPORA, system_rows

import closeread
from closeread.counts.estimates import Resampling
from closeread.counts.systems import detect_kind, make_names

SAMPLE = ("--config", "sample")
QUICK = ("--resamples", "60")
STYLES = ("table", "json", "markdown", "latex", "csv", "html")


@pytest.fixture
def files(ran):
    """Systems for McTaco's sample: predictions, counts, and a report."""
    rows = system_rows("mctaco")
    for name in ("good.jsonl", "old.jsonl"):
        json_lines.write(name, rows)
    for label in ("yes", "no"):
        json_lines.write(f"{label}.jsonl", [{**row, "label": label} for row in rows])
    ran("score", "mctaco", "yes.jsonl", *SAMPLE, "--no-ci", "--counts", "yes.parquet")
    Path("told.json").write_text(ran("score", "mctaco", "no.jsonl", *SAMPLE, *QUICK, "--json"))


MIXED = ("good.jsonl", "yes.parquet", "told.json", "old.jsonl")


def test_what_is_in_a_file(files):
    kinds = [detect_kind(Path(name)) for name in (*MIXED, "absent.json", ".")]
    assert kinds == ["predictions", "counts", "report", *["predictions"] * 3]


@pytest.mark.parametrize("style", STYLES)
def test_python_gives_what_the_command_prints(style, files, ran):
    printed = ran(
        "table",
        "mctaco",
        *MIXED,
        *SAMPLE,
        *QUICK,
        "--format",
        style,
        "--intervals",
        "range",
        "--sort",
        "f1",
    )
    found = closeread.table(
        "mctaco", MIXED, config="sample", resampling=Resampling(60), intervals="range", sort="f1"
    )
    ways = {
        "table": lambda: f"{found}\n",
        "json": lambda: f"{found.to_json()}\n",
        "markdown": found.to_markdown,
        "latex": found.to_latex,
        "csv": found.to_csv,
        "html": found.to_html,
    }
    assert ways[style]() == printed


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_file_is_a_system_of_a_corpus(corpus, ran):
    """Also where the corpus's procedure, by its own name, takes the first file as the key."""
    for name in ("first", "second"):
        json_lines.write(f"{name}.jsonl", system_rows(corpus))
    scores = json.loads(ran("score", corpus, "first.jsonl", *SAMPLE, "--no-ci", "--json"))["scores"]
    printed = ran(
        "table",
        corpus,
        "first.jsonl",
        "second.jsonl",
        *SAMPLE,
        "--resamples",
        "1",
        "--format",
        "csv",
    )
    rows = [
        row for row in csv.DictReader(printed.splitlines()) if row.get("group", "mean") == "mean"
    ]
    assert {row["system"] for row in rows} == {"first", "second"}
    values = [scores[row["metric"]]["value"] for row in rows]
    assert [row["score"] for row in rows] == [
        "" if value is None else str(value) for value in values
    ]


def test_names_are_the_shortest_ends_of_paths_that_tell_files_apart():
    paths = ["a/x.jsonl", "b/x.jsonl", "a/y.txt", "a/y.json", "v1.2.jsonl.gz", "-", "a/x.jsonl"]
    expected = ["a/x.jsonl (1)", "b/x", "y.txt", "y.json", "v1.2", "-", "a/x.jsonl (2)"]
    assert make_names(list(map(Path, paths))) == expected
