"""Mentions that occur more than once on a side: in several clusters, or several times in one.

Sources: the reference scorer (Pradhan et al. 2014, version 8.01; for LEA its branch 9.0.0-alpha), whose counts these
are.  It keeps a map from mentions to clusters that is filled cluster by cluster, so that a mention's last cluster is
the one that counts for most metrics, while the sizes of clusters count every row.

The scorer of Moosavi et al. (2019, github.com/ns-moosavi/coval), CorefUD's and that of Universal Anaphora share another
rule, "last": recall and precision are counted alike, each row of a side being looked up on the other, where a mention
is in its last cluster.  Their BLANC takes the links found of the key for precision, too.  Mentions that are matched by
minimum spans, of which several of a side can be the same, are counted so for MUC, B-cubed, CEAFe and LEA; coval's CEAFm
divides by clusters, and it has no BLANC: for them CEAFm counts a mention of two clusters as often as both have it, and
BLANC is the reference scorer's.

Conventions: as in `overlap`.  The first cluster of a repeated mention is the one with the lowest number.  Without
repeated mentions all counts are those of `entity`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import combinations
from math import comb
from operator import add
from typing import Literal

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, Mask, mark_run_starts
from closeread.tasks.coref.metrics.overlap import (
    Overlap,
    Side,
    count_links,
    measure_clusters,
    mention_codes,
    overlap,
)

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
    """Find the rows that repeat a mention, (n_repeats, 2): the mention's first row, and this row."""
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


def repeated_overlap(
    key: Side,
    response: Side,
    n_documents: int,
    rule: Literal["reference", "minimum", "last"] = "reference",
) -> Overlap:
    """Build the table of sides with repeated mentions, which are counted as the module's docstring says."""
    by_row = rule != "reference"
    places = list(
        zip(_list_places(key, n_documents), _list_places(response, n_documents), strict=True)
    )
    cells: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0] * 6)
    for number, (in_key, in_response) in enumerate(places):
        both = in_key.keys() & in_response.keys()
        pairs = [len(in_key[mention]) * len(in_response[mention]) for mention in both]
        _check_repeats(number, sum(n for n in pairs if n > 1), "places of repeated mentions")
        for mention in both:
            last_key, last_response = max(in_key[mention]), max(in_response[mention])
            for i, of_key in in_key[mention].items():
                for j, of_response in in_response[mention].items():
                    found = [1, i == last_key and j == last_response]
                    found += [of_key * (j == last_response), of_response * (i == last_key)]
                    found += [min(of_key, of_response), of_key]
                    cells[i, j] = list(map(add, cells[i, j], found))
    order = sorted(cells)
    cell_key, cell_response = np.array(order, np.int64).reshape(-1, 2).T
    # The mentions of a cell; those of which it is the last place on both sides; the rows of each cluster whose mention
    # has the other one as its last; how often both have a mention; the rows of the key whose mention both have.
    shared, last, key_rows, response_rows, times, key_times = (
        np.array([cells[cell] for cell in order], np.int64).reshape(-1, 6).T
    )
    mentions = np.array(
        [[len(k.keys() & r.keys()), len(k), len(r)] for k, r in places], np.int64
    ).reshape(-1, 3)
    documents, sizes = measure_clusters(key, response)
    of_key, of_response = sizes[0][cell_key], sizes[1][cell_response]
    rows = (key_rows, response_rows)
    return Overlap(
        n_documents,
        documents,
        sizes,
        mentions,
        (cell_key, cell_response),
        shared,
        linked=rows if by_row else (last, last),
        together=rows if by_row else (shared, shared),
        links=(
            count_links(key_rows, of_key, of_response),
            count_links(response_rows, of_response, of_key),
        ),
        similarities=(times, key_times) if by_row else (key_rows, key_rows),
        places=None if rule == "last" else places,
    )


def overlap_of_last(key: Side, response: Side, n_documents: int) -> Overlap:
    """Build the table of two sides, where a mention that is repeated is looked up in its last cluster."""
    if has_repeats(key) or has_repeats(response):
        return repeated_overlap(key, response, n_documents, "last")
    return overlap(key, response, n_documents)


def _list_places(side: Side, n_documents: int) -> list[Places]:
    """List the mentions of each document."""
    places: list[Places] = [{} for _ in range(n_documents)]
    order = np.argsort(side.entity, kind="stable")
    for document, mention, entity in zip(*(column[order].tolist() for column in side), strict=True):
        times = places[document].setdefault(mention, {})
        times[entity] = times.get(entity, 0) + 1
    return places


def _check_repeats(document: int, n: int, what: str) -> None:
    if n > MAX_REPEATS:
        raise LimitError(document, n, what, MAX_REPEATS)


def count_blanc_of_repeats(places: Sequence[tuple[Places, Places]]) -> Floats:
    """Count the links of both kinds, on both sides, as sets of pairs; columns as those of `entity.count_blanc`.

    A pair that shares several clusters is one link, and it can be a coreference link and a non-coreference link at
    once.  A mention that occurs twice in a cluster has a coreference link to itself; one that is in two clusters has a
    non-coreference link to itself.
    """
    counts = []
    for document, (key, response) in enumerate(places):
        both = key.keys() & response.keys()
        cells = {
            mention: [(i, j) for i in key[mention] for j in response[mention]] for mention in both
        }
        common = _count_linked(document, cells) + len(_find_twice(key) & _find_twice(response))
        own = [_count_linked(document, side) + len(_find_twice(side)) for side in (key, response)]
        shared = [{mention: side[mention] for mention in both} for side in (key, response)]
        never_apart = sum(map(_count_together, shared)) - _count_together(cells)
        in_several = [
            {mention for mention, found in side.items() if len(found) > 1}
            for side in (key, response)
        ]
        other = comb(len(both), 2) - never_apart + len(in_several[0] & in_several[1])
        others = (comb(len(side), 2) - _count_together(side) for side in (key, response))
        counts.append(
            [
                common,
                *own,
                other,
                *(n + len(few) for n, few in zip(others, in_several, strict=True)),
            ]
        )
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
    repeated = [
        [mention for mention in mentions if len(groups[mention]) > 1]
        for mentions in members.values()
    ]
    n_listed = sum(comb(len(mentions), 2) for mentions in repeated)
    _check_repeats(document, n_listed, "pairs of repeated mentions of the same entities")
    distinct = {pair for mentions in repeated for pair in combinations(mentions, 2)}
    return sum(comb(len(mentions), 2) for mentions in members.values()) - n_listed + len(distinct)


def _count_together(groups: Mapping[int, Collection[Hashable]]) -> int:
    """Count the pairs of mentions of one group each, which is the same, given the groups of each mention."""
    sizes = Counter(next(iter(own)) for own in groups.values() if len(own) == 1)
    return sum(comb(size, 2) for size in sizes.values())
