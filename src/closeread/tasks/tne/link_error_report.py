"""The errors of a system's links as a result: scores by the place and the form of links, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from closeread.counts.estimates import Scores
from closeread.counts.report import Column, Report, make_slice_grid, report_grid
from closeread.counts.results import Result
from closeread.exceptions import pluralize, shorten
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.link_errors import HEADER, DocumentErrors, LinkAnalysis, Wording
from closeread.wording import choose_words

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
        return [report_grid(total, style), self._make_count_grid(), *fields, *self._list_grids()]

    def _make_count_grid(self) -> Grid:
        notes = [
            "Missing: only gold links the pair; spurious: only the system; confused: both, by different prepositions."
        ]
        return Grid("", ["pairs", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()], notes)

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
        confusions, documents = self.analysis.list_confusions(), self.analysis.list_documents()
        if confusions[: self.limit]:
            yield Grid(
                "Commonest confusions",
                ["gold", "predicted", "pairs", "% of gold"],
                [[one.gold, one.predicted, f"{one.pairs:,}", percent(one.share)] for one in confusions[: self.limit]],
                [
                    "% of gold: of the pairs linked by both with this gold preposition, the share predicted so.",
                    *_count_left("confusion", len(confusions) - self.limit, choose_words("--json", "to_json()")),
                ],
            )
        yield from _make_wording_grid("Commonest missed triplets", self.analysis.list_missed(self.limit))
        yield from _make_wording_grid("Commonest spurious triplets", self.analysis.list_spurious(self.limit))
        if documents[: self.limit]:
            rows = [_make_document_row(one) for one in documents[: self.limit]]
            left = _count_left("document", len(documents) - self.limit, choose_words("--json", "to_json()"))
            header = ["document", "errors", "missing", "spurious", "confused", "gold", "predicted", "F1"]
            yield Grid("Documents with the most errors", header, rows, left, texts=frozenset({"document"}), labels=1)

    def to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return header and rows of all wrong pairs: missing, then spurious, then confused ones."""
        return HEADER, list(self.analysis.list_links())

    def to_json(self) -> dict[str, Any]:
        """Return the report, and under `errors` the number of wrong pairs, confusions, triplets and documents."""
        found = {
            "pairs": self.counts,
            "confusions": [asdict(one) for one in self.analysis.list_confusions()],
            "missed": [asdict(one) for one in self.analysis.list_missed(self.limit)],
            "spurious": [asdict(one) for one in self.analysis.list_spurious(self.limit)],
            "documents": [asdict(one) for one in self.analysis.list_documents()],
        }
        return {**self.report.to_json(), "errors": found}


def _count_wrong(scores: Scores) -> Scores:
    """Return the scores with the numbers of missed and spurious triplets among the counts."""
    counts = scores.counts
    gold, system = (counts[f"triplets/{side}"] - counts["triplets/right"] for side in ("gold", "system"))
    return replace(scores, counts={**counts, MISSED: gold, SPURIOUS: system})


def _make_wording_grid(title: str, wordings: Sequence[Wording]) -> Iterator[Grid]:
    """Yield a table of triplets of the same words, if there are any."""
    rows = [
        [
            shorten(one.anchor, SHOWN_WORDS),
            one.preposition,
            shorten(one.complement, SHOWN_WORDS),
            f"{one.triplets:,}",
            f"{one.documents:,}",
        ]
        for one in wordings
    ]
    header = ["anchor", "preposition", "complement", "triplets", "documents"]
    if rows:
        words = frozenset({"anchor", "complement"})
        yield Grid(title, header, rows, texts=words, prose=words)


def _make_document_row(one: DocumentErrors) -> list[str]:
    numbers = (one.errors, one.missing, one.spurious, one.confused, one.gold, one.predicted)
    return [one.document, *(f"{n:,}" for n in numbers), percent(one.f1)]


def _count_left(noun: str, left: int, where: str) -> list[str]:
    """Return the note that there is more than a table lists, if so."""
    return [f"{pluralize(left, f'more {noun}')}: see {where}."] if left > 0 else []
