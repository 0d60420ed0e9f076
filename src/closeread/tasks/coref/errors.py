"""Errors of a response: split, merged, missing and spurious entities, missing and spurious mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.
A document is worse than another if it has more errors of the requested kinds; equally bad ones are in the order of the
file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any

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
from closeread.tasks.coref.metrics.matching import match_sides, without_repeats
from closeread.tasks.coref.metrics.overlap import Side, mention_codes
from closeread.tasks.coref.metrics.slices import FIELDS, require_fields, with_annotation
from closeread.tasks.coref.procedure import PROCEDURE

RIGHT = "right entity"
OF_ENTITIES = ("split entity", "merged entities", "missing entity", "spurious entity")
OF_MENTIONS = ("missing mention", "spurious mention")
KINDS = (*OF_ENTITIES, *OF_MENTIONS)
"""The kinds of errors."""


@dataclass(frozen=True)
class Finding:
    """An error, or a right entity.

    Attributes:
        kind: one of `KINDS`, or `RIGHT`.
        document: the number of its document.
        side: 0 if it is in the key, 1 in the response.
        pieces: the mentions of the entity, as rows of its side, grouped by their entity on the other side, with those
            that it lacks as a group; for an error in a mention, that mention.
        fields: the values of the fields of mentions that it has, by name.
    """

    kind: str
    document: int
    side: int
    pieces: Sequence[Sequence[int]]
    fields: Mapping[str, str]


@dataclass(frozen=True)
class ErrorAnalysis:
    """All errors of a response, and the entities that are identical on both sides.

    Attributes:
        tables: key and response.
        findings: the findings of each kind, those of `RIGHT` first, in the order of the file.
        document_fields: the fields of the documents by name, each (n_documents,).
        mention_fields: the names of the fields of mentions that both sides have.
    """

    tables: tuple[MentionTable, MentionTable]
    findings: Mapping[str, Sequence[Finding]]
    document_fields: Mapping[str, Sequence[str]]
    mention_fields: Sequence[str]

    @property
    def names(self) -> Sequence[str]:
        """The documents' names."""
        return self.tables[0].names

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
        kept = {kind: [one for one in some if one.document == number] for kind, some in self.findings.items()}
        return replace(self, findings=kept)

    def list_kinds(self, field: str) -> list[str]:
        """List the kinds of findings that have a field: all kinds, or only those of mentions."""
        of_mentions = field in FIELDS and not FIELDS[field].is_of_entities
        return [kind for kind in self.findings if kind in OF_MENTIONS or not of_mentions]

    def value(self, finding: Finding, field: str) -> str:
        """Return the value of a field; "" if the field is not one of such findings."""
        if field in self.document_fields:
            return self.document_fields[field][finding.document]
        return finding.fields.get(field, "")

    def count(self) -> dict[str, int]:
        """Count the findings of each kind."""
        return {kind: len(some) for kind, some in self.findings.items()}

    def count_documents(self, kinds: Iterable[str]) -> Counter[int]:
        """Count the errors of some kinds by the number of the document."""
        return Counter(one.document for kind in kinds for one in self.findings[kind])

    def rank_documents(self, kinds: Iterable[str]) -> list[int]:
        """Return the numbers of the documents, the worst first."""
        counts = self.count_documents(kinds)
        return sorted(range(len(self.names)), key=lambda number: -counts[number])


def find_errors(key: MentionTable, response: MentionTable, sides: tuple[Side, Side]) -> ErrorAnalysis:
    """Find the errors of a response.

    Args:
        key, response: the same documents in the same order.
        sides: the two as the metrics take them, with nothing dropped.
    """
    tables = (key, response)
    codes = [side.tolist() for side in mention_codes(*sides)]
    labels = _label_mentions(key), _label_mentions(with_annotation(response, key))
    shared_fields = [name for name in FIELDS if all(name in of_side for of_side in labels)]
    entity_of = [
        dict(zip(of_side, side.entity.tolist(), strict=True)) for of_side, side in zip(codes, sides, strict=True)
    ]
    sizes = [Counter(of_side.values()) for of_side in entity_of]
    findings: dict[str, list[Finding]] = {kind: [] for kind in (RIGHT, *KINDS)}

    def add(kind: str, side: int, pieces: Sequence[Sequence[int]]) -> None:
        row = pieces[0][0]
        known = {
            name: of[row] for name, of in labels[side].items() if kind in OF_MENTIONS or FIELDS[name].is_of_entities
        }
        findings[kind].append(Finding(kind, int(tables[side].document[row]), side, pieces, known))

    for i, (several, none, lacking) in enumerate(zip(OF_ENTITIES[:2], OF_ENTITIES[2:], OF_MENTIONS, strict=True)):
        entities: defaultdict[int, defaultdict[int | None, list[int]]] = defaultdict(lambda: defaultdict(list))
        for row, (entity, code) in enumerate(zip(sides[i].entity.tolist(), codes[i], strict=True)):
            there = entity_of[1 - i].get(code)
            entities[entity][there].append(row)
            if there is None:
                add(lacking, i, [[row]])
        for pieces in entities.values():
            places = pieces.keys() - {None}
            if len(places) > 1:
                add(several, i, list(pieces.values()))
            elif not places:
                add(none, i, list(pieces.values()))
            elif i == 0 and len(pieces) == 1 and sizes[1][places.pop()] == len(next(iter(pieces.values()))):
                add(RIGHT, i, list(pieces.values()))
    return ErrorAnalysis(tables, findings, list_fields(key), shared_fields)


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
    """A mention for display: its first and last token, and its words; None if the file has no text."""

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
        pieces: as in `Finding`.
        fields: the values of all fields, by name; None if the field is one of mentions and the error one of entities.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[Mention, ...], ...]
    fields: Mapping[str, str | None]


@dataclass(frozen=True)
class DocumentErrors:
    """The number of errors of a document: all, in entities, in mentions; and the fields of the document, by name."""

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
    rank = {number: i for i, number in enumerate(analysis.rank_documents(kinds))}
    for kind in kinds if only is None else (only,):
        # Findings come document by document, and reading the words of a document is slow.
        words = [table.words and lru_cache(maxsize=1)(table.words) for table in analysis.tables]
        for one in sorted(analysis.findings[kind], key=lambda finding: rank[finding.document]):
            table, read = analysis.tables[one.side], words[one.side]
            text = None if read is None else read(one.document)
            pieces = tuple(tuple(_describe_mention(table, row, text) for row in piece) for piece in one.pieces)
            fields = {field: analysis.value(one, field) or None for field in analysis.fields}
            yield CorefError(kind, table.names[one.document], table.label(one.pieces[0][0]), pieces, fields)


def _describe_mention(table: MentionTable, row: int, words: Sequence[str] | None) -> Mention:
    text = None
    if words is not None:
        text = " … ".join(" ".join(words[start : end + 1]) for start, end in table.parts_of(row))
    return Mention(int(table.start[row]), int(table.end[row]), text)


def list_documents(analysis: ErrorAnalysis, kinds: Sequence[str]) -> list[DocumentErrors]:
    """List the documents with errors of some kinds, the worst first."""
    entities, mentions = (
        analysis.count_documents(kind for kind in kinds if kind in group) for group in (OF_ENTITIES, OF_MENTIONS)
    )
    return [
        DocumentErrors(
            analysis.names[number],
            entities[number] + mentions[number],
            entities[number],
            mentions[number],
            {field: values[number] for field, values in analysis.document_fields.items()},
        )
        for number in analysis.rank_documents(kinds)
        if entities[number] + mentions[number]
    ]


def count_by_field(analysis: ErrorAnalysis, field: str, aliases: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Count the findings of each value of a field, by kind; only kinds that have the field."""
    if field not in analysis.fields:
        guess, known = suggest(field, analysis.fields, aliases), ", ".join(analysis.fields)
        raise RequestError(f"no field '{field}' to count errors by{guess and '.'}{guess} (choose from: {known})")
    counted = {
        kind: Counter(analysis.value(one, field) for one in analysis.findings[kind])
        for kind in analysis.list_kinds(field)
    }
    if field in FIELDS:
        values: Sequence[str] = [part for part in FIELDS[field].parts if any(part in of for of in counted.values())]
    else:
        values = list(dict.fromkeys(analysis.document_fields[field]))
    return {value: {kind: of[value] for kind, of in counted.items()} for value in values}


HEADER = ["error", "document", "entity", "mentions"]
LIMIT = 10
"""How many documents, and errors of each kind, tables list unless they are told otherwise."""


@dataclass(frozen=True, repr=False)
class ErrorReport(Result):
    """The errors of a response.

    Attributes:
        analysis: all errors.
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
