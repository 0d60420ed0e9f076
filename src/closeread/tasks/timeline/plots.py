"""The timeline of an entity as a picture: its events by date, gold above the system; or its relations.

Conventions: as in `closeread.drawing.pictures`.  A picture of events has rows, each with a time axis that is true to
scale.  Below the axis are the anchors, ordered by the middle of the period that they may refer to and as close to it as
possible; below each anchor are its mentions, in timeline order.  A date without day or month covers all possible days.
Anchors that are not dates come last, without an axis.  Mentions match as in
`closeread.tasks.timeline.kernels.timelines`, including those at position 0.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.drawing.pictures import (
    INK,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    TITLE_SIZE,
    Measure,
    arrow,
    line,
    make_drawable,
    make_measure,
    own_settings,
    page,
    strip,
    write,
)
from closeread.exceptions import RequestError
from closeread.tasks.timeline.graph import COLOURS, LOOKS, Edge, Graph, arrange_nodes, make_keys, place_arrows
from closeread.tasks.timeline.kernels.timelines import Entry
from closeread.tasks.timeline.plot_layout import (
    ALONE,
    ANCHOR,
    ELSEWHERE,
    FAN,
    GAP,
    GOLD,
    LANE,
    LINE,
    MARK,
    MATCHED,
    MISSED,
    PAD,
    SPURIOUS,
    SYSTEM,
    TICKS,
    Block,
    Event,
    Period,
    Scale,
    arrange_blocks,
    choose_ticks,
    compare_events,
    find_middles,
    lane_height,
    make_scale,
    place_blocks,
    row_height,
    split_rows,
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
"""Shape, colour and size of a mention's mark by its fate; `ALONE` is for gold without a system.  The colours are those
of Okabe and Ito, which are safe for colour-blind readers."""

NO_DATE = "no date"
MAX_MENTIONS = 2000
"""The most mentions that are drawn per side: drawing them takes about 20 seconds, and nobody can read more."""
_TITLE_LENGTH = 90
_RELATIONS_WIDTH, _KEY_LINE, _KEY_SAMPLE = 3.0, 0.22, 0.42  # of the picture of relations and its legend
_TITLE, _LEGEND = 0.5, 0.5
_SAMPLE = 0.24  # the width of a mark in the legend
_WIDTH = 10.0  # minimal width between the margins
_ASPECT = 1.4  # aspect ratio of a picture with many mentions
_GROUNDS = {GOLD: "#f3f1ea", SYSTEM: "#eef3f7"}
_JOIN: dict[str, Any] = {"colors": "#999999", "linewidths": 1.2, "zorder": 2}
_SPAN: dict[str, Any] = {"colors": "#9fb8cc", "linewidths": 5.0, "zorder": 1}


class Key(NamedTuple):
    """An entry of the legend."""

    sample: str  # one of `MARKS`, or "number", "join" or "span"
    text: str  # its meaning
    width: float  # the total width


def draw_timeline(entity: str, gold: Sequence[Entry], system: Sequence[Entry] | None = None) -> Figure:
    """Draw the events of an entity by date, compared with those of a system if there is one."""
    for side, entries in ((GOLD, gold), (SYSTEM, system or ())):
        mentions = sum(len(entry["mentions"]) for entry in entries)
        if mentions > MAX_MENTIONS:
            found = f"{side} has {mentions:,} mentions (expected at most {MAX_MENTIONS:,})"
            raise RequestError(f"{found}; to plot a part of the timeline, use your own files")
    with own_settings():
        measure = make_measure()
        events = compare_events(gold, system)
        sides = (GOLD,) if system is None else (GOLD, SYSTEM)
        blocks = arrange_blocks(events, sides, measure)
        return _draw_figure(make_drawable(entity, _TITLE_LENGTH), blocks, events, measure)


def _draw_figure(title: str, blocks: Sequence[Block], events: Sequence[Event], measure: Measure) -> Figure:
    keys = _make_keys(blocks, events, measure)
    inner = max(
        _WIDTH,
        math.sqrt(_ASPECT * sum(block.width * (row_height([block])) for block in blocks)),
        LANE + max((block.width for block in blocks), default=0.0) + PAD,
        measure(title, TITLE_SIZE),
        sum(key.width for key in keys),
    )
    rows = [
        row
        for _, alike in groupby(blocks, lambda block: block.period is None)
        for row in split_rows(list(alike), inner - LANE - PAD)
    ]
    heights = [row_height(row) for row in rows] or [LINE + GAP]
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


def _draw_row(axes: Axes, blocks: Sequence[Block]) -> None:
    right, y = axes.get_xlim()[1], axes.get_ylim()[1]
    widths = [block.width for block in blocks]
    periods = [block.period for block in blocks if block.period is not None]
    if periods:
        scale = make_scale(periods, LANE + PAD, right - LANE / 2)
        lefts = place_blocks([scale.x(p.middle) - GAP / 2 for p in periods], widths, LANE, right)
        _draw_axis(axes, y - TICKS, scale, periods)
        _draw_fan(axes, y - TICKS, [scale.x(p.middle) for p in periods], find_middles(lefts, widths))
        y -= TICKS + FAN
    else:
        lefts = [*accumulate(widths[:-1], initial=LANE)]
        write(axes, 0, y - ANCHOR / 2, NO_DATE, SMALL_SIZE, ha="left", style="italic")
    for left, head, block in zip(lefts, find_middles(lefts, widths), blocks, strict=True):
        write(axes, head, y - ANCHOR / 2, block.anchor, SMALL_SIZE, weight="bold")
        line(axes, (left, left + block.width - GAP), y - ANCHOR, "-", color=INK)
    y -= ANCHOR
    for side in blocks[0].lanes:
        depth = lane_height(blocks, side)
        _draw_lane(axes, side, y, depth)
        _draw_events(axes, side, y - PAD, zip(lefts, blocks, strict=True))
        y -= depth


def _draw_axis(axes: Axes, y: float, scale: Scale, periods: Sequence[Period]) -> None:
    line(axes, (scale.start - PAD, scale.end + PAD), y, "-", color="#888888")
    for day, name in choose_ticks(scale.first, scale.last):
        line(axes, (scale.x(day),), y, "", color="#888888", marker="|", markersize=6)
        write(axes, scale.x(day), y + 0.16, name, SMALL_SIZE, color="#555555")
    partial = [p for p in periods if p.first < p.last]
    ends = ([scale.x(p.first) for p in partial], [scale.x(p.last) for p in partial])
    axes.hlines([y] * len(partial), *ends, label="spans", **_SPAN)
    line(axes, tuple(scale.x(p.middle) for p in periods), y, "", color=INK, marker="o", markersize=3.5, label="dates")


def _draw_fan(axes: Axes, y: float, dates: Sequence[float], heads: Sequence[float]) -> None:
    """Draw lines from dates on the axis at y to the anchors below it."""
    from matplotlib.collections import LineCollection

    ways = [[(there, y), (here, y - FAN)] for there, here in zip(dates, heads, strict=True)]
    axes.add_collection(LineCollection(ways, colors="#aaaaaa", linewidths=0.7, zorder=0.5))


def _draw_lane(axes: Axes, side: str, y: float, depth: float) -> None:
    """Draw the background of a side's lane, and its label."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((0, y - depth), axes.get_xlim()[1], depth, facecolor=_GROUNDS[side], zorder=0))
    write(axes, 0.06, y - PAD - LINE / 2, side, SMALL_SIZE, ha="left", color="#555555")


def _draw_events(axes: Axes, side: str, y: float, blocks: Iterable[tuple[float, Block]]) -> None:
    """Draw the mentions of a side, from y downwards, in blocks with these left edges."""
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    joined = []
    for left, block in blocks:
        for i, column in enumerate(block.lanes[side]):
            x = left + i * block.column + block.numbers + MARK / 2
            height, before = y - LINE / 2, None
            for event in column:
                if event.position != before:
                    write(axes, x - MARK / 2, height, str(event.position), SMALL_SIZE, ha="right", color="#777777")
                before = event.position
                if len(event.mentions) > 1:
                    joined.append((x, height, height - (len(event.mentions) - 1) * LINE))
                for mention, fate in zip(event.mentions, event.fates, strict=True):
                    points[fate].append((x, height))
                    write(axes, x + MARK / 2, height, mention, SMALL_SIZE, ha="left")
                    height -= LINE
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
    texts = {}
    for fate in MARKS:
        number = counts[GOLD, fate] or counts[SYSTEM, fate]
        if number:
            texts[fate] = f"{number:,} {fate}"
    if events:
        texts["number"] = "position"
    if any(len(event.mentions) > 1 for event in events):
        texts["join"] = "mentions of one event"
    if any(block.period is not None and block.period.first < block.period.last for block in blocks):
        texts["span"] = "possible days of a partial date"
    return [Key(sample, text, _SAMPLE + 0.06 + measure(text, SMALL_SIZE) + GAP) for sample, text in texts.items()]


def _draw_legend(axes: Axes, keys: Sequence[Key]) -> None:
    left, y = 0.0, _LEGEND / 2
    for sample, text, width in keys:
        x = left + _SAMPLE / 2
        if sample == "number":
            write(axes, x, y, "1", SMALL_SIZE, color="#777777")
        elif sample == "join":
            axes.vlines([x], y - LINE / 2, y + LINE / 2, **_JOIN)
        elif sample == "span":
            axes.hlines([y], left + 0.02, left + _SAMPLE - 0.02, **_SPAN)
        else:
            _draw_points(axes, [(x, y)], sample, sample)
        write(axes, left + _SAMPLE + 0.06, y, text, SMALL_SIZE, ha="left")
        left += width


def draw_relations(entity: str, graph: Graph) -> Figure:
    """Draw the explicit and the entailed relations of a timeline."""
    with own_settings():
        measure = make_measure()
        layout, keys = arrange_nodes(graph, measure), make_keys(graph)
        title = make_drawable(entity, _TITLE_LENGTH)
        widths = [_KEY_SAMPLE + measure(text, SMALL_SIZE) for _, text in keys]
        legend = (len(keys) + 0.5) * _KEY_LINE
        inner = max(_RELATIONS_WIDTH, layout.width, *widths, measure(title, TITLE_SIZE))
        figure = page(inner, _TITLE + layout.height + legend)
        top = figure.get_size_inches()[1] - MARGIN - _TITLE
        write(strip(figure, "title", top, _TITLE), 0, _TITLE / 2, title, TITLE_SIZE, ha="left")
        axes = strip(figure, "relations", top - layout.height, layout.height)
        for edge, start, end, bend in place_arrows(graph, layout):
            _draw_relation(axes, edge, start, end, bend)
        for label, y, left in zip(layout.labels, layout.y, layout.lefts, strict=True):
            write(axes, left, layout.height - y, label, SMALL_SIZE, ha="left", zorder=4)
        if not layout.labels:
            write(axes, 0, layout.height / 2, "no relations", SMALL_SIZE, ha="left", style="italic")
        axes = strip(figure, "legend", MARGIN, legend)
        for number, (edge, text) in enumerate(reversed(keys)):
            y = (number + 0.5) * _KEY_LINE
            _draw_relation(axes, edge, (0.0, y), (_KEY_SAMPLE - 0.1, y), 0.0)
            write(axes, _KEY_SAMPLE, y, text, SMALL_SIZE, ha="left")
        return figure


def _draw_relation(axes: Axes, edge: Edge, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    """Draw a relation; BEFORE has an arrowhead at the later end."""
    look = {"color": COLOURS[edge.relation], **LOOKS[edge.status], "label": f"{edge.status}: {edge.relation}"}
    arrow(axes, start, end, bend=bend, head=edge.relation == "BEFORE", **look)
