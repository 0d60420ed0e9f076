"""`closeread info`: the figures, the schema and the BibTeX entries of a corpus, and which options go together."""

import json

import pytest

import closeread


def test_the_views_are_what_python_returns(ran):
    figures = json.loads(ran("info", "tne", "--stats", "--config", "sample", "--json"))
    assert figures["splits"] == closeread.stats("tne", config="sample").splits
    schema = ran("info", "tne", "--schema", "--submission")
    assert json.loads(schema) == closeread.schema("tne", submission=True)
    assert ran("info", "muc", "closeread", "--cite") == closeread.cite("muc", "closeread") + "\n"
    assert ran("info", "--cite") == closeread.cite() + "\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "info needs the name of one corpus (--cite takes several)"),
        ("mctaco tne", "info needs the name of one corpus (--cite takes several)"),
        ("mctaco --stats --cite", "--stats and --cite exclude each other"),
        ("mctaco --submission", "--submission goes with --schema"),
        ("mctaco --config sample", "--config goes with --stats or --schema"),
        ("mctaco --cite --data-dir .", "options of reading files go with --stats"),
        ("mctaco --json", "--format json goes with --stats"),
        ("mctaco --schema --format csv", "--format csv goes with --stats"),
    ],
)
def test_options_that_do_not_go_together(run, options, message):
    done = run("info", *options.split())
    assert done.exit_code == 2
    assert done.stderr.endswith(f"Error: {message}\n")


def test_help_lists_twenty_one_commands(ran):
    _, listed = ran("--help").split("Score systems:")
    names = [
        line.split()[0] for line in listed.splitlines() if line[:3].strip() and line[:2] == "  "
    ]
    assert len(names) == 21
    assert not {"submit", "merge", "install-modules"} & set(names)


def test_the_former_name_of_submitting_works(run):
    for words in (("submit",), ("leaderboard", "submit")):
        done = run(*words, "mctaco", "mine.jsonl", "--system", "Mine", "--to", "nowhere")
        assert "nowhere" in done.stderr
    assert "submit" in run("leaderboard", "--help").stdout
    assert "choose from" in run("submi").stderr
    assert "submit" not in run("submi").stderr.replace("'submi'", "")


@pytest.mark.parametrize("name", ["stats", "schema", "cite"])
def test_former_commands_are_gone(run, name):
    assert run(name, "mctaco").stderr.startswith(f"Error: no such command: '{name}'")
