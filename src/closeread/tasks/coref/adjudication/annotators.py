"""The annotation of the same documents by several annotators.

Conventions: mentions are in document order, by start and then the longer first.  Chains of one mention say nothing.
An annotator is a file or a folder; not everyone needs to have annotated every document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import RequestError, quote
from closeread.tasks.coref.adjudication.partition import group_by_number
from closeread.tasks.coref.annotators import has_words
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.mention_table import Parts

NO_CHAIN = -1


class Mention(NamedTuple):
    """A mention.

    Attributes:
        start, end: its first and last token in the document, from 0.
        parts: the (start, end) of each of its parts; empty if it has no gap.
    """

    start: int
    end: int
    parts: Parts = ()

    @property
    def order(self) -> tuple[int, int, Parts]:
        """What sorts mentions in document order."""
        return self.start, -self.end, self.parts

    @property
    def tokens(self) -> frozenset[int]:
        """Its tokens."""
        return frozenset(
            t for first, last in self.parts or (self[:2],) for t in range(first, last + 1)
        )


MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that annotators have in one chain, each counted as often as they have it."""


class Pairs(NamedTuple):
    """The pairs of mentions that somebody has in one chain, in order.

    Attributes:
        first, second: (n,) the mentions of each, the first before the second.
        annotators: (n,) how many annotators have the pair in one chain.
    """

    first: Ints
    second: Ints
    annotators: Ints


@dataclass(frozen=True, eq=False)
class AnnotatedDocument:
    """A document and its annotators' chains.

    Attributes:
        name: its name.
        files: (n_files,) the files that hold it, in the order in which they were given.
        mentions: (n_mentions,) the mentions of all files, in document order.
        chain: (n_files, n_mentions) the number of the chain of each mention in each file, or `NO_CHAIN`.
        source: the document with its tokens, without mentions.
        n_tokens: the number of its tokens; None if no file tells.
    """

    name: str
    files: Sequence[str]
    mentions: Sequence[Mention]
    chain: Ints
    source: Document
    n_tokens: int | None

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of mentions that somebody has in one chain."""
        sizes = [np.bincount(chain[chain != NO_CHAIN]) for chain in self.chain]
        if (found := sum(int((size * (size - 1) // 2).sum()) for size in sizes)) > MAX_PAIRS:
            what = f"{found:,} pairs of mentions in one chain (expected at most {MAX_PAIRS:,})"
            raise RequestError(f"document {quote(self.name)}: {what}")
        n_mentions = len(self.mentions)
        codes = [np.zeros(0, np.int64)]
        for chain in self.chain:
            annotated = np.flatnonzero(chain != NO_CHAIN)
            for places in group_by_number(chain[annotated]):
                first, second = np.triu_indices(len(places), 1)
                codes.append(annotated[places[first]] * n_mentions + annotated[places[second]])
        code, annotators = np.unique(np.concatenate(codes), return_counts=True)
        first, second = np.divmod(code, max(n_mentions, 1))
        return Pairs(first, second, annotators)

    def count_annotators(self, empty_annotators: str) -> int:
        """Return k, the number of annotators; "count" those without links in this document, too, or "ignore" them."""
        if empty_annotators == "count":
            return len(self.files)
        return sum(
            next(group_by_number(chain[chain != NO_CHAIN]), None) is not None
            for chain in self.chain
        )

    def find_annotators(self, first: int, second: int) -> list[str]:
        """List the files that have two mentions in one chain."""
        one, other = self.chain[:, first], self.chain[:, second]
        return [self.files[i] for i in np.flatnonzero((one == other) & (one != NO_CHAIN)).tolist()]

    def add(self, mentions: Sequence[Mention]) -> AnnotatedDocument:
        """Return the document with further mentions, which no annotator has in a chain."""
        known = dict(zip(self.mentions, self.chain.T, strict=True))
        every = sorted({*known, *mentions}, key=lambda mention: mention.order)
        nowhere = np.full(len(self.files), NO_CHAIN)
        columns = [known.get(mention, nowhere) for mention in every]
        return replace(
            self, mentions=every, chain=np.array(columns, np.int64).reshape(-1, len(self.files)).T
        )


def count_singletons(documents: Documents) -> int:
    """Return the number of chains of one mention."""
    return sum(
        len(entity.mentions) == 1
        for document in documents.documents
        for entity in document.entities
    )


def join_annotators(files: Mapping[str, Documents]) -> list[AnnotatedDocument]:
    """Align the annotators' files, which must have the same tokens.

    Returns:
        The documents, in the order of the files if that is the same for all of them, and else by name.
    """
    holders: dict[str, dict[str, Document]] = {}
    for file, documents in files.items():
        for document in documents.documents:
            holders.setdefault(document.name, {})[file] = document
    has_one_order = len({tuple(documents.names) for documents in files.values()}) == 1
    names = list(holders) if has_one_order else sorted(holders)
    return [_join_document(name, holders[name]) for name in names]


def _join_document(name: str, document_by_file: Mapping[str, Document]) -> AnnotatedDocument:
    annotations = list(map(_number_chains, document_by_file.values()))
    every = sorted(set().union(*annotations), key=lambda mention: mention.order)
    chain = np.array(
        [[chains.get(mention, NO_CHAIN) for mention in every] for chains in annotations], np.int64
    )
    # The tokens are those of the first file that has words, or else of the first that has their number.
    source = max(
        document_by_file.values(),
        key=lambda document: (document.n_tokens is not None, has_words(document)),
    )
    return AnnotatedDocument(
        name,
        list(document_by_file),
        every,
        chain.reshape(len(document_by_file), -1),
        Document(name, n_tokens=source.n_tokens, words=source.words, nodes=source.nodes),
        source.n_tokens,
    )


def _number_chains(document: Document) -> dict[Mention, int]:
    """Return the mentions of a document with the numbers of their chains."""
    return {
        Mention(mention.start, mention.end, mention.subspans): number
        for number, entity in enumerate(document.entities)
        for mention in entity.mentions
    }


def are_compatible(
    mentions: Sequence[Mention], first: Ints, second: Ints, incompatible: str
) -> Mask:
    """Return whether pairs of different mentions, by their places, may be in one chain.

    Those may not that share a token ("overlap"), or of which one has all tokens of the other ("containment").
    """
    start, end = (np.array([mention[i] for mention in mentions], np.int64) for i in (0, 1))
    has_gap = np.array([bool(mention.parts) for mention in mentions], bool)
    shares = (start[first] <= end[second]) & (start[second] <= end[first])
    if incompatible == "overlap":
        found = ~shares
    else:
        inside = (start[first] <= start[second]) & (end[second] <= end[first])
        found = ~(inside | ((start[second] <= start[first]) & (end[first] <= end[second])))
    for pair in np.flatnonzero(shares & (has_gap[first] | has_gap[second])).tolist():
        one, other = mentions[first[pair]].tokens, mentions[second[pair]].tokens
        found[pair] = (
            not one & other if incompatible == "overlap" else not (one <= other or other <= one)
        )
    return found
