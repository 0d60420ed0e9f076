"""What the picture of a timeline shows: its events with what became of their mentions, and dates as days.

Conventions: mentions are the same as in `closeread.tasks.timeline.kernels.timelines`, those at position 0 included.
Days are numbered as by `datetime.date.toordinal`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from closeread.drawing.inches import make_drawable
from closeread.errors import RequestError, describe_unknown, shorten
from closeread.records import Record
from closeread.tasks.timeline.kernels.timelines import Copy, Entry, copies, natural_key

GOLD, SYSTEM = "gold", "system"
MATCHED, ELSEWHERE, MISSED, SPURIOUS, ALONE = (
    "matched",
    "matched, with another anchor",
    "missed",
    "spurious",
    "mentions",
)

DATE = re.compile(r"([0-9]{4})(?:-(?:([0-9]{2})|XX)(?:-(?:([0-9]{2})|XX))?)?")
NO_ANCHOR = "no anchor"
_ANCHOR_LENGTH, _MENTION_LENGTH = 40, 44
_MOST_TICKS = 10
_MONTHS = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)))
_DAYS = (1, 2, 5, 10)


class Period(NamedTuple):
    """The days that a date may mean.

    Attributes:
        first, last: their numbers (`datetime.date.toordinal`).
    """

    first: int
    last: int

    @property
    def middle(self) -> float:
        """Where the date stands."""
        return (self.first + self.last) / 2


class Event(NamedTuple):
    """An entry of a timeline as it is drawn.

    Attributes:
        side: `GOLD` or `SYSTEM`.
        anchor: its anchor.
        position: its position.
        mentions: what is written of each of its mentions.
        fates: what became of each: `MATCHED`, `ELSEWHERE`, `MISSED`, `SPURIOUS` or `ALONE`.
    """

    side: str
    anchor: str
    position: int
    mentions: Sequence[str]
    fates: Sequence[str]


def marked_events(gold: Sequence[Entry], system: Sequence[Entry] | None) -> list[Event]:
    """The events of gold, then of the system, each in the order of their timeline, with what became of their mentions.

    Args:
        gold, system: the entries; None where there is no system.
    """
    sides = {GOLD: _ordered(gold), SYSTEM: _ordered(system or ())}
    anchors = {side: _anchors(entries) for side, entries in sides.items()}
    told = []
    for side, other, lacking in ((GOLD, SYSTEM, MISSED), (SYSTEM, GOLD, SPURIOUS)):
        left = iter(anchors[side])
        for entry in sides[side]:
            own = [next(left) for _ in entry["mentions"]]
            fates = [_fate(entry["anchor"], anchors[other].get(copy), lacking, system is None) for copy in own]
            texts = [
                make_drawable(mention, _MENTION_LENGTH)
                + (f" ({other}: {written(anchors[other][copy])})" if fate == ELSEWHERE else "")
                for mention, copy, fate in zip(entry["mentions"], own, fates, strict=True)
            ]
            told.append(Event(side, entry["anchor"], entry["position"], texts, fates))
    return told


def _ordered(entries: Sequence[Entry]) -> list[Entry]:
    """The entries in the order of `closeread.tasks.timeline.kernels.timelines.placed`."""
    return sorted(entries, key=lambda entry: (entry["position"], natural_key(entry)))


def _anchors(ordered: Sequence[Entry]) -> dict[Copy, str]:
    """The anchor of every mention, in order."""
    mentions = copies([mention for entry in ordered for mention in entry["mentions"]])
    return dict(zip(mentions, (entry["anchor"] for entry in ordered for _ in entry["mentions"]), strict=True))


def _fate(anchor: str, there: str | None, lacking: str, alone: bool) -> str:
    if alone:
        return ALONE
    if there is None:
        return lacking
    return MATCHED if anchor == there else ELSEWHERE


def written(anchor: str) -> str:
    """An anchor as it can be drawn."""
    return make_drawable(anchor, _ANCHOR_LENGTH) if anchor else NO_ANCHOR


def period(anchor: str) -> Period | None:
    """The days that an anchor may mean; None where it is no date.

    >>> [date.fromordinal(day).isoformat() for day in period("2008-02-XX")]
    ['2008-02-01', '2008-02-29']
    >>> period("XXXX-XX-XX") is period("2009-02-30") is period("2009-XX-07") is None
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
    except ValueError:  # no day of the calendar
        return None
    end = month or 12
    return Period(first.toordinal(), date(year, end, day or monthrange(year, end)[1]).toordinal())


def ticks(first: int, last: int) -> list[tuple[int, str]]:
    """Days that an axis names, and their names: of years, months or days, at most ten.

    Args:
        first, last: the ends of the axis, which differ (`datetime.date.toordinal`).

    >>> [name for _, name in ticks(date(2005, 2, 17).toordinal(), date(2008, 1, 1).toordinal())]
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


def find_timeline(records: Sequence[Record], entity: str) -> Record:
    """Return the timeline of an entity, given by its name or by the id of its timeline.

    Raises:
        RequestError: there is none; the message names the nearest entity.
    """
    by_id = {record["id"]: record for record in records}
    ids = {record["entity"]: record["id"] for record in records}
    name = ids.get(entity, entity)
    if name not in by_id:
        raise RequestError(shorten(describe_unknown("entity", entity, list(ids)), 600))
    return by_id[name]


def count_mentions(entries: Sequence[Record]) -> int:
    """Count the mentions of the entries of a timeline."""
    return sum(len(entry["mentions"]) for entry in entries)
