"""Columns stored as numbers are equal to the lists of their texts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread import coded_columns
from closeread.coded_columns import CodedColumn, Coder, NumberedNames, PackedTexts
from closeread.counts.table import factorize

texts = st.lists(st.text(st.sampled_from("aé "), max_size=2), max_size=9)
indices = st.integers(-9, 9) | st.none()


def code(values, in_runs=False, cut=0):
    coder = Coder(in_runs=in_runs)
    coder.add(values[:cut])
    coder.add(values[cut:])
    return coder.finish(str)


@given(values=texts, cut=st.integers(0, 9), in_runs=st.booleans(), size=st.integers(1, 3), data=st.data())
def test_is_like_the_list_of_its_texts(values, cut, in_runs, size, data):
    column = code(values, in_runs, cut)
    begin, end = data.draw(indices), data.draw(indices)
    step = data.draw(st.sampled_from([None, 1, 2, -1, -2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coded_columns, "CODES", size)
        assert list(column) == values
    assert column == values
    assert column[begin:end:step] == values[begin:end:step]
    assert [column[i] for i in range(-len(values), len(values))] == values * 2
    assert column.take(np.arange(len(values))[::-1]) == values[::-1]
    assert pickle.loads(pickle.dumps(column)) == values
    numbers, distinct = factorize(column)
    assert (numbers.tolist(), distinct) == (factorize(values)[0].tolist(), factorize(values)[1])
    assert column.first_rows().tolist() == [values.index(value) for value in dict.fromkeys(values)]
    assert column.equals("a").tolist() == [value == "a" for value in values]


def test_refuses_indices_beyond_the_end():
    with pytest.raises(IndexError):
        code(["a"])[1]


def test_differs_from_other_texts():
    assert code(["a", "b"]) != ["a", "c"]
    assert code(["a"]) != "a"


@given(values=texts, limit=st.integers(0, 9), in_runs=st.booleans())
def test_texts_that_become_the_same(values, limit, in_runs):
    coder = Coder(in_runs=in_runs)
    coder.add(values)
    column = coder.finish(str.strip, limit)
    expected = [value.strip() for value in values[:limit]]
    assert list(column) == expected
    assert column.values == list(dict.fromkeys(expected))


@given(values=texts, others=st.data())
def test_splits_texts(values, others):
    second = others.draw(st.lists(st.sampled_from(["", "x", "y"]), min_size=len(values), max_size=len(values)))
    first, rest = code([f"{one}|{two}" for one, two in zip(values, second, strict=True)]).split("|")
    for column, expected in ((first, values), (rest, second)):
        assert list(column) == expected
        assert column.values == list(dict.fromkeys(expected))


@given(pairs=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"))))
def test_is_constant_in_groups(pairs):
    groups, values = code([group for group, _ in pairs]), code([value for _, value in pairs])
    assert values.is_constant_in(groups) == (len(set(pairs)) == len({group for group, _ in pairs}))


def test_numbered_names():
    names = NumberedNames("{0}-", np.array([0, 7, 99_999, 100_000]))
    assert names == ["{0}-00000", "{0}-00007", "{0}-99999", "{0}-100000"]
    assert names[1:3] == ["{0}-00007", "{0}-99999"]
    assert names[-1] == "{0}-100000"
    assert NumberedNames("a", np.array([9_999, 10_000]))[1:] == ["a10000"]
    assert not isinstance(names, CodedColumn)


@given(parts=st.lists(texts, max_size=4), data=st.data())
def test_packed_texts_are_like_the_list_of_them(parts, data):
    packed = PackedTexts.join([PackedTexts.pack(part) for part in parts])
    whole = [text for part in parts for text in part]
    assert packed == whole
    assert len(packed) == len(whole)
    begin, end = data.draw(indices), data.draw(indices)
    assert packed[begin:end] == whole[begin:end]
    assert [packed[i] for i in range(-len(whole), len(whole))] == whole * 2
    assert packed.take(np.arange(len(whole))[::-1]) == whole[::-1]
