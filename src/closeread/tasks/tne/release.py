"""The files of TNE's release at hand, and their statistics by the columns of Table 2.

Conventions: a statistic has its name in `closeread.tasks.tne.records`, or is `LINKED`.  Where only the unlabelled file
of a split is at hand, its sizes are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from closeread.arrays import ratio
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs
from closeread.records import Record
from closeread.tasks.tne.columns import Documents, documents_of
from closeread.tasks.tne.records import MEANS, measure

LABELLED, UNLABELLED = "default", "unlabeled"
IN_DOMAIN = {"train": "train", "dev": "validation", "test": "test"}
DOMAINS = {"Books": "books", "IMDB": "imdb", "Reddit": "reddit"}
OUT_OF_DOMAIN, ALL = "OOD-all", "all"
"""The columns of Table 2: the first three are splits, the next three parts of the split ood."""

SIZES = ("documents", "tokens", "noun phrases", "clusters of more than one")
LINKED = "documents with links"
WEIGHTS = dict(zip(MEANS, ("links", LINKED, LINKED), strict=True))
"""What the means are taken over."""

Statistics = Mapping[str, float]


def list_splits(inputs: Inputs) -> dict[str, str]:
    """Return the config that each split at hand is read from: the labelled one, if it is there."""
    corpus = load_corpus("tne")
    here = {
        split: config
        for config in (UNLABELLED, LABELLED)
        for split in splits_at_hand(corpus, config, inputs.data_dir)
        if split in corpus.configs[LABELLED].splits
    }
    # If there is no file at all, the attempt to read one reports what is missing.
    return here or dict.fromkeys(corpus.configs[LABELLED].splits, LABELLED)


def read_split(inputs: Inputs, split: str) -> Documents | None:
    """Read a split, labelled or not; None if it is not at hand."""
    config = list_splits(inputs).get(split)
    if config is None:
        return None
    gold = inputs.once(f"split {split}", lambda: read_gold(load_corpus("tne"), config, split, inputs.data_dir))
    return documents_of(gold.records)


def read_labelled(inputs: Inputs, *splits: str) -> list[Documents]:
    """Read those of some splits whose labelled files are at hand; all of them by default."""
    here = list_splits(inputs)
    found = [read_split(inputs, split) for split in splits or here if here.get(split) == LABELLED]
    return [documents for documents in found if documents is not None]


def read_test(inputs: Inputs) -> Documents | None:
    """Read the labelled test split; None if it is not at hand."""
    return next(iter(read_labelled(inputs, "test")), None)


def measure_columns(inputs: Inputs) -> Mapping[str, Statistics]:
    """Measure what is at hand, by the columns of Table 2.

    Returns:
        The columns whose files are at hand.  Those without links, or with links withheld, have only sizes.
    """
    return inputs.once("statistics", lambda: _measure_columns(inputs))


def _measure_columns(inputs: Inputs) -> Mapping[str, Statistics]:
    columns = {}
    for column, split in IN_DOMAIN.items():
        if (documents := read_split(inputs, split)) is not None:
            columns[column] = measure_part(documents)
    news = [columns[column] for column in IN_DOMAIN if column in columns]
    others = _measure_domains(inputs)
    columns |= {column: others[domain] for column, domain in DOMAINS.items() if domain in others}
    if others:
        columns[OUT_OF_DOMAIN] = unite(list(others.values()))
    if others and len(news) == len(IN_DOMAIN):
        columns[ALL] = unite([*news, *others.values()])
    return columns


def _measure_domains(inputs: Inputs) -> dict[str | None, Statistics]:
    """Measure the texts of the split ood, by domain; none if it is not at hand."""
    parts: dict[str | None, list[Record]] = {}
    documents = read_split(inputs, "ood")
    if documents is not None:
        for record, domain in zip(documents, documents.column("domain"), strict=True):
            parts.setdefault(domain, []).append(record)
    return {domain: measure_part(of_domain) for domain, of_domain in parts.items()}


def measure_part(records: Sequence[Record]) -> Statistics:
    """Measure documents; means over nothing are left out, and everything about links if links are withheld."""
    found = measure(records)
    links = documents_of(records).column("np_relations")
    if None in links:
        return found
    return {"links": 0, **found, LINKED: sum(map(bool, links))}


def unite(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of several parts together: sums, and means weighted by what they are taken over.

    >>> unite([{"documents": 2, "links": 1, MEANS[0]: 8.0}, {"documents": 3, "links": 3, MEANS[0]: 4.0}])
    {'documents': 5, 'links': 4, 'mean distance in tokens': 5.0}
    """
    names = list(dict.fromkeys(name for part in parts for name in part))
    if not all("links" in part for part in parts):
        names = [name for name in names if name in SIZES]
    united = {}
    for name in names:
        having = [part for part in parts if name in part]
        if name in WEIGHTS:
            total = sum(part[name] * part[WEIGHTS[name]] for part in having)
            united[name] = float(ratio(total, sum(part[WEIGHTS[name]] for part in having)))
        else:
            united[name] = sum(part[name] for part in having)
    return united
