"""Dates of a timeline's picture: the periods that anchors may refer to, and the labels of the axis.

Conventions: days are numbered as by `datetime.date.toordinal`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import NamedTuple

DATE = re.compile(r"([0-9]{4})(?:-(?:([0-9]{2})|XX)(?:-(?:([0-9]{2})|XX))?)?")
_MOST_TICKS = 10
_MONTHS = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)))
_DAYS = (1, 2, 5, 10)


class Period(NamedTuple):
    """The days that a date may refer to.

    Attributes:
        first, last: the numbers of the first and the last day.
    """

    first: int
    last: int

    @property
    def middle(self) -> float:
        """The middle, where the date is drawn."""
        return (self.first + self.last) / 2


def parse_period(anchor: str) -> Period | None:
    """Return the days that an anchor may refer to; None if it is not a date.

    >>> [date.fromordinal(day).isoformat() for day in parse_period("2008-02-XX")]
    ['2008-02-01', '2008-02-29']
    >>> parse_period("XXXX-XX-XX") is parse_period("2009-02-30") is parse_period("2009-XX-07") is None
    True
    """
    found = DATE.fullmatch(anchor)
    if found is None:
        return None
    year, month, day = (None if part is None else int(part) for part in found.groups())
    if year is None or (month is None and day is not None):
        return None
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:  # not a calendar date
        return None
    end = month or 12
    return Period(first.toordinal(), date(year, end, day or monthrange(year, end)[1]).toordinal())


def choose_ticks(first: int, last: int) -> list[tuple[int, str]]:
    """Choose at most ten years, months or days to label on an axis; return days and labels.

    Args:
        first, last: the days at the ends of the axis, which differ.

    >>> [name for _, name in choose_ticks(date(2005, 2, 17).toordinal(), date(2008, 1, 1).toordinal())]
    ['2005-07', '2006-01', '2006-07', '2007-01', '2007-07', '2008-01']
    """
    months = [12 * day.year + day.month - 1 for day in map(date.fromordinal, (first, last))]
    for step in _MONTHS:
        starts = [date(m // 12, m % 12 + 1, 1) for m in range(-(-months[0] // step) * step, months[1] + 1, step)]
        named = [(day.toordinal(), day.isoformat()[: 4 if step % 12 == 0 else 7]) for day in starts]
        found = [(day, name) for day, name in named if day >= first]
        if len(found) <= _MOST_TICKS:
            break
    if len(found) > 1:
        return found
    step = next(step for step in _DAYS if (last - first) // step < _MOST_TICKS)
    return [(day, date.fromordinal(day).isoformat()) for day in range(first, last + 1, step)]
