"""What the printed figures of Tables 3 and 5 tell of each other.

A system that decides by one label of every pair (Coupled) has as precision and recall those of its links times IPrep.
The printed Decoupled rows are those of a system that links every pair by its preposition head: its recall is the
accuracy of prepositions over all gold pairs, linked or not, and its precision follows from the number of pairs.

Conventions: figures are percentages.  An identity holds if figures that round to the printed ones fulfil it.  It is
not itself printed; the figures that it connects are counted in Tables 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import product

from closeread.arrays import ratio
from closeread.corpus.reproduction import Inputs, Recomputed, load_printed
from closeread.counts.printed_tables import Claim, parse_number
from closeread.tasks.tne.release import read_test

COUPLED, DECOUPLED = "Coupled", "Decoupled"
PRECISION, RECALL = "Precision", "Recall"
PER_CENT = Decimal(100)

Figures = Mapping[str, Decimal]
"""The figures of a system by column, of Table 3 and Table 5."""

Formula = Callable[..., Decimal]


def multiply(links: Decimal, iprep: Decimal) -> Decimal:
    """Return the precision or recall of labelled links from that of links and the accuracy of their prepositions."""
    return links * iprep / PER_CENT


def link_everything(recall: Decimal, iprep: Decimal, uprep: Decimal) -> Decimal:
    """Return the recall of a system that labels every pair.

    >>> link_everything(Decimal(20), Decimal(75), Decimal(50))
    Decimal('55')
    """
    return (recall * iprep + (PER_CENT - recall) * uprep) / PER_CENT


def identities(inputs: Inputs) -> Recomputed:
    """Check Table 3's precision and recall of the neural models against Table 5."""
    tables = {table["name"]: table["rows"] for table in load_printed("tne")["tables"]}
    share = _find_share(inputs)
    cells: dict[tuple[str, str], Claim] = {}
    for row, of_links in tables["Table 5"].items():
        figures = {name: _read(text) for name, text in (tables["Table 3"][row] | of_links).items()}
        if row.startswith(COUPLED):
            cells[row, PRECISION] = _check(figures, PRECISION, multiply, "Links-P", "IPrep-Acc")
            cells[row, RECALL] = _check(figures, RECALL, multiply, "Links-R", "IPrep-Acc")
        elif row.startswith(DECOUPLED):
            cells[row, RECALL] = _check(figures, RECALL, link_everything, "Links-R", "IPrep-Acc", "UPrep-Acc")
            if share is not None:
                cells[row, PRECISION] = _check({**figures, "share": share}, PRECISION, multiply, RECALL, "share")
    return cells


def _find_share(inputs: Inputs) -> Decimal | None:
    """Return the percentage of the ordered pairs of test that gold links; None if the file is not at hand."""
    documents = read_test(inputs)
    if documents is None:
        return None
    n_pairs = int((documents.sizes * (documents.sizes - 1)).sum())
    return Decimal(repr(100 * float(ratio(len(documents.links.labelled.pair), n_pairs))))


def _check(figures: Figures, column: str, formula: Formula, *names: str) -> Claim:
    """Compare a printed figure with a formula of other printed figures, all within rounding."""
    values = [figures[name] for name in names]
    bounds = [formula(*corner) for corner in product(*(_bound(value) for value in values))]
    low, high = _bound(figures[column])
    told = f"{formula(*values):.2f} from Table 5, {figures[column]} in Table 3"
    return Claim(told, min(bounds) <= high and low <= max(bounds))


def _bound(value: Decimal) -> tuple[Decimal, Decimal]:
    """Return the lowest and the highest number that rounds to a printed one."""
    half = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return value - half, value + half


def _read(printed: str) -> Decimal:
    number = parse_number(printed)
    if number is None:
        raise ValueError(f"{printed!r} is not a number")
    return number
