"""The mentions of key and response that are scored, and which of them are the same.

Conventions: codes are integers, (n_mentions,), equal for mentions that count as the same.  A discontinuous mention
consists of the tokens of its parts only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closeread.arrays import Mask
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.metrics.overlap import (
    KEY,
    RESPONSE,
    Side,
    Sides,
    code_spans,
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
        key, response: the documents.
        sides: their mentions as the metrics take them.
        aliases: how CorefUD's scorer looks them up, if that is to be done.
    """

    key: Documents
    response: Documents
    sides: Sides
    aliases: Aliases | None = None

    def find_responses(self) -> list[int]:
        """Return the response mention that each key mention matches; -1 for none."""
        codes = mention_codes(*self.sides) if self.aliases is None else self.aliases.zeros
        row_of = {code: row for row, code in enumerate(codes[RESPONSE].tolist())}
        return [row_of.get(code, -1) for code in codes[KEY].tolist()]


def match_sides(
    key: Documents,
    response: Documents,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
    zeros: str = "linear",
) -> MatchedMentions:
    """Prepare key and response for the metrics: drop repeats, then singletons, then zeros, then match mentions.

    Options and exceptions are those of `count`.  With `duplicates="last"`, entities are in the order of the text (see
    `order_by_text`).  With `duplicates="reference"` a singleton is an entity that has one mention in the file.
    """
    if matching != "exact":
        require_heads(key, response, matching)
    if duplicates == "error":
        if count_repeated(response):
            raise ValueError("the response has mentions that occur more than once")
        if count_repeated(key):
            duplicates = "reference"
    elif duplicates == "first":
        key = without_duplicates(key)
        response = without_duplicates(response)
    if duplicates == "reference" and zeros == "corefud":
        raise RequestError(
            "zeros 'corefud' and duplicates 'reference' follow two different scorers; "
            "use duplicates 'last'"
        )
    if keep_singletons == "false":
        from closeread.tasks.coref.selection import without_singletons

        key = without_singletons(key)
        response = without_singletons(response)
    if not (key.is_plain and response.is_plain):
        key, response = prepare_zeros(key, response, matching, zeros)
    # Minimum spans follow coval, which keeps all repeats.
    if duplicates == "reference" and matching != "minimum":
        return match_as_reference(key, response, matching, zeros)
    sides = make_sides(key, response, matching, zeros)
    aliases = None
    if zeros == "corefud" and (key.has_nodes or response.has_nodes):
        from closeread.tasks.coref.metrics.corefud import find_aliases
        from closeread.tasks.coref.metrics.inexact_matching import number_spans

        aliases = find_aliases(sides, *number_spans(key, response, matching))
    return MatchedMentions(key, response, sides, aliases)


def match_as_reference(
    key: Documents, response: Documents, matching: str, zeros: str
) -> MatchedMentions:
    """Match mentions, and drop repeated ones of the response as the reference scorer does."""
    from closeread.tasks.coref.selection import keep_mentions, order_as_reference

    key = key.replaced(map(order_as_reference, key.documents))
    response = response.replaced(map(order_as_reference, response.documents))
    key_side, response_side = make_sides(key, response, matching, zeros)
    is_kept = keep_as_reference(key_side, response_side)
    response = keep_mentions(response, is_kept)
    return MatchedMentions(key, response, (key_side, response_side.select(is_kept)))


def keep_as_reference(key: Side, response: Side) -> Mask:
    """Find the rows of a response that the reference scorer (8.01) keeps: it drops some repeated mentions.

    A mention of the key keeps its first entity in the response only, the one with the lowest number.  A mention that
    the key lacks stays in all of its entities, and so do the repeated mentions of the key.  The scorer refuses to score
    after it has dropped more than ten; this function does not.
    """
    in_key, in_response = mention_codes(key, response)
    later = find_duplicates(response)[:, 1]
    is_kept = np.ones(len(in_response), dtype=np.bool_)
    is_kept[later[np.isin(in_response[later], in_key)]] = False
    return is_kept


def prepare_zeros(
    key: Documents, response: Documents, matching: str, zeros: str
) -> tuple[Documents, Documents]:
    """Number the tokens of sides alike if one has empty nodes, and drop their zeros if these are excluded."""
    if not (key.has_nodes or response.has_nodes):
        return key, response
    from closeread.tasks.coref.empty_nodes import share_numbering, without_zeros

    if matching == "minimum" and key.has_constituents:
        raise RequestError(
            "matching 'minimum' needs files without empty nodes, which constituents don't contain"
        )
    key, response = share_numbering(key, response)
    if zeros == "exclude":
        key = without_zeros(key)
        response = without_zeros(response)
    return key, response


def make_sides(
    key: Documents, response: Documents, matching: str = "exact", zeros: str = "linear"
) -> Sides:
    """Return both sides as columns, with the same code for mentions of a document that match."""
    is_plain = key.is_plain and response.is_plain
    has_parts = not is_plain and (key.has_parts or response.has_parts)
    by_dependency = zeros in ("dependent", "corefud") and key.has_nodes and response.has_nodes
    if matching == "exact" and not has_parts and not by_dependency:
        codes = code_spans(key.columns, response.columns)
    elif matching == "minimum" and key.has_constituents:
        from closeread.tasks.coref.metrics.minimum_spans import minimum_codes

        codes = minimum_codes(key, response)
    else:
        from closeread.tasks.coref.metrics.inexact_matching import match_mentions

        codes = match_mentions(key, response, matching, by_dependency=by_dependency)
    key_side = Side(key.columns.document, codes[KEY], key.columns.entity)
    response_side = Side(response.columns.document, codes[RESPONSE], response.columns.entity)
    return key_side, response_side


def count_repeated(documents: Documents) -> int:
    """Return the number of mentions of the same tokens as an earlier one of their document."""
    side, _ = make_sides(documents, documents)
    return len(find_duplicates(side))


def require_heads(key: Documents, response: Documents, matching: str) -> None:
    """Check that mentions can be matched inexactly: by heads of both sides, or by heads or minimum spans of the key."""
    if matching == "minimum":
        if not (key.has_constituents or key.has_minimum_spans) and key.has_mentions:
            from closeread.tasks.coref.metrics.minimum_spans import NEEDED

            raise RequestError(f"matching 'minimum' needs {NEEDED}")
        return
    if key.has_heads and response.has_heads:
        return
    having = "CorefUD has them, and JSON Lines with mentions [start, end, head]"
    if matching == "partial":
        if not key.has_heads and key.has_minimum_spans:
            return
        having += "; minimum spans of the key do as well"
    side = "response" if key.has_heads else "key"
    raise RequestError(
        f"matching '{matching}' needs heads on both sides, but the {side} has none ({having})"
    )


def without_duplicates(documents: Documents) -> Documents:
    """Return the documents with every mention in its first entity only (see `order_by_text`)."""
    return order_entities_by_text(documents, in_first_entity=True)


def order_entities_by_text(documents: Documents, *, in_first_entity: bool = False) -> Documents:
    """Order the entities by the text if any mention is repeated (see `order_by_text`)."""
    if not count_repeated(documents):
        return documents
    from closeread.tasks.coref.selection import order_by_text

    return documents.replaced(
        order_by_text(document, in_first_entity=in_first_entity) for document in documents.documents
    )


def count_dropped(key: Documents, response: Documents) -> int:
    """Count the repeated mentions that the reference scorer drops from a response."""
    is_kept = keep_as_reference(*make_sides(key, response))
    return int((~is_kept).sum())


def have_common_mentions(key: Documents, response: Documents, matching: str, zeros: str) -> bool:
    """Return whether any mention of the key matches one of the response."""
    if not (key.is_plain and response.is_plain):
        key, response = prepare_zeros(key, response, "exact", "linear")
    for rule in ("exact", matching):
        key_codes, response_codes = mention_codes(*make_sides(key, response, rule, zeros))
        # A set stops at the first common mention, where NumPy would sort all of them.
        if not set(key_codes.tolist()).isdisjoint(response_codes.tolist()):
            return True
    return False
