"""`closeread agreement coref` and `closeread errors chains`."""

import json
from pathlib import Path

import pytest
from shared.conll_documents import as_ontonotes
from shared.coreference import write_conll, write_jsonl

ABC, AB = [[[0, 0], [1, 1], [2, 2]]], [[[0, 0], [1, 1]], [[2, 2]]]
"""The first table of the cases: alpha is -4/11, 0 and -16/69."""

X, Y, Z = (f"{name}; part 000" for name in "xyz")
"""The names of the documents that CoNLL calls x, y and z."""


@pytest.fixture
def three(here):
    """Files of three annotators; the third has only the second document, and nobody else has the third."""
    write_conll(here / "anna.conll", {"x": ABC, "y": [[[0, 1], [3, 3]]]})
    write_jsonl(here / "ben.jsonl", {Y: [[[0, 1], [3, 3]]], X: AB})
    write_conll(here / "cem.conll", {"z": ABC, "y": [[[0, 1], [3, 3]]]}, form=as_ontonotes)
    return ("anna.conll", "ben.jsonl", "cem.conll")


def test_json(ran, three):
    found = json.loads(ran("agreement", "coref", *three, "--json"))
    assert found["documents"][X] == {
        "annotators": 2, "mentions": 3, "nominal": pytest.approx(-4 / 11), "iaa1": 0.0, "iaa2": pytest.approx(-16 / 69),
    }  # fmt: skip
    assert found["documents"][Y] == {
        "annotators": 3,
        "mentions": 2,
        "nominal": 1.0,
        "iaa1": 1.0,
        "iaa2": 1.0,
    }
    assert found["documents"][Z] == {
        "annotators": 1,
        "mentions": 3,
        "nominal": None,
        "iaa1": None,
        "iaa2": None,
    }
    del found["documents"], found["pairs"], found["divided"]
    macro, pooled = found.pop("averages").values()
    assert macro == {name: found[name] for name in macro}
    # The other document has no two different chains, and adds 0 to either sum; twice drawn, it is 0/0.
    assert pooled == {
        "nominal": pytest.approx(-4 / 11), "iaa1": 0.0, "iaa2": pytest.approx(-16 / 69),
        "intervals": {
            "nominal": pytest.approx([-4 / 11, 1]), "iaa1": [0, 1], "iaa2": pytest.approx([-16 / 69, 1]),
        },
    }  # fmt: skip
    del found["intervals"]
    assert found == {
        "nominal": pytest.approx((1 - 4 / 11) / 2), "iaa1": 0.5, "iaa2": pytest.approx((1 - 16 / 69) / 2),
        "unannotated": "singleton", "average": "macro",
    }  # fmt: skip


def test_both_averages_are_in_one_table(ran, three):
    table = ran("agreement", "coref", *three).partition("\n\n")[0]
    rows = [row.split() for row in table.splitlines()]
    assert ["macro", "average", "31.82", "50.00", "38.41"] in rows
    assert ["pooled", "average", "-36.36", "0.00", "-23.19"] in rows
    chosen_first = ran("agreement", "coref", *three, "--average", "pooled").partition("\n\n")[0]
    assert chosen_first.index("pooled average") < chosen_first.index("macro average")
    assert sorted(chosen_first.splitlines()[:-1]) == sorted(table.splitlines()[:-1])


def test_given_mentions(run, ran, here, three):
    write_conll(
        here / "given.conll",
        {"x": [[[i, i]] for i in range(4)], "y": [[[0, 1]], [[3, 3]]], "w": []},
    )
    done = run("agreement", "coref", *three[:2], "--given", "given.conll", "--json")
    found = json.loads(done.stdout)["documents"]
    # The fourth mention is a chain of its own for both, and adds 2 * 6 pairs: 1 - 7 * 1/(5 + 12).
    assert (found[X]["mentions"], found[X]["iaa1"]) == (4, pytest.approx(1 - 7 * 1 / 17))
    assert found["w; part 000"] == {
        "annotators": 0,
        "mentions": 0,
        "nominal": None,
        "iaa1": None,
        "iaa2": None,
    }
    assert "1 document has fewer than two annotators, and no alpha: 'w; part 000'" in done.stderr
    write_conll(here / "fewer.conll", {"x": [[[0, 0]], [[1, 1]]]})
    done = run("agreement", "coref", *three[:2], "--given", "fewer.conll")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "Error: anna.conll: 2 problems:",
        "anna.conll: document 'y; part 000' is not in fewer.conll",
        "anna.conll:4: document 'x; part 000': the mention of tokens 2 to 2 is not in fewer.conll",
        "ben.jsonl: 2 problems:",
        "ben.jsonl: document 'y; part 000' is not in fewer.conll",
        "ben.jsonl: document 'x; part 000': the mention of tokens 2 to 2 is not in fewer.conll",
    ]


@pytest.mark.parametrize("command", [("agreement", "coref"), ("errors", "chains")])
def test_all_problems_of_all_files_at_once(run, three, command):
    write_jsonl(Path("twice.jsonl"), {"x": [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]})
    Path("bad.conll").write_text(
        "#begin document (x); part 000\nx\t0\t0\ta\tX\t(1\n\n#end document\n"
    )
    done = run(*command, "anna.conll", "twice.jsonl", "bad.conll", "none.conll")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "Error: twice.jsonl: document 'x': the mention of tokens 1 to 1 is in entities '0' and '1'; keep one of them",
        "bad.conll:2: column 6: entity 1 opens but never closes",
        "none.conll: can't be read: No such file or directory",
    ]


def test_other_tokens(run, here, three):
    write_conll(here / "short.conll", {"x": ABC}, length=8)
    text = (here / "anna.conll").read_text().replace("word2", "wort2", 1)
    (here / "other.conll").write_text(text)
    write_jsonl(here / "far.jsonl", {X: [[[0, 0], [11, 12]]]})
    done = run("agreement", "coref", "far.jsonl", "anna.conll", "short.conll", "other.conll")
    assert done.exit_code == 1
    found = "far.jsonl: document 'x; part 000' has a mention that ends at token 12, but 9 tokens in anna.conll"
    assert done.stderr.splitlines() == [
        f"Error: {found} (numbered from 0)",
        "short.conll: document 'x; part 000' has 8 tokens, but 9 in anna.conll",
        "other.conll:4: token 2 of document 'x; part 000' is 'wort2', but 'word2' in anna.conll (line 4)",
    ]


def test_chains(run, ran, here, three):
    write_conll(here / "gold.conll", {"x": ABC, "y": [[[0, 1], [3, 3]]], "z": [[[0, 0], [4, 4]]]})
    assert json.loads(ran("errors", "chains", "gold.conll", *three, "--json")) == {
        "chains": 6, "mentions": 14, "kinds": {"exact": 4, "missing": 2, "mixed": 0, "extra": 0, "spurious": 0},
        "missing_mentions": {"1": 2}, "foreign_mentions": {},
    }  # fmt: skip
    lines = [line.split() for line in ran("errors", "chains", "gold.conll", *three).splitlines()]
    assert lines[2:4] == [["exact", "4", "66.67"], ["missing", "2", "33.33", "100.00"]]
    assert lines[7] == ["6", "chains", "of", "two", "or", "more", "mentions,", "14", "mentions."]
    assert [line[-4:] for line in lines[-2:]] == [["2", "0", "0", "0"], ["0", "0", "0", "0"]]
    assert ran("errors", "chains", "gold.conll", *three, "--format", "csv").splitlines()[:3] == [
        "count,value,chains", "kind,exact,4", "kind,missing,2",
    ]  # fmt: skip
    itself = json.loads(ran("errors", "chains", "gold.conll", "gold.conll", "--json"))
    assert itself["kinds"] == {"exact": 3, "missing": 0, "mixed": 0, "extra": 0, "spurious": 0}
    done = run("errors", "chains", "anna.conll", "cem.conll")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: cem.conll: document 'z; part 000' is not in anna.conll\n",
    )
    done = run("errors", "chains", "gold.conll", "anna.conll")
    assert done.stderr == "note: 1 document of gold in none of the other files: 'z; part 000'.\n"
    done = run(
        "plot", "link-support", "gold.conll", "anna.conll", "./anna.conll", "-o", "support.svg"
    )
    assert done.stderr == (
        "note: anna.conll is given twice; it counts as two files.\n"
        "note: 1 document of gold in none of the other files: 'z; part 000'.\n"
    )


def test_predictions_of_a_system_are_compared_not_its_gold(ran, here):
    row = {"doc_key": "x", "sentences": [["a", "b", "c"]], "clusters": [[[0, 0], [1, 1]]]}
    (here / "gold.jsonl").write_text(json.dumps(row) + "\n")
    (here / "out.jsonl").write_text(
        json.dumps({**row, "predicted_clusters": [[[1, 1], [2, 2]]]}) + "\n"
    )
    found = json.loads(ran("errors", "chains", "gold.jsonl", "out.jsonl", "--json"))
    assert found["missing_mentions"] == {"1": 1}
