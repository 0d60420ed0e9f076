"""The figures that papers print, one JSON file for each, and verdicts on what is recomputed from the corpora.

A table has `rows`: from the name of a row to its printed texts by column.  Four objects say something of cells, by the
name of a cell ("row / column"), a row, a column, or "" for all: `needs` (what it would take to recompute them),
`differs` (why they differ), `without data` (why they hold whatever the files say) and `notes`.  The module beside the
JSON file recomputes what it can from the public functions of the package, in percent where the paper has percent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

PAPERS = {
    "mctaco": "McTaco",
    "semeval2015_timeline": "TimeLine",
    "tne": "TNE",
    "wikipossessions": "WikiPossessions",
    "marmara_coref": "Marmara",
}

AGREES, CUT_OFF, WITHIN_CHANCE = "agrees", "agrees, cut off", "within chance"
WITHOUT_DATA, DIFFERS, NOT_RECOMPUTED = "holds without data", "differs", "not recomputed"
VERDICTS = (AGREES, CUT_OFF, WITHIN_CHANCE, WITHOUT_DATA, DIFFERS, NOT_RECOMPUTED)

# How many standard deviations a printed random draw may be from the mean.
MAX_DEVIATIONS = 2


class Chance(NamedTuple):
    """Mean and standard deviation of a value over random draws."""

    mean: float
    deviation: float


class Claim(NamedTuple):
    """What was recomputed for a printed statement such as "less than 70", and whether the statement is true."""

    value: float | str
    holds: bool


Value = float | str | Chance | Claim


@dataclass(frozen=True)
class Cell:
    """A printed figure, with the value recomputed for it (None if there is none), the verdict, and a reason or note."""

    row: str
    column: str
    printed: str
    value: Value | None
    verdict: str
    why: str = ""


def load_paper(corpus: str) -> dict:
    """Load the figures that a corpus's paper prints."""
    return json.loads(Path(__file__).with_name(f"{corpus}.json").read_text("utf-8"))


def load_rows(corpus: str, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the printed rows of a table."""
    return next(table["rows"] for table in load_paper(corpus)["tables"] if table["name"] == name)


def recompute(corpus: str) -> dict[str, list[Cell]]:
    """Recompute the figures of a paper; return the cells of each table."""
    values = import_module(f"papers.{corpus}").recompute()
    return {
        table["name"]: compare_table(table, values.get(table["name"], {}))
        for table in load_paper(corpus)["tables"]
    }


def compare_table(table: Mapping, values: Mapping[tuple[str, str], Value]) -> list[Cell]:
    """Compare the printed figures of a table with recomputed values; values that are not printed are left out."""
    cells = []
    for row, texts in table["rows"].items():
        for column, printed in texts.items():
            value = values.get((row, column))
            verdict = give_verdict(printed, value)
            if verdict == AGREES and find_clause(table, "without data", row, column):
                verdict = WITHOUT_DATA
            kind = {
                NOT_RECOMPUTED: "needs",
                DIFFERS: "differs",
                WITHOUT_DATA: "without data",
            }.get(verdict, "notes")
            why = find_clause(table, kind, row, column)
            cells.append(Cell(row, column, printed, value, verdict, why))
    return cells


def find_clause(table: Mapping, kind: str, row: str, column: str) -> str:
    """Return what a table says of a cell, its row, its column or all cells, the first of these that there is."""
    clauses = table.get(kind, {})
    for name in (f"{row} / {column}", row, column, ""):
        if name in clauses:
            return clauses[name]
    return ""


def give_verdict(printed: str, value: Value | None) -> str:
    """Compare a printed text with a recomputed value, a number within half a unit of the last printed digit."""
    if value is None:
        return NOT_RECOMPUTED
    if isinstance(value, Claim):
        return AGREES if value.holds else DIFFERS
    if isinstance(value, str):
        return AGREES if value == printed else DIFFERS
    number = parse_number(printed)
    if isinstance(value, Chance):
        is_near = abs(float(number) - value.mean) <= MAX_DEVIATIONS * value.deviation
        return WITHIN_CHANCE if is_near else DIFFERS
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    recomputed = Decimal(repr(float(value)))
    distance = abs(recomputed - number)
    # Halves may be rounded either way, and the last digits of a float are noise.
    if distance <= unit / 2 + Decimal("1e-9"):
        return AGREES
    is_cut_off = abs(recomputed) > abs(number) and distance < unit
    return CUT_OFF if is_cut_off else DIFFERS


def parse_number(printed: str) -> Decimal:
    """Return a printed number, such as 13,225."""
    try:
        return Decimal(printed.replace(",", ""))
    except InvalidOperation:
        message = f"{printed!r} is no number: compare it with a text or a claim"
        raise ValueError(message) from None


def format_like(printed: str, value: Value) -> str:
    """Format a recomputed value, numbers with one more digit than is printed."""
    if isinstance(value, Chance):
        mean, deviation = (format_like(printed, number) for number in value)
        return f"{mean} ± {deviation}"
    if isinstance(value, Claim):
        value = value.value
    if isinstance(value, str):
        return value
    try:
        number = parse_number(printed)
    except ValueError:
        number = Decimal(0)
    if value == int(value) and number == number.to_integral_value():
        return f"{value:,.0f}"
    digits = 1 - int(number.as_tuple().exponent)
    return f"{value:,.{digits}f}"
