"""The page of limits has their values, and what is as large as a limit is accepted."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from shared.for_each import for_each

from closeread.arrays import LimitError, check_sums
from closeread.counts.resampling import MAX_DRAWS, MAX_NULLS, MAX_SUMS, max_resamples
from closeread.leaderboard.declaration import Limits

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"


def read_rows():
    """Return the cells of the rows of the page, without the names of columns."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text("utf-8").splitlines()]
    return [row for row in rows if row and row[0] != "limit" and set(row[0]) != {"-"}]


ON_PAGE = {row[2].strip("`"): row[1] for row in read_rows() if len(row) == 3}


@for_each("name", ON_PAGE)
def test_a_limit_has_the_value_on_the_page(name):
    module, _, constant = name.rpartition(".")
    assert ON_PAGE[name].split()[0] == f"{int(getattr(importlib.import_module(f'closeread.{module}'), constant)):,}"


def test_limits_of_boards_have_the_values_on_the_page():
    values = [row[1].split()[0] for row in read_rows() if len(row) == 2]
    assert values == [f"{getattr(Limits(), name):,}" for name in ("bytes", "rows", "per_day", "seconds", "memory")]


def test_a_sum_may_be_as_large_as_its_limit():
    counts = np.array([3, 2, 4])
    check_sums(np.array([0, 0, 1]), counts, "mentions", 5)
    with pytest.raises(LimitError):
        check_sums(np.array([0, 0, 1]), counts, "mentions", 4)


def test_paired_tests_have_as_many_resamples_as_the_smallest_limit_allows():
    assert max_resamples(3, 2, 10**6, 1) == MAX_DRAWS // 10**6
    assert max_resamples(10, 2, 1, 10**4) == MAX_SUMS // 10**5
    assert max_resamples(2000, 8, 1, 1) == MAX_NULLS // (1000 * 1999 * 8)
