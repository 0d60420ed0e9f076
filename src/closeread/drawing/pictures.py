"""Settings that all figures share, and writing figures atomically.

Conventions: matplotlib is imported only when something is drawn, and used through its objects: no display and no global
state are involved, and the user's settings of matplotlib have no effect.  Files are .png, .svg or .pdf; the same
figure gives the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.exceptions import MissingExtraError, RequestError
from closeread.files import replacing

if TYPE_CHECKING:
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


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf."""
    suffix = check_suffix(path)
    drawn = BytesIO()  # on a full disk, matplotlib may raise an error of its own instead of the system's
    with own_settings():
        figure.savefig(drawn, format=suffix.removeprefix("."), metadata=dict(METADATA[suffix]))
    with replacing(path) as partial:
        partial.write_bytes(drawn.getbuffer())


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
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    with warnings.catch_warnings(), matplotlib.rc_context(defaults):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # 42: PDFs embed fonts as TrueType, which publishers accept; matplotlib's default, Type 3, many do not.
        texts: dict[Any, Any] = {
            "svg.fonttype": "none",
            "svg.hashsalt": "closeread",
            "pdf.fonttype": 42,
            "text.parse_math": False,
        }
        matplotlib.rcParams.update({**texts, "font.family": [FONT]})
        yield
