"""Tables of counts: breakdowns inside units."""

import numpy as np
import pytest

from closeread.counts.table import CountTable, merge
from closeread.errors import RequestError

KINDS = {"a": [[1, 2], [0, 0], [3, 4]], "b": [[0, 0], [0, 0], [0, 1]], "none": [[0, 0], [0, 0], [0, 0]]}


def table(parts):
    values = np.array([[1, 2], [0, 0], [3, 5]], np.float64)
    return CountTable(["x", "y", "z"], np.array([0, 0, 1]), ("n", "m"), values, {"side": ["l", "r", "l"]}, parts)


def kinds():
    return {name: np.array(values, np.float64) for name, values in KINDS.items()}


def test_parts():
    slices = table({"kind": kinds}).slices("kind")
    # What counts nothing is left out: a part, and of a part the units.
    assert {name: (list(part.units), part.values.tolist()) for name, part in slices.items()} == {
        "a": (["x", "z"], [[1, 2], [3, 4]]),
        "b": (["z"], [[0, 1]]),
    }
    assert [part.blocks.tolist() for part in slices.values()] == [[0, 1], [0]]
    assert [part.fields["side"] for part in slices.values()] == [["l", "l"], ["l"]]
    assert [part.parts for part in slices.values()] == [{}, {}]


def test_parts_of_some_rows():
    whole = table({"kind": kinds})
    some = whole.select(np.array([False, True, True]))
    assert {name: (list(part.units), part.values.tolist()) for name, part in some.slices("kind").items()} == {
        "a": (["z"], [[3, 4]]),
        "b": (["z"], [[0, 1]]),
    }
    again = some.select(np.array([True, False]))
    assert again.slices("kind") == {}
    assert whole.select(np.zeros(3, np.bool_)).slices("kind") == {}
    left = whole.slices("side")["l"].slices("kind")["a"]
    assert left.values.tolist() == [[1, 2], [3, 4]]


def test_parts_are_made_when_they_are_asked_for():
    def never():
        raise AssertionError("nobody asked")

    lazy = table({"kind": never})
    assert list(lazy.slices("side")) == ["l", "r"]
    assert (
        merge([lazy.select(np.array([True, True, False])), lazy.select(np.array([False, False, True]))]).n_blocks == 2
    )
    with pytest.raises(AssertionError, match="nobody asked"):
        lazy.slices("kind")
    with pytest.raises(RequestError) as error:
        lazy.slices("colour")
    assert str(error.value) == "no field 'colour' to slice by (there are: side, kind)"
