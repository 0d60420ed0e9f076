"""Regular expressions whose work grows with the text, not with its square.

All patterns of the package are tried on texts that follow from them; the table has functions, and texts found by hand.
Each text is the worst that is known for the pattern: long runs that almost match.  Four times the text takes four times
as long if the work is linear and sixteen times if it is quadratic; what takes hardly any time is linear enough.
"""

import re
import signal
import time

import pytest
from shared.patterns import list_patterns, list_worst

from closeread.exceptions import suggest
from closeread.hub.client import list_changed_paths
from closeread.llm.answers import read_answer
from closeread.tasks.coref.formats.conllu import GLOBAL_ENTITY, NEWDOC
from closeread.tasks.coref.formats.conllua import PIECE
from closeread.tasks.marmara.treebank import SENTENCE
from closeread.tasks.marmara.universal_dependencies import SENT_ID
from closeread.tasks.mctaco.perturbation.rules import perturb
from closeread.tasks.mctaco.perturbation.units import cardinal, normalize_units, parse_quantity
from closeread.tasks.wikipossessions.dates import DASH

N = 4000
MOST = 12
"""By how much the time may grow when the text grows by four: between 4 and 16."""
FLOOR = 0.02
"""Seconds of processor time that are never too many: quadratic work takes several times as long on these texts."""


def answer(text):
    return read_answer("mctaco", text, {"ids": ["q-0"]})


def answer_word(text):
    return read_answer("mctaco", text, {"ids": ["q-0"], "ask": "candidate"})


TABLE = {
    "names of a difference": (list_changed_paths, lambda n: "diff --git " + '\\"' * n),
    "sides of a difference": (list_changed_paths, lambda n: "diff --git a/" + " b/" * n),
    "name to suggest for": (lambda name: suggest(name, ["muc"]), lambda n: "_" * n + "x"),
    "blanks in a document's name": (NEWDOC.fullmatch, lambda n: "# newdoc id = a" + " " * n + "b"),
    "blanks in the entities' columns": (
        GLOBAL_ENTITY.fullmatch,
        lambda n: "# global.Entity = a" + " " * n + "b",
    ),
    "blanks in a sentence's name": (SENT_ID.fullmatch, lambda n: "# sent_id = a" + " " * n + "b"),
    "a cell without brackets": (PIECE.findall, lambda n: "a" * n),
    "digits of a sentence": (SENTENCE.fullmatch, lambda n: "00000000" + "1." + "1" * n + " x"),
    "blanks in a number": (cardinal, lambda n: "one" + " " * n + "two"),
    "blanks between numbers": (
        lambda text: perturb(text, changes=1),
        lambda n: "one" + " " * n + "hundred",
    ),
    "scales": (parse_quantity, lambda n: "hundred " * (n // 8)),
    "scales of a unit": (normalize_units, lambda n: "hundred " * (n // 8) + "years"),
    "units": (normalize_units, lambda n: "30 months " * (n // 40)),
    "ordinal units": (normalize_units, lambda n: "second" + " " * n + "second"),
    "blanks in an anchor": (DASH.split, lambda n: "a" + " " * n + "b"),
    "quotes of an answer": (answer, lambda n: '{"labels":["' + '\\"' * n),
    "strings of an answer": (answer, lambda n: '{"labels":["a' + '\n"' * n),
    "commas of an answer": (answer, lambda n: "," * n + ", " * n + " " * n),
    "thoughts": (answer, lambda n: "<think>" * n),
    "first word of an answer": (answer_word, lambda n: " " * n + "1" * n + " " * n + "maybe"),
    "words after an answer": (answer_word, lambda n: "a " + ("answer is" + " " * 20) * (n // 20)),
    "denials": (answer_word, lambda n: "no" + " " * n + "no" + " " * n),
}


def measure(work, text):
    """Return the least processor time of two runs."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        work(text)
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize("case", TABLE)
def test_time_grows_with_the_text(case):
    work, make = TABLE[case]
    work(make(8))  # what is imported or compiled once
    long = measure(work, make(4 * N))
    assert long < FLOOR or long < MOST * measure(work, make(N))


OWN = "## Figures", r"\s*\n\s*"
"""The beginnings of patterns for texts that are our own: a card, and docstrings."""

SECONDS = 3
"""What a text may take at most."""


def apply(pattern, method, text):
    """Apply a pattern; a replacement is empty."""
    arguments = (text[:0], text) if method in ("sub", "subn") else (text,)
    found = getattr(pattern, method)(*arguments)
    return list(found) if method == "finditer" else found


def is_slow(pattern, method, make):
    """Whether the work grows with the square of a text."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        long = measure(lambda text: apply(pattern, method, text), make(4 * N))
    except TimeoutError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return long > FLOOR and long > MOST * measure(
        lambda text: apply(pattern, method, text), make(N)
    )


@pytest.fixture
def alarm():
    """Raise an error when the time is over."""

    def end(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
def test_slow_patterns_are_found():
    for source in (r"(?:a|b)+c", r"\s*x", r"(.+?)\s*y"):
        pattern = re.compile(source)
        assert any(is_slow(pattern, "search", make) for make in list_worst(pattern)), source
    for source in (r"[0-9]{1,9}x", r'("(?:[^"\\\n]|\\.)*"?)|,', r"(?<!\s)\s++x"):
        pattern = re.compile(source)
        assert not any(is_slow(pattern, "search", make) for make in list_worst(pattern)), source


@pytest.mark.usefixtures("alarm")
def test_every_pattern_is_linear_in_its_worst_texts():
    patterns = list_patterns()
    assert len(patterns) > 150
    slow = [
        (pattern.pattern, method, make(40))
        for pattern, methods in patterns.items()
        if not str(pattern.pattern).startswith(OWN)
        for make in list_worst(pattern)
        for method in sorted(methods)
        if is_slow(pattern, method, make)
    ]
    assert slow == []
