"""Find sentences of another edition of a text by the words that are known of them.

Of a sentence some stretches are known (its mentions), each with its text and about where it stands.  The sentences of
the other edition are divided into tokens in another way, have other names, and a few stand elsewhere.

Conventions: sentences and their tokens count from 0; a place is the first and the last token of a stretch.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar
from unicodedata import normalize

from closeread.tasks.coref.marmara.turkish import lower

Place = tuple[int, int]
T = TypeVar("T", bound=Hashable)

IGNORED = re.compile(r"[\s_'’‘`´ʼ\"“”„‟«»]+")
"""What editions write in different ways: blanks, which `_` may stand for, apostrophes and quotation marks."""

MAX_WEIGHT = 3.0
DISTANCE_WEIGHT = 0.3
UNLIMITED = 2**62
ADVANTAGE = 1.2
"""How many times the score of the second best a sentence must have that is found on its own."""


def make_key(text: str) -> str:
    """Return what two editions of a Turkish text have in common, for comparing.

    >>> make_key("Ayşe’nin IŞIĞI"), make_key("İyi_ki")
    ('ayşeninışığı', 'iyiki')
    """
    return IGNORED.sub("", lower(normalize("NFC", text)))


def find_quotes(text: str, place: Place, tokens: Sequence[str]) -> Place:
    """Add the quotation marks around a stretch that are tokens of their own, if its text has them.

    >>> find_quotes('"Ev"', (1, 1), ['"', "Ev", '"', "dedi"]), find_quotes("Ev", (1, 1), ['"', "Ev", '"', "dedi"])
    ((0, 2), (1, 1))
    """
    first, last = place
    if (
        _is_ignored(text.strip()[:1])
        and not _is_ignored(tokens[first][:1])
        and first
        and not make_key(tokens[first - 1])
    ):
        first -= 1
    after = tokens[last + 1 : last + 2]
    if _is_ignored(text.strip()[-1:]) and not _is_ignored(tokens[last][-1:]) and after and not make_key(after[0]):
        last += 1
    return first, last


def _is_ignored(text: str) -> bool:
    return IGNORED.fullmatch(text) is not None


class Stretch(NamedTuple):
    """A stretch of words of the sentence that is sought.

    Attributes:
        key: the key of its text, never empty.
        first, last: its first and its last token there.
    """

    key: str
    first: int
    last: int


class Match(NamedTuple):
    """A sentence in which all stretches are found.

    Attributes:
        score: how well, above 0.
        places: the place of each stretch; what is before another stays before it.
    """

    score: float
    places: Sequence[Place]


class SentenceIndex:
    """The sentences in which stretches are sought.

    Args:
        sentences: the tokens of each.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        keys: list[str] = []
        # The token that begins or ends at a position of the text; tokens without a key do neither.
        self._beginning: dict[int, int] = {}
        self._ending: dict[int, int] = {}
        self._sentence: list[int] = []  # of each token
        self._first: list[int] = []  # token of each sentence
        self._found: dict[str, dict[int, list[Place]]] = {}
        position = 0
        for number, tokens in enumerate(sentences):
            self._first.append(len(self._sentence))
            for key in map(make_key, tokens):
                token = len(self._sentence)
                self._sentence.append(number)
                if key:
                    keys.append(key)
                    self._beginning[position] = token
                    position += len(key)
                    self._ending[position] = token
            keys.append("\n")  # no key has one
            position += 1
        self._text = "".join(keys)

    def find_places(self, key: str) -> Mapping[int, Sequence[Place]]:
        """Return all places of a stretch between the borders of tokens, by sentence; all in order."""
        if (found := self._found.get(key)) is not None:
            return found
        found = self._found[key] = {}
        position = self._text.find(key)
        while position >= 0:
            token, last = self._beginning.get(position), self._ending.get(position + len(key))
            if token is not None and last is not None:
                sentence = self._sentence[token]
                begin = self._first[sentence]
                found.setdefault(sentence, []).append((token - begin, last - begin))
            position = self._text.find(key, position + 1)
        return found

    def find_matches(self, stretches: Sequence[Stretch]) -> dict[int, Match]:
        """Return the sentences in which all stretches are found, in order.

        Args:
            stretches: at least one.
        """
        by_key: dict[str, list[int]] = {}
        for i in sorted(range(len(stretches)), key=lambda i: stretches[i].first):
            by_key.setdefault(stretches[i].key, []).append(i)
        places = {key: self.find_places(key) for key in by_key}
        fewest = min(places.values(), key=len)
        fits = [s for s in fewest if all(len(places[key].get(s, ())) >= len(n) for key, n in by_key.items())]
        matches = {s: _match(stretches, by_key, {key: places[key][s] for key in by_key}) for s in fits}
        return {sentence: match for sentence, match in matches.items() if match}


def _match(
    stretches: Sequence[Stretch], by_key: Mapping[str, Sequence[int]], places: Mapping[str, Sequence[Place]]
) -> Match | None:
    """Find the places of the stretches in a sentence; None if they can't stay in their order."""
    score = 0.0
    found: dict[int, Place] = {}
    # What is certain first: the others must be before or after it.
    for key in sorted(by_key, key=lambda key: (len(places[key]) - len(by_key[key]), -len(key))):
        numbers = by_key[key]
        bounds = [_find_bounds(stretches, found, stretches[i]) for i in numbers]
        chosen = choose_places([stretches[i].first for i in numbers], places[key], bounds)
        if chosen is None:
            return None
        found.update(zip(numbers, chosen, strict=True))
        weight = min(MAX_WEIGHT, math.sqrt(len(key)))
        score += sum(weight / (1 + DISTANCE_WEIGHT * abs(found[i][0] - stretches[i].first)) for i in numbers)
    return Match(score, [found[i] for i in range(len(stretches))])


def _find_bounds(stretches: Sequence[Stretch], found: Mapping[int, Place], stretch: Stretch) -> Place:
    """Return the first and the last token that a stretch may have, given the places of others."""
    before = [place[1] + 1 for i, place in found.items() if stretches[i].last < stretch.first]
    after = [place[0] - 1 for i, place in found.items() if stretches[i].first > stretch.last]
    return max(before, default=0), min(after, default=UNLIMITED)


def choose_places(firsts: Sequence[int], places: Sequence[Place], bounds: Sequence[Place]) -> list[Place] | None:
    """Choose places for stretches with the same key that don't overlap and are nearest to where they should be.

    Args:
        firsts: where each should begin, in ascending order; their places have the same order.
        places: all places, in order.
        bounds: the first and the last token that each may have.

    Returns:
        A place for each, with the least sum of distances, the earlier ones of several such choices; None if there is
        none within the bounds.
    """
    ends = [last for _, last in places]
    before = [bisect_left(ends, first) for first, _ in places]  # how many places are before each
    # The least cost of the first stretches in the first places; the last of these is chosen, or not.
    cost = [[0.0] * (len(places) + 1)]
    for first, (low, high) in zip(firsts, bounds, strict=True):
        row = [math.inf]
        for j, (begin, end) in enumerate(places):
            is_allowed = low <= begin and end <= high
            row.append(min(row[j], cost[-1][before[j]] + abs(begin - first) if is_allowed else math.inf))
        cost.append(row)
    if math.isinf(cost[-1][-1]):
        return None
    chosen: list[Place] = []
    j = len(places)
    for row in reversed(cost[1:]):
        while row[j - 1] == row[j]:
            j -= 1
        chosen.append(places[j - 1])
        j = before[j - 1]
    return chosen[::-1]


def align(scores: Sequence[Mapping[int, float]]) -> list[int | None]:
    """Assign columns to rows so that both ascend and the sum of the scores is greatest.

    Args:
        scores: the columns that each row may have, with their scores, above 0.

    Returns:
        The column of each row, or None.
    """
    # For the rows so far: chains of (column, chain before); of those that end before a column, the best.
    ends: list[int] = []
    totals: list[float] = []
    chains: list[_Chain] = []
    for row, options in enumerate(scores):
        # From the right, so that no chain has two columns of a row.
        for column in sorted(options, reverse=True):
            at = bisect_left(ends, column)
            before = chains[at - 1] if at else None
            total = (totals[at - 1] if at else 0.0) + options[column]
            worse = at
            while worse < len(ends) and totals[worse] <= total:
                worse += 1
            if at < len(ends) and ends[at] == column and worse == at:
                continue
            ends[at:worse], totals[at:worse], chains[at:worse] = [column], [total], [_Chain(row, column, before)]
    found: list[int | None] = [None] * len(scores)
    chain = chains[-1] if chains else None
    while chain:
        found[chain.row], chain = chain.column, chain.before
    return found


class _Chain(NamedTuple):
    row: int
    column: int
    before: _Chain | None


def pick_best(scores: Mapping[T, float]) -> T | None:
    """Return what scores `ADVANTAGE` times the second best, or what alone has a score; None if nothing does."""
    ranked = sorted(scores, key=lambda i: -scores[i])
    if not ranked or (len(ranked) > 1 and scores[ranked[0]] < ADVANTAGE * scores[ranked[1]]):
        return None
    return ranked[0]
