"""Training examples: pairs of mentions that corefer, and pairs that do not.

Conventions: mentions are those of one document, in document order, and count from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from closeread.arrays import Ints, Mask, expand_ranges
from closeread.records import Record
from closeread.tasks.coref.marmara.features import N_CODES, Mentions, encode_pairs
from closeread.tasks.coref.marmara.spans import Span, document_order

MAX_DISTANCE = 99
"""How many mentions apart two mentions may be to be an example of a pair that does not corefer."""


class Pairs(NamedTuple):
    """Examples, (n_pairs,) each: their two mentions, and whether they corefer."""

    first: Ints
    second: Ints
    is_positive: Mask


def list_gold(record: Record) -> dict[Span, int]:
    """Return the mentions of a document that are in chains, in document order, with the number of their chain."""
    chains = {(start, end): chain for chain, spans in enumerate(record["clusters"]) for start, end in spans}
    return dict(sorted(chains.items(), key=lambda item: document_order(item[0])))


def draw_wrong(document: str, gold: Collection[Span], detected: Sequence[Span], seed: int) -> list[Span]:
    """Draw as many detected mentions that are not in gold as there are in gold, or all if there are fewer.

    The same are drawn for a document of that name with that seed, whatever the other documents.
    """
    wrong = [span for span in detected if span not in gold]
    rng = np.random.default_rng([seed, crc32(document.encode("utf-8"))])
    drawn = rng.choice(len(wrong), min(len(wrong), len(gold)), replace=False)
    return [wrong[place] for place in sorted(drawn.tolist())]


def list_examples(spans: Sequence[Span], chains: Mapping[Span, int]) -> Pairs:
    """List the examples of a document.

    Positive are mentions with the nearest one before them in their chain; negative all pairs that are not in one
    chain and at most `MAX_DISTANCE` mentions apart.

    Args:
        spans: its mentions, in document order.
        chains: the chain of each; mentions in no chain have none.
    """
    n = len(spans)
    # Mentions in no chain get a chain of their own.
    chain = np.array([chains.get(span, -1 - place) for place, span in enumerate(spans)], np.int64)
    order = np.argsort(chain, kind="stable")
    follows = chain[order][1:] == chain[order][:-1]
    before, after = order[:-1][follows], order[1:][follows]
    place = np.arange(n)
    nearest = np.maximum(place - MAX_DISTANCE, 0)
    second, first = expand_ranges(nearest, place - nearest)
    apart = chain[first] != chain[second]
    return Pairs(
        np.concatenate([before, first[apart]]),
        np.concatenate([after, second[apart]]),
        np.repeat([True, False], [len(before), int(apart.sum())]),
    )


def count_examples(mentions: Mentions, pairs: Pairs) -> Ints:
    """Count the negative and the positive examples of a document by code, (2, `N_CODES`)."""
    codes = encode_pairs(mentions, pairs.first, pairs.second)
    return np.stack([np.bincount(codes[pairs.is_positive == label], minlength=N_CODES) for label in (False, True)])
