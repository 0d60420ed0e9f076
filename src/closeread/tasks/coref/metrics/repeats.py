"""Mentions that occur more than once on a side: in several clusters, or several times in one.

Sources: the reference scorer (Pradhan et al. 2014, version 8.01; for LEA its branch 9.0.0-alpha), whose counts these
are.  It keeps a map from mentions to clusters that is filled cluster by cluster, so that a mention's last cluster is
the one that counts for most metrics, while the sizes of clusters count every row.

Where mentions are matched by minimum spans, so that several of a side can be the same, MUC, B-cubed, CEAFe and LEA are
those of the scorer of Moosavi et al. (2019, github.com/ns-moosavi/coval): recall and precision are counted alike, each
row of a side being looked up on the other.  Its CEAFm divides by clusters, and it has no BLANC: here, CEAFm counts a
mention of two clusters as often as both have it, and BLANC is that of other repeated mentions.

Conventions: as in `overlap` and `entity`, whose functions of the same name these replace.  The first
cluster of a repeated mention is the one with the lowest number.  Without repeated mentions all counts are those of
`entity`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from operator import add
from typing import Self

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, Mask, mark_run_starts
from closeread.tasks.coref.metrics.entity import ceaf_counts, count_muc_links, resolve_cells
from closeread.tasks.coref.metrics.overlap import Clusters, Overlap, Side, mention_codes

MAX_REPEATS = 1_000_000
"""The most pairs of places of repeated mentions in a document: of an entity in the key and one in the response, or of
two mentions that share several entities."""

Places = dict[int, dict[int, int]]
"""The mentions of a document, each with its entities in order, and how often it occurs in each."""


def has_repeats(side: Side) -> bool:
    """Return whether any mention occurs more than once."""
    (code,) = mention_codes(side)
    code = np.sort(code)
    return bool((code[1:] == code[:-1]).any())


def find_repeats(side: Side) -> Ints:
    """Find the mentions that occur more than once.

    Returns:
        (n_repeats, 2) int64, for each row that repeats a mention: the mention's first row, and this row.
    """
    (code,) = mention_codes(side)
    order = np.lexsort((side.entity, code))
    new = mark_run_starts(code[order])
    first = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return np.column_stack([first, order])[~new]


def keep_as_reference(key: Side, response: Side) -> Mask:
    """Find the rows of a response that the reference scorer (8.01) keeps: it drops some repeats.

    A mention of the key keeps its first cluster in the response only.  A mention that the key lacks stays in all of
    its clusters, and so do the repeats of the key.  The scorer refuses to score after it has dropped more than ten;
    this function does not.
    """
    in_key, in_response = mention_codes(key, response)
    repeats = find_repeats(response)[:, 1]
    kept = np.ones(len(in_response), dtype=np.bool_)
    kept[repeats[np.isin(in_response[repeats], in_key)]] = False
    return kept


@dataclass(frozen=True, eq=False)
class RepeatedOverlap(Overlap):
    """An overlap of sides with repeated mentions.  `shared` and `mentions` count a repeated mention once.

    Attributes:
        documents: the mentions of each document in key and response.
        last_in_both: (n_cells,) the number of mentions whose last cluster is this one on both sides.
        key_rows: (n_cells,) the number of rows of the key cluster whose mention has this response cluster as its last.
        response_rows: (n_cells,) the number of rows of the response cluster whose mention has this key cluster as its
            last.
        times_in_both: (n_cells,) how often both clusters have the same mention.
        key_times: (n_cells,) the number of rows of the key cluster whose mention is in the response cluster.
        response_times: (n_cells,) the number of rows of the response cluster whose mention is in the key cluster.
    """

    documents: list[tuple[Places, Places]]
    last_in_both: Ints
    key_rows: Ints
    response_rows: Ints
    times_in_both: Ints
    key_times: Ints
    response_times: Ints

    @property
    def transposed(self) -> Self:
        """The same with key and response swapped."""
        order = np.argsort(self.cell_response, kind="stable")
        return replace(
            super().transposed,
            documents=[(response, key) for key, response in self.documents],
            last_in_both=self.last_in_both[order],
            key_rows=self.response_rows[order],
            response_rows=self.key_rows[order],
            times_in_both=self.times_in_both[order],
            key_times=self.response_times[order],
            response_times=self.key_times[order],
        )


class MinimumOverlap(RepeatedOverlap):
    """An overlap of sides whose mentions are matched by minimum spans."""


def repeated_overlap(key: Side, response: Side, n_documents: int) -> RepeatedOverlap:
    """Build the table of key and response; arguments as for `overlap.overlap`."""
    documents = list(zip(_list_places(key, n_documents), _list_places(response, n_documents), strict=True))
    cells: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * 7)
    for number, (in_key, in_response) in enumerate(documents):
        both = in_key.keys() & in_response.keys()
        pairs = [len(in_key[mention]) * len(in_response[mention]) for mention in both]
        _check_repeats(number, sum(n for n in pairs if n > 1), "places of repeated mentions")
        for mention in both:
            last_key, last_response = max(in_key[mention]), max(in_response[mention])
            for i, of_key in in_key[mention].items():
                for j, of_response in in_response[mention].items():
                    found = [1, i == last_key and j == last_response]
                    found += [of_key * (j == last_response), of_response * (i == last_key)]
                    found += [min(of_key, of_response), of_key, of_response]
                    cells[i, j] = list(map(add, cells[i, j], found))
    order = sorted(cells)
    cell_key, cell_response = np.array(order, np.int64).reshape(-1, 2).T
    shared, *others = np.array([cells[cell] for cell in order], np.int64).reshape(-1, 7).T
    mentions = [[len(k.keys() & r.keys()), len(k), len(r)] for k, r in documents]
    clusters = Clusters.of_side(key), Clusters.of_side(response)
    n_mentions = np.array(mentions, np.int64).reshape(-1, 3)
    return RepeatedOverlap(n_documents, *clusters, n_mentions, cell_key, cell_response, shared, documents, *others)


def minimum_overlap(key: Side, response: Side, n_documents: int) -> MinimumOverlap:
    """Build the table of sides that are matched by minimum spans; arguments as for `overlap.overlap`."""
    return MinimumOverlap(**vars(repeated_overlap(key, response, n_documents)))


def _list_places(side: Side, n_documents: int) -> list[Places]:
    """List the mentions of each document."""
    places: list[Places] = [{} for _ in range(n_documents)]
    order = np.argsort(side.entity, kind="stable")
    columns = (column[order].tolist() for column in (side.document, side.mention, side.entity))
    for document, mention, entity in zip(*columns, strict=True):
        times = places[document].setdefault(mention, {})
        times[entity] = times.get(entity, 0) + 1
    return places


def _check_repeats(document: int, n: int, what: str) -> None:
    if n > MAX_REPEATS:
        raise LimitError(document, n, what, MAX_REPEATS)


def muc_counts(overlap: RepeatedOverlap) -> Floats:
    """Count the links in both sides, in the key, in the response; a mention is in its last cluster only."""
    common = overlap.per_document(overlap.last_in_both - (overlap.last_in_both > 0))
    return np.column_stack([common, *count_muc_links(overlap)])


def b_cubed_counts(overlap: RepeatedOverlap) -> Floats:
    """B-cubed recall, where the clusters of a mention are its last ones; pass `overlap.transposed` for precision."""
    found = overlap.last_in_both * overlap.shared / overlap.key.size[overlap.cell_key]
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def ceafm_counts(overlap: RepeatedOverlap) -> Floats:
    """CEAF where two clusters share the rows of the key cluster that the response cluster contains."""
    return ceaf_counts(overlap, overlap.key_rows.astype(np.float64), overlap.key.size, overlap.response.size)


def ceafe_counts(overlap: RepeatedOverlap) -> Floats:
    """CEAF by twice the rows that `ceafm_counts` counts over the sum of both sizes."""
    sizes = overlap.key.size[overlap.cell_key] + overlap.response.size[overlap.cell_response]
    return ceaf_counts(overlap, 2.0 * overlap.key_rows / sizes, overlap.key.size > 0, overlap.response.size > 0)


def lea_counts(overlap: RepeatedOverlap) -> Floats:
    """LEA recall, where a mention of the response is in its last cluster; pass `overlap.transposed` for precision."""
    found = resolve_cells(overlap, overlap.key_rows)
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def blanc_counts(overlap: RepeatedOverlap) -> Floats:
    """Count the links of both kinds, on both sides, as sets of pairs.

    A pair that shares several clusters is one link, and it can be a coreference link and a non-coreference link at
    once.  A mention that occurs twice in a cluster has a coreference link to itself; one that is in two clusters has a
    non-coreference link to itself.
    """
    counts = []
    for document, (key, response) in enumerate(overlap.documents):
        both = key.keys() & response.keys()
        cells = {mention: [(i, j) for i in key[mention] for j in response[mention]] for mention in both}
        common = _count_linked(document, cells) + len(_find_twice(key) & _find_twice(response))
        own = [_count_linked(document, side) + len(_find_twice(side)) for side in (key, response)]
        shared = [{mention: side[mention] for mention in both} for side in (key, response)]
        never_apart = sum(map(_count_together, shared)) - _count_together(cells)
        in_several = [{mention for mention, places in side.items() if len(places) > 1} for side in (key, response)]
        other = comb(len(both), 2) - never_apart + len(in_several[0] & in_several[1])
        others = (comb(len(side), 2) - _count_together(side) for side in (key, response))
        counts.append([common, *own, other, *(n + len(few) for n, few in zip(others, in_several, strict=True))])
    return np.array(counts, np.float64).reshape(-1, 6)


def _find_twice(places: Places) -> set[int]:
    """Find the mentions that occur more than once in an entity."""
    return {mention for mention, times in places.items() if max(times.values()) > 1}


def _count_linked(document: int, groups: Mapping[int, Collection[Hashable]]) -> int:
    """Count the pairs of different mentions that share a group, each pair once, given the groups of each mention."""
    members = defaultdict(list)
    for mention, own in groups.items():
        for group in own:
            members[group].append(mention)
    # Only two mentions that are both in several groups can share more than one: only their pairs are listed.
    repeated = [[mention for mention in mentions if len(groups[mention]) > 1] for mentions in members.values()]
    n_listed = sum(comb(len(mentions), 2) for mentions in repeated)
    _check_repeats(document, n_listed, "pairs of repeated mentions of the same entities")
    distinct = {pair for mentions in repeated for pair in combinations(mentions, 2)}
    return sum(comb(len(mentions), 2) for mentions in members.values()) - n_listed + len(distinct)


def _count_together(groups: Mapping[int, Collection[Hashable]]) -> int:
    """Count the pairs of mentions of one group each, which is the same, given the groups of each mention."""
    sizes = Counter(next(iter(own)) for own in groups.values() if len(own) == 1)
    return sum(comb(size, 2) for size in sizes.values())


# Of minimum spans


def minimum_muc_counts(overlap: MinimumOverlap) -> Floats:
    """MUC recall; pass `overlap.transposed` for precision.

    Returns:
        (n_documents, 2) float64, columns `entity_metrics.ONE_SIDE`.
    """
    found = overlap.per_document(overlap.key_rows - (overlap.key_rows > 0))
    return np.column_stack([found, overlap.per_key_document(np.maximum(overlap.key.size - 1, 0))])


def minimum_b_cubed_counts(overlap: MinimumOverlap) -> Floats:
    """B-cubed recall; pass `overlap.transposed` for precision."""
    found = overlap.key_rows**2 / overlap.key.size[overlap.cell_key]
    return np.column_stack([overlap.per_document(found), overlap.per_key_document(overlap.key.size)])


def minimum_ceafm_counts(overlap: MinimumOverlap) -> Floats:
    """CEAF where two clusters share a mention as often as both have it."""
    return ceaf_counts(overlap, overlap.times_in_both.astype(np.float64), overlap.key.size, overlap.response.size)


def minimum_ceafe_counts(overlap: MinimumOverlap) -> Floats:
    """CEAF by twice the rows of the key cluster that the response cluster has, over the sum of both sizes."""
    sizes = overlap.key.size[overlap.cell_key] + overlap.response.size[overlap.cell_response]
    return ceaf_counts(overlap, 2.0 * overlap.key_times / sizes, overlap.key.size > 0, overlap.response.size > 0)
