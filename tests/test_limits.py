"""The page of limits has their values."""

import importlib
from pathlib import Path

from shared.for_each import for_each

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
