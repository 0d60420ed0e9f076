"""Mentions as sets of tokens, and as the documents that the rules of matching take."""

from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.metrics.inexact_matching import match_mentions


def make_spans(mentions, minimum=None, nodes=()):
    """Convert mentions, given as (document, tokens) or (document, tokens, head), to two documents.

    Every mention is an entity.  `minimum` has minimum spans by the number of their mention; `nodes` are empty nodes as
    (document, token, sentence, dependencies).
    """
    entities = ([], [])
    for number, (document, tokens, *head) in enumerate(mentions):
        parts = list_parts(tokens)
        mention = Mention(
            min(tokens),
            max(tokens),
            head=head[0] if head else None,
            subspans=parts if len(parts) > 1 else (),
            minimum=(minimum or {}).get(number, ()),
        )
        entities[document].append(Entity("", [mention]))
    nodes_of = ([], [])
    for document, token, sentence, dependencies in sorted(nodes):
        nodes_of[document].append(EmptyNode(token, sentence, dependencies))
    return Documents(
        [
            Document(name, entities[number], nodes=nodes_of[number])
            for number, name in enumerate("ab")
        ]
    )


def match_spans(key, response, *, minimum=None, nodes=((), ()), matching, by_dependency=False):
    """Match mentions, given as to `make_spans`; return the codes of those of both sides, in the order given."""
    codes = match_mentions(
        make_spans(key, minimum, nodes[0]),
        make_spans(response, nodes=nodes[1]),
        matching,
        by_dependency=by_dependency,
    )
    in_order = []
    for mentions, codes_of_side in zip((key, response), codes, strict=True):
        rows = sorted(range(len(mentions)), key=lambda number, side=mentions: side[number][0])
        code_of = dict(zip(rows, codes_of_side.tolist(), strict=True))
        in_order.append([code_of[number] for number in range(len(mentions))])
    return in_order


def list_parts(tokens):
    """List the runs of adjacent tokens, as (first, last)."""
    found = []
    for token in sorted(tokens):
        if found and token == found[-1][1] + 1:
            found[-1] = (found[-1][0], token)
        else:
            found.append((token, token))
    return tuple(found)
