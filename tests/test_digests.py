"""Digests of gold: the same for columns and rows, in any order and in any number of pieces."""

import random

from hypothesis import given
from hypothesis import strategies as st

from closeread.digests import unit_digests
from closeread.records import ColumnRecords

texts = st.text(st.sampled_from("ab\x1d\x1e\x1fé"), max_size=3)
rows = st.lists(
    st.fixed_dictionaries({"unit": st.sampled_from("xyz"), "b": texts, "a": texts}),
    min_size=1,
    max_size=9,
)


@given(rows=rows, seed=st.integers(0, 9))
def test_columns_and_rows_in_any_order(rows, seed):
    found = unit_digests(
        ColumnRecords({name: [row[name] for row in rows] for name in rows[0]}), "unit", ["b"]
    )
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert found == unit_digests(rows, "unit", ["b"]) == unit_digests(shuffled, "unit", ["b"])


@given(rows=rows, others=rows)
def test_units_differ_if_their_records_do(rows, others):
    def by_unit(some):
        return {
            unit: sorted((row["a"], row["b"]) for row in some if row["unit"] == unit)
            for unit in "xyz"
        }

    here, there = unit_digests(rows, "unit"), unit_digests(others, "unit")
    one, other = by_unit(rows), by_unit(others)
    assert {unit for unit in "xyz" if here.get(unit) == there.get(unit)} == {
        u for u in "xyz" if one[u] == other[u]
    }
