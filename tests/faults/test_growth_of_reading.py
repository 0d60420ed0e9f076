"""Time grows no faster than the input: a table of functions that see data, and of texts that made some of them slow."""

import time

import pytest

from closeread.formats.json_lines import parse_json_lines
from closeread.suggestions import suggest
from closeread.tasks.mctaco.perturbation.number_words import cardinal
from closeread.tasks.mctaco.perturbation.rules import perturb
from closeread.tasks.mctaco.perturbation.units import normalize_units, parse_quantity

LEAST = 0.02
"""Shorter times, in seconds of the processor, are too inexact to be compared."""

GROWTH = 9
"""How many times as long four times the input may take; 4 is linear, 16 quadratic."""

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


def measure(function, text):
    start = time.process_time()
    function(text)
    return time.process_time() - start


@pytest.mark.parametrize("function", FUNCTIONS)
def test_time_grows_with_the_input(function):
    for piece in PIECES if function is not repeat_key else ["x"]:
        short, long = (piece * (size // len(piece)) for size in (2000, 8000))
        fast, slow = measure(function, short), measure(function, long)
        if slow > GROWTH * max(fast, LEAST):  # once more, since another process may have disturbed it
            fast, slow = (min(measure(function, text) for _ in range(3)) for text in (short, long))
        assert slow < GROWTH * max(fast, LEAST), piece
