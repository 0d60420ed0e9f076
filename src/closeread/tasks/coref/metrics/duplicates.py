"""Mentions that occur more than once on a side: in several entities, or several times in one.

Sources: the reference scorer (Pradhan et al. 2014, version 8.01; for LEA its branch 9.0.0-alpha), whose counts these
are.  It keeps a map from mentions to entities that is filled entity by entity, so that a mention's last entity is the
one that counts for most metrics, while the sizes of entities count every row.

The scorer of Moosavi et al. (2019, github.com/ns-moosavi/coval), CorefUD's and that of Universal Anaphora share another
rule, "last": recall and precision are counted alike, each row of a side being looked up on the other, where a mention
is in its last entity.  Their BLANC takes the links found of the key for precision, too.  Mentions that are matched by
minimum spans, of which several of a side can be the same, are counted so for MUC, B-cubed, CEAFe and LEA; coval's CEAFm
divides by entities, and it has no BLANC: for them CEAFm counts a mention of two entities as often as both have it, and
BLANC is the reference scorer's.

Conventions: as in `overlap`.  Without repeated mentions all counts are those of `entity`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from itertools import chain, combinations, product
from math import comb

import numpy as np

from closeread.arrays import Floats, LimitError
from closeread.tasks.coref.metrics.entity import count_overlaps
from closeread.tasks.coref.metrics.overlap import SIDES, Overlap, Side, Sides, make_overlap

MAX_PAIRS = 1_000_000
"""The most pairs of a document: of an entity in the key and one in the response with the same repeated mention, or of
two mentions that have several entities in common."""

Times = Counter[int]
"""The entities of a mention in order, and how often it occurs in each."""

Places = dict[int, Times]
"""The mentions of a document with their entities."""

Pairs = defaultdict[tuple[int, int], float]
"""What is counted for an entity of the key and one of the response."""


class RepeatedMentions:
    """Two sides with repeated mentions.

    Attributes:
        places: the mentions of each document on both sides.
        last: how many mentions have an entity of the key and one of the response as their last ones.
        key_rows: how many rows of an entity of the key have an entity of the response as the last one of their mention.
        response_rows: the reverse.
        common: how many mentions two entities have in common.
        common_rows: how many rows.
        common_key_rows: how many rows of the key's entity have mentions that the response's entity has.
    """

    def __init__(self, sides: Sides, n_documents: int) -> None:
        self.sides = sides
        self.places = list(zip(*(list_places(side, n_documents) for side in sides), strict=True))
        self.last = Pairs(int)
        self.key_rows = Pairs(int)
        self.response_rows = Pairs(int)
        self.common = Pairs(int)
        self.common_rows = Pairs(int)
        self.common_key_rows = Pairs(int)
        for document, (key, response) in enumerate(self.places):
            pairs = [(key[mention], response[mention]) for mention in key.keys() & response.keys()]
            n_pairs = [len(of_key) * len(of_response) for of_key, of_response in pairs]
            n_repeated = sum(n for n in n_pairs if n > 1)
            check_pairs(document, n_repeated, "places of repeated mentions")
            for of_key, of_response in pairs:
                self._count_mention(of_key, of_response)

    def _count_mention(self, of_key: Times, of_response: Times) -> None:
        last_of_key = max(of_key)
        last_of_response = max(of_response)
        self.last[last_of_key, last_of_response] += 1
        for entity, times in of_key.items():
            self.key_rows[entity, last_of_response] += times
        for entity, times in of_response.items():
            self.response_rows[last_of_key, entity] += times
        for pair in product(of_key, of_response):
            times = of_key[pair[0]]
            self.common[pair] += 1
            self.common_rows[pair] += min(times, of_response[pair[1]])
            self.common_key_rows[pair] += times

    def overlap(self, counts: Pairs) -> Overlap:
        """Return the overlap where two entities have as much in common as was counted."""
        pairs = sorted(counts)
        key_entities, response_entities = np.array(pairs, np.int64).reshape(-1, 2).T
        common = np.array([counts[pair] for pair in pairs])
        entities = (key_entities, response_entities)
        return make_overlap(*self.sides, len(self.places), entities, common)

    def count_by_last(self, metric: str) -> Floats:
        """Count a metric by the rule "last"."""
        if metric == "mentions":
            return self.count_mentions()
        counts = {"ceafm": self.common_rows, "ceafe": self.common_key_rows}
        recall = self.overlap(counts.get(metric, self.key_rows))
        precision = self.overlap(self.response_rows)
        return count_overlaps(metric, recall, precision)

    def count_as_reference(self, metric: str) -> Floats:
        """Count a metric as the reference scorer does."""
        if metric == "mentions":
            return self.count_mentions()
        if metric == "blanc":
            return self.count_blanc()
        last = self.overlap(self.last)
        if metric == "b3":
            return self.count_b_cubed(last)
        if metric == "muc":
            return count_overlaps(metric, last, last)
        recall = self.overlap(self.key_rows)
        precision = self.overlap(self.response_rows)
        return count_overlaps(metric, recall, precision)

    def count_by_minimum_spans(self, metric: str) -> Floats:
        """Count a metric by the rule "last", but BLANC as the reference scorer."""
        return self.count_blanc() if metric == "blanc" else self.count_by_last(metric)

    def count_mentions(self) -> Floats:
        """Count the mentions in both sides, in the key, again in both, in the response; repeated ones once."""
        counts = []
        for key, response in self.places:
            n_common = len(key.keys() & response.keys())
            counts.append([n_common, len(key), n_common, len(response)])
        return np.array(counts, np.float64).reshape(-1, 4)

    def count_b_cubed(self, last: Overlap) -> Floats:
        """Count B-cubed: each of the mentions whose last entities are K and R has the share |K ∩ R| / |K|."""
        common = np.array([self.common[pair] for pair in sorted(self.last)])
        columns = []
        for side in SIDES:
            shares = last.common * common / last.size_of(side)
            columns += [last.sum_overlaps(shares), last.n_mentions(side)]
        return np.column_stack(columns)

    def count_blanc(self) -> Floats:
        """Count the links of both kinds, on both sides, as sets of pairs; columns as those of `entity.count_blanc`.

        A pair that is in several entities is one link, and it can be a coreference link and a non-coreference link at
        once.  A mention that occurs twice in an entity has a coreference link to itself; one that is in two entities
        has a non-coreference link to itself.
        """
        counts = []
        for document, (key, response) in enumerate(self.places):
            mentions = key.keys() & response.keys()
            pairs = {
                mention: list(product(key[mention], response[mention])) for mention in mentions
            }
            n_twice = len(find_twice(key) & find_twice(response))
            coreference = [count_coreferent(document, pairs) + n_twice]
            n_other = comb(len(mentions), 2) + count_inseparable(pairs)
            other = [n_other + len(find_in_several(key) & find_in_several(response))]
            for side in (key, response):
                coreference.append(count_coreferent(document, side) + len(find_twice(side)))
                n_other = comb(len(side), 2) - count_inseparable(side)
                other.append(n_other + len(find_in_several(side)))
                other[0] -= count_inseparable({mention: side[mention] for mention in mentions})
            counts.append([*coreference, *other])
        return np.array(counts, np.float64).reshape(-1, 6)


def list_places(side: Side, n_documents: int) -> list[Places]:
    """List the mentions of each document."""
    places: list[Places] = [{} for _ in range(n_documents)]
    order = np.argsort(side.entity, kind="stable")
    for document, mention, entity in np.column_stack(side)[order].tolist():
        places[document].setdefault(mention, Counter())[entity] += 1
    return places


def check_pairs(document: int, n_pairs: int, noun: str) -> None:
    """Check that a document does not have more pairs than can be counted."""
    if n_pairs > MAX_PAIRS:
        raise LimitError(document, n_pairs, noun, MAX_PAIRS)


def find_twice(places: Places) -> set[int]:
    """Find the mentions that occur more than once in an entity."""
    return {mention for mention, times in places.items() if max(times.values()) > 1}


def find_in_several(places: Places) -> set[int]:
    """Find the mentions that are in several entities."""
    return {mention for mention, times in places.items() if len(times) > 1}


def count_coreferent(document: int, groups: Mapping[int, Collection[Hashable]]) -> int:
    """Count the pairs of different mentions that are in a group together, given the groups of each mention.

    Each pair counts once.
    """
    members = defaultdict(list)
    for mention, groups_of_mention in groups.items():
        for group in groups_of_mention:
            members[group].append(mention)
    n_coreferent = sum(comb(len(mentions), 2) for mentions in members.values())
    # Only two mentions that are both in several groups can be in more than one together: only their pairs are listed.
    n_listed = 0
    listed: list[Iterator[tuple[int, int]]] = []
    for mentions in members.values():
        repeated = [mention for mention in mentions if len(groups[mention]) > 1]
        n_listed += comb(len(repeated), 2)
        listed.append(combinations(repeated, 2))
    check_pairs(document, n_listed, "pairs of repeated mentions of the same entities")
    return n_coreferent - n_listed + len(set(chain.from_iterable(listed)))


def count_inseparable(groups: Mapping[int, Collection[Hashable]]) -> int:
    """Count the pairs of mentions that are in the same group and in no other, given the groups of each mention."""
    single = (list(of_mention) for of_mention in groups.values() if len(of_mention) == 1)
    sizes = Counter(chain.from_iterable(single))
    return sum(comb(size, 2) for size in sizes.values())
