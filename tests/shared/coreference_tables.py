"""Coreference documents made from clusters, with the fields that only some formats have."""

from dataclasses import replace

from closeread.tasks.coref.documents import (
    Document,
    Documents,
    EmptyNode,
    ListedWords,
    list_entities,
)
from closeread.tasks.coref.key_response import Key


def make_document(name, clusters, *, words=None, **fields):
    """Make a document of clusters of [start, end] or [start, end, head]; it is as long as its words, if they are given."""
    if words is not None:
        fields = {"words": ListedWords(words), "n_tokens": len(words), **fields}
    return Document(name, list_entities(clusters), **fields)


def make_documents(clusters, *, names=None, pos=None, empty=None):
    """Make documents; mentions are [start, end], and their first token is their head.

    Args:
        clusters: the clusters of each document.
        names: the names of the documents; letters if None.
        pos: the part of speech of every mention, by its document and first token; None for none.
        empty: the empty nodes as pairs of document and token; None for a format without heads.
    """
    names = [chr(ord("a") + number) for number in range(len(clusters))] if names is None else names
    documents = []
    for number, name in enumerate(names):

        def annotate(mention, number=number):
            head = None if empty is None else mention.start
            tag = None if pos is None else pos[number, mention.start]
            return mention._replace(head=head, tag=tag)

        document = make_document(name, clusters[number])
        entities = [
            entity._replace(mentions=[annotate(mention) for mention in entity.mentions])
            for entity in document.entities
        ]
        nodes = [EmptyNode(token, 0, ()) for of, token in sorted(empty or ()) if of == number]
        documents.append(replace(document, entities=entities, nodes=nodes))
    return Documents(documents)


def spread(clusters):
    """Return clusters of letters as clusters of mentions: `a` is token 0, `b` is token 1, and so on."""
    return [[[ord(letter) - ord("a")] * 2 for letter in cluster] for cluster in clusters]


def digest_documents(documents):
    """Return the digest of every document as gold, heads included."""
    options = {"matching": "head", "zeros": "linear", "split_antecedents": "ignore"}
    return list(Key(documents).digests(options).values())
