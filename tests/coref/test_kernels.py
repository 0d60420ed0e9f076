"""Coreference counts: hand cases, enumeration, and properties that hold for any input; mentions that are repeated."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared import enumeration
from shared.coreference_kernels import (
    PAIRS,
    REPEATING_PAIRS,
    compare_as_reference,
    compare_unique,
    count_sides,
    score_sides,
    split_sides,
)

from closeread.tasks.coref.metrics.duplicates import RepeatedMentions
from closeread.tasks.coref.metrics.entity import EDGES, blanc_scores, count_blanc, count_mentions
from closeread.tasks.coref.metrics.matching import keep_as_reference
from closeread.tasks.coref.metrics.overlap import (
    Side,
    compare_entities,
    find_duplicates,
    mention_codes,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "coref.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_hand_cases(case):
    key, response = ([text.split() for text in case[side]] for side in ("gold", "system"))
    sides = [enumeration.side(documents) for documents in (key, response)]
    options = dict(case.get("options", {}))
    compare = compare_unique
    match options.pop("duplicates", None):
        case "reference":
            sides[1] = sides[1].select(keep_as_reference(*sides))
            compare = compare_as_reference
        case "first":
            sides = [
                side.select(~np.isin(np.arange(len(side.entity)), find_duplicates(side)[:, 1]))
                for side in sides
            ]
    got = score_sides(*sides, len(key), **options, compare=compare)
    for name, expected in case["expected"].items():
        assert got[name] == pytest.approx(
            [float(Fraction(score)) for score in expected], abs=1e-12
        ), name


@given(PAIRS)
def test_fast_is_enumeration(pairs):
    key, response = split_sides(pairs)
    enumeration.assert_equal_counts(
        count_sides(enumeration.side(key), enumeration.side(response), len(key)), key, response
    )


@given(PAIRS, st.sampled_from(EDGES))
def test_blanc_scores_are_those_of_enumeration(pairs, edge):
    key, response = split_sides(pairs)
    overlap = compare_entities(enumeration.side(key), enumeration.side(response), len(key))
    links = count_blanc(overlap).sum(axis=0)
    mentions = np.array(count_mentions(overlap)).sum(axis=1)
    same = len(set(mentions.tolist())) == 1 if mentions.any() else None
    expected = enumeration.blanc_scores(
        enumeration.summed(enumeration.blanc, key, response), same, edge
    )
    got = blanc_scores(links, mentions, edge)
    assert got == pytest.approx(
        [np.nan if x is None else float(x) for x in expected], abs=1e-12, nan_ok=True
    )


@given(PAIRS, st.integers(0, 2**32 - 1))
def test_order_and_numbers_do_not_matter(pairs, seed):
    rng = np.random.default_rng(seed)
    key, response = (enumeration.side(documents) for documents in split_sides(pairs))
    mention_number = rng.permutation(200) * 3 - 100

    def disguised(side):
        order = rng.permutation(len(side.mention))
        entity_number = rng.permutation(side.entity.max(initial=-1) + 6)
        return Side(
            side.document[order],
            mention_number[side.mention[order]],
            entity_number[side.entity[order]],
        )

    plain, other = (
        count_sides(*sides, len(pairs))
        for sides in ((key, response), (disguised(key), disguised(response)))
    )
    for name, found in plain.items():
        assert found == pytest.approx(other[name], abs=1e-12), name


def test_nothing_at_all():
    nothing = enumeration.side([])
    for name, found in count_sides(nothing, nothing, 2).items():
        assert found.shape == (2, 6 if name == "blanc" else 4)
        assert not found.any()


def test_undefined_blanc():
    # The key has both kinds of links, the response none: precision has nothing to divide by, recall and F1 have.
    assert np.array_equal(
        blanc_scores(np.array([0, 1, 0, 0, 2, 0.0]), np.array([1, 3, 1.0]), "reference"),
        [np.nan, 0, 0],
        equal_nan=True,
    )
    # Here coreference precision alone is 0/0: it counts as 0 in the mean.
    assert (
        blanc_scores(np.array([0, 1, 0, 2, 2, 4.0]), np.array([3, 3, 3.0]), "reference")[0] == 0.25
    )
    assert np.isnan(blanc_scores(np.zeros(6), np.zeros(3), "reference")).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([-(2**63), -1, 0, 5, 2**62, 2**63 - 1])),
        min_size=1,
    )
)
def test_any_codes_distinguish_mentions(rows):
    document, mention = np.array(rows, dtype=np.int64).T
    half = len(rows) // 2
    sides = [
        Side(document[part], mention[part], mention[part])
        for part in (slice(half), slice(half, None))
    ]
    codes = np.concatenate(mention_codes(*sides))
    same = [[a == b for b in rows] for a in rows]
    assert (codes >= 0).all()
    assert (codes[:, None] == codes).tolist() == same


def test_repeats_are_found_with_the_first_row():
    side = Side(
        np.array([0, 0, 0, 1, 0, 0]), np.array([7, 5, 7, 7, 5, 7]), np.array([1, 0, 0, 3, 2, 2])
    )
    assert sorted(map(tuple, find_duplicates(side).tolist())) == [(1, 4), (2, 0), (2, 5)]


def test_the_reference_keeps_what_the_key_lacks():
    key, response = enumeration.side([["ab"]]), enumeration.side([["ax", "abx", "x"]])
    assert response.select(keep_as_reference(key, response)).mention.tolist() == [
        ord(m) for m in "axbxx"
    ]


@given(REPEATING_PAIRS)
def test_repeats_are_found_on_either_side(pairs):
    for documents in split_sides(pairs):
        repeats = [
            enumeration.mentions(document, document)[0] < sum(map(len, document))
            for document in documents
        ]
        assert (len(find_duplicates(enumeration.side(documents))) > 0) == any(repeats)


@given(REPEATING_PAIRS)
def test_fast_is_enumeration_with_repeats(pairs):
    key, response = split_sides(pairs)
    kept = enumeration.as_reference(key, response)
    side = enumeration.side(response).select(
        keep_as_reference(enumeration.side(key), enumeration.side(response))
    )
    assert side.mention.tolist() == enumeration.side(kept).mention.tolist()
    enumeration.assert_equal_counts(
        count_sides(enumeration.side(key), side, len(key), compare_as_reference), key, kept
    )


@given(REPEATING_PAIRS)
@example([(["a", "bc", "cd"], ["a", "bc", "cd", "de"])])
def test_clusters_that_lost_their_singletons_are_not_counted(pairs):
    key, response = (
        [[[] if len(cluster) == 1 else cluster for cluster in clusters] for clusters in documents]
        for documents in split_sides(pairs)
    )
    kept = enumeration.as_reference(key, response)
    enumeration.assert_equal_counts(
        count_sides(enumeration.side(key), enumeration.side(kept), len(key), compare_as_reference),
        key,
        kept,
    )


@given(REPEATING_PAIRS)
def test_blanc_is_a_count_of_sets_whatever_is_repeated(pairs):
    key, response = split_sides(pairs)
    sides = enumeration.side(key), enumeration.side(response)
    got = RepeatedMentions(sides, len(key)).count_blanc()
    assert got.sum(axis=0).tolist() == enumeration.summed(enumeration.blanc, key, response)
