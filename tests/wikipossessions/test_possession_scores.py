"""WikiPossessions scores: hand cases, missing articles, problems in the input, the release, and large articles."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from shared.for_each import for_each
from shared.possession_records import make_articles

from closeread.counts.procedure import Inconsistency
from closeread.tasks.wikipossessions.possession_csv import read_records
from closeread.tasks.wikipossessions.procedure import PROCEDURE, count, validate

CASES = json.loads((Path(__file__).parent.parent / "cases" / "possession.json").read_text("utf-8"))
DEFAULTS = PROCEDURE.resolve_options({})


def score(table):
    return table.scores(PROCEDURE.metrics)


@for_each("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    options = PROCEDURE.resolve_options(case.get("options", {}))
    table = count(gold=make_articles(case["gold"]), system=make_articles(case["system"]), **options)
    got = score(table)
    for family, expected in case["expected"].items():
        parts = [got[f"{family}/{part}"] for part in ("precision", "recall", "f1")]
        assert parts == pytest.approx([float(Fraction(value)) for value in expected], abs=1e-12), family
    for family, expected in case.get("counts", {}).items():
        names = [f"{family}/{name}" for name in ("found_of_system", "system", "found_of_gold", "gold")]
        totals = dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))
        assert [totals[name] for name in names] == expected, family


def test_articles_without_predictions():
    gold = make_articles([[["Ann Poe", "1"]], [["Bob Roe", "1"]]])
    system = [gold[0], None]
    with pytest.raises(ValueError, match="1 of 2 articles have no prediction"):
        count(gold=gold, system=system)
    empty = count(gold=gold, system=system, missing="empty")
    assert score(empty)["possessor/recall"] == 0.5
    skipped = count(gold=gold, system=system, missing="skip")
    assert (list(skipped.units), score(skipped)["possessor/recall"]) == (["Work 0"], 1)
    assert score(count(gold=[], system=[]))["possessor/f1"] == 0


def test_zero_by_zero_is_reported_as_undefined():
    table = count(gold=make_articles([[["Ann Poe", "1"]]]), system=make_articles([[["Ann Poe", "1"]]]))
    totals = table.values.sum(axis=0)
    undefined = {metric.name for metric in PROCEDURE.metrics if metric.is_undefined(totals, table.names)}
    families = ("anchor", "relation", "relation_certainty", "ordering")
    assert undefined == {f"{family}/{part}" for family in families for part in ("precision", "recall", "f1")}


@for_each("case", CASES["problems"], ids=lambda case: case["name"])
def test_inconsistencies(case):
    gold, system = make_articles(case["gold"]), make_articles(case["system"])
    options = PROCEDURE.resolve_options(case.get("options", {}))
    found = validate(gold=gold, system=system, **options)
    assert [[one.side, one.row, one.problem.message] for one in found] == case["expected"]


def test_rows_of_other_articles():
    gold = make_articles([[["Ann Poe", "1"]], [["Bob Roe", "1"]], [["Cid Doe", "1"]]])
    found = list(validate(gold=gold, system=[gold[1], gold[1], None]))
    assert found == [Inconsistency("system", 0, "article is 'Work 1' (expected 'Work 0', as in gold)")]


def test_names_that_are_not_in_gold_are_an_error_in_scenario_oracle():
    with pytest.raises(ValueError, match="1 predicted names are not in gold"):
        count(gold=make_articles([[["Ann Poe", "1"]]]), system=make_articles([[["Bob Roe", "1"]]]), scenario="oracle")


def test_the_release_against_itself(corpora):
    gold = read_records(corpora / "wikipossessions" / "annotations.csv", "all").records

    def total(name, **options):
        table = count(gold=gold, system=gold, **options)
        return table.values[:, table.names.index(name)].sum()

    # From the paper and the file: 799 possessors with 735 names, and 660 relations, two of them without an anchor.
    assert total("possessor/found_of_gold") == 799
    assert total("possessor/found_of_gold", scenario="oracle") == 735
    assert total("relation/gold") == 658
    assert total("relation/gold", unknown_with_relation="anchored") == 660
    cafe = [record for record in gold if record["article"] == "The Night Café"]
    table = count(gold=cafe, system=cafe)
    assert table.values[0, table.names.index("ordering/found_of_gold")] == 23


def test_overlaps_that_need_python_integers():
    # The common denominator of overlaps 1/42, 1/43, ... does not fit 64 bits.
    words = [f"w{i}" for i in range(61)]
    gold = [[" ".join(words[: 20 + i]), str(i + 1)] for i in range(30)]
    system = [[" ".join([*words[:1], *(f"x{k}" for k in range(20 + i))]), str(i + 1)] for i in range(30)]
    options = DEFAULTS | {"setting": "partial"}
    table = count(gold=make_articles([gold]), system=make_articles([system]), **options)
    assert score(table)["possessor/f1"] == 1


@pytest.mark.extended
@for_each("options", [{}, {"setting": "partial"}, {"setting": "partial", "suborder": "nested_tie"}])
def test_two_thousand_possessors(options):
    rng = np.random.default_rng(7)
    gold, system = (
        [[f"{' '.join(f'w{w}' for w in words)} of Poe", f"{o}.{o % 7}"] for words, o in zip(*drawn, strict=True)]
        for drawn in ((rng.integers(0, 400, (2000, 3)), rng.integers(1, 500, 2000)) for _ in range(2))
    )
    got = score(count(gold=make_articles([gold]), system=make_articles([system]), **options))
    assert got["possessor/f1"] == (1 if options else pytest.approx(0, abs=0.01))


@pytest.mark.extended
@for_each("suborder", ["tuple", "nested_tie"])
def test_two_thousand_names_that_share_one_word_or_none(suborder):
    gold, system = ([[f"king {side}{i}", str(i + 1)] for i in range(2000)] for side in "gs")
    options = DEFAULTS | {"setting": "partial", "suborder": suborder}
    got = score(count(gold=make_articles([gold]), system=make_articles([system]), **options))
    assert (got["possessor/f1"], got["ordering/f1"]) == (1, 1)
    alone, others = ([[f"{side}{i}", str(i + 1)] for i in range(2000)] for side in "gs")
    got = score(count(gold=make_articles([alone]), system=make_articles([others]), **options))
    assert (got["possessor/f1"], got["ordering/f1"]) == (0, 0)
    backwards = [[name, str(2000 - i)] for i, (name, _) in enumerate(alone)]
    got = score(count(gold=make_articles([alone]), system=make_articles([backwards]), **options))
    assert (got["possessor/f1"], got["ordering/f1"]) == (1, 0)


def test_a_long_range_of_years():
    gold, system = (
        make_articles([[["Poe", "1", "certain", "1-99999"]]]),
        make_articles([[["Poe", "1", "certain", "99999"]]]),
    )
    assert score(count(gold=gold, system=system))["anchor/recall"] == 1 / 99999
