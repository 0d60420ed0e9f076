"""What a response makes of each mention: right, missing, in a wrong entity, or spurious; and how two systems differ.

Conventions: entities are aligned as CEAFe maps them (Luo 2005), and a mention is in a wrong entity if its entity is not
aligned with that of the key's mention.  Rows are mentions, entities are numbered from 0 over all documents, and both are
those of `errors.prepare_sides`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.counts.procedure import Options
from closeread.counts.results import Result
from closeread.tables import Grid, Style
from closeread.tasks.coref.documents import Documents, Mention
from closeread.tasks.coref.errors import find_document, prepare_sides, show_mention
from closeread.tasks.coref.metrics.entity import align_entities
from closeread.tasks.coref.metrics.matching import make_sides, match_sides
from closeread.tasks.coref.metrics.overlap import (
    KEY,
    RESPONSE,
    compare_entities,
    match_rows,
    mention_codes,
)
from closeread.tasks.coref.spans import Span

MISSING = "missing mention"
SPURIOUS = "spurious mention"
WRONG = "wrong entity"
VERDICTS = (WRONG, MISSING, SPURIOUS)

NONE = -1


class Fault(NamedTuple):
    """A mention that a system does not get right.

    Attributes:
        document: the number of its document.
        spans: its tokens.
        kind: what is wrong, one of `VERDICTS`.
    """

    document: int
    spans: tuple[Span, ...]
    kind: str


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts on the mentions of a response.

    Attributes:
        key, response: both sides.
        aligned: the key's entity of each entity of the response; `NONE` if it is aligned with none.
        matched: the key's mention of each mention of the response; `NONE` if it is spurious.
    """

    key: Documents
    response: Documents
    aligned: Ints
    matched: Ints

    def list_aligned(self, number: int) -> list[int]:
        """Return the key's entity of each entity of the response in a document, where both are numbered from 0."""
        first_of_key, _ = self._entity_borders[KEY][number]
        first, end = self._entity_borders[RESPONSE][number]
        return _number(self.aligned[first:end], first_of_key)

    def list_matched(self, number: int) -> list[int] | None:
        """Return the key's mention of each mention in a document, likewise; None if these have the same tokens."""
        if self._is_by_spans:
            return None
        first_of_key = np.searchsorted(self.key.columns.document, number)
        first, end = np.searchsorted(self.response.columns.document, [number, number + 1])
        return _number(self.matched[first:end], int(first_of_key))

    @cached_property
    def _entity_borders(self) -> list[list[tuple[int, int]]]:
        """The first entity of each document, and the one after its last, of both sides."""
        borders = []
        for side in (self.key, self.response):
            sizes = [len(document.entities) for document in side.documents]
            borders.append(list(pairwise(accumulate(sizes, initial=0))))
        return borders

    @cached_property
    def _is_by_spans(self) -> bool:
        """Whether the mentions that match are those of the same tokens."""
        sides = make_sides(self.key, self.response)
        key_rows, response_rows = match_rows(*mention_codes(*sides))
        matched = np.full(len(self.matched), NONE)
        matched[response_rows] = key_rows
        return bool(np.array_equal(matched, self.matched))

    def list_faults(self) -> list[Fault]:
        """Return all mentions that are missing, in a wrong entity or spurious."""
        kinds = np.full(len(self.key.columns.start), MISSING, dtype=object)
        is_common = self.matched != NONE
        rows = self.matched[is_common]
        expected = self.key.columns.entity[rows]
        is_right = self.aligned[self.response.columns.entity[is_common]] == expected
        kinds[rows] = np.where(is_right, "", WRONG)
        response_kinds = np.where(is_common, "", SPURIOUS).astype(object)
        return [
            *_select_faults(self.key, kinds),
            *_select_faults(self.response, response_kinds),
        ]


def _select_faults(documents: Documents, kinds: Any) -> Iterator[Fault]:
    """Yield the mentions of which something is wrong; the kinds are empty for the others."""
    mentions = documents.list_mentions()
    numbers = documents.columns.document.tolist()
    for row in np.flatnonzero(kinds != "").tolist():
        yield Fault(numbers[row], mentions[row].runs, kinds[row])


def _number(places: Ints, first: int) -> list[int]:
    """Return places counted from the first of a document; `NONE` stays."""
    numbers: list[int] = np.where(places == NONE, NONE, places - first).tolist()
    return numbers


def judge_mentions(key: Documents, response: Documents, options: Options) -> Verdicts:
    """Align the entities of both sides, and match their mentions."""
    key_side, response_side = match_sides(
        key, response, matching=options["matching"], zeros=options["zeros"]
    ).sides
    overlap = compare_entities(key_side, response_side, len(key))
    is_aligned = align_entities(overlap)
    # The last entities may have no mentions.
    aligned = np.full(sum(len(document.entities) for document in response.documents), NONE)
    aligned[overlap.entities[RESPONSE][is_aligned]] = overlap.entities[KEY][is_aligned]
    matched = np.full(len(response_side.mention), NONE)
    key_rows, rows = match_rows(*mention_codes(key_side, response_side))
    matched[rows] = key_rows
    return Verdicts(key, response, aligned, matched)


class Difference(NamedTuple):
    """What a second system repairs of the errors of the first, what it adds, and what it shares."""

    repaired: list[Fault]
    added: list[Fault]
    shared: list[Fault]

    def count_faults(self) -> dict[str, int]:
        """Return how many mentions each has."""
        return {name: len(faults) for name, faults in self._asdict().items()}


def compare_faults(first: list[Fault], second: list[Fault]) -> Difference:
    """Compare two systems by the mentions that they don't get right, whatever is wrong with them."""
    places_of_first = {fault[:2] for fault in first}
    places_of_second = {fault[:2] for fault in second}
    return Difference(
        [fault for fault in first if fault[:2] not in places_of_second],
        [fault for fault in second if fault[:2] not in places_of_first],
        [fault for fault in second if fault[:2] in places_of_first],
    )


def compare_errors(
    key: Documents,
    responses: Sequence[Documents],
    options: Options,
    *,
    kinds: Collection[str] = (),
    document: str | None = None,
    limit: int = 10,
) -> ErrorComparison:
    """Compare two responses by the mentions that they don't get right.

    Args:
        key, responses: the sides, aligned; documents that the key lacks are not compared.
        options: all options of the procedure with their values.
        kinds: the kinds to count and list; none for all.
        document: the only document to count and list; None for all.
        limit: how many mentions of each kind tables list.
    """
    number = None if document is None else find_document(document, key.names)
    faults = []
    for response in responses:
        key_side, response_side = prepare_sides(key, response, options)
        faults.append(judge_mentions(key_side, response_side, options).list_faults())
    difference = compare_faults(*faults)
    selected = Difference([], [], [])
    for of_all, listed in zip(difference, selected, strict=True):
        for fault in of_all:
            is_of_kind = not kinds or fault.kind in kinds
            is_in_document = number is None or fault.document == number
            if is_of_kind and is_in_document:
                listed.append(fault)
    return ErrorComparison(key, selected, limit)


def _count_kind(faults: list[Fault], kind: str) -> str:
    return f"{sum(fault.kind == kind for fault in faults):,}"


@dataclass(frozen=True, eq=False, repr=False)
class ErrorComparison(Result):
    """The mentions that two systems don't get right, compared.

    Attributes:
        key: the documents.
        difference: what the second system repairs, adds and shares.
        limit: how many mentions of each kind tables list.
    """

    key: Documents
    difference: Difference
    limit: int = 10

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the numbers of mentions by kind, and the mentions that are repaired and added."""
        del style
        by_name = self.difference._asdict()
        rows = []
        for kind in VERDICTS:
            numbers = [_count_kind(faults, kind) for faults in by_name.values()]
            rows.append([kind, *numbers])
        grids = [Grid("What the second system makes of errors", ["", *by_name], rows)]
        for title in ("repaired", "added"):
            faults = by_name[title]
            if faults:
                listed = list(map(self._describe, faults[: self.limit]))
                grids.append(Grid(title.capitalize(), ["error", "document", "mention"], listed))
        return grids

    def _describe(self, fault: Fault) -> list[str]:
        """Return the kind, the document, and the mention in its context."""
        document = self.key.documents[fault.document]
        spans = fault.spans
        subspans = spans if len(spans) > 1 else ()
        mention = Mention(spans[0][0], spans[-1][1], subspans=subspans)
        text = show_mention(mention, document.words.read()).show_context()
        return [fault.kind, document.name, text]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all mentions."""
        rows: list[list[object]] = []
        for effect, faults in self.difference._asdict().items():
            rows += [[effect, *self._describe(fault)] for fault in faults]
        return ["second system", "error", "document", "mention"], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, and all mentions with their documents."""
        header, rows = self._to_rows()
        errors = [dict(zip(header, row, strict=True)) for row in rows]
        return {"counts": self.difference.count_faults(), "errors": errors}
