"""What all pictures share: settings, and a file that is written whole or not at all.

Conventions: matplotlib is imported when something is drawn, not with this file, and through its objects alone: no
display and no global state is involved, and the user's own settings of matplotlib have no effect.  Pictures are .png or
.svg; the same picture gives the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.errors import MissingExtraError, RequestError
from closeread.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
FONT = "DejaVu Sans"
"""A font that comes with matplotlib: the same widths on every machine."""

INK = "#222222"
DPI = 150.0


def write_picture(figure: Figure, path: Path) -> None:
    """Write a picture as .png or .svg.

    Raises:
        RequestError: the file's name ends in neither.
        OSError: it can't be written.
    """
    suffix = check_suffix(path)
    # A picture tells nothing of when and by what it was made.
    made: dict[str, Any] = {"Software": None} if suffix == ".png" else {"Date": None, "Creator": None}
    with own_settings(), replacing(path) as partial:
        figure.savefig(partial, format=suffix.removeprefix("."), metadata=made)


def check_suffix(path: Path) -> str:
    """What the file's name ends in, in lower case.

    Raises:
        RequestError: no picture is written under such a name.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise RequestError(f"{path}: '{suffix}' is not a picture format (expected {' or '.join(SUFFIXES)})")
    return suffix


@contextmanager
def own_settings() -> Iterator[None]:
    """matplotlib with its own defaults, texts of an SVG as text, and silent where the font lacks a character.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    with warnings.catch_warnings(), matplotlib.rc_context(defaults):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "closeread", "font.family": [FONT]})
        yield


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise MissingExtraError("drawing (the extra closeread[plot])", "matplotlib") from error
    return matplotlib
