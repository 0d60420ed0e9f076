"""Rules for records of the corpus that the schema can't express: sentences, mentions and chains must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.marmara.documents import Span, find_overlaps


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield contradictions within a record, with the index of the record."""
    for index, record in enumerate(records):
        for message in _check_document(record):
            yield index, message


def _check_document(document: Record) -> Iterator[str]:
    tokens_by_sentence: dict[str, range] = {}
    total = 0
    for index, sentence in enumerate(document["sentences"]):
        number = sentence["number"]
        if number in tokens_by_sentence:
            yield f"sentences[{index}].number: {quote(number)} is the number of an earlier sentence"
        n_tokens = len(sentence["tokens"])
        tokens_by_sentence[number] = range(total, total + n_tokens)
        total += n_tokens
        for place, token in enumerate(sentence["tokens"]):
            if token["head"] is not None and token["head"] > n_tokens:
                yield (
                    f"sentences[{index}].tokens[{place}].head: "
                    f"{token['head']} is outside the sentence (expected 1 to {n_tokens})"
                )
    if document["n_tokens"] != total:
        yield (
            f"n_tokens: {document['n_tokens']:,} "
            f"(expected {total:,}, as many as the sentences have)"
        )
    yield from _check_mentions(document["mentions"], tokens_by_sentence)
    spans = {(mention["start"], mention["end"]) for mention in document["mentions"]}
    yield from _check_chains(document["clusters"], spans)


def _check_mentions(
    mentions: Sequence[Record], tokens_by_sentence: Mapping[str, range]
) -> Iterator[str]:
    ids: set[str] = set()
    spans: set[Span] = set()
    for index, mention in enumerate(mentions):
        name = f"mentions[{index}]"
        start = mention["start"]
        end = mention["end"]
        tokens = tokens_by_sentence.get(mention["sentence"])
        if tokens is None:
            yield f"{name}.sentence: the document has no sentence {quote(mention['sentence'])}"
        elif start not in tokens or end not in tokens:
            yield (
                f"{name}: tokens {start} to {end} are not in its sentence "
                f"(expected tokens {tokens.start} to {tokens.stop - 1})"
            )
        if start > end or mention["from"] > mention["to"]:
            yield f"{name}: it ends before it starts"
        if mention["id"] in ids:
            yield f"{name}.id: {quote(mention['id'])} is the id of an earlier mention"
        if (start, end) in spans:
            yield f"{name}: an earlier mention has the same tokens, {start} to {end}"
        ids.add(mention["id"])
        spans.add((start, end))


def _check_chains(clusters: Sequence[Sequence[Sequence[int]]], spans: set[Span]) -> Iterator[str]:
    chained: set[Span] = set()
    for index, cluster in enumerate(clusters):
        name = f"clusters[{index}]"
        chain = [(start, end) for start, end in cluster]
        for place, span in enumerate(chain):
            if span not in spans:
                yield f"{name}[{place}]: {list(span)} is not one of the mentions"
            if span in chained:
                yield f"{name}[{place}]: {list(span)} is already in a chain"
            chained.add(span)
        for wider, other in find_overlaps(set(chain)):
            yield f"{name}: {list(other)} overlaps {list(wider)} of the same chain"


RULES = {"document": Rules(find_inconsistencies)}
