"""The package does not outgrow its budget in `tools/size.toml`, nor becomes less plain than `tools/plain.toml` says."""

from textwrap import dedent

import plain
import pytest
import size

SMALLER = (
    "python tools/size.py prints the tokens of each room: reuse what there is, and delete what became unused; "
    "for what is still missing, raise the budget in tools/size.toml, and say for what in the commit"
)
PLAINER = (
    "python tools/plain.py --files 10 prints where the marks are: rewrite these places, or others of the room; "
    "numbers in tools/plain.toml are only lowered"
)


def test_nothing_is_larger_than_its_budget():
    excess = size.find_excess(size.measure())
    lines = [f"{room}: {', '.join(over)}" for room, over in excess.items()]
    assert not excess, "\n".join([*lines, SMALLER])


def test_more_than_a_budget_is_found():
    excess = size.find_excess({"total": [0, 10**9, 0]})
    assert excess["total"][0].startswith("tokens 1,000,000,000 (at most ")


def test_no_room_has_more_marks_than_before():
    excess = plain.find_excess(plain.sum_rooms(plain.measure_package()))
    assert not excess, "\n".join([*excess, PLAINER])


def test_more_marks_than_allowed_are_found():
    packed = plain.measure_module("a, b = 1, 2\n")
    assert plain.find_excess({"counts": packed, "new": packed}) == [
        f"counts: 1000 marks per 1,000 statements, at most {plain.read_budgets()['rooms']['counts']}",
        "new: 1000 marks per 1,000 statements, at most 30",
    ]


@pytest.mark.parametrize(
    ("code", "places"),
    [
        ("x = [[y for y in row] for row in rows]", [(1, "nested")]),
        ("x = [y for row in rows for y in row]", [(1, "nested")]),
        ("if (n := len(rows)) > 1:\n    x = n", [(1, "walrus")]),
        ("x = ['a'] * (n > 1)", [(1, "multiplied")]),
        ("x = 'a' * is_long", [(1, "multiplied")]),
        ("x = [*(rows if rows else [])]", [(1, "starred")]),
        ("x, y = 1, 2", [(1, "together")]),
        ("x, y = pair", []),
        ("x = 1 if a else 2 if b else 3", [(1, "conditional")]),
        ("def f(its):\n    for one in rows:\n        pass", [(1, "empty"), (2, "empty")]),
        ("x = [" + "1, " * 40 + "]", []),
        ("def f():\n    x = [" + "1, " * 20 + "]", [(2, "long")]),
        ("def f():\n    if x:\n" + "        y = 1\n" * 40, []),
    ],
)
def test_marks(code, places):
    assert plain.measure_module(code).places == places


def test_statements_and_names():
    code = '''
        """A module."""
        import sys

        def f(rows):
            """Do it."""
            for row in rows:  # a loop
                print(row)
            return f"{rows}"
    '''
    plainness = plain.measure_module(dedent(code))
    assert (plainness.statements, plainness.comments) == (3, 1)
    assert plainness.names == {"rows": 1, "row": 1}
