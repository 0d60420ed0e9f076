"""Table 3's rows without a model, recomputed on the test split.

Conventions: scores are times 100; prepositions are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.baselines import load_baselines
from closeread.corpus.reproduction import Inputs, Recomputed
from closeread.counts.printed_tables import Chance
from closeread.records import Record
from closeread.tasks.tne.columns import Documents
from closeread.tasks.tne.kernels.links import document_of, phrases_of
from closeread.tasks.tne.procedure import PROCEDURE
from closeread.tasks.tne.release import read_test

BASELINES = {
    "Title-First": "title-first",
    "Title-Last": "title-last",
    "Adj-Anaphora": "adj-anaphora",
    "Adj-Cataphora": "adj-cataphora",
    "Surface": "surface",
    "Surface-Extended": "surface-extended",
    "Combined": "combined",
}
DESCRIBED = {row: f"{row}, as described" for row in ("Surface", "Surface-Extended", "Combined")}
EVERY_PAIR = "every ordered pair"
SCORES = ("Precision", "Recall", "F1")


def score_without_models(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 3 that need no model, on the test split."""
    documents = read_test(inputs)
    if documents is None:
        return {}
    return {
        **score_baselines(inputs, documents),
        **dict(zip((("Title-Random", score) for score in SCORES), score_random_title(documents), strict=True)),
    }


def score_baselines(inputs: Inputs, documents: Documents) -> Mapping[tuple[str, str], float]:
    """Return the scores of the deterministic baselines, by row and column of Table 3."""
    return inputs.once("baselines", lambda: _score_baselines(documents))


def _score_baselines(documents: Documents) -> dict[tuple[str, str], float]:
    baselines = load_baselines("tne")
    rows = {row: baselines[name].predict(documents) for row, name in BASELINES.items()}
    for row, name in DESCRIBED.items():
        rows[name] = baselines[BASELINES[row]].predict(documents, definition="described")
    rows[EVERY_PAIR] = baselines["all-pairs"].predict(documents)
    return {
        (row, column): score
        for row, system in rows.items()
        for column, score in zip(SCORES, _score_links(documents, system), strict=True)
    }


def _score_links(gold: Documents, system: Sequence[Record]) -> tuple[float, ...]:
    """Return precision, recall and F1 of links, ignoring prepositions."""
    table = PROCEDURE.count(gold=gold, system=system)
    totals = table.totals
    score = {metric.name: 100 * float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics}
    return tuple(score[f"unlabeled/{name}"] for name in ("precision", "recall", "f1"))


def score_random_title(gold: Documents) -> tuple[Chance, Chance, Chance]:
    """Return precision, recall and F1 over all ways to draw one noun phrase from each title.

    Every draw links equally many pairs, so each score is the number of correct links divided by a constant.  That
    number is a sum over documents, which are drawn independently.  0/0 is 0.
    """
    phrases, pair = gold.noun_phrases, gold.links.labelled.pair
    document = document_of(pair)
    _, complement = phrases_of(pair)
    hits = np.bincount(phrases.starts[document] + complement, minlength=len(phrases.text))[gold.in_title]
    title_of = phrases.document[gold.in_title]
    choices = np.bincount(title_of, minlength=len(gold))
    titled = choices > 0
    mean = ratio(np.bincount(title_of, hits, len(gold))[titled], choices[titled])
    square = ratio(np.bincount(title_of, hits**2, len(gold))[titled], choices[titled])
    right, deviation = mean.sum(), float(np.sqrt((square - mean**2).sum()))
    n_linked, n_gold = int((gold.sizes[titled] - 1).sum()), len(pair)
    precision, recall, f1 = (
        Chance(*(100 * float(np.nan_to_num(ratio(part, whole))) for part in (right, deviation)))
        for whole in (n_linked, n_gold, (n_linked + n_gold) / 2)
    )
    return precision, recall, f1
