"""`closeread table`: predictions, counts and reports in one table, in every format."""

import csv
import json
import re
from pathlib import Path

import pytest
from shared import json_lines
from shared.doors import CORPORA, KEY, RESPONSE, system_rows, write_key

import closeread
from closeread.counts.estimates import Resampling
from closeread.counts.systems import detect_kind, make_names
from closeread.exceptions import word_for_command_line

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


def test_predictions_counts_and_reports(files, ran):
    printed = ran("table", "mctaco", *MIXED, *SAMPLE, *QUICK)
    cells = [line.split() for line in printed.splitlines()[4:8]]
    scores = [
        json.loads(ran("score", "mctaco", f"{name}.jsonl", *SAMPLE, "--json"))["scores"]
        for name in ("good", "yes", "no")
    ]
    expected = [[f"{100 * one[name]['value']:.2f}" for name in ("exact_match", "f1")] for one in (*scores, scores[0])]
    assert [row[0] for row in cells] == ["good", "yes", "told", "old"]
    assert [[re.sub("[†‡]", "", cell) for cell in row[1:]] for row in cells] == expected
    assert "there is only a report of 'told'" in printed
    assert "Signature: mctaco|version:1|missing:error|gold:14237cb6aca7" in printed


@pytest.mark.parametrize("style", STYLES)
def test_python_gives_what_the_command_prints(style, files, ran):
    printed = ran("table", "mctaco", *MIXED, *SAMPLE, *QUICK, "--format", style, "--intervals", "range", "--sort", "f1")
    found = closeread.table("mctaco", MIXED, config="sample", resampling=Resampling(60), intervals="range", sort="f1")
    ways = {
        "table": lambda: f"{found}\n",
        "json": lambda: json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n",
        "markdown": found.to_markdown,
        "latex": found.to_latex,
        "csv": found.to_csv,
        "html": found.to_html,
    }
    assert ways[style]() == printed


def test_a_table_is_written_to_a_file_of_its_own(files, ran, run):
    compare = ("compare", "mctaco", "good.jsonl", "yes.jsonl", *SAMPLE, "--resamples", "5", "--output")
    command = ("table", "mctaco", *MIXED, *SAMPLE, *QUICK, "--format", "html", "--output")
    for words in (compare, command):
        assert ran(*words, "written") == ""
        assert Path("written").read_text("utf-8") == ran(*words[:-1])
    result = run(*command, "told.json")
    assert (result.exit_code, "told.json is also an input" in result.stderr) == (2, True)


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_file_is_a_system_of_a_corpus(corpus, ran):
    """Also where the corpus's procedure, by its own name, takes the first file as the key."""
    for name in ("first", "second"):
        json_lines.write(f"{name}.jsonl", system_rows(corpus))
    scores = json.loads(ran("score", corpus, "first.jsonl", *SAMPLE, "--no-ci", "--json"))["scores"]
    printed = ran("table", corpus, "first.jsonl", "second.jsonl", *SAMPLE, "--resamples", "1", "--format", "csv")
    rows = list(csv.DictReader(printed.splitlines()))
    assert {row["system"] for row in rows} == {"first", "second"}
    values = [scores[row["metric"]]["value"] for row in rows]
    assert [row["score"] for row in rows] == ["" if value is None else str(value) for value in values]


def test_pairs(files, ran):
    command = ("table", "mctaco", "good.jsonl", "yes.jsonl", "no.jsonl", *SAMPLE, *QUICK, "--pairs")
    assert "All pairs of systems\n" in ran(*command)
    header, *rows = ran(*command, "--format", "csv").splitlines()
    assert header.startswith("first,second,metric,")
    assert [row.split(",")[:3] for row in rows[:3]] == [
        [first, second, "exact_match"] for first, second in (("good", "yes"), ("good", "no"), ("yes", "no"))
    ]
    assert len(rows) == 6


def test_names(files, ran, run):
    command = ("table", "mctaco", "good.jsonl", "yes.jsonl", *SAMPLE, *QUICK, "--scores", "f1", "--format", "csv")
    for given in (("--names", 'Ours, "a, b"'), ("--names", "Ours", "--names", '"a, b"')):
        rows = ran(*command, *given).splitlines()[1:]
        assert [row[:6] for row in rows] == ["Ours,f", '"a, b"']
    for given, message in (
        (("--names", "a"), "--names has 1 name for 2 systems"),
        (("--names", "a,a"), "--names has 'a' twice; give each system its own name"),
        (("--names", "a\n,b"), "Invalid value for '--names': the names can't be separated: "),
    ):
        result = run(*command, *given)
        assert (result.exit_code, message in result.stderr) == (2, True)
    # The shortest ends of paths that tell files apart.
    paths = ["a/x.jsonl", "b/x.jsonl", "a/y.txt", "a/y.json", "v1.2.jsonl.gz", "-", "a/x.jsonl"]
    assert make_names(list(map(Path, paths))) == [
        "a/x.jsonl (1)",
        "b/x",
        "y.txt",
        "y.json",
        "v1.2",
        "-",
        "a/x.jsonl (2)",
    ]


def test_a_key_comes_before_the_systems_but_not_before_counts(ran, run):
    write_key("key", "conll", KEY)
    write_key("response", "conll", RESPONSE)
    ran("score", "coref", "key.conll", "response.conll", "--counts", "response.parquet")
    Path("told.json").write_text(ran("score", "coref", "key.conll", "key.conll", "--no-ci", "--json"))
    both = [
        ran("table", "coref", *systems, *QUICK, "--format", "csv")
        for systems in (("key.conll", "response.conll", "told.json"), ("response.parquet", "told.json"))
    ]
    assert both[0] == both[1]
    assert both[0].splitlines()[1].startswith("response,mentions/f1,")
    assert "response" in ran("table", "coref", "key.conll", "response.parquet", *QUICK)
    for arguments, message in (
        (("told.json", "response.conll"), "told.json is not a key (expected the key before the systems)"),
        (("key.conll",), "a table needs at least one system"),
        (("response.conll", "response.parquet"), "'response': gold is coref "),
        (("key.conll", "response.parquet", "--duplicates", "first"), "option duplicates is 'error' (expected 'first')"),
        (("response.parquet", "--duplicates", "first"), "counts and reports include their gold and options; omit"),
    ):
        result = run("table", "coref", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_counts_are_compared_without_a_key(ran, run):
    write_key("key", "conll", KEY)
    write_key("response", "conll", RESPONSE)
    for name, options in (("key", ()), ("response", ()), ("other", ("--duplicates", "first"))):
        file = "key.conll" if name == "key" else "response.conll"
        ran("score", "coref", "key.conll", file, *options, "--counts", f"{name}.parquet")
    compared = [
        ran("compare", "coref", *files, *QUICK, "--json").replace(".conll", ".parquet")
        for files in (
            ("key.parquet", "response.parquet"),
            ("key.conll", "key.parquet", "response.parquet"),
            ("key.conll", "key.conll", "response.conll"),
        )
    ]
    assert compared[0] == compared[1] == compared[2]
    Path("told.json").write_text(ran("score", "coref", "key.conll", "response.conll", "--no-ci", "--json"))
    for arguments, message in (
        (("key.parquet", "response.conll"), "key.parquet is not a key (expected the key before the systems)"),
        (("key.parquet",), "a comparison needs at least two systems"),
        (("key.conll", "key.parquet"), "a comparison needs at least two systems"),
        (
            ("key.parquet", "response.parquet", "--matching", "head"),
            "counts and reports include their gold and options",
        ),
        (("key.parquet", "other.parquet"), "duplicates"),
        (("key.conll", "key.conll", "told.json"), "'told' is a report, which has no counts to test (expected "),
    ):
        result = run("compare", "coref", *arguments)
        assert (result.exit_code, result.stdout, message in result.stderr) == (2, "", True), result.stderr


def test_what_is_wrong_with_the_files(files, ran, run):
    Path("broken.json").write_text(Path("told.json").read_text().replace('"n_units": 25', '"n_units": "25"'))
    Path("other.json").write_text(
        Path("told.json").read_text().replace('"procedure": "mctaco"', '"procedure": "chess"')
    )
    ran("score", "mctaco", "good.jsonl", *SAMPLE, "--missing", "skip", "--counts", "skip.parquet")
    rows = system_rows("mctaco")
    json_lines.write("some.jsonl", rows[:50])
    ran("score", "mctaco", "some.jsonl", *SAMPLE, "--missing", "skip", "--counts", "some.parquet")
    json_lines.write("coref.jsonl", [{"document": "ode", "clusters": []}])
    ran("score", "coref", "coref.jsonl", "coref.jsonl", "--counts", "coref.parquet")
    for arguments, code, message in (
        (("broken.json",), 1, "broken.json: n_units: expected a whole number, found '25'"),
        (("coref.parquet",), 1, "coref.parquet: contains counts of coref version 1 (expected mctaco version 1)"),
        (("told.json", "skip.parquet"), 2, "scored as 'told' was: 'skip': option missing is 'skip' (expected 'error')"),
        (("good.jsonl", "skip.parquet", *SAMPLE), 2, "scored on the gold and with the options given: 'skip': option"),
        (("skip.parquet", "some.parquet"), 2, "With --missing skip, all systems must cover the same units."),
        (("told.json", "yes.parquet", *SAMPLE), 2, "counts and reports include their gold and options"),
        (
            ("told.json", "--scores", "f1,accuracy"),
            2,
            "no such mctaco score: 'accuracy' (choose from: exact_match, f1)",
        ),
        (("told.json", "--sort", "f2"), 2, "no such column to sort by: 'f2'"),
        (("none.jsonl", *SAMPLE), 1, "none.jsonl: can't be read: No such file or directory"),
        (("told.json", "--alpha", "nan"), 2, "'nan' is not a number"),
    ):
        result = run("table", "mctaco", *arguments)
        assert (result.exit_code, message in " ".join(result.stderr.split())) == (code, True), result.stderr
        assert result.stdout == ""
    assert "told" in ran("table", "mctaco", "told.json")


@pytest.mark.parametrize("command", ["compare", "table"])
def test_the_problems_of_all_files_are_told_at_once(run, files, command):
    Path("short.jsonl").write_text('{"id": "test-00000", "label": "yes"}\n')
    Path("odd.jsonl").write_bytes(Path("yes.jsonl").read_bytes().replace(b'"yes"', b'"ja"', 1))
    Path("bad.parquet").write_bytes(Path("yes.parquet").read_bytes()[:-9])
    result = run(command, "mctaco", "short.jsonl", "good.jsonl", "odd.jsonl", "absent.jsonl", "bad.parquet", *SAMPLE)
    assert (result.exit_code, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert [line.removeprefix("Error: ").partition(":")[0] for line in lines] == [
        "short.jsonl", "odd.jsonl", "absent.jsonl", "bad.parquet",
    ]  # fmt: skip
    with word_for_command_line(), pytest.raises(closeread.exceptions.InputError) as caught:
        closeread.compare("mctaco", "short.jsonl", "odd.jsonl", config="sample")
    assert str(caught.value).splitlines() == [line.removeprefix("Error: ") for line in lines[:2]]


@pytest.mark.parametrize("command", ["table", "compare"])
def test_scores_that_metrics_exclude(command, files, run):
    systems = ("always.jsonl", "never.jsonl")
    for name in systems:
        json_lines.write(name, system_rows("mctaco"))
    line = (command, "mctaco", *systems, "--config", "sample", "--metrics", "f1", "--scores")
    result = run(*line, "exact_match")
    assert result.stderr == (
        "Error: --metrics excludes the score 'exact_match'; add 'exact_match' to --metrics, or omit --metrics\n"
    )
    result = run(*line, "acuracy")
    assert result.stderr == "Error: no such mctaco score: 'acuracy' (choose from: f1)\n"
    write_key("key", "conll", KEY)
    result = run(command, "coref", *["key.conll"] * 3, "--metrics", "muc", "--scores", "b3/f1")
    assert result.stderr == "Error: --metrics excludes the score 'b3/f1'; add 'b3' to --metrics, or omit --metrics\n"
    result = run(command, "coref", *["key.conll"] * 3, "--metrics", "muc", "--scores", "glue")
    assert "(choose from: muc, or one of their scores, such as muc/f1)" in result.stderr
