"""Rules for records of the corpus that the schema can't express: sentences, mentions and chains must agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import cast

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Document
from closeread.tasks.coref.marmara.spans import Span, find_overlaps


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find what disagrees within a record, with the index of the record."""
    for index, record in enumerate(records):
        document = cast(Document, record)
        for what in chain(_check_sentences(document), _check_mentions(document), _check_chains(document)):
            yield index, what


def _check_sentences(document: Document) -> Iterator[str]:
    """Find repeated sentence numbers, heads outside the sentence, and a wrong number of tokens."""
    seen: set[str] = set()
    for number, sentence in enumerate(document["sentences"]):
        if sentence["number"] in seen:
            yield f"sentences[{number}].number: {quote(sentence['number'])} is the number of an earlier sentence"
        seen.add(sentence["number"])
        n_tokens = len(sentence["tokens"])
        for place, token in enumerate(sentence["tokens"]):
            if token["head"] is not None and token["head"] > n_tokens:
                found = f"{token['head']} is outside the sentence (expected 1 to {n_tokens})"
                yield f"sentences[{number}].tokens[{place}].head: {found}"
    total = sum(len(sentence["tokens"]) for sentence in document["sentences"])
    if document["n_tokens"] != total:
        yield f"n_tokens: {document['n_tokens']:,} (expected {total:,}, as many as the sentences have)"


def _check_mentions(document: Document) -> Iterator[str]:
    """Find mentions outside their sentence, and repeated ids and spans."""
    lengths = [len(sentence["tokens"]) for sentence in document["sentences"]]
    offsets = accumulate(lengths, initial=0)
    ranges = {
        sentence["number"]: range(offset, offset + length)
        for sentence, offset, length in zip(document["sentences"], offsets, lengths, strict=False)
    }
    ids: set[str] = set()
    spans: set[Span] = set()
    for place, mention in enumerate(document["mentions"]):
        start, end = mention["start"], mention["end"]
        tokens = ranges.get(mention["sentence"])
        if tokens is None:
            yield f"mentions[{place}].sentence: the document has no sentence {quote(mention['sentence'])}"
        elif start not in tokens or end not in tokens:
            expected = f"expected tokens {tokens.start} to {tokens.stop - 1}"
            yield f"mentions[{place}]: tokens {start} to {end} are not in its sentence ({expected})"
        if start > end or mention["from"] > mention["to"]:
            yield f"mentions[{place}]: it ends before it starts"
        if mention["id"] in ids:
            yield f"mentions[{place}].id: {quote(mention['id'])} is the id of an earlier mention"
        if (start, end) in spans:
            yield f"mentions[{place}]: an earlier mention has the same tokens, {start} to {end}"
        ids.add(mention["id"])
        spans.add((start, end))


def _check_chains(document: Document) -> Iterator[str]:
    """Find spans in chains that are no mentions, stand in two chains, or overlap another of the chain."""
    mentions = {(mention["start"], mention["end"]) for mention in document["mentions"]}
    seen: set[Span] = set()
    for number, cluster in enumerate(document["clusters"]):
        spans = [(start, end) for start, end in cluster]
        for place, span in enumerate(spans):
            if span not in mentions:
                yield f"clusters[{number}][{place}]: {list(span)} is not one of the mentions"
            if span in seen:
                yield f"clusters[{number}][{place}]: {list(span)} is already in a chain"
            seen.add(span)
        for one, other in find_overlaps(set(spans)):
            yield f"clusters[{number}]: {list(other)} overlaps {list(one)} of the same chain"


RULES = {"document": Rules(find_inconsistencies)}
