"""Rank intervals the slow way: one pair and one resample after the other, with fractions.

A system is a list of blocks, each a tuple of whole numbers; `score` maps a tuple of sums to a fraction.
"""

from itertools import combinations
from math import sqrt
from statistics import NormalDist, pstdev

from scipy.stats import t as student


def add_up(blocks):
    """Sum the counts of blocks."""
    return tuple(map(sum, zip(*blocks, strict=True)))


def resample(blocks, times):
    """Repeat each block as many times as it was drawn."""
    return [block for block, number in zip(blocks, times, strict=True) for _ in range(number)]


def find_quantile(values, share):
    """The quantile between the two neighbouring values, as NumPy has it."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def rank(score, systems, alpha, draws):
    """Return (low, high, best) of every system; `draws` says how often each block is drawn, for each resample."""
    n, n_blocks = len(systems), len(systems[0])
    observed = [float(score(add_up(blocks))) for blocks in systems]
    resampled = [
        [float(score(add_up(resample(blocks, times)))) for blocks in systems] for times in draws
    ]
    errors = {}
    largest = [0.0] * len(draws)
    for i, j in combinations(range(n), 2):
        differences = [scores[i] - scores[j] for scores in resampled]
        error = pstdev(differences)
        errors[i, j] = error if error > 1e-12 else 0.0
        if errors[i, j]:
            for number, difference in enumerate(differences):
                deviation = abs(difference - (observed[i] - observed[j])) / error
                largest[number] = max(largest[number], deviation)
    probability = NormalDist().cdf(find_quantile(largest, 1 - alpha))
    factor = student.ppf(probability, n_blocks - 1) * sqrt(n_blocks / (n_blocks - 1))
    is_possible = 2 * 0.5**n_blocks <= alpha / max(len(errors), 1)
    better = {(i, j): False for i in range(n) for j in range(n)}
    for (i, j), error in errors.items():
        if is_possible and abs(observed[i] - observed[j]) > factor * error + 1e-12:
            better[(i, j) if observed[i] > observed[j] else (j, i)] = True
    leaders = [i for i in range(n) if observed[i] >= max(observed) - 1e-12]
    return [
        (
            1 + sum(better[j, i] for j in range(n)),
            n - sum(better[i, j] for j in range(n)),
            not any(better[j, i] for j in leaders),
        )
        for i in range(n)
    ]
