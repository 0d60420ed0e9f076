"""Errors of a system's links: missing and spurious ones, confused prepositions, and where they are.

Conventions: a pair that only gold links is *missing*, one that only the system links is *spurious*, and one that both
link by different prepositions is *confused*.  Of several prepositions of a pair, those count that `score` counts: the
first that the system gives, and the one of gold that equals it, or else the last.  So the pairs that gold links are
those of `links/gold`: right, confused or missing; those that the system links are right, confused or spurious.
Triplets have all prepositions of a pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from closeread.arrays import Ints, Mask, ratio
from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.counts.table import CountTable
from closeread.exceptions import choose_words, pluralize, shorten
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.columns import (
    NO_LINK,
    PREPOSITIONS,
    Documents,
    SystemRows,
    align_labels,
    count_labels,
    document_of,
    phrases_of,
    split_triplets,
)
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE, find_ends, measure_distances

FIELDS = ("expressed", "direction", "sentence", "mention")

HEADER = (
    "error",
    "document",
    "anchor",
    "anchor_words",
    "complement",
    "complement_words",
    "gold",
    "predicted",
    "distance",
    *FIELDS,
)
"""The columns of a wrong pair: its noun phrases with their words, the two prepositions, and the fields of the pair."""

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LinkAnalysis:
    """The links of a system beside those of gold.

    Attributes:
        documents: the gold documents.
        rows: the system's rows for them.
        table: the counts of the documents that are scored, which may lack some.
    """

    documents: Documents
    rows: SystemRows
    table: CountTable

    @cached_property
    def _aligned(self) -> list[Ints]:
        """The pairs that either side links, with the labels of gold and system, 0 where it does not link the pair."""
        columns = align_labels(self.rows.links.labeled, self.documents.links.labeled)
        is_scored = self._are_scored(columns[0])
        return [column[is_scored] for column in columns]

    def _are_scored(self, pair: Ints) -> Mask:
        """Return which pairs are in documents that are scored."""
        return np.isin(self.documents.column("id"), list(self.table.units))[document_of(pair)]

    @cached_property
    def _wrong(self) -> dict[str, Ints]:
        """The places of the wrong pairs of each kind."""
        _, gold, predicted = self._aligned
        is_confused = (gold != NO_LINK) & (predicted != NO_LINK) & (gold != predicted)
        return {
            "missing": np.flatnonzero(predicted == NO_LINK),
            "spurious": np.flatnonzero(gold == NO_LINK),
            "confused": np.flatnonzero(is_confused),
        }

    def count(self) -> dict[str, int]:
        """Return the number of right pairs and of errors of each kind."""
        _, gold, predicted = self._aligned
        errors = {kind: len(places) for kind, places in self._wrong.items()}
        return {"right": int((gold == predicted).sum()), **errors}

    def list_confusions(self) -> list[Row]:
        """Return the confused prepositions, the most frequent confusion first.

        Their share is that of the pairs that gold links by that preposition and the system by any.
        """
        _, gold, predicted = self._aligned
        counts = count_labels(gold, predicted)
        rows: list[Row] = []
        for label, other in np.argwhere(counts).tolist():
            if NO_LINK in (label, other) or label == other:
                continue
            n_pairs = counts[label, other]
            n_linked = counts[label].sum() - counts[label, NO_LINK]
            row = {"gold": PREPOSITIONS[label], "predicted": PREPOSITIONS[other]}
            rows.append({**row, "pairs": int(n_pairs), "share": float(ratio(n_pairs, n_linked))})
        return sorted(rows, key=lambda row: -row["pairs"])

    def list_wordings(self, limit: int, *, missed: bool) -> list[Row]:
        """Return the commonest wordings of the triplets that only gold has (missed), or only the system.

        Noun phrases are in lower case; beside them is how many such triplets there are, and in how many documents.
        """
        gold = self.documents.links.labeled.triplet
        system = self.rows.links.labeled.triplet
        sides = (gold, system) if missed else (system, gold)
        triplet = np.setdiff1d(*sides, assume_unique=True)
        pair, _ = split_triplets(triplet)
        pair, label = split_triplets(triplet[self._are_scored(pair)])
        words = [" ".join(text.lower().split()) for text in self.documents.noun_phrases.text]
        documents: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        columns = (*find_ends(self.documents, pair), label, document_of(pair))
        lists = [column.tolist() for column in columns]
        for anchor, complement, preposition, document in zip(*lists, strict=True):
            wording = words[anchor], PREPOSITIONS[preposition], words[complement]
            documents[wording].append(document)
        rows: list[Row] = []
        for (anchor, preposition, complement), numbers in documents.items():
            row = {"anchor": anchor, "preposition": preposition, "complement": complement}
            rows.append({**row, "triplets": len(numbers), "documents": len(set(numbers))})
        # Ties: in more documents first, then in the order of the texts.
        return sorted(rows, key=lambda row: (-row["triplets"], -row["documents"]))[:limit]

    def list_documents(self) -> list[Row]:
        """Return the number of errors of the documents that have any, in all and of each kind, the most first.

        Each row also has the number of pairs that each side links, and F1 of labelled links, from 0 to 1.
        """
        names = self.table.names
        values = self.table.values
        metric = next(metric for metric in PROCEDURE.metrics if metric.name == "links/f1")
        scores = metric.score(values, names).tolist()
        rows: list[Row] = []
        for document, numbers, f1 in zip(self.table.units, values.tolist(), scores, strict=True):
            counts = dict(zip(names, map(int, numbers), strict=True))
            gold = counts["links/gold"]
            predicted = counts["links/system"]
            linked = counts["linked/system"]
            errors = {
                "missing": gold - linked,
                "spurious": predicted - linked,
                "confused": linked - counts["links/right"],
            }
            n_errors = sum(errors.values())
            if n_errors > 0:
                row = {"document": document, "errors": n_errors, **errors}
                rows.append({**row, "gold": gold, "predicted": predicted, "f1": f1})
        return sorted(rows, key=lambda row: -row["errors"])

    def list_links(self) -> Iterator[list[object]]:
        """Yield every wrong pair as a row, see `HEADER`, sorted by kind, document, anchor and complement."""
        kinds: list[str] = []
        for kind, places in self._wrong.items():
            kinds += [kind] * len(places)
        wrong = np.concatenate(list(self._wrong.values()))
        pair, gold, predicted = (column[wrong] for column in self._aligned)
        documents = [self.documents[number]["id"] for number in document_of(pair).tolist()]
        columns: list[Sequence[object]] = [kinds, documents]
        words = self.documents.noun_phrases.text
        for numbers, places in zip(phrases_of(pair), find_ends(self.documents, pair), strict=True):
            columns.append([f"np{number}" for number in numbers.tolist()])
            columns.append([words[place] for place in places.tolist()])
        columns += map(_name_labels, (gold, predicted))
        columns.append(np.abs(measure_distances(self.documents, pair)).tolist())
        for name in FIELDS:
            field = BREAKDOWNS[name]
            parts = field.find(self.documents, pair, gold)
            columns.append([field.parts[part] for part in parts.tolist()])
        yield from map(list, zip(*columns, strict=True))


MAX_WORDS_SHOWN = 40
"""How many characters of a noun phrase tables show."""

WORDS = frozenset({"anchor", "complement"})
"""The columns of tables of wordings that hold words of the texts."""

MISSED = "triplets/missed"
SPURIOUS = "triplets/spurious"

MEANINGS: Mapping[str, str] = {
    "distance": "tokens from where the anchor begins to where the complement does",
    "direction": "whether the complement begins before or after the anchor",
    "sentence": "whether anchor and complement begin in the same sentence",
    "expressed": "whether a preposition joins the two in the text",
    "mention": "the place of the complement in its cluster",
}
"""The meanings of breakdowns whose names don't say it."""


def _list_columns(family: str) -> tuple[Column, ...]:
    """Return the columns of tables of labelled or unlabelled links."""
    return (
        Column("gold", "count", "links/gold"),
        Column("predicted", "count", "links/system"),
        Column("precision", "score", f"{family}/precision"),
        Column("recall", "score", f"{family}/recall"),
        Column("F1", "score", f"{family}/f1"),
        Column("", "interval", f"{family}/f1"),
    )


TRIPLETS = (
    Column("gold", "count", "triplets/gold"),
    Column("missed", "count", MISSED),
    Column("predicted", "count", "triplets/system"),
    Column("spurious", "count", SPURIOUS),
    Column("precision", "score", "triplets/precision"),
    Column("recall", "score", "triplets/recall"),
    Column("F1", "score", "triplets/f1"),
    Column("", "interval", "triplets/f1"),
)
"""The columns of the table of prepositions, where each triplet of anchor, preposition and complement counts once."""


@dataclass(frozen=True, repr=False)
class LinkErrorReport(Result):
    """The errors of a system's links.

    Attributes:
        report: the scores, with slices by each field, as `closeread.score` computes them.
        analysis: the links of both sides.
        limit: how many confusions, triplets and documents tables list, and how many triplets `to_dict`.
    """

    report: Report
    analysis: LinkAnalysis
    limit: int = 10

    @property
    def counts(self) -> dict[str, int]:
        """The number of right pairs, and of missing, spurious and confused ones."""
        return self.analysis.count()

    def __repr__(self) -> str:
        counts = [f"{kind} {number:,}" for kind, number in self.counts.items()]
        return f"<LinkErrorReport: {', '.join(counts)}>"

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: scores, scores by each field, confusions, triplets, and documents."""
        note = "Missing: only gold links the pair; spurious: only the system; confused: both, by different prepositions."
        counts = [[kind, f"{number:,}"] for kind, number in self.counts.items()]
        grids = [
            report_grid(replace(self.report, slices={}), style),
            Grid("", ["pairs", "number"], counts, [note]),
        ]
        for field in self.report.slices:
            if field == "preposition":
                grids.append(self._make_preposition_grid())
            else:
                grids += self._make_field_grids(field)
        if self.limit > 0:
            grids += self._list_grids()
        return grids

    def _make_preposition_grid(self) -> Grid:
        """Return the table of the triplets of each preposition."""
        slices = {}
        for preposition, scores in self.report.slices["preposition"].items():
            counts = dict(scores.counts)
            counts[MISSED] = counts["triplets/gold"] - counts["triplets/right"]
            counts[SPURIOUS] = counts["triplets/system"] - counts["triplets/right"]
            slices[preposition] = replace(scores, counts=counts)
        report = replace(self.report, slices={"preposition": slices})
        return make_slice_grid(report, "preposition", "Triplets by preposition", TRIPLETS)

    def _make_field_grids(self, field: str) -> Iterator[Grid]:
        """Yield the tables of a field: of labelled and of unlabelled links."""
        title = f"Links by {field}"
        if field in MEANINGS:
            title += f" ({MEANINGS[field]})"
        yield make_slice_grid(self.report, field, title, _list_columns("links"))
        title = f"Unlabelled links by {field}"
        yield make_slice_grid(self.report, field, title, _list_columns("unlabeled"))

    def _list_grids(self) -> Iterator[Grid]:
        """Yield the tables of confusions, wordings and documents, as far as there are any."""
        confusions = self.analysis.list_confusions()
        if confusions:
            meaning = "% of gold: the share of pairs with this gold preposition, linked by both, that were predicted so."
            header = ["gold", "predicted", "pairs", "% of gold"]
            rows = list(map(_format_row, confusions[: self.limit]))
            notes = [meaning, *self._describe_omitted(confusions, "confusion")]
            yield Grid("Most frequent confusions", header, rows, notes)
        yield from self._make_wording_grids("missed", is_missed=True)
        yield from self._make_wording_grids("spurious", is_missed=False)
        documents = self.analysis.list_documents()
        if documents:
            yield Grid(
                "Documents with the most errors",
                [*list(documents[0])[:-1], "F1"],
                list(map(_format_row, documents[: self.limit])),
                self._describe_omitted(documents, "document"),
                texts=frozenset({"document"}),
                labels=1,
            )

    def _make_wording_grids(self, kind: str, *, is_missed: bool) -> Iterator[Grid]:
        """Yield the table of the wordings of missed or spurious triplets if there are any."""
        wordings = self.analysis.list_wordings(self.limit, missed=is_missed)
        if not wordings:
            return
        rows = []
        for wording in wordings:
            shortened = {name: shorten(wording[name], MAX_WORDS_SHOWN) for name in WORDS}
            rows.append(_format_row(wording | shortened))
        title = f"Most frequent {kind} triplets"
        yield Grid(title, list(wordings[0]), rows, texts=WORDS, prose=WORDS)

    def _describe_omitted(self, rows: Sequence[Row], noun: str) -> list[str]:
        """Say how many rows a table omits, and where they are; nothing if it has all."""
        n_omitted = len(rows) - self.limit
        if n_omitted <= 0:
            return []
        where = choose_words("--json", "to_dict()")
        return [f"{pluralize(n_omitted, f'more {noun}')}: see {where}."]

    def _to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong pairs: missing, then spurious, then confused ones."""
        return HEADER, list(self.analysis.list_links())

    def to_dict(self) -> dict[str, Any]:
        """Return the report, and under `errors` the number of wrong pairs, confusions, triplets and documents."""
        errors = {
            "pairs": self.counts,
            "confusions": self.analysis.list_confusions(),
            "missed": self.analysis.list_wordings(self.limit, missed=True),
            "spurious": self.analysis.list_wordings(self.limit, missed=False),
            "documents": self.analysis.list_documents(),
        }
        return {**self.report.to_dict(), "errors": errors}


def _name_labels(labels: Ints) -> list[str | None]:
    """Return the prepositions of labels, None for no link."""
    return [None if label == NO_LINK else PREPOSITIONS[label] for label in labels.tolist()]


def _format_row(row: Row) -> list[str]:
    """Return the cells of a row: shares are from 0 to 1."""
    return list(map(_format_cell, row.values()))


def _format_cell(value: object) -> str:
    if isinstance(value, float):
        return percent(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
