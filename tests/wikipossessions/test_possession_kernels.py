"""Names, times, orders and assignments of possessions: hand cases, and comparison with brute force."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.arrays import best_assignment
from closeread.tasks.wikipossessions.dates import Reading, parse_century, parse_time
from closeread.tasks.wikipossessions.matching import normalize_name, order_key

CASES = json.loads((Path(__file__).parent.parent / "cases" / "possession.json").read_text("utf-8"))


@for_each("case", CASES["names"], ids=lambda case: " | ".join(case["names"]))
def test_names_by_hand(case):
    one, other = (normalize_name(name, case.get("strip_scope", "all")) for name in case["names"])
    found = "exact" if one.tokens == other.tokens else "partial" if one.content & other.content else "none"
    assert found == case["match"]


@for_each("case", CASES["times"], ids=lambda case: case["anchor"])
def test_times_by_hand(case):
    found = parse_time(case["anchor"], case.get("relation"), Reading(**case.get("reading", {})))
    assert (found if found is None else list(found)) == case["time"]


def test_texts_that_are_not_centuries():
    for text in (
        "century",
        "0th century",
        "16th",
        "16th-18th",
        "Unknown-16th",
        "Unknown-Now",
        "16th Century-",
        "the 1st-2nd-3rd century",
    ):
        assert parse_century(text) is None, text


@given(st.text(max_size=12), st.sampled_from(["all", "edges"]))
def test_normalizing_twice_changes_nothing_more(text, scope):
    name = normalize_name(text, scope)
    assert name.tokens
    assert name.content
    if text.isascii():
        assert normalize_name(" ".join(name.tokens), scope) == name
        assert normalize_name(f" The {text.upper()}, ", "all") == normalize_name(f"the {text}", "all")


def test_orders_are_numbers_of_any_length():
    in_order = ["1", "2", "6", "6.1", "6.2", "6.2.1", "6.10", "10", "9" * 6000, "1" + "0" * 6000]
    assert sorted(set(in_order), key=order_key) == in_order
    assert order_key("06.1") == order_key("6.01")
    for wrong in ("", "6.", ".1", "-1", "1.x", "１"):
        with pytest.raises(ValueError, match="expected whole numbers"):
            order_key(wrong)


@given(st.integers(1, 5), st.data())
def test_the_assignment_is_the_first_of_maximum_weight(n, data):
    row = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3, 10**30]), min_size=n, max_size=n)
    weight = data.draw(st.lists(row, min_size=n, max_size=n))
    large = max(map(max, weight)) > 3

    def key(columns):
        return (
            -sum(weight[i][j] for i, j in enumerate(columns)),
            [j if weight[i][j] else n for i, j in enumerate(columns)],
        )

    best = min(key(columns) for columns in permutations(range(n)))[1]
    got = best_assignment(np.array(weight, object if large else np.int64)).tolist()
    assert [n if j < 0 else j for j in got] == best
