"""BLANC: how well coreference links and non-coreference links are found, half and half.

Sources: Recasens and Hovy (2011); Luo et al. (2014), An extension of BLANC to system mentions, whose definition for
mentions that the sides don't share is what everybody computes; the reference scorer (Pradhan et al. 2014, version
8.01), which decides otherwise at the edges.

Conventions: a link is a pair of mentions of a document; it is a coreference link of a side where the two stand in one
cluster, a non-coreference link where they stand in two.  Links are counted from the sizes of clusters and cells, never
listed.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, mark_run_starts
from closeread.tasks.coref.kernels.overlap import Overlap, matches
from closeread.tasks.coref.kernels.sides import (
    Occurrences,
    Side,
    mention_codes,
    standing,
    sums,
)

LINKS = (
    "coreference_common",
    "coreference_key",
    "coreference_response",
    "other_common",
    "other_key",
    "other_response",
)
"""What is counted of every document: coreference links of both sides, of the key, of the response, then
non-coreference links likewise."""

EDGES = ("reference", "luo2014")
"""What happens to a component, coreference or non-coreference, that has no links:

* `reference`, as in the reference scorer: one without links in the key is dropped, and the other is the score.
* `luo2014`, as in Luo et al. (2014), boundary cases: one without links on either side is dropped; with both
  dropped, the score is 1 if both sides have the same mentions, else 0.
"""


def blanc_counts(overlap: Overlap) -> Floats:
    """Links of both kinds, on both sides.

    Luo et al. (2014).  With C(n) = n (n - 1) / 2: a side of N mentions has sum C(size) coreference links
    and C(N) less these non-coreference links.  Of the C(M) pairs of the M shared mentions, the cells hold
    sum C(shared) that corefer on both sides; a pair is a non-coreference link of both sides if it corefers on neither.

    Returns:
        (n_documents, 6) float64, columns `LINKS`.
    """
    if overlap.repeats:
        return _counts_with_repeats(*overlap.sides, overlap.n_documents)
    flipped = overlap.transposed
    both, in_key, in_response = _pairs(overlap.mentions).T
    key, response, common = (
        overlap.per_key_document(_pairs(overlap.key.size)),
        flipped.per_key_document(_pairs(overlap.response.size)),
        overlap.per_document(_pairs(overlap.shared)),
    )
    key_of_both, response_of_both = (
        side.per_key_document(_pairs(np.bincount(side.cell_key, side.shared, len(side.key.size))))
        for side in (overlap, flipped)
    )
    other = both - key_of_both - response_of_both + common
    return np.column_stack([common, key, response, other, in_key - key, in_response - response])


def _pairs(n: Ints | Floats) -> Floats:
    """How many pairs there are of n things."""
    return np.asarray(n, np.float64) * np.maximum(np.asarray(n) - 1, 0) / 2


def _counts_with_repeats(key: Side, response: Side, n_documents: int) -> Floats:
    """`blanc_counts` where mentions are repeated, as the reference scorer counts them: links are sets of pairs.

    So a pair that shares several clusters is one link, and it can be a coreference and a non-coreference link at
    once.  A mention that stands twice in a cluster has a coreference link to itself; one that stands in two clusters
    has a non-coreference link to itself.
    """
    codes = mention_codes(key, response)
    here, there = (standing(code, side.entity) for code, side in zip(codes, (key, response), strict=True))
    key_row, response_row = matches(*codes)
    distinct = here.first[key_row] & there.first[response_row]
    key_row, response_row = key_row[distinct], response_row[distinct]
    code, document = codes[0][key_row], key.document[key_row]
    key_cluster, response_cluster = key.entity[key_row], response.entity[response_row]
    _, cell = np.unique(key_cluster * response.n_entities + response_cluster, return_inverse=True)
    in_key, in_response = here.clusters[key_row], there.clusters[response_row]

    common = _linked(code, cell, document, np.maximum(in_key, in_response), n_documents)
    common += _mentions(code, document, here.twice[key_row] & there.twice[response_row], n_documents)
    one = np.zeros(len(code), dtype=np.bool_)
    one[np.unique(code, return_index=True)[1]] = True

    def never_apart(cluster: Ints, single: Mask) -> Floats:
        rows = one & single
        return _pairs_within(cluster[rows], document[rows], n_documents)

    other = _pairs_within(document[one], document[one], n_documents)
    other -= never_apart(key_cluster, in_key == 1) + never_apart(response_cluster, in_response == 1)
    other += never_apart(cell, (in_key == 1) & (in_response == 1))
    other += _mentions(code, document, (in_key > 1) & (in_response > 1), n_documents)

    key_links, key_other = _side_links(key, codes[0], here, n_documents)
    response_links, response_other = _side_links(response, codes[1], there, n_documents)
    return np.column_stack([common, key_links, response_links, other, key_other, response_other])


def _side_links(side: Side, code: Ints, rows: Occurrences, n_documents: int) -> tuple[Floats, Floats]:
    """Coreference and non-coreference links of a side, (n_documents,) each."""
    code, document, entity = code[rows.first], side.document[rows.first], side.entity[rows.first]
    clusters, twice = rows.clusters[rows.first], rows.twice[rows.first]
    one = np.unique(code, return_index=True)[1]
    single = clusters == 1
    links = _linked(code, entity, document, clusters, n_documents) + _mentions(code, document, twice, n_documents)
    other = _pairs_within(document[one], document[one], n_documents)
    other -= _pairs_within(entity[single], document[single], n_documents)
    return links, other + _mentions(code, document, ~single, n_documents)


def _pairs_within(group: Ints, document: Ints, n_documents: int) -> Floats:
    """Pairs of rows that share a group, per document; a group is within a document."""
    n_groups = int(group.max(initial=-1)) + 1
    of_group = np.zeros(n_groups, dtype=np.int64)
    of_group[group] = document
    return sums(of_group, _pairs(np.bincount(group, minlength=n_groups)), n_documents)


def _linked(code: Ints, group: Ints, document: Ints, groups: Ints, n_documents: int) -> Floats:
    """Pairs of different mentions that share a group, each once, per document.

    Args:
        code, group: (n,) a mention and a group that it is in; no line twice.
        document: (n,) the document of both.
        groups: (n,) 1 where the mention is in no other group.
        n_documents: how many documents there are.
    """
    several = groups > 1
    pairs = _pairs_within(group, document, n_documents)
    # Only two mentions that are both in several groups can share more than one: their pairs alone are listed.
    code, group, document = code[several], group[several], document[several]
    number = np.unique(code, return_inverse=True)[1]
    one, other = _listed_pairs(number, group)
    _, row = np.unique(number[one] * len(number) + number[other], return_index=True)
    listed = sums(document[one[row]], np.ones(len(row)), n_documents)
    return pairs - _pairs_within(group, document, n_documents) + listed


def _listed_pairs(code: Ints, group: Ints) -> tuple[Ints, Ints]:
    """The pairs of rows that share a group, the smaller code first."""
    order = np.lexsort((code, group))
    # Each row pairs with those after it in its group.
    end = np.append(np.flatnonzero(mark_run_starts(group[order]))[1:], len(order))
    next_row = np.arange(len(order)) + 1
    one, other = expand_ranges(next_row, np.repeat(end, np.diff(end, prepend=0)) - next_row)
    return order[one], order[other]


def _mentions(code: Ints, document: Ints, mask: Mask, n_documents: int) -> Floats:
    """How many different mentions the mask is true of, per document."""
    _, row = np.unique(code[mask], return_index=True)
    return sums(document[mask][row], np.ones(len(row)), n_documents)


def blanc_scores(links: Floats, mentions: Floats, edge: str) -> Floats:
    """BLANC of summed counts.

    Each component has precision P, recall R and F1 = 2 common / (key + response); a score is the mean of the
    components that stand (see `EDGES`), so F1 is the mean of the two F1s and not made of P and R.  A component that
    stands and is 0/0 counts as 0.

    Args:
        links: (..., 6) sums of `LINKS`.
        mentions: (..., 3) sums of `coref.mention_counts`; only `luo2014` looks at them.
        edge: one of `EDGES`.

    Returns:
        (..., 3) precision, recall, F1; NaN where all components that stand are 0/0, or none stands and no rule says
        what the score is.
    """
    common, key, response = (links[..., [i, i + 3]] for i in range(3))
    stands = key > 0 if edge == "reference" else key + response > 0
    parts = np.stack([_share(common, response), _share(common, key), _share(2 * common, key + response)], axis=-2)
    stands = np.broadcast_to(stands[..., None, :], parts.shape)
    total = np.where(stands, np.nan_to_num(parts), 0.0).sum(axis=-1)
    scores = _share(total, stands.sum(axis=-1))
    scores[(stands & ~np.isnan(parts)).sum(axis=-1) == 0] = np.nan
    if edge == "luo2014":
        same = (mentions[..., 0] == mentions[..., 1]) & (mentions[..., 0] == mentions[..., 2])
        scores = np.where(stands.any(axis=-1), scores, same[..., None].astype(np.float64))
    return scores


def _share(part: Floats, whole: Floats) -> Floats:
    """Part / whole, NaN where both are 0."""
    with np.errstate(invalid="ignore"):
        share: Floats = np.divide(part, whole)
    return share
