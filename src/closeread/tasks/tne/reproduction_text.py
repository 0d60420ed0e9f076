"""The figures of the running text of TNE's paper, recomputed from the release.

Conventions: a function returns the figures of its sections by row and section, as far as the files at hand tell them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from closeread.arrays import Ints, Mask, ratio
from closeread.corpus.reproduction import Inputs, Recomputed, load_printed
from closeread.counts.printed_tables import AGREES, Claim, Value, give_verdict
from closeread.tasks.tne.baselines import every_pair
from closeread.tasks.tne.columns import LABELS, TITLE_END, Documents
from closeread.tasks.tne.kernels.links import LABEL_BITS
from closeread.tasks.tne.release import (
    ALL,
    DOMAINS,
    IN_DOMAIN,
    OUT_OF_DOMAIN,
    Statistics,
    list_splits,
    measure_columns,
    read_labelled,
    read_split,
    read_test,
    unite,
)
from closeread.tasks.tne.reproduction_baselines import DESCRIBED, score_baselines

Cells = dict[tuple[str, str], Value]

_FORMS = (
    "i you he she it we they",
    "me him her us them",
    "myself yourself himself herself itself",
    "ourselves yourselves themselves",
)
PRONOUNS = frozenset(chain.from_iterable(map(str.split, _FORMS)))
"""Personal and reflexive pronouns."""

GROUPS = (("Title-First", "Title-Last"), ("Adj-Anaphora", "Adj-Cataphora"), ("Surface", "Surface-Extended"))
"""The baselines of each kind; Combined unites the best of every kind.  Title-Random differs from draw to draw."""

LEAST_PHRASES, MOST_PHRASES = 25, 50
"""The noun phrases of an article that was kept (section 5.1)."""

OF_ALL_READINGS = "of for every pair"
OF_ALL = "accuracy of prepositions when of is said of every pair, percent"

PER_DOCUMENT = {
    ("NPs a document", "1"): "noun phrases",
    ("links a document", "1"): "links",
    ("clusters of more than one NP a document", "6"): "clusters of more than one",
    ("symmetric links a document", "6"): "symmetric links",
    ("transitive relations a document", "6"): "transitive links",
}
PER_LINK = {
    ("anaphoric links, percent", "6"): "links to what stands before",
    ("intersentential links, percent", "6, footnote 16"): "links between sentences",
}
MEANS = {
    ("mean distance in tokens", "6"): "mean distance in tokens",
    ("surface form, percent", "6"): "% of links in surface form",
    ("surface form+, percent", "6"): "% of links in extended surface form",
}


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text."""
    columns = measure_columns(inputs)
    cells: Cells = {**count_documents(columns), **_describe_news(inputs), **_describe_annotation(inputs)}
    if ALL in columns:
        cells |= average_whole(columns[ALL])
    if (documents := read_test(inputs)) is not None and len(documents.links):
        cells |= describe_test(documents) | score_without_models(inputs, documents)
    return cells


def count_documents(columns: Mapping[str, Statistics]) -> Cells:
    """Count documents and noun phrases of the splits and domains at hand, by the columns of Table 2."""
    documents = {column: int(found["documents"]) for column, found in columns.items()}
    cells: Cells = {}
    if documents.keys() >= DOMAINS.keys():
        domains = _join(documents, "IMDB", "Books", "Reddit")
        cells["documents of IMDB / Gutenberg / Reddit", "5.1"] = domains
    if documents.keys() >= IN_DOMAIN.keys():
        news = unite([columns[column] for column in IN_DOMAIN])
        share = 100 * float(ratio(documents["test"], news["documents"]))
        annotators = f"{100 - share:.0f} / {share:.0f}"
        cells["documents with one / two annotators of coreference, percent", "5.2"] = annotators
        if "links" in news:
            cells["links a document, second figure", "1"] = float(ratio(news["links"], news["documents"]))
    if ALL in documents:
        n_news, n_others = documents[ALL] - documents[OUT_OF_DOMAIN], documents[OUT_OF_DOMAIN]
        holds = round(n_news, -3) == 5_000 and round(n_others, -2) == 500
        cells["documents of WikiNews / of other domains", "1"] = Claim(f"{n_news:,} / {n_others:,}", holds)
        splits = _join(documents, *IN_DOMAIN, OUT_OF_DOMAIN)
        cells["documents for training / development / test / out of domain", "4"] = splits
        cells["documents", "4"] = Claim(documents[ALL], round(documents[ALL], -2) == 5_500)
        cells["documents", "6"] = documents[ALL]
        n_phrases = int(columns[ALL]["noun phrases"])
        cells["NPs", "4"] = Claim(n_phrases, round(n_phrases, -4) == 200_000)
    return cells


def _join(counts: Mapping[str, int], *names: str) -> str:
    return " / ".join(f"{counts[name]:,}" for name in names)


def _describe_news(inputs: Inputs) -> Cells:
    """Describe the texts of the news splits at hand."""
    here = [documents for split in IN_DOMAIN.values() if (documents := read_split(inputs, split)) is not None]
    if not here:
        return {}
    paragraphs = Counter(_count_paragraphs(text) for documents in here for text in documents.column("text"))
    sizes = [_count_nouns(documents) for documents in here]
    typical = float(np.median(np.concatenate(sizes)))
    with_pronouns = np.concatenate([documents.sizes for documents in here])
    n_phrases, least, most = int(with_pronouns.sum()), int(with_pronouns.min()), int(with_pronouns.max())
    share = _percent((with_pronouns >= LEAST_PHRASES) & (with_pronouns <= MOST_PHRASES), len(with_pronouns))
    n_pronouns = n_phrases - sum(int(of_split.sum()) for of_split in sizes)
    return {
        ("NPs that count", "2"): Claim(f"{n_pronouns:,} of {n_phrases:,} are pronouns", n_pronouns == 0),
        ("NPs in the first three paragraphs of an article that was kept", "5.1"): Claim(
            f"{least} to {most}, {share:.1f} % of documents in this range",
            (least, most) == (LEAST_PHRASES, MOST_PHRASES),
        ),
        ("paragraphs taken of an article", "5.1"): paragraphs.most_common(1)[0][0],
        ("typical number of NPs", "5.2"): Claim(typical, 25 <= typical < 35),
    }


def _count_paragraphs(text: str) -> int:
    """Return the number of paragraphs, which are lines after title and subtitle, each followed by a blank line.

    >>> _count_paragraphs("Title\\n\\nMay 4 \\n\\nOne. \\nTwo. \\n")
    2
    """
    _, _, body = text.partition(TITLE_END)[2].partition(TITLE_END)
    return sum(not line.isspace() for line in body.splitlines())


def _count_nouns(documents: Documents) -> Ints:
    """Return (n_documents,) the noun phrases of each that are not pronouns."""
    phrases = documents.noun_phrases
    is_noun = np.array([words.lower() not in PRONOUNS for words in phrases.text], np.bool_)
    return np.bincount(phrases.document[is_noun], minlength=len(documents))


def _describe_annotation(inputs: Inputs) -> Cells:
    """Describe prepositions and annotators of the splits at hand."""
    labelled = read_labelled(inputs)
    used = {int(label) for documents in labelled for label in np.unique(documents.links.label)}
    cells: Cells = {}
    if used:
        cells["prepositions, beside member(s) of", "4"] = len(used - {LABELS["member(s) of"]})
    read = [documents for split in list_splits(inputs) if (documents := read_split(inputs, split)) is not None]
    workers = list(_list_workers(read))
    if workers:
        cells["annotators of links a document", "5.2"] = float(ratio(sum(workers), len(workers)))
    return cells


def _list_workers(read: list[Documents]) -> Iterator[int]:
    """Yield the number of annotators of links of every document that tells it."""
    for documents in read:
        for about in documents.column("metadata"):
            workers = ((about or {}).get("annotators") or {}).get("np-relations_worker")
            if workers is not None:
                yield len(workers)


def average_whole(whole: Statistics) -> Cells:
    """Average over all documents or links of the release."""
    cells: Cells = {}
    for places, per, scale in ((PER_DOCUMENT, "documents", 1), (PER_LINK, "links", 100), (MEANS, None, 1)):
        for place, name in places.items():
            if name in whole:
                cells[place] = scale * float(ratio(whole[name], 1 if per is None else whole[per]))
    if "links" in whole:
        cells["links", "4"] = Claim(whole["links"], whole["links"] > 1_000_000)
    return cells


def describe_test(documents: Documents) -> Cells:
    """Describe the pairs of the test split and their prepositions."""
    links, labels = documents.links.labelled, documents.links.label
    n_pairs, n_ordered = len(links.pair), int((documents.sizes * (documents.sizes - 1)).sum())
    of = {
        OF_ALL: (links.last, n_pairs),
        f"{OF_ALL_READINGS}: the first preposition of a pair": (links.first, n_pairs),
        f"{OF_ALL_READINGS}: any preposition of a pair": (links.triplet & (2**LABEL_BITS - 1), n_pairs),
        f"{OF_ALL_READINGS}: share of links": (labels, len(labels)),
    }
    cells: Cells = {(row, "8.2"): _percent(label == LABELS["of"], n) for row, (label, n) in of.items()}
    for name in ("of", "in", "from", "for"):
        cells[f"share of {name}, percent", "6"] = _percent(labels == LABELS[name], len(labels))
    cells["share of into, the rarest, percent", "6"] = _percent(labels == LABELS["into"], len(labels))
    n_second = len(links.triplet) - n_pairs
    cells["two prepositions of one pair, percent of test", "5.2, footnote 13"] = 100 * float(
        ratio(n_second, len(labels))
    )
    found = f"{n_ordered:,} in test"
    cells["ordered pairs of k NPs", "2"] = Claim(found, len(every_pair(documents)) == n_ordered)
    return cells


def _percent(mask: Mask, total: int) -> float:
    return 100 * float(ratio(mask.sum(), total))


def score_without_models(inputs: Inputs, documents: Documents) -> Cells:
    """Return what the text says of the deterministic baselines."""
    scores = score_baselines(inputs, documents)
    f1 = {row: score for (row, column), score in scores.items() if column == "F1"}
    single = [f1[row] for group in GROUPS for row in group]
    best = ", ".join(max(group, key=lambda row: f1[row]) for group in GROUPS)
    described = f1[DESCRIBED["Surface-Extended"]]
    printed = next(table["rows"] for table in load_printed("tne")["tables"] if table["name"] == "Table 3")
    is_printed = give_verdict(printed["Surface-Extended"]["F1"], described) == AGREES
    return {
        ("F1 of the single baselines, lowest / highest", "7.1"): f"{min(single):.1f} / {max(single):.1f}",
        ("F1 of Combined", "7.1"): f1["Combined"],
        ("what Combined is made of", "7.1"): best,
        ("reach of Surface-Extended in tokens", "7"): Claim(f"F1 {described:.1f} up to 10", is_printed),
    }
