"""Figures that operations draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure


class Drawing(NamedTuple):
    """A figure that is drawn, and what is drawn, in a few words with numbers."""

    figure: Figure
    summary: str
