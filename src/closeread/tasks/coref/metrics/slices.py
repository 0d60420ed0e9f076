"""Counts of parts of documents: the mentions of each value of a field, such as the size of their entity.

Conventions: recall is over the mentions of the key in a slice, precision over those of the response.  The counts of all
slices sum to those of the documents.  CEAF maps entities to entities, and BLANC and CoNLL F1 need
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

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from closeread.arrays import Floats, Ints, sum_groups
from closeread.counts.procedure import Options
from closeread.counts.table import Breakdown
from closeread.exceptions import RequestError, advise
from closeread.tasks.coref.documents import Document, Documents, documents_of
from closeread.tasks.coref.metrics.matching import MatchedMentions, count_repeated
from closeread.tasks.coref.metrics.overlap import Pair, Side, Sides, mention_codes
from closeread.tasks.coref.metrics.scores import EACH_SIDE

METRICS = ("mentions", "muc", "b3", "lea")
"""The metrics that are sums over mentions; the others map clusters to clusters or count links between clusters."""

COUNTS = tuple(map("/".join, product(METRICS, EACH_SIDE)))
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
    number: Callable[[Documents], Ints]
    lacks: Callable[[Documents], str] = lambda _: ""
    is_of_entities: bool = False


def order_mentions(documents: Documents) -> Ints:
    """Return the rows in the order of the text: by start, shorter mentions first."""
    columns = documents.columns
    return np.lexsort((columns.end, columns.start, columns.document))


def number_sizes(documents: Documents) -> Ints:
    """Number the sizes of the entities of mentions."""
    entity = documents.columns.entity
    sizes = np.bincount(entity, minlength=1)[entity]
    return np.searchsorted(SIZES, sizes, "right")


def number_distances(documents: Documents) -> Ints:
    """Number the tokens between the starts of a mention and of the mention of its entity before it."""
    starts = documents.columns.start.tolist()
    entities = documents.columns.entity.tolist()
    numbers = np.zeros(len(starts), np.int64)
    last_start: dict[int, int] = {}
    for row in order_mentions(documents).tolist():
        entity = entities[row]
        if entity in last_start:
            numbers[row] = 1 + bisect_right(DISTANCES, starts[row] - last_start[entity])
        last_start[entity] = starts[row]
    return numbers


def number_types(documents: Documents) -> Ints:
    """Number the types of mentions."""
    tags = [mention.tag or "" for mention in documents.list_mentions()]
    return np.array([TYPES.get(tag, OTHER_TYPE) for tag in tags], np.int64)


def number_zeros(documents: Documents) -> Ints:
    """Number zeros with 0 and other mentions with 1."""
    from closeread.tasks.coref.empty_nodes import find_zeros

    return np.where(find_zeros(documents), 0, 1)


def find_lacking_tags(documents: Documents) -> str:
    """Name the parts of speech if the side has none."""
    has_tags = any(mention.tag not in (None, "", "_") for mention in documents.list_mentions())
    return "" if has_tags else "parts of speech, as CorefUD files have them"


def find_lacking_nodes(documents: Documents) -> str:
    """Name heads and empty nodes if the side has neither."""
    is_known = documents.has_heads or documents.has_nodes
    return "" if is_known else "heads of mentions and empty nodes, as CorefUD files have them"


def describe_ranges(bounds: tuple[int, ...], first: int) -> tuple[str, ...]:
    """Write the ranges between bounds.

    >>> describe_ranges((2, 3, 5), 1)
    ('1', '2', '3-4', '5+')
    """
    ranges = []
    for start, following in pairwise((first, *bounds)):
        ranges.append(f"{start}-{following - 1}" if following > start + 1 else str(start))
    return (*ranges, f"{bounds[-1]}+")


FIELDS: Mapping[str, MentionField] = {
    "entity_size": MentionField(describe_ranges(SIZES, 1), number_sizes, is_of_entities=True),
    "mention_type": MentionField(
        ("pronoun", "proper noun", "common noun", "other", "unknown"),
        number_types,
        find_lacking_tags,
    ),
    "distance": MentionField(
        ("first mention", *describe_ranges(DISTANCES, 0)),
        number_distances,
    ),
    "zero": MentionField(("zero", "overt"), number_zeros, find_lacking_nodes),
}


def credit_mentions(sides: Sides, aliases: Sequence[Sides], orders: Pair) -> list[Floats]:
    """Return what each mention of the key adds to recall, and each mention of the response to precision.

    Args:
        sides: key and response, with equal codes for mentions that match.
        aliases: the same rows twice, as the mentions of the key are found, and as those of the response are.
        orders: for each side (n_mentions,) its rows in the order of the text.

    Returns:
        For each side (n_mentions, 2 * len(METRICS)): for each of `METRICS` what is found, and what there is.
    """
    credits_of_sides = []
    for number, order in enumerate(orders):
        rows = order.tolist()
        other_entities = find_entities(aliases[number], number)
        in_order = list(credit_in_order(sides[number], sides[1 - number], rows, other_entities))
        columns = np.ones((len(rows), 2 * len(METRICS)))
        columns[:, 0] = [entity is not None for entity in find_entities(sides, number)]
        columns[rows, 2:] = np.array(in_order).reshape(columns[:, 2:].shape)
        credits_of_sides.append(columns)
    return credits_of_sides


def find_entities(sides: Sequence[Side], number: int) -> list[int | None]:
    """Find the entity on the other side of each mention of a side, given by its number; None if it has none."""
    codes = mention_codes(*sides)
    other_entities = sides[1 - number].entity.tolist()
    entity_of = dict(zip(codes[1 - number].tolist(), other_entities, strict=True))
    return [entity_of.get(code) for code in codes[number].tolist()]


def credit_in_order(
    side: Side, other: Side, rows: Sequence[int], other_entities: Sequence[int | None]
) -> Iterator[tuple[float, ...]]:
    """Yield what each mention of a side adds to all metrics but the first, in the order of the text.

    Args:
        side, other: the side, and the other one.
        rows: the rows of the side in the order of the text.
        other_entities: for each row, the entity of the other side where it is found; None if it is not.
    """
    entities = side.entity.tolist()
    pairs = list(zip(entities, other_entities, strict=True))
    sizes = Counter(entities)
    other_sizes = Counter(other.entity.tolist())
    common_sizes = Counter(pairs)
    begun: set[object] = set()
    for row in rows:
        pair = pairs[row]
        entity, other_entity = pair
        size = sizes[entity]
        n_common = 0 if other_entity is None else common_sizes[pair]
        if size == 1:
            lea: float = other_entity is not None and other_sizes[other_entity] == 1
        else:
            lea = max(n_common - 1, 0) / (size - 1)
        is_resolved = n_common > 0 and pair in begun
        yield is_resolved, entity in begun, n_common / size, 1, lea, 1
        begun.update((entity, pair))


def sum_credits(
    sides: Sides,
    credits_of_sides: Sequence[Floats],
    groups: Pair,
    n_groups: int,
    n_documents: int,
) -> Floats:
    """Sum what the mentions of each group add, for every document.

    Args:
        sides, credits_of_sides: key and response, and what `credit_mentions` returns for them.
        groups: for each side (n_mentions,) the group of each mention, from 0.
        n_groups, n_documents: the numbers of groups and of documents.

    Returns:
        (n_groups, n_documents, 4 * len(METRICS)), columns `COUNTS`.
    """
    sums = []
    for side, credits_of_side, group in zip(sides, credits_of_sides, groups, strict=True):
        index = group * n_documents + side.document
        columns = [
            sum_groups(index, column, n_groups * n_documents) for column in credits_of_side.T
        ]
        sums.append(np.column_stack(columns).reshape(n_groups, n_documents, len(METRICS), 2))
    return np.concatenate(sums, axis=3).reshape(n_groups, n_documents, -1)


def find_lacking(key: Any, response: Any, options: Options, field: str) -> str:
    """Return a sentence on anything missing for slices by a field of mentions; empty if nothing is."""
    if options["average"] == "documents":
        advice = advise("; use {average=micro}")
        return f"slices by {field} are parts of documents, whose scores can't be averaged{advice}"
    if options["matching"] == "minimum":
        needed = f"{field} needs mentions that match at most one, as minimum spans need not"
        return needed + advise("; use another {matching}")
    if options["split_antecedents"] != "ignore":
        advice = advise("; use {split_antecedents=ignore}")
        return f"slices by {field} have no split antecedents{advice}"
    sides = {"key": documents_of(key)}
    sides["response"] = with_annotation(documents_of(response), sides["key"])
    for name, side in sides.items():
        lacking = FIELDS[field].lacks(side)
        if lacking and side.has_mentions:
            return f"{field} needs {lacking}, but the {name} has none"
        if options["duplicates"] != "first" and count_repeated(side):
            needed = f"{field} needs every mention in one entity, but the {name} repeats mentions"
            return needed + advise("; use {duplicates=first}")
    return ""


def require_fields(
    key: Documents, response: Documents, options: Options, fields: Sequence[str]
) -> None:
    """Check that nothing is missing for slices by some fields of mentions."""
    for field in fields:
        lacking = find_lacking(key, response, options, field)
        if lacking:
            raise RequestError(lacking)


def with_annotation(response: Documents, key: Documents) -> Documents:
    """Return the response with the key's empty nodes if its format counts no tokens, so that they number mentions alike."""
    if not key.has_nodes:
        return response

    def annotate(document: Document, key_document: Document) -> Document:
        if document.nodes or document.n_tokens is not None:
            return document
        return replace(document, nodes=key_document.nodes)

    return response.replaced(map(annotate, response.documents, key.documents))


def count_slices(fields: Sequence[str], matched: MatchedMentions) -> dict[str, Breakdown]:
    """Count the mentions of each value of some `FIELDS` in every document."""
    key = matched.key
    response = with_annotation(matched.response, key)
    orders = (order_mentions(key), order_mentions(response))
    aliases = (matched.sides, matched.sides)
    if matched.aliases is not None:
        aliases = (matched.aliases.recall, matched.aliases.precision)
    credits_of_sides = credit_mentions(matched.sides, aliases, orders)
    slices = {}
    for name in fields:
        field = FIELDS[name]
        groups = (field.number(key), field.number(response))
        shape = (len(field.parts), len(key.names))
        counts = sum_credits(matched.sides, credits_of_sides, groups, *shape)
        slices[name] = Breakdown.from_dense(field.parts, counts, COUNTS)
    return slices
