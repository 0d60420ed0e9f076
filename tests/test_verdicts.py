"""Verdicts on printed and recomputed values, and how these are formatted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.counts.printed_tables import (
    AGREES,
    CUT_OFF,
    DIFFERS,
    NOT_PRINTED,
    NOT_RECOMPUTED,
    OWN_MODEL,
    WITHIN_CHANCE,
    Chance,
    Claim,
    OwnModel,
    format_like,
    give_verdict,
    parse_number,
)

JUDGED = {
    "an integer": ("44", 44, AGREES),
    "thousands": ("1,026,657", 1026657, AGREES),
    "thousands, one off": ("3,988", 3989, DIFFERS),
    "rounded up": ("0.90", 0.8951, AGREES),
    "rounded down": ("0.90", 0.9049, AGREES),
    "a half may be rounded down": ("8.5", 8.55, AGREES),
    "and up": ("8.6", 8.55, AGREES),
    "a half to even": ("2", 2.5, AGREES),
    "a half as floats have it": ("0.3", 0.1 + 0.2 + 0.05, AGREES),
    "just above a half": ("8.5", 8.5501, CUT_OFF),
    "just below a half": ("8.5", 8.4499, DIFFERS),
    "cut off": ("12.1", 12.1621, CUT_OFF),
    "cut off next to a whole unit": ("12.1", 12.19999, CUT_OFF),
    "a whole unit": ("12.1", 12.2, DIFFERS),
    "nothing is cut off upwards": ("12.1", 12.0299, DIFFERS),
    "a whole number cut off": ("69", 69.97, CUT_OFF),
    "trailing zeros count": ("7.50", 7.51, DIFFERS),
    "without them it agrees": ("7.5", 7.51, AGREES),
    "negative": ("-3.2", -3.24, AGREES),
    "negative, cut off towards zero": ("-3.2", -3.27, CUT_OFF),
    "negative, cut off away from zero": ("-3.2", -3.13, DIFFERS),
    "the other sign": ("3.2", -3.2, DIFFERS),
    "leading dot": (".063", 0.0634, AGREES),
    "leading dot, cut off": (".063", 0.0639, CUT_OFF),
    "leading dot, differs": (".063", 0.064, DIFFERS),
    "negative with a leading dot": ("-.5", -0.46, AGREES),
    "percent": ("53.8%", 53.84, AGREES),
    "percent with a blank": ("53.8 %", 53.7, DIFFERS),
    "a NumPy number": ("0.5", np.float64(0.54), AGREES),
    "zero": ("0", 0.0, AGREES),
    "equal texts": ("120 / 44", "120 / 44", AGREES),
    "texts are equal as a whole": ("120 / 44", "120 / 44 ", DIFFERS),
    "a text that looks like the number": ("0.90", "0.9", DIFFERS),
    "a draw near the mean": ("36.2", Chance(36.3, 0.75), WITHIN_CHANCE),
    "two deviations": ("10", Chance(12, 1), WITHIN_CHANCE),
    "more than two deviations": ("10", Chance(12.01, 1), DIFFERS),
    "more than two below": ("10", Chance(7.9, 1), DIFFERS),
    "the very mean is a draw, too": ("10", Chance(10, 0), WITHIN_CHANCE),
    "a claim that holds": ("less than 70", Claim(69.7, True), AGREES),
    "a claim that doesn't": ("less than 70", Claim(70.1, False), DIFFERS),
    "a claim about a text": ("a verb", Claim("read", True), AGREES),
    "not recomputed": ("12", None, NOT_RECOMPUTED),
    "not printed": (None, 12, NOT_PRINTED),
    "a draw that is not printed": (None, Chance(12, 1), NOT_PRINTED),
    "an own model, whatever its score": ("12", OwnModel(12.0), OWN_MODEL),
    "an own model that is not printed": (None, OwnModel(12.0), NOT_PRINTED),
}


@for_each("name", JUDGED)
def test_verdicts(name):
    printed, value, verdict = JUDGED[name]
    assert give_verdict(printed, value) == verdict


@pytest.mark.parametrize("value", [30.0, Chance(30, 1)])
@pytest.mark.parametrize("printed", ["about 30", "13k", "1.2.3", "", "12 / 13", "1e3"])
def test_a_number_can_only_be_compared_with_a_number(printed, value):
    assert parse_number(printed) is None
    with pytest.raises(ValueError, match="is not a number: give a text or a claim"):
        give_verdict(printed, value)


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_a_rounded_value_agrees_and_a_truncated_one_is_cut_off(number, digits):
    # Two more digits than are printed, so that integers say what rounding and truncation give.
    value, unit = number / 10 ** (digits + 2), 100
    rounded = (abs(number) + unit // 2) // unit
    cut = abs(number) // unit
    sign = "-" if number < 0 else ""

    def write(size):
        whole, rest = divmod(size, 10**digits)
        return f"{sign}{whole:,}.{rest:0{digits}}" if digits else f"{sign}{whole:,}"

    assert give_verdict(write(rounded), value) == AGREES
    assert give_verdict(write(cut), value) == (
        AGREES if abs(number) % unit <= unit // 2 else CUT_OFF
    )
    assert give_verdict(write(rounded + 1), value) == (
        AGREES if abs(number) % unit == unit // 2 and rounded == cut else DIFFERS
    )


def test_formats():
    for printed, value, expected in (
        ("35.8", 35.8642, "35.86"),
        ("35.8", 36.0, "36.00"),
        ("3,988", 3988.0, "3,988"),
        ("3,988", 3988.25, "3,988.2"),
        (".063", 0.06341, "0.0634"),
        ("12.50%", 12.5, "12.500"),
        ("about 30,000", 30124.0, "30,124"),
        ("about 20", 17.2, "17.20"),
        (None, 0.25, "0.25"),
        (None, 7.0, "7"),
        ("-3", -2.6, "-2.6"),
        ("120 / 44", "120 / 44", "120 / 44"),
        ("12", None, ""),
    ):
        assert format_like(printed, value) == expected
