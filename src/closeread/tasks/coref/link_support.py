"""How many annotators draw each link between two mentions, and whether gold has it.

Source: Schüller et al. (2018), section 3.4.1 and Figure 7.

Conventions: a link is an unordered pair of mentions that at least one annotator has in one chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask, check_sums
from closeread.counts.procedure import name_documents
from closeread.tasks.coref.annotators import Annotations, gather_annotations
from closeread.tasks.coref.columns import MentionTable

BINS = 10
"""The number of bins of the percentage of annotators: (0, 10], (10, 20] and so on to (90, 100]."""


MAX_LINKS = 2_000_000
"""The most links of a document, those of all annotators together."""


class LinkSupport(NamedTuple):
    """The links of several annotators.

    Attributes:
        support: (n_links,) how many annotators draw each link.
        annotators: (n_links,) how many annotated its document.
        in_gold: (n_links,) whether its mentions are in one chain of gold.
    """

    support: Ints
    annotators: Ints
    in_gold: Mask

    def count_bins(self) -> Ints:
        """Count links by percentage of annotators; (2, `BINS`), those in gold in the first row."""
        place = -(-BINS * self.support // self.annotators) - 1
        return np.stack([np.bincount(place[rows], minlength=BINS) for rows in (self.in_gold, ~self.in_gold)])


def measure_support(gold: MentionTable, files: Sequence[MentionTable]) -> LinkSupport:
    """Count the annotators of every link.

    Args:
        gold: the documents with their gold chains; no mention is in two chains.
        files: the documents of each annotator; gold has all of them.
    """
    found = gather_annotations([gold, *files])
    is_gold = found.annotator[found.row_annotation] == 0
    links, support = np.unique(_list_links(found, ~is_gold), return_counts=True)
    n_annotators = np.bincount(found.document[found.annotator > 0], minlength=len(found.names))
    document = found.place[links // max(len(found.place), 1)]
    return LinkSupport(support, n_annotators[document], np.isin(links, _list_links(found, is_gold)))


def _list_links(found: Annotations, rows: Mask) -> Ints:
    """List the links of some rows, each as the number of its first mention times that of mentions, plus its second."""
    order = np.flatnonzero(rows)
    order = order[np.lexsort((found.row_mention[order], found.row_chain[order]))]
    chain, mention = found.row_chain[order], found.row_mention[order]
    _, first, sizes = np.unique(chain, return_index=True, return_counts=True)
    with name_documents(found.names):
        check_sums(found.place[mention[first]], sizes * (sizes - 1) // 2, "links of all annotators", MAX_LINKS)
    links = [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():  # all chains of a size at once
        members = mention[first[sizes == size][:, np.newaxis] + np.arange(size)]
        one, two = np.triu_indices(size, 1)
        links.append((members[:, one] * len(found.place) + members[:, two]).ravel())
    return np.concatenate(links)
