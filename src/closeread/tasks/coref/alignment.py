"""A system's words, whatever their tokenisation, aligned with the words of the key.

Characters without blanks are aligned: equal stretches first, found by their unique parts, and what lies between by edit
distance.  A word of the system is found where at least half of its characters are equal to the key's; a mention is kept
if its first and last words are found, and then reaches to the borders of the key's words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import Problem, RequestError, name_option, pluralize, quote
from closeread.tasks.coref.documents import (
    Document,
    EmptyNode,
    JoinedWords,
    MentionTable,
    Parts,
    find_words,
    make_table,
    merge_adjacent,
    split_table,
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


def align_documents(
    key: MentionTable, response: MentionTable
) -> tuple[MentionTable, list[Problem]]:
    """Return a response with the tokens of the key, and the documents that are other texts.

    Raises:
        RequestError: a document has mentions but no words, or the response has relations, which aren't aligned.
    """
    index = {name: i for i, name in enumerate(key.names)}
    documents, places, problems, counts, changed = [], [], [], _Counts(), False
    for r, document in enumerate(split_table(response)):
        k = index.get(document.name)
        places.append(find_words(response, r) if k is None else find_words(key, k))
        words = response.words(r) if response.words else ()
        wanted = key.words(k) if key.words and k is not None else ()
        if k is not None and len(document.start) and not (words and wanted):
            side = "response" if wanted else "key"
            needs = f"{name_option('words', 'align')} needs words on both sides"
            raise RequestError(
                f"{needs}, but document {quote(document.name)} of the {side} has none"
            )
        if k is None or not wanted or (not words and document.n_tokens):
            documents.append(document)
            continue
        nodes = key.empty[k] if key.empty else ()
        if list(words) == list(wanted) and [n.token for n in document.empty] == [
            n.token for n in nodes
        ]:
            documents.append(replace(document, empty=nodes))
            changed |= bool(nodes)
            continue
        changed = True
        found, problem = _align_document(document, words, wanted, nodes, counts)
        documents.append(found)
        if problem:
            line = response.line_of(r, 0) if words else None
            problems.append(Problem(problem, line, response.file_of(r)))
    if not changed:
        return response, problems
    if response.relations is not None:
        raise RequestError(
            f"{name_option('words', 'align')} can't align the relations of Universal Anaphora files; use CorefUD or CoNLL"
        )
    table = make_table(
        documents,
        words=JoinedWords(places),
        document_fields=response.document_fields,
        notices=[*response.notices, *counts.describe()],
        unnamed=response.unnamed,
        files=response.files,
    )
    return table, problems


def _align_document(
    document: Document,
    words: Sequence[str],
    wanted: Sequence[str],
    nodes: Sequence[EmptyNode],
    counts: _Counts,
) -> tuple[Document, str]:
    """Return a document with the tokens of the key, and what is wrong with it, if anything is."""
    own_nodes, key_nodes = ({node.token for node in of} for of in (document.empty, nodes))
    own = [i for i in range(len(words)) if i not in own_nodes]
    of_key = [i for i in range(len(wanted)) if i not in key_nodes]
    found = align_words([words[i] for i in own], [wanted[i] for i in of_key])
    common = found.n_equal / min(len(own), len(of_key)) if own and of_key else 1.0
    problem = ""
    if common < MIN_COMMON:
        share = f"only {found.n_equal:,} of its {pluralize(len(own), 'word')} are in the key's text in this order"
        problem = f"document {quote(document.name)} is another text than the key's: {share}"
    first = dict(zip(own, (i if i == LOST else of_key[i] for i in found.first), strict=True))
    last = dict(zip(own, (i if i == LOST else of_key[i] for i in found.last), strict=True))
    whole = dict(zip(own, found.is_whole, strict=True))
    for token, node in _pair_nodes(document.empty, nodes, last).items():
        first[token] = last[token] = node
        whole[token] = node != LOST
    counts.documents += 1
    counts.words += found.first.count(LOST)
    counts.missing += found.n_missing
    kept, starts, ends, heads = (list[int]() for _ in range(4))
    all_parts: dict[int, Parts] = {}
    head = (document.start if document.head is None else document.head).tolist()
    parts_by_row: dict[int, Parts] = {}
    joined_by_row: dict[int, Parts] = {}
    # Of mentions that fall on the same words of the key, the first in the text is kept.
    first_on: dict[Parts, Parts] = {}
    for row, (start, end) in enumerate(
        zip(document.start.tolist(), document.end.tolist(), strict=True)
    ):
        parts: Parts = document.parts.get(row) or ((start, end),)
        borders = [*chain.from_iterable(parts), head[row]]
        if any(first[token] == LOST for token in borders):
            counts.lost += 1
            continue
        counts.moved += not all(map(whole.__getitem__, borders))
        joined = tuple(merge_adjacent([(first[a], last[b]) for a, b in parts]))
        parts_by_row[row], joined_by_row[row] = parts, joined
        first_on[joined] = min(parts, first_on.get(joined, parts))
    for row, joined in joined_by_row.items():
        # A mention that the response repeats is kept as often, as it would be without alignment.
        if parts_by_row[row] != first_on[joined]:
            counts.merged += 1
            continue
        if len(joined) > 1:
            all_parts[len(kept)] = joined
        kept.append(row)
        starts.append(joined[0][0])
        ends.append(joined[-1][1])
        heads.append(first[head[row]])
    numbers, entity = np.unique(document.entity[kept], return_inverse=True)
    return (
        replace(
            document,
            n_tokens=len(wanted),
            start=np.array(starts, np.int64),
            end=np.array(ends, np.int64),
            entity=entity.astype(np.int64).reshape(-1),
            labels=None
            if document.labels is None
            else [document.labels[i] for i in numbers.tolist()],
            head=None if document.head is None else np.array(heads, np.int64),
            parts=all_parts,
            minimum={},
            rank=None,
            empty=nodes,
            fields={
                name: [values[row] for row in kept] for name, values in document.fields.items()
            },
        ),
        problem,
    )


def _pair_nodes(
    nodes: Sequence[EmptyNode], of_key: Sequence[EmptyNode], last: dict[int, int]
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
