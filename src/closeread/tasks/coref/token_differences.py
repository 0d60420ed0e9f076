"""Whether key and response, of whatever format, are of the same tokens."""

from __future__ import annotations

from collections.abc import Iterator

from closeread.errors import Problem, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.conll import ConllWords


def token_differences(key: MentionTable, response: MentionTable) -> list[Problem]:
    """Where documents that both have are not of the same tokens; one problem a document, by the response's line.

    Words are compared where both have them.
    """
    index = {name: i for i, name in enumerate(key.names)}
    shared = ((index[name], i) for i, name in enumerate(response.names) if name in index)
    return [problem for k, r in shared for problem in _differences(key, k, response, r)]


def _same_at_a_glance(key: Words | None, k: int, response: Words | None, r: int) -> bool:
    if not isinstance(key, ConllWords) or not isinstance(response, ConllWords):
        return False
    return key.digest(k) == response.digest(r)


def _differences(key: MentionTable, k: int, response: MentionTable, r: int) -> Iterator[Problem]:
    name = f"document {quote(response.names[r])}"
    line = None
    if _same_at_a_glance(key.words, k, response.words, r):
        return
    if key.words and response.words:
        expected, found = key.words.packed(k), response.words.packed(r)
        if expected == found:
            return
        # Some write "_" for every word that they don't know.
        if expected.strip(b"_\n") and found.strip(b"_\n"):
            pairs = zip(key.words(k), response.words(r), strict=False)
            token = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
            if token is not None:
                line = response.words.line_of(r, token)
                ours, theirs = quote(key.words(k)[token]), quote(response.words(r)[token])
                place = f"line {key.words.line_of(k, token)}"
                yield Problem(f"token {token} of {name} is {theirs}; in the key ({place}) it is {ours}", line)
    if key.n_tokens is not None and response.n_tokens is not None and key.n_tokens[k] != response.n_tokens[r]:
        counted = "" if isinstance(response.words, ConllWords | None) else ", empty nodes among them"
        tokens = f"{response.n_tokens[r]:,} tokens{counted}"
        yield Problem(f"{name} has {tokens}; in the key it has {key.n_tokens[k]:,}", line)
