"""Errors of a response: wrong entities and mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.  A document is worse than another if it has more errors of the requested
kinds, or if its main score is lower; equally bad ones are in the order of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
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
from closeread.tasks.coref.documents import Documents, Mention, Words
from closeread.tasks.coref.empty_nodes import adopt_nodes, without_zeros
from closeread.tasks.coref.metrics.matching import (
    match_sides,
    without_duplicates,
)
from closeread.tasks.coref.metrics.overlap import mention_codes
from closeread.tasks.coref.metrics.slices import FIELDS, require_fields, with_annotation
from closeread.tasks.coref.procedure import PROCEDURE
from closeread.tasks.coref.selection import without_singletons
from closeread.tasks.coref.spans import Span

RIGHT = "right entity"
OF_ENTITIES = ("split entity", "merged entities", "missing entity", "spurious entity")
OF_MENTIONS = ("missing mention", "spurious mention")
KINDS = (*OF_ENTITIES, *OF_MENTIONS)
HEADER = ["error", "document", "entity", "mentions"]

MAX_SHOWN = 5
"""How many mentions of each group of an error a table lists, and how many groups."""

MAX_TEXT_WIDTH = 60
"""How many characters of a mention a table shows."""

WORDS_OF_CONTEXT = 4
"""How many words a table shows on each side of a mention."""

SORTS = {
    "errors": "Documents with the most errors",
    "score": "Documents with the lowest scores",
    "name": "Documents with errors",
}
"""The orders of documents, with what a table of the first is called."""


class Finding(NamedTuple):
    """An error, or a right entity.

    Attributes:
        kind: its kind.
        document: the number of its document.
        side: 0 if it is in the key, 1 in the response.
        groups: the mentions of the entity, as rows of its side, grouped by their entity on the other side, with those
            that it lacks as a group; for an error in a mention, that mention.
        others: of each group, a mention of its entity on the other side, as a row there; None if that side lacks the
            mentions.
    """

    kind: str
    document: int
    side: int
    groups: Sequence[Sequence[int]]
    others: Sequence[int | None] = (None,)


class Side(NamedTuple):
    """The mentions of a side, one after the other.

    Attributes:
        words: the words of each document.
        mentions: the mentions.
        labels: for each mention, the id of its entity in the file, or else its number in the document, from 0.
        fields: the values of each field that the side has, for each mention.
    """

    words: Sequence[Words]
    mentions: Sequence[Mention]
    labels: Sequence[str]
    fields: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class ShownMention:
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
        return place if self.text is None else f"{shorten(self.text, MAX_TEXT_WIDTH)} [{place}]"

    def show_context(self) -> str:
        """Return the mention in its context with its place, such as "… on [my] way … [270]"."""
        if self.context is None:
            return f"{self.start}-{self.end}"
        place = f"{self.start}" if self.start == self.end else f"{self.start}-{self.end}"
        return f"{self.context} [{place}]"


@dataclass(frozen=True)
class CorefError:
    """An error.

    Attributes:
        kind: its kind.
        document: the name of its document.
        entity: the id of the entity in its file, or else its number in the document, from 0.
        pieces: its mentions in groups, as `Finding` has them.
        fields: the values of fields by name; None if the field is one of mentions and the error one of entities.
        is_of_response: whether the entity is one of the response.
        others: for each group, the id of its entity on the other side.
    """

    kind: str
    document: str
    entity: str
    pieces: tuple[tuple[ShownMention, ...], ...]
    fields: Mapping[str, str | None]
    is_of_response: bool
    others: tuple[str | None, ...]

    def list_mentions(self, most: int | None = None) -> str:
        """Return the mentions, separated by bars between groups; at most so many groups, and mentions of each."""
        groups = []
        for piece in self.pieces[:most]:
            mentions = list(map(str, piece[:most]))
            groups.append(", ".join(_add_number_left(mentions, len(piece))))
        n_left = sum(map(len, self.pieces[len(groups) :]))
        return " | ".join(_add_number_left(groups, len(groups) + n_left))


def _add_number_left(texts: list[str], total: int) -> list[str]:
    """Return what is shown, and the number of what is not."""
    if total > len(texts):
        return [*texts, f"… {total - len(texts):,} more"]
    return texts


@dataclass(frozen=True)
class DocumentErrors:
    """The number of errors of a document.

    Attributes:
        document: its name.
        errors, entity_errors, mention_errors: the numbers of all errors, of those in entities and in mentions.
        fields: the fields of the document, by name.
        score: its main score; None unless documents are sorted by it.
    """

    document: str
    errors: int
    entity_errors: int
    mention_errors: int
    fields: Mapping[str, str]
    score: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ErrorReport(Result):
    """The errors of a response.

    Attributes:
        names: the names of the documents.
        sides: the mentions of key and response.
        findings: those of each kind, those of `RIGHT` first, in the order of the file.
        document_fields: the values of each field, (n_documents,).
        kinds: those that are listed.
        slices: how many findings there are, by field, value and kind.
        notices: about both sides, one sentence each.
        limit: how many documents, and errors of each kind, tables list.
        document: the only document; None for all.
        sort: one of `SORTS`.
        scores: (n_documents,) the main score, to sort by.
        score_title: the title of that score.
    """

    names: Sequence[str]
    sides: tuple[Side, Side]
    findings: Mapping[str, Sequence[Finding]]
    document_fields: Mapping[str, Sequence[str]]
    kinds: Sequence[str] = KINDS
    slices: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    notices: Sequence[str] = ()
    limit: int = 10
    document: str | None = None
    sort: str = "errors"
    scores: Sequence[float] = ()
    score_title: str = ""

    @property
    def fields(self) -> list[str]:
        """The names of all fields; of those of mentions, the ones that both sides have."""
        key, response = self.sides
        in_both = [name for name in FIELDS if name in key.fields and name in response.fields]
        return [*self.document_fields, *in_both]

    @property
    def counts(self) -> dict[str, int]:
        """The number of errors of every kind, and of right entities."""
        return {kind: len(findings) for kind, findings in self.findings.items()}

    @property
    def documents(self) -> list[DocumentErrors]:
        """The documents with errors of these kinds, in the order of `sort`: the worst first, or by name."""
        of_entities = self._count_documents(kind for kind in self.kinds if kind in OF_ENTITIES)
        of_mentions = self._count_documents(kind for kind in self.kinds if kind in OF_MENTIONS)
        documents = []
        for number in self._rank_documents():
            errors = DocumentErrors(
                self.names[number],
                of_entities[number] + of_mentions[number],
                of_entities[number],
                of_mentions[number],
                {name: values[number] for name, values in self.document_fields.items()},
                number_or_none(self.scores[number]) if len(self.scores) else None,
            )
            if errors.errors:
                documents.append(errors)
        return documents

    @property
    def errors(self) -> list[CorefError]:
        """The errors of these kinds, kind by kind, documents in the order of `documents`."""
        return list(self.list_errors())

    def __repr__(self) -> str:
        counts = ", ".join(f"{kind} {number:,}" for kind, number in self.counts.items())
        return f"<ErrorReport: {counts}>"

    def list_errors(self, limit: int | None = None) -> Iterator[CorefError]:
        """Yield the errors, or at most `limit` of each kind, as in `errors`."""
        rank = {number: place for place, number in enumerate(self._rank_documents())}

        # Errors come document by document, and reading the words of a document is slow.
        @lru_cache(maxsize=2)
        def read_words(side: int, document: int) -> Sequence[str]:
            return self.sides[side].words[document].read()

        def find_rank(finding: Finding) -> int:
            return rank[finding.document]

        for kind in self.kinds:
            for finding in sorted(self.findings[kind], key=find_rank)[:limit]:
                words = read_words(finding.side, finding.document)
                yield self._describe_finding(finding, words)

    def _describe_finding(self, finding: Finding, words: Sequence[str]) -> CorefError:
        side = self.sides[finding.side]
        other_side = self.sides[1 - finding.side]
        pieces = []
        for rows in finding.groups:
            mentions = [show_mention(side.mentions[row], words) for row in rows]
            pieces.append(tuple(mentions))
        others = [None if row is None else other_side.labels[row] for row in finding.others]
        return CorefError(
            finding.kind,
            self.names[finding.document],
            side.labels[finding.groups[0][0]],
            tuple(pieces),
            {name: self._find_value(finding, name) for name in self.fields},
            finding.side == 1,
            tuple(others),
        )

    def count_by(self, name: str) -> dict[str, dict[str, int]]:
        """Count the findings of each value of a field, by kind; only kinds that have the field."""
        if name not in self.fields:
            guess = suggest(name, self.fields, PROCEDURE.aliases)
            known = ", ".join(self.fields)
            what = f"no field '{name}' to count errors by"
            raise RequestError(f"{what}{guess and '.'}{guess} (choose from: {known})")
        is_of_mentions = name in FIELDS and not FIELDS[name].is_of_entities
        kinds = OF_MENTIONS if is_of_mentions else tuple(self.findings)
        counts_by_kind = {}
        for kind in kinds:
            finding_values = [self._find_value(finding, name) for finding in self.findings[kind]]
            counts_by_kind[kind] = Counter(finding_values)
        values = list(dict.fromkeys(self.document_fields.get(name, ())))
        if name in FIELDS:
            present = set().union(*counts_by_kind.values())
            values = [value for value in FIELDS[name].parts if value in present]
        counts = {}
        for value in values:
            counts[value] = {kind: of_kind[value] for kind, of_kind in counts_by_kind.items()}
        return counts

    def _find_value(self, finding: Finding, name: str) -> str | None:
        """Return the value of a field; None if the field is one of mentions and the finding one of entities."""
        if name in self.document_fields:
            return self.document_fields[name][finding.document]
        if finding.kind in OF_MENTIONS or FIELDS[name].is_of_entities:
            return self.sides[finding.side].fields[name][finding.groups[0][0]]
        return None

    def _count_documents(self, kinds: Iterable[str]) -> Counter[int]:
        """Count the findings of some kinds in each document."""
        counts: Counter[int] = Counter()
        for kind in kinds:
            counts.update(finding.document for finding in self.findings[kind])
        return counts

    def _rank_documents(self) -> list[int]:
        """Return the numbers of the documents in the order of `sort`."""
        numbers = range(len(self.names))
        if self.sort == "name":
            return sorted(numbers, key=self.names.__getitem__)
        if self.sort == "score":
            # Documents without a score, which no metric counts, come last.
            order: list[int] = np.argsort(np.asarray(self.scores), kind="stable").tolist()
            return order
        counts = self._count_documents(self.kinds)
        return sorted(numbers, key=counts.__getitem__, reverse=True)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables: counts, counts by field, the worst documents, and the errors of each document."""
        del style
        grids = [Grid("", ["", "number"], [[kind, f"{n:,}"] for kind, n in self.counts.items()])]
        for name, counts_by_value in self.slices.items():
            grids += _make_slice_grids(name, counts_by_value)
        short_names = dict(zip(self.names, drop_part(self.names), strict=True))
        if self.document is None and len(self.names) > 1:
            grids += self._list_document_grids(short_names)
        return [*grids, *self._list_error_grids(short_names)]

    def _list_document_grids(self, short_names: Mapping[str, str]) -> list[Grid]:
        """Return a table of the first documents, if any have errors."""
        documents = self.documents
        header = ["document", "in entities", "in mentions", "errors"]
        if len(self.scores):
            header.append(self.score_title)
        rows = []
        for errors in documents[: self.limit]:
            numbers = (errors.entity_errors, errors.mention_errors, errors.errors)
            row = [short_names[errors.document], *(f"{number:,}" for number in numbers)]
            if len(self.scores):
                row.append(percent(errors.score))
            rows.append(row)
        if not rows:
            return []
        notes = []
        n_more = len(documents) - len(rows)
        if n_more > 0:
            where = choose_words("--limit and --json", "to_dict()")
            notes.append(f"{pluralize(n_more, 'more document')} with errors: see {where}.")
        return [Grid(SORTS[self.sort], header, rows, notes)]

    def _list_error_grids(self, short_names: Mapping[str, str]) -> list[Grid]:
        """Return a table of errors for each document, the entity of the key beside that of the response."""
        rows_by_document: dict[str, list[list[str]]] = {
            self.names[number]: [] for number in self._rank_documents()
        }
        n_listed = 0
        for error in self.list_errors(self.limit):
            rows_by_document[error.document] += _show_error(error)
            n_listed += 1
        header = ["error", "key", "response", "mentions"]
        grids = [
            Grid(short_names[document], header, rows, prose=frozenset({"mentions"}))
            for document, rows in rows_by_document.items()
            if rows
        ]
        if not grids:
            return []
        notes = ["Key and response: the entity on each side; – if that side lacks the mentions."]
        n_more = sum(self.counts[kind] for kind in self.kinds) - n_listed
        if n_more > 0:
            where = choose_words("--limit, --json and --format csv", "to_frame()")
            notes.append(f"{pluralize(n_more, 'more error')}: see {where}.")
        grids[-1] = replace(grids[-1], notes=notes)
        return grids

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all errors of these kinds."""
        rows: list[list[object]] = []
        for error in self.list_errors():
            mentions = error.list_mentions()
            rows.append(
                [error.kind, error.document, error.entity, mentions, *error.fields.values()]
            )
        return [*HEADER, *self.fields], rows

    def to_dict(self) -> dict[str, Any]:
        """Return counts, documents and errors as JSON."""
        errors = []
        for error in self.list_errors():
            pieces = [list(map(_copy_fields, piece)) for piece in error.pieces]
            errors.append({**vars(error), "pieces": pieces})
        by_field = {"slices": self.slices} if self.slices else {}
        documents = list(map(_copy_fields, self.documents))
        return {"counts": self.counts, **by_field, "documents": documents, "errors": errors}


def _copy_fields(record: object) -> dict[str, Any]:
    return dict(vars(record))


def _make_slice_grids(name: str, counts_by_value: Mapping[str, Mapping[str, int]]) -> list[Grid]:
    """Return a table of entities, and one of mentions, by the values of a field."""
    grids = []
    for title, kinds in (("Entities", (RIGHT, *OF_ENTITIES)), ("Mentions", OF_MENTIONS)):
        rows = [
            [value, *(f"{counts[kind]:,}" for kind in kinds)]
            for value, counts in counts_by_value.items()
            if counts.keys() >= set(kinds)
        ]
        if rows:
            header = [name, *(kind.rpartition(" ")[0] for kind in kinds)]
            grids.append(Grid(f"{title} by {name}", header, rows))
    return grids


def _show_error(error: CorefError) -> list[list[str]]:
    """Return the rows of an error, one for each mention: of some groups, and of some mentions of each."""
    rows: list[list[str]] = []
    groups = list(zip(error.pieces, error.others, strict=True))
    for piece, other in groups[:MAX_SHOWN]:
        sides = [error.entity, NOTHING if other is None else other]
        if error.is_of_response:
            sides.reverse()
        mentions = [mention.show_context() for mention in piece[:MAX_SHOWN]]
        for mention in _add_number_left(mentions, len(piece)):
            rows.append(["" if rows else error.kind, *sides, mention])
            sides = ["", ""]
    n_more = sum(len(piece) for piece, _ in groups[MAX_SHOWN:])
    if n_more:
        rows.append(["", "", "", f"… {n_more:,} more"])
    return rows


def check_kinds(kinds: Sequence[str], expected: Sequence[str] = KINDS) -> None:
    """Check the kinds to list before anything is read."""
    for kind in kinds:
        if kind not in expected:
            raise RequestError(describe_unknown("kind of error", kind, list(expected)))


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
    key, response = prepare_sides(key_documents, response_documents, options)
    require_fields(key, response, options, [name for name in by if name in FIELDS])
    findings = find_errors(key, response, options)
    if document is not None:
        number = find_document(document, key.names)
        for kind, of_kind in findings.items():
            findings[kind] = [finding for finding in of_kind if finding.document == number]
        document = key.names[number]
    report = ErrorReport(
        key.names,
        (_make_side(key), _make_side(with_annotation(response, key))),
        findings,
        list_fields(key),
        [kind for kind in KINDS if not kinds or kind in kinds],
        document=document,
    )
    return replace(report, slices={name: report.count_by(name) for name in by})


def prepare_sides(
    key: Documents, response: Documents, options: Options
) -> tuple[Documents, Documents]:
    """Return both sides with every mention in one entity, and without what the options leave out."""
    # Entities of lists are named by their numbers, which columns lose with the singletons.
    key = without_duplicates(key.replaced(key.documents))
    response = without_duplicates(response.replaced(response.documents))
    if options["keep_singletons"] == "false":
        key = without_singletons(key)
        response = without_singletons(response)
    if options["zeros"] == "exclude":
        key_with_nodes = key.replaced(map(adopt_nodes, key.documents, response.documents))
        response = response.replaced(map(adopt_nodes, response.documents, key.documents))
        key, response = map(without_zeros, (key_with_nodes, response))
    return key, response


class _Rows(NamedTuple):
    """The mentions of a side by rows: their documents, codes that are equal where mentions match, and entities."""

    documents: Sequence[int]
    codes: Sequence[int]
    entities: Sequence[int]


def find_errors(key: Documents, response: Documents, options: Options) -> dict[str, list[Finding]]:
    """Find the right entities and the errors of each kind."""
    matched = match_sides(key, response, matching=options["matching"], zeros=options["zeros"]).sides
    key_side, response_side = (
        _Rows(side.document.tolist(), codes.tolist(), side.entity.tolist())
        for side, codes in zip(matched, mention_codes(*matched), strict=True)
    )
    findings: dict[str, list[Finding]] = {kind: [] for kind in (RIGHT, *KINDS)}
    response_entities = dict(zip(response_side.codes, response_side.entities, strict=True))
    # Several mentions may have one minimum span, so mentions are counted by their codes.
    sizes = Counter(response_entities.values())
    for finding in _judge_entities(key_side, response_side, side=0):
        if finding.kind == RIGHT:
            other_row = finding.others[0]
            n_codes = len({key_side.codes[row] for row in finding.groups[0]})
            if other_row is None or n_codes != sizes[response_side.entities[other_row]]:
                continue
        findings[finding.kind].append(finding)
    for finding in _judge_entities(response_side, key_side, side=1):
        # Whether an entity is right is said of the key's.
        if finding.kind != RIGHT:
            findings[finding.kind].append(finding)
    return findings


def _judge_entities(own: _Rows, other: _Rows, side: int) -> Iterator[Finding]:
    """Yield the errors in the mentions and entities of a side; an entity in one of the other side only may be right."""
    several = OF_ENTITIES[side]
    absent = OF_ENTITIES[2 + side]
    lacking = OF_MENTIONS[side]
    entity_by_code = dict(zip(other.codes, other.entities, strict=True))
    row_by_entity = {entity: row for row, entity in enumerate(other.entities)}
    rows_by_entity: dict[int, dict[int | None, list[int]]] = {}
    for row, (code, entity) in enumerate(zip(own.codes, own.entities, strict=True)):
        other_entity = entity_by_code.get(code)
        groups = rows_by_entity.setdefault(entity, {})
        groups.setdefault(other_entity, []).append(row)
        if other_entity is None:
            yield Finding(lacking, own.documents[row], side, ((row,),))
    for groups in rows_by_entity.values():
        others = [None if entity is None else row_by_entity[entity] for entity in groups]
        n_entities = len(groups.keys() - {None})
        rows = list(groups.values())
        document = own.documents[rows[0][0]]
        if n_entities > 1:
            yield Finding(several, document, side, rows, others)
        elif n_entities == 0:
            yield Finding(absent, document, side, rows, others)
        elif len(groups) == 1:
            yield Finding(RIGHT, document, side, rows, others)


def find_document(name: str, names: Sequence[str]) -> int:
    """Return the number of a document, given its name, or its name as tables show it."""
    by_short_name = dict(zip(drop_part(names), names, strict=True))
    whole_name = by_short_name.get(name, name)
    if whole_name not in names:
        guess = suggest(whole_name, names)
        known = f"the key has {join_names(names)}"
        what = f"no document {quote(whole_name)} in the key"
        raise RequestError(f"{what}{guess and '.'}{guess} ({known})")
    return list(names).index(whole_name)


def _make_side(documents: Documents) -> Side:
    labels = []
    for document in documents.documents:
        for number, entity in enumerate(document.entities):
            labels += [document.label_of(number)] * len(entity.mentions)
    words = [document.words for document in documents.documents]
    return Side(words, documents.list_mentions(), labels, _list_mention_fields(documents))


def _list_mention_fields(documents: Documents) -> dict[str, Sequence[str]]:
    """Return the value of every field that the side has for every mention, by field."""
    if not documents.has_mentions:
        return dict.fromkeys(FIELDS, ())
    values: dict[str, Sequence[str]] = {}
    for name, mention_field in FIELDS.items():
        if not mention_field.lacks(documents):
            numbers = mention_field.number(documents).tolist()
            values[name] = [mention_field.parts[number] for number in numbers]
    return values


def show_mention(mention: Mention, words: Sequence[str]) -> ShownMention:
    """Return a mention for display; without words if they are unknown."""
    if not words:
        return ShownMention(mention.start, mention.end, None)
    text = " … ".join(_join_words(words, span) for span in mention.spans)
    return ShownMention(mention.start, mention.end, text, _show_context(mention.spans, words))


def _join_words(words: Sequence[str], span: Span) -> str:
    return " ".join(words[span[0] : span[1] + 1])


def _show_context(spans: Sequence[Span], words: Sequence[str]) -> str:
    """Return the parts of a mention in brackets, with some words around it."""
    begin = max(spans[0][0] - WORDS_OF_CONTEXT, 0)
    end = spans[-1][1] + 1 + WORDS_OF_CONTEXT
    pieces: list[str] = []
    position = begin
    for span in spans:
        pieces += words[position : span[0]]
        pieces.append(f"[{shorten(_join_words(words, span), MAX_TEXT_WIDTH)}]")
        position = span[1] + 1
    pieces += words[position:end]
    if begin > 0:
        pieces.insert(0, "…")
    if end < len(words):
        pieces.append("…")
    return " ".join(pieces)
