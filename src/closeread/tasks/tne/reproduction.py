"""TNE's tables, figures and figures of the running text, recomputed from the release, and from runs of one's own.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint).

Conventions: a statistic has its name in `closeread.tasks.tne.records`, or is `LINKED`.  Where only the unlabelled file
of a split is at hand, its sizes are known.  Scores are times 100; those of several runs of a row are means.  A coupled
run stands in the row of its kind of encoder.  So does a decoupled one, decoded as the printed rows were: with every
pair linked.  Its scores with the links that its head for links finds are in a row of their own.

Identities are what the printed figures of Tables 3 and 5 tell of each other.  A system that decides by one label of
every pair (Coupled) has as precision and recall those of its links times IPrep.  The printed Decoupled rows are those
of a system that links every pair by its preposition head: its recall is the accuracy of prepositions over all gold
pairs, linked or not, and its precision follows from the number of pairs.  An identity holds if figures that round to
the printed ones fulfil it.  It is not itself printed; the figures that it connects are counted in Tables 3 and 5.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from closeread.arrays import Ints, Mask, ratio
from closeread.corpus.baselines import load_baselines
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed, load_printed
from closeread.counts.printed_tables import AGREES, Chance, Claim, OwnModel, Value, give_verdict, parse_number
from closeread.exceptions import quote
from closeread.formats.json_lines import read_json
from closeread.neural.run_files import ENCODER, find_complete_runs
from closeread.records import Record
from closeread.tasks.tne.baselines import every_pair, link_pairs
from closeread.tasks.tne.columns import (
    LABELS,
    PREPOSITIONS,
    TITLE_END,
    Documents,
    documents_of,
    find_titled,
    list_phrases,
)
from closeread.tasks.tne.kernels.links import split_triplets
from closeread.tasks.tne.procedure import PROCEDURE
from closeread.tasks.tne.records import MEANS, OTHER, SMALLEST, measure

LABELLED, UNLABELLED = "default", "unlabeled"
IN_DOMAIN = {"train": "train", "dev": "validation", "test": "test"}
DOMAINS = {"Books": "books", "IMDB": "imdb", "Reddit": "reddit"}
OUT_OF_DOMAIN, ALL = "OOD-all", "all"
"""The columns of Table 2: the first three are splits, the next three parts of the split ood."""

SIZES = ("documents", "tokens", "noun phrases", "clusters of more than one")
LINKED = "documents with links"
WEIGHTS = dict(zip(MEANS, ("links", LINKED, LINKED), strict=True))  # what the means are taken over

Statistics = Mapping[str, float]
Share = tuple[str, str | None, int]  # a statistic, the one that it is divided by, if any, and a factor

Cells = dict[tuple[str, str], Value]


def _divide(found: Statistics, share: Share) -> float:
    statistic, whole, factor = share
    return factor * (found[statistic] if whole is None else float(ratio(found[statistic], found[whole])))


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
    """Measure what is at hand, by the columns of Table 2."""
    return inputs.once("statistics", lambda: _measure_columns(inputs))


def _measure_columns(inputs: Inputs) -> Mapping[str, Statistics]:
    read = {column: read_split(inputs, split) for column, split in IN_DOMAIN.items()}
    columns = {column: measure_part(documents) for column, documents in read.items() if documents is not None}
    news = list(columns.values())
    parts: dict[str | None, list[Record]] = defaultdict(list)
    if (documents := read_split(inputs, "ood")) is not None:
        for record, domain in zip(documents, documents.column("domain"), strict=True):
            parts[domain].append(record)
    others = {domain: measure_part(of_domain) for domain, of_domain in parts.items()}
    columns |= {column: others[domain] for column, domain in DOMAINS.items() if domain in others}
    if others:
        columns[OUT_OF_DOMAIN] = unite(list(others.values()))
        if len(news) == len(IN_DOMAIN):
            columns[ALL] = unite([*news, *others.values()])
    return columns


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


def score_baselines(inputs: Inputs, documents: Documents) -> Mapping[tuple[str, str], float]:
    """Return the scores of the deterministic baselines, by row and column of Table 3."""
    return inputs.once("baselines", lambda: _score_baselines(documents))


def _score_baselines(documents: Documents) -> dict[tuple[str, str], float]:
    baselines = load_baselines("tne")
    rows = {row: baselines[name].predict(documents) for row, name in BASELINES.items()}
    for row, name in DESCRIBED.items():
        rows[name] = baselines[BASELINES[row]].predict(documents, definition="described")
    rows[EVERY_PAIR] = baselines["all-pairs"].predict(documents)
    cells: dict[tuple[str, str], float] = {}
    for row, system in rows.items():
        scores = PROCEDURE.count(gold=documents, system=system).scores(PROCEDURE.metrics)
        cells |= {(row, column): 100 * (scores[f"unlabeled/{column.lower()}"] or 0.0) for column in SCORES}
    return cells


def score_random_title(gold: Documents) -> tuple[Chance, Chance, Chance]:
    """Return precision, recall and F1 over all ways to draw one noun phrase from each title.

    Every draw links equally many pairs, so each score is the number of correct links divided by a constant.  That
    number is a sum over documents, which are drawn independently.  0/0 is 0.
    """
    means, squares = [], []
    n_linked = n_gold = 0
    for record in gold.records:
        pairs = {(link["anchor"], link["complement"]) for link in record["np_relations"]}
        n_linking, phrases = Counter(complement for _, complement in pairs), list_phrases(record)
        hits = np.array([n_linking[phrases[number]["id"]] for number in find_titled(record, phrases)])
        n_gold += len(pairs)
        if len(hits):
            means.append(hits.mean())
            squares.append((hits**2).mean())
            n_linked += len(phrases) - 1
    right, deviation = np.sum(means), np.sqrt(np.sum(np.array(squares) - np.square(means)))
    precision, recall, f1 = (
        Chance(*(100 * float(np.nan_to_num(ratio(part, whole))) for part in (right, deviation)))
        for whole in (n_linked, n_gold, (n_linked + n_gold) / 2)
    )
    return precision, recall, f1


COUPLED, DECOUPLED = "Coupled", "Decoupled"
PRECISION, RECALL = "Precision", "Recall"

Figures = Mapping[str, Decimal]  # the figures of a system by column, of Table 3 and Table 5

Formula = Callable[..., Decimal]


def multiply(links: Decimal, iprep: Decimal) -> Decimal:
    """Return the precision or recall of labelled links from that of links and the accuracy of their prepositions."""
    return links * iprep / 100


def link_everything(recall: Decimal, iprep: Decimal, uprep: Decimal) -> Decimal:
    """Return the recall of a system that labels every pair.

    >>> link_everything(Decimal(20), Decimal(75), Decimal(50))
    Decimal('55')
    """
    return (recall * iprep + (100 - recall) * uprep) / 100


def identities(inputs: Inputs) -> Recomputed:
    """Check Table 3's precision and recall of the neural models against Table 5."""
    tables = {table["name"]: table["rows"] for table in load_printed("tne")["tables"]}
    documents, cells = read_test(inputs), dict[tuple[str, str], Claim]()
    for row, of_links in tables["Table 5"].items():
        printed = tables["Table 3"][row] | of_links
        figures = {name: number for name, text in printed.items() if (number := parse_number(text)) is not None}
        if row.startswith(COUPLED):
            cells[row, PRECISION] = _check(figures, PRECISION, multiply, "Links-P", "IPrep-Acc")
            cells[row, RECALL] = _check(figures, RECALL, multiply, "Links-R", "IPrep-Acc")
        elif row.startswith(DECOUPLED):
            cells[row, RECALL] = _check(figures, RECALL, link_everything, "Links-R", "IPrep-Acc", "UPrep-Acc")
            if documents is not None:  # the percentage of ordered pairs that gold links
                n_pairs = int((documents.sizes * (documents.sizes - 1)).sum())
                figures["share"] = Decimal(repr(100 * float(ratio(len(documents.links.labelled.pair), n_pairs))))
                cells[row, PRECISION] = _check(figures, PRECISION, multiply, RECALL, "share")
    return cells


def _check(figures: Figures, column: str, formula: Formula, *names: str) -> Claim:
    """Compare a printed figure with a formula of other printed figures, all within rounding."""
    values = [figures[name] for name in names]
    bounds = [formula(*corner) for corner in product(*(_bound(value) for value in values))]
    low, high = _bound(figures[column])
    told = f"{formula(*values):.2f} from Table 5, {figures[column]} in Table 3"
    return Claim(told, min(bounds) <= high and low <= max(bounds))


def _bound(value: Decimal) -> tuple[Decimal, Decimal]:
    """Return the lowest and the highest number that rounds to a printed one."""
    half = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return value - half, value + half


LINKS = {"Precision": "links/precision", "Recall": "links/recall", "F1": "links/f1"}
"""The columns of Table 3, and our names of the scores."""

PREPOSITION_SCORES = {
    "Links-P": "unlabeled/precision",
    "Links-R": "unlabeled/recall",
    "Links-F1": "unlabeled/f1",
    "IPrep-Acc": "iprep",
    "UPrep-Acc": "uprep",
}
"""The columns of Table 5."""

AS_TRAINED = "{row}, links first"  # the row of a decoupled model with the links that its head for links finds

LARGE = 24  # the layers of a large encoder

Scores = Mapping[str, Mapping[str, Value]]
"""The scores of a row by way to decode and by name; without those that are undefined for one of its runs."""


def _score_runs(inputs: Inputs, table: str) -> Mapping[str, Scores]:
    """Return the scores of each row that has a run, and remark on the table which run that is."""
    if inputs.runs is None:
        return {}
    folder = inputs.runs
    rows, remark = inputs.once("runs", lambda: _predict_rows(inputs, folder))
    inputs.remarks[table] = remark
    return rows


def _predict_rows(inputs: Inputs, folder: Path) -> tuple[Mapping[str, Scores], str]:
    from closeread.tasks.tne.models import TASK, score_decodings

    documents = read_test(inputs)
    if documents is None:
        return {}, ""
    scores, names = defaultdict(list), defaultdict(list)
    for run, described in find_complete_runs(folder, TASK).items():
        row = name_row(run, described["model"])
        scores[row].append(score_decodings(documents, run))
        encoder = quote(str(described["model"]["name"]), 80)
        names[row].append(f"{run.relative_to(folder) if run != folder else run.name} with {encoder}")
    parts = "; ".join(f"{row} of {', '.join(found)}" for row, found in names.items())
    return {row: _average(found) for row, found in scores.items()}, f"Runs here: {parts}"


def _average(runs: Sequence[Mapping[str, Mapping[str, float | None]]]) -> Scores:
    means: dict[str, dict[str, Value]] = {}
    for decoding, names in runs[0].items():
        for name in names:
            values = [value for run in runs if (value := run[decoding][name]) is not None]
            if len(values) == len(runs):
                means.setdefault(decoding, {})[name] = OwnModel(100 * float(np.mean(values)))
    return means


def name_row(run: Path, model: Mapping[str, Any]) -> str:
    """Return the row of a run in Tables 3 and 5."""
    variant = str(model["variant"]).capitalize()
    if model["kind"] == "static":
        return f"{variant}-static"
    config = read_json(run / ENCODER / "config.json")
    layers = config.get("num_hidden_layers") if isinstance(config, dict) else None
    size = "large" if isinstance(layers, int) and layers >= LARGE else "base"
    return f"{variant}-frozen-{size}" if model["kind"] == "frozen" else f"{variant}-{size}"


_FORMS = (
    "i you he she it we they",
    "me him her us them",
    "myself yourself himself herself itself",
    "ourselves yourselves themselves",
)
PRONOUNS = frozenset(" ".join(_FORMS).split())  # personal and reflexive pronouns

GROUPS = (("Title-First", "Title-Last"), ("Adj-Anaphora", "Adj-Cataphora"), ("Surface", "Surface-Extended"))
"""The baselines of each kind; Combined unites the best of every kind.  Title-Random differs from draw to draw."""

LEAST_PHRASES, MOST_PHRASES = 25, 50  # the noun phrases of an article that was kept (section 5.1)

OF_ALL_READINGS = "of for every pair"
OF_ALL = "accuracy of prepositions when of is said of every pair, percent"

AVERAGED: Mapping[tuple[str, str], Share] = {
    ("NPs a document", "1"): ("noun phrases", "documents", 1),
    ("links a document", "1"): ("links", "documents", 1),
    ("clusters of more than one NP a document", "6"): ("clusters of more than one", "documents", 1),
    ("symmetric links a document", "6"): ("symmetric links", "documents", 1),
    ("transitive relations a document", "6"): ("transitive links", "documents", 1),
    ("anaphoric links, percent", "6"): ("links to what stands before", "links", 100),
    ("intersentential links, percent", "6, footnote 16"): ("links between sentences", "links", 100),
    ("mean distance in tokens", "6"): ("mean distance in tokens", None, 1),
    ("surface form, percent", "6"): ("% of links in surface form", None, 1),
    ("surface form+, percent", "6"): ("% of links in extended surface form", None, 1),
}


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text."""
    columns = measure_columns(inputs)
    cells: Cells = {**count_documents(columns), **_describe_news(inputs), **_describe_annotation(inputs)}
    if ALL in columns:
        cells |= average_whole(columns[ALL])
    if (documents := read_test(inputs)) is not None and len(documents.links):
        cells |= describe_test(documents) | score_text_without_models(inputs, documents)
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
    used = {int(label) for documents in read_labelled(inputs) for label in np.unique(documents.links.label)}
    cells: Cells = {}
    if used:
        cells["prepositions, beside member(s) of", "4"] = len(used - {LABELS["member(s) of"]})
    read = [documents for split in list_splits(inputs) if (documents := read_split(inputs, split)) is not None]
    told = [(about or {}).get("annotators") or {} for documents in read for about in documents.column("metadata")]
    workers = [len(ids) for about in told if (ids := about.get("np-relations_worker")) is not None]
    if workers:
        cells["annotators of links a document", "5.2"] = float(ratio(sum(workers), len(workers)))
    return cells


def average_whole(whole: Statistics) -> Cells:
    """Average over all documents or links of the release."""
    cells: Cells = {place: _divide(whole, share) for place, share in AVERAGED.items() if share[0] in whole}
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
        f"{OF_ALL_READINGS}: any preposition of a pair": (split_triplets(links.triplet)[1], n_pairs),
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
    cells["ordered pairs of k NPs", "2"] = Claim(
        found, sum(len(row["relations"]) for row in link_pairs(every_pair, documents)) == n_ordered
    )
    return cells


def _percent(mask: Mask, total: int) -> float:
    return 100 * float(ratio(mask.sum(), total))


def score_text_without_models(inputs: Inputs, documents: Documents) -> Cells:
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


TABLE_2: Mapping[str, Share] = {
    "Documents": ("documents", None, 1),
    "Tokens": ("tokens", None, 1),
    "NPs": ("noun phrases", None, 1),
    "Coref-Clusters": ("clusters of more than one", None, 1),
    "NP-Links": ("links", None, 1),
    "Coref-Links": ("links, once a cluster", None, 1),
    "Avg. Distance": ("mean distance in tokens", None, 1),
    "% Surface-Form": ("% of links in surface form", None, 1),
    "% Surface-Form+": ("% of links in extended surface form", None, 1),
    "Avg. Transitive": ("transitive links", "documents", 1),
    "Avg. Title Links": ("links to the title", "documents", 1),
    "Avg. Symmetric Links": ("symmetric links", "documents", 1),
    "% Anaphores": ("links to what stands before", "links", 100),
    "% Intersentential": ("links between sentences", "links", 100),
}

SHOWN = ("of", "in", "from", "for", "near", "at", "by", "member(s) of", "about")  # the prepositions of Figure 4


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2, as far as the splits are at hand."""
    return {
        (row, column): _divide(found, share)
        for column, found in measure_columns(inputs).items()
        for row, share in TABLE_2.items()
        if share[0] in found
    }


def figure_4(inputs: Inputs) -> Recomputed:
    """Recompute Figure 4: the percentage of links with each preposition, those under `SMALLEST` together."""
    found = measure_columns(inputs).get("test", {})
    if not found.get("links"):
        return {}
    shares = {name: 100 * float(ratio(found[f"links: {name}"], found["links"])) for name in PREPOSITIONS[1:]}
    other = sum(share for share in shares.values() if share < SMALLEST)
    return {(name, "test"): share for name, share in ({name: shares[name] for name in SHOWN} | {OTHER: other}).items()}


def table_6(inputs: Inputs) -> Recomputed:
    """Count what Table 6 says is allowed in TNE: anchors and links of test that show it."""
    documents = read_test(inputs)
    if documents is None or not len(documents.links):
        return {}
    is_old, is_later, is_indefinite, is_several = [], [], [], []
    for record in documents.records:
        phrases = {phrase["id"]: phrase for phrase in record["nps"]}
        cluster = {name: one["id"] for one in record["coref"] for name in one["members"]}
        begin = {name: phrase["first_token"] for name, phrase in phrases.items()}
        links = [(link["anchor"], link["complement"]) for link in record["np_relations"]]
        is_later += [begin[complement] > begin[anchor] for anchor, complement in links]
        first = {one["id"]: min(begin[name] for name in one["members"]) for one in record["coref"]}
        for anchor in dict.fromkeys(anchor for anchor, _ in links):
            is_old.append(begin[anchor] > first[cluster[anchor]])
            is_indefinite.append(phrases[anchor]["text"].lower().startswith(("a ", "an ")))
            is_several.append(len({cluster[complement] for one, complement in links if one == anchor}) > 1)
    counts = {
        "anchor may be discourse-old": ("anchors have an earlier mention", is_old),
        "cataphoric links allowed": ("links have a later complement", is_later),
        "anchor has to be definite": ("anchors begin with a or an", is_indefinite),
        "several complements allowed": ("anchors have complements of several clusters", is_several),
    }
    surface = measure_columns(inputs)["test"]["% of links in surface form"]
    cells: Cells = {
        (row, "TNE"): Claim(f"{sum(mask):,} of {len(mask):,} {what}", any(mask)) for row, (what, mask) in counts.items()
    }
    cells["relations have to be implicit", "TNE"] = Claim(f"{surface:.1f} % of links are in surface form", surface > 0)
    return cells


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 3 that need no model, on the test split, and those of the runs that are at hand."""
    cells: Cells = {}
    if (documents := read_test(inputs)) is not None:
        cells |= score_baselines(inputs, documents)
        cells |= {
            ("Title-Random", column): score for column, score in zip(SCORES, score_random_title(documents), strict=True)
        }
    for row, scores in _score_runs(inputs, "Table 3").items():
        decodings = {row: "links"}
        if row.startswith(DECOUPLED):
            decodings = {row: "printed", AS_TRAINED.format(row=row): "links"}
        for name, decoding in decodings.items():
            cells |= _make_cells(name, LINKS, scores[decoding])
    return cells


def table_5(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 5 of the runs that are at hand, of the links that a model finds, as in print."""
    cells: Cells = {}
    for row, scores in _score_runs(inputs, "Table 5").items():
        cells |= _make_cells(row, PREPOSITION_SCORES, scores["links"])
    return cells


def _make_cells(row: str, columns: Mapping[str, str], scores: Mapping[str, Value]) -> Cells:
    return {(row, column): scores[name] for column, name in columns.items() if name in scores}


TAKES = ("runs",)

RECOMPUTE: Mapping[str, Recompute] = {
    "Table 2": table_2,
    "Table 3": table_3,
    "Table 5": table_5,
    "Identities": identities,
    "Table 6": table_6,
    "Figure 4": figure_4,
    "Text": text,
}
