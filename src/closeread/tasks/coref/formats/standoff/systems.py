"""Outputs of systems that count characters, or tokens of sentences: fastcoref, CoreNLP and spaCy."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from closeread.exceptions import ProblemList
from closeread.formats.json_lines import decode_json
from closeread.tasks.coref.formats.standoff.json_records import (
    Extent,
    convert_records,
    find_outside,
    load_records,
)
from closeread.tasks.coref.formats.standoff.records import (
    CLUSTERS,
    AnnotatorDocuments,
    Chain,
    StandoffDocument,
    StandoffFile,
    StandoffSpan,
    rows,
)

CLUSTER_OF_SPACY = re.compile(r"coref_clusters_[0-9]+")
HEADS_OF_SPACY = re.compile(r"coref_head_clusters_[0-9]+")


class FastcorefDocument(Struct):
    """A line of fastcoref: clusters of characters, with exclusive ends."""

    text: str
    clusters: list[list[tuple[int, int]]]


def read_fastcoref(file: StandoffFile) -> AnnotatorDocuments:
    """Read the documents of fastcoref, which have no names."""
    documents = []
    problems = ProblemList()
    records = load_records(file)
    for number, record in enumerate(convert_records(file, records, FastcorefDocument)):
        document = StandoffDocument("", record.text, is_named=False)
        for cluster in record.clusters:
            for place in find_outside(record.text, cluster):
                problems.add(f"a mention is at {place}", records[number][1])
        _add_clusters(document, record.clusters)
        documents.append(document)
    problems.raise_any(file.name)
    return {"": documents}


def _add_clusters(document: StandoffDocument, clusters: list[list[tuple[int, int]]]) -> None:
    """Add entities that are lists of spans."""
    for number, cluster in enumerate(clusters):
        keys = []
        for positions in cluster:
            key = (number, positions)
            document.spans[key] = StandoffSpan(CLUSTERS, [positions])
            keys.append(key)
        document.chains.append(Chain(CLUSTERS, keys))


class CoreNlpToken(Struct):
    """A token."""

    word: str
    original: str = field(default="", name="originalText")


class CoreNlpSentence(Struct):
    """A sentence."""

    tokens: list[CoreNlpToken]


class CoreNlpMention(Struct):
    """A mention in a sentence; all numbers are from 1, and the end is exclusive."""

    sentence: int = field(name="sentNum")
    start: int = field(name="startIndex")
    end: int = field(name="endIndex")
    head: int | None = field(default=None, name="headIndex")


class CoreNlpDocument(Struct):
    """A document."""

    sentences: list[CoreNlpSentence]
    entities: dict[str, list[CoreNlpMention]] = field(name="corefs")
    name: str = field(default="", name="docId")


def read_corenlp(file: StandoffFile) -> AnnotatorDocuments:
    """Read a document of CoreNLP."""
    content: Any = decode_json(file.text, file.name)
    (exported,) = convert_records(file, [(content, None)], CoreNlpDocument)
    document = StandoffDocument(exported.name)
    starts = []
    words: list[str] = []
    for sentence in exported.sentences:
        starts.append(len(words))
        words += [token.original or token.word for token in sentence.tokens]
    document.add_rows(words)
    problems = ProblemList()
    lengths = [len(sentence.tokens) for sentence in exported.sentences]
    for label, mentions in exported.entities.items():
        keys = []
        for number, mention in enumerate(mentions):
            is_sentence = 0 < mention.sentence <= len(lengths)
            length = lengths[mention.sentence - 1] if is_sentence else 0
            if not 0 < mention.start < mention.end <= length + 1:
                where = f"sentence {mention.sentence}, {mention.start} to {mention.end}"
                expected = "expected sentences and tokens from 1, and an end after the last token"
                problems.add(f"a mention is at {where} ({expected})")
                continue
            first = starts[mention.sentence - 1] - 1
            span = StandoffSpan(CLUSTERS, [rows(first + mention.start, first + mention.end - 1)])
            if mention.head is not None and mention.start <= mention.head < mention.end:
                span.head = rows(first + mention.head, first + mention.head)
            keys.append((label, number))
            document.spans[label, number] = span
        document.chains.append(Chain(CLUSTERS, keys))
    problems.raise_any(file.name)
    return {"": [document]}


class SpacyDocument(Struct):
    """What `Doc.to_json` returns."""

    text: str
    tokens: list[Extent]
    spans: dict[str, list[Extent]]


def read_spacy(file: StandoffFile) -> AnnotatorDocuments:
    """Read the documents of spaCy; if only the heads of mentions are there, these are the mentions."""
    documents = []
    problems = ProblemList()
    records = load_records(file)
    for number, record in enumerate(convert_records(file, records, SpacyDocument)):
        tokens = [token.positions for token in record.tokens]
        for place in find_outside(record.text, tokens):
            problems.add(f"a token is at {place}", records[number][1])
        document = StandoffDocument("", record.text, tokens, is_named=False)
        names = [name for name in record.spans if CLUSTER_OF_SPACY.fullmatch(name)]
        if not names:
            names = [name for name in record.spans if HEADS_OF_SPACY.fullmatch(name)]
            document.notices.append("mentions are single words, the heads.")
        clusters = []
        for name in names:
            spans = record.spans[name]
            clusters.append([span.positions for span in spans])
        _add_clusters(document, clusters)
        documents.append(document)
    problems.raise_any(file.name)
    return {"": documents}
