"""Mentions that occur more than once on a side: in several clusters, or several times in one.

Source: the reference scorer (Pradhan et al. 2014, version 8.01; for LEA its branch 9.0.0-alpha), whose counts these
are.  It keeps a map from mentions to clusters that is filled cluster by cluster, so that a mention's last cluster is
the one that counts for most metrics, while the sizes of clusters count every row.

Conventions: as in `overlap`, `entity_metrics` and `blanc`, whose functions of the same name these replace.  The first
cluster of a repeated mention is the one with the lowest number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from closeread.arrays import Floats, Ints, Mask, check_sums, expand_ranges, mark_run_starts
from closeread.tasks.coref.kernels.blanc import count_pairs
from closeread.tasks.coref.kernels.entity_metrics import ceaf_counts, count_muc_links, resolve_cells
from closeread.tasks.coref.kernels.overlap import Clusters, Overlap, match_rows, number_cells
from closeread.tasks.coref.kernels.sides import Side, mention_codes, sum_by_index

MAX_REPEATS = 1_000_000
"""The most pairs of places of repeated mentions in a document: of a place in the key and one in the response, or of two
mentions that share several entities."""


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
class Occurrences:
    """The rows of a side in relation to the other rows of the same mention, all (n_mentions,).

    Attributes:
        first: whether the row is the first one of its mention in its cluster.
        last: whether the row is the one of its mention in the last cluster.
        clusters: the number of clusters that the mention is in.
        twice: whether the mention occurs more than once in this cluster.
    """

    first: Mask
    last: Mask
    clusters: Ints
    twice: Mask


def find_occurrences(code: Ints, entity: Ints) -> Occurrences:
    """Relate the rows of a side to the other rows of the same mention.

    Args:
        code: (n_mentions,) the mention of each row.
        entity: (n_mentions,) its cluster.
    """
    order = np.lexsort((entity, code))
    new_mention = mark_run_starts(code[order])
    new_cluster = new_mention | mark_run_starts(entity[order])
    mention, cluster = np.cumsum(new_mention) - 1, np.cumsum(new_cluster) - 1
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Occurrences(
        first=new_cluster[back],
        last=np.append(new_mention, True)[1:][back],
        clusters=np.bincount(mention[new_cluster])[mention][back],
        twice=(np.bincount(cluster)[cluster] > 1)[back],
    )


@dataclass(frozen=True, eq=False)
class RepeatedOverlap(Overlap):
    """An overlap of sides with repeated mentions.  `shared` and `mentions` count a repeated mention once.

    Attributes:
        sides: key and response.
        last_in_both: (n_cells,) the number of mentions whose last cluster is this one on both sides.
        key_rows: (n_cells,) the number of rows of the key cluster whose mention has this response cluster as its last.
        response_rows: (n_cells,) the number of rows of the response cluster whose mention has this key cluster as its
            last.
    """

    sides: tuple[Side, Side]
    last_in_both: Ints
    key_rows: Ints
    response_rows: Ints

    @property
    def transposed(self) -> Self:
        """The same with key and response swapped."""
        order = np.argsort(self.cell_response, kind="stable")
        return replace(
            super().transposed,
            sides=(self.sides[1], self.sides[0]),
            last_in_both=self.last_in_both[order],
            key_rows=self.response_rows[order],
            response_rows=self.key_rows[order],
        )


def repeated_overlap(key: Side, response: Side, n_documents: int) -> RepeatedOverlap:
    """Build the table of key and response; arguments as for `overlap.overlap`."""
    key_code, response_code = mention_codes(key, response)
    in_order = np.sort(response_code)
    n_places = np.searchsorted(in_order, key_code, "right") - np.searchsorted(in_order, key_code, "left")
    check_sums(key.document, n_places * (n_places > 1), "places of repeated mentions", MAX_REPEATS)
    key_row, response_row = match_rows(key_code, response_code)
    cells, cell = np.unique(number_cells(key, response, key_row, response_row), return_inverse=True)
    cell_key, cell_response = np.divmod(cells, max(response.n_entities, 1))
    in_key, in_response = find_occurrences(key_code, key.entity), find_occurrences(response_code, response.entity)
    key_last, response_last = in_key.last[key_row], in_response.last[response_row]

    def count(rows: Mask) -> Ints:
        return np.bincount(cell[rows], minlength=len(cells))

    return RepeatedOverlap(
        n_documents,
        Clusters.of_side(key),
        Clusters.of_side(response),
        np.column_stack(
            [
                _count_distinct(code, document, n_documents).astype(np.int64)
                for code, document in (
                    (key_code[key_row], key.document[key_row]),
                    (key_code, key.document),
                    (response_code, response.document),
                )
            ]
        ),
        cell_key,
        cell_response,
        shared=count(in_key.first[key_row] & in_response.first[response_row]),
        sides=(key, response),
        last_in_both=count(key_last & response_last),
        key_rows=count(response_last),
        response_rows=count(key_last),
    )


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
    (key, response), n_documents = overlap.sides, overlap.n_documents
    codes = mention_codes(key, response)
    here, there = (find_occurrences(code, side.entity) for code, side in zip(codes, (key, response), strict=True))
    key_row, response_row = match_rows(*codes)
    is_first = here.first[key_row] & there.first[response_row]
    key_row, response_row = key_row[is_first], response_row[is_first]
    code, document = codes[0][key_row], key.document[key_row]
    key_cluster, response_cluster = key.entity[key_row], response.entity[response_row]
    _, cell = np.unique(number_cells(key, response, key_row, response_row), return_inverse=True)
    in_key, in_response = here.clusters[key_row], there.clusters[response_row]

    common = _count_linked(code, cell, document, np.maximum(in_key, in_response), n_documents)
    common += _count_distinct_where(here.twice[key_row] & there.twice[response_row], code, document, n_documents)
    one = np.zeros(len(code), dtype=np.bool_)
    one[np.unique(code, return_index=True)[1]] = True

    def count_never_apart(cluster: Ints, is_single: Mask) -> Floats:
        rows = one & is_single
        return _count_pairs_within(cluster[rows], document[rows], n_documents)

    other = _count_pairs_within(document[one], document[one], n_documents)
    other -= count_never_apart(key_cluster, in_key == 1) + count_never_apart(response_cluster, in_response == 1)
    other += count_never_apart(cell, (in_key == 1) & (in_response == 1))
    other += _count_distinct_where((in_key > 1) & (in_response > 1), code, document, n_documents)

    key_links, key_other = _count_side_links(key, codes[0], here, n_documents)
    response_links, response_other = _count_side_links(response, codes[1], there, n_documents)
    return np.column_stack([common, key_links, response_links, other, key_other, response_other])


def _count_side_links(side: Side, code: Ints, rows: Occurrences, n_documents: int) -> tuple[Floats, Floats]:
    """Count the coreference and the non-coreference links of a side, (n_documents,) each."""
    code, document, entity = code[rows.first], side.document[rows.first], side.entity[rows.first]
    clusters, is_twice = rows.clusters[rows.first], rows.twice[rows.first]
    one = np.unique(code, return_index=True)[1]
    is_single = clusters == 1
    links = _count_linked(code, entity, document, clusters, n_documents)
    links += _count_distinct_where(is_twice, code, document, n_documents)
    other = _count_pairs_within(document[one], document[one], n_documents)
    other -= _count_pairs_within(entity[is_single], document[is_single], n_documents)
    return links, other + _count_distinct_where(~is_single, code, document, n_documents)


def _count_pairs_within(group: Ints, document: Ints, n_documents: int) -> Floats:
    """Count the pairs of rows of the same group, per document; a group lies within a document."""
    n_groups = int(group.max(initial=-1)) + 1
    of_group = np.zeros(n_groups, dtype=np.int64)
    of_group[group] = document
    return sum_by_index(of_group, count_pairs(np.bincount(group, minlength=n_groups)), n_documents)


def _count_linked(code: Ints, group: Ints, document: Ints, groups: Ints, n_documents: int) -> Floats:
    """Count the pairs of different mentions that share a group, each pair once, per document.

    Args:
        code, group: (n,) a mention and a group that it is in; no row occurs twice.
        document: (n,) the document of both.
        groups: (n,) 1 where the mention is in no other group.
        n_documents: the number of documents.
    """
    in_several = groups > 1
    pairs = _count_pairs_within(group, document, n_documents)
    # Only two mentions that are both in several groups can share more than one: only their pairs are listed.
    code, group, document = code[in_several], group[in_several], document[in_several]
    number = np.unique(code, return_inverse=True)[1]
    of_group = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    of_group[group] = document
    n_pairs = count_pairs(np.bincount(group, minlength=len(of_group))).astype(np.int64)
    check_sums(of_group, n_pairs, "pairs of repeated mentions of the same entities", MAX_REPEATS)
    one, other = _list_pairs(number, group)
    _, row = np.unique(number[one] * len(number) + number[other], return_index=True)
    distinct = sum_by_index(document[one[row]], np.ones(len(row)), n_documents)
    return pairs - _count_pairs_within(group, document, n_documents) + distinct


def _list_pairs(code: Ints, group: Ints) -> tuple[Ints, Ints]:
    """List the pairs of rows of the same group, the smaller code first."""
    order = np.lexsort((code, group))
    # Each row pairs with those after it in its group.
    end = np.append(np.flatnonzero(mark_run_starts(group[order]))[1:], len(order))
    next_row = np.arange(len(order)) + 1
    one, other = expand_ranges(next_row, np.repeat(end, np.diff(end, prepend=0)) - next_row)
    return order[one], order[other]


def _count_distinct_where(mask: Mask, code: Ints, document: Ints, n_documents: int) -> Floats:
    return _count_distinct(code[mask], document[mask], n_documents)


def _count_distinct(code: Ints, document: Ints, n_documents: int) -> Floats:
    """Count the different mentions, per document."""
    _, row = np.unique(code, return_index=True)
    return sum_by_index(document[row], np.ones(len(row)), n_documents)
