"""Comparison of the tokens of key and response, in any two formats."""

from __future__ import annotations

from collections.abc import Iterator

from closeread.errors import Problem, pluralize, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.conll_words import ConllWords


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
    if key.words and response.words:
        expected, found = key.words.packed(k), response.words.packed(r)
        if expected == found:
            return
        # Some files have "_" for every word.
        if expected.strip(b"_\n") and found.strip(b"_\n"):
            pairs = zip(key.words(k), response.words(r), strict=False)
            token = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
            if token is not None:
                line = response.words.line_of(r, token)
                ours, theirs = quote(key.words(k)[token]), quote(response.words(r)[token])
                place = f"line {key.words.line_of(k, token)}"
                yield Problem(f"token {token} of {name} is {theirs}, but {ours} in the key ({place})", line)
    if key.n_tokens is not None and response.n_tokens is not None and key.n_tokens[k] != response.n_tokens[r]:
        nodes = "" if isinstance(response.words, ConllWords | None) else " (including empty nodes)"
        tokens = pluralize(int(response.n_tokens[r]), "token")
        yield Problem(f"{name} has {tokens}{nodes}, but {key.n_tokens[k]:,} in the key", line)
