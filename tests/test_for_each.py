"""Loops over cases: each case that fails is named, and none is left out."""

from pathlib import Path

import pytest
from shared.for_each import for_each


def test_all_cases_that_fail_are_named():
    tried = []

    @for_each(("a", "b"), [(1, 1), (1, 2), (2, 2), (3, 4)])
    def equal(a, b):
        tried.append(a)
        assert a == b

    with pytest.raises(ExceptionGroup, match="2 of 4 cases fail: 1-2, 3-4") as caught:
        equal()
    assert tried == [1, 1, 2, 3]
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in case 1-2"],
        ["in case 3-4"],
    ]


@for_each("number", [1, 2])
def test_each_case_has_a_folder_and_patches_of_its_own(number, here, tmp_path, monkeypatch):
    assert here == tmp_path == Path.cwd()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("shared.for_each.PATCHED", number, raising=False)
    Path("file").write_text("")
