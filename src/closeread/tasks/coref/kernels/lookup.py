"""Where CorefUD's scorer finds mentions that are matched by other rules than their tokens.

Source: github.com/ufal/corefud-scorer, version 1.2.  It keeps matched mentions in one dictionary for both directions,
where a mention is known by its tokens: from the key mention to the response mention, and then from the response mention
to the key mention, which replaces an earlier entry.  If a zero of the key and a zero of the response are at the same
place but match others, one entry is lost, and the mention is found at its match's place or at its own.  The score of
zeros looks at the same place first.

Conventions: the place of a mention is a code, equal on both sides for mentions with the same tokens (with head matching
also the same head); no mention occurs twice on a side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.coref.kernels.overlap import Overlap, match_rows, overlap
from closeread.tasks.coref.kernels.sides import Side


class Places(NamedTuple):
    """The places of the mentions of key and response, and where the scorer looks for them on the other side.

    Attributes:
        key, response: (n_mentions,) the place of each mention.
        key_found, response_found: (n_mentions,) the place on the other side where the scorer looks for each mention.
        zero_found: (n_key_mentions,) the same, where its score of zeros looks.
    """

    key: Ints
    response: Ints
    key_found: Ints
    response_found: Ints
    zero_found: Ints


def look_up(key: Ints, response: Ints, key_row: Ints, response_row: Ints) -> Places:
    """Find where the scorer looks for mentions.

    Args:
        key, response: (n_mentions,) the place of each mention.
        key_row, response_row: (n_pairs,) the mentions that match.
    """
    one, other = key[key_row], response[response_row]
    one, other = one[one != other], other[one != other]
    found = np.arange(max(key.max(initial=-1), response.max(initial=-1)) + 1)
    found[one] = other
    found[other] = one
    return Places(key, response, found[key], found[response], np.where(np.isin(key, response), key, found[key]))


@dataclass(frozen=True, eq=False)
class DirectedOverlap(Overlap):
    """An overlap by the mentions that the scorer finds for those of the key; `mentions` counts those that match.

    Attributes:
        backward: the overlap by the mentions that it finds for those of the response.
    """

    is_directed = True
    backward: Overlap

    @property
    def for_precision(self) -> Overlap:
        """The table of precision: the overlap of the response's mentions, transposed."""
        return self.backward.transposed


def direct_sides(key: Side, response: Side, places: Places) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
    """Return both sides twice: with the codes that the scorer finds for the key's mentions, and the response's."""

    def recode(of_key: Ints, of_response: Ints) -> tuple[Side, Side]:
        return Side(key.document, of_key, key.entity), Side(response.document, of_response, response.entity)

    return recode(places.key_found, places.response), recode(places.key, places.response_found)


def directed_overlap(key: Side, response: Side, places: Places, n_documents: int) -> DirectedOverlap:
    """Build the tables of key and response.

    Args:
        key, response: the mentions, with equal codes for those that match.
        places: their places.
        n_documents: the number of documents.
    """

    forward, backward = (overlap(*sides, n_documents) for sides in direct_sides(key, response, places))
    mentions = overlap(key, response, n_documents).mentions
    return DirectedOverlap(**{**vars(forward), "mentions": mentions}, backward=backward)


def find_rows(wanted: Ints, codes: Ints) -> Ints:
    """Return the row of each wanted code, -1 if there is none; the last row if there are several."""
    row, place = match_rows(wanted, codes)
    found = np.full(len(wanted), -1)
    found[row] = place
    return found
