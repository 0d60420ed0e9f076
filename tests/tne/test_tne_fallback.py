"""The fallbacks of baselines: all pairs that they don't link, by one preposition."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from shared.json_lines import read
from shared.tne_links import link, scores
from shared.tne_random import documents

from closeread.corpus.baselines import load_baseline, load_baselines
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.tasks.tne.procedure import PROCEDURE, validate


def predict(name, records, preposition):
    return load_baseline("tne", name).predict(records, fallback=preposition)


@settings(max_examples=20)
@given(records=documents())
def test_every_pair_is_linked_or_has_a_fallback(records):
    for name in load_baselines("tne"):
        without = load_baseline("tne", name).predict(records)
        assert all("fallback" not in row for row in without)
        rows = predict(name, records, "in")
        assert [row["relations"] for row in rows] == [row["relations"] for row in without]
        assert list(validate(gold=records, system=rows)) == []
        for record, row in zip(records, rows, strict=True):
            ends = [(one["anchor"], one["complement"]) for one in row["relations"] + row["fallback"]]
            names = [np["id"] for np in record["nps"]]
            assert sorted(ends) == sorted((a, b) for a in names for b in names if a != b)
            assert {one["preposition"] for one in row["fallback"]} <= {"in"}


def test_uprep_by_hand():
    # Title-Last links np0 and np2 to np1; of the other pairs that gold links, two of three are `of` (any), and one is
    # (last), since np2 and np0 are linked by `of` and, last, by `in`.
    record = {"id": "d", "text": "a b\n\nc", "tokens": ["a", "b", "\n\n", "c"]}
    record["nps"] = [
        {"id": f"np{n}", "text": c, "first_char": s, "last_char": s + 1, "first_token": t, "last_token": t}
        for n, (c, s, t) in enumerate([("a", 0, 0), ("b", 2, 1), ("c", 5, 3)])
    ]
    record["np_relations"] = [
        link(0, "on", 1), link(1, "of", 2), link(2, "of", 0), link(2, "in", 0), link(1, "by", 0),
    ]  # fmt: skip
    rows = predict("title-last", [record], "of")
    assert rows == [
        {
            "id": "d",
            "relations": [link(0, "of", 1), link(2, "of", 1)],
            "fallback": [link(0, "of", 2), link(1, "of", 0), link(1, "of", 2), link(2, "of", 0)],
        }
    ]
    for uprep, expected in (("any", Fraction(2, 3)), ("last", Fraction(1, 3))):
        table = PROCEDURE.count(gold=[record], system=rows, uprep=uprep)
        assert scores(table)["uprep"] == float(expected)
    by = PROCEDURE.count(gold=[record], system=predict("title-last", [record], "by"))
    assert scores(by)["uprep"] == float(Fraction(1, 3))


def test_on_the_command_line(run, ran):
    sample = ["--config", "sample"]
    ran("baseline", "tne", "surface", *sample, "--fallback", "of", "-o", "mine.jsonl")
    # The sample's first text has 13 noun phrases.
    first = read("mine.jsonl")[0]
    assert len(first["relations"]) + len(first["fallback"]) == 13 * 12
    value = json.loads(ran("score", "tne", "mine.jsonl", *sample, "--json", "--no-ci"))["scores"]["uprep"]["value"]
    assert 0 < value < 1
    done = run("baseline", "tne", "surface", *sample, "--fallback", "off", "-o", "other.jsonl")
    assert done.exit_code == 2
    assert "'off' is not one of 'none', 'of'," in done.stderr
    with pytest.raises(RequestError, match="option fallback: 'off' is not one of"):
        predict("surface", [], "off")


def test_links_and_fallbacks_together_are_of_for_every_pair():
    """Where every pair is called `of`, linked or not, those are right whose gold prepositions include it."""
    gold = list(read_gold(load_corpus("tne"), "sample").records)
    pairs = {}
    for record in gold:
        for one in record["np_relations"]:
            pairs.setdefault((record["id"], one["anchor"], one["complement"]), set()).add(one["preposition"])
    table = PROCEDURE.count(gold=gold, system=predict("combined", gold, "of"), uprep="any")
    totals = dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))
    assert totals["linked/gold"] + totals["fallback/gold"] == len(pairs)
    assert totals["links/right"] + totals["fallback/right"] == sum("of" in found for found in pairs.values())
    assert totals["fallback/right"] > 0 < totals["links/right"]
