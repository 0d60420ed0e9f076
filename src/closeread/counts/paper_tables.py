"""A table of a paper: what is printed, and what we recompute."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A printed value and ours.

    Attributes:
        row, column: where it is printed.
        printed: what is printed; None where that is not on record, or nothing is.
        recomputed: ours, in the same unit; None where it can't be recomputed.
        why: why it can't be recomputed, or a note about it.
        agrees: whether the two are within the table's tolerance; None where there is nothing to compare.
    """

    row: str
    column: str
    printed: float | None
    recomputed: float | None
    why: str
    agrees: bool | None


@dataclass(frozen=True)
class Table:
    """A table, printed and recomputed.

    Attributes:
        name: such as "Table 1".
        caption: what it shows, in our words.
        source: paper and pages.
        tolerance: how far apart two values may be and still agree, and why.
        cells: in printed order.
    """

    name: str
    caption: str
    source: str
    tolerance: str
    cells: tuple[Cell, ...]
