"""Mentions as sets of tokens, and as the columns that kernels take."""

import numpy as np

from closeread.tasks.coref.metrics.matching import Spans


def make_spans(mentions):
    """Convert mentions, given as (document, tokens, head), to columns."""
    return Spans(
        document=np.array([d for d, _, _ in mentions], np.int64),
        start=np.array([min(tokens) for _, tokens, _ in mentions], np.int64),
        end=np.array([max(tokens) for _, tokens, _ in mentions], np.int64),
        head=np.array([head for _, _, head in mentions], np.int64),
        parts={i: list_parts(tokens) for i, (_, tokens, _) in enumerate(mentions) if len(list_parts(tokens)) > 1},
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
