"""Fields of mentions to slice by: the size of the entity, the type, the distance to the antecedent, zeros.

Conventions: every mention of a side belongs to one part of a field, by what its own side says about it: its entity
there, its head there.  Sizes and distances are skewed, so the bounds of their parts grow about threefold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, mark_run_starts
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.mention_tags import guess_tags, has_tags

POS = "pos"
"""The name in `MentionTable.mention_fields` of the part of speech of a mention's head."""

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


def order_mentions(table: MentionTable) -> Ints:
    """Return the rows in the order of the text: by start, shorter mentions first."""
    return np.lexsort((table.end, table.start, table.document))


def _number_sizes(table: MentionTable) -> Ints:
    return np.searchsorted(SIZES, np.bincount(table.entity, minlength=1)[table.entity], "right")


def _number_distances(table: MentionTable) -> Ints:
    """Number the tokens between the starts of a mention and of the mention of its entity before it."""
    order = order_mentions(table)
    order = order[np.argsort(table.entity[order], kind="stable")]
    start = table.start[order]
    steps = np.searchsorted(DISTANCES, np.diff(start, prepend=0), "right") + 1
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.where(mark_run_starts(table.entity[order]), 0, steps)
    return numbers


def _number_types(table: MentionTable) -> Ints:
    tags = table.mention_fields[POS] if _has_pos(table) else guess_tags(table)
    return np.fromiter((TYPES.get(tag, OTHER_TYPE) for tag in tags), np.int64, len(tags))


def _has_pos(table: MentionTable) -> bool:
    return any(tag not in ("", "_") for tag in table.mention_fields.get(POS, ()))


def _lacks_pos(table: MentionTable) -> str:
    return "" if _has_pos(table) or has_tags(table) else "parts of speech, as CorefUD and CoNLL-2012 files have them"


def _number_zeros(table: MentionTable) -> Ints:
    """Number mentions whose head is an empty node as 0, others as 1."""
    return np.where(find_zeros(table), 0, 1)


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
    "entity_size": MentionField(_describe_ranges(SIZES, 1), _number_sizes, is_of_entities=True),
    "mention_type": MentionField(
        ("pronoun", "proper noun", "common noun", "other", "unknown"), _number_types, _lacks_pos
    ),
    "distance": MentionField(("first mention", *_describe_ranges(DISTANCES, 0)), _number_distances),
    "zero": MentionField(("zero", "overt"), _number_zeros, _lacks_heads),
}
