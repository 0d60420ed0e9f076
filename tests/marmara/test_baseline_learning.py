"""What the baseline learns from: examples, weights, and models against scikit-learn on all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import marmara_features as twin

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.marmara.documents import read_tokens
from closeread.tasks.marmara.mentions import PRONOUNS
from closeread.tasks.marmara.pairs import (
    FEATURES,
    N_CODES,
    PairMatrix,
    balance,
    count_examples,
    describe_mentions,
    draw_wrong,
    encode_pairs,
    expand_codes,
    fit_pairs,
    list_examples,
    list_gold,
    make_estimator,
    score_codes,
)


@pytest.fixture(scope="module")
def records():
    return read_gold(load_corpus("marmara_coref"), "sample").records


@st.composite
def chained_mentions(draw):
    n = draw(st.integers(0, 130))
    spans = [(i, i) for i in range(n)]
    of = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    chains = [
        [span for span, chain in zip(spans, of, strict=True) if chain == k] for k in range(1, 5)
    ]
    return spans, [chain for chain in chains if chain]


@given(chained_mentions())
@settings(max_examples=30)
def test_examples_against_the_twin(made):
    spans, chains = made
    found = list_examples(spans, {span: i for i, chain in enumerate(chains) for span in chain})
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    positive, negative = twin.examples(spans, chains)
    assert sorted(p for p, label in zip(pairs, found.is_positive, strict=True) if label) == sorted(
        positive
    )
    assert sorted(
        p for p, label in zip(pairs, found.is_positive, strict=True) if not label
    ) == sorted(negative)


def test_negative_examples_are_fewer_than_a_hundred_mentions_apart():
    found = list_examples([(i, i) for i in range(101)], {(0, 0): 0, (100, 100): 0})
    # The chain is an example although its mentions are 100 apart; of the others, 0-100 is too far, and is one chain.
    assert list(
        zip(found.first[found.is_positive], found.second[found.is_positive], strict=True)
    ) == [(0, 100)]
    assert (found.second - found.first)[~found.is_positive].max() == 99
    assert len(found.first) == 1 + 101 * 100 // 2 - 1


def test_gold_mentions_are_those_in_chains():
    record = {"clusters": [[[5, 6], [9, 9]], [[0, 4], [5, 7]]]}
    assert list(list_gold(record).items()) == [((0, 4), 1), ((5, 7), 1), ((5, 6), 0), ((9, 9), 0)]


def test_wrong_mentions_are_drawn_by_seed_and_document():
    detected = [(i, i) for i in range(100)]
    gold = detected[:20]
    drawn = draw_wrong("77000112", gold, detected, 0)
    assert len(set(drawn)) == 20
    assert set(drawn) <= set(detected[20:])
    assert drawn == sorted(drawn) == draw_wrong("77000112", gold, detected, 0)
    assert drawn != draw_wrong("77000112", gold, detected, 1)
    assert drawn != draw_wrong("77000208", gold, detected, 0)
    assert draw_wrong("77000112", gold, detected[15:30], 0) == detected[20:30]
    assert draw_wrong("77000112", gold, [], 0) == []


def test_both_classes_weigh_the_same():
    assert balance(30, 10).tolist() == [40 / 60, 40 / 20]
    with pytest.raises(ValueError, match="there are no positive examples"):
        balance(3, 0)
    with pytest.raises(ValueError, match="there are no negative examples"):
        balance(0, 3)


@pytest.mark.parametrize("learner", ["svc", "svr"])
def test_counted_rows_have_the_optimum_of_all_rows(records, learner):
    rows, labels, counts = [], [], np.zeros((2, N_CODES), np.int64)
    for record in records[:3]:
        gold = list_gold(record)
        mentions = describe_mentions(read_tokens(record), list(gold), PRONOUNS)
        pairs = list_examples(list(gold), gold)
        counts += count_examples(mentions, pairs)
        rows.append(expand_codes(encode_pairs(mentions, pairs.first, pairs.second)))
        labels.append(pairs.is_positive)
    x, y = np.concatenate(rows), np.concatenate(labels)
    assert counts.sum(axis=1).tolist() == [(~y).sum(), y.sum()]
    # Without summing: a row for each example, and scikit-learn's own balanced weights.
    estimator = make_estimator(learner)
    weight = np.where(y, len(y) / 2 / y.sum(), len(y) / 2 / (~y).sum())
    estimator.fit(x, np.where(y, 1, -1), sample_weight=weight)
    scores = score_codes(learner, counts)
    used = np.flatnonzero(counts.sum(axis=0))
    expected = expand_codes(used) @ estimator.coef_.ravel() + estimator.intercept_
    np.testing.assert_allclose(scores[used], expected, atol=1e-3)
    assert np.ptp(expected) > 0.5


def random_pairs(seed, n=400, n_mentions=30, width=6):
    """Pairs with vectors, and the same as a matrix."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(rng.integers(0, N_CODES, 20), n).astype(np.int16)
    first, second = rng.integers(0, n_mentions, (2, n))
    cosines, vectors = rng.uniform(-1, 1, (2, n)), rng.normal(size=(n_mentions, width))
    dense = np.hstack(
        [expand_codes(codes), np.ones((n, 1)), cosines.T, vectors[first], vectors[second]]
    )
    return PairMatrix(codes, first, second, cosines, vectors), dense, rng


def test_products_with_a_matrix_that_is_never_made():
    matrix, dense, rng = random_pairs(0)
    weights, values = rng.normal(size=matrix.n_columns), rng.uniform(size=len(dense))
    assert dense.shape[1] == matrix.n_columns == len(FEATURES) + 1 + 2 + 2 * 6
    np.testing.assert_allclose(matrix.times(weights), dense @ weights)
    np.testing.assert_allclose(matrix.transposed_times(values), dense.T @ values)
    np.testing.assert_allclose(matrix.gram(values), dense.T @ (values[:, None] * dense), atol=1e-9)


@pytest.mark.parametrize("learner", ["svc", "svr"])
@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_with_vectors_against_scikit_learn(learner, seed):
    matrix, dense, rng = random_pairs(seed)
    y = dense @ rng.normal(size=dense.shape[1]) + rng.normal(size=len(dense)) > 3
    weights = fit_pairs(learner, matrix, y)
    estimator = make_estimator(learner).set_params(tol=1e-10)
    weight = np.where(y, len(y) / 2 / y.sum(), len(y) / 2 / (~y).sum())
    features = np.delete(dense, len(FEATURES), axis=1)
    estimator.fit(features, np.where(y, 1, -1), sample_weight=weight)
    coefficients = estimator.coef_.ravel()
    borders = np.cumsum([len(FEATURES), 2, 6])
    of_codes, cosines, first, second = np.split(coefficients, borders)
    table = expand_codes(np.arange(N_CODES)) @ of_codes + estimator.intercept_
    for own, expected in zip(weights, (table, cosines, first, second), strict=True):
        np.testing.assert_allclose(own, expected, atol=2e-4)
    assert np.abs(cosines).max() > 0.01


def test_steps_that_are_too_long_are_shortened():
    """Vectors as long as these make whole steps of Newton's method raise the loss."""
    rng = np.random.default_rng(13)
    codes = rng.choice(rng.integers(0, N_CODES, 20), 3).astype(np.int16)
    first, second = rng.integers(0, 30, (2, 3))
    cosines, vectors = rng.uniform(-1, 1, (2, 3)), rng.standard_cauchy(size=(30, 1)) * 10
    y = rng.random(3) < rng.uniform(0.05, 0.5)
    table, of_cosines, of_first, of_second = fit_pairs(
        "svc", PairMatrix(codes, first, second, cosines, vectors), y
    )
    scores = (
        table[codes]
        + of_cosines @ cosines
        + vectors[first] @ of_first
        + vectors[second] @ of_second
    )
    features = np.hstack([expand_codes(codes), cosines.T, vectors[first], vectors[second]])
    estimator = make_estimator("svc").set_params(tol=1e-10, max_iter=10**6)
    estimator.fit(
        features, np.where(y, 1, -1), sample_weight=np.where(y, 3 / 2 / y.sum(), 3 / 2 / (~y).sum())
    )
    np.testing.assert_allclose(scores, estimator.decision_function(features), atol=1e-3)
