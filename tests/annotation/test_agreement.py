"""Alpha of annotators: by hand, by a slow twin, by other libraries, and its properties."""

import json
import random
from fractions import Fraction
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.annotations import DOCUMENTS, OPTIONS, measure, spread
from twins import agreement as slow

from closeread.exceptions import RequestError, SubmissionError
from closeread.tasks.annotation.agreement import (
    MEASURES,
    measure_clusters,
    measure_distances,
    resolve,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "agreement.json").read_text("utf-8"))
SETS = st.frozensets(st.sampled_from("abcdefgh"), min_size=1)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_hand_cases(case):
    documents = [[text.split() for text in annotations] for annotations in case["documents"]]
    options = case.get("options", {})
    found, twin = measure(documents, **options), slow.alpha(documents, **options)
    for name, fraction in case["expected"].items():
        assert twin[name] == Fraction(fraction)
        assert found[name] == pytest.approx(float(Fraction(fraction)), abs=1e-14)


@given(DOCUMENTS, OPTIONS)
@settings(max_examples=60)
def test_fast_is_slow(documents, options):
    found, twin = measure(documents, **options), slow.alpha(documents, **options)
    for name in MEASURES:
        assert (found[name] is None) == (twin[name] is None)
        assert found[name] is None or found[name] == pytest.approx(float(twin[name]), abs=1e-12)


@given(SETS, SETS)
@settings(max_examples=100)
def test_distances(one, other):
    shared = len(one & other)
    if not shared:  # distance 1, which is never looked at
        assert all(d(one, other) == 1 for d in slow.distances().values())
        return
    found = measure_distances(shared, len(one), len(other))
    assert found.tolist() == measure_distances(shared, len(other), len(one)).tolist()
    assert all((d == 0) == (one == other) and 0 <= d <= 1 for d in found)
    exact = [float(d(one, other)) for d in slow.distances().values()]
    assert found == pytest.approx(exact, abs=1e-15)
    _, iaa1, masi = found
    assert masi >= iaa1


def make_tables(n, seed):
    """Random documents with two to six annotators of up to eighteen mentions, who agree more or less."""
    rng = random.Random(seed)
    for _ in range(n):
        size, noise = rng.randint(2, 18), rng.random()
        truth = [rng.randint(0, 4) for _ in range(size)]
        drawn = [
            [t if rng.random() > noise else rng.randint(0, 6) for t in truth]
            for _ in range(rng.randint(2, 6))
        ]
        # The last two numbers stand for no chain.
        yield [
            [c for k in range(5) if (c := [i for i, t in enumerate(one) if t == k])]
            for one in drawn
        ]


def by_krippendorff(table, distance):
    """Alpha as the library `krippendorff` computes it; None if it refuses."""
    values = sorted({v for row in table.values() for v in row if v is not None}, key=sorted)
    counts = np.array([[row.count(v) for v in values] for row in table.values()])
    if (counts > 0).sum() == 0 or (counts[counts.sum(axis=1) > 1].sum(axis=0) > 0).sum() < 2:
        return None

    def metric(v1, v2, i1, i2, n_v, dtype=float):
        one, other = np.broadcast_arrays(i1, i2)
        return np.vectorize(lambda i, j: float(distance(values[i], values[j])))(one, other)

    return krippendorff.alpha(value_counts=counts, level_of_measurement=metric)


@pytest.mark.parametrize("unannotated", ["singleton", "missing"])
def test_krippendorff(unannotated):
    compared = 0
    for document in make_tables(25, seed=14):
        spans = [[[[i, i] for i in c] for c in annotation] for annotation in document]
        found = measure_clusters([spans], resolve({"unannotated": unannotated})).alpha
        for name, distance in slow.distances().items():
            wanted = by_krippendorff(slow.list_values(document, unannotated), distance)
            if wanted is not None:
                assert found[name] == pytest.approx(wanted, abs=1e-12)
                compared += 1
    assert compared > 50


def test_nltk():
    # Before 3.10, NLTK has 0.67 and 0.33 for 2/3 and 1/3.
    from nltk.metrics import masi_distance
    from nltk.metrics.agreement import AnnotationTask

    def measure_distance(one, other):
        """NLTK's distance; sets that cross in one mention, for which it has M = 1/3, are apart."""
        is_crossed = len(one & other) == 1 and not (one <= other or other <= one)
        return 1 if is_crossed else masi_distance(one, other)

    is_exact = masi_distance({1}, {1, 2}) == pytest.approx(2 / 3, abs=1e-12)
    for document in make_tables(25, seed=15):
        table = slow.list_values(document)
        rows = [(m, i, value) for i, values in table.items() for m, value in enumerate(values)]
        if len({value for _, _, value in rows}) > 1:
            spans = [[[[i, i] for i in c] for c in annotation] for annotation in document]
            found = measure_clusters([spans], resolve({})).alpha["iaa2"]
            wanted = AnnotationTask(rows, distance=measure_distance).alpha()
            assert found == pytest.approx(wanted, abs=1e-12 if is_exact else 0.02)


def test_documents_and_what_is_said_of_them():
    found = measure_clusters(
        [[spread(["ab"])] * 2, [spread(["ab"])], [spread(["ab"]), []], []], resolve({})
    )
    assert [(one.annotators, one.mentions, one.alpha["iaa1"]) for one in found.documents] == [
        (2, 2, 1.0), (1, 2, None), (2, 2, pytest.approx(1 / 7)), (0, 0, None),
    ]  # fmt: skip
    assert list(found.describe()) == [
        "2 documents have fewer than two annotators, and no alpha: '1', '3'.",
        "alpha is 0/0, and 1 by convention, in 1 document without two different values: '0'.",
        "1 annotation has no chain of two or more mentions.",
    ]


def test_nothing_at_all():
    assert measure_clusters([], resolve({})).alpha == dict.fromkeys(MEASURES)
    pooled = resolve({"average": "pooled"})
    assert measure_clusters([[[], []]], pooled).alpha == dict.fromkeys(MEASURES)


def test_an_unknown_value():
    with pytest.raises(
        RequestError, match="option average: 'median' is not one of 'macro', 'pooled'"
    ):
        resolve({"average": "median"})


def test_bad_annotations():
    bad = [[[[[0, 0], [3, 1]]], [[[0, 0], [0, 0]], [[2, 2]], [[2, 2]]]]]
    with pytest.raises(SubmissionError) as error:
        measure_clusters(bad, resolve({}))
    assert str(error.value).splitlines()[1:] == [
        "predictions: row 0: annotation 0: [3, 1] ends before it starts (expected [start, end])",
        "predictions: row 0: annotation 1: mention [0, 0] is twice in cluster 0 (numbered from 0); keep one of them",
        "predictions: row 0: annotation 1: mention [2, 2] is in clusters 1 and 2 (numbered from 0); keep one of them",
    ]
