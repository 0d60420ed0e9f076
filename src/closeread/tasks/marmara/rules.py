"""Rules for records of the corpus that the schema can't express: sentences, mentions and chains must agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.validation import Rules
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.marmara.documents import Span, find_overlaps


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Yield contradictions within a record, with the index of the record."""
    for index, record in enumerate(records):
        yield from ((index, what) for what in _check_document(record))


def _check_document(document: Record) -> Iterator[str]:
    tokens: dict[str, range] = {}  # of each sentence
    total = 0
    for number, sentence in enumerate(document["sentences"]):
        if sentence["number"] in tokens:
            yield f"sentences[{number}].number: {quote(sentence['number'])} is the number of an earlier sentence"
        n_tokens = len(sentence["tokens"])
        tokens[sentence["number"]] = range(total, total + n_tokens)
        total += n_tokens
        for place, token in enumerate(sentence["tokens"]):
            if token["head"] is not None and token["head"] > n_tokens:
                found = f"{token['head']} is outside the sentence (expected 1 to {n_tokens})"
                yield f"sentences[{number}].tokens[{place}].head: {found}"
    if document["n_tokens"] != total:
        yield f"n_tokens: {document['n_tokens']:,} (expected {total:,}, as many as the sentences have)"
    ids: set[str] = set()
    spans: set[Span] = set()
    for place, mention in enumerate(document["mentions"]):
        start, end = mention["start"], mention["end"]
        inside = tokens.get(mention["sentence"])
        if inside is None:
            yield f"mentions[{place}].sentence: the document has no sentence {quote(mention['sentence'])}"
        elif start not in inside or end not in inside:
            expected = f"expected tokens {inside.start} to {inside.stop - 1}"
            yield f"mentions[{place}]: tokens {start} to {end} are not in its sentence ({expected})"
        if start > end or mention["from"] > mention["to"]:
            yield f"mentions[{place}]: it ends before it starts"
        if mention["id"] in ids:
            yield f"mentions[{place}].id: {quote(mention['id'])} is the id of an earlier mention"
        if (start, end) in spans:
            yield f"mentions[{place}]: an earlier mention has the same tokens, {start} to {end}"
        ids.add(mention["id"])
        spans.add((start, end))
    seen: set[Span] = set()
    for number, cluster in enumerate(document["clusters"]):
        chain = [(start, end) for start, end in cluster]
        for place, span in enumerate(chain):
            if span not in spans:
                yield f"clusters[{number}][{place}]: {list(span)} is not one of the mentions"
            if span in seen:
                yield f"clusters[{number}][{place}]: {list(span)} is already in a chain"
            seen.add(span)
        for one, other in find_overlaps(set(chain)):
            yield f"clusters[{number}]: {list(other)} overlaps {list(one)} of the same chain"


RULES = {"document": Rules(find_inconsistencies)}
