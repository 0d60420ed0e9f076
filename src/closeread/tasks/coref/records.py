"""Figures of documents with coreference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from closeread.corpus.facts import Statistics
from closeread.records import Record
from closeread.tasks.coref.corpus_documents import CorpusDocuments
from closeread.tasks.coref.documents import Document
from closeread.tasks.coref.files import find_treebank, read_documents


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Counts of documents, sentences, tokens, entities and mentions; a singleton is an entity of one mention."""
    sizes: list[int] = []
    n_tokens = 0
    n_empty_nodes = 0
    n_sentences = 0
    for record in records:
        sizes += map(len, record["clusters"])
        n_tokens += record.get("n_tokens") or 0
        n_empty_nodes += len(record.get("empty_nodes", ()))
        n_sentences += len(record.get("sentences", ()))
    figures: dict[str, float] = {"documents": len(records)}
    # Files without borders of sentences have a sentence for each document.
    if n_sentences > len(records):
        figures["sentences"] = n_sentences
    if n_tokens:
        figures["tokens"] = n_tokens - n_empty_nodes
    if n_empty_nodes:
        figures["empty nodes"] = n_empty_nodes
    return figures | {
        "entities": len(sizes),
        "singletons": sizes.count(1),
        "mentions": sum(sizes),
    }


def count_files(paths: Sequence[Path]) -> Statistics:
    """Count what is in files of coreference, and in all together; a folder of several treebanks is counted by treebank."""
    documents_by_part: dict[str, list[Document]] = {}
    notices: list[str] = []
    names = [path.name for path in paths]
    for path in paths:
        label = path.name if names.count(path.name) == 1 else str(path)
        read = read_documents(path)
        notices += read.notices
        treebanks = [find_treebank(document.file) for document in read.documents]
        has_several = len(set(treebanks)) > 1
        for document, treebank in zip(read.documents, treebanks, strict=True):
            part = treebank if has_several and treebank else label
            documents_by_part.setdefault(part, []).append(document)
    if len(documents_by_part) > 1:
        documents_by_part["all"] = list(chain.from_iterable(documents_by_part.values()))
    figures: dict[str, dict[str, float]] = {}
    for part, documents in documents_by_part.items():
        figures[part] = facts(CorpusDocuments(documents))
        mentions = chain.from_iterable(document.mentions for document in documents)
        n_discontinuous = sum(bool(mention.subspans) for mention in mentions)
        if n_discontinuous:
            figures[part]["discontinuous mentions"] = n_discontinuous
    return Statistics("coref", "", figures, notices)


def flatten(records: Sequence[Record]) -> list[Record]:
    """Return a row for each mention of a corpus's documents, in the order of the entities."""
    rows: list[Record] = []
    for record in records:
        words = list(chain.from_iterable(record["sentences"]))
        document = {name: record[name] for name in ("document", "group", "genre")}
        for number, mentions in enumerate(record["clusters"]):
            for start, end, *heads in mentions:
                row = {
                    "entity": number,
                    "label": record["labels"][number],
                    "start": start,
                    "end": end,
                    "head": heads[0] if heads else None,
                    "text": " ".join(words[start : end + 1]),
                }
                rows.append(document | row)
    return rows
