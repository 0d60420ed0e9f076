"""Key and response as the kernels take them: documents as columns, and which mentions are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closeread.arrays import Ints
from closeread.counts.sides import Inconsistency
from closeread.errors import RequestError
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.kernels.sides import Side, reference_response, repeated_mentions

Documents = MentionTable | Sequence[Any]
"""Columns; or a list with an item for each document: its entities, a record that holds them, or None."""


def table_of(documents: Documents) -> MentionTable:
    """Documents as columns; a document without a name has its number, from 0."""
    if isinstance(documents, MentionTable):
        return documents
    absent = frozenset(i for i, document in enumerate(documents) if document is None)
    records = [document if isinstance(document, dict) else {"clusters": document or []} for document in documents]
    names = [str(record.get("document", i)) for i, record in enumerate(records)]
    return replace(mention_table(names, [record["clusters"] for record in records]), absent=absent)


def validate(gold: Documents, system: Documents, duplicates: str) -> Iterator[Inconsistency]:
    """Mentions that end before they start, and, where that is an error, those that stand twice.

    Yields:
        The side ("gold" or "system"), the document's number from 0, and what is wrong.
    """
    for name, documents in (("gold", gold), ("system", system)):
        table = table_of(documents)
        for row in np.flatnonzero(table.start > table.end).tolist():
            start, end = int(table.start[row]), int(table.end[row])
            what = f"[{start}, {end}] ends before it starts (expected [start, end])"
            yield Inconsistency(name, int(table.document[row]), what)
        for first, again in repeats(table).tolist() if duplicates == "error" else ():
            entities = f"entities {table.label(first)} and {table.label(again)}, counted from 0"
            found = f"[{int(table.start[again])}, {int(table.end[again])}] stands in {entities}"
            needed = "needed: once, unless duplicates is first or reference"
            yield Inconsistency(name, int(table.document[again]), f"{found}; {needed}")


def repeats(table: MentionTable) -> Ints:
    """The mentions of the same tokens in a table, (n, 2): the first row of each, and one that repeats it."""
    return repeated_mentions(_side(table, _spans(table, table, "exact")[0]))


def without_repeats(table: MentionTable) -> MentionTable:
    """The table with every mention in its first entity only."""
    again = repeats(table)[:, 1]
    return table.select(~np.isin(np.arange(len(table.entity)), again)) if len(again) else table


def match_sides(
    key: MentionTable,
    response: MentionTable,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
) -> tuple[Side, Side]:
    """Key and response as the kernels take them: without repeats, then without singletons, and then matched.

    The options, and what is raised, as for `count`.  Where repeats are counted as by the reference scorer, a singleton
    is an entity of one mention in the file.
    """
    require_heads(key, response, matching)
    if duplicates == "error":
        for name, table in (("key", key), ("response", response)):
            if len(repeats(table)):
                raise ValueError(f"the {name} has mentions that stand twice")
    tables = [without_repeats(table) for table in (key, response)] if duplicates == "first" else [key, response]
    if keep_singletons == "false":
        tables = [table.select(np.bincount(table.entity)[table.entity] > 1) for table in tables]
    own, other = (
        _side(table, codes) for table, codes in zip(tables, _spans(tables[0], tables[1], matching), strict=True)
    )
    return own, reference_response(own, other) if duplicates == "reference" else other


def require_heads(key: MentionTable, response: MentionTable, matching: str) -> None:
    """Refuse matching by heads where a side has none.

    Raises:
        RequestError: it is so.
    """
    if matching != "exact" and (key.head is None or response.head is None):
        raise RequestError(f"matching '{matching}' needs heads on both sides, and only CorefUD files have them")


def _side(table: MentionTable, codes: Ints) -> Side:
    return Side(table.document, codes, table.entity)


def _spans(key: MentionTable, response: MentionTable, matching: str) -> tuple[Ints, Ints]:
    """Codes that say which mentions of a document are the same."""
    if matching == "exact" and not key.parts and not response.parts:
        width = max(int(key.end.max(initial=0)), int(response.end.max(initial=0))) + 1
        return key.start * width + key.end, response.start * width + response.end
    from closeread.tasks.coref.kernels.mention_matching import Spans, mention_codes

    own, other = (Spans(t.document, t.start, t.end, t.head, t.parts) for t in (key, response))
    return mention_codes(own, other, matching)
