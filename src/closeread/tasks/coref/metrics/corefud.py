"""Where CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2) looks for mentions if zeros are matched.

It finds mentions by their places.  Of two mentions that match at different places, each is looked up at the place of the
other; but there are places of which this is true twice, and the later mention then decides.

Conventions: a place is a number, equal for mentions of the same tokens (and heads, if they matter), whatever matches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.tasks.coref.metrics.duplicates import RepeatedMentions
from closeread.tasks.coref.metrics.entity import OF_SIDE, Counting
from closeread.tasks.coref.metrics.overlap import Pair, Sides, match_rows, mention_codes


class Aliases(NamedTuple):
    """Both sides with other codes of their mentions.

    Attributes:
        recall: as mentions of the key are looked up.
        precision: as mentions of the response are looked up.
        zeros: the codes by which the score of zeros looks up those of the key, and those of the response.
    """

    recall: Sides
    precision: Sides
    zeros: Pair


def find_aliases(sides: Sides, key_places: Ints, response_places: Ints) -> Aliases:
    """Find where the scorer looks for mentions, given the places of those that have codes in common."""
    key, response = sides
    key_rows, response_rows = match_rows(*mention_codes(key, response))
    key_matched = key_places[key_rows]
    response_matched = response_places[response_rows]
    is_moved = key_matched != response_matched
    alias = np.arange(1 + np.concatenate([key_places, response_places]).max(initial=-1))
    alias[key_matched[is_moved]] = response_matched[is_moved]
    alias[response_matched[is_moved]] = key_matched[is_moved]
    key_alias = alias[key_places]
    response_alias = alias[response_places]
    zero_alias = np.where(np.isin(key_places, response_places), key_places, key_alias)
    recall = (key._replace(mention=key_alias), response._replace(mention=response_places))
    precision = (key._replace(mention=key_places), response._replace(mention=response_alias))
    return Aliases(recall, precision, (zero_alias, response_places))


def compare_by_aliases(sides: Sides, aliases: Aliases, n_documents: int) -> Counting:
    """Compare sides as the scorer does: mentions are counted by what matches, and entities by the aliases."""
    matched = RepeatedMentions(sides, n_documents)
    recall = RepeatedMentions(aliases.recall, n_documents)
    precision = RepeatedMentions(aliases.precision, n_documents)
    # Each mention of the key counts in CEAFm, too, even if two of an entity are looked up at the same place.
    recall.common_rows = recall.common_key_rows

    def count(metric: str) -> Floats:
        if metric == "mentions":
            return matched.count_mentions()
        counts = recall.count_by_last(metric)
        if metric in OF_SIDE:
            counts[:, 2:] = precision.count_by_last(metric)[:, 2:]
        return counts

    return count
