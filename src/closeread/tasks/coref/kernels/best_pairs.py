"""The best one-to-one choice of pairs of mentions.

Conventions: the sum of the similarities is maximal.  If several choices have the same sum, the result is that of
SciPy's solver of the assignment problem for all candidates of the document, in the order of the text, as in CorefUD's
scorer (github.com/ufal/corefud-scorer, version 1.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, Mask, check_sums

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that may match; a thousand mentions on both sides with one head have them.
"""

MAX_ALL_PAIRS = 10_000_000
"""The most pairs of all documents together, which are in memory at the same time."""

MAX_CELLS = 25_000_000
"""The largest matrix of mentions of key and response that compete for the same matches."""

MANY = 30
"""A group with more pairs than this is taken to have several best choices: finding out would take longer."""

LARGEST = 25_000_000
"""The most pairs of candidates of a document; beyond, SciPy's solver sees only the mentions that compete for others."""

TIE = 1e-9
"""Sums that differ by less are equal."""


class Pairs(NamedTuple):
    """Mentions of key and response that may match, and their similarity, which is above 0; no pair occurs twice."""

    key: Ints
    response: Ints
    similarity: Floats

    def select(self, rows: Mask) -> Pairs:
        """Return the pairs where the mask is true."""
        return Pairs(self.key[rows], self.response[rows], self.similarity[rows])


def check_pairs(document: Ints, counts: Ints) -> None:
    """Check that mentions are in no more pairs than can be listed.

    Args:
        document: (n,) the documents of some mentions.
        counts: (n,) the number of pairs that each is in.

    Raises:
        LimitError: a document has more than `MAX_PAIRS`, or all have more than `MAX_ALL_PAIRS` (said of the document
            with most).
    """
    check_sums(document, counts, "pairs of mentions that may match", MAX_PAIRS)
    if (total := int(counts.sum())) > MAX_ALL_PAIRS:
        first = int(np.bincount(document, counts).argmax())
        raise LimitError(first, total, "pairs of mentions that may match in it and in the others", MAX_ALL_PAIRS)


class Ranking(NamedTuple):
    """The order of the candidates of a side.

    Attributes:
        document: (n_mentions,) the document of each mention.
        rank: (n_mentions,) its rank among the candidates of its document, from 0; arbitrary for others.
        n_candidates: (n_documents,) the number of candidates of each document.
    """

    document: Ints
    rank: Ints
    n_candidates: Ints


def choose_best(pairs: Pairs, key: Ranking, response: Ranking) -> Ints:
    """Choose pairs one to one; return their indices.

    Raises:
        LimitError: the mentions of a document that compete for each other would fill a matrix of more than `MAX_CELLS`.
    """
    document = key.document[pairs.key]
    rows, columns = key.rank[pairs.key], response.rank[pairs.response]
    alone, groups = _find_groups(pairs)
    chosen = np.zeros(len(document), np.bool_)
    chosen[alone] = True
    tied = set()
    for group in groups:
        row, column, similarity = *_compress(rows[group], columns[group]), pairs.similarity[group]
        if (cells := (int(row.max()) + 1) * (int(column.max()) + 1)) > MAX_CELLS:
            raise LimitError(int(document[group[0]]), cells, "pairs of mentions that compete for matches", MAX_CELLS)
        best = _solve(row, column, similarity)
        chosen[group[best]] = True
        if _has_tie(row, column, similarity, best):
            tied.add(int(document[group[0]]))
    for number in sorted(tied):
        shape = int(key.n_candidates[number]), int(response.n_candidates[number])
        if shape[0] * shape[1] <= LARGEST:
            here = np.flatnonzero(document == number)
            chosen[here] = False
            chosen[here[_solve(rows[here], columns[here], pairs.similarity[here], shape)]] = True
    return np.flatnonzero(chosen)


def _find_groups(pairs: Pairs) -> tuple[Ints, list[Ints]]:
    """Find the pairs of which no mention is in another pair, and groups of the others.

    Pairs that share a mention are in the same group.
    """
    is_alone = (np.bincount(pairs.key)[pairs.key] == 1) & (np.bincount(pairs.response)[pairs.response] == 1)
    rest = np.flatnonzero(~is_alone)
    if not len(rest):
        return np.flatnonzero(is_alone), []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    (_, row), (_, column) = (np.unique(side[rest], return_inverse=True) for side in pairs[:2])
    n_rows = int(row.max()) + 1
    size = n_rows + int(column.max()) + 1
    graph = coo_array((np.ones(len(rest)), (row, column + n_rows)), shape=(size, size))
    group = connected_components(graph, directed=False)[1][row]
    order = np.argsort(group, kind="stable")
    borders = np.flatnonzero(np.diff(group[order])) + 1
    return np.flatnonzero(is_alone), np.split(rest[order], borders)


def _compress(rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Number the rows and the columns that occur, in order."""
    return np.unique(rows, return_inverse=True)[1], np.unique(columns, return_inverse=True)[1]


def _solve(rows: Ints, columns: Ints, similarity: Floats, shape: tuple[int, int] | None = None) -> Ints:
    """Choose some cells of a matrix, one in a row and column, with the largest sum."""
    from scipy.optimize import linear_sum_assignment

    shape = shape or (int(rows.max()) + 1, int(columns.max()) + 1)
    cost = np.zeros(shape)
    cost[rows, columns] = -similarity
    partner = np.full(shape[0], -1)
    row, column = linear_sum_assignment(cost)
    partner[row] = column
    # Where nothing better is left, the solver takes cells that are no pairs.
    return np.flatnonzero(partner[rows] == columns)


def _has_tie(rows: Ints, columns: Ints, similarity: Floats, best: Ints) -> bool:
    """Return whether another choice of cells has the same sum."""
    if len(rows) > MANY:
        return True
    total = similarity[best].sum()
    for cell in best.tolist():
        others = np.flatnonzero(np.arange(len(rows)) != cell)
        left = similarity[others]
        if len(others) and left[_solve(rows[others], columns[others], left)].sum() >= total - TIE:
            return True
    return False
