"""The errors of a response as a result: counted, listed, and as tables.

`count_errors` is what `closeread.errors("coref", ...)` and the command line call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from closeread.counts.procedure import Options
from closeread.counts.results import Result
from closeread.exceptions import RequestError, pluralize, shorten
from closeread.suggestions import describe_unknown
from closeread.tables import Grid, Style
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.error_analysis import KINDS, OF_ENTITIES, OF_MENTIONS, RIGHT, ErrorAnalysis, find_errors
from closeread.tasks.coref.error_listing import (
    CorefError,
    DocumentErrors,
    Mention,
    count_by_field,
    list_documents,
    list_errors,
)
from closeread.tasks.coref.matching import match_sides, without_repeats
from closeread.tasks.coref.mention_fields import FIELDS
from closeread.tasks.coref.procedure import PROCEDURE
from closeread.tasks.coref.slices import require_fields
from closeread.wording import choose_words, name_option

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
    """Check options and kinds before anything is read.

    Raises:
        RequestError: there is no such kind, or repeated mentions are to be counted as the reference scorer does.
    """
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

    Raises:
        RequestError: there is no such kind, field or document, or a side lacks something for a field.
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
