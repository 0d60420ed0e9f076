"""How bad input is reported."""

import pickle
from pathlib import Path

import pytest

from closeread.exceptions import (
    CloseReadWarning,
    InputError,
    Problem,
    RequestError,
    describe_problems,
    escape,
    quote,
    shorten,
)


def test_an_error_keeps_what_it_was_made_from():
    error = InputError(Path("a"), [])
    assert (error.source, error.problems, str(error)) == ("a", (), "")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text, ä and 😀", "plain text, ä and 😀"),
        ("two\nlines", "two\nlines"),
        ("a\tb\r\x00\x7f\x9b", r"a\tb\r\x00\x7f\x9b"),
        ("\u202e\u2028\u200b\ufeff", r"\u202e\u2028\u200b\ufeff"),
        ("\udcff\ud800", r"\udcff\ud800"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_printable(raw, shown):
    assert escape(raw) == shown


@pytest.mark.parametrize(
    "make",
    [RequestError, CloseReadWarning, lambda text: InputError("a", [Problem(text)])],
    ids=["request", "warning", "input"],
)
def test_messages_are_escaped(make):
    """Also what was not escaped by whoever wrote the message; line ends are the message's own."""
    error = make("a\x1b\u2028\nb")
    assert str(error).removeprefix("a: ") == "a\\x1b\\u2028\nb"
    assert str(pickle.loads(pickle.dumps(RequestError(str(error))))) == str(error)


def test_long_texts_are_cut_in_the_middle():
    assert shorten("x" * 300) == "x" * 300
    assert shorten("a" * 500 + "b" * 500) == "a" * 148 + " … " + "b" * 148
    assert quote("\x1b" * 100) == r"'\x1b\x1b\x1b\x1b\x1b\x1b\x1 … x1b\x1b\x1b\x1b\x1b\x1b\x1b'"


@pytest.mark.parametrize(
    ("problems", "shown"),
    [
        (
            [Problem("is empty", line) for line in (1, 2, 4, 8, 16)],
            ["f:1: is empty (5 times; also lines 2, 4, 8, …)"],
        ),
        ([Problem("is empty", 1), Problem("is empty", 1)], ["f:1: is empty (2 times)"]),
        ([Problem("is odd", None, name) for name in "ab"], ["f/a: is odd (2 times; also b)"]),
        (
            [Problem("is odd", 3, "a"), Problem("is odd", 5, "b")],
            ["f/a:3: is odd (2 times; also b:5)"],
        ),
        (
            [Problem("is odd", record=f"row {row}") for row in (0, 2)],
            ["f: row 0: is odd (2 times; also row 2)"],
        ),
        (
            [
                Problem("is odd", 1, path=("cats", number, "name"), record="id 'a'")
                for number in (0, 2)
            ],
            ["f:1: id 'a': cats[0].name: is odd (2 times; also cats[2].name)"],
        ),
        # Another field, or another finding, is another kind of problem.
        (
            [Problem("is odd", 1, path=(name,)) for name in ("cats", "dogs")],
            ["f:1: cats: is odd", "f:1: dogs: is odd"],
        ),
        ([Problem("is odd", 2), Problem("is even", 1)], ["f:2: is odd", "f:1: is even"]),
    ],
)
def test_equal_problems_are_one_line_with_their_number(problems, shown):
    assert describe_problems("f", problems) == shown


def test_the_first_20_kinds_of_problems_are_shown():
    lines = str(
        InputError("f", [Problem(f"has {number} tails", number) for number in range(1, 26)])
    ).splitlines()
    assert (lines[0], len(lines)) == ("f: 25 problems (first 20 shown):", 21)
    repeated = [
        Problem(f"has {number} tails", number + 1) for number in range(25) for _ in range(2)
    ]
    total, first, *_ = str(InputError("f", repeated)).splitlines()
    assert (total, first) == (
        "f: 50 problems of 25 kinds (first 20 shown):",
        "f:1: has 0 tails (2 times)",
    )
