"""The agreement of annotators of WikiPossessions as tables."""

from __future__ import annotations

from closeread.counts.annotators import make_pair_grid
from closeread.exceptions import pluralize
from closeread.tables import Grid, format_cell
from closeread.tasks.wikipossessions.agreement import TITLES, PairedAgreement

COLUMNS = ("precision", "recall", "F1", "same label", "kappa")


def make_rows(found: PairedAgreement) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of all scores; of several pairs, every pair and then the means."""
    if len(found.pairs) == 1:
        one = found.pairs[0, 1]
        return ["", *COLUMNS, "shared"], [[*map(_leave_out, row), one.shared] for row in one.rows()]
    rows: list[list[object]] = [
        [found.names[i], found.names[j], *map(_leave_out, row), one.shared]
        for (i, j), one in found.pairs.items()
        for row in one.rows()
    ]
    for name, value in found.mean.items():
        what, _, score = name.rpartition("/")
        values = [value, None, None] if score == "f1" else [None, None, value]
        rows.append(["mean", None, what, None, None, *values, None])
    return ["first annotator", "second annotator", "compared", *COLUMNS, "shared"], rows


def _leave_out(cell: str | float | None) -> str | float | None:
    """Return None for an empty cell, so that columns of numbers stay that."""
    return None if cell == "" else cell


def make_grid(found: PairedAgreement) -> Grid:
    """Return the table: all scores of two annotators; of more, F1 scores and kappas of every pair, and their means."""
    several = len(found.pairs) > 1
    shared = "possessors" if several else pluralize(found.pairs[0, 1].shared, "possessor")
    pairs = "these" if found.options["pairs"] == "shared" else "all"
    notes = [
        f"Labels are compared on the {shared} that both annotators have.",
        f"Ordered pairs are those of {pairs} possessors.",
        f"Options: {', '.join(f'{name} {value}' for name, value in found.options.items())}.",
    ]
    if not several:
        rows = [list(map(format_cell, row)) for row in found.pairs[0, 1].rows()]
        return Grid("", ["", *COLUMNS], rows, [f"{found.names[1]} against {found.names[0]}.", *notes])
    mean = found.mean
    scores = {pair: list(one.summarize().values()) for pair, one in found.pairs.items()}
    notes += found.describe_left_out()
    titles = [TITLES[name] for name in mean]
    return make_pair_grid(found.names, titles, scores, list(mean.values()), notes, format_cell)
