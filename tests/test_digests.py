"""Digests of gold: the same for columns and rows, in any order and in any number of pieces."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread import digests
from closeread.coded_columns import Coder, NumberedNames
from closeread.digests import unit_digests
from closeread.records import ColumnRecords

texts = st.text(st.sampled_from("ab\x1d\x1e\x1fé"), max_size=3)
rows = st.lists(st.fixed_dictionaries({"unit": st.sampled_from("xyz"), "b": texts, "a": texts}), min_size=1, max_size=9)


@given(rows=rows, size=st.integers(1, 4), seed=st.integers(0, 9))
def test_columns_in_pieces_and_rows_in_any_order(rows, size, seed):
    columns = ColumnRecords({name: [row[name] for row in rows] for name in rows[0]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "ROWS", size)
        found = unit_digests(columns, "unit", ["b"])
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert found == unit_digests(rows, "unit", ["b"]) == unit_digests(shuffled, "unit", ["b"])


coded_texts = st.text(st.sampled_from("ab\x01\x1eé€"), max_size=3) | st.text(st.sampled_from("ab !é€😀"), max_size=3)
coded_rows = st.lists(
    st.fixed_dictionaries(
        {"unit": st.sampled_from("xyz"), "a": coded_texts, "m": coded_texts, "y": st.sampled_from(["", "c", "d"])}
    ),
    min_size=1,
    max_size=12,
)


@given(
    rows=coded_rows,
    size=st.integers(1, 4),
    in_order=st.booleans(),
    shared=st.booleans(),
    prefix=st.sampled_from("i\x1f"),
)
def test_coded_columns_and_rows(rows, size, in_order, shared, prefix):
    rows = sorted(rows, key=lambda row: row["unit"]) if in_order else rows
    rows = [row | ({"y": row["unit"], "z": row["unit"] * 2} if shared else {}) for row in rows]
    columns = {"id": NumberedNames(prefix, np.arange(99_999, 99_999 + len(rows)))}
    for name in rows[0]:
        coder = Coder()
        coder.add([row[name] for row in rows])
        columns[name] = coder.finish(str)
    rows = [{**row, "id": name} for row, name in zip(rows, columns["id"], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "ROWS", size)
        assert unit_digests(ColumnRecords(columns), "unit", ["m"]) == unit_digests(rows, "unit", ["m"])
        assert unit_digests(ColumnRecords(columns), "unit") == unit_digests(rows, "unit")


@given(rows=rows, others=rows)
def test_units_differ_if_their_records_do(rows, others):
    def by_unit(some):
        return {unit: sorted((row["a"], row["b"]) for row in some if row["unit"] == unit) for unit in "xyz"}

    here, there = unit_digests(rows, "unit"), unit_digests(others, "unit")
    one, other = by_unit(rows), by_unit(others)
    assert {unit for unit in "xyz" if here.get(unit) == there.get(unit)} == {u for u in "xyz" if one[u] == other[u]}
