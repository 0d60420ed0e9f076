"""Krippendorff's alpha with sets as values, slow and obvious, in exact fractions.

A document is a list of annotations, each a list of clusters, each a list of mentions.  Observed disagreement is
the mean over all values of their mean distance to the other values of the same mention, and expected disagreement the
mean distance of all pairs of values.
"""

from fractions import Fraction


def score(one, other):
    """M of two sets."""
    if one == other:
        return Fraction(1)
    if one <= other or other <= one:
        return Fraction(2, 3)
    return Fraction(1, 3) if len(one & other) > 1 else Fraction(0)


def distances():
    """The distance functions by name."""

    def nominal(one, other):
        return Fraction(one != other)

    def iaa1(one, other):
        return 1 - score(one, other)

    def combined(one, other):
        jaccard, m = Fraction(len(one & other), len(one | other)), score(one, other)
        return 1 - jaccard * m

    return {"nominal": nominal, "iaa1": iaa1, "iaa2": combined}


def list_values(annotations, unannotated="singleton"):
    """The values of each mention: sets of mentions, one for each annotator, None for none."""
    mentions = sorted({m for clusters in annotations for cluster in clusters for m in cluster})
    table = {}
    for mention in mentions:
        table[mention] = []
        for clusters in annotations:
            chain = next((frozenset(c) for c in clusters if mention in c and len(c) > 1), None)
            table[mention].append(
                frozenset([mention]) if chain is None and unannotated == "singleton" else chain
            )
    return table


def can_be_compared(annotations, unannotated):
    """Whether any mention has two values."""
    table = list_values(annotations, unannotated)
    return any(len(values) - values.count(None) > 1 for values in table.values())


def disagreement(annotations, distance, unannotated="singleton"):
    """Sums of observed and of expected disagreement of a document: means times the number of values."""
    units = [
        [v for v in values if v is not None]
        for values in list_values(annotations, unannotated).values()
    ]
    units = [values for values in units if len(values) > 1]
    every = [value for values in units for value in values]
    observed = sum(
        (
            Fraction(1, len(values) - 1) * sum(distance(a, b) for a in values for b in values)
            for values in units
        ),
        Fraction(0),
    )
    expected = sum((distance(a, b) for a in every for b in every), Fraction(0))
    return observed, expected / (len(every) - 1) if every else expected


def alpha(documents, *, average="macro", unannotated="singleton"):
    """Alpha by distance, of several documents; None if nothing can be compared in any."""
    found = {}
    for name, distance in distances().items():
        pairs = [
            disagreement(annotations, distance, unannotated)
            for annotations in documents
            if len(annotations) > 1 and can_be_compared(annotations, unannotated)
        ]
        if average == "pooled":
            pairs = [tuple(map(sum, zip(*pairs, strict=True)))] if pairs else []
        values = [
            1 - observed / expected if expected else Fraction(1) for observed, expected in pairs
        ]
        found[name] = sum(values) / len(values) if values else None
    return found
