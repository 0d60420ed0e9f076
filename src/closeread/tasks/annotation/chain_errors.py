"""Mistakes in the chains of annotators or systems.

Conventions: only chains of two or more mentions are compared, on both sides.  Chains of a document are in the order of
their first mentions.

Source: Schüller et al. (2018), sections 3.4.1 and 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

from closeread.arrays import ratio
from closeread.assignment import NONE, best_assignment
from closeread.counts.annotators import Annotator
from closeread.counts.results import Result
from closeread.exceptions import pluralize
from closeread.tables import Grid, Style, percent
from closeread.tasks.annotation.annotators import gather_documents, read_beside_gold
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.formats import ALL_ANNOTATION, StandoffOptions

CHAIN_KINDS = ("exact", "missing", "mixed", "extra", "spurious")

MAX_COUNTED_APART = 3
"""The largest number of mentions for which chains have a column of their own in tables."""


@dataclass(frozen=True, eq=False)
class ChainErrors(Result):
    """The chains of files, compared with gold.

    Attributes:
        kinds: the number of chains of each of `CHAIN_KINDS`.
        missing: the number of chains of the kind "missing", by the number of mentions that they lack, as text.
        foreign: that of the kind "mixed", by the number of their mentions that are in other gold chains.
        n_mentions: the number of mentions of all chains.
        notices: about the files, one sentence each.
    """

    kinds: Mapping[str, int]
    missing: Mapping[str, int]
    foreign: Mapping[str, int]
    n_mentions: int
    notices: Sequence[str] = ()

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
        rows = []
        for kind, n in self.kinds.items():
            share = _format_share(n, self.n_chains)
            share_of_mistaken = "" if kind == "exact" else _format_share(n, self.n_mistaken)
            rows.append([kind, f"{n:,}", share, share_of_mistaken])
        chains = f"{pluralize(self.n_chains, 'chain')} of two or more mentions"
        sizes = f"{chains}, {pluralize(self.n_mentions, 'mention')}."
        grids = [Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [sizes])]
        if self.missing or self.foreign:
            numbers = [
                *map(str, range(1, MAX_COUNTED_APART + 1)),
                f"{MAX_COUNTED_APART + 1} or more",
            ]
            rows = [
                ["missing, by mentions that they lack", *_format_numbers(self.missing)],
                ["mixed, by mentions of other chains", *_format_numbers(self.foreign)],
            ]
            grids.append(Grid("", ["chains by number of mentions", *numbers], rows))
        return grids

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all counts: the kind or the number of mentions, and the number of chains."""
        parts = {
            "kind": self.kinds,
            "missing mentions": self.missing,
            "foreign mentions": self.foreign,
        }
        rows: list[list[object]] = []
        for name, counts in parts.items():
            rows += [[name, value, n] for value, n in counts.items()]
        return ["count", "value", "chains"], rows

    def to_dict(self) -> dict[str, Any]:
        """Return all counts as JSON can hold them."""
        return {
            "chains": self.n_chains,
            "mentions": self.n_mentions,
            "kinds": self.kinds,
            "missing_mentions": self.missing,
            "foreign_mentions": self.foreign,
        }


def _format_share(n: int, total: int) -> str:
    return percent(float(ratio(n, total)) if total else None)


def _format_numbers(counts: Mapping[str, int]) -> list[str]:
    return [f"{n:,}" for n in group_numbers(counts).values()]


def group_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of 1, 2, 3 and of more, from counts by number.

    >>> group_numbers({"1": 5, "3": 2, "4": 1, "12": 1})
    {'1': 5, '2': 0, '3': 2, 'more': 2}
    """
    grouped = {}
    for number in range(1, MAX_COUNTED_APART + 1):
        grouped[str(number)] = counts.get(str(number), 0)
    grouped["more"] = sum(counts.values()) - sum(grouped.values())
    return grouped


def count_chain_errors(
    gold: Annotator,
    annotators: Sequence[Annotator],
    standoff: StandoffOptions = ALL_ANNOTATION,
) -> ChainErrors:
    """Compare the chains of annotators, or of systems, with gold: files, folders or documents in memory."""
    key, files, notices = read_beside_gold(gold, annotators, standoff)
    return replace(find_chain_errors(key, files), notices=notices)


def find_chain_errors(gold: Documents, files: Sequence[Documents]) -> ChainErrors:
    """Compare the chains of each document of each file with gold, which has all documents, and a mention once each."""
    judged: list[JudgedChain] = []
    for document in gather_documents([gold, *files]):
        gold_chains, *annotated = map(_sort_chains, document.chains.values())
        for chains in annotated:
            judged += judge_chains(chains, gold_chains)
    kinds = Counter(chain.kind for chain in judged)
    return ChainErrors(
        {kind: kinds[kind] for kind in CHAIN_KINDS},
        _count_values(chain.n_missing for chain in judged if chain.kind == "missing"),
        _count_values(chain.n_foreign for chain in judged if chain.kind == "mixed"),
        sum(chain.size for chain in judged),
    )


def _sort_chains(chains: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return the chains of two or more mentions in the order of their first mentions."""
    return sorted(sorted(chain) for chain in chains if len(chain) > 1)


def _count_values(values: Iterable[int]) -> dict[str, int]:
    """Return how often each number occurs, by the number as text."""
    return {str(value): times for value, times in sorted(Counter(values).items())}


class JudgedChain(NamedTuple):
    """An annotated chain, compared with its gold chain.

    Attributes:
        kind: one of `CHAIN_KINDS`.
        size: how many mentions it has.
        n_missing: how many mentions of its gold chain it lacks.
        n_foreign: how many of its mentions are in other gold chains.
    """

    kind: str
    size: int
    n_missing: int = 0
    n_foreign: int = 0


def judge_chains(
    chains: Sequence[Sequence[int]], gold: Sequence[Sequence[int]]
) -> Iterator[JudgedChain]:
    """Judge each annotated chain of a document.

    The reference of a chain is its match; without one, the gold chain with most common links, then most common
    mentions, then the first.  The kind is the first of these that holds: "exact": the chain is its reference;
    "spurious": none of its mentions is in a gold chain; "mixed": it has mentions of other gold chains; "missing": it
    lacks mentions of its reference; "extra": it has mentions of no gold chain.
    """
    gold_chain_of = {}
    for number, members in enumerate(gold):
        gold_chain_of.update(dict.fromkeys(members, number))
    n_common_by_chain = []
    for members in chains:
        numbers = [gold_chain_of[mention] for mention in members if mention in gold_chain_of]
        n_common_by_chain.append(Counter(numbers))
    references = match_chains(n_common_by_chain)
    for members, n_common, reference in zip(chains, n_common_by_chain, references, strict=True):
        n_in_gold = n_common.total()
        if n_in_gold == 0:
            yield JudgedChain("spurious", len(members))
            continue
        if reference == NONE:
            # The one with the most common mentions has the most common links.
            reference = min(n_common, key=lambda number: (-n_common[number], number))
        n_missing = len(gold[reference]) - n_common[reference]
        n_foreign = n_in_gold - n_common[reference]
        if n_foreign:
            kind = "mixed"
        elif n_missing:
            kind = "missing"
        elif len(members) > n_in_gold:
            kind = "extra"
        else:
            kind = "exact"
        yield JudgedChain(kind, len(members), n_missing, n_foreign)


def match_chains(n_common_by_chain: Sequence[Mapping[int, int]]) -> list[int]:
    """Match annotated chains and gold chains one to one, with the most common links, and then mentions.

    Args:
        n_common_by_chain: for each chain, how many mentions it has in common with gold chains, by their numbers.

    Returns:
        The gold chain of each chain, `NONE` if it has none.  Among the best matchings, it is the one in which the first
        chain has the first gold chain possible, or none if it can't have any, then the second chain, and so on.
    """
    # Links and mentions in one integer: no total of mentions reaches the weight of a link.
    weight_of_link = 1 + sum(sum(n_common.values()) for n_common in n_common_by_chain)
    weights: list[dict[int, int]] = []
    for n_common in n_common_by_chain:
        weights.append({})
        for gold_chain, n in n_common.items():
            weights[-1][gold_chain] = comb(n, 2) * weight_of_link + n
    return best_assignment(weights)
