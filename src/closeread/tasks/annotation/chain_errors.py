"""Mistakes in the chains of annotators or systems.

Conventions: only chains of two or more mentions are compared, on both sides.  Chains of a document are in the order of
their first mentions; a mention is before another one if it starts before, or starts with it and is longer.

Source: Schüller et al. (2018), sections 3.4.1 and 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from closeread.arrays import ratio
from closeread.assignment import NONE, best_assignment
from closeread.counts.annotators import Annotator
from closeread.counts.results import Result
from closeread.exceptions import pluralize
from closeread.tables import Grid, Style, percent
from closeread.tasks.annotation.annotators import gather_annotations, read_beside_gold
from closeread.tasks.coref.documents import MentionTable

CHAIN_KINDS = ("exact", "missing", "mixed", "extra", "spurious")
FROM = 4
"""The number of mentions from which on chains are counted together in tables."""


@dataclass(frozen=True, eq=False)
class ChainErrors(Result):
    """The chains of files, compared with gold."""

    kinds: Mapping[str, int]  # the number of chains of each of `CHAIN_KINDS`
    # of the kind "missing", by the number of mentions that they lack, as text
    missing: Mapping[str, int]
    # of the kind "mixed", by the number of mentions of other gold chains, as text
    foreign: Mapping[str, int]
    n_mentions: int  # of all chains
    notices: Sequence[str] = ()  # about the files, one sentence each

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return sum(self.kinds.values())

    @property
    def n_mistaken(self) -> int:
        """The number of chains that are not exact."""
        return self.n_chains - self.kinds["exact"]

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of kinds, and that of missing and foreign mentions if there are any."""
        del style

        def share(n: int, total: int) -> str:
            return percent(float(ratio(n, total)) if total else None)

        rows = [
            [
                kind,
                f"{n:,}",
                share(n, self.n_chains),
                "" if kind == "exact" else share(n, self.n_mistaken),
            ]
            for kind, n in self.kinds.items()
        ]
        sizes = f"{pluralize(self.n_chains, 'chain')} of two or more mentions, {pluralize(self.n_mentions, 'mention')}."
        grids = [Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [sizes])]
        if self.missing or self.foreign:
            rows = [
                [name, *(f"{n:,}" for n in group_numbers(counts).values())]
                for name, counts in (
                    ("missing, by mentions that they lack", self.missing),
                    ("mixed, by mentions of other chains", self.foreign),
                )
            ]
            header = [
                "chains by number of mentions",
                *(str(n) for n in range(1, FROM)),
                f"{FROM} or more",
            ]
            grids.append(Grid("", header, rows))
        return grids

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts: the kind or the number of mentions, and the number of chains."""
        parts = {
            "kind": self.kinds,
            "missing mentions": self.missing,
            "foreign mentions": self.foreign,
        }
        return ["count", "value", "chains"], [
            [name, value, n] for name, of in parts.items() for value, n in of.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all counts as JSON can hold them."""
        return {
            "chains": self.n_chains,
            "mentions": self.n_mentions,
            "kinds": self.kinds,
            "missing_mentions": self.missing,
            "foreign_mentions": self.foreign,
        }


def group_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of 1, 2, 3 and of more, from counts by number.

    >>> group_numbers({"1": 5, "3": 2, "4": 1, "12": 1})
    {'1': 5, '2': 0, '3': 2, 'more': 2}
    """
    few = {str(number): counts.get(str(number), 0) for number in range(1, FROM)}
    return {**few, "more": sum(counts.values()) - sum(few.values())}


def count_chain_errors(gold: Annotator, annotators: Sequence[Annotator]) -> ChainErrors:
    """Compare the chains of annotators, or of systems, with gold: files, folders or documents in memory."""
    key, read, notices = read_beside_gold(gold, annotators)
    return replace(find_chain_errors(key.table, [file.table for file in read]), notices=notices)


def find_chain_errors(gold: MentionTable, files: Sequence[MentionTable]) -> ChainErrors:
    """Compare the chains of each document of each file with gold, which has all documents, and a mention once each."""
    judged: list[tuple[str, int, int, int]] = []
    for document in gather_annotations([gold, *files]):
        expected, *others = (
            sorted(sorted(chain) for chain in one.chains if len(chain) > 1)
            for one in document.annotations
        )
        for chains in others:
            judged += judge_chains(chains, expected)

    def count(values: Iterable[int]) -> dict[str, int]:
        return {str(value): times for value, times in sorted(Counter(values).items())}

    kinds = Counter(kind for kind, *_ in judged)
    return ChainErrors(
        {kind: kinds[kind] for kind in CHAIN_KINDS},
        count(missing for kind, _, missing, _ in judged if kind == "missing"),
        count(foreign for kind, _, _, foreign in judged if kind == "mixed"),
        sum(size for _, size, _, _ in judged),
    )


def judge_chains(
    chains: Sequence[Sequence[int]], gold: Sequence[Sequence[int]]
) -> Iterator[tuple[str, int, int, int]]:
    """Yield the kind of each annotated chain of a document, its size, and how many mentions are missing and foreign.

    The reference of a chain is its match; without one, the gold chain with most common links, then most common
    mentions, then the first.  The kind is the first of these that holds: "exact": the chain is its reference;
    "spurious": none of its mentions is in a gold chain; "mixed": it has mentions of other gold chains; "missing": it
    lacks mentions of its reference; "extra": it has mentions of no gold chain.
    """
    place = {mention: number for number, members in enumerate(gold) for mention in members}
    shared = [
        Counter(place[mention] for mention in members if mention in place) for members in chains
    ]
    for members, common, reference in zip(chains, shared, match_chains(shared), strict=True):
        found = common.total()
        if not found:
            yield "spurious", len(members), 0, 0
            continue
        if reference == NONE:  # most mentions are most links
            reference = min(common, key=lambda number: (-common[number], number))
        missing, foreign = len(gold[reference]) - common[reference], found - common[reference]
        kind = (
            "mixed"
            if foreign
            else "missing"
            if missing
            else "extra"
            if len(members) > found
            else "exact"
        )
        yield kind, len(members), missing, foreign


def match_chains(shared: Sequence[Mapping[int, int]]) -> list[int]:
    """Match annotated chains and gold chains one to one, with the most common links, and then mentions.

    Given is for each chain how many mentions it has in common with gold chains, by their numbers; it returns the gold
    chain of each chain, `NONE` if it has none.  Among the best matchings, it is the one in which the first chain has
    the first gold chain possible, or none if it can't have any, then the second chain, and so on.
    """
    # Links and mentions in one integer: no total of mentions reaches the weight of a link.
    link = sum(sum(common.values()) for common in shared) + 1
    return best_assignment(
        [{j: n * (n - 1) // 2 * link + n for j, n in common.items()} for common in shared]
    )
