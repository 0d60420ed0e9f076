"""Dates in the picture of a timeline: the days that an anchor may refer to, and the labels of the axis."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.timeline.plot_layout import choose_ticks, parse_period


@for_each(
    ("anchor", "first", "last"),
    [
        ("2001-02-03", "2001-02-03", "2001-02-03"),
        ("2000-02-XX", "2000-02-01", "2000-02-29"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("2001-XX-XX", "2001-01-01", "2001-12-31"),
        ("2001-XX", "2001-01-01", "2001-12-31"),
        ("0001", "0001-01-01", "0001-12-31"),
        ("9999-12-XX", "9999-12-01", "9999-12-31"),
    ],
)
def test_what_a_date_may_mean(anchor, first, last):
    assert [date.fromordinal(day).isoformat() for day in parse_period(anchor)] == [first, last]


@for_each(
    ("first", "last", "names"),
    [
        ("2001-01-20", "2001-03-05", ["2001-02", "2001-03"]),
        ("2001-01-20", "2001-02-12", ["2001-01-20", "2001-01-25", "2001-01-30", "2001-02-04", "2001-02-09"]),
        ("2001-01-20", "2001-01-23", ["2001-01-20", "2001-01-21", "2001-01-22", "2001-01-23"]),
        ("1999-06-01", "2004-07-01", ["2000", "2001", "2002", "2003", "2004"]),
        ("1901-01-01", "1999-01-01", ["1910", "1920", "1930", "1940", "1950", "1960", "1970", "1980", "1990"]),
    ],
)
def test_ticks_by_hand(first, last, names):
    assert [name for _, name in choose_ticks(*(date.fromisoformat(day).toordinal() for day in (first, last)))] == names


DAYS = st.integers(1, date.max.toordinal())


@given(DAYS, DAYS | st.integers(1, 100))
def test_ticks(first, other):
    first, last = sorted((first, other if other > 100 else min(first + other, date.max.toordinal())))
    if first < last:
        found = choose_ticks(first, last)
        days = [day for day, _ in found]
        assert 2 <= len(days) <= 10
        assert first <= days[0]
        assert days[-1] <= last
        assert days == sorted(set(days))
        assert len({len(name) for _, name in found}) == 1
        for day, name in found:
            assert date.fromordinal(day).isoformat() == name + "-01" * ((10 - len(name)) // 3)
