"""A system's words, whatever their tokenisation, aligned with the words of the key.

Characters without blanks are aligned: equal stretches first, found by their unique parts, and what lies between by edit
distance.  A word of the system is found where at least half of its characters are equal to the key's; a mention is kept
if its first and last words are found, and then reaches to the borders of the key's words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import Problem, RequestError, name_option, pluralize, quote
from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.spans import Span, merge_adjacent

ANCHOR_LENGTHS = (32, 12, 6)
"""How many characters the unique parts of texts have that are looked for, one after the other."""

MAX_CELLS_BEFORE_ANCHORS = 2**10
"""How large a table of edit distances may be where unique parts could still be looked for."""

MAX_CELLS = 2**22
"""How large a table of edit distances may be; longer stretches that differ have nothing in common."""

MIN_COMMON = 0.5
"""The share of the shorter text's words that must be equal."""

LOST = -1
"""The place of what is not found."""


class WordMap(NamedTuple):
    """Where the words of a system are in the key.

    Attributes:
        first, last: the first and the last word of the key that each word has a part of; `LOST` if there is none.
        is_whole: whether each word begins and ends where words of the key do, with equal characters.
        n_equal: the number of words with equal characters, one after the other.
        n_missing: the number of words of the key without a character in the system's text.
    """

    first: list[int]
    last: list[int]
    is_whole: list[bool]
    n_equal: int
    n_missing: int


def align_words(system: Sequence[str], key: Sequence[str]) -> WordMap:
    """Find the words of a system in the key's."""
    words = list(map(_join_word, system))
    key_words = list(map(_join_word, key))
    text = "".join(words)
    key_text = "".join(key_words)
    place_array = np.full(len(text), LOST)
    _align(text, key_text, place_array)
    places = place_array.tolist()
    key_lengths = list(map(len, key_words))
    # The word of the key to which each of its characters belongs, and where its words begin and end.
    key_word_of = np.repeat(np.arange(len(key)), key_lengths).tolist()
    borders = {0, *accumulate(key_lengths)}
    word_map = WordMap([], [], [], 0, 0)
    n_equal = 0
    end = 0
    for word in words:
        begin = end
        end += len(word)
        equal = [
            place
            for character, place in zip(word, places[begin:end], strict=True)
            if place != LOST and key_text[place] == character
        ]
        if not equal or 2 * len(equal) < len(word):
            word_map.first.append(LOST)
            word_map.last.append(LOST)
            word_map.is_whole.append(False)
            continue
        word_map.first.append(key_word_of[equal[0]])
        word_map.last.append(key_word_of[equal[-1]])
        # All characters are equal, and adjacent in the key.
        is_equal = len(equal) == len(word) == equal[-1] - equal[0] + 1
        n_equal += is_equal
        word_map.is_whole.append(is_equal and {equal[0], equal[-1] + 1} <= borders)
    reached = {key_word_of[place] for place in places if place != LOST}
    n_missing = sum(length > 0 for length in key_lengths) - len(reached)
    return word_map._replace(n_equal=n_equal, n_missing=n_missing)


def _join_word(word: str) -> str:
    """Return a word without blanks and underscores, unless it has nothing else."""
    return "".join(word.replace("_", " ").split()) or word


def _align(
    a: str, b: str, place: Ints, shift: int = 0, lengths: Sequence[int] = ANCHOR_LENGTHS
) -> None:
    """Write the place in b, shifted, of each character of a that has one; `place` is the part of a.

    Equal beginnings and ends are aligned first; between them, unique parts of the first of some lengths, and what lies
    between these with the next lengths.
    """
    n_before = _common_length(a, b)
    n_after = _common_length(a[n_before:][::-1], b[n_before:][::-1])
    end = len(a) - n_after
    key_end = len(b) - n_after
    place[:n_before] = np.arange(n_before) + shift
    place[end:] = np.arange(key_end, len(b)) + shift
    a = a[n_before:end]
    b = b[n_before:key_end]
    place = place[n_before:end]
    shift += n_before
    n_cells = len(a) * len(b)
    if n_cells <= MAX_CELLS_BEFORE_ANCHORS or not lengths:
        if 0 < n_cells <= MAX_CELLS:
            _edit(a, b, place, shift)
        return
    length, *shorter = lengths
    # Where what is not yet aligned begins in both texts.
    i = 0
    j = 0
    for start, key_start in _find_anchors(a, b, length):
        if start >= i and key_start >= j:
            _align(a[i:start], b[j:key_start], place[i:start], shift + j, shorter)
        elif start - key_start != i - j:
            # It overlaps the one before on another diagonal.
            continue
        i = start + length
        j = key_start + length
        place[start:i] = np.arange(key_start, j) + shift
    _align(a[i:], b[j:], place[i:], shift + j, shorter)


def _common_length(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their start."""
    low = 0
    high = min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _find_anchors(a: str, b: str, size: int) -> list[tuple[int, int]]:
    """Find parts that occur once in each text, as many in the same order as there can be."""
    places = _find_unique_parts(a, size)
    key_places = _find_unique_parts(b, size)
    pairs = sorted(
        (place, key_places[part]) for part, place in places.items() if part in key_places
    )
    # The longest ascending series: of the series of each length, the smallest last place in b, and its pair.
    tails: list[int] = []
    last_pairs: list[int] = []
    # The pair before each one in the longest series that it ends.
    before: list[int] = []
    for pair, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        tails[length : length + 1] = [place]
        last_pairs[length : length + 1] = [pair]
        before.append(last_pairs[length - 1] if length else LOST)
    series = []
    pair = last_pairs[-1] if last_pairs else LOST
    while pair != LOST:
        series.append(pairs[pair])
        pair = before[pair]
    return series[::-1]


def _find_unique_parts(text: str, size: int) -> dict[str, int]:
    """Return the parts of a size that occur once in a text, with their places."""
    places: dict[str, int] = {}
    for i in range(len(text) - size + 1):
        part = text[i : i + size]
        places[part] = LOST if part in places else i
    return {part: i for part, i in places.items() if i != LOST}


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
    # Back from the end, along the cheapest steps.
    i = len(a)
    j = len(b)
    while i and j:
        cost = rows[i][j]
        if cost == rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]):
            i -= 1
            j -= 1
            place[i] = j + shift
        elif cost == rows[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1


# Documents


@dataclass
class _Counts:
    """What became of the words and mentions of a response.

    Attributes:
        documents: the number of documents that were aligned.
        words: the words that are not found in the key.
        missing: the words of the key that are not in the response.
        moved: the mentions whose borders are not those of words.
        merged: the mentions that fall on another one, and are left out.
        lost: the mentions that are not found.
    """

    documents: int = 0
    words: int = 0
    missing: int = 0
    moved: int = 0
    merged: int = 0
    lost: int = 0

    def describe(self) -> str:
        """Say what became of them."""
        documents = pluralize(self.documents, "document")
        words = pluralize(self.words, "word")
        mentions = pluralize(self.moved, "mention")
        merged = f" ({self.merged:,} onto another, and left out)" if self.merged else ""
        return (
            f"{documents} aligned with the key's words: {words} of the response not found in the key and "
            f"{self.missing:,} of the key not in the response; "
            f"{mentions} moved to the borders of words{merged}, and {self.lost:,} lost."
        )


def align_documents(key: Documents, response: Documents) -> tuple[Documents, list[Problem]]:
    """Return a response with the tokens of the key, and the documents that are other texts.

    Raises:
        RequestError: a document has mentions but no words, or the response has relations, which aren't aligned.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    counts = _Counts()
    for expected, document in zip(key.documents, response.documents, strict=True):
        if document.is_absent:
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
    notices = [counts.describe()] if counts.documents else []
    return response.replaced(documents, *notices), problems


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
    nodes = document.map_nodes()
    key_nodes = key.map_nodes()
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
    for token, node in _pair_nodes(document.nodes, key.nodes, token_map.last, key_tokens).items():
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
        mentions = [new for mention, new in pairs if mention.spans == first_on[new.spans]]
        counts.merged += len(pairs) - len(mentions)
        if mentions:
            entities.append(Entity(entity.label, mentions))
    return entities


def _move_mention(mention: Mention, token_map: TokenMap, counts: _Counts) -> Mention | None:
    """Return a mention with the tokens of the key; None if one of its borders is not found."""
    spans = mention.spans
    head = mention.head_or_start
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
    nodes: Sequence[EmptyNode],
    key_nodes: Sequence[EmptyNode],
    last: Mapping[int, int],
    key_tokens: Sequence[int],
) -> dict[int, int]:
    """Map empty nodes to those of the key after the same word, or else to those with this word as their parent.

    Args:
        nodes: the empty nodes of the response.
        key_nodes: those of the key.
        last: the last token of the key for each word of the response.
        key_tokens: the tokens of the key that are words.
    """
    words_before = _find_words_before(nodes, last)
    before = _find_words_before(key_nodes, dict(zip(key_tokens, key_tokens, strict=True)))
    unpaired = {node.token: node for node in key_nodes}
    pairs = dict.fromkeys(words_before, LOST)

    def pair(fits: Callable[[EmptyNode, int], bool]) -> None:
        for token, word in words_before.items():
            if pairs[token] == LOST:
                node = next((node for node in unpaired.values() if fits(node, word)), None)
                if node is not None:
                    pairs[token] = node.token
                    del unpaired[node.token]

    pair(lambda node, word: before[node.token] == word)
    pair(lambda node, word: [parent for parent, _ in node.dependencies[:1]] == [word])
    return pairs


def _find_words_before(nodes: Sequence[EmptyNode], last: Mapping[int, int]) -> dict[int, int]:
    """Map empty nodes to the key's token of the nearest word before them that is found."""
    tokens = {node.token for node in nodes}
    words_before = {}
    word = LOST
    for token in sorted({*last, *tokens}):
        if token in tokens:
            words_before[token] = word
        elif last[token] != LOST:
            word = last[token]
    return words_before
