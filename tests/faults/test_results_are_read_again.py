"""Results are stored so that they are read again to the last digit, and are read by the parsers of others."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from shared import json_lines
from shared.balanced_html import check_html
from shared.entry_points import system_rows
from shared.hostile_gold import write_hostile
from shared.hostile_texts import HOSTILE
from shared.late import pandas

import closeread
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report

FEW = Resampling(20)
PLAIN_NAMES = {"NA", "null", "None", "nan", "NaN"}
"""What pandas takes for nothing if it isn't told otherwise."""

pytestmark = pytest.mark.usefixtures("here")


def strict(text):
    """Parse JSON by RFC 8259, which has no NaN, no infinity and no lone surrogates."""
    assert text.encode()
    return json.loads(text, parse_constant=pytest.fail)


@pytest.fixture(params=["mctaco", "tne", "semeval2015_timeline"])
def corpus(request):
    """A corpus with a file of gold and two of predictions, of which one lacks a third."""
    write_hostile(request.param)
    return request.param


def test_results(corpus, run):
    """Scores, intervals and tests are the same from predictions, counts and stored results."""

    def call(*arguments):
        result = run(*arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout

    options = ("--gold", "gold.jsonl", "--missing", "empty", "--resamples", "20", "-q")
    few, shown = ("--resamples", "20", "-q"), ("--per-unit", "--format")
    printed = call(
        "score", corpus, "a.jsonl", *options, "--json", "--per-unit", "--counts", "a.parquet"
    )
    call("score", corpus, "b.jsonl", *options, "--no-ci", "--counts", "b.parquet", "-o", "b.txt")
    assert call("score", "--from-counts", "a.parquet", *few, "--json", "--per-unit") == printed
    call("score", corpus, "a.jsonl", *options, "--json", "--per-unit", "-o", "a.json.gz")
    assert strict(gzip.decompress(Path("a.json.gz").read_bytes()).decode()) == strict(printed)
    report = Report.load("a.json.gz")
    Path("printed.json").write_text(printed, "utf-8")
    assert report == Report.load("printed.json")
    assert call("table", corpus, "a.json.gz", "b.parquet", *few, "--json")
    compared = call("compare", corpus, "a.jsonl", "b.jsonl", *options, "--json")
    from_counts = call("compare", corpus, "a.parquet", "b.parquet", *few, "--json")
    assert strict(from_counts) == json.loads(
        compared.replace('"a.jsonl"', '"a.parquet"').replace('"b.jsonl"', '"b.parquet"')
    )
    units = strict(printed)["units"]
    check_csv(call("score", corpus, "a.jsonl", *options, *shown, "csv"), units)
    assert call("score", "--from-counts", "a.parquet", *few, *shown, "latex") == call(
        "score", corpus, "a.jsonl", *options, *shown, "latex"
    )


def check_csv(text, units):
    """The cells of a table of units are those of its JSON, for the parser of Python and for that of pandas."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(units)
    frame = pandas.read_csv(io.StringIO(text))
    first, *others = units[0]
    for row, (_, cells), unit in zip(rows, frame.iterrows(), units, strict=True):
        name = unit[first]
        assert row[first] in (name, f"'{name}")  # what a spreadsheet would take for a formula
        if name not in PLAIN_NAMES:
            assert str(cells[first]) == row[first]
        for field in others:
            if isinstance(unit[field], int | float):
                assert float(row[field]) == unit[field]
                # old pandas loses a bit
                assert float(cells[field]) == pytest.approx(unit[field], rel=1e-15)
            elif unit[field] is None:
                assert row[field] == ""
                assert cells[field] != cells[field]


NAMES = [name for name in HOSTILE[::2] if not set(name) & set("/\0\ud800") and len(name) < 100]
"""Those that files may have, and JSON."""


@pytest.mark.filterwarnings("ignore:.*(same|equal)")
def test_tables_of_files_of_any_name():
    rows = json_lines.dump(system_rows("mctaco"))
    paths = [f"{name}.jsonl" for name in NAMES]
    for path in paths:
        Path(path).write_text(rows, "utf-8")
    table = closeread.table("mctaco", paths, config="sample", resampling=FEW)
    for path in ("=t.json", "\udcff.json.gz"):
        table.save(path)
    strict(Path("=t.json").read_text("utf-8"))
    assert len(list(csv.reader(io.StringIO(table.to_csv(), newline="")))) == 1 + 2 * len(NAMES)
    for text in (table.to_csv(), table.to_latex(), table.to_markdown(), table.to_html()):
        assert text.encode()
    assert len([text for text in check_html(table.to_html()) if text]) >= 2 * len(NAMES)
    compared = closeread.compare("mctaco", paths[0], paths[1], config="sample", resampling=FEW)
    compared.save("\u2028.json")
    assert strict(Path("\u2028.json").read_text("utf-8")) == compared.to_dict()
    assert compared.to_csv().encode()
