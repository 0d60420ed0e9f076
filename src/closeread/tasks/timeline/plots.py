"""The timeline of an entity as a picture: its events by date, gold above the system.

Conventions: lengths are as in `closeread.drawing.pictures`; days are numbered as by `datetime.date.toordinal`.  A
picture has rows, each with a time axis that is true to scale, and a lane for each side.  Below the axis are blocks, one
for each anchor, ordered by the middle of the period that it may refer to and as close to it as possible; in a block are
the anchor's mentions, in timeline order and in columns.  A date without day or month covers all possible days.  Anchors
that are not dates come last, without an axis.  Mentions match as in `closeread.tasks.timeline.relations`, including
those at position 0.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.drawing.pictures import (
    INK,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    TITLE_SIZE,
    Measure,
    line,
    make_drawable,
    make_measure,
    own_settings,
    page,
    strip,
    wrap,
    write,
)
from closeread.exceptions import RequestError, describe_unknown, shorten
from closeread.records import Record
from closeread.tasks.timeline.relations import Entry, list_mentions, map_anchors, sort_entries
from closeread.tasks.timeline.timeline_mentions import date_of, is_anchor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GOLD, SYSTEM = "gold", "system"
MATCHED, ELSEWHERE, MISSED, SPURIOUS, ALONE = (
    "matched",
    "matched, different anchor",
    "missed",
    "spurious",
    "mentions",
)
MARKS = {
    MATCHED: ("o", "#0072b2", 26.0),
    ELSEWHERE: ("D", "#e69f00", 24.0),
    MISSED: ("X", "#d55e00", 36.0),
    SPURIOUS: ("^", "#cc79a7", 32.0),
    ALONE: ("o", "#555555", 26.0),
}
"""Shape, colour and size of a mention's mark by outcome; `ALONE` is for gold without a system.  The colours are those
of Okabe and Ito, which are safe for colour-blind readers."""

NO_DATE, NO_ANCHOR = "no date", "no anchor"
MAX_MENTIONS = 2000
"""The most mentions that are drawn per side: drawing them takes about 20 seconds, and nobody can read more."""

TITLE_LENGTH, MENTION_LENGTH, _ANCHOR_LENGTH = 90, 44, 40
TITLE, _LEGEND = 0.5, 0.5  # heights
_SAMPLE = 0.24  # the width of a mark in the legend
_WIDTH = 10.0  # minimal width between the margins
_ASPECT = 1.4  # aspect ratio of a picture with many mentions
_GAP, _PAD = 0.22, 0.08
_LANE = 0.62  # width of the lane labels
_LINE, _MARK = 0.165, 0.17  # height of a mention, and width of its mark
# heights of the axis, of the lines from it to the anchors, and of the anchors
_TICKS, _FAN, _ANCHOR = 0.3, 0.34, 0.22
_STACK = 8  # mentions in a column before the next column is used; more if there are very many
_MOST_TICKS = 10
_MONTHS = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)))
_DAYS = (1, 2, 5, 10)
_GROUNDS = {GOLD: "#f3f1ea", SYSTEM: "#eef3f7"}
_JOIN: dict[str, Any] = {"colors": "#999999", "linewidths": 1.2, "zorder": 2}
_SPAN: dict[str, Any] = {"colors": "#9fb8cc", "linewidths": 5.0, "zorder": 1}


Period = tuple[int, int]  # the numbers of the first and the last day that a date may refer to


class Event(NamedTuple):
    """An entry of a timeline as drawn."""

    side: str  # `GOLD` or `SYSTEM`
    anchor: str
    position: int
    mentions: Sequence[str]  # the label of each mention
    fates: Sequence[str]  # the outcome of each mention, a key of `MARKS`


class Block(NamedTuple):
    """All events with one anchor."""

    anchor: str  # the anchor as drawn
    period: Period | None  # the period it may refer to; None if it is not a date
    lanes: Mapping[str, Sequence[Sequence[Event]]]  # the events of each side, in columns
    numbers: float  # the width of the widest position
    column: float  # the width of a column
    width: float  # the total width


# of the legend: a mark, "number", "join" or "span", its meaning, and the total width
Key = tuple[str, str, float]


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


def draw_timeline(
    entity: str, gold: Sequence[Entry], system: Sequence[Entry] | None = None
) -> Figure:
    """Draw the events of an entity by date, compared with those of a system if there is one."""
    for side, entries in ((GOLD, gold), (SYSTEM, system or ())):
        if (mentions := count_mentions(entries)) > MAX_MENTIONS:
            found = f"{side} has {mentions:,} mentions (expected at most {MAX_MENTIONS:,})"
            raise RequestError(f"{found}; to plot a part of the timeline, use your own files")
    with own_settings():
        measure, title = make_measure(), make_drawable(entity, TITLE_LENGTH)
        events = compare_events(gold, system)
        blocks = _arrange_blocks(events, (GOLD,) if system is None else (GOLD, SYSTEM), measure)
        keys = _make_keys(blocks, events, measure)
        inner = max(
            _WIDTH,
            math.sqrt(_ASPECT * sum(block.width * _measure_row([block]) for block in blocks)),
            _LANE + max((block.width for block in blocks), default=0.0) + _PAD,
            measure(title, TITLE_SIZE),
            sum(width for _, _, width in keys),
        )
        dated = [block for block in blocks if block.period]
        rows = [
            row
            for alike in (dated, blocks[len(dated) :])
            if alike
            for row in _split_rows(alike, inner - _LANE - _PAD)
        ]
        heights = [_measure_row(row) for row in rows] or [_LINE + _GAP]
        figure = page(inner, TITLE + sum(heights) + _LEGEND)
        top = draw_title(figure, title)
        if not rows:
            axes = strip(figure, "row 1", top - heights[0], heights[0])
            write(axes, 0, heights[0] / 2, "no events", NAME_SIZE, ha="left", style="italic")
        for number, row in enumerate(rows):
            top -= heights[number]
            label = f"row {number + 1}" if row[0].period else NO_DATE
            _draw_row(strip(figure, label, top, heights[number]), row)
        _draw_legend(strip(figure, "legend", MARGIN, _LEGEND), keys)
        return figure


def draw_title(figure: Figure, title: str) -> float:
    """Draw the title of a figure, and return where the rest of it begins."""
    top = float(figure.get_size_inches()[1]) - MARGIN - TITLE
    write(strip(figure, "title", top, TITLE), 0, TITLE / 2, title, TITLE_SIZE, ha="left")
    return top


# What is drawn


def compare_events(gold: Sequence[Entry], system: Sequence[Entry] | None) -> list[Event]:
    """Return the events of gold, then those of the system, in timeline order, with the fates of their mentions."""
    sides = {GOLD: gold, SYSTEM: system or ()}
    anchors = {side: map_anchors(list_mentions(entries)) for side, entries in sides.items()}
    events = []
    for side, other, lacking in ((GOLD, SYSTEM, MISSED), (SYSTEM, GOLD, SPURIOUS)):
        copies = iter(anchors[side])
        for entry in (sides[side][number] for number in sort_entries(sides[side])):
            texts, fates = [], []
            for copy in islice(copies, len(entry["mentions"])):
                text, there = make_drawable(copy[0], MENTION_LENGTH), anchors[other].get(copy)
                if system is None or there is None:
                    fates.append(ALONE if system is None else lacking)
                elif there == entry["anchor"]:
                    fates.append(MATCHED)
                else:
                    fates.append(ELSEWHERE)
                    text += f" ({other}: {format_anchor(there)})"
                texts.append(text)
            events.append(Event(side, entry["anchor"], entry["position"], texts, fates))
    return events


def format_anchor(anchor: str) -> str:
    """Return an anchor as drawn."""
    return make_drawable(anchor, _ANCHOR_LENGTH) if anchor else NO_ANCHOR


def parse_period(anchor: str) -> Period | None:
    """Return the days that an anchor may refer to; None if it is not a date.

    >>> [date.fromordinal(day).isoformat() for day in parse_period("2008-02-XX")]
    ['2008-02-01', '2008-02-29']
    >>> parse_period("XXXX-XX-XX") is parse_period("2009-02-30") is parse_period("2009-XX-07") is None
    True
    """
    known = date_of(anchor) if is_anchor(anchor) else ()
    if not known:
        return None
    year, month = known[0], known[1] if len(known) > 1 else 12
    last = known[2] if len(known) > 2 else monthrange(year, month)[1]
    return date(*(*known, 1, 1)[:3]).toordinal(), date(year, month, last).toordinal()


def choose_ticks(first: int, last: int) -> list[tuple[int, str]]:
    """Choose at most ten years, months or days to label on an axis; return days and labels.

    >>> [name for _, name in choose_ticks(date(2005, 2, 17).toordinal(), date(2008, 1, 1).toordinal())]
    ['2005-07', '2006-01', '2006-07', '2007-01', '2007-07', '2008-01']
    """
    months = [12 * day.year + day.month - 1 for day in map(date.fromordinal, (first, last))]
    for step in _MONTHS:
        starts = [
            date(m // 12, m % 12 + 1, 1)
            for m in range(-(-months[0] // step) * step, months[1] + 1, step)
        ]
        named = [(day.toordinal(), day.isoformat()[: 4 if step % 12 == 0 else 7]) for day in starts]
        found = [(day, name) for day, name in named if day >= first]
        if len(found) <= _MOST_TICKS:
            break
    if len(found) > 1:
        return found
    step = next(step for step in _DAYS if (last - first) // step < _MOST_TICKS)
    return [(day, date.fromordinal(day).isoformat()) for day in range(first, last + 1, step)]


# Where it is drawn


def _arrange_blocks(events: Sequence[Event], sides: Sequence[str], measure: Measure) -> list[Block]:
    """Make a block for each anchor: first dates, ordered by the middle of their periods, then other anchors."""
    by_anchor: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_anchor[event.anchor].append(event)
    blocks = []
    for anchor, of_anchor in by_anchor.items():
        lanes = {
            side: _split_columns([event for event in of_anchor if event.side == side])
            for side in sides
        }
        numbers = max(measure(str(event.position), SMALL_SIZE) for event in of_anchor) + 0.04
        texts = max(
            (measure(text, SMALL_SIZE) for event in of_anchor for text in event.mentions),
            default=0.0,
        )
        column, head = numbers + _MARK + texts + _GAP, format_anchor(anchor)
        width = max(column * max(map(len, lanes.values())), measure(head, NAME_SIZE) + _GAP)
        blocks.append(Block(head, parse_period(anchor), lanes, numbers, column, width))

    def place(block: Block) -> tuple[bool, float, int, str]:
        period = block.period or (0, 0)
        return not block.period, sum(period) / 2, period[0], block.anchor

    return sorted(blocks, key=place)


def _split_columns(events: Sequence[Event]) -> list[list[Event]]:
    """Split the events of a lane into columns of about the right height; events are not split."""
    limit = max(_STACK, round(2 * math.sqrt(sum(len(event.mentions) for event in events))))
    return [
        [events[i] for i in column]
        for column in wrap([len(event.mentions) for event in events], limit)
    ]


def _measure_lane(blocks: Sequence[Block], side: str) -> float:
    columns = [column for block in blocks for column in block.lanes[side]]
    most = max((sum(len(event.mentions) for event in column) for column in columns), default=0)
    return max(most, 1) * _LINE + 2 * _PAD


def _measure_row(blocks: Sequence[Block]) -> float:
    axis = _TICKS + _FAN if blocks[0].period else 0.0
    return axis + _ANCHOR + sum(_measure_lane(blocks, side) for side in blocks[0].lanes) + _GAP


def _split_rows(blocks: Sequence[Block], room: float) -> list[list[Block]]:
    """Split blocks into as few rows as possible, about equally full."""
    widths = [block.width for block in blocks]
    fewest = len(wrap(widths, room))
    limit = min(sum(widths) / fewest, room)
    while len(wrap(widths, limit)) > fewest:
        limit = min(1.02 * limit, room)
    return [[blocks[i] for i in row] for row in wrap(widths, limit)]


def place_blocks(
    wanted: Sequence[float], widths: Sequence[float], start: float, end: float
) -> list[float]:
    """Place blocks next to each other, with their middles close to the wanted places; return their left edges."""
    lefts = []
    for middle, width in zip(wanted, widths, strict=True):
        lefts.append(max(start, middle - width / 2))
        start = lefts[-1] + width
    for i in reversed(range(len(lefts))):
        lefts[i] = min(lefts[i], end - widths[i])
        end = lefts[i]
    return lefts


# Drawing


def _draw_row(axes: Axes, blocks: Sequence[Block]) -> None:
    from matplotlib.patches import Rectangle

    right, y = axes.get_xlim()[1], axes.get_ylim()[1]
    widths = [block.width for block in blocks]
    periods = [block.period for block in blocks if block.period]
    if periods:
        lefts = _draw_axis(axes, y - _TICKS, periods, widths)
        y -= _TICKS + _FAN
    else:
        lefts = [*accumulate(widths[:-1], initial=_LANE)]
        write(axes, 0, y - _ANCHOR / 2, NO_DATE, SMALL_SIZE, ha="left", style="italic")
    for left, block in zip(lefts, blocks, strict=True):
        write(
            axes,
            left + (block.width - _GAP) / 2,
            y - _ANCHOR / 2,
            block.anchor,
            SMALL_SIZE,
            weight="bold",
        )
        line(axes, (left, left + block.width - _GAP), y - _ANCHOR, "-", color=INK)
    y -= _ANCHOR
    for side in blocks[0].lanes:
        depth = _measure_lane(blocks, side)
        axes.add_patch(Rectangle((0, y - depth), right, depth, facecolor=_GROUNDS[side], zorder=0))
        write(axes, 0.06, y - _PAD - _LINE / 2, side, SMALL_SIZE, ha="left", color="#555555")
        _draw_events(axes, side, y - _PAD, zip(lefts, blocks, strict=True))
        y -= depth


def _draw_axis(
    axes: Axes, y: float, periods: Sequence[Period], widths: Sequence[float]
) -> list[float]:
    """Draw a time axis that covers all of these periods, and lines from it to blocks; return their left edges."""
    from matplotlib.collections import LineCollection

    first, last = min(start for start, _ in periods), max(end for _, end in periods)
    if first == last:
        first, last = max(first - 2, date.min.toordinal()), min(last + 2, date.max.toordinal())
    right = axes.get_xlim()[1]
    start, end = _LANE + _PAD, right - _LANE / 2

    def x(day: float) -> float:
        return start + (day - first) / (last - first) * (end - start)

    line(axes, (start - _PAD, end + _PAD), y, "-", color="#888888")
    for day, name in choose_ticks(first, last):
        line(axes, (x(day),), y, "", color="#888888", marker="|", markersize=6)
        write(axes, x(day), y + 0.16, name, SMALL_SIZE, color="#555555")
    partial = [period for period in periods if period[0] < period[1]]
    ends = ([x(start) for start, _ in partial], [x(end) for _, end in partial])
    axes.hlines([y] * len(partial), *ends, label="spans", **_SPAN)
    dates = [x(sum(period) / 2) for period in periods]  # in the middle
    line(axes, tuple(dates), y, "", color=INK, marker="o", markersize=3.5, label="dates")
    lefts = place_blocks([there - _GAP / 2 for there in dates], widths, _LANE, right)
    heads = (left + (width - _GAP) / 2 for left, width in zip(lefts, widths, strict=True))
    fan = [[(there, y), (here, y - _FAN)] for there, here in zip(dates, heads, strict=True)]
    axes.add_collection(LineCollection(fan, colors="#aaaaaa", linewidths=0.7, zorder=0.5))
    return lefts


def _draw_events(axes: Axes, side: str, y: float, blocks: Iterable[tuple[float, Block]]) -> None:
    """Draw the mentions of a side, from y downwards, in blocks with these left edges."""
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    joined = []
    for left, block in blocks:
        for i, column in enumerate(block.lanes[side]):
            x = left + i * block.column + block.numbers + _MARK / 2
            height, before = y - _LINE / 2, None
            for event in column:
                if event.position != before:
                    write(
                        axes,
                        x - _MARK / 2,
                        height,
                        str(event.position),
                        SMALL_SIZE,
                        ha="right",
                        color="#777777",
                    )
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
        _draw_points(axes, of_fate, fate, f"{side}: {fate}")


def _draw_points(axes: Axes, places: Sequence[tuple[float, float]], fate: str, label: str) -> None:
    shape, colour, size = MARKS[fate]
    x, y = zip(*places, strict=True)
    axes.scatter(x, y, s=size, marker=shape, color=colour, linewidths=0, label=label, zorder=3)


def _make_keys(blocks: Sequence[Block], events: Sequence[Event], measure: Measure) -> list[Key]:
    """Make the legend: what occurs in the picture, with the number of mentions of each fate."""
    counts = Counter((event.side, fate) for event in events for fate in event.fates)
    numbers = {fate: counts[GOLD, fate] or counts[SYSTEM, fate] for fate in MARKS}
    texts = {fate: f"{number:,} {fate}" for fate, number in numbers.items() if number}
    if events:
        texts["number"] = "position"
    if any(len(event.mentions) > 1 for event in events):
        texts["join"] = "mentions of one event"
    if any(block.period and block.period[0] < block.period[1] for block in blocks):
        texts["span"] = "possible days of a partial date"
    return [
        (sample, text, _SAMPLE + 0.06 + measure(text, SMALL_SIZE) + _GAP)
        for sample, text in texts.items()
    ]


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
            _draw_points(axes, [(x, y)], sample, sample)
        write(axes, left + _SAMPLE + 0.06, y, text, SMALL_SIZE, ha="left")
        left += width
