import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins.windows import choose_window, find_windows

pytest.importorskip("torch")

from closeread.neural.encoders import cut_windows


@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_windows_are_those_of_the_twin(length, limit, data):
    overlap = data.draw(st.integers(0, limit - 1))
    windows, owner = cut_windows(length, limit, overlap)
    expected = find_windows(length, limit, overlap)
    assert [(window.start, window.stop) for window in windows] == expected
    assert owner.tolist() == [choose_window(expected, piece, length) for piece in range(length)]


def test_neighbours_share_what_is_asked_for():
    windows, _ = cut_windows(100, 30, 10)
    assert all(before.stop - after.start >= 10 for before, after in itertools.pairwise(windows))
    assert windows[-1].stop == 100


@pytest.mark.parametrize("overlap", [-1, 5, 6])
def test_an_overlap_that_leaves_no_step_is_refused(overlap):
    with pytest.raises(ValueError, match=rf"overlap is {overlap} \(expected 0 to 4"):
        cut_windows(7, 5, overlap)
