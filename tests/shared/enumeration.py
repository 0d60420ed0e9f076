"""The coreference metrics, slow and obvious, in exact fractions.

A side is a list of documents, each a list of clusters, each a list of mentions.  Every metric returns (numerator of
recall, denominator of recall, numerator of precision, denominator of precision) for a document.  Repeated mentions are
handled with dictionaries and sets, as in the reference scorer.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from closeread.tasks.coref.metrics.overlap import Side


def side(documents):
    """Convert nested lists to columns; mentions are pairs of small numbers or single characters."""

    def code(mention):
        return ord(mention) if isinstance(mention, str) else 1000 * mention[0] + mention[1]

    rows, entity = [], 0
    for document, clusters in enumerate(documents):
        for cluster in clusters:
            rows += [(document, code(mention), entity) for mention in cluster]
            entity += 1
    return Side(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def summed(metric, key, response):
    """Sum the counts over documents."""
    figures = [metric(*pair) for pair in zip(key, response, strict=True)]
    return [sum(column, Fraction(0)) for column in zip(*figures, strict=True)]


def as_reference(key, response):
    """Drop the repeats of mentions that the key has from the responses."""
    return [
        deduplicate(r, {m for cluster in k for m in cluster})
        for k, r in zip(key, response, strict=True)
    ]


def deduplicate(clusters, mentions):
    """Return the clusters with each of some mentions only in its first place."""
    seen = set()
    kept = []
    for cluster in clusters:
        kept.append([])
        for mention in cluster:
            if mention not in seen:
                kept[-1].append(mention)
            if mention in mentions:
                seen.add(mention)
    return kept


def where(clusters):
    """Map every mention to the number of its cluster, the last one if there are several."""
    return {mention: number for number, cluster in enumerate(clusters) for mention in cluster}


def mentions(key, response):
    of_key, of_response = where(key).keys(), where(response).keys()
    both = len(of_key & of_response)
    return both, len(of_key), both, len(of_response)


def muc(key, response):
    in_key = where(key)
    common = 0
    for cluster in response:
        known = [mention for mention in cluster if mention in in_key]
        common += len(known) - len({in_key[mention] for mention in known})
    key_links, response_links = (
        sum(len(c) - 1 for c in clusters if c) for clusters in (key, response)
    )
    return common, key_links, common, response_links


def b3(key, response):
    in_key = where(key)
    recall = precision = Fraction(0)
    for cluster in response:
        for mention in cluster:
            if mention in in_key:
                true = key[in_key[mention]]
                common = len(set(cluster) & set(true))
                recall += Fraction(common, len(true))
                precision += Fraction(common, len(cluster))
    return recall, sum(map(len, key)), precision, sum(map(len, response))


def ceaf(key, response, similarity):
    """Find the best one-to-one mapping by trying every partner of every key cluster."""
    rows = [[similarity(k, r) for r in response] for k in key]

    @cache
    def best(row, taken):
        if row == len(rows):
            return Fraction(0)
        partners = [j for j, value in enumerate(rows[row]) if value and not taken >> j & 1]
        return max(
            [
                best(row + 1, taken),
                *(rows[row][j] + best(row + 1, taken | 1 << j) for j in partners),
            ]
        )

    return best(0, 0)


def ceafm(key, response):
    common = ceaf(key, response, lambda k, r: Fraction(sum(m in r for m in k)))
    return common, sum(map(len, key)), common, sum(map(len, response))


def ceafe(key, response):
    common = ceaf(
        key, response, lambda k, r: Fraction(2 * sum(m in r for m in k), (len(k) + len(r)) or 1)
    )
    return common, len([c for c in key if c]), common, len([c for c in response if c])


def lea(key, response):
    return *lea_recall(key, response), *lea_recall(response, key)


def lea_recall(key, response):
    in_response = where(response)
    resolved = Fraction(0)
    for cluster in key:
        if len(cluster) == 1:
            number = in_response.get(cluster[0])
            resolved += number is not None and len(response[number]) == 1
        elif cluster:
            links = list(combinations(cluster, 2))
            found = [a in in_response and in_response[a] == in_response.get(b) for a, b in links]
            resolved += Fraction(len(cluster) * sum(found), len(links))
    return resolved, sum(map(len, key))


def blanc(key, response):
    """List every link: coreference links in both sides, in the key, in the response, then non-coreference links."""
    coreference, other = [], []
    for clusters in (key, response):
        coreference.append(
            {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}
        )
        other.append(
            {frozenset(pair) for a, b in combinations(clusters, 2) for pair in product(a, b)}
        )
    return tuple(
        len(links) for kind in (coreference, other) for links in (kind[0] & kind[1], *kind)
    )


def blanc_scores(links, same_mentions, edge):
    """Compute precision, recall and F1 of summed links; None where they are undefined.

    `same_mentions` is None if neither side has a mention.
    """
    kinds = [links[:3], links[3:]]
    if edge == "reference":
        kinds = [(both, key, response) for both, key, response in kinds if key]
    else:
        kinds = [(both, key, response) for both, key, response in kinds if key or response]
        if not kinds:
            return [None if same_mentions is None else Fraction(same_mentions)] * 3
    parts = [
        [
            Fraction(top, bottom) if bottom else None
            for top, bottom in ((both, response), (both, key), (2 * both, key + response))
        ]
        for both, key, response in kinds
    ]
    scores = []
    for values in zip(*parts, strict=True):
        known = [value for value in values if value is not None]
        scores.append(sum(known, Fraction(0)) / len(values) if known else None)
    return scores or [None] * 3


METRICS = {"mentions": mentions, "muc": muc, "b3": b3, "ceafm": ceafm, "ceafe": ceafe, "lea": lea}


def assert_equal_counts(counts, key, response):
    """Compare the counts of all metrics, by name, with those of the twins: their sums, and document by document."""
    for name, metric in {**METRICS, "blanc": blanc}.items():
        expected = [float(value) for value in summed(metric, key, response)]
        assert counts[name].sum(axis=0) == pytest.approx(expected, abs=1e-12), name
        by_document = [
            [float(v) for v in metric(*pair)] for pair in zip(key, response, strict=True)
        ]
        assert counts[name] == pytest.approx(np.array(by_document), abs=1e-12), name
