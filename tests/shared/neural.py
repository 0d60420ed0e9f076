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


def maverick(record, **more):
    """A document as Maverick's predictor and CRAC's language models have it."""
    return {
        "doc_id": record["document"],
        "tokens": words_of(record["document"]),
        "clusters_token_offsets": record["clusters"],
        **more,
    }


def preco(record, **more):
    """A document as PreCo has it: one sentence, exclusive ends."""
    clusters = [[[0, start, end + 1] for start, end in cluster] for cluster in record["clusters"]]
    sentences = [words_of(record["document"])]
    return {
        "id": record["document"],
        "sentences": sentences,
        "mention_clusters": clusters,
        **more,
    }


def coref_data(record, **more):
    """A document as coref-data has it: one sentence, inclusive ends."""
    clusters = [[[0, start, end] for start, end in cluster] for cluster in record["clusters"]]
    words = words_of(record["document"])
    tokens = [{"id": str(i), "text": word} for i, word in enumerate(words, start=1)]
    return {
        "id": record["document"],
        "sentences": [{"tokens": tokens}],
        "coref_chains": clusters,
        **more,
    }


DIALECTS = {
    "e2e": e2e,
    "subtokens": subtokens,
    "wl": word_level,
    "maverick": maverick,
    "preco": preco,
    "coref-data": coref_data,
}


def write_lines(path, documents):
    """Write documents, one per line."""
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), "utf-8")
    return path
