"""Figures that operations draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure


class Drawing(NamedTuple):
    """A figure, and a short summary of it with numbers."""

    figure: Figure
    summary: str
