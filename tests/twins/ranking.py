"""Rank intervals the slow way: every swap of every pair, one after the other, with fractions.

A system is a list of blocks, each a tuple of whole numbers; `score` maps a tuple of sums to a fraction.
"""

import itertools
from fractions import Fraction


def add_up(blocks):
    """Sum the counts of blocks."""
    return tuple(map(sum, zip(*blocks, strict=True)))


def p_value(score, one, two):
    """Return the proportion of all swaps whose difference is at least as large as the observed one."""
    observed = abs(score(add_up(one)) - score(add_up(two)))
    as_large = 0
    for swaps in itertools.product((False, True), repeat=len(one)):
        first = [b if swap else a for a, b, swap in zip(one, two, swaps, strict=True)]
        second = [a if swap else b for a, b, swap in zip(one, two, swaps, strict=True)]
        as_large += abs(score(add_up(first)) - score(add_up(second))) >= observed
    return Fraction(as_large, 2 ** len(one))


def reject(p, alpha):
    """Return the keys that Holm's procedure rejects: the smallest p-value first, until one is too large."""
    rejected = set()
    for key in sorted(p, key=p.__getitem__):
        if p[key] > Fraction(str(alpha)) / (len(p) - len(rejected)):
            break
        rejected.add(key)
    return rejected


def rank(score, systems, alpha, p_of_pair=p_value):
    """Return (low, high, best) of every system."""
    scores = [score(add_up(blocks)) for blocks in systems]
    pairs = itertools.combinations(range(len(systems)), 2)
    apart = reject({(i, j): p_of_pair(score, systems[i], systems[j]) for i, j in pairs}, alpha)
    standings = []
    for i in range(len(systems)):
        others = [next(iter({*pair} - {i})) for pair in apart if i in pair]
        better = [j for j in others if scores[j] > scores[i]]
        worse = [j for j in others if scores[j] < scores[i]]
        leads = all(scores[j] < max(scores) for j in better)
        standings.append((1 + len(better), len(systems) - len(worse), leads))
    return standings
