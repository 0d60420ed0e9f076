"""The events of a timeline's picture, with the fate of each of their mentions.

Conventions: mentions match as in `closeread.tasks.timeline.kernels.timelines`, including those at position 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from closeread.drawing.inches import make_drawable
from closeread.exceptions import RequestError, shorten
from closeread.records import Record
from closeread.suggestions import describe_unknown
from closeread.tasks.timeline.kernels.timelines import Copy, Entry, natural_key, number_copies

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
    """An entry of a timeline as drawn.

    Attributes:
        side: `GOLD` or `SYSTEM`.
        anchor: its anchor.
        position: its position.
        mentions: the label of each mention.
        fates: the fate of each mention: `MATCHED`, `ELSEWHERE`, `MISSED`, `SPURIOUS` or `ALONE` (without a system).
    """

    side: str
    anchor: str
    position: int
    mentions: Sequence[str]
    fates: Sequence[str]


def compare_events(gold: Sequence[Entry], system: Sequence[Entry] | None) -> list[Event]:
    """Return the events of gold, then those of the system, in timeline order, with the fates of their mentions.

    Args:
        gold, system: the entries; None without a system.
    """
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


def count_mentions(entries: Sequence[Entry]) -> int:
    """Count the mentions of the entries of a timeline."""
    return sum(len(entry["mentions"]) for entry in entries)
