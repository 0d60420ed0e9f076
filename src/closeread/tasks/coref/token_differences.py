"""Comparison of the tokens of key and response, in any two formats."""

from __future__ import annotations

from collections.abc import Iterator

from closeread.errors import Problem, join_names, pluralize, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.conll import ConllWords


def token_differences(key: MentionTable, response: MentionTable, words: str = "error") -> list[Problem]:
    """Find the documents of both sides whose tokens differ; one problem per document, with the line of the response.

    Words are compared if both sides have them, and `words` is "error".
    """
    shared = _pair_documents(key, response)
    return [problem for k, r in shared for problem in _compare_tokens(key, k, response, r, words)]


def note_other_words(key: MentionTable, response: MentionTable) -> list[str]:
    """Describe the words that differ, in one sentence; none if there are none."""
    compared = ((response.names[r], _compare_words(key, k, response, r)) for k, r in _pair_documents(key, response))
    found = [(name, *difference) for name, difference in compared if difference]
    if not found:
        return []
    names, numbers, problems = zip(*found, strict=True)
    where = f"{pluralize(len(names), 'document')} ({join_names(names)})"
    first = f"first: line {problems[0].line}: {problems[0].what}"
    return [f"{pluralize(sum(numbers), 'word')} of the response differ from the key's in {where}; {first}"]


def _pair_documents(key: MentionTable, response: MentionTable) -> list[tuple[int, int]]:
    """Pair the documents of the same name, in the response's order."""
    index = {name: i for i, name in enumerate(key.names)}
    return [(index[name], i) for i, name in enumerate(response.names) if name in index]


def _compare_tokens(key: MentionTable, k: int, response: MentionTable, r: int, words: str) -> Iterator[Problem]:
    line = None
    if words == "error" and (difference := _compare_words(key, k, response, r)):
        _, problem = difference
        yield problem
        line = problem.line
    if key.n_tokens is not None and response.n_tokens is not None and key.n_tokens[k] != response.n_tokens[r]:
        nodes = "" if isinstance(response.words, ConllWords | None) else " (including empty nodes)"
        found = f"document {quote(response.names[r])} has {pluralize(int(response.n_tokens[r]), 'token')}{nodes}"
        yield Problem(f"{found}, but {key.n_tokens[k]:,} in the key", line)


def _compare_words(key: MentionTable, k: int, response: MentionTable, r: int) -> tuple[int, Problem] | None:
    """Return the number of words that differ, up to the end of the shorter document, and the first of them."""
    if not key.words or not response.words or _have_equal_digests(key.words, k, response.words, r):
        return None
    expected, found = key.words.packed(k), response.words.packed(r)
    # Some files have "_" for every word.
    if expected == found or not expected.strip(b"_\n") or not found.strip(b"_\n"):
        return None
    pairs = zip(expected.split(b"\n")[:-1], found.split(b"\n")[:-1], strict=False)
    other = [token for token, (ours, theirs) in enumerate(pairs) if ours != theirs]
    if not other:
        return None
    token = other[0]
    ours, theirs = quote(key.words(k)[token]), quote(response.words(r)[token])
    place = f"line {key.words.line_of(k, token)}"
    what = f"token {token} of document {quote(response.names[r])} is {theirs}, but {ours} in the key ({place})"
    return len(other), Problem(what, response.words.line_of(r, token))


def _have_equal_digests(key: Words, k: int, response: Words, r: int) -> bool:
    if not isinstance(key, ConllWords) or not isinstance(response, ConllWords):
        return False
    return key.digest(k) == response.digest(r)
