"""Mistakes in chains: those of annotators, or of systems, compared with gold.

Source: Schüller et al. (2018), sections 3.4.1 and 4.3.

Conventions: only chains of two or more mentions are compared, on both sides.  Chains of a document are in the order of
their first mentions; a mention is before another one if it starts before, or starts with it and is longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closeread.arrays import Ints, ratio
from closeread.assignment import NONE, best_assignment
from closeread.counts.annotators import Annotator
from closeread.counts.results import Result
from closeread.exceptions import pluralize
from closeread.tables import Grid, Style, format_percent, percent
from closeread.tasks.coref.annotators import gather_annotations, read_beside_gold
from closeread.tasks.coref.documents import MentionTable

KINDS = ("exact", "missing", "mixed", "extra", "spurious")
EXACT, MISSING, MIXED, EXTRA, SPURIOUS = range(len(KINDS))

FROM = 4
"""The number of mentions from which on chains are counted together in tables."""


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

    @property
    def n_mistaken(self) -> int:
        """The number of chains that are not exact."""
        return int((self.kind != EXACT).sum())

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of kinds, and that of missing and foreign mentions if there are any."""
        del style
        total, mistaken = len(self.kind), self.n_mistaken
        rows = [
            [
                kind,
                f"{n:,}",
                percent(float(ratio(n, total))) if total else format_percent(None),
                "" if kind == "exact" else percent(float(ratio(n, mistaken)) if mistaken else None),
            ]
            for kind, n in self.count_kinds().items()
        ]
        size = f"{pluralize(total, 'chain')} of two or more mentions, {pluralize(int(self.size.sum()), 'mention')}."
        grids = [Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [size])]
        counts = {
            "missing, by mentions that they lack": self.count_missing(),
            "mixed, by mentions of other chains": self.count_foreign(),
        }
        if any(counts.values()):
            header = ["chains by number of mentions", *(str(n) for n in range(1, FROM)), f"{FROM} or more"]
            rows = []
            for name, of in counts.items():
                few = [of.get(str(n), 0) for n in range(1, FROM)]
                rows.append([name, *(f"{n:,}" for n in (*few, sum(of.values()) - sum(few)))])
            grids.append(Grid("", header, rows))
        return grids

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts: the kind or the number of mentions, and the number of chains."""
        parts = {"kind": self.count_kinds(), "missing mentions": self.count_missing()}
        parts["foreign mentions"] = self.count_foreign()
        return ["count", "value", "chains"], [[name, value, n] for name, of in parts.items() for value, n in of.items()]

    def to_json(self) -> dict[str, Any]:
        """Return all counts as JSON can hold them."""
        return {
            "chains": len(self.kind),
            "mentions": int(self.size.sum()),
            "kinds": self.count_kinds(),
            "missing_mentions": self.count_missing(),
            "foreign_mentions": self.count_foreign(),
        }


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
    rows: list[tuple[int, int, int, int]] = []
    for document in gather_annotations([gold, *files]):
        chains = [sorted(sorted(chain) for chain in one.chains if len(chain) > 1) for one in document.annotations]
        for own in chains[1:]:
            rows += judge_chains(own, chains[0])
    return ChainErrors(*np.array(rows, np.int64).reshape(-1, 4).T)


def judge_chains(chains: Sequence[Sequence[int]], gold: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int, int]]:
    """Compare the annotated chains of a document with its gold chains.

    The reference of a chain is its match; without one, the gold chain with most common links, then most common
    mentions, then the first.  The kind is the first of these that holds: "exact": the chain is its reference;
    "spurious": none of its mentions is in a gold chain; "mixed": it has mentions of other gold chains; "missing": it
    lacks mentions of its reference; "extra": it has mentions of no gold chain.

    Yields:
        For each chain: its kind, the number of its mentions, how many of its reference it lacks, and how many of its
        own are in other gold chains.
    """
    place = {mention: number for number, members in enumerate(gold) for mention in members}
    shared = [Counter(place[mention] for mention in members if mention in place) for members in chains]
    for members, common, reference in zip(chains, shared, match_chains(shared), strict=True):
        found = common.total()
        if not found:
            yield SPURIOUS, len(members), 0, 0
            continue
        if reference == NONE:  # most mentions are most links
            reference = min(common, key=lambda number: (-common[number], number))
        missing, foreign = len(gold[reference]) - common[reference], found - common[reference]
        kind = MIXED if foreign else MISSING if missing else EXTRA if len(members) > found else EXACT
        yield kind, len(members), missing, foreign


def match_chains(shared: Sequence[Mapping[int, int]]) -> list[int]:
    """Match annotated chains and gold chains one to one, with the most common links, and then mentions.

    Among the best matchings, the one in which the first chain has the first gold chain possible, or none if it can't
    have any, then the second chain, and so on: it depends on the order of chains alone, not on the solver.

    Args:
        shared: for each chain the number of mentions that it has in common with gold chains, by their numbers.

    Returns:
        The number of the gold chain of each chain; `NONE` if it has none.
    """
    # Links and mentions in one integer: no total of mentions reaches the weight of a link.
    link = sum(sum(common.values()) for common in shared) + 1
    return best_assignment([{j: n * (n - 1) // 2 * link + n for j, n in common.items()} for common in shared])
