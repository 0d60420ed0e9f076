"""How often a 95% interval holds the truth, and how often a test finds a difference, where there is none or one.

    PYTHONPATH=tests python -m shared.coverage

Corpora are drawn from populations whose scores are known exactly.  In that of McTaco, a sentence carries one to four
questions, each with one to six candidates; sentences differ in how hard they are, so that questions of the same
sentence hang together, as in the real corpus.  In the other, documents differ in size, as those of most corpora do.
Prints the shares that `docs/statistics.md` has.
"""

import itertools
import json
import math

import numpy as np

from closeread.counts.metrics import F1, Metric, Ratio
from closeread.counts.resampling import (
    bca_interval,
    compare_pairs,
    draw_weights,
    percentile_interval,
    sum_weighted,
)
from closeread.counts.table import CountTable
from closeread.tasks.mctaco.procedure import COUNTS, PROCEDURE, choice_counts

HARD, EASY = 0.55, 0.9  # probability of a right label
QUESTIONS, CANDIDATES = (1, 2, 3, 4), (1, 2, 4, 6)
YES = 0.35
TESTS = ("p_randomization", "p_bootstrap")

DOCUMENT_COUNTS = ("correct", "predicted", "gold")
POOLED_F1 = Metric("f1", "F1", "", F1(Ratio("correct", "predicted"), Ratio("correct", "gold")))


def improve(right, better):
    """The probability of a right label of a system that avoids this share of the errors."""
    return right + better * (1 - right)


def truth(better=0.0):
    """Exact match and F1 of the population: expectations over one question, by enumeration."""
    exact = f1 = 0.0
    for right, n in itertools.product((improve(HARD, better), improve(EASY, better)), CANDIDATES):
        exact += right**n
        for outcome in itertools.product(((1, 1), (1, 0), (0, 1), (0, 0)), repeat=n):
            p, both, either = 1.0, 0, 0
            for gold, said in outcome:
                p *= (YES if gold else 1 - YES) * (right if gold == said else 1 - right)
                both += gold and said
                either += gold + said
            f1 += p * (2 * both / either if either else 1)
    return {"exact_match": exact / 8, "f1": f1 / 8}


def simulated(n_blocks, rng, n_systems=1, better=0.0):
    """One corpus of the population, answered by systems and counted by the kernel: a table each.

    The first system is as the population is; each further one avoids more of the errors.
    """
    per_sentence = rng.choice(QUESTIONS, n_blocks)
    sentence = np.repeat(np.arange(n_blocks), per_sentence)
    right = np.where(rng.random(n_blocks) < 0.5, HARD, EASY)[sentence]
    size = rng.choice(CANDIDATES, len(sentence))
    question = np.repeat(np.arange(len(sentence)), size)
    gold = rng.random(len(question)) < YES
    tables = []
    for number in range(n_systems):
        correct = rng.random(len(question)) < improve(right, number * better)[question]
        counts = choice_counts(question, gold, gold == correct, correct, len(sentence))
        tables.append(CountTable([str(i) for i in range(len(sentence))], sentence, COUNTS, counts))
    return tables


def simulated_documents(n_documents, rng):
    """One corpus of documents of uneven size, as a table; the score is F1 of the sums over all of them.

    The number of mentions of a document is lognormal(2, 1): half have fewer than eight, one in a hundred has more than
    75.  A mention is found with the probability of its document, `HARD` or `EASY`, and for each that is not, the
    system is expected to invent one.
    """
    n_gold = np.maximum(1, np.rint(rng.lognormal(2, 1, n_documents))).astype(np.int64)
    found = np.where(rng.random(n_documents) < 0.5, HARD, EASY)
    n_correct = rng.binomial(n_gold, found)
    n_predicted = n_correct + rng.binomial(n_gold, 1 - found)
    counts = np.column_stack([n_correct, n_predicted, n_gold]).astype(np.float64)
    names = [str(number) for number in range(n_documents)]
    return CountTable(names, np.arange(n_documents), DOCUMENT_COUNTS, counts)


def truth_of_documents():
    """F1 of that population: size and difficulty are independent, and as many mentions are invented as missed."""
    return {"f1": (HARD + EASY) / 2}


def cover(known, metrics, draw_corpus, n_corpora, seed):
    """The share of 95% intervals of 1,000 resamples that hold the truth, by kind and metric."""
    held = {kind: dict.fromkeys(known, 0) for kind in ("percentile", "bca")}
    for sequence in np.random.SeedSequence(seed).spawn(n_corpora):
        rng = np.random.default_rng(sequence)
        corpus = draw_corpus(rng)
        blocks = corpus.block_totals()
        totals = sum_weighted(draw_weights(len(blocks), 1000, rng), blocks)
        for metric in metrics:
            samples = metric.score(totals, corpus.names)
            value = metric.score(corpus.totals, corpus.names)
            left_out = metric.score(corpus.totals - blocks, corpus.names)
            for kind, (low, high) in (
                ("percentile", percentile_interval(samples, 0.95)),
                ("bca", bca_interval(samples, value, left_out, 0.95)),
            ):
                held[kind][metric.name] += low <= known[metric.name] <= high
    return {
        kind: {name: count / n_corpora for name, count in counts.items()}
        for kind, counts in held.items()
    }


def coverage(n_blocks, n_corpora, seed):
    """The share of intervals that hold the truth, of corpora like McTaco."""

    def draw_corpus(rng):
        return simulated(n_blocks, rng)[0]

    return cover(truth(), PROCEDURE.metrics, draw_corpus, n_corpora, seed)


def document_coverage(n_documents, n_corpora, seed):
    """The share of intervals that hold the truth, of documents of uneven size."""

    def draw_corpus(rng):
        return simulated_documents(n_documents, rng)

    return cover(truth_of_documents(), [POOLED_F1], draw_corpus, n_corpora, seed)


def compare_many(n_blocks, n_pairs, seed, better=0.0):
    """Compare a system with a better one by F1, on as many corpora."""
    f1 = [metric for metric in PROCEDURE.metrics if metric.name == "f1"]
    for sequence in np.random.SeedSequence(seed).spawn(n_pairs):
        rng = np.random.default_rng(sequence)
        pair = simulated(n_blocks, rng, n_systems=2, better=better)
        how = {
            "n_resamples": 500,
            "confidence": 0.95,
            "seed": int(rng.integers(2**32)),
            "power": True,
        }
        yield compare_pairs(pair, f1, **how)[0, 1]["f1"]


def level(n_blocks, n_pairs, seed):
    """The share of pairs of equally good systems that each test calls different at 0.05, by test.

    Both systems answer the same corpus, independently; the score is F1.
    """
    found = list(compare_many(n_blocks, n_pairs, seed))
    return {test: sum(getattr(one, test) <= 0.05 for one in found) / n_pairs for test in TESTS}


def find_better(difference):
    """The share of errors that a system avoids whose F1 is better by this much, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if truth(middle)["f1"] - truth()["f1"] > difference else (middle, high)
        )
    return low


def power(n_blocks, n_pairs, seed):
    """The share of pairs that each test calls different at 0.05 if their true difference is the detectable one.

    That is the mean of the detectable differences that are computed from corpora on which it is the true one.
    """
    difference = 0.05
    for step in range(5):
        found = compare_many(
            n_blocks, max(100, n_pairs // 10), seed + step + 1, find_better(difference)
        )
        difference = math.fsum(one.detectable for one in found) / max(100, n_pairs // 10)
    found = list(compare_many(n_blocks, n_pairs, seed, find_better(difference)))
    shares = {test: sum(getattr(one, test) <= 0.05 for one in found) / n_pairs for test in TESTS}
    return {"detectable": difference, **shares}


def main():
    """Simulate corpora of several sizes and print the shares."""
    n_corpora, n_pairs = 4000, 2000
    sizes = (10, 30, 100, 200)
    shares = {
        "coverage": {n: coverage(n, n_corpora, seed=n) for n in sizes},
        "document_coverage": {n: document_coverage(n, n_corpora, seed=n) for n in (6, 10, 20, 60)},
        "level": {n: level(n, n_pairs, seed=n) for n in sizes},
        "power": {n: power(n, n_pairs, seed=n) for n in sizes},
    }
    print(json.dumps(shares, indent=1))


if __name__ == "__main__":
    main()
