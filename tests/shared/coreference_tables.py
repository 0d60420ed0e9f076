"""Coreference documents as tables, with the fields of mentions that only some formats have."""

from dataclasses import replace

from closeread.tasks.coref.documents import EmptyNode, mention_table


def make_table(documents, *, names=None, pos=None, empty=None):
    """Make a table; mentions are [start, end], and their first token is their head.

    Args:
        documents: the clusters of each document.
        names: the names of the documents; letters if None.
        pos: the part of speech of every mention, by its document and first token; None for none.
        empty: the empty nodes as pairs of document and token; None for a format without heads.
    """
    names = [chr(ord("a") + number) for number in range(len(documents))] if names is None else names
    table = mention_table(names, documents)
    places = list(zip(table.document.tolist(), table.start.tolist(), strict=True))
    if pos is not None:
        table = replace(table, mention_fields={"pos": [pos[place] for place in places]})
    if empty is not None:
        nodes = [
            [EmptyNode(token, 0, ()) for at, token in sorted(empty) if at == i]
            for i in range(len(table))
        ]
        table = replace(table, head=table.start, empty=nodes)
    return table


def spread(clusters):
    """Return clusters of letters as clusters of mentions: `a` is token 0, `b` is token 1, and so on."""
    return [[[ord(letter) - ord("a")] * 2 for letter in cluster] for cluster in clusters]
