"""Scores of parts of documents, slow and obvious, in exact fractions.

A side is a list of clusters, each a list of mentions in the order of the text.  `part` names the part of a mention.
"""

from fractions import Fraction
from itertools import pairwise

from shared.enumeration import where


def count_parts(own, other, part):
    """Map each part to what is found of a side in one document and what the side has, metric after metric."""
    sums = {}
    there = where(other)
    for cluster in own:
        earlier = set()
        for position, mention in enumerate(cluster):
            its = there.get(mention)
            with_it = sum(there.get(one) == its for one in cluster) if mention in there else 0
            if len(cluster) == 1:
                lea = Fraction(mention in there and len(other[its]) == 1)
            else:
                lea = Fraction(max(with_it - 1, 0), len(cluster) - 1)
            adds = (
                *(mention in there, 1),
                *(mention in there and its in earlier, position > 0),
                *(Fraction(with_it, len(cluster)), 1),
                *(lea, 1),
            )
            sums[part(mention)] = [
                a + b for a, b in zip(sums.get(part(mention), [0] * 8), adds, strict=True)
            ]
            earlier |= {its} - {None}
    return sums


def sizes(clusters):
    """Map every mention to the size of its cluster."""
    return {mention: len(cluster) for cluster in clusters for mention in cluster}


def distances(clusters):
    """Map every mention (start, end) to the tokens from the start of the one before it; None for the first."""
    found = {}
    for cluster in clusters:
        ordered = sorted(cluster)
        found |= {after: after[0] - before[0] for before, after in pairwise(ordered)}
        found[ordered[0]] = None
    return found
