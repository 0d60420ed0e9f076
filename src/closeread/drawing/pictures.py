"""Settings that all figures share, writing figures atomically, and figures laid out in inches.

Conventions: matplotlib is imported only when something is drawn, and used through its objects: no display and no global
state are involved, and the user's settings of matplotlib have no effect.  Files are .png, .svg or .pdf; the same
figure gives the same bytes.

Figures without axes are laid out in inches: all text is measured before it is placed, so that texts never overlap.
Lengths are in inches, y points up, and every `Axes` extends from margin to margin, with inches from its lower left
corner as its coordinates, so that nothing is distorted.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from closeread.exceptions import MissingExtraError, RequestError, shorten
from closeread.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Figure

SUFFIXES = (".png", ".svg", ".pdf")
FONT = "DejaVu Sans"
"""This font comes with matplotlib, so that widths are the same on every machine."""

METADATA: Mapping[str, Mapping[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""No date and no software version, so that the same figure gives the same bytes."""

INK = "#222222"
DPI = 150.0


@cache
def figure_class() -> type[Figure]:
    """Return the class of figures, which notebooks show as they are, without any settings of matplotlib."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that shows itself in a notebook."""

        def _repr_png_(self) -> bytes:
            picture = BytesIO()
            with own_settings():
                self.savefig(picture, format="png", metadata=dict(METADATA[".png"]))
            return picture.getvalue()

    return NotebookFigure


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf."""
    suffix = check_suffix(path)
    # on a full disk, matplotlib may raise an error of its own instead of the system's
    picture = BytesIO()
    with own_settings():
        figure.savefig(picture, format=suffix.removeprefix("."), metadata=dict(METADATA[suffix]))
    with replacing(path) as partial:
        partial.write_bytes(picture.getbuffer())


def check_suffix(path: Path) -> str:
    """Return the suffix of a file name in lower case."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        expected = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise RequestError(f"{path}: '{suffix}' is not a picture format (expected {expected})")
    return suffix


@contextmanager
def own_settings() -> Iterator[None]:
    """Use matplotlib's own defaults in the block, with text in SVG and PDF as text and no warnings of missing glyphs.

    Dollar signs, which names of files may have, are no formulas.
    """
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise MissingExtraError("drawing", "matplotlib", extra="plot") from error
    defaults = {
        name: value
        for name, value in matplotlib.rcParamsDefault.items()
        if not name.startswith("backend")
    }
    with warnings.catch_warnings(), matplotlib.rc_context(defaults):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # 42: PDFs embed fonts as TrueType, which publishers accept; matplotlib's default, Type 3, many do not.
        settings: dict[Any, Any] = {
            "svg.fonttype": "none",
            "svg.hashsalt": "closeread",
            "pdf.fonttype": 42,
            "text.parse_math": False,
            "font.family": [FONT],
        }
        matplotlib.rcParams.update(settings)
        yield


# Figures in inches

Measure = Callable[[str, float], float]
"""From a text and its font size to its width."""

NAME_SIZE = 9.0
SMALL_SIZE = 7.5
HEADING_SIZE = 11.0
TITLE_SIZE = 13.0
"""Sizes of fonts, in points."""

MARGIN = 0.3

# Characters that can't be drawn: control characters and those that XML forbids.
_UNDRAWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MAX_PIXELS = 4e7
_MAX_PIXELS_OF_SIDE = 60_000.0


def make_measure() -> Measure:
    """Return a function that measures the width of a text."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    canvas: Any = FigureCanvasAgg(Figure(figsize=(1, 1), dpi=DPI))
    renderer = canvas.get_renderer()

    def width(text: str, size: float) -> float:
        if not text:
            return 0.0
        font = FontProperties(family=FONT, size=size)
        pixels: float
        pixels, _, _ = renderer.get_text_width_height_descent(text, font, False)
        # The font has no wide characters such as Chinese ones; viewers of SVG do, and draw them as squares.
        squares = sum(east_asian_width(character) in "WF" for character in text) * size / 72
        # Widths are rounded to pixels, and differ slightly with the resolution.
        return 1.04 * max(pixels / DPI, squares) + 0.02

    return width


def make_drawable(text: str, limit: int) -> str:
    """Replace characters that can't be drawn, and cut the middle of a text longer than `limit` characters."""
    return shorten(_UNDRAWABLE.sub("\ufffd", text), limit)


def wrap(widths: Sequence[float], limit: float) -> list[range]:
    """Distribute texts of these widths over rows: as many as fit in each row, at least one."""
    rows = []
    start = 0
    row_width = 0.0
    for number, width in enumerate(widths):
        if number > start and row_width + width > limit:
            rows.append(range(start, number))
            start = number
            row_width = 0.0
        row_width += width
    if widths:
        rows.append(range(start, len(widths)))
    return rows


def page(inner: float, height: float) -> Figure:
    """Return a figure of this size plus margins, with a resolution that keeps the file small."""
    width = inner + 2 * MARGIN
    height += 2 * MARGIN
    size_limit = math.sqrt(_MAX_PIXELS / (width * height))
    dpi = min(DPI, size_limit, _MAX_PIXELS_OF_SIDE / max(width, height))
    return figure_class()(figsize=(width, height), dpi=dpi, facecolor="white")


def strip(figure: Figure, label: str, bottom: float, height: float) -> Axes:
    """Add axes from margin to margin with inches as coordinates; `bottom` counts from the lower edge of the figure."""
    figure_width, figure_height = figure.get_size_inches()
    inner = figure_width - 2 * MARGIN
    rectangle = (
        MARGIN / figure_width,
        bottom / figure_height,
        inner / figure_width,
        height / figure_height,
    )
    axes = figure.add_axes(rectangle, label=label)
    axes.set(xlim=(0, inner), ylim=(0, height))
    axes.set_axis_off()
    return axes


def write(axes: Axes, x: float, y: float, text: str, size: float, **look: Any) -> None:
    """Draw a text verbatim, vertically centred on y, and horizontally centred on x unless `ha` says otherwise."""
    look = {"ha": "center", "color": INK, **look}
    axes.text(
        x, y, text, va="center", size=size, family=FONT, parse_math=False, usetex=False, **look
    )


def line(axes: Axes, x: tuple[float, ...], y: float, style: str, **look: Any) -> None:
    """Draw a horizontal line through these points."""
    from matplotlib.lines import Line2D

    axes.add_line(Line2D(x, [y] * len(x), **{"linestyle": style, "linewidth": 0.9, **look}))
