"""Holm's correction the slow way: the smallest level at which the step-down procedure rejects a hypothesis."""

from fractions import Fraction


def is_rejected(p, k, alpha):
    """Whether hypothesis k is rejected at a level: the smallest p-values first, until one is too large."""
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[place] * (len(p) - rank) > alpha:
            return False
        if p[place] == p[k]:
            return True
    raise AssertionError("hypothesis k is one of them")


def correct(p):
    """The corrected p-values, as fractions: levels at which something changes are multiples of the p-values, and 1."""
    p = [Fraction(value) for value in p]
    levels = sorted(
        {min(value * n, Fraction(1)) for value in p for n in range(1, len(p) + 1)} | {Fraction(1)}
    )
    return [
        next((level for level in levels if is_rejected(p, k, level)), Fraction(1))
        for k in range(len(p))
    ]
