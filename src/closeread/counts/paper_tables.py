"""A table of a paper, with the published values and the recomputed ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A published value and the recomputed one.

    Attributes:
        row, column: its place in the table.
        printed: the published value; None if there is none, or none on record.
        recomputed: the recomputed value, in the same unit; None if it can't be recomputed.
        why: why it can't be recomputed, or a note about it.
        agrees: whether the two are within the table's tolerance; None if one of them is missing.
    """

    row: str
    column: str
    printed: float | None
    recomputed: float | None
    why: str
    agrees: bool | None


@dataclass(frozen=True)
class Table:
    """A table with published and recomputed values.

    Attributes:
        name: such as "Table 1".
        caption: what it shows, not quoted from the paper.
        source: the paper and the pages.
        tolerance: how far apart two values may be to agree, and why.
        cells: the cells, in printed order.
    """

    name: str
    caption: str
    source: str
    tolerance: str
    cells: tuple[Cell, ...]
