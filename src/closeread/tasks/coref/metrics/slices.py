"""Counts of parts of documents: the mentions of each value of a field, such as the size of their entity.

Conventions: recall is over the mentions of the key in a slice, precision over those of the response.  The counts of all
slices sum to those of the documents (`share_mentions`).  CEAF maps entities to entities, and BLANC and CoNLL F1 need
other counts than sums over mentions, so they have no slices.

What a mention adds: recall is the sum of what is found over the sum of what there is; summed over all mentions of the
key, both are the counts of the whole metric.  Precision is the same with the sides swapped.  No mention occurs twice on
a side.

* mentions: a mention is 1, and is found if the other side has it.
* MUC (Vilain et al. 1995): a cluster of n mentions has n - 1 links.  The link of a mention that is not the first of its
  cluster is 1, and is found if an earlier mention of its cluster is in its cluster on the other side, too.  This is
  the anaphor-decomposable score of the CRAC shared task (Žabokrtský et al. 2022), where an anaphor is resolved if the
  response links it to one of its antecedents.
* B-cubed (Bagga and Baldwin 1998): a mention is 1; the share of its cluster that is with it on the other side is found.
* LEA (Moosavi and Strube 2016): a cluster of n mentions has weight n and n (n - 1) / 2 links.  Each link is divided
  between its two mentions, so that a mention is 1, and the share of its n - 1 links is found.  A singleton has one
  link, to itself, which is found if the mention is a singleton on the other side, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts
from closeread.counts.procedure import Options
from closeread.counts.table import Breakdown
from closeread.exceptions import RequestError, advise
from closeread.tasks.coref.documents import documents_of
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.matching import MentionMatching, repeats
from closeread.tasks.coref.metrics.overlap import Side, match_rows, mention_codes, sum_by_index
from closeread.tasks.coref.metrics.scores import EACH_SIDE

METRICS = ("mentions", "muc", "b3", "lea")
"""The metrics that are sums over mentions; the others map clusters to clusters or count links between clusters."""

COUNTS = tuple(f"{metric}/{count}" for metric in METRICS for count in EACH_SIDE)
"""What is counted in each slice."""

SIZES = (2, 3, 5, 10, 30)
DISTANCES = (10, 30, 100, 300)
TYPES = {"PRON": 0, "PROPN": 1, "NOUN": 2, "": 4, "_": 4}
"""The part of `mention_type` of each part of speech; that of all others is `OTHER_TYPE`."""

OTHER_TYPE = 3


@dataclass(frozen=True)
class MentionField:
    """A field of mentions.

    Attributes:
        parts: its values, in order.
        number: returns the part of each mention of a side, (n_mentions,), as an index into `parts`.
        lacks: names what a side needs and lacks; empty if nothing.
        is_of_entities: whether all mentions of an entity have the same value.
    """

    parts: tuple[str, ...]
    number: Callable[[MentionTable], Ints]
    lacks: Callable[[MentionTable], str] = lambda _: ""
    is_of_entities: bool = False


def _order_mentions(table: MentionTable) -> Ints:
    """Return the rows in the order of the text: by start, shorter mentions first."""
    return np.lexsort((table.end, table.start, table.document))


def _number_distances(table: MentionTable) -> Ints:
    """Number the tokens between the starts of a mention and of the mention of its entity before it."""
    order = _order_mentions(table)
    order = order[np.argsort(table.entity[order], kind="stable")]
    steps = np.searchsorted(DISTANCES, np.diff(table.start[order], prepend=0), "right") + 1
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.where(mark_run_starts(table.entity[order]), 0, steps)
    return numbers


def _number_types(table: MentionTable) -> Ints:
    tags = table.tags or ()
    return np.array([TYPES.get(tag, OTHER_TYPE) for tag in tags], np.int64)


def _lacks_tags(table: MentionTable) -> str:
    tags = set(table.tags or ())
    return "" if tags - {"", "_"} else "parts of speech, as CorefUD files have them"


def _lacks_heads(table: MentionTable) -> str:
    is_known = table.head is not None or table.empty is not None
    return "" if is_known else "heads of mentions and empty nodes, as CorefUD files have them"


def _describe_ranges(bounds: tuple[int, ...], first: int) -> tuple[str, ...]:
    """Write the ranges between bounds.

    >>> _describe_ranges((2, 3, 5), 1)
    ('1', '2', '3-4', '5+')
    """
    starts = (first, *bounds)
    inner = (str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in zip(starts, bounds, strict=False))
    return (*inner, f"{starts[-1]}+")


FIELDS: Mapping[str, MentionField] = {
    "entity_size": MentionField(
        _describe_ranges(SIZES, 1),
        lambda table: np.searchsorted(
            SIZES, np.bincount(table.entity, minlength=1)[table.entity], "right"
        ),
        is_of_entities=True,
    ),
    "mention_type": MentionField(
        ("pronoun", "proper noun", "common noun", "other", "unknown"), _number_types, _lacks_tags
    ),
    "distance": MentionField(("first mention", *_describe_ranges(DISTANCES, 0)), _number_distances),
    "zero": MentionField(
        ("zero", "overt"), lambda table: np.where(find_zeros(table), 0, 1), _lacks_heads
    ),
}


def share_mentions(
    sides: tuple[Side, Side], lookups: Sequence[tuple[Side, Side]], orders: tuple[Ints, Ints]
) -> tuple[Floats, Floats]:
    """Return the contribution of each mention of the key to recall, and of each mention of the response to precision.

    Args:
        sides: key and response, with equal codes for mentions that match.
        lookups: the same rows twice, as the mentions of the key are found, and as those of the response are.
        orders: for each side (n_mentions,) its rows in the order of the text.

    Returns:
        For each side (n_mentions, 2 * len(METRICS)): for each of `METRICS` what is found, and what there is.
    """
    key_code, response_code = mention_codes(*sides)
    key_row, its_row = match_rows(*mention_codes(*lookups[0]))
    its_key_row, response_row = match_rows(*mention_codes(*lookups[1]))
    return (
        _share_side(*sides, orders[0], np.isin(key_code, response_code), key_row, its_row),
        _share_side(
            *sides[::-1], orders[1], np.isin(response_code, key_code), response_row, its_key_row
        ),
    )


def _share_side(
    side: Side, other: Side, order: Ints, matched: Mask, row: Ints, other_row: Ints
) -> Floats:
    """Return the contribution of each mention of a side to its recall, given the rows found on the other side."""
    size = np.bincount(side.entity, minlength=1)[side.entity]
    there = np.full(len(size), -1)  # the entity of the other side
    there[row] = other.entity[other_row]
    is_found = there >= 0
    cell = np.where(is_found, side.entity * (other.n_entities + 1) + there, -1)
    _, number, n_shared = np.unique(cell, return_inverse=True, return_counts=True)
    shared = np.where(is_found, n_shared[number], 0)
    is_alone_there = np.bincount(other.entity, minlength=1)[there] == 1
    lea = np.where(
        size == 1, is_found & is_alone_there, np.maximum(shared - 1, 0) / np.maximum(size - 1, 1)
    )
    is_anaphor = ~_mark_first(side.entity, order)
    is_resolved = is_found & ~_mark_first(cell, order)
    ones = np.ones(len(size))
    columns = [
        matched,
        ones,
        is_resolved,
        is_anaphor,
        shared / np.maximum(size, 1),
        ones,
        lea,
        ones,
    ]
    return np.column_stack(columns).astype(np.float64)


def _mark_first(values: Ints, order: Ints) -> Mask:
    """Mark the first row of each value, in an order of the rows."""
    by_value = order[np.argsort(values[order], kind="stable")]
    first = np.zeros(len(values), np.bool_)
    first[by_value] = mark_run_starts(values[by_value])
    return first


def sum_groups(
    sides: tuple[Side, Side],
    shares: tuple[Floats, Floats],
    groups: tuple[Ints, Ints],
    n_groups: int,
    n_documents: int,
) -> Floats:
    """Sum the shares of the mentions of each group, for every document.

    Args:
        sides, shares: key and response, and what `share_mentions` returns for them.
        groups: for each side (n_mentions,) the group of each mention, from 0.
        n_groups, n_documents: the numbers of groups and of documents.

    Returns:
        (n_groups, n_documents, 4 * len(METRICS)), columns `COUNTS`.
    """
    sums = []
    for side, values, group in zip(sides, shares, groups, strict=True):
        index = group * n_documents + side.document
        columns = [sum_by_index(index, column, n_groups * n_documents) for column in values.T]
        sums.append(np.column_stack(columns).reshape(n_groups, n_documents, len(METRICS), 2))
    return np.concatenate(sums, axis=3).reshape(n_groups, n_documents, -1)


def find_lacking(key: Any, response: Any, options: Options, field: str) -> str:
    """Return a sentence on anything missing for slices by a field of mentions; empty if nothing is."""
    if options["average"] == "macro":
        parts = f"slices by {field} are parts of documents, whose scores can't be averaged"
        return parts + advise("; use {average=micro}")
    if options["matching"] == "minimum":
        needed = f"{field} needs mentions that match at most one, as minimum spans need not"
        return needed + advise("; use another {matching}")
    if options["split_antecedents"] != "ignore":
        advice = advise("; use {split_antecedents=ignore}")
        return f"slices by {field} have no split antecedents{advice}"
    tables = {"key": documents_of(key).table}
    tables["response"] = with_annotation(documents_of(response).table, tables["key"])
    for name, table in tables.items():
        lacking = FIELDS[field].lacks(table)
        if lacking and len(table.entity):
            return f"{field} needs {lacking}, but the {name} has none"
        if options["duplicates"] != "first" and len(repeats(table)):
            needed = f"{field} needs every mention in one entity, but the {name} repeats mentions"
            return needed + advise("; use {duplicates=first}")
    return ""


def require_fields(
    key: MentionTable, response: MentionTable, options: Options, fields: Sequence[str]
) -> None:
    """Check that nothing is missing for slices by some fields of mentions."""
    for field in fields:
        lacking = find_lacking(key, response, options, field)
        if lacking:
            raise RequestError(lacking)


def with_annotation(response: MentionTable, key: MentionTable) -> MentionTable:
    """Return the response with the key's empty nodes if its format counts no tokens, so that they number mentions alike."""
    has_tokens = response.empty is not None or response.n_tokens is not None
    return response if has_tokens else replace(response, empty=key.empty)


def count_slices(fields: Sequence[str], matched: MentionMatching) -> dict[str, Breakdown]:
    """Count the mentions of each value of some `FIELDS` in every document."""
    key = matched.key
    response = with_annotation(matched.response, key)
    shares = share_mentions(
        matched.sides, matched.lookups, (_order_mentions(key), _order_mentions(response))
    )
    slices = {}
    for name in fields:
        field = FIELDS[name]
        groups = field.number(key), field.number(response)
        counts = sum_groups(matched.sides, shares, groups, len(field.parts), len(key.names))
        slices[name] = Breakdown.from_dense(field.parts, counts, COUNTS)
    return slices
