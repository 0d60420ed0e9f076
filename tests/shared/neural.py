"""Invented documents as neural systems write them, made from records of our own JSON Lines."""

import json

LENGTHS = {"a": 10, "b": 6}
"""The number of tokens of the documents in `shared.entry_points`."""


def words_of(name):
    """The words of a document."""
    return [f"{name}{i}" for i in range(LENGTHS[name])]


def e2e(record, **more):
    """A document as e2e-coref has it: sentences of four words, inclusive ends."""
    words = words_of(record["document"])
    sentences = [words[i : i + 4] for i in range(0, len(words), 4)]
    return {
        "doc_key": record["document"],
        "sentences": sentences,
        "clusters": record["clusters"],
        **more,
    }


def subtokens(record, **more):
    """A document as SpanBERT coref has it: two pieces for each word, and a piece before and after each four words."""
    pieces, places = [], []
    words = words_of(record["document"])
    first, last = {}, {}
    for i, word in enumerate(words):
        if i % 4 == 0:
            pieces.append("[CLS]")
            places.append(max(i - 1, 0))
        first[i] = len(pieces)
        pieces += [word, "##s"]
        places += [i, i]
        last[i] = len(pieces) - 1
        if i % 4 == 3 or i == len(words) - 1:
            pieces.append("[SEP]")
            places.append(i)
    clusters = [
        [[first[start], last[end]] for start, end in cluster] for cluster in record["clusters"]
    ]
    return {
        "doc_key": record["document"],
        "tokens": words,
        "sentences": [pieces],
        "subtoken_map": places,
        "clusters": clusters,
        **more,
    }


def word_level(record, **more):
    """A document as wl-coref has it: exclusive ends."""
    clusters = [[[start, end + 1] for start, end in cluster] for cluster in record["clusters"]]
    words = words_of(record["document"])
    return {
        "document_id": record["document"],
        "cased_words": words,
        "span_clusters": clusters,
        **more,
    }


DIALECTS = {"e2e": e2e, "subtokens": subtokens, "wl": word_level}


def write_lines(path, documents):
    """Write documents, one per line."""
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), "utf-8")
    return path
