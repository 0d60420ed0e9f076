"""A system's words, whatever their tokenisation, aligned with the words of the key.

Characters without blanks are aligned: equal stretches first, found by their unique parts, and what lies between by edit
distance.  A word of the system is found where at least half of its characters are equal to the key's; a mention is kept
if its first and last words are found, and then reaches to the borders of the key's words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import Problem, RequestError, name_option, pluralize, quote
from closeread.tasks.coref.documents import (
    Document,
    Documents,
    EmptyNode,
    Entity,
    Mention,
    Span,
    merge_adjacent,
)

GRAMS = (32, 12, 6)  # the lengths of unique parts, one after the other
# of a table of edit distances; longer stretches that differ have nothing in common
MAX_CELLS = 2**22
MIN_COMMON = 0.5  # the share of the shorter text's words that must be equal

LOST = -1


class WordMap(NamedTuple):
    """Where the words of a system are in the key."""

    # the first word of the key that each word of the system has a part of; `LOST` if there is none
    first: list[int]
    last: list[int]
    # whether the word begins and ends where words of the key do, with equal characters
    is_whole: list[bool]
    n_equal: int  # words with equal characters, one after the other
    n_missing: int  # words of the key without a character in the system's text


def align_words(system: Sequence[str], key: Sequence[str]) -> WordMap:
    """Find the words of a system in the key's."""
    texts = ["".join(map(_join_word, words)) for words in (system, key)]
    place = np.full(len(texts[0]), LOST)
    _align(texts[0], texts[1], place)
    lengths = [
        np.array([len(_join_word(word)) for word in words], np.int64) for words in (system, key)
    ]
    ends = [np.cumsum(n) for n in lengths]
    word_of = np.repeat(np.arange(len(key)), lengths[1])
    at = place.tolist()
    equal = place != LOST
    equal[equal] = [texts[0][i] == texts[1][at[i]] for i in np.flatnonzero(equal)]
    n_equal = np.concatenate([[0], np.cumsum(equal)])
    first, last, is_whole, whole_words = [], [], [], 0
    borders = {0, *ends[1].tolist()}
    for n, end in zip(lengths[0].tolist(), ends[0].tolist(), strict=True):
        begin = end - n
        found = int(n_equal[end] - n_equal[begin])
        if not n or 2 * found < n:
            first.append(LOST)
            last.append(LOST)
            is_whole.append(False)
            continue
        same = np.flatnonzero(equal[begin:end]) + begin
        first.append(int(word_of[at[same[0]]]))
        last.append(int(word_of[at[same[-1]]]))
        is_equal = found == n and at[end - 1] - at[begin] == n - 1
        whole_words += is_equal
        is_whole.append(is_equal and at[begin] in borders and at[end - 1] + 1 in borders)
    reached = np.zeros(len(key), np.bool_)
    reached[word_of[place[place != LOST]]] = True
    return WordMap(first, last, is_whole, whole_words, int((~reached & (lengths[1] > 0)).sum()))


def _join_word(word: str) -> str:
    return "".join(word.replace("_", " ").split()) or word


def _align(a: str, b: str, place: Ints, shift: int = 0, grams: Sequence[int] = GRAMS) -> None:
    """Write the place in b, shifted, of each character of a that has one; `place` is the part of a."""
    begin = _common_length(a, b)
    place[:begin] = np.arange(begin) + shift
    a, b, place, shift = a[begin:], b[begin:], place[begin:], shift + begin
    after = _common_length(a[::-1], b[::-1])
    if after:
        place[len(a) - after :] = np.arange(len(b) - after, len(b)) + shift
        a, b = a[:-after], b[:-after]
        place = place[: len(a)]
    if not a or not b:
        return
    if len(a) * len(b) <= 2**10 or not grams:
        if len(a) * len(b) <= MAX_CELLS:
            _edit(a, b, place, shift)
        return
    size, i, j = grams[0], 0, 0
    for start, of_b in [*_find_anchors(a, b, size), (len(a), len(b))]:
        if start < i or of_b < j:
            if start - of_b != i - j:
                continue  # it overlaps the one before on another diagonal
        else:
            _align(a[i:start], b[j:of_b], place[i:start], shift + j, grams[1:])
        if start < len(a):
            n = min(size, len(a) - start)
            place[start : start + n] = np.arange(of_b, of_b + n) + shift
            i, j = start + n, of_b + n


def _common_length(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their start."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def _find_anchors(a: str, b: str, size: int) -> list[tuple[int, int]]:
    """Find parts that occur once in each text, as many in the same order as there can be."""
    places: list[dict[str, int]] = []
    for text in (a, b):
        seen: dict[str, int] = {}
        for i in range(len(text) - size + 1):
            part = text[i : i + size]
            seen[part] = LOST if part in seen else i
        places.append(seen)
    pairs = [
        (i, j)
        for part, i in places[0].items()
        if i != LOST and (j := places[1].get(part, LOST)) != LOST
    ]
    pairs.sort()
    tails: list[int] = []  # the smallest last place of a series of each length, and its pair
    holders: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        length = bisect_left(tails, j)
        tails[length : length + 1], holders[length : length + 1] = [j], [n]
        before.append(holders[length - 1] if length else LOST)
    found, n = [], holders[-1] if holders else LOST
    while n != LOST:
        found.append(pairs[n])
        n = before[n]
    return found[::-1]


def _edit(a: str, b: str, place: Ints, shift: int) -> None:
    """Align two texts with the fewest insertions, deletions and substitutions."""
    codes = np.array([ord(character) for character in b])
    steps = np.arange(len(b) + 1, dtype=np.int32)
    rows = [steps]
    for character in a:
        above = rows[-1]
        row = above + 1
        np.minimum(row[1:], above[:-1] + (codes != ord(character)), out=row[1:])
        rows.append(np.minimum.accumulate(row - steps) + steps)
    i, j = len(a), len(b)
    while i and j:
        cost = rows[i][j]
        if cost == rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            place[i] = j + shift
        elif cost == rows[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1


# Documents


class _Counts:
    """What became of the words and mentions of a response."""

    def __init__(self) -> None:
        self.documents = self.words = self.missing = self.moved = self.merged = self.lost = 0

    def describe(self) -> Iterator[str]:
        if not self.documents:
            return
        merged = f" ({self.merged:,} onto another, and left out)" if self.merged else ""
        yield (
            f"{pluralize(self.documents, 'document')} aligned with the key's words: "
            f"{pluralize(self.words, 'word')} of the response not found in the key and "
            f"{self.missing:,} of the key not in the response; "
            f"{pluralize(self.moved, 'mention')} moved to the borders of words{merged}, and {self.lost:,} lost."
        )


def align_documents(key: Documents, response: Documents) -> tuple[Documents, list[Problem]]:
    """Return a response with the tokens of the key, and the documents that are other texts.

    Raises:
        RequestError: a document has mentions but no words, or the response has relations, which aren't aligned.
    """
    key_by_name = key.by_name()
    documents: list[Document] = []
    problems: list[Problem] = []
    counts = _Counts()
    for document in response.documents:
        expected = key_by_name.get(document.name)
        if expected is None:
            documents.append(document)
            continue
        aligned, problem = _align_document(document, expected, counts)
        documents.append(aligned)
        if problem:
            problems.append(Problem(problem, document.line_of(0), document.file))
    pairs = zip(documents, response.documents, strict=True)
    if all(aligned is document for aligned, document in pairs):
        return response, problems
    if response.has_relations:
        option = name_option("words", "align")
        instead = "use CorefUD or CoNLL"
        raise RequestError(
            f"{option} can't align the relations of Universal Anaphora files; {instead}"
        )
    return response.replaced(documents, *counts.describe()), problems


def _align_document(document: Document, key: Document, counts: _Counts) -> tuple[Document, str]:
    """Return a document with the tokens of the key, and what is wrong with it, if anything is."""
    words = document.words.read()
    key_words = key.words.read()
    if document.entities and not (words and key_words):
        side = "response" if key_words else "key"
        needs = f"{name_option('words', 'align')} needs words on both sides"
        raise RequestError(f"{needs}, but document {quote(document.name)} of the {side} has none")
    if not key_words or (not words and document.n_tokens):
        return document, ""
    tokens_of_nodes = [node.token for node in document.nodes]
    has_same_nodes = tokens_of_nodes == [node.token for node in key.nodes]
    if list(words) == list(key_words) and has_same_nodes:
        aligned = replace(document, nodes=key.nodes, words=key.words) if key.nodes else document
        return aligned, ""
    token_map, n_equal, n_words = _map_tokens(document, key, words, key_words, counts)
    problem = ""
    if n_words is not None and n_equal < MIN_COMMON * min(n_words):
        share = f"only {n_equal:,} of its {pluralize(n_words[0], 'word')}"
        problem = (
            f"document {quote(document.name)} is another text than the key's: "
            f"{share} are in the key's text in this order"
        )
    aligned = replace(
        document,
        entities=_move_mentions(document, token_map, counts),
        n_tokens=len(key_words),
        words=key.words,
        nodes=key.nodes,
        reference_order=None,
    )
    return aligned, problem


class TokenMap(NamedTuple):
    """Where the tokens of a document are in the key.

    Attributes:
        first, last: the first and the last token of the key for each token; `LOST` if it is not found.
        is_whole: whether a token begins and ends where tokens of the key do.
    """

    first: dict[int, int]
    last: dict[int, int]
    is_whole: dict[int, bool]


def _map_tokens(
    document: Document,
    key: Document,
    words: Sequence[str],
    key_words: Sequence[str],
    counts: _Counts,
) -> tuple[TokenMap, int, tuple[int, int] | None]:
    """Find the tokens of a document in the key; return also how many words are equal, and the numbers of words.

    The numbers are None if a side has no words.
    """
    nodes = {node.token for node in document.nodes}
    key_nodes = {node.token for node in key.nodes}
    tokens = [token for token in range(len(words)) if token not in nodes]
    key_tokens = [token for token in range(len(key_words)) if token not in key_nodes]
    word_map = align_words(
        [words[token] for token in tokens], [key_words[token] for token in key_tokens]
    )

    def find_tokens(places: Sequence[int]) -> dict[int, int]:
        in_key = [LOST if place == LOST else key_tokens[place] for place in places]
        return dict(zip(tokens, in_key, strict=True))

    token_map = TokenMap(
        find_tokens(word_map.first),
        find_tokens(word_map.last),
        dict(zip(tokens, word_map.is_whole, strict=True)),
    )
    for token, node in _pair_nodes(document.nodes, key.nodes, token_map.last).items():
        token_map.first[token] = node
        token_map.last[token] = node
        token_map.is_whole[token] = node != LOST
    counts.documents += 1
    counts.words += word_map.first.count(LOST)
    counts.missing += word_map.n_missing
    n_words = (len(tokens), len(key_tokens)) if tokens and key_tokens else None
    return token_map, word_map.n_equal, n_words


def _move_mentions(document: Document, token_map: TokenMap, counts: _Counts) -> list[Entity]:
    """Return the entities of a document with the tokens of the key; mentions that are not found are left out.

    Of mentions that fall on the same words of the key, the first in the text is kept; a mention that the document
    repeats is kept as often, as it would be without alignment.
    """
    moved: list[list[tuple[Mention, Mention]]] = []
    first_on: dict[tuple[Span, ...], tuple[Span, ...]] = {}
    for entity in document.entities:
        pairs = []
        for mention in entity.mentions:
            new = _move_mention(mention, token_map, counts)
            if new is None:
                counts.lost += 1
                continue
            pairs.append((mention, new))
            spans = mention.spans
            first_on[new.spans] = min(spans, first_on.get(new.spans, spans))
        moved.append(pairs)
    entities = []
    for entity, pairs in zip(document.entities, moved, strict=True):
        kept = [new for mention, new in pairs if mention.spans == first_on[new.spans]]
        counts.merged += len(pairs) - len(kept)
        if kept:
            entities.append(Entity(entity.label, kept))
    return entities


def _move_mention(mention: Mention, token_map: TokenMap, counts: _Counts) -> Mention | None:
    """Return a mention with the tokens of the key; None if one of its borders is not found."""
    spans = mention.spans
    head = mention.start if mention.head is None else mention.head
    borders = [*chain.from_iterable(spans), head]
    if any(token_map.first[token] == LOST for token in borders):
        return None
    counts.moved += not all(token_map.is_whole[token] for token in borders)
    moved = merge_adjacent((token_map.first[start], token_map.last[end]) for start, end in spans)
    return Mention(
        moved[0][0],
        moved[-1][1],
        head=None if mention.head is None else token_map.first[head],
        subspans=tuple(moved) if len(moved) > 1 else (),
        tag=mention.tag,
    )


def _pair_nodes(
    nodes: Sequence[EmptyNode], of_key: Sequence[EmptyNode], last: Mapping[int, int]
) -> dict[int, int]:
    """Map empty nodes to those of the key after the same word, or else to those with this word as their parent."""
    tokens = {node.token for node in of_key}

    def word_before(token: int) -> int:
        return next((i for i in range(token - 1, -1, -1) if i not in tokens), LOST)

    left = {
        node.token: (word_before(node.token), [parent for parent, _ in node.dependencies[:1]])
        for node in of_key
    }
    found: dict[int, int] = {}
    places = []
    word = LOST
    own = {node.token for node in nodes}
    for token in sorted({*last, *own}):
        if token in own:
            places.append((token, word))
        else:
            word = last[token] if last[token] != LOST else word
    for by_parent in (False, True):
        for token, at in places:
            if token in found:
                continue
            fits = (
                node
                for node, (before, parents) in left.items()
                if (at in parents if by_parent else at == before)
            )
            if (node := next(fits, None)) is not None:
                found[token] = node
                del left[node]
    return {token: found.get(token, LOST) for token, _ in places}
