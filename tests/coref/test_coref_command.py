"""`closeread score|compare|validate|errors coref` on invented files."""

import json
from pathlib import Path

import pytest
from shared.conll_documents import as_ontonotes

from closeread.assignment import MAX_CELLS_SEARCHED

KEY = """#begin document (ferry); part 000
ferry 0 0 Marta NNP (0)
ferry 0 1 and CC -
ferry 0 2 her PRP$ (1|(0)
ferry 0 3 brother NN 1)
ferry 0 4 waited VBD -

ferry 0 0 He PRP (1)
ferry 0 1 read VBD -
ferry 0 2 to TO -
ferry 0 3 her PRP (0)
#end document
#begin document (night); part 000
night 0 0 Snow NN (0)
night 0 1 fell VBD -
night 0 2 It PRP (0)
#end document
"""
# The second "her" is in the brother's entity, "It" is missing, "to" is spurious, and "Snow" is alone in its entity.
RESPONSE = KEY.replace(
    "to TO -\nferry 0 3 her PRP (0)", "to TO (7)\nferry 0 3 her PRP (1)"
).replace("PRP (0)\n#", "PRP -\n#")


@pytest.fixture(params=[str, as_ontonotes])
def pair(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    Path("key.conll").write_text(request.param(KEY))
    Path("response.conll").write_text(request.param(RESPONSE))
    return "key.conll", "response.conll"


def test_some_metrics_and_rows_per_document(ran, pair):
    printed = ran(
        "score", "coref", *pair, "--metrics", "lea,muc", "--per-unit", "--json", "--no-ci"
    )
    found = json.loads(printed)
    assert list(found["scores"]) == [
        f"{m}/{part}" for m in ("muc", "lea") for part in ("precision", "recall", "f1")
    ]
    assert [unit["document"] for unit in found["units"]] == ["ferry; part 000", "night; part 000"]
    assert found["units"][1]["muc/recall"] == 0
    assert found["released"] is None
    assert found["corpus"] == "coref"
    table = ran("score", "coref", *pair, "--metrics", "lea", "--per-unit", "--no-ci")
    assert table.splitlines()[:3] == ["document   LEA F1", "─────────────────", "ferry       54.55"]
    header = ran(
        "score",
        "coref",
        *pair,
        "--metrics",
        "lea",
        "--per-unit",
        "--with-counts",
        "--format",
        "markdown",
    )
    assert header.startswith("| document   |   LEA precision |   LEA recall |   LEA F1 |")


def test_validate_refuses_what_score_does(run, pair):
    done = run("validate", "coref", *pair, "--matching", "head")
    assert done.exit_code == 2
    assert "matching 'head' needs heads on both sides" in done.stderr


def test_compare_accepts_stored_counts(ran, run, pair):
    ran("score", "coref", *pair, "--counts", "kept.parquet", "--no-ci")
    wanted = ran("compare", "coref", "key.conll", "response.conll", "key.conll", "--json")
    found = ran("compare", "coref", "key.conll", "kept.parquet", "key.conll", "--json")
    assert json.loads(found) == json.loads(wanted.replace('"response"', '"kept"'))
    ran("score", "coref", *pair, "--counts", "lea.parquet", "--no-ci", "--metrics", "lea")
    assert ran("compare", "coref", "key.conll", "lea.parquet", "kept.parquet", "--metrics", "lea")
    done = run(
        "compare", "coref", "key.conll", "lea.parquet", "kept.parquet", "--metrics", "lea,muc"
    )
    assert done.exit_code == 2
    assert "'lea' has no muc/f1 (it has: mentions/precision" in done.stderr
    done = run(
        "compare", "coref", "key.conll", "kept.parquet", "key.conll", "--average", "documents"
    )
    assert done.exit_code == 2
    assert "'kept': option average is 'micro' (expected 'documents')" in done.stderr
    both = ("lea.parquet", "kept.parquet", "--metrics", "lea")
    for other in (("key.conll", *both, "--average", "documents"), ("response.conll", *both)):
        done = run("compare", "coref", *other)  # no option and no key is silently passed over
        assert done.exit_code == 2
        assert "they were not scored on the gold and with the options given" in done.stderr


def test_all_problems_of_a_file_at_once(run, pair):
    Path("bad.conll").write_text(
        RESPONSE.replace("brother NN 1)", "brother NN 1) x").replace("Snow NN (0)", "Snow NN 5)")
    )
    done = run("score", "coref", "key.conll", "bad.conll")
    assert done.exit_code == 1
    assert "bad.conll: 3 problems:" in done.stderr
    assert "bad.conll:4: column 6: entity 1 opens but never closes" in done.stderr
    assert "bad.conll:5: the number of columns is 7" in done.stderr
    assert "bad.conll:14: column" in done.stderr
    assert "Traceback" not in done.stderr


def test_errors_are_counted_and_listed_with_their_text(ran, pair):
    found = json.loads(ran("errors", "coref", *pair, "--json"))
    assert found["counts"] == {
        "right entity": 0,
        "split entity": 1,
        "merged entities": 1,
        "missing entity": 0,
        "spurious entity": 1,
        "missing mention": 1,
        "spurious mention": 1,
    }
    by_kind = {error["kind"]: error for error in found["errors"]}
    texts = {
        kind: [[mention["text"] for mention in piece] for piece in error["pieces"]]
        for kind, error in by_kind.items()
    }
    assert texts == {
        "split entity": [["Marta", "her"], ["her"]],
        "merged entities": [["her brother", "He"], ["her"]],
        "spurious entity": [["to"]],
        "missing mention": [["It"]],
        "spurious mention": [["to"]],
    }
    assert by_kind["split entity"]["document"] == "ferry; part 000"
    assert by_kind["split entity"]["entity"] == "0"
    assert by_kind["spurious mention"]["entity"] == "7"


def test_errors_with_repeats_and_without_text(ran, run, pair):
    twice = {"document": "a", "clusters": [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]}
    Path("twice.jsonl").write_text(json.dumps(twice) + "\n")
    assert run("errors", "coref", "twice.jsonl", "twice.jsonl").exit_code == 1
    found = json.loads(
        ran("errors", "coref", "twice.jsonl", "twice.jsonl", "--duplicates", "first", "--json")
    )
    assert found["counts"]["right entity"] == 2
    # The words of the response are shown if the key has none, in any order of its documents.
    Path("none.jsonl").write_text(
        '{"document": "night; part 000", "clusters": []}\n{"document": "ferry; part 000", "clusters": []}\n'
    )
    found = json.loads(ran("errors", "coref", "none.jsonl", "key.conll", "--json"))
    assert found["errors"][0]["pieces"][0][0]["text"] == "Marta"


def test_errors_of_an_empty_response(ran, pair):
    Path("none.jsonl").write_text('{"document": "night; part 000", "clusters": []}\n')
    found = json.loads(ran("errors", "coref", "key.conll", "none.jsonl", "--json"))
    assert found["counts"]["missing entity"] == 3
    assert found["counts"]["missing mention"] == 7
    assert found["counts"]["spurious mention"] == 0
    turned = json.loads(ran("errors", "coref", "none.jsonl", "none.jsonl", "--json"))
    assert set(turned["counts"].values()) == {0}


@pytest.mark.gate
def test_scipy_is_imported_only_for_the_solver(pair):
    import subprocess
    import sys

    code = "import sys; from closeread import score; score('coref', 'response.conll', gold='key.conll')\n"
    code += "print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    # Entities that each share a mention with all of the other side: to find the best mapping, every pair is looked at,
    # which are more than are looked at without SciPy.
    assert MAX_CELLS_SEARCHED < 250 * 250
    grid = [[250 * i + j for j in range(250)] for i in range(250)]
    rows = [grid, [list(column) for column in zip(*grid, strict=True)]]
    for path, clusters in zip(("k.jsonl", "r.jsonl"), rows, strict=True):
        documents = {
            "document": "a",
            "clusters": [[[i, i] for i in cluster] for cluster in clusters],
        }
        Path(path).write_text(json.dumps(documents) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", code.replace(".conll", ".jsonl").replace("key", "k").replace("response", "r")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "True\n"
