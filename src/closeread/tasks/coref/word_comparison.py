"""The tokens of key and response, which must be as many, and the same words, if both sides have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from closeread.exceptions import Problem, join_names, pluralize, quote
from closeread.tasks.coref.documents import Document, Documents

SLASHED = re.compile(rb"^/(?=[.?]$)", re.MULTILINE)
"""The slash of the words ``/.`` and ``/?`` of OntoNotes, which the preprocessing of neural systems removes."""


class WordDifference(NamedTuple):
    """How many words of two documents differ, up to the end of the shorter one, and the first of them."""

    n_words: int
    first: Problem


def token_differences(key: Documents, response: Documents, words: str = "error") -> list[Problem]:
    """Find the documents whose tokens differ on both sides, with the line of the response.

    Words are compared if both sides have them and `words` is "error" or "align"; then numbers of tokens, or if only one
    side has them, the mentions beyond them on the other.
    """
    problems = []
    for expected, document in _pair_documents(key, response):
        line = None
        difference = compare_words(expected, document) if words in ("error", "align") else None
        if difference is not None:
            problems.append(difference.first)
            line = difference.first.line
        problems += _compare_lengths(expected, document, line)
    return problems


def _compare_lengths(key: Document, response: Document, line: int | None) -> Iterator[Problem]:
    """Compare the numbers of tokens of two documents, without the empty nodes of only one side."""
    if key.n_tokens is None or response.n_tokens is None:
        yield from _find_mentions_past_end(key, response)
        return
    n_expected = key.n_tokens
    n_tokens = response.n_tokens
    if key.nodes or response.nodes:
        n_expected -= len(_find_uncounted(key, response))
        n_tokens -= len(_find_uncounted(response, key))
    if n_expected == n_tokens:
        return
    size = pluralize(n_tokens, "token")
    if (n_expected, n_tokens) != (key.n_tokens, response.n_tokens):
        size += " (not counting empty nodes)"
    message = f"document {quote(response.name)} has {size}, but {n_expected:,} in the key"
    yield Problem(message, line, response.file)


def _find_mentions_past_end(key: Document, response: Document) -> Iterator[Problem]:
    """Find the mentions beyond the end of a document whose length only the other side knows."""
    name = f"document {quote(key.name)}"
    if key.n_tokens is not None:
        for mention in response.mentions:
            if mention.end >= key.n_tokens:
                found = f"the mention [{mention.start}, {mention.end}] is outside the document"
                has = f"which has {key.n_tokens:,} tokens in the key (numbered from 0)"
                yield Problem(f"{name}: {found}, {has}", None, response.file)
    elif response.n_tokens is not None:
        for mention in key.mentions:
            if mention.end >= response.n_tokens:
                what = f"{name} has {response.n_tokens:,} tokens"
                yield Problem(f"{what}, but the key has a mention [{mention.start}, {mention.end}]")


def note_other_words(key: Documents, response: Documents) -> list[str]:
    """Describe the words that differ, in one sentence; none if there are none."""
    differences = {}
    for expected, document in _pair_documents(key, response):
        difference = compare_words(expected, document)
        if difference is not None:
            differences[document.name] = difference
    if not differences:
        return []
    n_words = sum(difference.n_words for difference in differences.values())
    problem = next(iter(differences.values())).first
    where = f"{pluralize(len(differences), 'document')} ({join_names(list(differences))})"
    first = f"line {problem.line}: {problem.message}" if problem.line else problem.message
    differ = "differs" if n_words == 1 else "differ"
    words = pluralize(n_words, "word")
    return [f"{words} of the response {differ} from the key's in {where}; first: {first}"]


def _pair_documents(key: Documents, response: Documents) -> Iterator[tuple[Document, Document]]:
    """Pair the documents that the response does not lack; two lists of clusters have nothing to compare."""
    if key.is_packed and response.is_packed:
        return
    for expected, document in zip(key.documents, response.documents, strict=True):
        if not document.is_absent:
            yield expected, document


def compare_words(
    key: Document, response: Document, side: str = "the key"
) -> WordDifference | None:
    """Compare the words of two documents; `side` is what messages call that of the first one.

    Returns None if none differ, or the words of one are unknown.
    """
    digest = key.words.digest
    if type(key.words) is type(response.words) and digest and digest == response.words.digest:
        return None
    expected = key.words.pack()
    text = response.words.pack()
    if key.words.replaces_blanks or response.words.replaces_blanks:
        expected = expected.replace(b" ", b"_")
        text = text.replace(b" ", b"_")
    if key.words.drops_slashes or response.words.drops_slashes:
        expected = SLASHED.sub(b"", expected)
        text = SLASHED.sub(b"", text)
    # Some files have "_" for every word.
    if expected == text or not expected.strip(b"_\n") or not text.strip(b"_\n"):
        return None
    key_words = _number_words(expected, _find_uncounted(key, response))
    response_words = _number_words(text, _find_uncounted(response, key))
    n_words = 0
    first = None
    for (key_token, key_word), (token, word) in zip(key_words, response_words, strict=False):
        if key_word != word:
            n_words += 1
            first = first or (key_token, token)
    if first is None:
        return None
    return WordDifference(n_words, _describe_difference(key, response, *first, side))


def _number_words(text: bytes, left_out: set[int]) -> list[tuple[int, bytes]]:
    """Return the words of a text of a word a line, with the numbers of their tokens, without some tokens."""
    words = text.split(b"\n")[:-1]
    return [(token, word) for token, word in enumerate(words) if token not in left_out]


def _describe_difference(
    key: Document, response: Document, key_token: int, token: int, side: str
) -> Problem:
    word = quote(response.words.read()[token])
    expected = quote(key.words.read()[key_token])
    document = quote(response.name)
    message = f"token {token} of document {document} is {word}, but {expected} in {side}"
    line = key.line_of(key_token)
    if line and key.file:
        message += f" (line {line} of {key.file})"
    elif line:
        message += f" (line {line})"
    return Problem(message, response.line_of(token), response.file)


def _find_uncounted(document: Document, other: Document) -> set[int]:
    """Find the empty nodes of a document; none if the other side's format has no such and counts them as words."""
    counts_all = not other.words.counts_empty_nodes and not other.nodes
    if counts_all and document.n_tokens == other.n_tokens:
        return set()
    return {node.token for node in document.nodes}
