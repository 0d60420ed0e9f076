"""The layout of a timeline's picture: its events, the periods of their anchors, rows and columns.

Conventions: lengths are inches (`closeread.drawing.pictures`); days are numbered as by `datetime.date.toordinal`.  A
row has lanes, one per side; a block is all events of one anchor, in columns below it.  Mentions match as in
`closeread.tasks.timeline.kernels.timelines`, including those at position 0.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from closeread.drawing.pictures import NAME_SIZE, SMALL_SIZE, Measure, make_drawable, wrap
from closeread.exceptions import RequestError, describe_unknown, shorten
from closeread.records import Record
from closeread.tasks.timeline.kernels.timelines import Copy, Entry, natural_key, number_copies

DATE = re.compile(r"([0-9]{4})(?:-(?:([0-9]{2})|XX)(?:-(?:([0-9]{2})|XX))?)?")
_MOST_TICKS = 10
_MONTHS = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)))
_DAYS = (1, 2, 5, 10)


class Period(NamedTuple):
    """The days that a date may refer to."""

    first: int  # the numbers of the first and the last day
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


GOLD, SYSTEM = "gold", "system"
MATCHED, ELSEWHERE, MISSED, SPURIOUS, ALONE = (
    "matched",
    "matched, different anchor",
    "missed",
    "spurious",
    "mentions",
)
NO_ANCHOR = "no anchor"
_ANCHOR_LENGTH, _MENTION_LENGTH = 40, 44


class Event(NamedTuple):
    """An entry of a timeline as drawn."""

    side: str  # `GOLD` or `SYSTEM`
    anchor: str  # its anchor
    position: int  # its position
    mentions: Sequence[str]  # the label of each mention
    # the fate of each mention: `MATCHED`, `ELSEWHERE`, `MISSED`, `SPURIOUS` or `ALONE` (without a system)
    fates: Sequence[str]


def compare_events(gold: Sequence[Entry], system: Sequence[Entry] | None) -> list[Event]:
    """Return the events of gold, then those of the system, in timeline order, with the fates of their mentions."""
    sides = {GOLD: _sort_entries(gold), SYSTEM: _sort_entries(system or ())}
    anchors = {side: _map_anchors(entries) for side, entries in sides.items()}
    events = []
    for side, other, lacking in ((GOLD, SYSTEM, MISSED), (SYSTEM, GOLD, SPURIOUS)):
        copies = iter(anchors[side])
        for entry in sides[side]:
            own = [next(copies) for _ in entry["mentions"]]
            fates = [_find_fate(entry["anchor"], anchors[other].get(copy), lacking, system is None) for copy in own]
            texts = [
                make_drawable(mention, _MENTION_LENGTH)
                + (f" ({other}: {format_anchor(anchors[other][copy])})" if fate == ELSEWHERE else "")
                for mention, copy, fate in zip(entry["mentions"], own, fates, strict=True)
            ]
            events.append(Event(side, entry["anchor"], entry["position"], texts, fates))
    return events


def _sort_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Sort entries as `closeread.tasks.timeline.kernels.timelines.list_mentions` does."""
    return sorted(entries, key=lambda entry: (entry["position"], natural_key(entry)))


def _map_anchors(ordered: Sequence[Entry]) -> dict[Copy, str]:
    """Map every mention to its anchor, in order."""
    mentions = number_copies([mention for entry in ordered for mention in entry["mentions"]])
    return dict(zip(mentions, (entry["anchor"] for entry in ordered for _ in entry["mentions"]), strict=True))


def _find_fate(anchor: str, there: str | None, lacking: str, alone: bool) -> str:
    if alone:
        return ALONE
    if there is None:
        return lacking
    return MATCHED if anchor == there else ELSEWHERE


def format_anchor(anchor: str) -> str:
    """Return an anchor as drawn."""
    return make_drawable(anchor, _ANCHOR_LENGTH) if anchor else NO_ANCHOR


def find_timeline(records: Sequence[Record], entity: str) -> Record:
    """Return the timeline of an entity, given by its name or by the id of its timeline."""
    by_id = {record["id"]: record for record in records}
    ids = {record["entity"]: record["id"] for record in records}
    name = ids.get(entity, entity)
    if name not in by_id:
        raise RequestError(shorten(describe_unknown("entity", entity, list(ids)), 600))
    return by_id[name]


def count_mentions(entries: Sequence[Entry]) -> int:
    """Count the mentions of the entries of a timeline."""
    return sum(len(entry["mentions"]) for entry in entries)


GAP = 0.22
LANE = 0.62  # width of the lane labels
LINE = 0.165  # height of a mention
MARK = 0.17  # width of its mark
TICKS, FAN, ANCHOR = 0.3, 0.34, 0.22  # heights of the axis, of the lines from it to the anchors, and of the anchors
PAD = 0.08
STACK = 8  # mentions in a column before the next column is used; more if there are very many


class Block(NamedTuple):
    """All events with one anchor."""

    anchor: str  # the anchor as drawn
    period: Period | None  # the period it may refer to; None if it is not a date
    lanes: Mapping[str, Sequence[Sequence[Event]]]  # the events of each side, in columns
    numbers: float  # the width of the widest position
    column: float  # the width of a column
    width: float  # the total width


class Scale(NamedTuple):
    """A time axis."""

    first: int  # the days at its ends
    last: int
    start: float  # the x coordinates of its ends
    end: float

    def x(self, day: float) -> float:
        """Return the x coordinate of a day."""
        return self.start + (day - self.first) / (self.last - self.first) * (self.end - self.start)


def arrange_blocks(events: Sequence[Event], sides: Sequence[str], measure: Measure) -> list[Block]:
    """Make a block for each anchor: first dates, ordered by the middle of their periods, then other anchors."""
    by_anchor: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_anchor[event.anchor].append(event)
    blocks = [_make_block(anchor, of_anchor, sides, measure) for anchor, of_anchor in by_anchor.items()]

    def place(block: Block) -> tuple[bool, float, int, str]:
        if block.period is None:
            return True, 0.0, 0, block.anchor
        return False, block.period.middle, block.period.first, block.anchor

    return sorted(blocks, key=place)


def _make_block(anchor: str, events: Sequence[Event], sides: Sequence[str], measure: Measure) -> Block:
    lanes = {side: _split_columns([event for event in events if event.side == side]) for side in sides}
    numbers = max(measure(str(event.position), SMALL_SIZE) for event in events) + 0.04
    texts = max((measure(text, SMALL_SIZE) for event in events for text in event.mentions), default=0.0)
    column = numbers + MARK + texts + GAP
    head = format_anchor(anchor)
    width = max(column * max(map(len, lanes.values())), measure(head, NAME_SIZE) + GAP)
    return Block(head, parse_period(anchor), lanes, numbers, column, width)


def _split_columns(events: Sequence[Event]) -> list[list[Event]]:
    """Split the events of a lane into columns of about the right height; events are not split."""
    total = sum(len(event.mentions) for event in events)
    limit = max(STACK, round(2 * math.sqrt(total)))
    columns: list[list[Event]] = []
    used = 0
    for event in events:
        if not columns or used + len(event.mentions) > limit:
            columns.append([])
            used = 0
        columns[-1].append(event)
        used += len(event.mentions)
    return columns


def lane_height(blocks: Sequence[Block], side: str) -> float:
    """Return the height of one side's lane in a row."""
    columns = [column for block in blocks for column in block.lanes[side]]
    most = max((sum(len(event.mentions) for event in column) for column in columns), default=0)
    return max(most, 1) * LINE + 2 * PAD


def row_height(blocks: Sequence[Block]) -> float:
    """Return the height of a row."""
    axis = 0.0 if blocks[0].period is None else TICKS + FAN
    return axis + ANCHOR + sum(lane_height(blocks, side) for side in blocks[0].lanes) + GAP


def split_rows(blocks: Sequence[Block], room: float) -> Iterator[Sequence[Block]]:
    """Split blocks into as few rows as possible, about equally full."""
    widths = [block.width for block in blocks]
    fewest = len(wrap(widths, room))
    limit = min(sum(widths) / fewest, room)
    while len(wrap(widths, limit)) > fewest:
        limit = min(1.02 * limit, room)
    for row in wrap(widths, limit):
        yield [blocks[i] for i in row]


def find_middles(lefts: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the middles of the contents of blocks."""
    return [left + (width - GAP) / 2 for left, width in zip(lefts, widths, strict=True)]


def place_blocks(wanted: Sequence[float], widths: Sequence[float], start: float, end: float) -> list[float]:
    """Place blocks next to each other, with their middles close to the wanted places; return their left edges."""
    lefts = []
    for middle, width in zip(wanted, widths, strict=True):
        lefts.append(max(start, middle - width / 2))
        start = lefts[-1] + width
    for i in reversed(range(len(lefts))):
        lefts[i] = min(lefts[i], end - widths[i])
        end = lefts[i]
    return lefts


def make_scale(periods: Sequence[Period], start: float, end: float) -> Scale:
    """Make a scale that covers all days of these periods."""
    first, last = min(p.first for p in periods), max(p.last for p in periods)
    if first == last:
        first, last = max(first - 2, date.min.toordinal()), min(last + 2, date.max.toordinal())
    return Scale(first, last, start, end)
