"""Mistakes in chains: those of annotators, or of systems, compared with gold.

Source: Schüller et al. (2018), sections 3.4.1 and 4.3.

Conventions: only chains of two or more mentions are compared, on both sides.  Chains of a document are in the order of
their first mentions; a mention is before another one if it starts before, or starts with it and is longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from closeread.arrays import Ints, LimitError
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import name_documents
from closeread.counts.results import Result
from closeread.tables import Grid, Style
from closeread.tasks.coref.annotators import Annotations, gather_annotations, read_beside_gold
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.chain_matching import EXACT, KINDS, MISSING, MIXED, Judged, judge_chains

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
        from closeread.tasks.coref.chain_tables import make_grids

        del style
        return list(make_grids(self))

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts."""
        from closeread.tasks.coref.chain_tables import list_counts

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
    """Compare the chains of annotators, or of systems, with gold: files, folders or documents in memory.

    Raises:
        InputError: they are missing or invalid, differ in their tokens, or have documents that gold lacks.
    """
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
    """Compare the chains of a document with its gold chains.

    Raises:
        LimitError: the table of chains and gold chains is larger than `MAX_CELLS`, or too many are connected.
    """
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
