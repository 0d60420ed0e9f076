"""The mentions of key and response that are scored, and which of them are the same.

Conventions: codes are integers, (n_mentions,), equal for mentions that count as the same.  A discontinuous mention
consists of the tokens of its parts only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Ints
from closeread.counts.procedure import name_documents
from closeread.exceptions import RequestError
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.overlap import (
    KEY,
    RESPONSE,
    Side,
    find_duplicates,
    mention_codes,
)

if TYPE_CHECKING:
    from closeread.tasks.coref.metrics.corefud import Aliases

ZEROS = ("linear", "dependent", "corefud", "exclude")


@dataclass(frozen=True, eq=False)
class MatchedMentions:
    """The mentions that are scored, with the same numbers for the same tokens on both sides.

    Attributes:
        key, response: the mentions.
        sides: the same as the metrics take them, with a row for each of these mentions.
        aliases: how CorefUD's scorer looks them up, if that is to be done.
    """

    key: MentionTable
    response: MentionTable
    sides: tuple[Side, Side]
    aliases: Aliases | None = None

    def find_responses(self) -> list[int]:
        """Return the response mention that each key mention matches; -1 for none."""
        codes = mention_codes(*self.sides) if self.aliases is None else self.aliases.zeros
        row_of = {code: row for row, code in enumerate(codes[RESPONSE].tolist())}
        return [row_of.get(code, -1) for code in codes[KEY].tolist()]


def match_sides(
    key: MentionTable,
    response: MentionTable,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
    zeros: str = "linear",
) -> MatchedMentions:
    """Prepare key and response for the metrics: drop repeats, then singletons, then zeros, then match mentions.

    Options and exceptions are those of `count`.  With `duplicates="last"`, entities are in the order of the text (see
    `order_by_text`).  With `duplicates="reference"` a singleton is an entity that has one mention in the file.
    """
    require_heads(key, response, matching)
    if duplicates == "error":
        if len(find_repeated_mentions(response)):
            raise ValueError("the response has mentions that occur more than once")
        if len(find_repeated_mentions(key)):
            duplicates = "reference"
    elif duplicates == "first":
        key, response = map(without_duplicates, (key, response))
    if duplicates == "reference" and zeros == "corefud":
        raise RequestError(
            "zeros 'corefud' and duplicates 'reference' follow two different scorers; "
            "use duplicates 'last'"
        )
    if keep_singletons == "false":
        key, response = map(without_singletons, (key, response))
    has_empty_nodes = key.empty is not None or response.empty is not None
    if has_empty_nodes:
        key, response = prepare_zeros(key, response, matching, zeros)
    with name_documents(key.names):
        sides = make_sides(key, response, matching, zeros)
    # Minimum spans follow coval, which keeps all repeats.
    if duplicates == "reference" and matching != "minimum":
        from closeread.tasks.coref.metrics.duplicates import keep_as_reference, order_as_reference

        key_side, response_side = map(order_as_reference, sides, (key, response))
        is_kept = keep_as_reference(key_side, response_side)
        return MatchedMentions(
            key, response.select(is_kept), (key_side, response_side.select(is_kept))
        )
    aliases = None
    if has_empty_nodes and zeros == "corefud":
        from closeread.tasks.coref.metrics.corefud import find_aliases
        from closeread.tasks.coref.metrics.inexact_matching import number_spans

        aliases = find_aliases(sides, *number_spans(key, response, matching))
    return MatchedMentions(key, response, sides, aliases)


def prepare_zeros(
    key: MentionTable, response: MentionTable, matching: str, zeros: str
) -> tuple[MentionTable, MentionTable]:
    """Number the tokens of sides with empty nodes alike, and drop their zeros if these are excluded."""
    from closeread.tasks.coref.empty_nodes import find_zeros, share_numbering

    if matching == "minimum" and key.trees is not None:
        raise RequestError(
            "matching 'minimum' needs files without empty nodes, which constituents don't contain"
        )
    key, response = share_numbering(key, response)
    if zeros == "exclude":
        key, response = (table.select(~find_zeros(table)) for table in (key, response))
    return key, response


def make_sides(
    key: MentionTable, response: MentionTable, matching: str = "exact", zeros: str = "linear"
) -> tuple[Side, Side]:
    """Return both sides as columns, with the same code for mentions of a document that match."""
    has_empty_nodes = key.empty is not None and response.empty is not None
    by_dependency = zeros in ("dependent", "corefud") and has_empty_nodes
    if matching == "exact" and not key.parts and not response.parts and not by_dependency:
        width = 1 + int(np.concatenate([key.end, response.end]).max(initial=0))
        codes = (key.start * width + key.end, response.start * width + response.end)
    elif matching == "minimum" and key.trees is not None:
        from closeread.tasks.coref.metrics.minimum_spans import minimum_codes

        codes = minimum_codes(key, response)
    else:
        from closeread.tasks.coref.metrics.inexact_matching import match_mentions

        codes = match_mentions(key, response, matching, by_dependency=by_dependency)
    return (
        Side(key.document, codes[KEY], key.entity),
        Side(response.document, codes[RESPONSE], response.entity),
    )


def require_heads(key: MentionTable, response: MentionTable, matching: str) -> None:
    """Check that mentions can be matched: by heads of both sides, or by heads or minimum spans of the key."""
    if matching == "exact":
        return
    if matching == "minimum":
        if key.trees is None and not key.minimum and len(key.start):
            from closeread.tasks.coref.metrics.minimum_spans import NEEDED

            raise RequestError(f"matching 'minimum' needs {NEEDED}")
        return
    if key.head is not None and response.head is not None:
        return
    having = "CorefUD has them, and JSON Lines with mentions [start, end, head]"
    if matching == "partial":
        if key.head is None and key.minimum:
            return
        having += "; minimum spans of the key do as well"
    side = "key" if key.head is None else "response"
    raise RequestError(
        f"matching '{matching}' needs heads on both sides, but the {side} has none ({having})"
    )


def without_singletons(table: MentionTable) -> MentionTable:
    """Return the table without the entities of one mention."""
    return table.select(np.bincount(table.entity)[table.entity] > 1)


def find_repeated_mentions(table: MentionTable) -> Ints:
    """Find the mentions of the same tokens, (n, 2): the first row of each, and a row that repeats it."""
    return find_duplicates(make_sides(table, table)[KEY])


def without_duplicates(table: MentionTable) -> MentionTable:
    """Return the table with every mention in its first entity only (see `order_by_text`)."""
    return order_entities_by_text(table, in_first_entity=True)


def order_entities_by_text(table: MentionTable, *, in_first_entity: bool = False) -> MentionTable:
    """Order the entities by the text if any mention is repeated (see `order_by_text`)."""
    if not len(find_repeated_mentions(table)):
        return table
    from closeread.tasks.coref.metrics.duplicates import order_by_text

    return order_by_text(table, in_first_entity=in_first_entity)


def count_dropped(key: MentionTable, response: MentionTable) -> int:
    """Count the repeated mentions that the reference scorer drops from a response."""
    from closeread.tasks.coref.metrics.duplicates import keep_as_reference

    return int((~keep_as_reference(*make_sides(key, response))).sum())


def have_common_mentions(
    key: MentionTable, response: MentionTable, matching: str, zeros: str
) -> bool:
    """Return whether any mention of the key matches one of the response."""
    if key.empty is not None or response.empty is not None:
        key, response = prepare_zeros(key, response, "exact", "linear")
    for rule in ("exact", matching):
        key_codes, response_codes = mention_codes(*make_sides(key, response, rule, zeros))
        # A set stops at the first common mention, where NumPy would sort all of them.
        if not set(key_codes.tolist()).isdisjoint(response_codes.tolist()):
            return True
    return False
