"""Figures of records, by the module `records` of a task, as printed by `closeread info --stats` and in papers' tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from closeread.corpus.gold import (
    available_splits,
    describe_skipped_splits,
    read_gold,
    select,
)
from closeread.corpus.names import load_corpus
from closeread.counts.results import Result
from closeread.exceptions import RequestError
from closeread.progress import track
from closeread.records import NO_FILES, Record, UserFiles
from closeread.tables import Grid, Style, Whole, format_number
from closeread.tasks import find

Facts = Callable[[Sequence[Record]], dict[str, float]]
"""Maps records to figures by name."""


def load_facts(corpus: str, definition: str = "document") -> Facts:
    """Return the function `facts` of a task's module `records`, or `NAME_facts` for records other than documents."""
    module = find(load_corpus(corpus).task, "records")
    if not hasattr(module, "facts"):
        raise RequestError(f"{corpus} has no statistics")
    facts = getattr(module, "facts" if definition == "document" else f"{definition}_facts", None)
    if facts is None:
        raise RequestError(f"{corpus} has no statistics for configs without gold annotation")
    return cast(Facts, facts)


@dataclass(frozen=True)
class Statistics(Result):
    """The figures of a config of a corpus, or of files; `print` shows them as the command line does.

    Attributes:
        corpus: the name of the corpus; of files, that of the procedure that scores them.
        config: the name of the config; empty for files.
        splits: split, union or file -> figure -> value; with several also "all".
        notices: what a user should know about the files, one sentence each.
    """

    corpus: str
    config: str
    splits: Mapping[str, Mapping[str, float]]
    notices: Sequence[str] = ()

    @property
    def figures(self) -> list[str]:
        """The names of the figures of all splits, in order."""
        return list(dict.fromkeys(figure for values in self.splits.values() for figure in values))

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table, with a column for each split."""
        del style
        if not self.config:
            return [self._list_files()]
        rows = [[figure, *map(format_number, values)] for figure, *values in self._rows]
        title = f"{load_corpus(self.corpus).title} ({self.config})"
        return [Grid(title, ["figure", *self.splits], rows, prose=frozenset({"figure"}))]

    def _list_files(self) -> Grid:
        """Return a table with a row for each file, of which there may be many."""
        rows: list[list[str]] = []
        for file, values in self.splits.items():
            rows.append([Whole(file), *(format_number(values.get(name)) for name in self.figures)])
        return Grid("", ["file", *self.figures], rows)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each figure, with a column for each split."""
        return ["figure", *self.splits], self._rows

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by split."""
        splits = {split: dict(figures) for split, figures in self.splits.items()}
        return {"corpus": self.corpus, "config": self.config, "splits": splits}

    @property
    def _rows(self) -> list[list[Any]]:
        return [
            [figure, *(values.get(figure) for values in self.splits.values())]
            for figure in self.figures
        ]


def count_corpus(corpus: str, config: str | None = None, files: UserFiles = NO_FILES) -> Statistics:
    """Count the records of all available splits of a config, or the default one, and of their unions."""
    declaration = load_corpus(corpus)
    name, _ = select(declaration, config, None)
    declared = declaration.configs[name]
    if declared.flattens:
        raise RequestError(f"config {name} of {corpus} has no statistics; choose another config")
    facts = load_facts(declaration.name, declared.definition)
    # With no split available, reading one reports the missing files.
    available = available_splits(declaration, name, files) or declared.splits
    notices = [] if files else describe_skipped_splits(declaration, name)
    records_by_split: dict[str, Sequence[Record]] = {}
    all_records: list[Record] = []
    n_single_splits = 0
    for split in track(available, "splits read:", len(available)):
        gold = read_gold(declaration, name, split, files)
        records_by_split[split] = gold.records
        # Unions of splits hold no other records.
        if split in declared.splits:
            n_single_splits += 1
            all_records += gold.records
            notices += [f"split {split}: {notice}" for notice in gold.notices]
    if n_single_splits > 1:
        records_by_split["all"] = all_records
    figures = {split: facts(records) for split, records in records_by_split.items()}
    return Statistics(declaration.name, name, figures, notices)
