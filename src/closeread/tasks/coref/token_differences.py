"""Comparison of the tokens of key and response, in any two formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from closeread.exceptions import Problem, join_names, pluralize, quote
from closeread.tasks.coref.columns import MentionTable, Words
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.joined import find_words
from closeread.tasks.coref.neural_json import JsonWords

SLASHED = re.compile(rb"^/(?=[.?]$)", re.MULTILINE)
"""The slash of the words ``/.`` and ``/?`` of OntoNotes, which the preprocessing of neural systems removes."""


def token_differences(
    key: MentionTable, response: MentionTable, words: str = "error", *, other: str = "the key"
) -> list[Problem]:
    """Find the documents of both sides whose tokens differ; one problem per document, with the line of the response.

    Words are compared if both sides have them, and `words` is "error".  `other` is what messages call the first side.
    """
    shared = _pair_documents(key, response)
    return [problem for k, r in shared for problem in _compare_tokens(key, k, response, r, words, other)]


def note_other_words(key: MentionTable, response: MentionTable) -> list[str]:
    """Describe the words that differ, in one sentence; none if there are none."""
    compared = ((response.names[r], compare_words(key, k, response, r)) for k, r in _pair_documents(key, response))
    found = [(name, *difference) for name, difference in compared if difference]
    if not found:
        return []
    names, numbers, problems = zip(*found, strict=True)
    where = f"{pluralize(len(names), 'document')} ({join_names(names)})"
    line = f"line {problems[0].line}: " if problems[0].line else ""
    first = f"first: {line}{problems[0].what}"
    differ = "differs" if sum(numbers) == 1 else "differ"
    return [f"{pluralize(sum(numbers), 'word')} of the response {differ} from the key's in {where}; {first}"]


def _pair_documents(key: MentionTable, response: MentionTable) -> list[tuple[int, int]]:
    """Pair the documents of the same name, in the response's order; none if nothing of them can be compared."""
    if (key.words is None or response.words is None) and (key.n_tokens is None or response.n_tokens is None):
        return []
    index = {name: i for i, name in enumerate(key.names)}
    return [(index[name], i) for i, name in enumerate(response.names) if name in index]


def _compare_tokens(
    key: MentionTable, k: int, response: MentionTable, r: int, words: str, name: str
) -> Iterator[Problem]:
    line, file = None, response.file_of(r)
    if words == "error" and (difference := compare_words(key, k, response, r, name)):
        _, problem = difference
        yield problem
        line = problem.line
    if key.n_tokens is not None and response.n_tokens is not None:
        own, other = _list_empty_nodes(key, k, response, r), _list_empty_nodes(response, r, key, k)
        expected, tokens = int(key.n_tokens[k]) - len(own), int(response.n_tokens[r]) - len(other)
        if expected != tokens:
            nodes = " (not counting empty nodes)" if own or other else ""
            found = f"document {quote(response.names[r])} has {pluralize(tokens, 'token')}{nodes}"
            yield Problem(f"{found}, but {expected:,} in {name}", line, file)


def compare_words(
    key: MentionTable, k: int, response: MentionTable, r: int, of: str = "the key"
) -> tuple[int, Problem] | None:
    """Return the number of words that differ, up to the end of the shorter document, and the first of them.

    Args:
        key, response: the tables.
        k, r: the document in each.
        of: what to call the first table in the message.
    """
    (own, i), (other, j) = find_words(key, k), find_words(response, r)
    if not own or not other or _have_equal_digests(own, i, other, j):
        return None
    expected, found = own.packed(i), other.packed(j)
    if isinstance(own, JsonWords) or isinstance(other, JsonWords):
        expected, found = SLASHED.sub(b"", expected), SLASHED.sub(b"", found)
    # Some files have "_" for every word.
    if expected == found or not expected.strip(b"_\n") or not found.strip(b"_\n"):
        return None
    sides = (expected, _list_empty_nodes(key, k, response, r)), (found, _list_empty_nodes(response, r, key, k))
    pairs = zip(*(_list_words(text, nodes) for text, nodes in sides), strict=False)
    differing = [(key_token, token) for (key_token, one), (token, two) in pairs if one != two]
    if not differing:
        return None
    key_token, token = differing[0]
    ours, theirs = quote(own(i)[key_token]), quote(other(j)[token])
    what = f"token {token} of document {quote(response.names[r])} is {theirs}, but {ours} in {of}"
    if row := own.line_of(i, key_token):
        what += f" (line {row}" + (f" of {key.file_of(k)})" if key.files else ")")
    return len(differing), Problem(what, other.line_of(j, token) or None, response.file_of(r))


def _list_words(text: bytes, left_out: Sequence[int]) -> list[tuple[int, bytes]]:
    """List the words of a document with their tokens, without some tokens."""
    tokens = set(left_out)
    return [(token, word) for token, word in enumerate(text.split(b"\n")[:-1]) if token not in tokens]


def _list_empty_nodes(table: MentionTable, document: int, other: MentionTable, its: int) -> list[int]:
    """List the empty nodes of a document; none if the other side's format has no such and counts them as words."""
    if table.empty is None:
        return []
    words, _ = find_words(other, its)
    if isinstance(words, ConllWords | JsonWords | None) and _count(table, document) == _count(other, its):
        return []
    low, high = np.searchsorted(table.empty.document, [document, document + 1])
    found: list[int] = table.empty.token[low:high].tolist()
    return found


def _count(table: MentionTable, document: int) -> int | None:
    return None if table.n_tokens is None else int(table.n_tokens[document])


def _have_equal_digests(key: Words, k: int, response: Words, r: int) -> bool:
    if type(key) is not type(response):
        return False
    # To ask for the protocol takes ten times as long, for every document.
    own, other = getattr(key, "digest", None), getattr(response, "digest", None)
    return own is not None and other is not None and bool(own(k) == other(r))
