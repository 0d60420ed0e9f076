"""A paper's tables: the printed values (`reproduction.json` of its task), recomputed (`reproduction.py`).

Conventions: the data file has the paper as `source`, and `tables` in printed order.  A table has a `name` ("Table 2",
"Figure 4", "Text" for the running text), a `section`, a `caption` in our words, a `note` on it as a whole if there is
something to say, `columns`, and `rows`: from the name of a row to its cells by column, as printed.  A row of "Text" is
what the figure is, its column the section.  What there is to say of cells is in four objects, from the name of a cell
("row / column"), a row, a column or "" for the whole table to a clause: `notes`, `differs` (cells that are known to
differ, and why), `needs` (what it would take to recompute those that are not) and `without_data` (why cells agree
whatever the corpus files say).  The module has `RECOMPUTE`, from the names of tables to functions from `Inputs` to
their cells, and, if these use more than the corpus, `TAKES`: the names of the other inputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.printed_tables import (
    AGREES,
    DIFFERS,
    NOT_RECOMPUTED,
    WITHOUT_DATA,
    Cell,
    Chance,
    Claim,
    OwnModel,
    Table,
    Value,
    describe_verdicts,
    give_verdict,
)
from closeread.counts.results import Result
from closeread.exceptions import (
    RequestError,
    describe_unknown,
    fill_options,
    name_option,
)
from closeread.progress import report_progress
from closeread.records import DataDir
from closeread.tasks import find

if TYPE_CHECKING:
    from closeread.tables import Grid, Style

Recomputed = Mapping[tuple[str, str], Value]
T = TypeVar("T")


@dataclass(frozen=True)
class Inputs:
    """Where tables are recomputed from."""

    # a folder with the corpus's files; None to look in the usual places
    data_dir: DataDir | None = None
    # a checkout of the authors' repository, for other files that they released; or None
    upstream: Path | None = None
    annotations: Path | None = None  # a folder with annotators' files; or None
    articles: Path | None = None  # a folder with the texts of articles; or None
    spacy_model: str | None = None  # a spaCy pipeline for the baselines that need one; or None
    runs: Path | None = None  # a folder with runs of trained models; or None
    # Remarks of a table's function on its cells, by the name of the table.
    remarks: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    # Results that several tables need, by name (`once`).
    shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of a function, such as the records of a split, and keep it for the following tables."""
        if name not in self.shared:
            self.shared[name] = make()
        return cast(T, self.shared[name])


@dataclass(frozen=True, repr=False)
class Reproduction(Result, Sequence[Table]):
    """The tables of a paper, recomputed: a sequence of them that `print` shows as the command line does.

    Attributes:
        corpus: the name of the paper's corpus.
        tables: the tables, in printed order.

    >>> import closeread
    >>> print(closeread.reproduce("mctaco", "Table 1"))  # doctest: +SKIP
    """

    corpus: str
    tables: tuple[Table, ...]

    def __len__(self) -> int:
        return len(self.tables)

    @overload
    def __getitem__(self, place: int) -> Table: ...

    @overload
    def __getitem__(self, place: slice) -> Reproduction: ...

    def __getitem__(self, place: int | slice) -> Table | Reproduction:
        """Return a table by its number from 0, or several."""
        return (
            self.tables[place]
            if isinstance(place, int)
            else replace(self, tables=self.tables[place])
        )

    def __repr__(self) -> str:
        return f"<Reproduction of {self.corpus}: {describe_verdicts(self.tables)}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables without the cells that are not recomputed, and the number of cells by verdict."""
        from closeread.counts.printed_tables import make_table_grids

        del style
        return (
            list(make_table_grids(self.tables, missing=False, elsewhere="to_frame()"))
            if self.tables
            else []
        )

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each cell, with the printed text, the recomputed value and the verdict."""
        names = ["row", "column", "printed", "recomputed", "verdict", "why"]
        cells = ((table, cell) for table in self.tables for cell in table.cells)
        rows = [
            [self.corpus, table.name, *(getattr(cell, name) for name in names)]
            for table, cell in cells
        ]
        return ["corpus", "table", *names], rows

    def to_dict(self) -> list[dict[str, object]]:
        """Return the tables as JSON."""
        return [table.to_dict(self.corpus) for table in self.tables]


# from the inputs to the cells of a table that can be recomputed
Recompute = Callable[[Inputs], Recomputed]


def reproducible() -> list[str]:
    """Return the names of the corpora whose papers' tables can be recomputed."""
    return [corpus for corpus in corpus_names() if find(load_corpus(corpus).task, "reproduction")]


def load_printed(corpus: str) -> Mapping[str, Any]:
    """Load the printed tables of a corpus's paper from the data file."""
    folder = resources.files(_find_module(corpus).__name__.rpartition(".")[0])
    printed: Mapping[str, Any] = json.loads(folder.joinpath("reproduction.json").read_text("utf-8"))
    return printed


def reproduce(corpus: str, table: str | None = None, inputs: Inputs | None = None) -> Reproduction:
    """Recompute the tables of a corpus's paper, or one, by number or name ("1", "Table 1", "Text")."""
    module, printed = _find_module(corpus), load_printed(corpus)
    inputs = inputs or Inputs()
    for name in ("upstream", "annotations", "articles", "spacy_model", "runs"):
        if getattr(inputs, name) is not None and name not in getattr(module, "TAKES", ()):
            raise RequestError(
                f"the tables of {corpus} are not recomputed from {name_option(name)}"
            )
    recompute = cast(Mapping[str, Recompute], vars(module)["RECOMPUTE"])
    tables = printed["tables"]
    if table is not None:
        asked, names = table.casefold().removeprefix("table "), [one["name"] for one in tables]
        tables = [one for one in tables if one["name"].casefold().removeprefix("table ") == asked]
        if not tables:
            raise RequestError(describe_unknown("table", table, names))
    found = []
    inputs = replace(inputs, shared={}, remarks={})
    for number, one in enumerate(tables, 1):
        report_progress(f"{corpus}: table", number, len(tables))
        cells = recompute[one["name"]](inputs) if one["name"] in recompute else {}
        note = ". ".join(
            filter(None, (fill_options(one.get("note", "")), inputs.remarks.get(one["name"], "")))
        )
        about = (one["name"], one.get("section", ""), one["caption"], printed["source"], note)
        found.append(Table(*about, tuple(_compare(one, cells))))
    return Reproduction(corpus, tuple(found))


def _find_module(corpus: str) -> ModuleType:
    if corpus not in reproducible():
        raise RequestError(describe_unknown("corpus with a paper's tables", corpus, reproducible()))
    return cast(ModuleType, find(load_corpus(corpus).task, "reproduction"))


def _compare(printed: Mapping[str, Any], recomputed: Recomputed) -> Iterator[Cell]:
    """Yield the cells of a table: those that are printed, in order, and then those that are only recomputed."""
    rows, columns = printed["rows"], printed["columns"]
    unknown = [cell for cell in recomputed if cell[0] not in rows or cell[1] not in columns]
    if unknown:
        raise ValueError(f"{printed['name']} has no cell {unknown[0]}")
    for row, texts in rows.items():
        for column in columns:
            value, text = recomputed.get((row, column)), texts.get(column)
            if value is not None or column in texts:
                yield _make_cell(printed, (row, column), text, value)


def _make_cell(
    table: Mapping[str, Any], place: tuple[str, str], text: str | None, value: Value | None
) -> Cell:
    verdict = give_verdict(text, value)
    known = "needs" if value is None else {DIFFERS: "differs", AGREES: "without_data"}.get(verdict)
    reason = "" if known is None else _look_up(table.get(known, {}), place)
    if verdict == AGREES and reason:
        verdict = WITHOUT_DATA
    shown = (
        value.mean
        if isinstance(value, Chance)
        else value.value
        if isinstance(value, Claim | OwnModel)
        else value
    )
    notes = [reason]
    if isinstance(value, Chance):
        notes.append(f"mean of random draws, whose standard deviation is {value.deviation:.2g}")
    notes.append(_look_up(table.get("notes", {}), place))
    is_expected = verdict not in (DIFFERS, NOT_RECOMPUTED) or bool(reason)
    return Cell(*place, text, shown, verdict, "; ".join(filter(None, notes)), is_expected)


def _look_up(clauses: Mapping[str, str], place: tuple[str, str]) -> str:
    """Return the clause about a cell, its row, its column or the whole table, in this order of preference."""
    row, column = place
    found = next(
        (clauses[name] for name in (f"{row} / {column}", row, column, "") if name in clauses), ""
    )
    return fill_options(found)
