"""All limits are on one page, with their values, and say what they limit."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from closeread import limits

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
NAMES = [name for name in vars(limits) if name.isupper()]


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_stands_on_the_page_with_its_value(name):
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if f"| `{name}` |" in line]
    assert len(rows) == 1
    assert rows[0][2].split()[0] == f"{getattr(limits, name):,}"


def test_the_page_has_no_other_limits():
    found = [line.split("`")[1] for line in PAGE.read_text("utf-8").splitlines() if "| `" in line]
    assert sorted(found) == sorted(NAMES)


def test_every_limit_has_a_docstring():
    body = ast.parse(Path(limits.__file__).read_text("utf-8")).body
    for one, following in pairwise(body):
        if isinstance(one, ast.Assign):
            assert isinstance(following, ast.Expr)
            assert isinstance(following.value, ast.Constant)
