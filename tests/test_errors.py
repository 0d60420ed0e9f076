"""How bad input is reported."""

from pathlib import Path

import pytest

from closeread.errors import InputError, escape, quote, shorten


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


def test_long_texts_are_cut_in_the_middle():
    assert shorten("x" * 300) == "x" * 300
    assert shorten("a" * 500 + "b" * 500) == "a" * 148 + " … " + "b" * 148
    assert quote("\x1b" * 100) == r"'\x1b\x1b\x1b\x1b\x1b\x1b\x1 … x1b\x1b\x1b\x1b\x1b\x1b\x1b'"
