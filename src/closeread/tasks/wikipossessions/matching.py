"""Names of possessors, and the matching of predicted and gold possessions of an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5: names match exactly, or partially if they share a token;
articles and prepositions are ignored.  The word lists, the rest of the normalization, the one-to-one matching and the
tie-breaking rules are ours.

Conventions: names are compared by their tokens.  Function words are English articles and prepositions; particles of
other languages (de, van, du) are part of the name.  A possession is its position in the article.  Weights of pairs are
integers, so that ties are exact.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

from closeread.assignment import best_assignment

ARTICLES = frozenset({"a", "an", "the"})
# fmt: off
PREPOSITIONS = frozenset(
    [
        "about", "above", "across", "after", "against", "along", "among", "around", "as", "at", "before",
        "behind", "below", "beside", "between", "beyond", "by", "during", "for", "from", "in", "inside",
        "into", "near", "of", "off", "on", "onto", "out", "outside", "over", "through", "to", "toward",
        "towards", "under", "until", "up", "upon", "via", "with", "within", "without",
    ]
)
# fmt: on
FUNCTION_WORDS = ARTICLES | PREPOSITIONS

# Map underscores to spaces, and quotation marks, modifier letters, accents and primes to apostrophes.
_PLAIN = {ord("_"): " ", **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02b9\u02bc\u00b4\u2032`"), "'")}


class Name(NamedTuple):
    """A normalized name.

    Attributes:
        tokens: names with equal tokens match exactly.
        content: names that share a content token match partially.
    """

    tokens: tuple[str, ...]
    content: frozenset[str]


@lru_cache(maxsize=2**12)  # every system that is compared has as many copies as gold
def normalize_name(text: str, strip_scope: str = "all") -> Name:
    """Normalize case and typography, and remove punctuation at token edges and function words.

    Args:
        text: the name as written.
        strip_scope: "all" removes function words everywhere; "edges" keeps them between other tokens.  Function words
            are never content, unless the name has no other words.

    >>> normalize_name("the Museum of Modern Art,").tokens
    ('museum', 'modern', 'art')
    >>> normalize_name("the Museum of Modern Art,", "edges").tokens
    ('museum', 'of', 'modern', 'art')
    >>> normalize_name("The Of").tokens
    ('the', 'of')
    """
    # Applied twice, because NFKC and case folding may produce new apostrophes and spaces.
    folded = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN).casefold()
    written = unicodedata.normalize("NFKC", folded).split() or [""]
    tokens = tuple(filter(None, map(_strip_punctuation, written))) or tuple(written)
    content = [i for i, token in enumerate(tokens) if token not in FUNCTION_WORDS] or list(range(len(tokens)))
    if strip_scope == "all":
        kept = tuple(tokens[i] for i in content)
    else:
        kept = tokens[content[0] : content[-1] + 1]
    return Name(kept, frozenset(tokens[i] for i in content))


def _strip_punctuation(token: str) -> str:
    """Remove punctuation from the edges of a token."""
    if token.isalnum():
        return token
    kept = [i for i, character in enumerate(token) if not unicodedata.category(character).startswith("P")]
    return token[kept[0] : kept[-1] + 1] if kept else ""


Order = tuple[tuple[int, str], ...]
Pair = tuple[int, int]
Likeness = Callable[[int, int], int]
"""From positions in the system and in gold to how much the two possessions say the same, from 0."""


class Possessions(NamedTuple):
    """The possessions of one side of an article as columns; None where a value is absent.

    Possessions without an order come last.
    """

    names: Sequence[Name]
    orders: Sequence[Order | None]
    certainty: Sequence[str | None] = ()
    times: Sequence[Any] = ()
    relation: Sequence[str | None] = ()
    relation_certainty: Sequence[str | None] = ()

    def select(self, positions: Sequence[int]) -> Possessions:
        """Select the possessions at these positions."""
        columns: Any = ([column[i] for i in positions] for column in self)
        return Possessions(*columns)

    def in_order(self) -> list[int]:
        """Return the positions sorted by order, then by position."""
        return sorted(range(len(self.names)), key=lambda i: (self.orders[i] is None, self.orders[i] or (), i))


def order_key(order: str) -> Order:
    """Return a sort key for an order that compares its numbers: 6.10 comes after 6.2, and 6.2 after 6.

    Numbers of any length are compared by length, then by digits.
    """
    parts = order.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"order {order!r} is not valid (expected whole numbers separated by full stops)")
    digits = [part.lstrip("0") for part in parts]
    return tuple((len(number), number) for number in digits)


def match_possessions(
    system: Possessions,
    gold: Possessions,
    setting: str = "exact",
    matching: str = "one_to_one",
    likeness: Likeness | None = None,
) -> list[Pair]:
    """Return (system, gold) pairs of positions, sorted by the position in the system.

    Exact: the k-th prediction of a name matches the k-th gold possession of that name, by order and then position.
    Partial: the remaining possessions are matched so that the number of pairs is maximal; among ties, the sum of
    Jaccard overlaps of content tokens is maximal; among ties, the list of gold positions, prediction by prediction, is
    the smallest, where an unmatched prediction comes after all positions.

    Args:
        system, gold: the two sides of the article.
        setting: "exact" or "partial".
        matching: "one_to_one"; or "many_to_one", which also matches each unmatched prediction: with a gold possession
            of the same name, or else of the largest Jaccard overlap, at the smallest position.
        likeness: if given, possessions of the same name are matched so that the sum of their likeness is maximal, and
            partial matches so that it is maximal among ties of the overlap; order and position decide what is left.
    """
    pairs = list(_match_same_names(system, gold) if likeness is None else _match_most_alike(system, gold, likeness))
    if setting == "partial":
        pairs += _match_partially(system.names, gold.names, pairs, likeness)
    if matching == "many_to_one":
        pairs += _match_leftovers(system.names, gold.names, pairs, setting)
    return sorted(pairs)


def _match_same_names(system: Possessions, gold: Possessions) -> Iterator[Pair]:
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in reversed(gold.in_order()):
        waiting[gold.names[j].tokens].append(j)
    for i in system.in_order():
        of_name = waiting.get(system.names[i].tokens)
        if of_name:
            yield i, of_name.pop()


def _match_most_alike(system: Possessions, gold: Possessions, likeness: Likeness) -> Iterator[Pair]:
    """Match possessions of the same name, as many as there are on both sides."""
    groups: dict[tuple[str, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, possessions in enumerate((system, gold)):
        for i in possessions.in_order():
            groups[possessions.names[i].tokens][side].append(i)
    for rows, columns in groups.values():
        if len(rows) == len(columns) == 1:
            yield rows[0], columns[0]
        elif rows and columns:
            weights = [{place: 1 + likeness(i, j) for place, j in enumerate(columns)} for i in rows]
            for i, place in _assign(rows, weights):
                yield i, columns[place]


def _match_leftovers(
    system: Sequence[Name], gold: Sequence[Name], pairs: Sequence[Pair], setting: str
) -> Iterator[Pair]:
    taken = {i for i, _ in pairs}
    for i, name in enumerate(system):
        best, top = None, Fraction(0)
        for j, other in enumerate(gold) if i not in taken else ():
            overlap = Fraction(0)
            if name.tokens == other.tokens:
                overlap = Fraction(2)  # above that of any other name
            elif setting == "partial" and (n_shared := len(name.content & other.content)):
                overlap = Fraction(n_shared, len(name.content | other.content))
            if overlap > top:
                best, top = j, overlap
        if best is not None:
            yield i, best


def _match_partially(
    system: Sequence[Name], gold: Sequence[Name], pairs: Sequence[Pair], likeness: Likeness | None
) -> Iterator[Pair]:
    """Find the best pairs among the unmatched possessions."""
    used, used_gold = {i for i, _ in pairs}, {j for _, j in pairs}
    rows = [i for i in range(len(system)) if i not in used]
    by_token: dict[str, list[int]] = defaultdict(list)
    for j in (j for j in range(len(gold)) if j not in used_gold):
        for token in gold[j].content:
            by_token[token].append(j)
    shared = [Counter(j for token in system[i].content for j in by_token.get(token, ())) for i in rows]
    unions = [
        {j: len(system[i].content | gold[j].content) for j in found} for i, found in zip(rows, shared, strict=True)
    ]
    scale = lcm(*{size for sizes in unions for size in sizes.values()})
    # A pair outweighs all overlaps, and an overlap all likeness.
    bonus, factor = scale * len(rows) + 1, 1
    alike: list[dict[int, int]] = [{} for _ in rows]
    if likeness is not None:
        alike = [{j: likeness(i, j) for j in found} for i, found in zip(rows, shared, strict=True)]
        factor = max((value for values in alike for value in values.values()), default=0) * len(rows) + 1
    weights = [
        {j: (bonus + n * (scale // sizes[j])) * factor + values.get(j, 0) for j, n in found.items()}
        for found, sizes, values in zip(shared, unions, alike, strict=True)
    ]
    yield from _assign(rows, weights)


def _assign(rows: Sequence[int], weights: Sequence[Mapping[int, int]]) -> Iterator[Pair]:
    """Yield the pairs of the best assignment of rows to columns, given the weights of each row by column."""
    for row, column in zip(rows, best_assignment(weights), strict=True):
        if column >= 0:
            yield row, column
