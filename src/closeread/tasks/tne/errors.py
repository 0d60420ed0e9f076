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
    N_LABELS,
    PREPOSITIONS,
    Documents,
    SystemRows,
    align_labels,
    document_of,
    phrases_of,
    split_triplets,
)
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE, find_ends, measure_distances

KINDS = ("missing", "spurious", "confused")
FIELDS = ("expressed", "direction", "sentence", "mention")
HEADER = (
    *(
        "error",
        "document",
        "anchor",
        "anchor_words",
        "complement",
        "complement_words",
        "gold",
        "predicted",
    ),
    *("distance", *FIELDS),
)
"""The columns of a wrong pair: its noun phrases with their words, the two prepositions, and the fields of the pair."""

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LinkAnalysis:
    """The links of a system beside those of gold."""

    documents: Documents  # the gold documents
    rows: SystemRows  # the system's rows for them
    table: CountTable  # the counts of the documents that are scored, which may lack some

    @cached_property
    def _aligned(self) -> list[Ints]:
        """The pairs that either side links, with the labels of gold and system, 0 where it does not link the pair."""
        aligned = align_labels(self.rows.links.labeled, self.documents.links.labeled)
        return [column[self._are_scored(aligned[0])] for column in aligned]

    def _are_scored(self, pair: Ints) -> Mask:
        """Return which pairs are in documents that are scored."""
        return np.isin(self.documents.column("id"), list(self.table.units))[document_of(pair)]

    @cached_property
    def _wrong(self) -> list[Ints]:
        """The places of the wrong pairs of each kind."""
        _, gold, predicted = self._aligned
        is_confused = (gold > 0) & (predicted > 0) & (gold != predicted)
        return [np.flatnonzero(mask) for mask in (predicted == 0, gold == 0, is_confused)]

    def count(self) -> dict[str, int]:
        """Return the number of right pairs and of errors of each kind."""
        _, gold, predicted = self._aligned
        return {
            "right": int((gold == predicted).sum()),
            **dict(zip(KINDS, map(len, self._wrong), strict=True)),
        }

    def list_confusions(self) -> list[Row]:
        """Return the confused prepositions, the most frequent confusion first.

        Their share is that of the pairs that gold links by that preposition and the system by any.
        """
        _, gold, predicted = self._aligned
        counts = np.bincount(gold * N_LABELS + predicted, minlength=N_LABELS**2).reshape(
            N_LABELS, N_LABELS
        )
        ranked = [
            (-counts[one, other], one, other) for one, other in zip(*counts.nonzero(), strict=True)
        ]
        return [
            {
                "gold": PREPOSITIONS[one],
                "predicted": PREPOSITIONS[other],
                "pairs": int(-n),
                "share": float(ratio(-n, counts[one, 1:].sum())),
            }
            for n, one, other in sorted(ranked)
            if one and other and one != other
        ]

    def list_wordings(self, limit: int, *, missed: bool) -> list[Row]:
        """Return the commonest wordings of the triplets that only gold has (missed), or only the system.

        Noun phrases are in lower case; beside them is how many such triplets there are, and in how many documents.
        """
        sides = self.documents.links.labeled.triplet, self.rows.links.labeled.triplet
        pair, label = split_triplets(
            np.setdiff1d(*(sides if missed else sides[::-1]), assume_unique=True)
        )
        columns = (*find_ends(self.documents, pair), label, document_of(pair))
        words = [" ".join(text.lower().split()) for text in self.documents.noun_phrases.text]
        found: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        kept = self._are_scored(pair)
        for anchor, complement, said, number in zip(
            *(column[kept].tolist() for column in columns), strict=True
        ):
            found[words[anchor], PREPOSITIONS[said], words[complement]].append(number)
        # Ties: in more documents first, then in the order of the texts.
        ranked = sorted(found.items(), key=lambda item: (-len(item[1]), -len(set(item[1]))))
        names = ("anchor", "preposition", "complement", "triplets", "documents")
        return [
            dict(zip(names, (*wording, len(n), len(set(n))), strict=True))
            for wording, n in ranked[:limit]
        ]

    def list_documents(self) -> list[Row]:
        """Return the number of errors of the documents that have any, in all and of each kind, the most first.

        Each row also has the number of pairs that each side links, and F1 of labelled links, from 0 to 1.
        """
        names, rows = self.table.names, []
        f1 = next(metric for metric in PROCEDURE.metrics if metric.name == "links/f1").score(
            self.table.values, names
        )
        counted = ("links/right", "links/system", "links/gold", "linked/system")
        columns = (
            self.table.values[:, [names.index(name) for name in counted]].astype(np.int64).tolist()
        )
        for name, (right, predicted, gold, linked), score in zip(
            self.table.units, columns, f1.tolist(), strict=True
        ):
            errors = {
                "missing": gold - linked,
                "spurious": predicted - linked,
                "confused": linked - right,
            }
            row = {"document": name, "errors": sum(errors.values()), **errors}
            rows.append({**row, "gold": gold, "predicted": predicted, "f1": score})
        return sorted((row for row in rows if row["errors"]), key=lambda row: -row["errors"])

    def list_links(self) -> Iterator[list[object]]:
        """Yield every wrong pair as a row, see `HEADER`, sorted by kind, document, anchor and complement."""
        places = np.concatenate(self._wrong)
        pair, gold, predicted = (column[places] for column in self._aligned)
        columns: list[Sequence[object]] = [
            np.repeat(KINDS, [len(of_kind) for of_kind in self._wrong]).tolist(),
            [self.documents[number]["id"] for number in document_of(pair).tolist()],
        ]
        for numbers, ends in zip(phrases_of(pair), find_ends(self.documents, pair), strict=True):
            columns.append([f"np{number}" for number in numbers.tolist()])
            columns.append([self.documents.noun_phrases.text[place] for place in ends.tolist()])
        columns += [
            [PREPOSITIONS[label] if label else None for label in side.tolist()]
            for side in (gold, predicted)
        ]
        columns.append(np.abs(measure_distances(self.documents, pair)).tolist())
        fields = (BREAKDOWNS[name] for name in FIELDS)
        columns += [
            [one.parts[part] for part in one.find(self.documents, pair, gold).tolist()]
            for one in fields
        ]
        yield from map(list, zip(*columns, strict=True))


SHOWN_WORDS = 40  # how many characters of a noun phrase tables show

MISSED, SPURIOUS = "triplets/missed", "triplets/spurious"

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
        *(
            Column(title, "score", f"{family}/{title.lower()}")
            for title in ("precision", "recall", "F1")
        ),
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
        return f"<LinkErrorReport: {', '.join(f'{kind} {number:,}' for kind, number in self.counts.items())}>"

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: scores, scores by each field, confusions, triplets, and documents."""
        total = replace(self.report, slices={})
        fields = [grid for field in self.report.slices for grid in self._make_field_grids(field)]
        note = "Missing: only gold links the pair; spurious: only the system; confused: both, by different prepositions."
        pairs = Grid(
            "", ["pairs", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()], [note]
        )
        return [report_grid(total, style), pairs, *fields, *self._list_grids()]

    def _make_field_grids(self, field: str) -> Iterator[Grid]:
        """Yield the tables of a field: of labelled and unlabelled links, or of the triplets of each preposition."""
        if field == "preposition":
            slices = {}
            for name, scores in self.report.slices[field].items():
                counts = scores.counts
                wrong = (
                    counts[f"triplets/{side}"] - counts["triplets/right"]
                    for side in ("gold", "system")
                )
                more = dict(zip((MISSED, SPURIOUS), wrong, strict=True))
                slices[name] = replace(scores, counts={**counts, **more})
            report = replace(self.report, slices={field: slices})
            yield make_slice_grid(report, field, "Triplets by preposition", TRIPLETS)
            return
        for what, family in (("Links", "links"), ("Unlabelled links", "unlabeled")):
            meaning = f" ({MEANINGS[field]})" if field in MEANINGS and family == "links" else ""
            yield make_slice_grid(
                self.report, field, f"{what} by {field}{meaning}", _list_columns(family)
            )

    def _list_grids(self) -> Iterator[Grid]:
        """Yield the tables of confusions, wordings and documents, as far as there are any."""

        def count_left(rows: list[Row], noun: str) -> list[str]:
            left = len(rows) - self.limit
            return [
                f"{pluralize(left, f'more {noun}')}: see {choose_words('--json', 'to_dict()')}."
            ] * (left > 0)

        if not self.limit:
            return
        if rows := self.analysis.list_confusions():
            meaning = "% of gold: the share of pairs with this gold preposition, linked by both, that were predicted so."
            header = ["gold", "predicted", "pairs", "% of gold"]
            cells = list(map(_format_row, rows[: self.limit]))
            yield Grid(
                "Most frequent confusions", header, cells, [meaning, *count_left(rows, "confusion")]
            )
        texts = frozenset({"anchor", "complement"})
        for title, missed in (("missed", True), ("spurious", False)):
            if rows := self.analysis.list_wordings(self.limit, missed=missed):
                cells = [
                    _format_row(row | {name: shorten(row[name], SHOWN_WORDS) for name in texts})
                    for row in rows
                ]
                yield Grid(
                    f"Most frequent {title} triplets",
                    list(rows[0]),
                    cells,
                    texts=texts,
                    prose=texts,
                )
        if rows := self.analysis.list_documents():
            header, cells = [*list(rows[0])[:-1], "F1"], list(map(_format_row, rows[: self.limit]))
            title, texts, notes = (
                "Documents with the most errors",
                frozenset({"document"}),
                count_left(rows, "document"),
            )
            yield Grid(title, header, cells, notes, texts=texts, labels=1)

    def _to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong pairs: missing, then spurious, then confused ones."""
        return HEADER, list(self.analysis.list_links())

    def to_dict(self) -> dict[str, Any]:
        """Return the report, and under `errors` the number of wrong pairs, confusions, triplets and documents."""
        found = {
            "pairs": self.counts,
            "confusions": self.analysis.list_confusions(),
            "missed": self.analysis.list_wordings(self.limit, missed=True),
            "spurious": self.analysis.list_wordings(self.limit, missed=False),
            "documents": self.analysis.list_documents(),
        }
        return {**self.report.to_dict(), "errors": found}


def _format_row(row: Row) -> list[str]:
    """Return the cells of a row: shares are from 0 to 1."""
    return [
        percent(v) if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else v
        for v in row.values()
    ]
