"""A paper's tables: the published values (`reproduction.json` of its task), recomputed (`reproduction.py`).

Conventions: a cell is named by its row and column as printed.  Recomputed values have the printed unit.  Two values
agree if they differ by no more than the table's tolerance, which is stated with it.  In the data files, null means no
cell, and "-" a cell that is recomputed but has no published value; notes are keyed by ROW/COLUMN, or by the name of a
row or column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from closeread.corpora.gold import corpus_names, load_corpus
from closeread.counts.paper_tables import Cell, Table
from closeread.errors import RequestError, describe_unknown
from closeread.records import DataDir
from closeread.tasks import find

UNRECORDED = "-"

Recomputed = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Inputs:
    """Where tables are recomputed from.

    Attributes:
        data_dir: a folder with the corpus's files; None to look in the usual places.
        upstream: a checkout of the authors' repository, for other files that they released; or None.
        annotations: a folder with annotators' files; or None.
    """

    data_dir: DataDir | None = None
    upstream: Path | None = None
    annotations: Path | None = None


Recompute = Callable[[Inputs], Recomputed]
"""From the inputs to the cells of a table that can be recomputed."""


def reproducible() -> list[str]:
    """Return the names of the corpora whose papers' tables can be recomputed."""
    return [corpus for corpus in corpus_names() if find(load_corpus(corpus).task, "reproduction")]


def reproduce(corpus: str, table: str | None = None, inputs: Inputs | None = None) -> list[Table]:
    """Recompute the tables of a corpus's paper.

    Args:
        corpus: its name.
        table: one table, by number or name ("1", "Table 1"); None for all.
        inputs: where to recompute from; None to look in the usual places.

    Raises:
        RequestError: there is no such corpus or table; an InputError if the corpus's files are missing or invalid.
    """
    if corpus not in reproducible():
        raise RequestError(describe_unknown("corpus with a paper's tables", corpus, reproducible()))
    module = cast(ModuleType, find(load_corpus(corpus).task, "reproduction"))
    folder = resources.files(module.__name__.rpartition(".")[0])
    printed = json.loads(folder.joinpath("reproduction.json").read_text("utf-8"))
    names = list(printed["tables"])
    wanted = names if table is None else [_find_table(table, names)]
    recompute = cast(Mapping[str, Recompute], vars(module)["RECOMPUTE"])
    return [
        _compare(name, printed["source"], printed["tables"][name], recompute[name](inputs or Inputs()))
        for name in wanted
    ]


def _find_table(table: str, names: Sequence[str]) -> str:
    asked = table.casefold().removeprefix("table ")
    for name in names:  # such as "Table 3", "Tables 1 and 2" or "Figure 4"
        known = name.casefold()
        if asked in (known, *known.removeprefix("tables ").removeprefix("table ").split(" and ")):
            return name
    raise RequestError(describe_unknown("table", table, names))


def _compare(name: str, source: str, printed: Mapping[str, Any], recomputed: Recomputed) -> Table:
    tolerance = float(printed["tolerance"])
    cells = []
    for row, values in printed["rows"].items():
        for column, value in zip(printed["columns"], values, strict=True):
            if value is None:
                continue
            ours = recomputed.get((row, column))
            notes = (printed["needs"], printed["notes"]) if ours is None else (printed["notes"],)
            why = next((note[name] for note in notes for name in (f"{row}/{column}", row, column) if name in note), "")
            stated = None if value == UNRECORDED else value
            # The float nearest to a printed 0.1 differs from it slightly.
            agrees = None if ours is None or stated is None else abs(ours - stated) <= tolerance + 1e-9
            cells.append(Cell(row, column, stated, ours, why, agrees))
    return Table(name, printed["caption"], source, printed["tolerance_because"], tuple(cells))
