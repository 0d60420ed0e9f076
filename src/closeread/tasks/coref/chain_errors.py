"""Mistakes in chains: those of annotators, or of systems, compared with gold.

Source: Schüller et al. (2018), sections 3.4.1 and 4.3.

Conventions: only chains of two or more mentions are compared, on both sides.  Chains of a document are in the order of
their first mentions; a mention is before another one if it starts before, or starts with it and is longer.
A table has a row for each annotated chain and a column for each gold chain of a document; a cell is the
number of mentions in both.  Its weight is first the number of links in both, n (n - 1) / 2 of n mentions, then the
number of mentions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Ints, LimitError, Mask, best_assignment, ratio
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import name_documents
from closeread.counts.results import Result
from closeread.exceptions import pluralize
from closeread.tables import Grid, Style, format_percent, percent
from closeread.tasks.coref.annotators import Annotations, gather_annotations, read_beside_gold
from closeread.tasks.coref.documents import MentionTable

NONE = -1

KINDS = ("exact", "missing", "mixed", "extra", "spurious")
EXACT, MISSING, MIXED, EXTRA, SPURIOUS = range(len(KINDS))

MAX_TOGETHER = 1_000
"""The most chains of a side that mentions connect and that may match; work grows with the cube."""


class Judged(NamedTuple):
    """The annotated chains of a document, compared with gold.

    Attributes:
        reference: (n_rows,) the gold chain that each is compared with; `NONE` if none shares a mention.
        kind: (n_rows,) its kind, an index of `KINDS`.
        missing: (n_rows,) the number of mentions of its reference that it lacks.
        foreign: (n_rows,) the number of its mentions that are in other gold chains.
    """

    reference: Ints
    kind: Ints
    missing: Ints
    foreign: Ints


def judge_chains(shared: Ints, sizes: Ints, gold_sizes: Ints, document: int = 0) -> Judged:
    """Compare the annotated chains of a document with its gold chains.

    The reference of a chain is its match; without one, the gold chain with most common links, then most common
    mentions, then the first.  The kind is the first of these that holds: "exact": the chain is its reference;
    "spurious": none of its mentions is in a gold chain; "mixed": it has mentions of other gold chains; "missing": it
    lacks mentions of its reference; "extra": it has mentions of no gold chain.

    Args:
        shared: (n_rows, n_columns) the mentions in both chains.
        sizes: (n_rows,) the mentions of each annotated chain.
        gold_sizes: (n_columns,) those of each gold chain.
        document: the number of the document, for the error.
    """
    reference = match_chains(shared, document)
    found = shared.sum(axis=1)
    left = np.flatnonzero((reference == NONE) & (found > 0))
    if left.size:
        reference[left] = shared[left].argmax(axis=1)  # most mentions are most links, and the first comes first
    has_reference = reference != NONE
    rows = np.flatnonzero(has_reference)
    common = np.zeros(len(sizes), np.int64)
    common[rows] = shared[rows, reference[rows]]
    missing = np.zeros(len(sizes), np.int64)
    missing[rows] = gold_sizes[reference[rows]] - common[rows]
    foreign = found - common
    kind = np.select(
        [~has_reference, foreign > 0, missing > 0, sizes > found], [SPURIOUS, MIXED, MISSING, EXTRA], EXACT
    )
    return Judged(reference, kind, missing, foreign)


def match_chains(shared: Ints, document: int = 0) -> Ints:
    """Match annotated chains and gold chains one to one, with the greatest total weight.

    Among the best matchings, the one in which the first row has the first column possible, or none if it can't have
    any, then the second row, and so on: it depends on the order of chains alone, not on the solver.

    Args:
        shared: (n_rows, n_columns) the mentions in both chains.
        document: the number of the document, for the error.

    Returns:
        (n_rows,) the column of each row; `NONE` for a row without a match.  Chains that share no mention are no match.
    """
    # Links and mentions in one integer: no total of mentions reaches the weight of a link.
    weight = (shared * (shared - 1) // 2) * (shared.sum() + 1) + shared
    matched = np.full(len(shared), NONE)
    for rows, columns in _list_components(shared > 0):
        own = _match_component(weight[np.ix_(rows, columns)], document)
        matched[rows] = np.where(own == NONE, NONE, columns[own])
    return matched


def _list_components(touches: Mask) -> list[tuple[Ints, Ints]]:
    """List the rows and the columns of each connected part of a table, in ascending order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows, n_columns = touches.shape
    row, column = np.nonzero(touches)
    n = n_rows + n_columns
    graph = coo_array((np.ones(len(row)), (row, n_rows + column)), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    of_row, of_column = label[:n_rows], label[n_rows:]
    return [(np.flatnonzero(of_row == number), np.flatnonzero(of_column == number)) for number in np.unique(label[row])]


def _match_component(weight: Ints, document: int) -> Ints:
    """Match the rows and columns of a connected part, (n_rows,); `NONE` for a row without a match."""
    rows = _find_useful(weight.T)
    columns = _find_useful(weight[rows])
    side = max(len(rows), len(columns))
    if side > MAX_TOGETHER:
        raise LimitError(document, side, "chains that share mentions with the same chains", MAX_TOGETHER)
    square = np.zeros((side, side), np.int64)
    square[: len(rows), : len(columns)] = weight[np.ix_(rows, columns)]
    found = best_assignment(square)[: len(rows)]
    matched = np.full(len(weight), NONE)
    matched[rows] = np.where(found == NONE, NONE, columns[found])
    return matched


def _find_useful(weight: Ints) -> Ints:
    """Find the columns that may be in the first of the best matchings, in ascending order.

    If n rows have a match, a row with a column that is not among its n heaviest, of which the first come first, could
    have one of these instead, which no other row has.
    """
    n_rows, n_columns = weight.shape
    if n_columns <= n_rows:
        return np.arange(n_columns)
    return np.unique(np.argsort(-weight, axis=1, kind="stable")[:, :n_rows])


MAX_CELLS = 4_000_000
"""The most chains of a document times its gold chains."""


@dataclass(frozen=True, eq=False)
class ChainErrors(Result):
    """The chains of files, compared with gold.

    Attributes:
        kind: (n_chains,) the kind of each chain, an index of `KINDS`.
        size: (n_chains,) the number of its mentions.
        missing, foreign: (n_chains,) how many mentions of its reference it lacks, and how many of its mentions are in
            other gold chains.
        notices: what else a user should know about the files, one sentence each.
    """

    kind: Ints
    size: Ints
    missing: Ints
    foreign: Ints
    notices: Sequence[str] = ()

    def count_kinds(self) -> dict[str, int]:
        """Return the number of chains of each of `KINDS`."""
        return dict(zip(KINDS, np.bincount(self.kind, minlength=len(KINDS)).tolist(), strict=True))

    def count_missing(self) -> dict[str, int]:
        """Return the number of chains of the kind "missing" by the number of mentions that they lack, as text."""
        return _count_values(self.missing[self.kind == MISSING])

    def count_foreign(self) -> dict[str, int]:
        """Return the number of chains of the kind "mixed" by the number of mentions of other gold chains, as text."""
        return _count_values(self.foreign[self.kind == MIXED])

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of kinds, and that of missing and foreign mentions if there are any."""
        del style
        return list(make_grids(self))

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts."""
        return ["count", "value", "chains"], list(list_counts(self))

    def to_json(self) -> dict[str, Any]:
        """Return all counts as JSON can hold them."""
        return {
            "chains": len(self.kind),
            "mentions": int(self.size.sum()),
            "kinds": self.count_kinds(),
            "missing_mentions": self.count_missing(),
            "foreign_mentions": self.count_foreign(),
        }

    @property
    def n_mistaken(self) -> int:
        """The number of chains that are not exact."""
        return int((self.kind != EXACT).sum())


def _count_values(values: Ints) -> dict[str, int]:
    found, times = np.unique(values, return_counts=True)
    return dict(zip(map(str, found.tolist()), times.tolist(), strict=True))


def count_chain_errors(gold: Annotator, annotators: Sequence[Annotator]) -> ChainErrors:
    """Compare the chains of annotators, or of systems, with gold: files, folders or documents in memory."""
    key, read, notices = read_beside_gold(gold, annotators)
    return replace(find_chain_errors(key.table, [file.table for file in read]), notices=notices)


def find_chain_errors(gold: MentionTable, files: Sequence[MentionTable]) -> ChainErrors:
    """Compare the chains of each document of each file with gold.

    Args:
        gold: the documents with their gold chains; no mention is in two chains.
        files: those of annotators or systems; gold has all their documents.
    """
    found = gather_annotations([gold, *files])
    chains = _list_chains(found)
    of_gold = {int(found.document[number]): chains[number] for number in np.flatnonzero(found.annotator == 0)}
    others = np.flatnonzero(found.annotator > 0).tolist()
    with name_documents(found.names):
        judged = [_compare(int(found.document[number]), chains[number], of_gold) for number in others]
    size = [np.array([len(chain) for chain in chains[number]], np.int64) for number in others]
    columns = [_join([getattr(one, name) for one in judged]) for name in ("kind", "missing", "foreign")]
    kind, missing, foreign = columns
    return ChainErrors(kind, _join(size), missing, foreign)


def _list_chains(found: Annotations) -> list[list[Ints]]:
    """List the chains of two or more mentions of every annotation, by first mention, each with its mentions."""
    order = np.lexsort((found.row_mention, found.row_chain))
    chain, mention = found.row_chain[order], found.row_mention[order]
    bounds = [0, *(np.flatnonzero(np.diff(chain)) + 1).tolist(), len(chain)]
    chains: list[list[Ints]] = [[] for _ in found.annotator]
    for start, end in pairwise(bounds):
        if end - start > 1:
            chains[int(found.row_annotation[order[start]])].append(mention[start:end])
    return [sorted(own, key=lambda members: int(members[0])) for own in chains]


def _compare(document: int, chains: Sequence[Ints], of_gold: Mapping[int, Sequence[Ints]]) -> Judged:
    """Compare the chains of a document with its gold chains."""
    gold = of_gold[document]
    if (cells := len(chains) * len(gold)) > MAX_CELLS:
        raise LimitError(document, cells, "pairs of a chain and a gold chain", MAX_CELLS)
    place = {mention: number for number, members in enumerate(gold) for mention in members.tolist()}
    shared = np.zeros((len(chains), len(gold)), np.int64)
    for row, members in enumerate(chains):
        for mention in members.tolist():
            if (column := place.get(mention)) is not None:
                shared[row, column] += 1
    sizes, gold_sizes = (np.array([len(one) for one in side], np.int64) for side in (chains, gold))
    return judge_chains(shared, sizes, gold_sizes, document)


def _join(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *columns])


FROM = 4
"""The number of mentions from which on chains are counted together in tables."""


def list_counts(found: ChainErrors) -> Iterator[list[object]]:
    """Yield the counts as rows: what is counted, the kind or the number of mentions, and the number of chains."""
    yield from (["kind", kind, n] for kind, n in found.count_kinds().items())
    yield from (["missing mentions", mentions, n] for mentions, n in found.count_missing().items())
    yield from (["foreign mentions", mentions, n] for mentions, n in found.count_foreign().items())


def make_grids(found: ChainErrors) -> Iterator[Grid]:
    """Yield the table of kinds, and that of missing and foreign mentions if there are any."""
    total, mistaken = len(found.kind), found.n_mistaken
    rows = [
        [
            kind,
            f"{n:,}",
            percent(float(ratio(n, total))) if total else format_percent(None),
            "" if kind == "exact" else percent(float(ratio(n, mistaken)) if mistaken else None),
        ]
        for kind, n in found.count_kinds().items()
    ]
    size = f"{pluralize(total, 'chain')} of two or more mentions, {pluralize(int(found.size.sum()), 'mention')}."
    yield Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [size])
    counts = {"missing": found.count_missing(), "mixed": found.count_foreign()}
    if any(counts.values()):
        header = ["chains by number of mentions", *(str(n) for n in range(1, FROM)), f"{FROM} or more"]
        named = {"missing": "missing, by mentions that they lack", "mixed": "mixed, by mentions of other chains"}
        yield Grid("", header, [[named[kind], *_group_counts(of)] for kind, of in counts.items()])


def _group_counts(counts: Mapping[str, int]) -> list[str]:
    """Format counts by number of mentions, those from `FROM` on together."""
    few = [counts.get(str(n), 0) for n in range(1, FROM)]
    return [f"{n:,}" for n in (*few, sum(counts.values()) - sum(few))]
