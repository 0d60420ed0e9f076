"""Properties of the possession counts, and comparison with a slow implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.possession_records import FIELDS
from twins import possessions as twin

from closeread.tasks.wikipossessions.procedure import PROCEDURE, count, validate

NAMES = ["North Hall", "the Hall", "Hall", "South Hall,", "of the", "In the Hall of North", "Ann Poe", "Bob Poe", "Roe"]
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
DEFAULTS = PROCEDURE.resolve_options({})
FREE = {"tolerance": ["0", "0.1", "0.5", "1.25"], "now_year": ["2017", "1891", "1700"]}
OPTIONS = st.fixed_dictionaries(
    {option.name: st.sampled_from(option.choices or FREE[option.name]) for option in PROCEDURE.options}
    | {"average": st.just("micro"), "missing": st.just("error"), "scenario": st.sampled_from(["all", "all_correct"])}
)


def count_article(system, gold, **options):
    """Count one article; the result has the form of the twin's."""
    records = [[{"article": "Work", "possessions": side}] for side in (gold, system)]
    values = count(gold=records[0], system=records[1], **{**DEFAULTS, **options}).values[0].reshape(6, 4).tolist()
    return dict(zip(twin.counts([], [], **DEFAULTS), values, strict=True))


@given(SIDE, SIDE, OPTIONS)
def test_agrees_with_the_twin(system, gold, options):
    expected = twin.counts(system, gold, **options)
    for family, values in count_article(system, gold, **options).items():
        assert values == pytest.approx([float(value) for value in expected[family]], abs=1e-12), family


@given(SIDE, st.data(), OPTIONS)
def test_agrees_with_the_twin_on_gold_names(gold, data, options):
    names = st.sampled_from([row["possessor"] for row in gold]) if gold else st.nothing()
    system = data.draw(st.lists(st.builds(lambda row, name: row | {"possessor": name}, POSSESSION, names), max_size=6))
    options |= {"scenario": "oracle"}
    expected = twin.counts(system, gold, **options)
    for family, values in count_article(system, gold, **options).items():
        assert values == pytest.approx([float(value) for value in expected[family]], abs=1e-12), family
    records = [[{"article": "Work", "possessions": side}] for side in (gold, system)]
    found = [one.what for one in validate(gold=records[0], system=records[1], **options)]
    assert not [what for what in found if "not a possessor" in what]


NO_TOLERANCE = OPTIONS.map(lambda options: {**options, "tolerance": "0"})
SYMMETRIC = NO_TOLERANCE.map(lambda options: {**options, "matching": "one_to_one", "scenario": "all"})


@given(SIDE, NO_TOLERANCE)
def test_a_perfect_prediction_is_complete(side, options):
    # Without a tolerance, which widens only gold.  Labels that are absent in gold can't be correct.
    labelled = [row | {"relation": row["relation"] or "during"} for row in side]
    labelled = [row | {"relation_certainty": row["relation_certainty"] or "certain"} for row in labelled]
    for family, values in count_article(labelled, labelled, **options).items():
        found, predicted, found_of_gold, of_gold = values
        assert found == pytest.approx(predicted, abs=1e-12), family
        assert found_of_gold == pytest.approx(of_gold, abs=1e-12), family


@given(SIDE, OPTIONS)
def test_an_empty_side_finds_nothing(gold, options):
    for family, values in count_article([], gold, **options).items():
        assert values[:3] == [0, 0, 0], family
    for family, values in count_article(gold, [], **options).items():
        assert (values[0], *values[2:]) == (0, 0, 0), family


@given(SIDE, SIDE, SYMMETRIC)
def test_swapping_the_sides_swaps_precision_and_recall(one, other, options):
    # Without a tolerance, which widens only gold, and without many-to-one matching and scenarios, which select
    # predictions.  Tied matchings are resolved by the order of the predictions, so in the partial setting only the
    # number of pairs and the ordered pairs of names are compared.  "certain_only" depends on gold alone.
    there, back = count_article(one, other, **options), count_article(other, one, **options)
    families = {"possessor", "ordering"}
    if options["ordering_match"] == "via_matching" and options["setting"] == "partial":
        families -= {"ordering"}
    if options["setting"] == "exact":
        families |= {"possessor_certainty", "anchor", "relation"}
        if options["relation_certainty_gold"] == "anchored":
            families |= {"relation_certainty"}
    for family in families:
        found, predicted, found_of_gold, of_gold = back[family]
        assert there[family] == pytest.approx([found_of_gold, of_gold, found, predicted], abs=1e-12), family


@given(SIDE, SIDE, OPTIONS)
def test_counts_stay_within_their_denominators(system, gold, options):
    for family, (found, predicted, found_of_gold, of_gold) in count_article(system, gold, **options).items():
        assert 0 <= found <= predicted + 1e-12, family
        assert 0 <= found_of_gold <= of_gold + 1e-12, family


@given(SIDE, SIDE, st.randoms(), OPTIONS)
def test_the_order_of_rows_matters_only_for_ties(system, gold, random, options):
    # Position breaks ties between equal names of the same order and between equal overlaps; it affects neither the
    # number of possessors found nor the ordered pairs.
    there = count_article(system, gold, **options)
    shuffled = [random.sample(side, len(side)) for side in (system, gold)]
    back = count_article(*shuffled, **options)
    assert back["possessor"] == there["possessor"]
    if options["scenario"] == "all" and (options["setting"] == "exact" or options["ordering_match"] == "existential"):
        assert back["ordering"] == there["ordering"]
    placed = [[(twin.tokens(r["possessor"], options["strip_scope"]), twin.order(r)) for r in s] for s in (system, gold)]
    no_ties = all(len(set(places)) == len(places) for places in placed)
    if no_ties and options["setting"] == "exact" and options["matching"] == "one_to_one":
        for family, values in there.items():
            assert back[family] == pytest.approx(values, abs=1e-12), family
