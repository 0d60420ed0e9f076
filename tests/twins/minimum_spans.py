"""What is counted of mentions with the same minimum spans, slow and obvious, as in `twins.coref`."""

from collections import Counter
from fractions import Fraction

from twins.coref import blanc, ceaf, mentions, where


def muc(key, response):
    return *muc_recall(key, response), *muc_recall(response, key)


def muc_recall(key, response):
    there = where(response)
    found = 0
    for cluster in key:
        places = [there[mention] for mention in cluster if mention in there]
        found += len(places) - len(set(places))
    return found, sum(len(cluster) - 1 for cluster in key)


def b3(key, response):
    return *b3_recall(key, response), *b3_recall(response, key)


def b3_recall(key, response):
    there = where(response)
    shared = [Counter(there[mention] for mention in cluster if mention in there) for cluster in key]
    found = [
        Fraction(sum(n * n for n in places.values()), len(c))
        for places, c in zip(shared, key, strict=True)
    ]
    return sum(found, Fraction(0)), sum(map(len, key))


def ceafm(key, response):
    common = ceaf(key, response, lambda k, r: Fraction((Counter(k) & Counter(r)).total()))
    return common, sum(map(len, key)), common, sum(map(len, response))


def ceafe(key, response):
    common = ceaf(key, response, lambda k, r: Fraction(2 * sum(m in r for m in k), len(k) + len(r)))
    return common, len(key), common, len(response)


def lea(key, response):
    return *lea_recall(key, response), *lea_recall(response, key)


def lea_recall(key, response):
    there = where(response)
    found = Fraction(0)
    for cluster in key:
        places = [there[mention] for mention in cluster if mention in there]
        if len(cluster) == 1:
            found += any(len(response[place]) == 1 for place in places)
        else:
            links = sum(places[i] == place for j, place in enumerate(places) for i in range(j))
            found += Fraction(2 * links, len(cluster) - 1)
    return found, sum(map(len, key))


METRICS = {
    "mentions": mentions,
    "muc": muc,
    "b3": b3,
    "ceafm": ceafm,
    "ceafe": ceafe,
    "lea": lea,
    "blanc": blanc,
}
