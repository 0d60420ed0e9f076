import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each
from twins.windows import choose_window, find_windows

from closeread.neural.windows import cut_windows


@given(st.lists(st.integers(0, 60), max_size=5), st.integers(1, 20), st.data())
def test_windows_are_those_of_the_twin(lengths, limit, data):
    overlap = data.draw(st.integers(0, limit - 1))
    found = cut_windows(np.array(lengths, np.int64), limit, overlap)
    expected, owners, first = [], [], 0
    for length in lengths:
        windows = find_windows(length, limit, overlap)
        owners += [len(expected) + choose_window(windows, piece, length) for piece in range(length)]
        expected += [(first + start, end - start) for start, end in windows]
        first += length
    assert list(zip(found.start.tolist(), found.size.tolist(), strict=True)) == expected
    assert found.owner.tolist() == owners


def test_neighbours_share_what_is_asked_for():
    found = cut_windows(np.array([100]), 30, 10)
    ends = found.start + found.size
    assert (ends[:-1] - found.start[1:] >= 10).all()
    assert ends[-1] == 100


@for_each("overlap", [-1, 5, 6])
def test_an_overlap_that_leaves_no_step_is_refused(overlap):
    with pytest.raises(ValueError, match=rf"overlap is {overlap} \(expected 0 to 4"):
        cut_windows(np.array([7]), 5, overlap)
