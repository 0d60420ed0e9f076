"""Errors of a system's links: missing and spurious ones, confused prepositions, and where they are.

Conventions: a pair that only gold links is *missing*, one that only the system links is *spurious*, and one that both
link by different prepositions is *confused*.  Of several prepositions of a pair, those count that `score` counts: the
first that the system gives, and the one of gold that equals it, or else the last.  So the pairs that gold links are
those of `links/gold`: right, confused or missing; those that the system links are right, confused or spurious.
Triplets have all prepositions of a pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from closeread.counts.error_report import ErrorReport, Listing
from closeread.counts.report import Column, Report, make_slice_grid
from closeread.counts.table import CountTable
from closeread.records import Record
from closeread.tables import Grid
from closeread.tasks.tne.links import (
    LABELS,
    Pair,
    align_labels,
    list_links,
    sort_key,
)
from closeread.tasks.tne.phrases import PlacedPhrases
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE

KINDS = ("right", "missing", "spurious", "confused")
NOTE = "Missing: only gold links the pair; spurious: only the system; confused: both, by different prepositions."

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


@dataclass(frozen=True)
class ComparedPair:
    """A pair that gold, the system or both link.

    Attributes:
        document: the number of its document.
        pair: the ids of its noun phrases.
        label: the preposition of gold; None if gold does not link the pair.
        predicted: the preposition of the system, or None.
    """

    document: int
    pair: Pair
    label: str | None
    predicted: str | None

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        if self.label == self.predicted:
            return "right"
        if self.predicted is None:
            return "missing"
        return "spurious" if self.label is None else "confused"


@dataclass(frozen=True, eq=False)
class LinkAnalysis:
    """The documents that are scored, with the links of a system beside those of gold.

    Attributes:
        documents: the gold documents.
        rows: the system's rows for them.
        phrases: their noun phrases.
        pairs: the pairs that either side links, by document, anchor and complement.
    """

    documents: Sequence[Record]
    rows: Sequence[Record]
    phrases: Sequence[PlacedPhrases]
    pairs: Sequence[ComparedPair]

    def count(self) -> dict[str, int]:
        """Return the number of right pairs and of errors of each kind."""
        counts = Counter(pair.kind for pair in self.pairs)
        return {kind: counts[kind] for kind in KINDS}

    def list_confusions(self) -> list[Row]:
        """Return the confused prepositions, the most frequent confusion first, then in the order of prepositions.

        Their share is that of the pairs that gold links by that preposition and the system by any.
        """
        counts: Counter[tuple[str, str]] = Counter()
        n_linked: Counter[str] = Counter()
        for pair in self.pairs:
            if pair.label is not None and pair.predicted is not None:
                counts[pair.label, pair.predicted] += 1
                n_linked[pair.label] += 1
        rows: list[Row] = []
        for label, predicted in sorted(counts, key=lambda labels: tuple(map(LABELS.get, labels))):
            if label != predicted:
                n_pairs = counts[label, predicted]
                share = n_pairs / n_linked[label]
                rows.append(
                    {"gold": label, "predicted": predicted, "pairs": n_pairs, "share": share}
                )
        return sorted(rows, key=lambda row: -row["pairs"])

    def list_wordings(self, *, missed: bool) -> list[Row]:
        """Return the commonest wordings of the triplets that only gold has (missed), or only the system.

        Noun phrases are in lower case; beside them is how many such triplets there are, and in how many documents.
        """
        documents: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for number, (document, row) in enumerate(zip(self.documents, self.rows, strict=True)):
            gold = set(list_links(document["np_relations"]))
            system = set(list_links(row.get("relations") or ()))
            triplets = gold - system if missed else system - gold
            words = {
                name: " ".join(phrase["text"].lower().split())
                for name, phrase in self.phrases[number].items()
            }
            for (anchor, complement), label in sorted(triplets, key=_rank_triplet):
                documents[words[anchor], label, words[complement]].append(number)
        rows: list[Row] = []
        for (anchor, preposition, complement), numbers in documents.items():
            row = {"anchor": anchor, "preposition": preposition, "complement": complement}
            rows.append({**row, "triplets": len(numbers), "documents": len(set(numbers))})
        # Ties: in more documents first, then in the order of the texts.
        return sorted(rows, key=lambda row: (-row["triplets"], -row["documents"]))

    def list_links(self) -> Iterator[list[object]]:
        """Yield every wrong pair as a row, see `HEADER`, sorted by kind, document, anchor and complement."""
        for kind in KINDS[1:]:
            for pair in self.pairs:
                if pair.kind == kind:
                    yield self._describe_pair(pair)

    def _describe_pair(self, pair: ComparedPair) -> list[object]:
        phrases = self.phrases[pair.document]
        cells: list[object] = [pair.kind, self.documents[pair.document]["id"]]
        for name in pair.pair:
            cells += [name, phrases[name]["text"]]
        cells += [pair.label, pair.predicted, abs(phrases.measure_distance(*pair.pair))]
        return cells + [BREAKDOWNS[field].find(phrases, pair.pair, "") for field in FIELDS]


def _rank_triplet(triplet: tuple[Pair, str]) -> tuple[int, int, int]:
    pair, label = triplet
    return *sort_key(pair), LABELS[label]


def analyse_links(
    gold: Sequence[Record], system: Sequence[Record | None], table: CountTable
) -> LinkAnalysis:
    """Compare a system's links with gold's, in the documents whose counts the table has."""
    scored = set(table.units)
    documents: list[Record] = []
    rows = []
    pairs: list[ComparedPair] = []
    for document, row in zip(gold, system, strict=True):
        if document["id"] not in scored:
            continue
        row = row or {}
        aligned = align_labels(document["np_relations"], row.get("relations") or ())
        number = len(documents)
        pairs += [ComparedPair(number, *labels) for labels in aligned]
        documents.append(document)
        rows.append(row)
    return LinkAnalysis(documents, rows, list(map(PlacedPhrases, documents)), pairs)


def list_documents(table: CountTable) -> list[Row]:
    """Return the number of errors of the documents that have any, in all and of each kind, the most first.

    Each row also has the number of pairs that each side links, and F1 of labelled links, from 0 to 1.
    """
    metric = next(metric for metric in PROCEDURE.metrics if metric.name == "links/f1")
    scores = metric.score(table.values, table.names).tolist()
    rows: list[Row] = []
    for document, numbers, f1 in zip(table.units, table.values.tolist(), scores, strict=True):
        counts = dict(zip(table.names, map(int, numbers), strict=True))
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


def make_error_report(
    report: Report, analysis: LinkAnalysis, table: CountTable, limit: int
) -> ErrorReport:
    """Return the errors of links; tables list so many confusions, triplets and documents, JSON so many triplets."""
    confusions = Listing(
        "Most frequent confusions",
        analysis.list_confusions(),
        limit,
        "confusion",
        {"share": "% of gold"},
        notes=[
            "% of gold: the share of pairs with this gold preposition, linked by both, that were predicted so."
        ],
    )
    listings = {"confusions": confusions}
    for kind, missed in (("missed", True), ("spurious", False)):
        wordings = analysis.list_wordings(missed=missed)[:limit]
        title = f"Most frequent {kind} triplets"
        listings[kind] = Listing(title, wordings, limit, words=WORDS)
    listings["documents"] = Listing(
        "Documents with the most errors",
        list_documents(table),
        limit,
        "document",
        {"f1": "F1"},
        texts=frozenset({"document"}),
    )
    grids: list[Grid] = []
    for field in report.slices:
        grids += _make_field_grids(report, field)
    rows = list(analysis.list_links())
    return ErrorReport(report, "pairs", analysis.count(), listings, grids, HEADER, rows, NOTE)


def _make_field_grids(report: Report, field: str) -> Iterator[Grid]:
    """Yield the tables of a field: of labelled and of unlabelled links, or of the triplets of each preposition."""
    if field == "preposition":
        with_errors = replace(report, slices={field: _add_errors(report)})
        yield make_slice_grid(with_errors, field, "Triplets by preposition", TRIPLETS)
        return
    title = f"Links by {field}"
    if field in MEANINGS:
        title += f" ({MEANINGS[field]})"
    yield make_slice_grid(report, field, title, _list_columns("links"))
    title = f"Unlabelled links by {field}"
    yield make_slice_grid(report, field, title, _list_columns("unlabeled"))


def _add_errors(report: Report) -> dict[str, Any]:
    """Return the slices of prepositions with the numbers of missed and spurious triplets."""
    slices = {}
    for preposition, scores in report.slices["preposition"].items():
        counts = dict(scores.counts)
        counts[MISSED] = counts["triplets/gold"] - counts["triplets/right"]
        counts[SPURIOUS] = counts["triplets/system"] - counts["triplets/right"]
        slices[preposition] = replace(scores, counts=counts)
    return slices
