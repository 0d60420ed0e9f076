"""Names of possessors, and the matching of predicted and gold possessions of an article.

Source: Chinnappa, Palmer and Blanco (2020), section 5: names match exactly, or partially if they share a token;
articles and prepositions are ignored.  The word lists, the rest of the normalization, the one-to-one matching and the
tie-breaking rules are ours.

Conventions: names are compared by their tokens.  Function words are English articles and prepositions; particles of
other languages (de, van, du) are part of the name.  A possession is its position in the article.  Weights of pairs are
integers, so that ties are exact.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

from closeread.assignment import best_assignment
from closeread.exceptions import quote

ARTICLES = {"a", "an", "the"}
# fmt: off
PREPOSITIONS = {
    "about", "above", "across", "after", "against", "along", "among", "around", "as", "at", "before",
    "behind", "below", "beside", "between", "beyond", "by", "during", "for", "from", "in", "inside",
    "into", "near", "of", "off", "on", "onto", "out", "outside", "over", "through", "to", "toward",
    "towards", "under", "until", "up", "upon", "via", "with", "within", "without",
}
# fmt: on
FUNCTION_WORDS = ARTICLES | PREPOSITIONS

# Map underscores to spaces, and quotation marks, modifier letters, accents and primes to apostrophes.
_PLAIN = {
    ord("_"): " ",
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02b9\u02bc\u00b4\u2032`"), "'"),
}


ORDER = re.compile(r"[0-9]+(\.[0-9]+)*")
"""A whole number, or several that are separated by full stops: a possession inside another."""


class NormalizedName(NamedTuple):
    """A normalized name.

    Attributes:
        tokens: names with equal tokens match exactly.
        content: names that share a content token match partially.
    """

    tokens: tuple[str, ...]
    content: frozenset[str]


@lru_cache(maxsize=2**12)  # every system that is compared has as many copies as gold
def normalize_name(text: str) -> NormalizedName:
    """Normalize case and typography, and remove punctuation at token edges and function words.

    Function words stay if the name has no other words.

    >>> normalize_name("the Museum of Modern Art,").tokens
    ('museum', 'modern', 'art')
    >>> normalize_name("The Of").tokens
    ('the', 'of')
    """
    # Applied twice, because NFKC and case folding may produce new apostrophes and spaces.
    folded = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN).casefold()
    written = unicodedata.normalize("NFKC", folded).split() or [""]
    tokens = tuple(filter(None, map(_strip_punctuation, written))) or tuple(written)
    content = tuple(token for token in tokens if token not in FUNCTION_WORDS) or tokens
    return NormalizedName(content, frozenset(content))


def _strip_punctuation(token: str) -> str:
    """Remove punctuation from the edges of a token."""
    if token.isalnum():
        return token
    start = 0
    end = len(token)
    while start < end and _is_punctuation(token[start]):
        start += 1
    while start < end and _is_punctuation(token[end - 1]):
        end -= 1
    return token[start:end]


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


Order = tuple[tuple[int, str], ...]
"""A parsed order: length and digits of each of its numbers."""

Pair = tuple[int, int]
Likeness = Callable[[int, int], int]
"""Maps positions in the system and in gold to the similarity of the two possessions, at least 0."""


class Possession(NamedTuple):
    """A possession of one side of an article; None where a value is absent."""

    name: NormalizedName
    order: Order | None = None
    certainty: str | None = None
    time: Any = None  # see `closeread.tasks.wikipossessions.dates.parse_time`
    relation: str | None = None
    relation_certainty: str | None = None


def sort_positions(side: Sequence[Possession]) -> list[int]:
    """Return the positions of possessions sorted by order, then by position; those without an order come last."""
    return sorted(range(len(side)), key=lambda i: (side[i].order is None, side[i].order or (), i))


def parse_order(text: str) -> Order:
    """Parse an order, so that orders compare by their numbers: 6.10 comes after 6.2, and 6.2 after 6.

    Numbers may have more digits than Python reads, and are compared by length, then by digits.

    >>> parse_order("6.02") < parse_order("6.10")
    True
    """
    if not ORDER.fullmatch(text):
        expected = "expected whole numbers separated by full stops, such as 6 or 6.1"
        raise ValueError(f"order is {quote(text)} ({expected})")
    numbers = [digits.lstrip("0") for digits in text.split(".")]
    return tuple((len(number), number) for number in numbers)


def match_possessions(
    system: Sequence[Possession],
    gold: Sequence[Possession],
    setting: str = "exact",
    likeness: Likeness | None = None,
) -> list[Pair]:
    """Return (system, gold) pairs of positions, sorted by the position in the system.

    Exact: the k-th prediction of a name matches the k-th gold possession of that name, by order and then position.
    Partial: the remaining possessions are matched so that the number of pairs is maximal; among ties, the sum of
    Jaccard overlaps of content tokens is maximal; among ties, the list of gold positions, prediction by prediction, is
    the smallest, where an unmatched prediction comes after all positions.

    With a likeness, possessions of the same name are matched so that the sum of their likeness is maximal, and partial
    matches so that it is maximal among ties of the overlap; order and position decide what is left.
    """
    positions_by_name: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in sort_positions(system):
        positions_by_name[system[i].name.tokens].append(i)
    gold_positions_by_name: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in sort_positions(gold):
        gold_positions_by_name[gold[j].name.tokens].append(j)
    pairs: list[Pair] = []
    for tokens, positions in positions_by_name.items():
        gold_positions = gold_positions_by_name[tokens]
        if likeness is None:
            pairs += zip(positions, gold_positions, strict=False)
            continue
        weights = []
        for i in positions:
            row = {k: 1 + likeness(i, j) for k, j in enumerate(gold_positions)}
            weights.append(row)
        pairs += [(i, gold_positions[k]) for i, k in _assign(positions, weights)]
    if setting == "partial":
        pairs += _match_partially(system, gold, pairs, likeness)
    return sorted(pairs)


def _match_partially(
    system: Sequence[Possession],
    gold: Sequence[Possession],
    pairs: Sequence[Pair],
    likeness: Likeness | None,
) -> Iterator[Pair]:
    """Find the best pairs among the unmatched possessions.

    The more pairs, the better; among as many pairs, those whose names overlap most (shared words in all words of both);
    among equal overlaps, those that are most alike.
    """
    unmatched_system = sorted(set(range(len(system))) - {i for i, _ in pairs})
    unmatched_gold = sorted(set(range(len(gold))) - {j for _, j in pairs})
    shared_words: dict[Pair, int] = {}
    all_words: dict[Pair, int] = {}
    for i in unmatched_system:
        words = system[i].name.content
        for j in unmatched_gold:
            gold_words = gold[j].name.content
            n_shared = len(words & gold_words)
            if n_shared:
                shared_words[i, j] = n_shared
                all_words[i, j] = len(words | gold_words)
    alike = dict.fromkeys(shared_words, 0)
    if likeness is not None:
        alike = {pair: likeness(*pair) for pair in shared_words}

    # Whole numbers keep the three criteria apart: overlaps are counted in parts of one common denominator; a pair
    # outweighs all overlaps, and the smallest overlap all likeness.
    denominator = lcm(*set(all_words.values()))
    weight_of_overlap = max(alike.values(), default=0) * len(unmatched_system) + 1
    weight_of_pair = denominator * len(unmatched_system) + 1
    weights: dict[int, dict[int, int]] = {i: {} for i in unmatched_system}
    for (i, j), n_shared in shared_words.items():
        overlap = n_shared * (denominator // all_words[i, j])
        weights[i][j] = (weight_of_pair + overlap) * weight_of_overlap + alike[i, j]
    return _assign(unmatched_system, list(weights.values()))


def _assign(rows: Sequence[int], weights: Sequence[Mapping[int, int]]) -> Iterator[Pair]:
    """Yield the pairs of the best assignment of rows to columns, given the weights of each row by column."""
    return (
        (row, column)
        for row, column in zip(rows, best_assignment(weights), strict=True)
        if column >= 0
    )
