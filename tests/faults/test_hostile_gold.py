"""Gold with hostile names: what commands make of it is valid, and what can't be written is named."""

import gzip
import io
import json
from pathlib import Path

import pytest
from shared import json_lines
from shared.balanced_html import check_html
from shared.boards import score_here
from shared.entry_points import CORPORA, sample_gold
from shared.hostile_gold import write_hostile
from shared.late import pandas

from closeread.corpus.baselines import load_baselines
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import dump_submission, read_submission
from closeread.exceptions import RequestError
from closeread.formats.json_lines import dump_json_lines

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def call(run):
    """Runs a command, which must end well."""

    def invoke(*arguments):
        result = run(*arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return invoke


@pytest.mark.parametrize("corpus", CORPORA)
def test_baselines(corpus, run):
    """What a baseline writes for gold with hostile names is valid, and is scored."""
    write_hostile(corpus)
    for name, baseline in load_baselines(corpus).items():
        # they need word vectors, articles or documents
        if baseline.options and name not in ("surface", "all-pairs"):
            continue
        for suffix in (".jsonl", ".txt") if corpus == "mctaco" else (".jsonl",):
            path = f"{name}{suffix}"
            made = run("baseline", corpus, name, "--gold", "gold.jsonl", "-o", path)
            if made.exit_code:
                assert made.exit_code in (1, 2), made.stderr
                assert "Error: " in made.stderr
                assert not Path(path).exists()
                continue
            assert run("validate", corpus, path, "--gold", "gold.jsonl").exit_code == 0
    assert corpus in ("semeval2015_timeline", "wikipossessions") or list(Path().glob("*-*.jsonl"))


def test_perturbed_and_adjudicated_gold(call):
    records = write_hostile("mctaco")
    answers = {}
    for name in ("units.jsonl", "units.TSV", "units.tsv.gz"):
        call("prepare", "mctaco", "units", "--gold", "gold.jsonl", "-o", name)
        answers[name] = [
            row["answer"] for row in read_own_gold(load_corpus("mctaco"), Path(name)).records
        ]
        assert len(answers[name]) == len(records)
    assert len(set(map(tuple, answers.values()))) == 1
    call(
        "prepare",
        "mctaco",
        "candidates",
        "--gold",
        "gold.jsonl",
        "--events",
        "none",
        "--limit",
        "3",
        "-o",
        "c.jsonl",
    )
    ids = [
        json.loads(line)["id"]
        for line in Path("c.jsonl").read_text("utf-8").rstrip("\n").split("\n")
    ]
    for name in ("anna", "ben"):
        rows = [
            {"id": one, "label": "unlikely" if n % 3 else "likely"} for n, one in enumerate(ids)
        ]
        Path(f"{name}.jsonl").write_text(dump_json_lines(rows), "utf-8")
    for name in ("kept.jsonl", "kept.tsv", "kept.tsv.gz"):
        call(
            "adjudicate", "mctaco", "anna.jsonl", "ben.jsonl", "--candidates", "c.jsonl", "-o", name
        )
        assert len(read_own_gold(load_corpus("mctaco"), Path(name)).records) == len(ids)
    call("adjudicate", "mctaco", "anna.jsonl", "ben.jsonl", "-o", "labels.jsonl")
    assert call(
        "score", "mctaco", "labels.jsonl", "--gold", "kept.jsonl", "--score-only"
    ).split() == ["100.00"]


def test_ids_that_no_prediction_could_name(run):
    record = {**sample_gold("tne")[0], "id": "a\x85b"}
    Path("gold.jsonl").write_text(json_lines.dump([record]), "utf-8")
    result = run("baseline", "tne", "surface", "--gold", "gold.jsonl", "-o", "out.jsonl")
    found = r"Error: gold.jsonl:1: id 'a\x85b': the id contains the control character U+0085"
    assert (result.exit_code, result.stderr.strip()) == (1, found)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            {"id": "a", "label": "\x85"},
            r"row 1: the string '\x85' contains the control character U+0085",
        ),
        (
            {"id": "a", "label": float("nan")},
            "row 1: Out of range float values are not JSON compliant",
        ),
        ({"id": "a", "label": [0]}, "row 1: is nested too deeply (limit: 100 levels)"),
    ],
)
def test_rows_that_can_not_be_written_are_named(row, found):
    for _ in range(100_000 if row["label"] == [0] else 0):
        row["label"] = [row["label"]]
    with pytest.raises(RequestError) as caught:
        dump_submission([{"id": "0"}, row], load_corpus("mctaco"), ".jsonl")
    assert str(caught.value).startswith(f"cannot write mctaco predictions: {found}")


@pytest.mark.gate
def test_a_leaderboard_gives_back_what_was_submitted(call, monkeypatch):
    monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)
    write_hostile("tne")
    name, corpus = "=1 <b> é|", load_corpus("tne")
    call("leaderboard", "init", "board", "--corpus", "tne", "--gold", "gold.jsonl", "--public")
    call("submit", "tne", "a.jsonl", "--gold", "gold.jsonl", "--system", name, "--to", "board")
    call("leaderboard", "judge", "board", "--gold", "gold.jsonl")
    (submission,) = json.loads(call("leaderboard", "status", "board", "--json"))["submissions"]
    assert submission["status"] == "accepted"
    call("leaderboard", "download", "board", submission["id"], "-o", "again.jsonl")
    gold = read_own_gold(corpus, Path("gold.jsonl")).records
    rows, again = (
        list(read_submission(Path(name), corpus, gold).rows) for name in ("a.jsonl", "again.jsonl")
    )
    assert rows == again
    shown = json.loads(call("leaderboard", "show", "board", "--json"), parse_constant=pytest.fail)
    assert name in json.dumps(shown, ensure_ascii=False)
    index = json.loads(Path("board/board.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert name in json.dumps(index, ensure_ascii=False)
    table = call("leaderboard", "show", "board", "--format", "csv")
    frame = pandas.read_csv(io.StringIO(table))
    assert [cell for cell in frame.iloc[0] if isinstance(cell, str) and name in cell]
    call("leaderboard", "build", "board", "-o", "page.html.gz")
    assert check_html(gzip.decompress(Path("page.html.gz").read_bytes()).decode())
