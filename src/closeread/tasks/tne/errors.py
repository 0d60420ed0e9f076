"""Errors of a system's links: missing and spurious ones, confused prepositions, and where they are.

Conventions: a pair that only gold links is *missing*, one that only the system links is *spurious*, and one that both
link by different prepositions is *confused*.  Of several prepositions of a pair, those count that `score` counts: the
first that the system gives, and the one of gold that equals it, or else the last.  So the pairs that gold links are
those of `links/gold`: right, confused or missing; those that the system links are right, confused or spurious.
Triplets have all prepositions of a pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Ints, ratio
from closeread.counts.estimates import Scores
from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.counts.table import CountTable, factorize
from closeread.exceptions import choose_words, pluralize, shorten
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.columns import PREPOSITIONS, Documents, SystemRows
from closeread.tasks.tne.kernels.links import (
    LABEL_BITS,
    N_LABELS,
    align_labels,
    document_of,
    labels_of,
    phrases_of,
)
from closeread.tasks.tne.procedure import EXPRESSED, PLACES, PROCEDURE, find_joined, measure_distances

KINDS = ("missing", "spurious", "confused")

Row = dict[str, Any]


class _Wrong(NamedTuple):
    """Wrong pairs: (n,) each; labels are 0 where a side does not link the pair."""

    kind: Ints
    pair: Ints
    gold: Ints
    predicted: Ints


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
    def _aligned(self) -> tuple[Ints, Ints, Ints]:
        """The pairs that either side links, with the labels of gold and system."""
        aligned = align_labels(self.rows.links.labelled, self.documents.links.labelled)
        kept = self._select(aligned[0])
        return aligned[0][kept], aligned[1][kept], aligned[2][kept]

    def _select(self, pair: Ints) -> Ints:
        """Return the positions of pairs in documents that are scored."""
        if len(self.table.units) == len(self.documents):
            return np.arange(len(pair))
        scored = set(self.table.units)
        is_scored = np.array([name in scored for name in self.documents.column("id")], np.bool_)
        return np.flatnonzero(is_scored[document_of(pair)])

    @cached_property
    def wrong(self) -> _Wrong:
        """The wrong pairs, sorted by kind, document, anchor and complement."""
        pair, gold, predicted = self._aligned
        places = [
            np.flatnonzero((gold > 0) & (predicted == 0)),
            np.flatnonzero((gold == 0) & (predicted > 0)),
            np.flatnonzero((gold > 0) & (predicted > 0) & (gold != predicted)),
        ]
        every = np.concatenate(places)
        kind = np.repeat(np.arange(len(KINDS)), [len(some) for some in places])
        return _Wrong(kind, pair[every], gold[every], predicted[every])

    def count(self) -> dict[str, int]:
        """Return the number of right pairs and of errors of each kind."""
        _, gold, predicted = self._aligned
        numbers = np.bincount(self.wrong.kind, minlength=len(KINDS)).tolist()
        return {"right": int(((gold == predicted) & (gold > 0)).sum()), **dict(zip(KINDS, numbers, strict=True))}

    def list_confusions(self) -> list[Row]:
        """Return the prepositions that are confused, the commonest confusion first."""
        _, gold, predicted = self._aligned
        linked = (gold > 0) & (predicted > 0)
        counts = np.bincount(gold[linked] * N_LABELS + predicted[linked], minlength=N_LABELS**2)
        counts = counts.reshape(N_LABELS, N_LABELS)
        of_gold = counts.sum(axis=1)
        apart = counts.copy()
        np.fill_diagonal(apart, 0)
        ranked = np.argsort(-apart.ravel(), kind="stable")[: np.count_nonzero(apart)]
        return [
            {
                "gold": PREPOSITIONS[one],
                "predicted": PREPOSITIONS[other],
                "pairs": int(n),
                "share": float(ratio(n, of_gold[one])),
            }
            for one, other in zip(*(part.tolist() for part in np.divmod(ranked, N_LABELS)), strict=True)
            if (n := apart[one, other])
        ]

    def list_wordings(self, limit: int, *, missed: bool) -> list[Row]:
        """Return the wordings of the triplets that only one side has, the commonest first."""
        gold, system = self.documents.links.labelled.triplet, self.rows.links.labelled.triplet
        only = np.setdiff1d(*((gold, system) if missed else (system, gold)), assume_unique=True)
        only = only[self._select(only >> LABEL_BITS)]
        if not len(only) or not limit:
            return []
        words, texts = factorize([" ".join(words.lower().split()) for words in self.documents.noun_phrases.text])
        pair, label = only >> LABEL_BITS, labels_of(only)
        document, starts = document_of(pair), self.documents.noun_phrases.starts
        anchor, complement = (words[starts[document] + phrase] for phrase in phrases_of(pair))
        wording = (anchor * len(texts) + complement) * N_LABELS + label
        _, first, number, times = np.unique(wording, return_index=True, return_inverse=True, return_counts=True)
        there = np.unique(number * len(self.documents) + document) // len(self.documents)
        documents = np.bincount(there, minlength=len(first))
        # Ties: in more documents first, then in the order of the texts.
        ranked = np.lexsort((first, -documents, -times))[:limit].tolist()
        return [
            {
                "anchor": texts[anchor[i]],
                "preposition": PREPOSITIONS[label[i]],
                "complement": texts[complement[i]],
                "triplets": int(times[place]),
                "documents": int(documents[place]),
            }
            for place, i in ((place, int(first[place])) for place in ranked)
        ]

    def list_documents(self) -> list[Row]:
        """Return the number of errors of the documents that have any, in all and of each kind, the most first.

        Each row also has the number of pairs that each side links, and F1 of labelled links, from 0 to 1.
        """
        names = self.table.names
        right, predicted, gold, linked = (
            self.table.values[:, names.index(name)].astype(np.int64)
            for name in ("links/right", "links/system", "links/gold", "linked/system")
        )
        missing, spurious, confused = gold - linked, predicted - linked, linked - right
        columns = {"errors": missing + spurious + confused, "missing": missing, "spurious": spurious}
        columns |= {"confused": confused, "gold": gold, "predicted": predicted}
        f1 = next(metric for metric in PROCEDURE.metrics if metric.name == "links/f1").score(self.table.values, names)
        return [
            {
                "document": self.table.units[i],
                **{name: int(column[i]) for name, column in columns.items()},
                "f1": float(f1[i]),
            }
            for i in np.argsort(-columns["errors"], kind="stable").tolist()
            if columns["errors"][i]
        ]

    def list_links(self) -> Iterator[list[object]]:
        """Yield every wrong pair as a row: see `HEADER`."""
        kind, pair, gold, predicted = self.wrong
        phrases, names = self.documents.noun_phrases, self.documents.column("id")
        document = document_of(pair)
        anchor, complement = phrases_of(pair)
        explicit = np.isin(pair, find_joined(np.unique(pair), self.documents))
        distance = np.abs(measure_distances(self.documents, pair))
        parts: Sequence[list[str]] = [
            [EXPRESSED[int(one)] for one in explicit],
            *([field.parts[i] for i in field.find(self.documents, pair).tolist()] for field in _FIELDS.values()),
        ]
        columns = (kind, document, anchor, complement, gold, predicted, distance, phrases.starts[document])
        for of_pair, values in zip(
            zip(*(column.tolist() for column in columns), strict=True), zip(*parts, strict=True), strict=True
        ):
            which, place, one, other, own, theirs, apart, start = of_pair
            words = [f"np{one}", phrases.text[start + one], f"np{other}", phrases.text[start + other]]
            labels = [PREPOSITIONS[label] if label else None for label in (own, theirs)]
            yield [KINDS[which], names[place], *words, *labels, apart, *values]


_FIELDS = {name: field for name, field in PLACES.items() if name != "distance"}
HEADER = (
    *("error", "document", "anchor", "anchor_words", "complement", "complement_words", "gold", "predicted"),
    *("distance", "expressed", *_FIELDS),
)
"""The columns of a wrong pair: its noun phrases with their words, the two prepositions, and the fields of the pair."""


LIMIT = 10
"""How many confusions, triplets and documents tables list unless they are told otherwise."""

SHOWN_WORDS = 40
"""How many characters of a noun phrase tables show."""

MISSED, SPURIOUS = "triplets/missed", "triplets/spurious"

MEANINGS: Mapping[str, str] = {
    "distance": "tokens from where the anchor begins to where the complement does",
    "direction": "where the complement begins, seen from the anchor",
    "sentence": "whether anchor and complement begin in the same one",
    "expressed": "whether a preposition joins the two in the text",
    "mention": "which one of its cluster the complement is",
}
"""What breakdowns are, where their names don't say it."""


def _list_columns(family: str) -> tuple[Column, ...]:
    """Return what tables show of labelled or unlabelled links."""
    return (
        Column("gold", "count", "links/gold"),
        Column("predicted", "count", "links/system"),
        *(Column(title, "score", f"{family}/{title.lower()}") for title in ("precision", "recall", "F1")),
        Column("", "interval", f"{family}/f1"),
    )


COLUMNS = {"Links": _list_columns("links"), "Unlabelled links": _list_columns("unlabeled")}
"""The tables of a field, and what they show."""

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
"""What the table of prepositions shows: each triplet of an anchor, a preposition and a complement counts once."""


@dataclass(frozen=True, repr=False)
class LinkErrorReport(Result):
    """The errors of a system's links.

    Attributes:
        report: the scores, with slices by each field, as `closeread.score` computes them.
        analysis: the links of both sides.
        limit: how many confusions, triplets and documents tables list, and how many triplets `to_json`.
    """

    report: Report
    analysis: LinkAnalysis
    limit: int = LIMIT

    @property
    def counts(self) -> dict[str, int]:
        """The number of right pairs, and of missing, spurious and confused ones."""
        return self.analysis.count()

    def __repr__(self) -> str:
        return f"<LinkErrorReport: {', '.join(f'{kind} {number:,}' for kind, number in self.counts.items())}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: scores, scores by each field, confusions, triplets, and documents."""
        total = replace(self.report, slices={})
        fields = [grid for field in self.report.slices for grid in self._make_field_grids(field)]
        note = (
            "Missing: only gold links the pair; spurious: only the system; confused: both, by different prepositions."
        )
        pairs = Grid("", ["pairs", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()], [note])
        return [report_grid(total, style), pairs, *fields, *self._list_grids()]

    def _make_field_grids(self, field: str) -> Iterator[Grid]:
        """Yield the tables of a field: of labelled and unlabelled links, or of the triplets of each preposition."""
        if field == "preposition":
            slices = {name: _count_wrong(scores) for name, scores in self.report.slices[field].items()}
            report = replace(self.report, slices={field: slices})
            yield make_slice_grid(report, field, "Triplets by preposition", TRIPLETS)
            return
        for number, (what, columns) in enumerate(COLUMNS.items()):
            meaning = f" ({MEANINGS[field]})" if field in MEANINGS and not number else ""
            yield make_slice_grid(self.report, field, f"{what} by {field}{meaning}", columns)

    def _list_grids(self) -> Iterator[Grid]:
        """Yield the tables of confusions, wordings and documents, as far as there are any."""
        confusions, documents = self.analysis.list_confusions(), self.analysis.list_documents()
        see = choose_words("--json", "to_json()")

        def count_left(noun: str, left: int) -> list[str]:
            return [f"{pluralize(left, f'more {noun}')}: see {see}."] if left > 0 else []

        if rows := list(map(_format_row, confusions[: self.limit])):
            meaning = "% of gold: of the pairs linked by both with this gold preposition, the share predicted so."
            notes = [meaning, *count_left("confusion", len(confusions) - self.limit)]
            yield Grid("Commonest confusions", ["gold", "predicted", "pairs", "% of gold"], rows, notes)
        words = ("anchor", "complement")
        for title, missed in (("missed", True), ("spurious", False)):
            found = self.analysis.list_wordings(self.limit, missed=missed)
            if rows := [_format_row(one | {name: shorten(one[name], SHOWN_WORDS) for name in words}) for one in found]:
                texts = frozenset(words)
                yield Grid(f"Commonest {title} triplets", list(found[0]), rows, texts=texts, prose=texts)
        if rows := list(map(_format_row, documents[: self.limit])):
            header = [*list(documents[0])[:-1], "F1"]
            notes = count_left("document", len(documents) - self.limit)
            texts = frozenset({"document"})
            yield Grid("Documents with the most errors", header, rows, notes, texts=texts, labels=1)

    def to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong pairs: missing, then spurious, then confused ones."""
        return HEADER, list(self.analysis.list_links())

    def to_json(self) -> dict[str, Any]:
        """Return the report, and under `errors` the number of wrong pairs, confusions, triplets and documents."""
        found = {
            "pairs": self.counts,
            "confusions": self.analysis.list_confusions(),
            "missed": self.analysis.list_wordings(self.limit, missed=True),
            "spurious": self.analysis.list_wordings(self.limit, missed=False),
            "documents": self.analysis.list_documents(),
        }
        return {**self.report.to_json(), "errors": found}


def _count_wrong(scores: Scores) -> Scores:
    """Return the scores with the numbers of missed and spurious triplets among the counts."""
    counts = scores.counts
    gold, system = (counts[f"triplets/{side}"] - counts["triplets/right"] for side in ("gold", "system"))
    return replace(scores, counts={**counts, MISSED: gold, SPURIOUS: system})


def _format_row(row: Row) -> list[str]:
    """Return the cells of a row: shares are from 0 to 1."""
    return [percent(v) if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else v for v in row.values()]
