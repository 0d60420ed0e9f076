"""Mentions as sets of tokens, and as the tables that the rules of matching take."""

import numpy as np

from closeread.tasks.coref.mention_table import MentionTable


def make_spans(mentions, minimum=None):
    """Convert mentions, given as (document, tokens) or (document, tokens, head), to a table."""
    runs = [list_parts(tokens) for _, tokens, *_ in mentions]
    document, start, end, head = (
        np.array(
            [(d, min(tokens), max(tokens), *(head or [-1])) for d, tokens, *head in mentions],
            np.int64,
        )
        .reshape(-1, 4)
        .T
    )
    return MentionTable(
        names="ab",
        n_tokens=None,
        document=document,
        start=start,
        end=end,
        entity=np.arange(len(mentions)),
        n_entities=len(mentions),
        parts={i: parts for i, parts in enumerate(runs) if len(parts) > 1},
        head=None if (head < 0).any() else head,
        minimum=minimum or {},
    )


def list_parts(tokens):
    """List the runs of adjacent tokens, as (first, last)."""
    found = []
    for token in sorted(tokens):
        if found and token == found[-1][1] + 1:
            found[-1] = (found[-1][0], token)
        else:
            found.append((token, token))
    return tuple(found)
