"""The timeline of an entity as a picture: its mentions by date, gold beside the system.

Conventions: each mention has a row, in the order of the timeline, gold before mentions that only the system has.  A
date without day or month is drawn in the middle of the days that it may refer to; mentions whose anchor is no date are
left out.  Mentions match as in `closeread.tasks.timeline.relations`, including those at position 0.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from closeread.drawing.charts import COLOURS, start_chart, style_axes
from closeread.drawing.pictures import make_drawable, own_settings
from closeread.exceptions import RequestError, describe_unknown, pluralize, shorten
from closeread.records import Record
from closeread.tasks.timeline.relations import Copy, Entry, build_timeline
from closeread.tasks.timeline.timeline_mentions import date_of, is_anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_MENTIONS = 1000
"""The most mentions that are drawn per side: a picture of twice as many rows is as high as PNG files are drawn."""

MAX_TITLE_LENGTH = 90
MAX_MENTION_LENGTH = 44
WIDTH_INCHES = 9.0
ROW_INCHES = 0.18
MARKERS = {"gold": "o", "system": "x"}


def find_timeline(records: Sequence[Record], entity: str) -> Record:
    """Return the timeline of an entity, given by its name or by the id of its timeline."""
    by_id = {record["id"]: record for record in records}
    ids = {record["entity"]: record["id"] for record in records}
    name = ids.get(entity, entity)
    if name not in by_id:
        raise RequestError(shorten(describe_unknown("entity", entity, list(ids)), 600))
    return by_id[name]


def draw_timeline(
    entity: str, gold: Sequence[Entry], system: Sequence[Entry] | None = None
) -> Figure:
    """Draw the mentions of an entity by date, and where a system puts them if there is one."""
    anchors = {"gold": build_timeline(gold, "full").anchors}
    if system is not None:
        anchors["system"] = build_timeline(system, "full").anchors
    for side, copies in anchors.items():
        if len(copies) > MAX_MENTIONS:
            size = f"{side} has {len(copies):,} mentions (expected at most {MAX_MENTIONS:,})"
            raise RequestError(f"{size}; to plot a part of the timeline, use your own files")
    days = {side: _find_days(mentions) for side, mentions in anchors.items()}
    rows: dict[Copy, int] = {}
    for dated in days.values():
        for mention in dated:
            rows.setdefault(mention, len(rows))
    with own_settings():
        figure, (axes,) = start_chart(WIDTH_INCHES, 1.5 + ROW_INCHES * len(rows))
        for (side, dated), colour in zip(days.items(), COLOURS, strict=False):
            heights = [rows[mention] for mention in dated]
            # Date objects make an axis of dates.
            dates: Any = list(dated.values())
            axes.scatter(dates, heights, label=side, marker=MARKERS[side], c=colour)
        names = [make_drawable(text, MAX_MENTION_LENGTH) for text, _ in rows]
        axes.set_yticks(range(len(rows)), names, size=8)
        axes.invert_yaxis()
        style_axes(axes, legend=system is not None)
        mentions = {*anchors["gold"], *anchors.get("system", ())}
        n_undated = len(mentions) - len(rows)
        note = f"{pluralize(n_undated, 'mention')} without a date" if n_undated else ""
        axes.set(title=make_drawable(entity, MAX_TITLE_LENGTH), xlabel=note)
    return figure


def _find_days(anchors: Mapping[Copy, str]) -> dict[Copy, date]:
    """Return the days of the mentions whose anchor is a date."""
    days = {}
    for mention, anchor in anchors.items():
        day = find_middle(anchor)
        if day is not None:
            days[mention] = day
    return days


def find_middle(anchor: str) -> date | None:
    """Return the day in the middle of those that an anchor may refer to; None if it is not a date.

    >>> find_middle("2008-02-XX").isoformat(), find_middle("2009-XX-XX").isoformat()
    ('2008-02-15', '2009-07-02')
    >>> find_middle("XXXX-XX-XX") is find_middle("2009-02-30") is None
    True
    """
    parts = date_of(anchor)
    if not parts or not is_anchor(anchor):
        return None
    first = last = date(*(*parts, 1, 1)[:3])
    if len(parts) < 3:
        month = parts[1] if len(parts) == 2 else 12
        last = date(first.year, month, monthrange(first.year, month)[1])
    return date.fromordinal((first.toordinal() + last.toordinal()) // 2)
