"""How often a 95% interval holds the truth, and how often a test finds a difference that is none.

    python benchmarks/coverage.py

Corpora are drawn from a population whose scores are known exactly: a sentence carries one to four questions, each
with one to six candidates; sentences differ in how hard they are, so that questions of the same sentence hang
together, as in the real corpus.  Writes `results/coverage.json`.
"""

import itertools
import json
from pathlib import Path

import numpy as np

from closeread.counts.resampling import compare_pairs, percentile_interval, sum_resamples
from closeread.counts.table import CountTable
from closeread.tasks.mctaco.procedure import COUNTS, PROCEDURE, choice_counts

HARD, EASY = 0.55, 0.9  # probability of a right label
QUESTIONS, CANDIDATES = (1, 2, 3, 4), (1, 2, 4, 6)
YES = 0.35


def truth():
    """Exact match and F1 of the population: expectations over one question, by enumeration."""
    exact = f1 = 0.0
    for right, n in itertools.product((HARD, EASY), CANDIDATES):
        exact += right**n
        for outcome in itertools.product(((1, 1), (1, 0), (0, 1), (0, 0)), repeat=n):
            p, both, either = 1.0, 0, 0
            for gold, said in outcome:
                p *= (YES if gold else 1 - YES) * (right if gold == said else 1 - right)
                both += gold and said
                either += gold + said
            f1 += p * (2 * both / either if either else 1)
    return {"exact_match": exact / 8, "f1": f1 / 8}


def simulated(n_blocks, rng, n_systems=1):
    """One corpus of the population, answered by systems of the same kind and counted by the kernel: a table each."""
    per_sentence = rng.choice(QUESTIONS, n_blocks)
    sentence = np.repeat(np.arange(n_blocks), per_sentence)
    right = np.where(rng.random(n_blocks) < 0.5, HARD, EASY)[sentence]
    size = rng.choice(CANDIDATES, len(sentence))
    question = np.repeat(np.arange(len(sentence)), size)
    gold = rng.random(len(question)) < YES
    tables = []
    for _ in range(n_systems):
        correct = rng.random(len(question)) < right[question]
        counts = choice_counts(question, gold, gold == correct, correct, len(sentence))
        tables.append(CountTable([str(i) for i in range(len(sentence))], sentence, COUNTS, counts))
    return tables


def coverage(n_blocks, n_corpora, seed):
    """The share of 95% intervals of 1,000 resamples that hold the truth, by metric."""
    known = truth()
    held = dict.fromkeys(known, 0)
    for sequence in np.random.SeedSequence(seed).spawn(n_corpora):
        rng = np.random.default_rng(sequence)
        drawn = simulated(n_blocks, rng)[0]
        totals = sum_resamples(drawn.block_totals(), 1000, rng)
        for metric in PROCEDURE.metrics:
            low, high = percentile_interval(metric.score(totals, drawn.names), 0.95)
            held[metric.name] += low <= known[metric.name] <= high
    return {name: count / n_corpora for name, count in held.items()}


def level(n_blocks, n_pairs, seed):
    """The share of pairs of equally good systems that each test calls different at 0.05, by test.

    Both systems answer the same corpus, independently; the score is F1.
    """
    f1 = [metric for metric in PROCEDURE.metrics if metric.name == "f1"]
    rejected = {"p_randomization": 0, "p_bootstrap": 0}
    for sequence in np.random.SeedSequence(seed).spawn(n_pairs):
        rng = np.random.default_rng(sequence)
        first, second = simulated(n_blocks, rng, n_systems=2)
        seed = int(rng.integers(2**32))
        found = compare_pairs([first, second], f1, n_resamples=500, confidence=0.95, seed=seed)[0, 1]["f1"]
        for test in rejected:
            rejected[test] += getattr(found, test) <= 0.05
    return {test: count / n_pairs for test, count in rejected.items()}


def main():
    """Simulate corpora of several sizes and keep the shares."""
    n_corpora, n_pairs = 4000, 2000
    result = {
        "command": "python benchmarks/coverage.py",
        "n_corpora": n_corpora,
        "n_pairs": n_pairs,
        "coverage": {str(n): coverage(n, n_corpora, seed=n) for n in (10, 30, 100, 200)},
        "level": {str(n): level(n, n_pairs, seed=n) for n in (10, 30, 100, 200)},
    }
    path = Path(__file__).parent / "results" / "coverage.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(path.read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
