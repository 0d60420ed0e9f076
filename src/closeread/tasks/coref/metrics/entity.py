"""The counts of MUC, B-cubed, CEAF, LEA and BLANC, per document.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Moosavi and Strube (2016), Recasens and Hovy
(2011); Luo et al. (2014), An extension of BLANC to system mentions, whose definition for mentions that only one side
has is the one in general use.  Where they leave a choice, these follow the reference scorer (Pradhan et al. 2014,
version 8.01; for LEA its branch 9.0.0-alpha).

Conventions: K is an entity of the side that is measured, R one of the other side, and |K ∩ R| is how many mentions they
have in common.  `side` is that of recall (the key) or of precision (the response): all metrics are symmetric.  Recall
is the sum of the numerators over the sum of the denominators; the division, and 0/0, are left to the caller.  Counts
are (n_documents,) float64.  A link is a pair of mentions of a document: a coreference link of a side if both are in the
same entity, a non-coreference link if they are in different entities.  Links are counted from sizes, never listed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from closeread.arrays import Floats, Ints, Mask, ratio
from closeread.assignment import choose_cells
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, SIDES, Overlap


def count_mentions(overlap: Overlap) -> tuple[Floats, Floats, Floats]:
    """Count the mentions in both sides, in the key, in the response."""
    common = overlap.sum_overlaps(overlap.common)
    return common, overlap.n_mentions(KEY), overlap.n_mentions(RESPONSE)


def count_muc(overlap: Overlap, side: int) -> tuple[Floats, Floats]:
    """MUC, Vilain et al. (1995): of the |K| - 1 links of each entity, |K ∩ R| - 1 are found in each R."""
    links = np.maximum(overlap.sizes[side] - 1, 0)
    return overlap.sum_overlaps(overlap.common - 1), overlap.sum_entities(side, links)


def count_b_cubed(overlap: Overlap, side: int) -> tuple[Floats, Floats]:
    """B³, Bagga and Baldwin (1998): the sum of |K ∩ R|² / |K| over all overlaps, and the number of mentions.

    Each of the |K ∩ R| mentions is with the share |K ∩ R| / |K| of its entity in one entity of the other side.
    """
    return overlap.sum_overlaps(overlap.common**2 / overlap.size_of(side)), overlap.n_mentions(side)


def count_lea(overlap: Overlap, side: int) -> tuple[Floats, Floats]:
    """LEA, Moosavi and Strube (2016): the shares of links found in each entity, weighted by |K|; number of mentions.

    Of the |K| (|K| - 1) / 2 links of an entity, |K ∩ R| (|K ∩ R| - 1) / 2 are found in each R.  An entity of one
    mention has one link, to itself, which is found in another such entity only.
    """
    size = overlap.size_of(side)
    resolved = overlap.common * (overlap.common - 1) / np.maximum(size - 1, 1)
    resolved = np.where(are_singletons(overlap), 1, resolved)
    return overlap.sum_overlaps(resolved), overlap.n_mentions(side)


def are_singletons(overlap: Overlap) -> Mask:
    """Mark the overlaps whose entities have one mention each."""
    is_singleton: Mask = np.maximum(overlap.size_of(KEY), overlap.size_of(RESPONSE)) == 1
    return is_singleton


def count_ceafm(overlap: Overlap) -> tuple[Floats, Floats, Floats]:
    """CEAFm, Luo (2005), φ3: the sum of |K ∩ R| in the best one-to-one mapping of entities; mentions of each side."""
    is_mapped = map_entities(overlap, overlap.common.astype(np.float64))
    common = overlap.sum_overlaps(overlap.common * is_mapped)
    return common, overlap.n_mentions(KEY), overlap.n_mentions(RESPONSE)


def count_ceafe(overlap: Overlap) -> tuple[Floats, Floats, Floats]:
    """CEAFe, Luo (2005), φ4: the sum of 2 |K ∩ R| / (|K| + |R|) in the best mapping; entities of each side."""
    similarity = find_similarity(overlap)
    common = overlap.sum_overlaps(similarity * map_entities(overlap, similarity))
    key, response = (overlap.sum_entities(side, overlap.sizes[side] > 0) for side in SIDES)
    return common, key, response


def find_similarity(overlap: Overlap) -> Floats:
    """Return φ4 of the entities of each overlap: 2 |K ∩ R| / (|K| + |R|)."""
    similarity: Floats = 2 * overlap.common / (overlap.size_of(KEY) + overlap.size_of(RESPONSE))
    return similarity


def align_entities(overlap: Overlap) -> Mask:
    """Mark the overlaps of the entities that CEAFe maps to each other."""
    return map_entities(overlap, find_similarity(overlap))


def map_entities(overlap: Overlap, similarity: Floats) -> Mask:
    """Mark the overlaps of the entities in their best one-to-one mapping, given their similarity, (n_overlaps,)."""
    return choose_cells(*overlap.entities, similarity, overlap.document, overlap.n_documents)


LINKS = (
    "coreference_common",
    "coreference_key",
    "coreference_response",
    "other_common",
    "other_key",
    "other_response",
)
"""The counts of BLANC: coreference links in both sides, in the key, in the response, then non-coreference links in the
same order."""

EDGES = ("reference", "luo2014")
"""What happens to a component (coreference or non-coreference) that has no links:

* `reference`, as in the reference scorer: a component without links in the key is dropped, and the score is that of
  the other component.
* `luo2014`, as in Luo et al. (2014), boundary cases: a component without links on either side is dropped; if both are
  dropped, the score is 1 if both sides have the same mentions, and 0 otherwise; without any mention, it is 0/0.
"""


def count_blanc(overlap: Overlap) -> Floats:
    """Count the links of both kinds, on both sides: Luo et al. (2014).

    Of the pairs of mentions of a side, those inside an entity are coreference links, and all others are non-coreference
    links.  Of the pairs of common mentions, those inside an overlap are coreference links of both sides; those that are
    neither inside an entity of the key nor inside one of the response are non-coreference links of both sides.

    Returns:
        (n_documents, 6) float64, columns `LINKS`.
    """
    common = overlap.sum_overlaps(count_pairs(overlap.common))
    coreference = []
    other = []
    together = []
    for side in SIDES:
        sizes = overlap.sizes[side]
        links = overlap.sum_entities(side, count_pairs(sizes))
        coreference.append(links)
        other.append(count_pairs(overlap.sum_entities(side, sizes)) - links)
        common_sizes = np.bincount(overlap.entities[side], overlap.common, len(sizes))
        together.append(overlap.sum_entities(side, count_pairs(common_sizes)))
    pairs = count_pairs(overlap.sum_overlaps(overlap.common))
    other_common = pairs - sum(together) + common
    return np.column_stack([common, *coreference, other_common, *other])


def count_pairs(n: Ints | Floats) -> Floats:
    """Count the pairs of n things: n (n - 1) / 2."""
    pairs: Floats = n * np.maximum(n - 1, 0) / 2
    return pairs


def blanc_scores(links: Floats, mentions: Floats, edge: str) -> Floats:
    """BLANC from summed counts.

    Each component has precision P, recall R and F1 = 2 common / (key + response); a score is the mean over the
    components that are not dropped (see `EDGES`), so F1 is the mean of the two F1s, not the F1 of mean P and R.  0/0
    in a component that is not dropped counts as 0.

    Args:
        links: (..., 6) sums of `LINKS`.
        mentions: (..., 3) sums of the mentions in both sides, in the key, in the response; used by `luo2014` only.
        edge: one of `EDGES`.

    Returns:
        (..., 3) precision, recall, F1; NaN where all remaining components are 0/0, or where none remains and the rule
        sets no score.
    """
    common = links[..., [0, 3]]
    key = links[..., [1, 4]]
    response = links[..., [2, 5]]
    is_kept = key > 0 if edge == "reference" else key + response > 0
    is_same = (mentions == mentions[..., :1]).all(axis=-1)
    without_links = np.where(mentions.any(axis=-1), is_same, np.nan)
    scores = []
    fractions = ((common, response), (common, key), (2 * common, key + response))
    for numerator, denominator in fractions:
        by_component = ratio(numerator, denominator)
        is_defined = is_kept & ~np.isnan(by_component)
        total = np.where(is_defined, by_component, 0.0).sum(axis=-1)
        score = ratio(total, is_kept.sum(axis=-1))
        score = np.where(is_defined.any(axis=-1), score, np.nan)
        if edge == "luo2014":
            score = np.where(is_kept.any(axis=-1), score, without_links)
        scores.append(score)
    return np.stack(scores, axis=-1)


OF_SIDE = {"muc": count_muc, "b3": count_b_cubed, "lea": count_lea}
"""The functions that count a metric on each side: its numerator and its denominator."""

OF_BOTH = {"ceafm": count_ceafm, "ceafe": count_ceafe, "mentions": count_mentions}
"""The functions that count a metric on both sides: the numerator, the denominators of recall and of precision."""


Counting = Callable[[str], Floats]
"""Counts a metric in every document, given its name: (n_documents, 4), the numerator and the denominator of recall, then
those of precision; for BLANC (n_documents, 6), columns `LINKS`."""


def count_overlaps(metric: str, recall: Overlap, precision: Overlap) -> Floats:
    """Count a metric in every document, given the overlaps for recall and for precision, as `Counting` does.

    Metrics that map entities or count links of both sides have that for recall only.
    """
    if metric == "blanc":
        return count_blanc(recall)
    if metric in OF_SIDE:
        count = OF_SIDE[metric]
        return np.column_stack([*count(recall, KEY), *count(precision, RESPONSE)])
    common, key, response = OF_BOTH[metric](recall)
    return np.column_stack([common, key, common, response])
