"""Errors of a response: split, merged, missing and spurious entities, missing and spurious mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.
A document is worse than another if it has more errors of the requested kinds; equally bad ones are in the order of the
file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.counts.procedure import Options
from closeread.counts.results import Result
from closeread.exceptions import (
    RequestError,
    choose_words,
    describe_unknown,
    join_names,
    name_option,
    pluralize,
    quote,
    shorten,
    suggest,
)
from closeread.tables import Grid, Style
from closeread.tasks.coref.document_fields import list_fields
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.matching import match_sides, without_repeats
from closeread.tasks.coref.metrics.overlap import Side, match_rows, mention_codes
from closeread.tasks.coref.metrics.slices import FIELDS, require_fields, with_annotation
from closeread.tasks.coref.procedure import PROCEDURE

RIGHT = "right entity"
OF_ENTITIES = ("split entity", "merged entities", "missing entity", "spurious entity")
OF_MENTIONS = ("missing mention", "spurious mention")
KINDS = (*OF_ENTITIES, *OF_MENTIONS)
"""The kinds of errors."""

NOWHERE = -1


@dataclass(frozen=True)
class Findings:
    """The entities or mentions of a side that are of one kind.

    Attributes:
        kind: one of `KINDS`, or `RIGHT`.
        table: their side.
        rows: (n_findings,) the mention, or the first row of the entity.
        fields: the fields of mentions that they have: by name, the value of every row of the side.
        there: (n_rows,) the entity of every row of the side on the other side, or `NOWHERE`.
    """

    kind: str
    table: MentionTable
    rows: Ints
    fields: Mapping[str, Sequence[str]]
    there: Ints

    @property
    def documents(self) -> Ints:
        """The document of each, (n_findings,)."""
        return self.table.document[self.rows]

    def select(self, mask: Mask) -> Findings:
        """Return the findings where the mask is true."""
        return Findings(self.kind, self.table, self.rows[mask], self.fields, self.there)


@dataclass(frozen=True)
class ErrorAnalysis:
    """All errors of a response, and the entities that are identical on both sides.

    Attributes:
        findings: the findings of `RIGHT` and then of every kind in `KINDS`, each in the order of the file.
        names: the documents' names.
        document_fields: the fields of the documents by name, each (n_documents,).
        mention_fields: the names of the fields of mentions that both sides have.
    """

    findings: Mapping[str, Findings]
    names: Sequence[str]
    document_fields: Mapping[str, Sequence[str]]
    mention_fields: Sequence[str]

    @property
    def fields(self) -> list[str]:
        """The names of all fields."""
        return [*self.document_fields, *self.mention_fields]

    def select_document(self, name: str) -> ErrorAnalysis:
        """Return the findings of one document."""
        if name not in self.names:
            guess = suggest(name, self.names)
            names = join_names(self.names)
            raise RequestError(f"no document {quote(name)} in the key{guess and '.'}{guess} (the key has {names})")
        number = list(self.names).index(name)
        found = {kind: some.select(some.documents == number) for kind, some in self.findings.items()}
        return ErrorAnalysis(found, self.names, self.document_fields, self.mention_fields)

    def list_kinds(self, field: str) -> list[str]:
        """List the kinds of findings that have a field: all kinds, or only those of mentions."""
        of_mentions = field in FIELDS and not FIELDS[field].is_of_entities
        return [kind for kind in self.findings if kind in OF_MENTIONS or not of_mentions]

    def values(self, kind: str, field: str) -> list[str]:
        """Return the value of a field for every finding of a kind; "" if the field is not one of such findings."""
        some = self.findings[kind]
        if field in self.document_fields:
            column = self.document_fields[field]
            return [column[number] for number in some.documents.tolist()]
        labels = some.fields.get(field)
        return [""] * len(some.rows) if labels is None else [labels[row] for row in some.rows.tolist()]

    def count(self) -> dict[str, int]:
        """Count the findings of each kind."""
        return {kind: len(some.rows) for kind, some in self.findings.items()}

    def count_documents(self, kinds: Iterable[str]) -> Ints:
        """Count the errors of some kinds in every document, (n_documents,)."""
        counts = np.zeros(len(self.names), np.int64)
        for kind in kinds:
            counts += np.bincount(self.findings[kind].documents, minlength=len(self.names))
        return counts


def find_errors(key: MentionTable, response: MentionTable, sides: tuple[Side, Side]) -> ErrorAnalysis:
    """Find the errors of a response.

    Args:
        key, response: the same documents in the same order.
        sides: the two as the metrics take them, with nothing dropped (`closeread.tasks.coref.matching.match_sides`).
    """
    own, other = sides
    key_row, response_row = match_rows(*mention_codes(*sides))
    there = (
        _find_there(own, key_row, other.entity[response_row]),
        _find_there(other, response_row, own.entity[key_row]),
    )
    labels = _label_mentions(key), _label_mentions(with_annotation(response, key))
    entities = [_sort_entities(side, its) for side, its in zip(sides, there, strict=True)]
    pairs = np.column_stack([own.entity[key_row], other.entity[response_row]])
    found = {
        RIGHT: (0, _find_right(sides, pairs)),
        "split entity": (0, entities[0][0]),
        "merged entities": (1, entities[1][0]),
        "missing entity": (0, entities[0][1]),
        "spurious entity": (1, entities[1][1]),
        "missing mention": (0, np.flatnonzero(there[0] == NOWHERE)),
        "spurious mention": (1, np.flatnonzero(there[1] == NOWHERE)),
    }
    findings = {}
    for kind, (side, rows) in found.items():
        fields = {name: of for name, of in labels[side].items() if kind in OF_MENTIONS or FIELDS[name].is_of_entities}
        findings[kind] = Findings(kind, (key, response)[side], rows, fields, there[side])
    return ErrorAnalysis(
        findings, key.names, list_fields(key), [name for name in FIELDS if all(name in of for of in labels)]
    )


def _find_there(side: Side, row: Ints, entity: Ints) -> Ints:
    """Return the entity of every row on the other side, or `NOWHERE`."""
    there = np.full(len(side.entity), NOWHERE)
    there[row] = entity
    return there


def _sort_entities(side: Side, there: Ints) -> tuple[Ints, Ints]:
    """Find the entities that are in several entities of the other side, and those in none; their first rows."""
    found = there != NOWHERE
    cells = np.unique(np.column_stack([side.entity[found], there[found]]), axis=0)[:, 0]
    parts = np.bincount(cells, minlength=side.n_entities)
    entities, first = np.unique(side.entity, return_index=True)
    return first[parts[entities] > 1], first[parts[entities] == 0]


def _find_right(sides: tuple[Side, Side], pairs: Ints) -> Ints:
    """Find the entities that are identical on both sides; their first rows in the key."""
    cells, shared = np.unique(pairs, axis=0, return_counts=True)
    whole = [np.bincount(side.entity, minlength=1)[cells[:, i]] == shared for i, side in enumerate(sides)]
    right = cells[whole[0] & whole[1], 0]
    entities, first = np.unique(sides[0].entity, return_index=True)
    return np.sort(first[np.isin(entities, right)])


def _label_mentions(table: MentionTable) -> dict[str, list[str]]:
    """Return the value of every field of mentions for every row, by field; without fields that the side lacks."""
    if not len(table.entity):
        return {name: [] for name in FIELDS}
    return {
        name: [field.parts[number] for number in field.number(table).tolist()]
        for name, field in FIELDS.items()
        if not field.lacks(table)
    }


@dataclass(frozen=True)
class Mention:
    """A mention for display.

    Attributes:
        start, end: its first and last token.
        text: its words; None if the file has no text.
    """

    start: int
    end: int
    text: str | None


@dataclass(frozen=True)
class CorefError:
    """One error.

    Attributes:
        kind: its kind.
        document: the document's name.
        entity: the entity's id in its file, or else its number in the document, from 0.
        pieces: the mentions of the entity, grouped by their entity on the other side, with those that it lacks as a
            group; for an error in a mention, that mention.
        fields: the values of all fields, by name; None if the field is one of mentions and the error one of entities.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[Mention, ...], ...]
    fields: Mapping[str, str | None]


@dataclass(frozen=True)
class DocumentErrors:
    """The number of errors of a document.

    Attributes:
        document: the document's name.
        errors, entity_errors, mention_errors: the number of errors: all, in entities, in mentions.
        fields: the values of the fields of the document, by name.
    """

    document: str
    errors: int
    entity_errors: int
    mention_errors: int
    fields: Mapping[str, str]


def list_errors(analysis: ErrorAnalysis, kinds: Sequence[str], only: str | None = None) -> Iterator[CorefError]:
    """List the errors of some kinds, kind by kind, the worst documents first.

    Args:
        analysis: the errors.
        kinds: the kinds that make a document bad.
        only: the kind to list; None for all of them.
    """
    rank = np.empty(len(analysis.names), np.int64)
    rank[_rank_documents(analysis, kinds)] = np.arange(len(analysis.names))
    for kind in kinds if only is None else (only,):
        some = analysis.findings[kind]
        values = {field: analysis.values(kind, field) for field in analysis.fields}
        for i, error in _describe(some, np.argsort(rank[some.documents], kind="stable")):
            fields = {field: of[i] or None for field, of in values.items()}
            yield CorefError(kind, *error, fields)


def list_documents(analysis: ErrorAnalysis, kinds: Sequence[str]) -> list[DocumentErrors]:
    """List the documents with errors of some kinds, the worst first."""
    entities, mentions = (
        analysis.count_documents([kind for kind in kinds if kind in group]) for group in (OF_ENTITIES, OF_MENTIONS)
    )
    return [
        DocumentErrors(
            analysis.names[number],
            int(entities[number] + mentions[number]),
            int(entities[number]),
            int(mentions[number]),
            {field: values[number] for field, values in analysis.document_fields.items()},
        )
        for number in _rank_documents(analysis, kinds).tolist()
        if entities[number] + mentions[number]
    ]


def count_by_field(analysis: ErrorAnalysis, field: str, aliases: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Count the findings of each value of a field, by kind; only kinds that have the field."""
    if field not in analysis.fields:
        guess, known = suggest(field, analysis.fields, aliases), ", ".join(analysis.fields)
        raise RequestError(f"no field '{field}' to count errors by{guess and '.'}{guess} (choose from: {known})")
    kinds = analysis.list_kinds(field)
    counted = {kind: Counter(analysis.values(kind, field)) for kind in kinds}
    if field in FIELDS:
        values: Sequence[str] = [part for part in FIELDS[field].parts if any(part in of for of in counted.values())]
    else:
        values = list(dict.fromkeys(analysis.document_fields[field]))
    return {value: {kind: counted[kind][value] for kind in kinds} for value in values}


def _rank_documents(analysis: ErrorAnalysis, kinds: Sequence[str]) -> Ints:
    """Return the documents, the worst first."""
    return np.argsort(-analysis.count_documents(kinds), kind="stable")


def _describe(some: Findings, order: Ints) -> Iterator[tuple[int, tuple[str, str, tuple[tuple[Mention, ...], ...]]]]:
    """Yield some findings in an order: the index of each, and the first fields of its `CorefError`."""
    table = some.table
    size = np.bincount(table.entity, minlength=1)
    # Findings come document by document, and reading the words of a document is slow.
    words = lru_cache(maxsize=1)(table.words) if table.words is not None else None

    def mention(document: int, row: int) -> Mention:
        start, end = int(table.start[row]), int(table.end[row])
        if words is None:
            return Mention(start, end, None)
        parts = table.parts_of(row)
        return Mention(start, end, " … ".join(" ".join(words(document)[a : b + 1]) for a, b in parts))

    for i in order.tolist():
        first = int(some.rows[i])
        document = int(table.document[first])
        n = int(size[table.entity[first]]) if some.kind in OF_ENTITIES else 1
        groups: dict[int, list[Mention]] = {}
        for row, place in enumerate(some.there[first : first + n].tolist(), start=first):
            groups.setdefault(place, []).append(mention(document, row))
        yield i, (table.names[document], table.label(first), tuple(map(tuple, groups.values())))


HEADER = ["error", "document", "entity", "mentions"]
LIMIT = 10
"""How many documents, and errors of each kind, tables list unless they are told otherwise."""


@dataclass(frozen=True, repr=False)
class ErrorReport(Result):
    """The errors of a response.

    Attributes:
        analysis: the errors as arrays.
        kinds: the kinds that are listed.
        slices: the number of errors by field, value and kind.
        notices: what else a user should know about both sides, one sentence each.
        limit: how many documents, and errors of each kind, tables list.
        document: the only document; None for all.
    """

    analysis: ErrorAnalysis
    kinds: Sequence[str]
    slices: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    notices: Sequence[str] = ()
    limit: int = LIMIT
    document: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of errors of every kind, and of right entities."""
        return self.analysis.count()

    @property
    def documents(self) -> list[DocumentErrors]:
        """The documents with errors of these kinds, the worst first."""
        return list_documents(self.analysis, self.kinds)

    @property
    def errors(self) -> list[CorefError]:
        """The errors of these kinds, kind by kind, the worst documents first."""
        return list(list_errors(self.analysis, self.kinds))

    def __repr__(self) -> str:
        return f"<ErrorReport: {', '.join(f'{kind} {number:,}' for kind, number in self.counts.items())}>"

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: counts, counts by field, the worst documents, and their errors."""
        del style
        grids = [Grid("", ["", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()])]
        for name, of in self.slices.items():
            grids += _make_slice_grids(name, of)
        if self.document is None and len(self.analysis.names) > 1:
            grids += _make_document_grids(self.documents, self.limit)
        return [*grids, *_make_error_grids(self.analysis, self.kinds, self.limit)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all errors of these kinds."""
        rows: list[list[object]] = [[*_make_row(one), *one.fields.values()] for one in self.errors]
        return [*HEADER, *self.analysis.fields], rows

    def to_json(self) -> dict[str, Any]:
        """Return counts, documents and errors as JSON."""
        by_field = {"slices": self.slices} if self.slices else {}
        documents, errors = ([asdict(one) for one in some] for some in (self.documents, self.errors))
        return {"counts": self.counts, **by_field, "documents": documents, "errors": errors}


def check_options(options: Mapping[str, object], kinds: Sequence[str] = ()) -> None:
    """Check options and kinds before anything is read."""
    for kind in kinds:
        if kind not in KINDS:
            raise RequestError(describe_unknown("kind of error", kind, list(KINDS)))
    if options.get("duplicates") == "reference":
        advice = f"use {name_option('duplicates', 'first')}"
        raise RequestError(f"an error analysis needs every mention in one entity; {advice}")


def count_errors(
    key: MentionTable,
    response: MentionTable,
    options: Options,
    *,
    kinds: Sequence[str] = (),
    document: str | None = None,
    by: Sequence[str] = (),
) -> ErrorReport:
    """Find the errors of a response.

    Args:
        key, response: the two sides, aligned.
        options: all options of the procedure with their values.
        kinds: the kinds to list; none for all.
        document: the only document to count and list; None for all.
        by: also count errors for each value of these fields.
    """
    check_options(options, kinds)
    own, other = (without_repeats(side) for side in (key, response))
    require_fields(own, other, options, [name for name in by if name in FIELDS])
    matching, zeros = options["matching"], options["zeros"]
    if zeros == "exclude":
        own, other = (table.select(~find_zeros(table)) for table in (own, other))
    analysis = find_errors(own, other, match_sides(own, other, matching=matching, zeros=zeros).sides)
    if document is not None:
        analysis = analysis.select_document(document)
    slices = {name: count_by_field(analysis, name, PROCEDURE.aliases) for name in by}
    wanted = [kind for kind in KINDS if not kinds or kind in kinds]
    return ErrorReport(analysis, wanted, slices, document=document)


def _make_slice_grids(field: str, counted: Mapping[str, Mapping[str, int]]) -> Iterator[Grid]:
    """Yield the table of errors in entities by a field, if the field is one of entities, and that of mentions."""
    for title, group in (("Entities", (RIGHT, *OF_ENTITIES)), ("Mentions", OF_MENTIONS)):
        rows = [
            [value, *(f"{of[kind]:,}" for kind in group)] for value, of in counted.items() if of.keys() >= set(group)
        ]
        if rows:
            yield Grid(f"{title} by {field}", [field, *(kind.rpartition(" ")[0] for kind in group)], rows)


def _make_document_grids(documents: Sequence[DocumentErrors], limit: int) -> Iterator[Grid]:
    """Yield the table of the worst documents, if there are any to list."""
    rows = [
        [one.document, *(f"{n:,}" for n in (one.entity_errors, one.mention_errors, one.errors))]
        for one in documents[:limit]
    ]
    left = len(documents) - len(rows)
    where = choose_words("--limit and --json", "to_json()")
    notes = [f"{pluralize(left, 'more document')} with errors: see {where}."] if left else []
    if rows:
        yield Grid("Documents with the most errors", ["document", "in entities", "in mentions", "errors"], rows, notes)


def _make_error_grids(analysis: ErrorAnalysis, kinds: Sequence[str], limit: int) -> Iterator[Grid]:
    """Yield the table of the errors of the worst documents, if there are any to list."""

    rows = [_make_row(error) for kind in kinds for error in islice(list_errors(analysis, kinds, only=kind), limit)]
    left = sum(analysis.count()[kind] for kind in kinds) - len(rows)
    where = choose_words("--limit, --json and --format csv", "to_frame()")
    notes = ["A bar separates mentions that the other side has in different entities or not at all."]
    notes += [f"{pluralize(left, 'more error')}: see {where}."] if left else []
    if rows:
        yield Grid("", HEADER, rows, notes, prose=frozenset({"mentions"}))


def _make_row(error: CorefError) -> list[str]:
    pieces = (", ".join(map(_format_mention, piece)) for piece in error.pieces)
    return [error.kind, error.document, error.entity, " | ".join(pieces)]


def _format_mention(mention: Mention) -> str:

    place = f"{mention.start}-{mention.end}"
    return place if mention.text is None else f"{shorten(mention.text, 60)} [{place}]"
