"""Rules for coreference documents beyond the schema: the places of mentions, and their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize
from closeread.records import Record
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.mention_table import WITH_HEAD

Clusters = Sequence[Sequence[Sequence[Any]]]


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find misplaced mentions and heads, and mentions that lack a head, with the index of the document."""
    if isinstance(records, Documents):
        return  # checked by its reader
    for index, record in enumerate(records):
        for what in find_misplaced_mentions(record["clusters"], record.get("n_tokens")):
            yield index, what
    yield from find_lacking_heads([record["clusters"] for record in records])


def find_misplaced_mentions(
    clusters: Clusters, n_tokens: int | None, name: str = "clusters"
) -> Iterator[str]:
    """Find the mentions of a document that end before they start, lie outside it, or have their head outside them."""
    for i, cluster in enumerate(clusters):
        for j, mention in enumerate(cluster):
            start, end, *head = mention
            if start > end:
                what = f"{list(mention)} ends before it starts (expected [start, end{', head' if head else ''}])"
            elif n_tokens is not None and end >= n_tokens:
                found = f"{list(mention)} is outside the document, which has {pluralize(n_tokens, 'token')}"
                what = f"{found} (expected an end below {n_tokens})"
            elif head and not start <= head[0] <= end:
                found = f"head {head[0]} of {list(mention)} is outside the mention"
                what = f"{found} (expected a token from {start} to {end})"
            else:
                continue
            yield f"{name}[{i}][{j}]: {what}"


def find_lacking_heads(
    documents: Sequence[Clusters], name: str = "clusters"
) -> Iterator[tuple[int, str]]:
    """Find the first mention of each document without a head, if the first mention of all has one; or the reverse.

    Yields the index of the document, and the problem.
    """
    mentions = (mention for clusters in documents for cluster in clusters for mention in cluster)
    first = next(mentions, None)
    if first is None or all(len(mention) == len(first) for mention in mentions):
        return
    kinds = ("has a head", "has no head")
    this, other = kinds if len(first) != WITH_HEAD else kinds[::-1]
    for index, clusters in enumerate(documents):
        numbered = (
            (i, j, mention)
            for i, cluster in enumerate(clusters)
            for j, mention in enumerate(cluster)
        )
        for i, j, odd in islice((one for one in numbered if len(one[2]) != len(first)), 1):
            found = f"{list(odd)} {this}, but the first mention of all, {list(first)}, {other}"
            yield index, f"{name}[{i}][{j}]: {found} (expected heads for all mentions or for none)"


RULES = {"document": Rules(find_inconsistencies)}
