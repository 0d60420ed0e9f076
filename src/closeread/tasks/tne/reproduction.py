"""TNE's tables and figure, recomputed from the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from closeread.arrays import ratio
from closeread.corpora.baselines import load_baselines
from closeread.corpora.gold import load_corpus, read_gold, splits_at_hand
from closeread.corpora.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.metrics import harmonic_mean
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, Documents, documents_of
from closeread.tasks.tne.facts import facts
from closeread.tasks.tne.kernels.links import document_of, phrases_of
from closeread.tasks.tne.procedure import PROCEDURE

COLUMNS = {"train": "train", "validation": "dev", "test": "test", "ood": "OOD"}
DOMAINS = {"books": "Books", "imdb": "IMDB", "reddit": "Reddit"}

FIGURES = {
    "documents": "documents",
    "NPs": "noun phrases",
    "coreference clusters": "clusters of more than one",
    "NP-links": "links",
    "coref-links": "links, once a cluster",
    "title links": "links to the title",
    "symmetric": "symmetric links",
    "transitive": "transitive links",
    "intersentential": "links between sentences",
    "anaphores": "links to what stands before",
    "surface form": "% of links in surface form",
    "surface form+": "% of links in extended surface form",
}
TOKENS_OF = ("Books",)
DISTANCE_OF = ("train", "dev", "test", "Books")
"""The columns whose printed distances come from the tokens of the file."""

BASELINES = {
    "Title-First": "title-first",
    "Title-Last": "title-last",
    "Adj-Anaphora": "adj-anaphora",
    "Adj-Cataphora": "adj-cataphora",
    "Surface": "surface",
    "Surface-Extended": "surface-extended",
    "Combined": "combined",
}
DESCRIBED = ("Surface", "Surface-Extended", "Combined")
SCORES = ("precision", "recall", "F1")


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2 from the splits at hand, with a column for each out-of-domain domain."""
    records = _read_columns(inputs)
    for domain, column in DOMAINS.items():
        records[column] = [record for record in records.get("OOD", ()) if record.get("domain") == domain]
    return {cell: value for column, texts in records.items() if texts for cell, value in _list_figures(column, texts)}


def _list_figures(column: str, records: Sequence[Record]) -> Iterator[tuple[tuple[str, str], float]]:
    found = facts(records)
    rows = dict(FIGURES)
    if column in TOKENS_OF:
        rows["tokens"] = "tokens"
    if column in DISTANCE_OF:
        rows["distance"] = "mean distance in tokens"
    for row, name in rows.items():
        if name in found:  # without links there are only sizes
            yield (row, column), found[name]


def figure_4(inputs: Inputs) -> Recomputed:
    """Recompute Figure 4 from the splits at hand: the percentage of links with each preposition."""
    cells = {}
    for column, records in _read_columns(inputs).items():
        found = facts(records)
        for name in PREPOSITIONS[1:] if "links" in found else ():
            cells[name, column] = 100 * float(ratio(found[f"links: {name}"], found["links"]))
    return cells


def _read_columns(inputs: Inputs) -> dict[str, Sequence[Record]]:
    """Read the documents of every split at hand, by the name of its column."""
    corpus = load_corpus("tne")
    # If there is no file at all, the attempt to read one reports what is missing.
    here = splits_at_hand(corpus, "default", inputs.data_dir) or corpus.configs["default"].splits
    return {COLUMNS[split]: _read_records(split, inputs) for split in here}


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 3 that need no model, on the test split."""
    gold = documents_of(_read_records("test", inputs))
    baselines = load_baselines("tne")
    cells = _to_cells("Title-Random", *_score_random_title(gold))
    for row, name in BASELINES.items():
        cells.update(_to_cells(row, *_score_links(gold, baselines[name].predict(gold))))
    for row in DESCRIBED:
        cells.update(
            _to_cells(
                f"{row}, as described",
                *_score_links(gold, baselines[BASELINES[row]].predict(gold, definition="described")),
            )
        )
    cells.update(_to_cells("every ordered pair", *_score_links(gold, baselines["all-pairs"].predict(gold))))
    return cells


def _score_links(gold: Documents, system: Sequence[Record]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a baseline's links, ignoring prepositions."""
    table = PROCEDURE.count(gold=gold, system=system)
    totals = table.values.sum(axis=0)
    score = {metric.name: float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics}
    return score["unlabeled/precision"], score["unlabeled/recall"], score["unlabeled/f1"]


def _score_random_title(gold: Documents) -> tuple[float, float, float]:
    """Return the mean scores over all ways to draw one noun phrase from each title.

    Every draw links equally many pairs, so the mean score is the score of the mean number of correct links.  0/0 is 0.
    """
    phrases, pair = gold.noun_phrases, gold.links.labelled.pair
    document = document_of(pair)
    _, complement = phrases_of(pair)
    to_title = gold.in_title[phrases.starts[document] + complement]
    hits = np.bincount(document[to_title], minlength=len(gold))
    choices = np.bincount(phrases.document[gold.in_title], minlength=len(gold))
    titled = choices > 0
    right = ratio(hits[titled], choices[titled]).sum()
    precision, recall = ratio(right, (gold.sizes[titled] - 1).sum()), ratio(right, len(pair))
    f1 = harmonic_mean(precision, recall)
    return float(np.nan_to_num(precision)), float(np.nan_to_num(recall)), float(np.nan_to_num(f1))


def _to_cells(name: str, *scores: float) -> dict[tuple[str, str], float]:
    return {(name, column): 100 * score for column, score in zip(SCORES, scores, strict=True)}


def _read_records(split: str, inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus("tne"), "default", split, inputs.data_dir).records


RECOMPUTE: Mapping[str, Recompute] = {"Table 2": table_2, "Figure 4": figure_4, "Table 3": table_3}
