"""Parsing of anchors: the years of each form, and that any text is of one of three kinds."""

from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.wikipossessions.dates import Anchor, parse_anchor

UNKNOWN = Anchor("unknown")
EVENT = Anchor("event")


def years(lower, upper, **flags):
    return Anchor("years", lower, upper, **flags)


SINCE = years(1888, None, open_end=True)
UNTIL = years(None, 1930, open_start=True)
EVER = years(None, None, open_start=True, open_end=True)


@for_each(
    ("text", "expected"),
    [
        (None, UNKNOWN),
        ("", UNKNOWN),
        (" \xa0", UNKNOWN),
        ("Unknown", UNKNOWN),
        ("unknown ", UNKNOWN),
        ("Unknown-Unknown", UNKNOWN),
        ("1888", years(1888, 1888)),
        ("\xa01888 ", years(1888, 1888)),
        ("0079", years(79, 79)),
        ("AD 79", years(79, 79)),
        ("79 AD", years(79, 79)),
        ("79CE", years(79, 79)),
        ("44 BC", years(-44, -44)),
        ("44 bce", years(-44, -44)),
        ("1530-1545", years(1530, 1545)),
        ("1530 - 1545", years(1530, 1545)),
        ("1530\u20131545", years(1530, 1545)),
        ("1530-1530", years(1530, 1530)),
        ("1545-1530", years(1530, 1545, reversed=True)),
        ("1530-45", years(45, 1530, reversed=True)),
        ("44 BC-12", years(-44, 12)),
        ("44 BC-12 CE", years(-44, 12)),
        ("50 BC-44 BC", years(-50, -44)),
        ("50-44 BC", years(-50, -44)),
        ("44-50 BC", years(-50, -44, reversed=True)),
        ("44 AD-50 BC", years(-50, 44, reversed=True)),
        ("1888-Now", SINCE),
        ("1888-now", SINCE),
        ("Now-1888", SINCE._replace(reversed=True)),
        ("Unknown-1930", UNTIL),
        ("1888-Unknown", years(1888, 1888)),
        ("Unknown-Now", EVER),
        ("Now", EVER),
        ("Now-Now", EVER),
        ("Now-Unknown", EVER),
        ("World War II", EVENT),
        ("French Revolution", EVENT),
        ("revolution-Now", EVENT),
        ("Unknown-French Revolution", EVENT),
        ("13th Century", EVENT),
        ("16th Century-18th Century", EVENT),
        ("mid twentieth century", EVENT),
        ("c. 1888", EVENT),
        ("1888?", EVENT),
        ("1888-", EVENT),
        ("-1888", EVENT),
        ("-", EVENT),
        ("1888-1889-1890", EVENT),
        ("1888-06-09", EVENT),
        ("BC 44", EVENT),
        ("AD 44 BC", EVENT),
        ("44 B.C.", EVENT),
        ("1888 1889", EVENT),
        ("123456", EVENT),
        ("\u0661\u0668\u0668\u0668", EVENT),  # digits, but not ASCII
    ],
)
def test_forms(text, expected):
    assert parse_anchor(text) == expected


@given(st.text() | st.from_regex(r"\A(Now|Unknown|[0-9]{1,6}( ?(BC|AD))?)?( ?- ?(Now|Unknown|[0-9]{1,6}))?\Z"))
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
def test_ranges(first, last):
    text = "-".join(f"{-year} BC" if year < 0 else f"{year} AD" for year in (first, last))
    assert parse_anchor(text) == years(min(first, last), max(first, last), reversed=last < first)
