"""Calls grow no faster than the input: a table of functions that see data, and of texts that made some of them slow.

The work inside a call is that of regular expressions, which `test_linear_patterns` tests.
"""

import sys

import pytest

from closeread.exceptions import suggest
from closeread.formats.json_lines import parse_json_lines
from closeread.tasks.mctaco.perturbation.rules import perturb
from closeread.tasks.mctaco.perturbation.units import cardinal, normalize_units, parse_quantity

CONSTANT = 100
"""Calls that do not depend on the input."""

GROWTH = 6
"""How many times the calls four times the input may take; 4 is linear, 16 quadratic."""

PIECES = [
    "second ",
    "a second and ",
    "1 hour and ",
    "hundred ",
    "and a half ",
    "one ",
    "1,",
    "1.",
    "(",
    '"',
    "\\",
    "-",
    "\n",
]
"""Texts that are repeated: words of several rules, digits, blanks, brackets, quotation marks and punctuation."""


def repeat_key(text):
    return parse_json_lines(["{" + ",".join(f'"{i}":1' for i in range(len(text))) + ',"0":1,"1":1}'])


FUNCTIONS = [normalize_units, perturb, parse_quantity, cardinal, lambda text: suggest(text, ["b3", "lea"]), repeat_key]


def count_calls(function, text):
    """The calls of functions, those of built-in ones included."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.extended
@pytest.mark.parametrize("function", FUNCTIONS)
def test_calls_grow_with_the_input(function):
    function("1 hour ")  # what is made once
    for piece in PIECES if function is not repeat_key else ["x"]:
        few, many = (count_calls(function, piece * (size // len(piece))) for size in (1000, 4000))
        assert many < GROWTH * (few + CONSTANT), piece


def test_growth_is_seen():
    def quadratic(text):
        for i in range(len(text)):
            list(map(str.upper, text[:i]))
            any(letter.isdigit() for letter in text[:i])

    few, many = (count_calls(quadratic, "x" * size) for size in (100, 400))
    assert many > GROWTH * (few + CONSTANT)
