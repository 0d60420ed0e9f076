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
    options = (
        "--config",
        "sample",
        "--missing",
        "empty",
        "--score-only",
        "--metrics",
        "anchor_accuracy",
    )
    assert ran("score", "timeline", "system.jsonl", *options) == "nan\n"
