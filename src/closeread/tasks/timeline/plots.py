"""The timeline of an entity as a picture: its events by date, those of gold above those of a system.

Conventions: as in `closeread.drawing.inches`.  A picture has rows, each with an axis of time that is true to scale.
Below it stand the anchors, ordered by the middles of the times that they may mean and as near to these as there is
room, and below each anchor its mentions, in the order of the timeline.  A date without a day or a month may mean all
days that it leaves open.  Anchors that are no date come last, without an axis.  Mentions are the same as in
`closeread.tasks.timeline.kernels.timelines`, those at position 0 included.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.drawing.inches import (
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    TITLE_SIZE,
    Measure,
    line,
    make_drawable,
    make_measure,
    page,
    strip,
    wrap,
    write,
)
from closeread.drawing.pictures import INK, own_settings
from closeread.errors import RequestError
from closeread.tasks.timeline.kernels.timelines import Entry
from closeread.tasks.timeline.plotted_events import (
    ALONE,
    ELSEWHERE,
    GOLD,
    MATCHED,
    MISSED,
    SPURIOUS,
    SYSTEM,
    Event,
    Period,
    marked_events,
    period,
    ticks,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {
    MATCHED: ("o", "#0072b2", 26.0),
    ELSEWHERE: ("D", "#e69f00", 24.0),
    MISSED: ("X", "#d55e00", 36.0),
    SPURIOUS: ("^", "#cc79a7", 32.0),
    ALONE: ("o", "#555555", 26.0),
}
"""Shape, colour and size of what can become of a mention; `ALONE` is for gold without a system.  The colours are those
of Okabe and Ito, which the colour-blind can tell apart."""

NO_DATE = "no date"
MAX_MENTIONS = 2000
"""How many mentions of a side are drawn: so many take some 20 seconds, and nobody can read more."""


_TITLE_LENGTH = 90
_TITLE, _LEGEND, _GAP = 0.5, 0.5, 0.22
_LANE = 0.62  # the width of what is left of the lanes
_LINE = 0.165  # the height of a mention
_MARK = 0.17  # the width of its mark
_TICKS, _FAN, _ANCHOR = 0.3, 0.34, 0.22  # heights: of the axis, of what leads from it to the anchors, and of these
_PAD = 0.08
_SAMPLE = 0.24  # the width of a mark in the legend
_STACK = 8  # mentions below an anchor that stand in one column; more of them go into the next
_WIDTH = 10.0  # of what is in the margins, at least
_ASPECT = 1.4  # width to height of a picture with many mentions
_GROUNDS = {GOLD: "#f3f1ea", SYSTEM: "#eef3f7"}
_JOIN: dict[str, Any] = {"colors": "#999999", "linewidths": 1.2, "zorder": 2}
_SPAN: dict[str, Any] = {"colors": "#9fb8cc", "linewidths": 5.0, "zorder": 1}


class Block(NamedTuple):
    """All events with one anchor.

    Attributes:
        anchor: what is written above them.
        period: what it means; None where it is no date.
        lanes: the events of each side, in columns.
        numbers: the width of the widest position.
        column: the width of a column.
        width: what all of it takes.
    """

    anchor: str
    period: Period | None
    lanes: Mapping[str, Sequence[Sequence[Event]]]
    numbers: float
    column: float
    width: float


class Scale(NamedTuple):
    """An axis of time.

    Attributes:
        first, last: the days that it reaches over.
        start, end: where they are.
    """

    first: int
    last: int
    start: float
    end: float

    def x(self, day: float) -> float:
        """Where a day is."""
        return self.start + (day - self.first) / (self.last - self.first) * (self.end - self.start)


class Key(NamedTuple):
    """An explanation in the legend.

    Attributes:
        sample: one of `MARKS`, or "number", "join" or "span".
        text: what it means.
        width: what all of it takes.
    """

    sample: str
    text: str
    width: float


def draw_timeline(entity: str, gold: Sequence[Entry], system: Sequence[Entry] | None = None) -> Figure:
    """The events of an entity by date, and what a system, if there is one, makes of them.

    Args:
        entity: the title.
        gold, system: the entries of the two timelines, in any order.

    Returns:
        A figure, its axes labelled "title", "row 1", "row 2" and so on, "no date" (as many as are needed) and "legend".
        The mentions of a row that share a side and a fate are one collection of points, labelled with both:
        "gold: missed".  Lines between points of a row are the collection "joined", spans of dates "spans".

    Raises:
        RequestError: a side has more mentions than a picture can show.
        MissingExtraError: matplotlib is not installed.
    """
    for side, entries in ((GOLD, gold), (SYSTEM, system or ())):
        mentions = sum(len(entry["mentions"]) for entry in entries)
        if mentions > MAX_MENTIONS:
            found = f"{side} has {mentions:,} mentions; a picture can show {MAX_MENTIONS:,} of a side"
            raise RequestError(f"{found}: draw a part of the timeline, from files of your own")
    with own_settings():
        measure = make_measure()
        events = marked_events(gold, system)
        sides = (GOLD,) if system is None else (GOLD, SYSTEM)
        return _figure(make_drawable(entity, _TITLE_LENGTH), _blocks(events, sides, measure), events, measure)


def _blocks(events: Sequence[Event], sides: Sequence[str], measure: Measure) -> list[Block]:
    """A block for each anchor, dates first, by their middles."""
    by_anchor: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_anchor[event.anchor].append(event)
    blocks = [_block(anchor, of_anchor, sides, measure) for anchor, of_anchor in by_anchor.items()]

    def place(block: Block) -> tuple[bool, float, int, str]:
        if block.period is None:
            return True, 0.0, 0, block.anchor
        return False, block.period.middle, block.period.first, block.anchor

    return sorted(blocks, key=place)


def _block(anchor: str, events: Sequence[Event], sides: Sequence[str], measure: Measure) -> Block:
    lanes = {side: _columns([event for event in events if event.side == side]) for side in sides}
    numbers = max(measure(str(event.position), SMALL_SIZE) for event in events) + 0.04
    texts = max((measure(text, SMALL_SIZE) for event in events for text in event.mentions), default=0.0)
    column = numbers + _MARK + texts + _GAP
    head = written(anchor)
    width = max(column * max(map(len, lanes.values())), measure(head, NAME_SIZE) + _GAP)
    return Block(head, period(anchor), lanes, numbers, column, width)


def _columns(events: Sequence[Event]) -> list[list[Event]]:
    """The events of a lane in columns that are about as high as they should be; an event is in one column."""
    total = sum(len(event.mentions) for event in events)
    limit = max(_STACK, round(2 * math.sqrt(total)))
    columns: list[list[Event]] = []
    used = 0
    for event in events:
        if not columns or used + len(event.mentions) > limit:
            columns.append([])
            used = 0
        columns[-1].append(event)
        used += len(event.mentions)
    return columns


def _depth(blocks: Sequence[Block], side: str) -> float:
    """The height of a lane of a row."""
    columns = [column for block in blocks for column in block.lanes[side]]
    most = max((sum(len(event.mentions) for event in column) for column in columns), default=0)
    return max(most, 1) * _LINE + 2 * _PAD


def _height(blocks: Sequence[Block]) -> float:
    axis = 0.0 if blocks[0].period is None else _TICKS + _FAN
    return axis + _ANCHOR + sum(_depth(blocks, side) for side in blocks[0].lanes) + _GAP


def _figure(title: str, blocks: Sequence[Block], events: Sequence[Event], measure: Measure) -> Figure:
    keys = _keys(blocks, events, measure)
    inner = max(
        _WIDTH,
        math.sqrt(_ASPECT * sum(block.width * (_height([block])) for block in blocks)),
        _LANE + max((block.width for block in blocks), default=0.0) + _PAD,
        measure(title, TITLE_SIZE),
        sum(key.width for key in keys),
    )
    rows = [
        row
        for _, alike in groupby(blocks, lambda block: block.period is None)
        for row in _rows(list(alike), inner - _LANE - _PAD)
    ]
    heights = [_height(row) for row in rows] or [_LINE + _GAP]
    figure = page(inner, _TITLE + sum(heights) + _LEGEND)
    top = figure.get_size_inches()[1] - MARGIN - _TITLE
    write(strip(figure, "title", top, _TITLE), 0, _TITLE / 2, title, TITLE_SIZE, ha="left")
    if not rows:
        axes = strip(figure, "row 1", top - heights[0], heights[0])
        write(axes, 0, heights[0] / 2, "no events", NAME_SIZE, ha="left", style="italic")
    for number, row in enumerate(rows):
        top -= heights[number]
        label = NO_DATE if row[0].period is None else f"row {number + 1}"
        _draw_row(strip(figure, label, top, heights[number]), row)
    _draw_legend(strip(figure, "legend", MARGIN, _LEGEND), keys)
    return figure


def _rows(blocks: Sequence[Block], room: float) -> Iterator[Sequence[Block]]:
    """As few rows as there is room for, about equally full."""
    widths = [block.width for block in blocks]
    fewest = len(wrap(widths, room))
    limit = min(sum(widths) / fewest, room)
    while len(wrap(widths, limit)) > fewest:
        limit = min(1.02 * limit, room)
    for row in wrap(widths, limit):
        yield [blocks[i] for i in row]


def _draw_row(axes: Axes, blocks: Sequence[Block]) -> None:
    right, y = axes.get_xlim()[1], axes.get_ylim()[1]
    widths = [block.width for block in blocks]
    periods = [block.period for block in blocks if block.period is not None]
    if periods:
        scale = _scale(periods, _LANE + _PAD, right - _LANE / 2)
        lefts = _lefts([scale.x(p.middle) - _GAP / 2 for p in periods], widths, _LANE, right)
        _draw_axis(axes, y - _TICKS, scale, periods)
        _draw_fan(axes, y - _TICKS, [scale.x(p.middle) for p in periods], _heads(lefts, widths))
        y -= _TICKS + _FAN
    else:
        lefts = [*accumulate(widths[:-1], initial=_LANE)]
        write(axes, 0, y - _ANCHOR / 2, NO_DATE, SMALL_SIZE, ha="left", style="italic")
    for left, head, block in zip(lefts, _heads(lefts, widths), blocks, strict=True):
        write(axes, head, y - _ANCHOR / 2, block.anchor, SMALL_SIZE, weight="bold")
        line(axes, (left, left + block.width - _GAP), y - _ANCHOR, "-", color=INK)
    y -= _ANCHOR
    for side in blocks[0].lanes:
        depth = _depth(blocks, side)
        _draw_lane(axes, side, y, depth)
        _draw_events(axes, side, y - _PAD, zip(lefts, blocks, strict=True))
        y -= depth


def _heads(lefts: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The middles of what is written in blocks."""
    return [left + (width - _GAP) / 2 for left, width in zip(lefts, widths, strict=True)]


def _lefts(wanted: Sequence[float], widths: Sequence[float], start: float, end: float) -> list[float]:
    """The left edges of blocks side by side, with their middles near to where they are wanted.

    Args:
        wanted: where the middle of each should be, in ascending order.
        widths: how wide each is; there is room for all.
        start, end: between which they are.
    """
    lefts = []
    for middle, width in zip(wanted, widths, strict=True):
        lefts.append(max(start, middle - width / 2))
        start = lefts[-1] + width
    for i in reversed(range(len(lefts))):
        lefts[i] = min(lefts[i], end - widths[i])
        end = lefts[i]
    return lefts


def _scale(periods: Sequence[Period], start: float, end: float) -> Scale:
    """A scale for all days of these dates."""
    first, last = min(p.first for p in periods), max(p.last for p in periods)
    if first == last:
        first, last = max(first - 2, date.min.toordinal()), min(last + 2, date.max.toordinal())
    return Scale(first, last, start, end)


def _draw_axis(axes: Axes, y: float, scale: Scale, periods: Sequence[Period]) -> None:
    line(axes, (scale.start - _PAD, scale.end + _PAD), y, "-", color="#888888")
    for day, name in ticks(scale.first, scale.last):
        line(axes, (scale.x(day),), y, "", color="#888888", marker="|", markersize=6)
        write(axes, scale.x(day), y + 0.16, name, SMALL_SIZE, color="#555555")
    partial = [p for p in periods if p.first < p.last]
    ends = ([scale.x(p.first) for p in partial], [scale.x(p.last) for p in partial])
    axes.hlines([y] * len(partial), *ends, label="spans", **_SPAN)
    line(axes, tuple(scale.x(p.middle) for p in periods), y, "", color=INK, marker="o", markersize=3.5, label="dates")


def _draw_fan(axes: Axes, y: float, dates: Sequence[float], heads: Sequence[float]) -> None:
    """Lines from dates on the axis at y to the anchors below it."""
    from matplotlib.collections import LineCollection

    ways = [[(there, y), (here, y - _FAN)] for there, here in zip(dates, heads, strict=True)]
    axes.add_collection(LineCollection(ways, colors="#aaaaaa", linewidths=0.7, zorder=0.5))


def _draw_lane(axes: Axes, side: str, y: float, depth: float) -> None:
    """The ground that the events of a side stand on, and its name."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((0, y - depth), axes.get_xlim()[1], depth, facecolor=_GROUNDS[side], zorder=0))
    write(axes, 0.06, y - _PAD - _LINE / 2, side, SMALL_SIZE, ha="left", color="#555555")


def _draw_events(axes: Axes, side: str, y: float, blocks: Iterable[tuple[float, Block]]) -> None:
    """The mentions of a side, from y downwards, in blocks with these left edges."""
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    joined = []
    for left, block in blocks:
        for i, column in enumerate(block.lanes[side]):
            x = left + i * block.column + block.numbers + _MARK / 2
            height, before = y - _LINE / 2, None
            for event in column:
                if event.position != before:
                    write(axes, x - _MARK / 2, height, str(event.position), SMALL_SIZE, ha="right", color="#777777")
                before = event.position
                if len(event.mentions) > 1:
                    joined.append((x, height, height - (len(event.mentions) - 1) * _LINE))
                for mention, fate in zip(event.mentions, event.fates, strict=True):
                    points[fate].append((x, height))
                    write(axes, x + _MARK / 2, height, mention, SMALL_SIZE, ha="left")
                    height -= _LINE
    if joined:
        places, tops, feet = zip(*joined, strict=True)
        axes.vlines(places, feet, tops, label=f"{side}: joined", **_JOIN)
    for fate, of_fate in points.items():
        _points(axes, of_fate, fate, f"{side}: {fate}")


def _points(axes: Axes, places: Sequence[tuple[float, float]], fate: str, label: str) -> None:
    shape, colour, size = MARKS[fate]
    x, y = zip(*places, strict=True)
    axes.scatter(x, y, s=size, marker=shape, color=colour, linewidths=0, label=label, zorder=3)


def _keys(blocks: Sequence[Block], events: Sequence[Event], measure: Measure) -> list[Key]:
    """What has to be explained: what occurs, and how often of gold's mentions and of the system's alone."""
    counts = Counter((event.side, fate) for event in events for fate in event.fates)
    told = {}
    for fate in MARKS:
        number = counts[GOLD, fate] or counts[SYSTEM, fate]
        if number:
            told[fate] = f"{number:,} {fate}"
    if events:
        told["number"] = "position"
    if any(len(event.mentions) > 1 for event in events):
        told["join"] = "mentions of one event"
    if any(block.period is not None and block.period.first < block.period.last for block in blocks):
        told["span"] = "days that a date leaves open"
    return [Key(sample, text, _SAMPLE + 0.06 + measure(text, SMALL_SIZE) + _GAP) for sample, text in told.items()]


def _draw_legend(axes: Axes, keys: Sequence[Key]) -> None:
    left, y = 0.0, _LEGEND / 2
    for sample, text, width in keys:
        x = left + _SAMPLE / 2
        if sample == "number":
            write(axes, x, y, "1", SMALL_SIZE, color="#777777")
        elif sample == "join":
            axes.vlines([x], y - _LINE / 2, y + _LINE / 2, **_JOIN)
        elif sample == "span":
            axes.hlines([y], left + 0.02, left + _SAMPLE - 0.02, **_SPAN)
        else:
            _points(axes, [(x, y)], sample, sample)
        write(axes, left + _SAMPLE + 0.06, y, text, SMALL_SIZE, ha="left")
        left += width
