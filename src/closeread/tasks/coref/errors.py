"""Errors of a response: wrong entities and mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.  A document is worse than another if it has more errors of the requested
kinds, or if its main score is lower; equally bad ones are in the order of the file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from closeread.counts.estimates import number_or_none
from closeread.counts.procedure import Options
from closeread.counts.report import drop_part
from closeread.counts.results import Result
from closeread.exceptions import (
    RequestError,
    choose_words,
    describe_unknown,
    join_names,
    pluralize,
    quote,
    shorten,
    suggest,
)
from closeread.tables import NOTHING, Grid, Style, percent
from closeread.tasks.coref.document_fields import list_fields
from closeread.tasks.coref.documents import Documents, Words
from closeread.tasks.coref.empty_nodes import adopt_nodes, find_zeros
from closeread.tasks.coref.mention_table import MentionTable, Parts
from closeread.tasks.coref.metrics.matching import (
    match_sides,
    without_repeats,
    without_singletons,
)
from closeread.tasks.coref.metrics.overlap import mention_codes
from closeread.tasks.coref.metrics.slices import FIELDS, require_fields, with_annotation
from closeread.tasks.coref.procedure import PROCEDURE

RIGHT = "right entity"
OF_ENTITIES = ("split entity", "merged entities", "missing entity", "spurious entity")
OF_MENTIONS = ("missing mention", "spurious mention")
KINDS = (*OF_ENTITIES, *OF_MENTIONS)
HEADER = ["error", "document", "entity", "mentions"]
SHOWN = 5
"""How many mentions of each group of an error a table lists, and how many groups."""

WORDS_OF_CONTEXT = 4
"""How many words a table shows on each side of a mention."""

SORTS = {
    "errors": "Documents with the most errors",
    "score": "Documents with the lowest scores",
    "name": "Documents with errors",
}
"""The orders of documents, with what a table of the first is called."""


class Finding(NamedTuple):
    """An error, or a right entity."""

    kind: str
    document: int  # its number
    side: int  # 0 if it is in the key, 1 in the response
    # The mentions of the entity, as rows of its side, grouped by their entity on the other side, with those that it
    # lacks as a group; for an error in a mention, that mention.
    pieces: Sequence[Sequence[int]]
    # Of each group, a mention of its entity on the other side, as a row there; None if that side lacks the mentions.
    others: Sequence[int | None] = (None,)


@dataclass(frozen=True)
class Mention:
    """A mention for display.

    Attributes:
        start, end: its first and last token.
        text: its words; None if the file has no text.
        context: its words in brackets, between some words before and after it.
    """

    start: int
    end: int
    text: str | None
    context: str | None = None

    def __str__(self) -> str:
        place = f"{self.start}-{self.end}"
        return place if self.text is None else f"{shorten(self.text, 60)} [{place}]"

    def show_context(self) -> str:
        """Return the mention in its context with its place, such as "… on [my] way … [270]"."""
        place = f"{self.start}" if self.start == self.end else f"{self.start}-{self.end}"
        return f"{self.start}-{self.end}" if self.context is None else f"{self.context} [{place}]"


@dataclass(frozen=True)
class CorefError:
    """One error, with its mentions in groups, as `Finding` has them, and for each group its entity on the other side."""

    kind: str
    document: str
    entity: str  # its id in its file, or else its number in the document, from 0
    pieces: tuple[tuple[Mention, ...], ...]
    # by name; None if the field is one of mentions and the error one of entities
    fields: Mapping[str, str | None]
    is_of_response: bool
    others: tuple[str | None, ...]  # ids of entities

    def list_mentions(self, most: int | None = None) -> str:
        """Return the mentions, separated by bars between groups; at most so many groups, and mentions of each."""
        shown = [
            ", ".join(_list_first(list(map(str, one[:most])), len(one)))
            for one in self.pieces[:most]
        ]
        left = sum(map(len, self.pieces[len(shown) :]))
        return " | ".join(_list_first(shown, len(shown) + left))


def _list_first(shown: list[str], total: int) -> list[str]:
    """Return the items to show, and the number of further ones."""
    return [*shown, *([f"… {total - len(shown):,} more"] if total > len(shown) else [])]


@dataclass(frozen=True)
class DocumentErrors:
    """The number of errors of a document: all, in entities, in mentions; and the fields of the document, by name.

    Its main score is None unless documents are sorted by it.
    """

    document: str
    errors: int
    entity_errors: int
    mention_errors: int
    fields: Mapping[str, str]
    score: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ErrorReport(Result):
    """The errors of a response."""

    tables: tuple[MentionTable, MentionTable]  # key and response
    words: tuple[Sequence[Words], Sequence[Words]]  # of the documents of each
    # of each kind, those of `RIGHT` first, in the order of the file
    findings: Mapping[str, Sequence[Finding]]
    document_fields: Mapping[str, Sequence[str]]  # by name, each (n_documents,)
    # of each side, by name, each (n_mentions,)
    mention_fields: Sequence[Mapping[str, Sequence[str]]]
    kinds: Sequence[str] = KINDS  # those that are listed
    # by field, value and kind
    slices: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    notices: Sequence[str] = ()  # about both sides, one sentence each
    limit: int = 10  # how many documents, and errors of each kind, tables list
    document: str | None = None  # the only document; None for all
    sort: str = "errors"  # one of `SORTS`
    scores: Sequence[float] = ()  # (n_documents,) the main score, to sort by
    score_title: str = ""

    @property
    def fields(self) -> list[str]:
        """The names of all fields; of those of mentions, the ones that both sides have."""
        return [
            *self.document_fields,
            *(name for name in FIELDS if all(name in side for side in self.mention_fields)),
        ]

    @property
    def counts(self) -> dict[str, int]:
        """The number of errors of every kind, and of right entities."""
        return {kind: len(found) for kind, found in self.findings.items()}

    @property
    def documents(self) -> list[DocumentErrors]:
        """The documents with errors of these kinds, in the order of `sort`: the worst first, or by name."""
        entities, mentions = (
            self._count_documents(kind for kind in self.kinds if kind in group)
            for group in (OF_ENTITIES, OF_MENTIONS)
        )
        return [
            DocumentErrors(
                self.tables[0].names[number],
                entities[number] + mentions[number],
                entities[number],
                mentions[number],
                {name: values[number] for name, values in self.document_fields.items()},
                number_or_none(self.scores[number]) if len(self.scores) else None,
            )
            for number in self._rank_documents()
            if entities[number] + mentions[number]
        ]

    @property
    def errors(self) -> list[CorefError]:
        """The errors of these kinds, kind by kind, documents in the order of `documents`."""
        return list(self.list_errors())

    def __repr__(self) -> str:
        return f"<ErrorReport: {', '.join(f'{kind} {number:,}' for kind, number in self.counts.items())}>"

    def list_errors(self, limit: int | None = None) -> Iterator[CorefError]:
        """Yield the errors, or at most `limit` of each kind, as in `errors`."""
        rank = {number: place for place, number in enumerate(self._rank_documents())}
        # Errors come document by document, and reading the words of a document is slow.
        readers = [lru_cache(maxsize=1)(partial(_read_words, words)) for words in self.words]
        for kind in self.kinds:
            for one in sorted(self.findings[kind], key=lambda finding: rank[finding.document])[
                :limit
            ]:
                table = self.tables[one.side]
                text = readers[one.side](one.document)
                pieces = tuple(
                    tuple(_describe_mention(table, row, text) for row in piece)
                    for piece in one.pieces
                )
                fields = {name: self._find_value(one, name) for name in self.fields}
                other_table = self.tables[1 - one.side]
                yield CorefError(
                    kind,
                    table.names[one.document],
                    table.label(one.pieces[0][0]),
                    pieces,
                    fields,
                    one.side == 1,
                    tuple(None if row is None else other_table.label(row) for row in one.others),
                )

    def count_by(self, name: str) -> dict[str, dict[str, int]]:
        """Count the findings of each value of a field, by kind; only kinds that have the field."""
        if name not in self.fields:
            guess, known = suggest(name, self.fields, PROCEDURE.aliases), ", ".join(self.fields)
            raise RequestError(
                f"no field '{name}' to count errors by{guess and '.'}{guess} (choose from: {known})"
            )
        counted = {
            kind: Counter(self._find_value(one, name) for one in found)
            for kind, found in self.findings.items()
            if kind in OF_MENTIONS or name not in FIELDS or FIELDS[name].is_of_entities
        }
        if name in FIELDS:
            values: Iterable[str] = [
                part for part in FIELDS[name].parts if any(part in of for of in counted.values())
            ]
        else:
            values = dict.fromkeys(self.document_fields[name])
        return {value: {kind: of[value] for kind, of in counted.items()} for value in values}

    def _find_value(self, one: Finding, name: str) -> str | None:
        """Return the value of a field; None if the field is one of mentions and the finding one of entities."""
        if name in self.document_fields:
            return self.document_fields[name][one.document]
        if one.kind in OF_MENTIONS or FIELDS[name].is_of_entities:
            return self.mention_fields[one.side][name][one.pieces[0][0]]
        return None

    def _count_documents(self, kinds: Iterable[str]) -> Counter[int]:
        return Counter(one.document for kind in kinds for one in self.findings[kind])

    def _rank_documents(self) -> list[int]:
        numbers = range(len(self.tables[0]))
        if self.sort == "name":
            return sorted(numbers, key=lambda number: self.tables[0].names[number])
        if self.sort == "score":
            # Documents without a score, which no metric counts, come last.
            order: list[int] = np.argsort(np.asarray(self.scores), kind="stable").tolist()
            return order
        counts = self._count_documents(self.kinds)
        return sorted(numbers, key=lambda number: -counts[number])

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: counts, counts by field, the worst documents, and the errors of each document."""
        del style
        grids = [Grid("", ["", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()])]
        for name, counted in self.slices.items():
            for title, group in (("Entities", (RIGHT, *OF_ENTITIES)), ("Mentions", OF_MENTIONS)):
                rows = [
                    [value, *(f"{of[kind]:,}" for kind in group)]
                    for value, of in counted.items()
                    if of.keys() >= set(group)
                ]
                if rows:
                    header = [name, *(kind.rpartition(" ")[0] for kind in group)]
                    grids.append(Grid(f"{title} by {name}", header, rows))
        names = dict(zip(self.tables[0].names, drop_part(self.tables[0].names), strict=True))
        documents = self.documents if self.document is None and len(self.tables[0]) > 1 else []
        rows = []
        for errors in documents[: self.limit]:
            numbers = errors.entity_errors, errors.mention_errors, errors.errors
            row = [names[errors.document], *(f"{number:,}" for number in numbers)]
            rows.append([*row, percent(errors.score)] if len(self.scores) else row)
        if rows:
            n_more = len(documents) - len(rows)
            where = choose_words("--limit and --json", "to_dict()")
            notes = [f"{pluralize(n_more, 'more document')} with errors: see {where}."]
            header = ["document", "in entities", "in mentions", "errors"]
            if len(self.scores):
                header.append(self.score_title)
            grids.append(Grid(SORTS[self.sort], header, rows, notes if n_more > 0 else []))
        return [*grids, *self._list_error_grids(names)]

    def _list_error_grids(self, names: Mapping[str, str]) -> list[Grid]:
        """Return a table of errors for each document, the entity of the key beside that of the response."""
        listed = list(self.list_errors(self.limit))
        order = {self.tables[0].names[number]: i for i, number in enumerate(self._rank_documents())}
        by_document: dict[str, list[list[str]]] = {}
        for error in sorted(listed, key=lambda error: order[error.document]):
            by_document.setdefault(error.document, []).extend(_show_error(error))
        header = ["error", "key", "response", "mentions"]
        grids = [
            Grid(names[document], header, rows, prose=frozenset({"mentions"}))
            for document, rows in by_document.items()
        ]
        if grids:
            n_more = sum(self.counts[kind] for kind in self.kinds) - len(listed)
            where = choose_words("--limit, --json and --format csv", "to_frame()")
            notes = [
                "Key and response: the entity on each side; – if that side lacks the mentions."
            ]
            if n_more > 0:
                notes.append(f"{pluralize(n_more, 'more error')}: see {where}.")
            grids[-1] = replace(grids[-1], notes=notes)
        return grids

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all errors of these kinds."""
        return [*HEADER, *self.fields], [
            [one.kind, one.document, one.entity, one.list_mentions(), *one.fields.values()]
            for one in self.list_errors()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return counts, documents and errors as JSON."""
        errors = [
            {
                **vars(one),
                "pieces": [[dict(vars(mention)) for mention in piece] for piece in one.pieces],
            }
            for one in self.list_errors()
        ]
        by_field = {"slices": self.slices} if self.slices else {}
        documents = [dict(vars(one)) for one in self.documents]
        return {"counts": self.counts, **by_field, "documents": documents, "errors": errors}


def _show_error(error: CorefError) -> list[list[str]]:
    """Return the rows of an error, one for each mention: of some groups, and of some mentions of each."""
    rows: list[list[str]] = []
    for piece, other in list(zip(error.pieces, error.others, strict=True))[:SHOWN]:
        sides = [error.entity, NOTHING if other is None else other]
        if error.is_of_response:
            sides.reverse()
        mentions = [mention.show_context() for mention in piece[:SHOWN]]
        for mention in _list_first(mentions, len(piece)):
            rows.append(["" if rows else error.kind, *sides, mention])
            sides = ["", ""]
    n_more = sum(map(len, error.pieces[SHOWN:]))
    if n_more:
        rows.append(["", "", "", f"… {n_more:,} more"])
    return rows


def check_kinds(kinds: Sequence[str]) -> None:
    """Check the kinds to list before anything is read."""
    for kind in kinds:
        if kind not in KINDS:
            raise RequestError(describe_unknown("kind of error", kind, list(KINDS)))


def count_errors(
    key_documents: Documents,
    response_documents: Documents,
    options: Options,
    *,
    kinds: Sequence[str] = (),
    document: str | None = None,
    by: Sequence[str] = (),
) -> ErrorReport:
    """Find the errors of a response.

    Args:
        key_documents, response_documents: the two sides, aligned.
        options: all options of the procedure with their values.
        kinds: the kinds to list; none for all.
        document: the only document to count and list; None for all.
        by: also count errors for each value of these fields.
    """
    check_kinds(kinds)
    key = without_repeats(key_documents.table)
    response = without_repeats(response_documents.table)
    if options["keep_singletons"] == "false":
        key, response = without_singletons(key), without_singletons(response)
    require_fields(key, response, options, [name for name in by if name in FIELDS])
    if options["zeros"] == "exclude":
        tables = adopt_nodes(key, response), adopt_nodes(response, key)
        key, response = (table.select(~find_zeros(table)) for table in tables)
    sides = match_sides(key, response, matching=options["matching"], zeros=options["zeros"]).sides
    codes = [of_side.tolist() for of_side in mention_codes(*sides)]
    entities = [side.entity.tolist() for side in sides]
    entity_of = [dict(zip(*columns, strict=True)) for columns in zip(codes, entities, strict=True)]
    sizes = Counter(entity_of[1].values())  # several mentions may have one minimum span
    row_of = [{entity: row for row, entity in enumerate(of_side)} for of_side in entities]
    findings: dict[str, list[Finding]] = {kind: [] for kind in (RIGHT, *KINDS)}
    for i, (several, none, lacking) in enumerate(
        zip(OF_ENTITIES[:2], OF_ENTITIES[2:], OF_MENTIONS, strict=True)
    ):
        found: defaultdict[int, dict[int | None, list[int]]] = defaultdict(dict)
        documents = sides[i].document.tolist()
        for row, (entity, code) in enumerate(zip(entities[i], codes[i], strict=True)):
            there = entity_of[1 - i].get(code)
            found[entity].setdefault(there, []).append(row)
            if there is None:
                findings[lacking].append(Finding(lacking, documents[row], i, ((row,),)))
        for by_entity in found.values():
            pieces, places = list(by_entity.values()), by_entity.keys() - {None}
            kind = several if len(places) > 1 else none
            if len(places) == 1:
                right = (
                    len({codes[0][row] for row in pieces[0]})
                    if i == 0 and len(pieces) == 1
                    else None
                )
                if right != sizes[places.pop()]:
                    continue
                kind = RIGHT
            others = [row_of[1 - i].get(entity) for entity in by_entity]
            findings[kind].append(Finding(kind, documents[pieces[0][0]], i, pieces, others))
    if document is not None:
        # as tables show it
        document = dict(zip(drop_part(key.names), key.names, strict=True)).get(document, document)
        if document not in key.names:
            guess, names = suggest(document, key.names), join_names(key.names)
            raise RequestError(
                f"no document {quote(document)} in the key{guess and '.'}{guess} (the key has {names})"
            )
        number = list(key.names).index(document)
        findings = {
            kind: [one for one in some if one.document == number] for kind, some in findings.items()
        }
    labels = _label_mentions(key), _label_mentions(with_annotation(response, key))
    wanted = [kind for kind in KINDS if not kinds or kind in kinds]
    words = _list_words(key_documents), _list_words(response_documents)
    fields = list_fields(key_documents)
    report = ErrorReport(
        (key, response), words, findings, fields, labels, wanted, document=document
    )
    return replace(report, slices={name: report.count_by(name) for name in by})


def _list_words(documents: Documents) -> list[Words]:
    return [document.words for document in documents.documents]


def _read_words(words: Sequence[Words], document: int) -> Sequence[str] | None:
    """Return the words of a document; None if they are unknown."""
    return words[document].read() or None


def _label_mentions(table: MentionTable) -> dict[str, Sequence[str]]:
    """Return the value of every field of mentions that the side has for every row, by field."""
    if not len(table.entity):
        return dict.fromkeys(FIELDS, ())
    return {
        name: [of.parts[number] for number in of.number(table).tolist()]
        for name, of in FIELDS.items()
        if not of.lacks(table)
    }


def _describe_mention(table: MentionTable, row: int, words: Sequence[str] | None) -> Mention:
    parts = table.parts_of(row)
    text = (
        None
        if words is None
        else " … ".join(" ".join(words[start : end + 1]) for start, end in parts)
    )
    context = None if words is None else _show_context(parts, words)
    return Mention(int(table.start[row]), int(table.end[row]), text, context)


def _show_context(parts: Parts, words: Sequence[str]) -> str:
    """Return the parts of a mention in brackets, with some words around it."""
    first, last = parts[0][0], parts[-1][1]
    begin = max(first - WORDS_OF_CONTEXT, 0)
    end = last + 1 + WORDS_OF_CONTEXT
    shown: list[str] = []
    position = begin
    for start, part_end in parts:
        shown += words[position:start]
        shown.append(f"[{shorten(' '.join(words[start : part_end + 1]), 60)}]")
        position = part_end + 1
    shown += words[position:end]
    if begin > 0:
        shown.insert(0, "…")
    if end < len(words):
        shown.append("…")
    return " ".join(shown)
