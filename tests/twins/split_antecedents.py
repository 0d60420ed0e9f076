"""Entities with split antecedents, slow and obvious, in exact fractions.

A side is a list of entities (mentions, antecedents): a list of mentions, and a list of antecedents, each a list of
mentions; an entity without split antecedents has no antecedents.  Counts are those of `twins.coref`, in its order.
"""

from fractions import Fraction
from itertools import combinations, permutations

from twins import coref


def scores_of_sets(metric, key, response):
    """Return the counts of two sets of antecedents, as if these were all entities."""
    if metric != "muc":
        return getattr(coref, metric)(key, response)
    found, of_key, _, of_response = coref.muc(key, response)
    both = sum(len(k) == 1 and k in response for k in key)
    singletons = [sum(len(cluster) == 1 for cluster in side) for side in (key, response)]
    return found + both, of_key + singletons[0], found + both, of_response + singletons[1]


def divide(numerator, denominator):
    return Fraction(numerator) / denominator if denominator else Fraction(0)


def mappings(metric, key, response):
    """List every best mapping of the entities with sets, as {(key, response): (recall, precision, F1)}."""
    ours, theirs = ([i for i, (_, sets) in enumerate(side) if sets] for side in (key, response))
    scores = {}
    for i in ours:
        for j in theirs:
            counts = scores_of_sets(metric, key[i][1], response[j][1])
            recall, precision = divide(*counts[:2]), divide(*counts[2:])
            scores[i, j] = recall, precision, divide(2 * recall * precision, recall + precision)
    few, many = sorted([ours, theirs], key=len)
    found = []
    for order in permutations(many, len(few)):
        pairs = zip(few, order, strict=True)
        chosen = {pair if few is ours else pair[::-1] for pair in pairs}
        found.append({pair: scores[pair] for pair in chosen if scores[pair][2]})
    best = max(sum(score[2] for score in mapping.values()) for mapping in found)
    return [mapping for mapping in found if sum(score[2] for score in mapping.values()) == best]


def counts_of_sets(metric, key, response, mapping):
    """Count the sets alone."""
    pairs = [scores_of_sets(metric, key[i][1], response[j][1]) for i, j in mapping]
    found = [sum((pair[column] for pair in pairs), Fraction(0)) for column in (0, 2)]
    of_key = sum(scores_of_sets(metric, sets, [])[1] for _, sets in key if sets)
    of_response = sum(scores_of_sets(metric, [], sets)[3] for _, sets in response if sets)
    return found[0], of_key, found[1], of_response


def counts(metric, key, response, mapping):
    """Count the entities of both sides with their sets."""
    if metric in ("ceafm", "ceafe"):
        return ceaf(metric, key, response, mapping)
    recall = {pair: score[0] for pair, score in mapping.items()}
    precision = {(j, i): score[1] for (i, j), score in mapping.items()}
    return *ONE_SIDE[metric](key, response, recall), *ONE_SIDE[metric](response, key, precision)


def size(entity):
    return len(entity[0]) + bool(entity[1])


def share(entity, other):
    return len(set(entity[0]) & set(other[0]))


def muc(key, response, degree):
    found = Fraction(0)
    for i, entity in enumerate(key):
        for j, other in enumerate(response):
            if share(entity, other):
                found += share(entity, other) - 1 + degree.get((i, j), 0)
    return found, sum(max(size(entity) - 1, 0) for entity in key)


def b3(key, response, degree):
    found = Fraction(0)
    for i, entity in enumerate(key):
        for j, other in enumerate(response):
            found += divide((share(entity, other) + degree.get((i, j), 0)) ** 2, size(entity))
    return found, sum(map(size, key))


def lea(key, response, degree):
    found = Fraction(0)
    for i, entity in enumerate(key):
        if size(entity) == 1:
            found += any(entity[0] == other[0] and size(other) == 1 for other in response)
            continue
        mentions = [*entity[0], *(["set"] if entity[1] else [])]
        links = Fraction(0)
        for pair in combinations(mentions, 2):
            for j, other in enumerate(response):
                weights = [
                    degree.get((i, j), 0) if mention == "set" else mention in other[0]
                    for mention in pair
                ]
                links += Fraction(weights[0]) * Fraction(weights[1])
        found += size(entity) * divide(links, Fraction(len(mentions) * (len(mentions) - 1), 2))
    return found, sum(map(size, key))


def ceaf(metric, key, response, mapping):
    def similarity(i, j):
        shared = share(key[i], response[j]) + mapping.get((i, j), (0, 0, 0))[2]
        return shared if metric == "ceafm" else divide(2 * shared, size(key[i]) + size(response[j]))

    common = coref.ceaf(range(len(key)), range(len(response)), similarity)
    of_key, of_response = (
        sum(map(size, side)) if metric == "ceafm" else len(side) for side in (key, response)
    )
    return common, of_key, common, of_response


ONE_SIDE = {"muc": muc, "b3": b3, "lea": lea}
