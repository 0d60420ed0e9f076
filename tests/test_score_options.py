"""`score` into a file, with more decimals, as bare numbers; `validate` of many files and as JSON."""

import json
from pathlib import Path

import pytest

# One document: key {0,1,2} {3,4,5,6}, response {0,1} {2,3} {5,6,7,8}, from Moosavi and Strube (2016, section 3).
KEY = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
RESPONSE = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
# MUC: 2 links of 5 found in both directions; the key has 2 + 3, the response 1 + 1 + 3.
# LEA: recall (3 * 1/3 + 4 * 1/6) / 7 = 5/21, precision (2 * 1 + 2 * 0 + 4 * 1/6) / 8 = 1/3, F1 = 10/36.
MUC, LEA = "40.00", "27.78"
SCORE = ("score", "coref", "key.jsonl", "response.jsonl")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, clusters in (("key", KEY), ("response", RESPONSE)):
        Path(f"{name}.jsonl").write_text(json.dumps({"document": "a", "clusters": clusters}) + "\n")
    Path("broken.jsonl").write_text('{"document": "a"}\n{"document": "b", "clusters": []}\n')


def test_only_scores(ran):
    assert ran(*SCORE, "--score-only", "--metrics", "muc") == f"{MUC}\n"
    assert ran(*SCORE, "--score-only", "--metrics", "lea,muc") == f"{LEA}\n{MUC}\n"
    assert ran(*SCORE, "--score-only", "--metrics", "lea", "--digits", "5") == "27.77778\n"
    assert ran(*SCORE, "--score-only", "--metrics", "lea", "--digits", "0") == "28\n"


def test_the_main_score_is_the_one_that_systems_are_ranked_by(ran):
    found = json.loads(ran(*SCORE, "--json", "--no-ci"))["scores"]["conll/f1"]["value"]
    assert ran(*SCORE, "--score-only") == f"{100 * found:.2f}\n"
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl")
    mctaco = ("score", "mctaco", "yes.jsonl", "--config", "sample")
    found = json.loads(ran(*mctaco, "--json", "--no-ci"))["scores"]
    assert ran(*mctaco, "--score-only") == f"{100 * found['f1']['value']:.2f}\n"
    both = [f"{100 * found[name]['value']:.2f}\n" for name in ("f1", "exact_match")]
    assert ran(*mctaco, "--score-only", "--metrics", "f1,exact_match") == "".join(both)


def test_a_score_without_a_value_is_nan(ran):
    # Without a shared mention, anchor accuracy is 0/0, and no convention gives it a value.
    Path("system.jsonl").write_text('{"id": "aurelia", "entity": "Aurelia", "entries": []}\n')
    options = ("--config", "sample", "--missing", "empty", "--score-only", "--metrics", "anchor_accuracy")
    assert ran("score", "timeline", "system.jsonl", *options) == "nan\n"


@pytest.mark.parametrize(
    ("others", "named"),
    [
        (["--per-unit"], "--per-unit"),
        (["--by", "entity_size"], "--by"),
        (["--json"], "--format json"),
        (["--format", "latex", "--with-counts"], "--with-counts and --format latex"),
    ],
)
def test_numbers_alone_leave_no_room_for_more(run, others, named):
    done = run(*SCORE, "--score-only", *others)
    assert done.exit_code == 2
    assert f"--score-only prints numbers alone; omit {named}." in done.stderr


def test_digits_are_those_of_tables_only(ran):
    table = ran(*SCORE, "--metrics", "lea", "--digits", "4", "--no-ci")
    assert [part in table for part in ("33.3333", "23.8095", "27.7778")] == [True] * 3
    for style in ("markdown", "latex"):
        assert " 27.8 " in ran(*SCORE, "--metrics", "lea", "--digits", "1", "--format", style, "--no-ci")
    for style in ("json", "csv"):
        assert ran(*SCORE, "--digits", "1", "--format", style) == ran(*SCORE, "--format", style)
    assert "27.7778" in ran(*SCORE, "--metrics", "lea", "--digits", "4", "--no-ci", "--per-unit").split("\n\n")[0]


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "csv"], ["--score-only"], ["--format", "latex"]])
def test_output_goes_to_a_file_instead(ran, options):
    assert ran(*SCORE, *options, "--output", "result") == ""
    assert Path("result").read_text("utf-8") == ran(*SCORE, *options)


def test_a_file_is_written_whole_or_not_at_all(run, ran):
    Path("result").write_text("before")
    assert run("score", "coref", "key.jsonl", "broken.jsonl", "-o", "result").exit_code == 1
    assert run(*SCORE, "-o", "no-folder/result").exit_code == 1
    assert Path("result").read_text() == "before"
    assert ran(*SCORE, "-o", "result") == ""
    assert sorted(path.name for path in Path().iterdir()) == ["broken.jsonl", "key.jsonl", "response.jsonl", "result"]


def test_an_input_is_not_overwritten(run, ran):
    before = Path("key.jsonl").read_text()
    assert "key.jsonl is also an input" in run(*SCORE, "-o", "key.jsonl").stderr
    assert "given for two outputs" in run(*SCORE, "-o", "both", "--counts", "both").stderr
    assert Path("key.jsonl").read_text() == before
    ran(*SCORE, "--counts", "counts.parquet")
    done = run("score", "--from-counts", "counts.parquet", "-o", "counts.parquet")
    assert (done.exit_code, "counts.parquet is also an input" in done.stderr) == (2, True)
    assert ran("score", "--from-counts", "counts.parquet", "--score-only") == ran(*SCORE, "--score-only")


VALID = "response.jsonl: valid; 1 of 1 gold records of key.jsonl have predictions\n"


def test_many_files_are_validated_at_once(run, ran):
    assert ran("validate", "coref", "key.jsonl", "response.jsonl") == VALID
    done = run("validate", "coref", "key.jsonl", "broken.jsonl", "response.jsonl", "absent.jsonl")
    assert (done.exit_code, done.stdout) == (1, VALID)
    found = done.stderr.splitlines()
    assert found[0].startswith("Error: broken.jsonl:")
    assert any("field 'clusters' is missing" in line for line in found)
    assert found[-1] == "absent.jsonl: can't be read: No such file or directory"


def test_verdicts_as_json(run):
    done = run("validate", "coref", "key.jsonl", "response.jsonl", "broken.jsonl", "absent.jsonl", "--json")
    first, second, third = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (1, "")
    assert first == {"file": "response.jsonl", "valid": True, "rows": 1, "problems": []}
    assert (second["file"], second["valid"], second["rows"]) == ("broken.jsonl", False, None)
    assert "broken.jsonl:1: field 'clusters' is missing" in second["problems"]
    assert third["problems"] == ["absent.jsonl: can't be read: No such file or directory"]
    done = run("validate", "coref", "key.jsonl", "response.jsonl", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [first])
