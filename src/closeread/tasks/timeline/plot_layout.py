"""The layout of a timeline's picture: what goes into which row and column, and how much room it takes.

Conventions: lengths are inches, as in `closeread.drawing.inches`.  A row has lanes, one per side; a block is all events
of one anchor, in columns below it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from closeread.drawing.inches import NAME_SIZE, SMALL_SIZE, Measure, wrap
from closeread.tasks.timeline.plot_dates import Period, parse_period
from closeread.tasks.timeline.plot_events import Event, format_anchor

GAP = 0.22
LANE = 0.62  # width of the lane labels
LINE = 0.165  # height of a mention
MARK = 0.17  # width of its mark
TICKS, FAN, ANCHOR = 0.3, 0.34, 0.22  # heights of the axis, of the lines from it to the anchors, and of the anchors
PAD = 0.08
STACK = 8  # mentions in a column before the next column is used; more if there are very many


class Block(NamedTuple):
    """All events with one anchor.

    Attributes:
        anchor: the anchor as drawn.
        period: the period it may refer to; None if it is not a date.
        lanes: the events of each side, in columns.
        numbers: the width of the widest position.
        column: the width of a column.
        width: the total width.
    """

    anchor: str
    period: Period | None
    lanes: Mapping[str, Sequence[Sequence[Event]]]
    numbers: float
    column: float
    width: float


class Scale(NamedTuple):
    """A time axis.

    Attributes:
        first, last: the days at its ends.
        start, end: the x coordinates of its ends.
    """

    first: int
    last: int
    start: float
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
    """Place blocks next to each other, with their middles close to the wanted places; return their left edges.

    Args:
        wanted: the wanted middle of each block, in ascending order.
        widths: the width of each block; there is room for all.
        start, end: the limits.
    """
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
