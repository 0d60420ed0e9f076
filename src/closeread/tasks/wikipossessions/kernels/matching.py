"""Which predicted possession is which gold possession of the same article.

Source: Chinnappa, Palmer and Blanco (2020), section 5: names match exactly, or partially where they have a token in
common.  That the matching is one to one, and which is taken where several are possible, is ours.

Conventions: possessions of a side are numbered by their position in the article.  Weights of pairs are integers, so
that what ties in arithmetic ties here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.tasks.wikipossessions.kernels.assignment import Numbers, best_assignment
from closeread.tasks.wikipossessions.kernels.names import Name

Order = tuple[tuple[int, str], ...]
Pair = tuple[int, int]

SETTINGS = ("exact", "partial")
MATCHINGS = ("one_to_one", "many_to_one")


class Named(NamedTuple):
    """The possessions of a side of an article, as they are matched.

    Attributes:
        names: of the possessors.
        orders: of the possessions; None where there is none, which comes after all others.
    """

    names: Sequence[Name]
    orders: Sequence[Order | None]

    def in_order(self) -> list[int]:
        """The positions by order, then by position."""
        return sorted(range(len(self.names)), key=lambda i: (self.orders[i] is None, self.orders[i] or (), i))


def order_key(order: str) -> Order:
    """What an order is compared by: its numbers, so that 6.10 comes after 6.2, and 6.2 after 6.

    A number of any length is its digits, the longer the greater.

    Raises:
        ValueError: it is no whole numbers with full stops between them.
    """
    parts = order.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"order {order!r} is not whole numbers with full stops between them")
    digits = [part.lstrip("0") for part in parts]
    return tuple((len(number), number) for number in digits)


def matched(system: Named, gold: Named, setting: str = "exact", matching: str = "one_to_one") -> list[Pair]:
    """Pairs of a prediction and the gold possession that it is, by position, in the order of the predictions.

    Exact: the k-th prediction of a name is the k-th gold possession of that name, by order and then by position.
    Partial: of the matchings of the rest, the one with the most pairs; of these, with the largest sum of Jaccard
    overlaps of content tokens; of these, with the smallest list of gold positions, prediction by prediction, where an
    unmatched prediction comes after all positions.

    Args:
        system, gold: the two sides of the article.
        setting: "exact" or "partial".
        matching: "one_to_one"; or "many_to_one", where a prediction that is left over is matched as well: with the gold
            possession of the same name, else of the largest Jaccard overlap, at the smallest position.
    """
    pairs = list(_same_names(system, gold))
    if setting == "partial":
        pairs += _partial(system.names, gold.names, pairs)
    if matching == "many_to_one":
        pairs += _left_over(system.names, gold.names, pairs, setting)
    return sorted(pairs)


def _same_names(system: Named, gold: Named) -> Iterator[Pair]:
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in reversed(gold.in_order()):
        waiting[gold.names[j].tokens].append(j)
    for i in system.in_order():
        of_name = waiting.get(system.names[i].tokens)
        if of_name:
            yield i, of_name.pop()


def _left_over(system: Sequence[Name], gold: Sequence[Name], pairs: Sequence[Pair], setting: str) -> Iterator[Pair]:
    taken = {i for i, _ in pairs}
    first_of: dict[tuple[str, ...], int] = {}
    holding: dict[str, list[int]] = defaultdict(list)
    for j, name in enumerate(gold):
        first_of.setdefault(name.tokens, j)
        for token in name.content:
            holding[token].append(j)
    best: dict[Name, int | None] = {}  # of a name, since all predictions of it are alike
    for i, name in enumerate(system):
        if i in taken:
            continue
        if name not in best:
            best[name] = first_of.get(name.tokens)
            if best[name] is None and setting == "partial":
                shared: dict[int, int] = defaultdict(int)
                for j in (j for token in name.content for j in holding.get(token, ())):
                    shared[j] += 1
                best[name] = _most_alike(name, gold, shared)
        j_best = best[name]
        if j_best is not None:
            yield i, j_best


def _most_alike(name: Name, gold: Sequence[Name], shared: dict[int, int]) -> int | None:
    """The gold position with the largest share of tokens in common; None where there is none."""
    best, top, bottom = None, 0, 1
    for j, n in sorted(shared.items()):
        union = len(name.content) + len(gold[j].content) - n
        if n * bottom > top * union:
            best, top, bottom = j, n, union
    return best


def _partial(system: Sequence[Name], gold: Sequence[Name], pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The best pairs among what no pair has."""
    for rows, columns in _groups(system, gold, {i for i, _ in pairs}, {j for _, j in pairs}):
        weight = _weights([system[i].content for i in rows], [gold[j].content for j in columns])
        for row, column in enumerate(best_assignment(weight).tolist()):
            if column >= 0:
                yield rows[row], columns[column]


def _groups(
    system: Sequence[Name], gold: Sequence[Name], used: set[int], used_gold: set[int]
) -> Iterable[tuple[list[int], list[int]]]:
    """Positions of both sides that are joined, directly or by way of others, by tokens in common."""
    free = [(system, [i for i in range(len(system)) if i not in used])]
    free.append((gold, [j for j in range(len(gold)) if j not in used_gold]))
    ours, theirs = ({token for i in positions for token in names[i].content} for names, positions in free)
    parent = {token: token for token in ours & theirs}

    def root(token: str) -> str:
        while parent[token] != token:
            parent[token] = token = parent[parent[token]]
        return token

    sides = [{i: [t for t in names[i].content if t in parent] for i in positions} for names, positions in free]
    for tokens in (tokens for side in sides for tokens in side.values()):
        for token in tokens[1:]:
            parent[root(token)] = root(tokens[0])
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, tokens_of in enumerate(sides):
        for i, tokens in tokens_of.items():
            if tokens:
                groups[root(tokens[0])][side].append(i)
    return groups.values()


def _weights(system: Sequence[frozenset[str]], gold: Sequence[frozenset[str]]) -> Numbers:
    """What every pair weighs, an integer: a pair more weighs more than all overlaps; 0 where nothing is in common.

    Returns:
        (n, n) int64, or Python's integers where these are too small; n is the size of the larger side.
    """
    number = {token: n for n, token in enumerate(set().union(*system) & set().union(*gold))}
    ours, theirs = (_incidence(side, number) for side in (system, gold))
    shared = (ours @ theirs.T).astype(np.int64)
    sizes, gold_sizes = (np.array([len(tokens) for tokens in side]) for side in (system, gold))
    some = shared > 0
    unions = (sizes[:, None] + gold_sizes[None, :] - shared)[some]
    scale = lcm(*np.flatnonzero(np.bincount(unions)).tolist())
    n, bonus = max(len(system), len(gold)), scale * min(len(system), len(gold)) + 1
    kind = np.int64 if 4 * n * (bonus + scale) < 2**63 else object
    weight = np.zeros((n, n), kind)
    weight[: len(system), : len(gold)][some] = bonus + shared[some].astype(kind) * (scale // unions.astype(kind))
    return weight


def _incidence(side: Sequence[frozenset[str]], number: dict[str, int]) -> NDArray[np.float32]:
    """Which name has which token, 1 or 0; float32 counts exactly to 2**24, and has a fast product."""
    table = np.zeros((len(side), len(number)), np.float32)
    for row, tokens in zip(table, side, strict=True):
        row[[number[token] for token in tokens if token in number]] = 1
    return table
