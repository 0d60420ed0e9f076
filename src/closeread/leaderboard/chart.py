"""The line chart of the best score over time, as numbers for an SVG element."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 12, 26
"""The margins, with room for the scale at the left and the dates below."""

STEPS = (1, 2, 5, 10, 20)
"""The distances between lines of the scale, in percent; scores above 1 take multiples of the last."""


@dataclass(frozen=True)
class Chart:
    """What to draw, in units of the SVG element.

    Attributes:
        width, height: the size of the picture.
        left, right: where the lines of the scale begin and end.
        line: the path, a staircase, because a best score lasts until it is beaten.
        points: the place of each record, in order.
        ticks: the height and the name of each line of the scale.
    """

    width: int
    height: int
    left: int
    right: int
    line: str
    points: Sequence[tuple[float, float]]
    ticks: Sequence[tuple[float, str]]


def make_chart(history: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Return the chart of a history; None without one.

    Args:
        history: the records, oldest first: `date`, such as "2026-11-22T10:00:00Z", and `value`, a ratio from 0.
    """
    if not history:
        return None
    times = [datetime.fromisoformat(point["date"]).timestamp() for point in history]
    values = [100 * point["value"] for point in history]
    span = max(values) - min(values)
    step = next((step for step in STEPS if span <= 4 * step), math.ceil(span / 100) * STEPS[-1])
    low = max(math.floor(min(values) / step - 0.5) * step, 0)
    high = math.ceil(max(values) / step + 0.5) * step
    high = min(high, 100) if max(values) <= 100 else high
    high = high if high > low else low + step
    lasted = (times[-1] - times[0]) or 1.0

    def place(time: float, value: float) -> tuple[float, float]:
        x = LEFT + 8 + (time - times[0]) / lasted * (WIDTH - LEFT - RIGHT - 16)
        y = TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    points = [place(time, value) for time, value in zip(times, values, strict=True)]
    line = f"M{points[0][0]:g} {points[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in points[1:])
    ticks = [(place(times[0], tick)[1], f"{tick}") for tick in range(low, high + 1, step)]
    return Chart(WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, f"{line}H{WIDTH - RIGHT}", points, ticks)
