"""Parsing of dates in running text: a correct anchor or none."""

from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from closeread.tasks.wikipossessions.dates import Anchor, date_to_anchor, parse_anchor

# Texts, and the anchors that are their years.
YEARS = {
    "plain": (
        "1888 = 1888; 12 May 1888 = 1888; 1888-06-09 = 1888; 1901-05-12 = 1901; 12/05/1888 = 1888; c.1200 = 1200; "
        "between 1530 and 1545 = 1530-1545; June 1888 to 3 March 1890 = 1888-1890; 1530–45 = 1530-1545; "
        "1990-5 = 1990-1995; 800 to 1200 = 800-1200; the 1880s = 1880-1889; the 1880s and 1890s = 1880-1899; "
        "the 340s BC = 349-340 BC; the early 18th century = 1701-1800; "
        "the second half of the 15th century = 1401-1500; 16th to 18th centuries = 1501-1800; "
        "late 5th to early 4th century BC = 500-301 BC; 5th century BC = 500-401 BC; the fifth century = 401-500; "
        "18th century to 1950 = 1701-1950; 800 AD = 800; AD 450 = 450; AD 15–20 = 15-20; 1200 BC = 1200 BC; "
        "about 2500 BCE = 2500 BC; 44 BC = 44 BC; c. 1200–1000 BC = 1200-1000 BC; 44 BC to AD 12 = 44 BC-12 AD"
    ),
    "days are not years": (
        "March 15 AD 44 = 44; August 24 AD 79 = 79; June 8 AD 68 = 68; June 8, 68 CE = 68; August 24–25 AD 79 = 79; "
        "24 August AD 79 = 79; 15 March 44 B.C. = 44 BC; March 15, 44 BC = 44 BC; March 44 BC = 44 BC; "
        "March 3 to March 9, 1888 = 1888; 3 May – 5 June 1888 = 1888; May–June 1888 = 1888; "
        "the 3rd of May, 1888 = 1888; 12 May 1888 to 3 June 1890 = 1888-1890; 1914 to 11 November 1918 = 1914-1918; "
        "6 May 1 BC = 1 BC; May 15 = None; March 15 AD = None; May 10–12 AD = None; 15 May 88 = None"
    ),
    "centuries": (
        "the twenty-first century = 2001-2100; the twenty first century = None; thirty-first century = None; "
        "twenty-second century = None; the second half of the first century = 1-100; "
        "mid- to late 18th century = 1701-1800; the 16th, 17th and 18th centuries = None; "
        "the 16th and 17th centuries = 1501-1700; the 16th and 18th centuries = None; "
        "between the 16th and 18th centuries = 1501-1800; late sixteenth or early seventeenth century = 1501-1700; "
        "1st century B. C. = 100-1 BC; 1st century BC to 1st century AD = 100 BC-100 AD; "
        "5th century BC to 4th century = None; 15 to 18th century = None; 4 to 5th century AD = None; "
        "15th to 1888 = None; the 0th century = None"
    ),
    "ranges": (
        "1530–45 AD = 1530-1545; 1066-87 AD = 1066-1087; 1066–87 CE = 1066-1087; AD 1066–87 = 1066-1087; "
        "AD 79–8 = None; 1888/89 = 1888-1889; 1888/95 = None; 1888 and 1889 = 1888-1889; 1888 and 1920 = None; "
        "between 1888 and 1920 = 1888-1920; 1888 or 1920 = None; 1888 and again in 1920 = None; 1888, 1920 = None; "
        "1999-00 = None; the 1999–00 season = None; the year 1888 = 1888; the years 1530 to 1545 = 1530-1545; "
        "1888-06 = None; 800-900 = None; 15 to 1888 = None; 10000 BC to 5000 BC = 10000-5000 BC; "
        "10,000–8000 BC = None; 10 000 BC = None; 44–12 BC = 44-12 BC; 37–4 BC = None; 100–50 BC = 100-50 BC; "
        "44–AD 5 = None; 30 BC–AD 14 = 30 BC-14 AD; BC 1200 to 1000 = None"
    ),
    "spellings of eras": (
        "1200 B. C. = 1200 BC; 1200 B.C.E. = 1200 BC; BC 1200 = 1200 BC; A. D. 1200 = 1200; "
        "1200 before Christ = None; 1200 (BC) = None; AD 44 BC = None; −1200 = None; 0 AD = None"
    ),
    "decades": (
        "the 1880s–1890s = 1880-1899; the mid-1880s = 1880-1889; the 50s BC = 59-50 BC; the 80s = None; "
        "the 00s BC = None; the 1800s = None"
    ),
    "durations": (
        "1000+ years = None; 1000 or so years = None; 1000 plus years = None; 1000 calendar days = None; "
        "1000 decades = None; 1500 yrs = None; 1000–1500 years = None; 1500 hours = None; "
        "the years before 1888 = None; from 1545 to 1530 = None; 1200 BC to 1000 = None; last May = None; "
        "18 months = None; 1000 years = None; 100 to 200 years = None; 5000 years ago = None; 1345 days = None; "
        "a 1000-year-old jug = None; 1,888 = None; 2500 = None; 3rd millennium BC = None; 123456 = None"
    ),
}


@pytest.mark.parametrize("texts", YEARS.values(), ids=list(YEARS))
def test_years(texts):
    for one in texts.split("; "):
        text, year = one.split(" = ")
        assert date_to_anchor(text) == (None if year == "None" else year), text
    assert date_to_anchor("") is None


# fmt: off
PIECES = st.sampled_from([
    "0", "1", "8", "12", "15", "79", "1530", "1888", "10000", "1,000", "00s", "90s", "1880s", "5th", "18th", "first",
    "twenty-first", "century", "centuries", "May", "3-4", "-", "–", "/", ",", ".", "(", "to", "and", "or", "between",
    "early", "mid-", "second half", "of", "the", "c.", "AD", "BC", "B.", "C.", "CE", "E.", "years", "²", "İ", "١٨٨٨",
])
# fmt: on


@given(st.lists(PIECES, max_size=8), st.sampled_from(["", " "]))
def test_any_pieces_give_years_in_order_or_none(pieces, space):
    result = date_to_anchor(space.join(pieces))
    if result is not None:
        anchor = parse_anchor(result)
        assert anchor == Anchor("years", anchor.lower, anchor.upper)
        assert anchor.lower <= anchor.upper
        assert 0 not in (anchor.lower, anchor.upper)


@pytest.mark.extended
@settings(max_examples=50, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=3), st.sampled_from(["", " ", "     "]))
@example(["1", ","], "")
@example(["May", "-"], "")
@example(["mid-"], " ")
@example(["C."], "     ")
def test_long_texts_are_parsed_quickly(pieces, space):
    text = (space.join(pieces) + space) * 10_000
    start = process_time()
    date_to_anchor(text)
    assert process_time() - start < 10  # quadratic time would be minutes


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
