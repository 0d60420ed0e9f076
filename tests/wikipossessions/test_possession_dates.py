"""Parsing of anchors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.wikipossessions.dates import Anchor, parse_anchor

UNKNOWN = Anchor("unknown")
EVENT = Anchor("event")


def years(lower, upper, **flags):
    return Anchor("years", lower, upper, **flags)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([None, "", " \xa0", "Unknown", "unknown ", "Unknown-Unknown"], UNKNOWN),
        (["1888", "\xa01888 ", "1888-Unknown"], years(1888, 1888)),
        (["0079", "AD 79", "79 AD", "79CE"], years(79, 79)),
        (["44 BC", "44 bce"], years(-44, -44)),
        (["1530-1545", "1530 - 1545", "1530\u20131545"], years(1530, 1545)),
        (["1530-1530"], years(1530, 1530)),
        (["1545-1530"], years(1530, 1545, reversed=True)),
        (["1530-45"], years(1530, 1545)),
        (["44 BC-12", "44 BC-12 CE"], years(-44, 12)),
        (["50 BC-44 BC", "50-44 BC"], years(-50, -44)),
        (["44-50 BC"], years(-50, -44, reversed=True)),
        (["44 AD-50 BC"], years(-50, 44, reversed=True)),
        (["1888-Now", "1888-now"], years(1888, None, open_end=True)),
        (["Now-1888"], years(1888, None, open_end=True, reversed=True)),
        (["Unknown-1930"], years(None, 1930, open_start=True)),
        (
            ["Unknown-Now", "Now", "Now-Now", "Now-Unknown"],
            years(None, None, open_start=True, open_end=True),
        ),
        (["5-0", "5-0 AD"], years(0, 5, reversed=True)),
        (
            ["World War II", "French Revolution", "revolution-Now", "Unknown-French Revolution"],
            EVENT,
        ),
        (
            [
                "13th Century",
                "16th Century-18th Century",
                "mid twentieth century",
                "c. 1888",
                "1888?",
            ],
            EVENT,
        ),
        (["1888-", "-1888", "-", "1888-1889-1890", "1888-06-09", "1888 1889", "123456"], EVENT),
        # the last are digits, but not ASCII
        (["BC 44", "AD 44 BC", "44 B.C.", "\u0661\u0668\u0668\u0668"], EVENT),
    ],
)
def test_forms(texts, expected):
    assert [parse_anchor(text) for text in texts] == [expected] * len(texts)


@given(
    st.text()
    | st.from_regex(r"\A(Now|Unknown|[0-9]{1,6}( ?(BC|AD))?)?( ?- ?(Now|Unknown|[0-9]{1,6}))?\Z")
)
def test_any_text_is_an_anchor(text):
    anchor = parse_anchor(text)
    assert anchor.kind in ("unknown", "years", "event")
    if anchor.kind != "years":
        assert anchor == Anchor(anchor.kind)
    elif anchor.lower is not None and anchor.upper is not None:
        assert anchor.lower <= anchor.upper
        assert not anchor.open_start
        assert not anchor.open_end
    else:
        assert anchor.open_start == (anchor.lower is None)
        assert anchor.open_end == (anchor.upper is None)


@given(st.integers(-9999, 9999), st.integers(-9999, 9999))
def test_ranges_of_anchors(first, last):
    text = "-".join(f"{-year} BC" if year < 0 else f"{year} AD" for year in (first, last))
    assert parse_anchor(text) == years(min(first, last), max(first, last), reversed=last < first)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("1890-92", (1890, 1892)),
        ("1953–4", (1953, 1954)),
        ("1900-05", (1900, 1905)),
        ("450-70 AD", (450, 470)),
        ("1890-85", (1885, 1890)),
        ("600-0 BC", (-600, 0)),
        ("37-4 BC", (-37, -4)),
        ("44 BC-12", (-44, 12)),
        ("100-AD 44", (44, 100)),
    ],
)
def test_a_short_second_year_continues_the_first(text, years):
    anchor = parse_anchor(text)
    assert (anchor.lower, anchor.upper) == years
    assert anchor.reversed == (text in ("1890-85", "100-AD 44"))
