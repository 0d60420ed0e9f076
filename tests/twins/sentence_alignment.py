"""Slow, obvious ways to find stretches of text in sentences, and to assign what is in order to what is in order."""

from itertools import combinations, pairwise


def list_places(tokens, key, make_key):
    """All places of a key: every stretch of tokens with it that begins and ends with a token that has one."""
    keys = [make_key(token) for token in tokens]
    return [
        (first, last)
        for first in range(len(keys))
        for last in range(first, len(keys))
        if keys[first] and keys[last] and "".join(keys[first : last + 1]) == key
    ]


def list_assignments(scores):
    """Every assignment of columns to rows in which both ascend, with its sum."""
    columns = sorted({column for options in scores for column in options})
    for size in range(min(len(scores), len(columns)) + 1):
        for rows in combinations(range(len(scores)), size):
            for chosen in combinations(columns, size):
                if all(column in scores[row] for row, column in zip(rows, chosen, strict=True)):
                    assigned = dict(zip(rows, chosen, strict=True))
                    yield assigned, sum(scores[row][column] for row, column in assigned.items())


def choose_places(firsts, places, bounds):
    """The cheapest choice of places that don't overlap; the first of several, None if there is none."""
    choices = [
        chosen
        for chosen in combinations(places, len(firsts))
        if all(one[1] < other[0] for one, other in pairwise(chosen))
        and all(
            low <= first and last <= high
            for (first, last), (low, high) in zip(chosen, bounds, strict=True)
        )
    ]

    def cost(chosen):
        return sum(abs(place[0] - first) for place, first in zip(chosen, firsts, strict=True))

    return min(choices, key=cost, default=None)
