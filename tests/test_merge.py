"""`closeread merge`: what belongs together, and what is refused."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from shared import json_lines
from shared.entry_points import sample_gold, system_rows

from closeread.counts.counts import Counts


@pytest.fixture
def shards(tmp_path, monkeypatch, ran):
    """TNE's sample in two shards, counted: a.parquet and b.parquet."""
    monkeypatch.chdir(tmp_path)
    gold, rows = sample_gold("tne"), system_rows("tne")
    for name, part in (("a", slice(0, 2)), ("b", slice(2, None))):
        Path(f"{name}-gold.jsonl").write_text(json_lines.dump(gold[part]), "utf-8")
        Path(f"{name}.jsonl").write_text(json_lines.dump(rows[part]), "utf-8")
        ran(
            "score",
            "tne",
            f"{name}.jsonl",
            "--gold",
            f"{name}-gold.jsonl",
            "--no-ci",
            "--counts",
            f"{name}.parquet",
        )


@pytest.mark.parametrize("seed", range(6))
def test_shards_that_cut_a_sentence_are_merged_as_if_they_had_not(tmp_path, monkeypatch, ran, seed):
    # Questions of a sentence are resampled together, whichever shard they are in, and in any order of the shards.
    monkeypatch.chdir(tmp_path)
    gold, rows, draw = sample_gold("mctaco"), system_rows("mctaco"), random.Random(seed)
    shard = {
        question: draw.randrange(3)
        for question in dict.fromkeys(one["question_id"] for one in gold)
    }
    sentences = {(one["sentence_id"], shard[one["question_id"]]) for one in gold}
    assert len(sentences) > len({name for name, _ in sentences})
    for number in ("all", *range(3)):
        own = [i for i, one in enumerate(gold) if number in ("all", shard[one["question_id"]])]
        Path(f"{number}-gold.jsonl").write_text(json_lines.dump([gold[i] for i in own]), "utf-8")
        Path(f"{number}.jsonl").write_text(json_lines.dump([rows[i] for i in own]), "utf-8")
        files = (f"{number}.jsonl", "--gold", f"{number}-gold.jsonl")
        ran("score", "mctaco", *files, "--no-ci", "--counts", f"{number}.parquet")
    ran(
        "merge",
        *(f"{number}.parquet" for number in draw.sample(range(3), 3)),
        "-o",
        "merged.parquet",
    )
    whole, merged = (
        ran("score", "--from-counts", f"{name}.parquet", "--json") for name in ("all", "merged")
    )
    assert json.loads(merged) == json.loads(whole)


def changed(path, **changes):
    """Write a file of counts again, with another provenance."""
    counted = Counts.load("b.parquet")
    replace(counted, provenance=replace(counted.provenance, **changes)).save(path)
    return path


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            lambda: changed("c.parquet", options={"uprep": "last", "missing": "error"}),
            "c.parquet: the signature does not match the options and the gold; score again",
        ),
        (lambda: "a.parquet", "cannot merge these counts: unit 's1' is in several tables"),
        (
            lambda: changed("c.parquet", corpus="mctaco"),
            "c.parquet has corpus mctaco (expected tne, as in a.parquet)",
        ),
        (
            lambda: changed("c.parquet", procedure_version=2),
            "c.parquet: contains counts of tne version 2 (expected tne version 1)",
        ),
        (
            lambda: changed("c.parquet", procedure="mctaco"),
            "c.parquet: no such option of mctaco: 'uprep'",
        ),
        (
            lambda: "a.jsonl",
            "a.jsonl: is not a file of counts (expected one written by `closeread score --counts`)",
        ),
        (lambda: "none.parquet", "none.parquet: can't be read: No such file or directory"),
    ],
    ids=["option", "unit", "corpus", "version", "procedure", "no counts", "nothing"],
)
def test_what_does_not_belong_together(shards, run, other, message):
    result = run("merge", "a.parquet", other(), "-o", "all.parquet")
    assert result.exit_code != 0
    assert message in result.stderr
    assert not Path("all.parquet").exists()


def test_options_go_after_the_procedure(run):
    result = run("score", "--json", "mctaco", "yes.jsonl")
    assert result.exit_code == 2
    assert "Options go after the procedure" in result.stderr
    assert run("score", "--no-ci").exit_code == 2
