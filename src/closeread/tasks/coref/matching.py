"""Key and response as the metrics take them: documents as columns, and codes for mentions that match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closeread.arrays import Ints
from closeread.counts.procedure import Inconsistency, name_documents
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import MentionTable, mention_table
from closeread.tasks.coref.metrics.overlap import Overlap, Side, match_rows, mention_codes, overlap
from closeread.tasks.coref.metrics.repeats import find_repeats, has_repeats, keep_as_reference
from closeread.tasks.coref.rules import describe_reversed, describe_stray_head, find_lacking_heads

if TYPE_CHECKING:
    from closeread.tasks.coref.metrics.matching import Places, Spans

Documents = MentionTable | Sequence[Any]
"""Columns; or a list with one item per document: its entities, a record with them, or None."""

ZEROS = ("linear", "dependent", "corefud", "exclude")
BY_DEPENDENCY = ("dependent", "corefud")

REPEATS_ADVICE = "keep one of them, or set duplicates to first or reference"


def table_of(documents: Documents) -> MentionTable:
    """Return documents as columns; a document without a name gets its number, from 0, as its name."""
    if isinstance(documents, MentionTable):
        return documents
    absent = frozenset(i for i, document in enumerate(documents) if document is None)
    named = (document if isinstance(document, dict) else {} for document in documents)
    names = [str(record.get("document", i)) for i, record in enumerate(named)]
    return replace(mention_table(names, _list_clusters(documents)), absent=absent)


def _list_clusters(documents: Sequence[Any]) -> list[Any]:
    """Return the entities of each document; none for a document without a response."""
    return [document["clusters"] if isinstance(document, dict) else document or [] for document in documents]


def validate(gold: Documents, system: Documents, duplicates: str) -> Iterator[Inconsistency]:
    """Find mentions that end before they start, stray and missing heads, and repeated mentions if they are an error.

    Yields:
        The side ("gold" or "system"), the document's number from 0, and the problem.
    """
    for name, documents in (("gold", gold), ("system", system)):
        nested = () if isinstance(documents, MentionTable) else _list_clusters(documents)
        if lacking := [Inconsistency(name, document, what) for document, what in find_lacking_heads(nested, "")]:
            yield from lacking
            continue
        table = table_of(documents)
        is_reversed = table.start > table.end
        head = table.start if table.head is None else table.head
        is_stray = ~is_reversed & ((head < table.start) | (head > table.end))
        for row in np.flatnonzero(is_reversed | is_stray).tolist():
            mention = [int(column[row]) for column in (table.start, table.end, head)]
            what = describe_reversed(mention[:2]) if is_reversed[row] else describe_stray_head(mention)
            yield Inconsistency(name, int(table.document[row]), what)
        for first, again in repeats(table).tolist() if duplicates == "error" else ():
            one, other = table.label(first), table.label(again)
            where = f"entities {one} and {other}" if one != other else f"entity {one} twice"
            found = f"mention [{int(table.start[again])}, {int(table.end[again])}] is in {where} (numbered from 0)"
            yield Inconsistency(name, int(table.document[again]), f"{found}; {REPEATS_ADVICE}")


def repeats(table: MentionTable) -> Ints:
    """Find the mentions of the same tokens, (n, 2): the first row of each, and a row that repeats it."""
    return find_repeats(_exact_side(table))


def without_repeats(table: MentionTable) -> MentionTable:
    """Return the table with every mention in its first entity only."""
    again = repeats(table)[:, 1]
    return table.select(~np.isin(np.arange(len(table.entity)), again)) if len(again) else table


@dataclass(frozen=True, eq=False)
class Matched:
    """The mentions that are scored, matched.

    Attributes:
        key, response: these mentions, with the same numbers for the same tokens.
        sides: the two as the metrics take them, with a row for each of these mentions.
        places: where CorefUD's scorer looks for them, if that is to be used.
    """

    key: MentionTable
    response: MentionTable
    sides: tuple[Side, Side]
    places: Places | None = None

    def find_responses(self) -> Ints:
        """Return the response mention that each key mention matches, (n_key_mentions,); -1 for none."""
        from closeread.tasks.coref.metrics.matching import find_rows

        if self.places is not None:
            return find_rows(self.places.zero_found, self.places.response)
        return find_rows(*mention_codes(*self.sides))

    @property
    def lookups(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Both sides twice: as the mentions of the key are found, and as those of the response are."""
        if self.places is None:
            return self.sides, self.sides
        (key, response), places = self.sides, self.places
        return (
            (key._replace(mention=places.key_found), response._replace(mention=places.response)),
            (key._replace(mention=places.key), response._replace(mention=places.response_found)),
        )

    def build_overlaps(self) -> tuple[Overlap, Overlap]:
        """Build the table of key and response for recall, and that for precision, which usually is the same."""
        n_documents = len(self.key.names)
        table = overlap(*self.sides, n_documents)
        if self.places is None:
            return table, table
        recall, precision = (overlap(*sides, n_documents) for sides in self.lookups)
        return replace(recall, mentions=table.mentions), precision


def match_sides(
    key: MentionTable,
    response: MentionTable,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
    zeros: str = "linear",
) -> Matched:
    """Prepare key and response for the metrics: drop repeats, then singletons, then zeros, then match mentions.

    Options and exceptions are those of `count`.  With `duplicates="reference"` a singleton is an entity that has one
    mention in the file.
    """
    require_heads(key, response, matching)
    if duplicates == "reference" and zeros == "corefud":
        raise RequestError("zeros 'corefud' and duplicates 'reference' follow two different scorers; choose one")
    if duplicates == "error":
        for name, table in (("key", key), ("response", response)):
            if has_repeats(_exact_side(table)):
                raise ValueError(f"the {name} has mentions that occur more than once")
    key, response = select_mentions(key, response, duplicates, keep_singletons)
    has_nodes = key.empty is not None or response.empty is not None
    if has_nodes:
        key, response = _share_numbering(key, response, matching, zeros)
    with name_documents(key.names):
        codes = _code_mentions(key, response, matching, zeros)
    # Minimum spans follow coval, which keeps all repeats.
    is_reference = duplicates == "reference" and matching != "minimum"
    own, other = (
        Side(table.document, side_codes, _order_entities(table, is_reference=is_reference))
        for table, side_codes in zip((key, response), codes, strict=True)
    )
    if is_reference:
        kept = keep_as_reference(own, other)
        response, other = response.select(kept), other.select(kept)
    places = _find_places(key, response, matching, own, other) if has_nodes and zeros == "corefud" else None
    return Matched(key, response, (own, other), places)


def _share_numbering(
    key: MentionTable, response: MentionTable, matching: str, zeros: str
) -> tuple[MentionTable, MentionTable]:
    """Number the tokens of both sides alike, and drop zeros if they are to be excluded."""
    from closeread.tasks.coref.empty_nodes import find_zeros, share_numbering

    if matching == "minimum" and key.trees is not None:
        raise RequestError("matching 'minimum' needs files without empty nodes, which constituents don't contain")
    key, response = share_numbering(key, response)
    if zeros == "exclude":
        key, response = (table.select(~find_zeros(table)) for table in (key, response))
    return key, response


def select_mentions(
    key: MentionTable, response: MentionTable, duplicates: str, keep_singletons: str
) -> tuple[MentionTable, MentionTable]:
    """Drop the mentions that are not scored: repeats, then singletons."""
    own, other = (without_repeats(table) if duplicates == "first" else table for table in (key, response))
    if keep_singletons == "false":
        own, other = (table.select(np.bincount(table.entity)[table.entity] > 1) for table in (own, other))
    return own, other


def require_heads(key: MentionTable, response: MentionTable, matching: str) -> None:
    """Check that mentions can be matched: by heads of both sides, or by heads or minimum spans of the key."""
    if matching == "minimum":
        if key.trees is None and not key.minimum and len(key.start):
            from closeread.tasks.coref.metrics.minimum_spans import NEEDED

            raise RequestError(f"matching 'minimum' needs {NEEDED}")
        return
    if matching == "craft":
        if key.empty is not None or response.empty is not None:
            raise RequestError("matching 'craft' is not defined for documents with empty nodes")
        return
    if matching == "partial" and key.head is None and key.minimum:
        return
    if matching != "exact" and (key.head is None or response.head is None):
        lacking = "key" if key.head is None else "response"
        having = "CorefUD has them, and JSON Lines with mentions [start, end, head]"
        having += "; minimum spans of the key do as well" if matching == "partial" else ""
        raise RequestError(f"matching '{matching}' needs heads on both sides, but the {lacking} has none ({having})")


def _order_entities(table: MentionTable, *, is_reference: bool) -> Ints:
    """Return the entity of each mention, numbered in the order in which the scorer finds a mention's first entity."""
    if not is_reference or table.rank is None:
        return table.entity
    return table.rank[table.entity]


def _find_places(key: MentionTable, response: MentionTable, matching: str, own: Side, other: Side) -> Places:
    """Find where CorefUD's scorer looks for the mentions."""
    from closeread.tasks.coref.metrics.matching import identify, look_up

    rows = match_rows(*mention_codes(own, other))
    return look_up(*identify(spans_of(key), spans_of(response), matching), *rows)


def _exact_side(table: MentionTable) -> Side:
    return Side(table.document, _code_mentions(table, table, "exact", "linear")[0], table.entity)


def _code_mentions(key: MentionTable, response: MentionTable, matching: str, zeros: str) -> tuple[Ints, Ints]:
    """Assign codes to mentions, equal for mentions of a document that match."""
    by_dependency = zeros in BY_DEPENDENCY and key.empty is not None and response.empty is not None
    if matching == "exact" and not key.parts and not response.parts and not by_dependency:
        width = max(int(key.end.max(initial=0)), int(response.end.max(initial=0))) + 1
        return key.start * width + key.end, response.start * width + response.end
    if matching == "minimum" and key.trees is not None:
        from closeread.tasks.coref.metrics.minimum_spans import minimum_codes

        return minimum_codes(key, response)
    from closeread.tasks.coref.metrics.matching import match_mentions

    found = None
    if by_dependency:
        from closeread.tasks.coref.empty_nodes import map_zeros

        found = map_zeros(key), map_zeros(response)
    return match_mentions(spans_of(key), spans_of(response), matching, found)


def spans_of(table: MentionTable) -> Spans:
    """Return the mentions of a table as the rules of matching take them."""
    from closeread.tasks.coref.metrics.matching import Spans

    minimum = table.minimum if table.head is None else None
    return Spans(table.document, table.start, table.end, table.head, table.parts, minimum)
