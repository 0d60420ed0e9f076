"""Pictures laid out in inches: every text is measured before anything is placed, so that texts never overlap.

Conventions: lengths are inches, y grows upwards, and every `Axes` reaches from margin to margin and is measured in
inches from its lower left corner, so that nothing is distorted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from closeread.drawing.pictures import DPI, FONT, INK
from closeread.errors import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Measure = Callable[[str, float], float]
"""How wide a text of some size is."""

NAME_SIZE, SMALL_SIZE, HEADING_SIZE, TITLE_SIZE = 9.0, 7.5, 11.0, 13.0
MARGIN = 0.3

# Characters that no text in a picture can hold: control characters, and what XML forbids.
_UNDRAWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_PIXELS, _SIDE = 4e7, 60_000.0  # how many dots a picture and a side of it may have


def measuring() -> Measure:
    """A function that tells how wide a text of some size is."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    canvas: Any = FigureCanvasAgg(Figure(figsize=(1, 1), dpi=DPI))
    renderer = canvas.get_renderer()

    def width(text: str, size: float) -> float:
        if not text:
            return 0.0
        drawn: float
        drawn, _, _ = renderer.get_text_width_height_descent(text, FontProperties(family=FONT, size=size), False)
        # The font lacks Chinese characters and the like; a viewer of an SVG has them, and they are as wide as high.
        squares = sum(east_asian_width(character) in "WF" for character in text) * size / 72
        # Widths are rounded to dots, and differ a little from resolution to resolution.
        return 1.04 * max(drawn / DPI, squares) + 0.02

    return width


def drawable(text: str, limit: int) -> str:
    """A text as it can be drawn, cut in the middle where it is longer than `limit` characters."""
    return shorten(_UNDRAWABLE.sub("\ufffd", text), limit)


def wrapped(widths: Sequence[float], limit: float) -> list[range]:
    """Which things of these widths stand in each row, as many as fit and one at least."""
    rows, start, used = [], 0, 0.0
    for i, width in enumerate(widths):
        if i > start and used + width > limit:
            rows.append(range(start, i))
            start, used = i, 0.0
        used += width
    return [*rows, range(start, len(widths))] if widths else []


def page(inner: float, height: float) -> Figure:
    """A figure of this size and its margins, with as many dots as a file should have."""
    from matplotlib.figure import Figure

    width, height = inner + 2 * MARGIN, height + 2 * MARGIN
    dpi = min(DPI, math.sqrt(_PIXELS / (width * height)), _SIDE / max(width, height))
    return Figure(figsize=(width, height), dpi=dpi, facecolor="white")


def strip(figure: Figure, label: str, bottom: float, height: float) -> Axes:
    """Axes from margin to margin, measured in inches; `bottom` is above the lower edge of the figure."""
    width, whole = figure.get_size_inches()
    inner = width - 2 * MARGIN
    axes = figure.add_axes((MARGIN / width, bottom / whole, inner / width, height / whole), label=label)
    axes.set(xlim=(0, inner), ylim=(0, height))
    axes.set_axis_off()
    return axes


def write(axes: Axes, x: float, y: float, text: str, size: float, **look: Any) -> None:
    """A text whose centre, or the middle of whose left edge, is at (x, y); it is drawn as it stands."""
    look = {"ha": "center", "color": INK, **look}
    axes.text(x, y, text, va="center", size=size, family=FONT, parse_math=False, usetex=False, **look)


def line(axes: Axes, x: tuple[float, ...], y: float, style: str, **look: Any) -> None:
    """A level line through these points."""
    from matplotlib.lines import Line2D

    axes.add_line(Line2D(x, [y] * len(x), **{"linestyle": style, "linewidth": 0.9, **look}))
