"""WikiPossessions scores: hand cases, missing articles, problems in the input, the release, and large articles."""

import json
import re
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.possession_records import FIELDS, make_articles, make_record
from twins import possessions as twin

import closeread
from closeread.assignment import best_assignment
from closeread.counts.procedure import Inconsistency
from closeread.exceptions import RequestError
from closeread.tasks.wikipossessions.dates import parse_time
from closeread.tasks.wikipossessions.matching import normalize_name, parse_order
from closeread.tasks.wikipossessions.possession_csv import read_records
from closeread.tasks.wikipossessions.procedure import PROCEDURE, count, validate

CASES = json.loads((Path(__file__).parent.parent / "cases" / "possession.json").read_text("utf-8"))
DEFAULTS = PROCEDURE.resolve_options({})


def score(table):
    return table.scores(PROCEDURE.metrics)


@pytest.mark.parametrize("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    options = PROCEDURE.resolve_options(case.get("options", {}))
    table = count(gold=make_articles(case["gold"]), system=make_articles(case["system"]), **options)
    got = score(table)
    for family, expected in case["expected"].items():
        parts = [got[f"{family}/{part}"] for part in ("precision", "recall", "f1")]
        assert parts == pytest.approx([float(Fraction(value)) for value in expected], abs=1e-12), (
            family
        )
    for family, expected in case.get("counts", {}).items():
        names = [
            f"{family}/{name}" for name in ("found_of_system", "system", "found_of_gold", "gold")
        ]
        totals = dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))
        assert [totals[name] for name in names] == expected, family


def test_articles_with_nothing_to_order_are_told():
    one, two = make_record(), make_record()
    two["article"] = "An Urn"
    two["possessions"] += make_record(possessor="Bob", order="2")["possessions"]
    gold = [one, two]
    articles = []
    for record in gold:
        possessions = [{name: row[name] for name in FIELDS} for row in record["possessions"]]
        articles.append({"article": record["article"], "possessions": possessions})
    told = {
        "skip": "1 of 2 articles has no Ordering F1 (0/0): left out of the mean",
        "zero": "1 of 2 articles has no Ordering F1 (0/0): counted as 0 in the mean; "
        "undefined='skip' leaves it out",
    }
    for undefined, expected in told.items():
        how = {"average": "documents", "undefined": undefined}
        with pytest.warns(closeread.CloseReadWarning, match=re.escape(expected)):
            counted = closeread.count("wikipossessions", articles, gold=gold, **how)
        assert ("undefined:zero" in counted.signature) == (undefined == "zero")
    assert (
        "undefined"
        not in closeread.count("wikipossessions", articles, gold=gold, undefined="zero").signature
    )


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


@pytest.mark.parametrize("case", CASES["problems"], ids=lambda case: case["name"])
def test_inconsistencies(case):
    gold, system = make_articles(case["gold"]), make_articles(case["system"])
    options = PROCEDURE.resolve_options(case.get("options", {}))
    found = validate(gold=gold, system=system, **options)
    assert [[one.side, one.row, one.problem.text] for one in found] == case["expected"]


def test_rows_of_other_articles():
    gold = make_articles([[["Ann Poe", "1"]], [["Bob Roe", "1"]], [["Cid Doe", "1"]]])
    found = list(validate(gold=gold, system=[gold[1], gold[1], None]))
    assert found == [
        Inconsistency("system", 0, "article is 'Work 1' (expected 'Work 0', as in gold)")
    ]


def test_names_that_are_not_in_gold_are_an_error_in_scenario_oracle():
    with pytest.raises(ValueError, match="1 predicted names are not in gold"):
        count(
            gold=make_articles([[["Ann Poe", "1"]]]),
            system=make_articles([[["Bob Roe", "1"]]]),
            scenario="oracle",
        )


def test_the_release_against_itself(corpora):
    gold = read_records(corpora / "wikipossessions" / "annotations.csv", "all").records

    def total(name, **options):
        table = count(gold=gold, system=gold, **options)
        return table.values[:, table.names.index(name)].sum()

    # From the paper and the file: 799 possessors with 735 names, and 660 relations, two of them to the anchor Unknown.
    assert total("possessor/found_of_gold") == 799
    assert total("possessor/found_of_gold", scenario="oracle") == 735
    assert total("relation/gold") == 658
    cafe = [record for record in gold if record["article"] == "The Night Café"]
    table = count(gold=cafe, system=cafe)
    assert table.values[0, table.names.index("ordering/found_of_gold")] == 23


def test_overlaps_that_need_python_integers():
    # The common denominator of overlaps 1/42, 1/43, ... does not fit 64 bits.
    words = [f"w{i}" for i in range(61)]
    gold = [[" ".join(words[: 20 + i]), str(i + 1)] for i in range(30)]
    system = [
        [" ".join([*words[:1], *(f"x{k}" for k in range(20 + i))]), str(i + 1)] for i in range(30)
    ]
    options = DEFAULTS | {"setting": "partial"}
    table = count(gold=make_articles([gold]), system=make_articles([system]), **options)
    assert score(table)["possessor/f1"] == 1


@pytest.mark.extended
@pytest.mark.parametrize("options", [{}, {"setting": "partial"}])
def test_two_thousand_possessors(options):
    rng = np.random.default_rng(7)
    gold, system = (
        [
            [f"{' '.join(f'w{w}' for w in words)} of Poe", f"{o}.{o % 7}"]
            for words, o in zip(*drawn, strict=True)
        ]
        for drawn in (
            (rng.integers(0, 400, (2000, 3)), rng.integers(1, 500, 2000)) for _ in range(2)
        )
    )
    got = score(count(gold=make_articles([gold]), system=make_articles([system]), **options))
    assert got["possessor/f1"] == (1 if options else pytest.approx(0, abs=0.01))


@pytest.mark.extended
def test_two_thousand_names_that_share_one_word_or_none():
    gold, system = ([[f"king {side}{i}", str(i + 1)] for i in range(2000)] for side in "gs")
    options = DEFAULTS | {"setting": "partial"}
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


@pytest.mark.parametrize("case", CASES["names"], ids=lambda case: " | ".join(case["names"]))
def test_names_by_hand(case):
    one, other = (normalize_name(name) for name in case["names"])
    found = (
        "exact"
        if one.tokens == other.tokens
        else "partial"
        if one.content & other.content
        else "none"
    )
    assert found == case["match"]


@pytest.mark.parametrize("case", CASES["times"], ids=lambda case: case["anchor"])
def test_times_by_hand(case):
    found = parse_time(case["anchor"])
    assert (found if found is None else list(found)) == case["time"]


def test_orders_are_numbers_of_any_length():
    in_order = ["1", "2", "6", "6.1", "6.2", "6.2.1", "6.10", "10", "9" * 6000, "1" + "0" * 6000]
    assert sorted(set(in_order), key=parse_order) == in_order
    assert parse_order("06.1") == parse_order("6.01")
    for wrong in ("", "6.", ".1", "-1", "1.x", "１"):
        with pytest.raises(ValueError, match="expected whole numbers"):
            parse_order(wrong)


DECIMAL = "(expected a decimal number such as 0.1)"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("tolerance", "x", f"option tolerance: 'x' is not valid {DECIMAL}"),
        ("tolerance", "-0.1", f"option tolerance: '-0.1' is not valid {DECIMAL}"),
        ("tolerance", "0.1\n", f"option tolerance: '0.1\\n' is not valid {DECIMAL}"),
        ("tolerance", float("nan"), f"option tolerance: 'nan' is not valid {DECIMAL}"),
        ("setting", "loose", "option setting: 'loose' is not one of 'exact', 'partial'"),
    ],
)
def test_invalid_values(option, value, message):
    with pytest.raises(RequestError) as error:
        PROCEDURE.resolve_options({option: value})
    assert str(error.value) == message


@pytest.mark.parametrize(("option", "given", "canonical"), [
    ("tolerance", "0.10", "0.1"), ("tolerance", 0.0, "0"), ("tolerance", "00.1", "0.1"), ("tolerance", 1.0, "1"),
    ("tolerance", "100", "100"),
])  # fmt: skip
def test_equal_computations_have_equal_signatures(option, given, canonical):
    options = PROCEDURE.resolve_options({option: given})
    assert options[option] == canonical
    assert PROCEDURE.signature(options, "0" * 64) == PROCEDURE.signature(
        PROCEDURE.resolve_options({option: canonical}), "0" * 64
    )


NAMES = [
    "North Hall",
    "the Hall",
    "Hall",
    "South Hall,",
    "of the",
    "In the Hall of North",
    "Ann Poe",
    "Bob Poe",
    "Roe",
]
POSSESSION = st.builds(
    lambda *values: dict(zip(FIELDS, values, strict=True)),
    st.sampled_from(NAMES),
    st.sampled_from(["1", "2", "2.1", "2.2", "2.10", "2.1.1", "3", "10"]),
    st.sampled_from(["certain", "uncertain"]),
    st.sampled_from(list(twin.ANCHORS)),
    st.sampled_from(["before", "during", "after", None]),
    st.sampled_from(["certain", "uncertain", None]),
)
SIDE = st.lists(POSSESSION, max_size=5)
FREE = {"tolerance": ["0", "0.1", "0.5", "1.25"], "group_by": [""]}
OPTIONS = st.fixed_dictionaries(
    {
        option.name: st.sampled_from(option.choices or FREE[option.name])
        for option in PROCEDURE.options
    }
    | {
        "average": st.just("micro"),
        "missing": st.just("error"),
        "scenario": st.sampled_from(["all", "all_correct"]),
    }
)


def count_article(system, gold, **options):
    """Count one article; the result has the form of the twin's."""
    records = [[{"article": "Work", "possessions": side}] for side in (gold, system)]
    values = (
        count(gold=records[0], system=records[1], **{**DEFAULTS, **options})
        .values[0]
        .reshape(6, 4)
        .tolist()
    )
    return dict(zip(twin.counts([], [], **DEFAULTS), values, strict=True))


@given(SIDE, SIDE, OPTIONS)
def test_agrees_with_the_twin(system, gold, options):
    expected = twin.counts(system, gold, **options)
    for family, values in count_article(system, gold, **options).items():
        assert values == pytest.approx([float(value) for value in expected[family]], abs=1e-12), (
            family
        )


@given(SIDE, st.data(), OPTIONS)
def test_agrees_with_the_twin_on_gold_names(gold, data, options):
    names = st.sampled_from([row["possessor"] for row in gold]) if gold else st.nothing()
    system = data.draw(
        st.lists(
            st.builds(lambda row, name: row | {"possessor": name}, POSSESSION, names), max_size=6
        )
    )
    options |= {"scenario": "oracle"}
    expected = twin.counts(system, gold, **options)
    for family, values in count_article(system, gold, **options).items():
        assert values == pytest.approx([float(value) for value in expected[family]], abs=1e-12), (
            family
        )
    records = [[{"article": "Work", "possessions": side}] for side in (gold, system)]
    found = [one.what for one in validate(gold=records[0], system=records[1], **options)]
    assert not [what for what in found if "not a possessor" in what]


@given(st.integers(1, 5), st.data())
def test_the_assignment_is_the_first_of_maximum_weight(n, data):
    row = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3, 10**30]), min_size=n, max_size=n)
    weight = data.draw(st.lists(row, min_size=n, max_size=n))

    def key(columns):
        return (
            -sum(weight[i][j] for i, j in enumerate(columns)),
            [j if weight[i][j] else n for i, j in enumerate(columns)],
        )

    best = min(key(columns) for columns in permutations(range(n)))[1]
    got = best_assignment(
        [{column: one for column, one in enumerate(cells) if one} for cells in weight]
    )
    assert [n if j < 0 else j for j in got] == best
