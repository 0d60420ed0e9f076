"""Published figures of TimeLine, recomputed from the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from closeread.corpora.gold import available_splits, load_corpus, read_gold
from closeread.corpora.reproduction import Inputs, Recompute, Recomputed
from closeread.records import Record
from closeread.tasks.timeline.facts import facts, text_facts

COLUMNS = {
    "trial": "trial",
    "corpus_1": "corpus 1",
    "corpus_2": "corpus 2",
    "corpus_3": "corpus 3",
    "evaluation": "evaluation",
}
EVALUATION = ("corpus 1", "corpus 2", "corpus 3")

FIGURES = {
    "target entities": "target entities",
    "timelines evaluated": "timelines evaluated",
    "event instances": "lines",
    "event mentions": "mentions",
    "event mentions at position 0": "mentions at position 0",
    "coreferring event instances": "coreference lines",
    "documents a timeline": "documents a timeline",
}
TEXT_FIGURES = {
    "documents": "documents",
    "sentences": "sentences",
    "tokens": "tokens",
    "event mentions of track B": "track B event mentions",
}


def table_1(inputs: Inputs) -> Recomputed:
    """Compute the sizes of the available splits, and of all evaluation corpora together if all are available."""
    cells = {}
    for config, rows, count in (("default", FIGURES, facts), ("documents", TEXT_FIGURES, text_facts)):
        for column, records in _read_by_column(config, inputs).items():
            found = count(records)
            cells.update({(row, column): found[name] for row, name in rows.items()})
    return cells


def text(inputs: Inputs) -> Recomputed:
    """Count the tokens of every available evaluation corpus."""
    by_column = _read_by_column("documents", inputs)
    return {("tokens", column): text_facts(by_column[column])["tokens"] for column in EVALUATION if column in by_column}


def tables_2_and_3(inputs: Inputs) -> Recomputed:
    """Return nothing, since no runs were published."""
    del inputs
    return {}


def _read_by_column(config: str, inputs: Inputs) -> dict[str, Sequence[Record]]:
    """Read the records of every available split, by column."""
    corpus = load_corpus("semeval2015_timeline")
    # If none is available, trying to read all of them reports what is missing.
    here = available_splits(corpus, config, inputs.data_dir) or corpus.configs[config].splits
    return {COLUMNS[split]: read_gold(corpus, config, split, inputs.data_dir).records for split in here}


RECOMPUTE: Mapping[str, Recompute] = {"Table 1": table_1, "Text": text, "Tables 2 and 3": tables_2_and_3}
