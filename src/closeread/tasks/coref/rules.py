"""Rules for coreference documents beyond the schema: the places of mentions, and their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.coref.columns import WITH_HEAD
from closeread.tasks.coref.documents import Documents

Clusters = Sequence[Sequence[Sequence[Any]]]


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find misplaced mentions and heads, and mentions that lack a head, with the index of the document."""
    if isinstance(records, Documents):
        return  # checked by its reader
    for index, record in enumerate(records):
        unsafe = UNSAFE.search(record["document"])
        if unsafe:
            yield index, f"document: the name contains the control character U+{ord(unsafe[0]):04X}"
        for message in find_misplaced_mentions(record["clusters"], record.get("n_tokens")):
            yield index, message
    yield from find_lacking_heads([record["clusters"] for record in records])


def find_misplaced_mentions(
    clusters: Clusters, n_tokens: int | None, name: str = "clusters"
) -> Iterator[str]:
    """Find the mentions of a document that end before they start, lie outside it, or have their head outside them."""
    for i, cluster in enumerate(clusters):
        for j, mention in enumerate(cluster):
            message = _find_misplacement(mention, n_tokens)
            if message:
                yield f"{name}[{i}][{j}]: {message}"


def _find_misplacement(mention: Sequence[Any], n_tokens: int | None) -> str:
    """Say what is wrong with the place of a mention; nothing if it is right."""
    start, end, *heads = mention
    if start > end:
        form = "[start, end, head]" if heads else "[start, end]"
        return f"{list(mention)} ends before it starts (expected {form})"
    if n_tokens is not None and end >= n_tokens:
        size = pluralize(n_tokens, "token")
        outside = f"{list(mention)} is outside the document, which has {size}"
        return f"{outside} (expected an end below {n_tokens})"
    if heads and not start <= heads[0] <= end:
        outside = f"head {heads[0]} of {list(mention)} is outside the mention"
        return f"{outside} (expected a token from {start} to {end})"
    return ""


def find_lacking_heads(
    documents: Sequence[Clusters], name: str = "clusters"
) -> Iterator[tuple[int, str]]:
    """Find the first mention of each document without a head, if the first mention of all has one; or the reverse.

    Yields the index of the document, and the problem.
    """
    first = next(chain.from_iterable(chain.from_iterable(documents)), None)
    if first is None:
        return
    this, other = ("has a head", "has no head")
    if len(first) == WITH_HEAD:
        this, other = other, this
    for index, clusters in enumerate(documents):
        place = _find_other_length(clusters, len(first))
        if place is not None:
            i, j = place
            mention = list(clusters[i][j])
            message = f"{mention} {this}, but the first mention of all, {list(first)}, {other}"
            yield (
                index,
                f"{name}[{i}][{j}]: {message} (expected heads for all mentions or for none)",
            )


def _find_other_length(clusters: Clusters, length: int) -> tuple[int, int] | None:
    """Return the cluster and the number in it of the first mention that does not have a length; None if all have it."""
    for i, cluster in enumerate(clusters):
        for j, mention in enumerate(cluster):
            if len(mention) != length:
                return i, j
    return None


RULES = {"document": Rules(find_inconsistencies)}
