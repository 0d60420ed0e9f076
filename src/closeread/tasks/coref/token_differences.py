"""Comparison of the tokens of key and response, in any two formats."""

from __future__ import annotations

import re
from collections.abc import Iterator

from closeread.errors import Problem, pluralize, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.conll import ConllWords
from closeread.tasks.coref.joined import JoinedWords
from closeread.tasks.coref.neural_json import JsonWords

SLASHED = re.compile(rb"^/(?=[.?]$)", re.MULTILINE)
"""The slash of the words ``/.`` and ``/?`` of OntoNotes, which the preprocessing of neural systems removes."""


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
    name, file = f"document {quote(response.names[r])}", response.file_of(r)
    line = None
    (own, i), (other, j) = _find_words(key, k), _find_words(response, r)
    if _have_equal_digests(own, i, other, j):
        return
    if own and other:
        expected, found = own.packed(i), other.packed(j)
        if isinstance(own, JsonWords) or isinstance(other, JsonWords):
            expected, found = SLASHED.sub(b"", expected), SLASHED.sub(b"", found)
        if expected == found:
            return
        # Some files have "_" for every word.
        if expected.strip(b"_\n") and found.strip(b"_\n"):
            pairs = zip(expected.split(b"\n")[:-1], found.split(b"\n")[:-1], strict=False)
            token = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
            if token is not None:
                line = other.line_of(j, token) or None
                ours, theirs = quote(own(i)[token]), quote(other(j)[token])
                what = f"token {token} of {name} is {theirs}, but {ours} in the key"
                if row := own.line_of(i, token):
                    what += f" (line {row}" + (f" of {key.file_of(k)})" if key.files else ")")
                yield Problem(what, line, file)
    if key.n_tokens is not None and response.n_tokens is not None and key.n_tokens[k] != response.n_tokens[r]:
        nodes = "" if isinstance(other, ConllWords | JsonWords | None) else " (including empty nodes)"
        tokens = pluralize(int(response.n_tokens[r]), "token")
        yield Problem(f"{name} has {tokens}{nodes}, but {key.n_tokens[k]:,} in the key", line, file)


def _find_words(table: MentionTable, document: int) -> tuple[Words | None, int]:
    """Return the words of a document's file, and its number there."""
    words = table.words
    return words.source(document) if isinstance(words, JoinedWords) else (words, document)
