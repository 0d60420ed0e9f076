"""Comparison of the tokens of key and response, in any two formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closeread.errors import Problem, pluralize, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.conll import ConllWords


def token_differences(key: MentionTable, response: MentionTable) -> list[Problem]:
    """Find the documents of both sides whose tokens differ; one problem per document, with the line of the response.

    Words are compared if both sides have them.
    """
    index = {name: i for i, name in enumerate(key.names)}
    shared = ((index[name], i) for i, name in enumerate(response.names) if name in index)
    return [problem for k, r in shared for problem in _compare_tokens(key, k, response, r)]


def _have_equal_digests(key: Words | None, k: int, response: Words | None, r: int) -> bool:
    if not isinstance(key, ConllWords) or not isinstance(response, ConllWords):
        return False
    return key.digest(k) == response.digest(r)


def _compare_tokens(key: MentionTable, k: int, response: MentionTable, r: int) -> Iterator[Problem]:
    name = f"document {quote(response.names[r])}"
    line = None
    if _have_equal_digests(key.words, k, response.words, r):
        return
    own, other = _list_empty_nodes(key, k, response, r), _list_empty_nodes(response, r, key, k)
    if key.words and response.words:
        if own == other and key.words.packed(k) == response.words.packed(r):
            return
        expected, found = _list_words(key.words, k, own), _list_words(response.words, r, other)
        # Some files have "_" for every word.
        if {word for _, word in expected} - {"_"} and {word for _, word in found} - {"_"}:
            pairs = zip(expected, found, strict=False)
            differences = ((i, ours, j, theirs) for (i, ours), (j, theirs) in pairs if ours != theirs)
            if difference := next(differences, None):
                i, ours, token, theirs = difference
                line = response.words.line_of(r, token)
                place = f"line {key.words.line_of(k, i)}"
                yield Problem(
                    f"token {token} of {name} is {quote(theirs)}, but {quote(ours)} in the key ({place})", line
                )
    if key.n_tokens is not None and response.n_tokens is not None:
        wanted, tokens = int(key.n_tokens[k]) - len(own), int(response.n_tokens[r]) - len(other)
        if wanted != tokens:
            nodes = " (not counting empty nodes)" if own or other else ""
            yield Problem(f"{name} has {pluralize(tokens, 'token')}{nodes}, but {wanted:,} in the key", line)


def _list_empty_nodes(table: MentionTable, document: int, other: MentionTable, its: int) -> list[int]:
    """List the empty nodes of a document; none if they are tokens of the other side's format, which has no such."""
    if table.empty is None:
        return []
    if isinstance(other.words, ConllWords | None) and _count(table, document) == _count(other, its):
        return []
    low, high = np.searchsorted(table.empty.document, [document, document + 1])
    found: list[int] = table.empty.token[low:high].tolist()
    return found


def _count(table: MentionTable, document: int) -> int | None:
    return None if table.n_tokens is None else int(table.n_tokens[document])


def _list_words(words: Words, document: int, empty: Sequence[int]) -> list[tuple[int, str]]:
    """List the words of a document with their tokens, without its empty nodes."""
    left_out = set(empty)
    return [(token, word) for token, word in enumerate(words(document)) if token not in left_out]
