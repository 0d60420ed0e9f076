"""TNE's tables, figures and figures of the running text, recomputed from the release, and from runs of one's own.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint).

Conventions: a statistic has its name in `closeread.tasks.tne.records`.  Where only the unlabelled file of a split is at
hand, its sizes are known.  Scores are times 100; those of several runs of a row are means.  A coupled run stands in the
row of its kind of encoder.  So does a decoupled one, decoded as the printed rows were: with every pair linked.  Its
scores with the links that its head for links finds are in a row of their own.

Identities are what the printed figures of Tables 3 and 5 tell of each other.  A system that decides by one label of
every pair (Coupled) has as precision and recall those of its links times IPrep.  The printed Decoupled rows are those
of a system that links every pair by its preposition head: its recall is the accuracy of prepositions over all gold
pairs, linked or not, and its precision follows from the number of pairs.  An identity holds if figures that round to
the printed ones fulfil it.  It is not itself printed; the figures that it connects are counted in Tables 3 and 5.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import chain, permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from closeread.arrays import Mask, ratio
from closeread.corpus.baselines import load_baselines
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed, load_printed
from closeread.counts.printed_tables import (
    AGREES,
    Chance,
    Claim,
    OwnModel,
    Value,
    give_verdict,
    parse_number,
)
from closeread.exceptions import quote
from closeread.formats.json_lines import read_json
from closeread.neural.run_files import ENCODER, find_complete_runs
from closeread.records import Record
from closeread.tasks.tne.columns import (
    LABELS,
    PREPOSITIONS,
    TITLE_END,
    Documents,
    documents_of,
    find_clusters,
    find_titled,
    list_phrases,
    split_triplets,
)
from closeread.tasks.tne.procedure import PROCEDURE
from closeread.tasks.tne.records import (
    DISTANCE,
    EXTENDED,
    OTHER,
    SIZES,
    SMALLEST,
    SURFACE,
    count_record,
    summarize,
)

LABELED, UNLABELED = "default", "unlabeled"
IN_DOMAIN = {"train": "train", "dev": "validation", "test": "test"}
DOMAINS = {"Books": "books", "IMDB": "imdb", "Reddit": "reddit"}
OUT_OF_DOMAIN, ALL = "OOD-all", "all"
"""The columns of Table 2: the first three are splits, the next three parts of the split ood."""

Statistics = Mapping[str, float]
Cells = dict[tuple[str, str], Value]


def _percent(part: float, whole: float) -> float:
    return 100 * float(ratio(part, whole))


def list_splits(inputs: Inputs) -> dict[str, str]:
    """Return the config that each split at hand is read from: the labelled one, if it is there."""
    corpus = load_corpus("tne")
    splits = corpus.configs[LABELED].splits
    here = {
        split: config
        for config in (UNLABELED, LABELED)
        for split in splits_at_hand(corpus, config, inputs.data_dir)
        if split in splits
    }
    # If there is no file at all, the attempt to read one reports what is missing.
    return here or dict.fromkeys(splits, LABELED)


def read_split(inputs: Inputs, split: str, *configs: str) -> Documents | None:
    """Read a split, from any config by default; None if it is not at hand."""
    config = list_splits(inputs).get(split)
    if config is None or config not in (configs or (LABELED, UNLABELED)):
        return None
    gold = inputs.once(
        f"split {split}", lambda: read_gold(load_corpus("tne"), config, split, inputs.data_dir)
    )
    return documents_of(gold.records)


def measure_columns(inputs: Inputs) -> Mapping[str, Statistics]:
    """Measure what is at hand, by the columns of Table 2; only sizes where links are withheld."""

    def measure_all() -> dict[str, Statistics]:
        read = {column: read_split(inputs, split) for column, split in IN_DOMAIN.items()}
        parts: dict[str, list[Record]] = {
            column: documents for column, documents in read.items() if documents
        }
        news = list(parts.values())
        others: list[Record] = read_split(inputs, "ood") or []
        for column, domain in DOMAINS.items():
            parts[column] = [record for record in others if record.get("domain") == domain]
        parts[OUT_OF_DOMAIN] = others
        parts[ALL] = [*chain(*news), *others] if others and len(news) == len(IN_DOMAIN) else []
        counted = {id(record): count_record(record) for record in chain(*news, others)}
        found: dict[str, Statistics] = {}
        for column, records in parts.items():
            if records:
                found[column] = {
                    "links": 0,
                    **summarize([counted[id(record)] for record in records]),
                }
                if any(record.get("np_relations") is None for record in records):
                    found[column] = {name: found[column][name] for name in SIZES}
        return found

    return inputs.once("statistics", measure_all)


BASELINES = (
    *("Title-First", "Title-Last", "Adj-Anaphora", "Adj-Cataphora"),
    *("Surface", "Surface-Extended", "Combined"),
)
SCORES = ("Precision", "Recall", "F1")


def score_baselines(inputs: Inputs, documents: Documents) -> dict[tuple[str, str], float]:
    """Return the scores of the deterministic baselines, by row and column of Table 3."""

    def score_all() -> dict[tuple[str, str], float]:
        baselines = load_baselines("tne")
        rows = {row: baselines[row.lower()].predict(documents) for row in BASELINES}
        for row in BASELINES[-3:]:
            rows[f"{row}, as described"] = baselines[row.lower()].predict(
                documents, definition="described"
            )
        rows["every ordered pair"] = baselines["all-pairs"].predict(documents)
        cells: dict[tuple[str, str], float] = {}
        for row, system in rows.items():
            scores = PROCEDURE.count(gold=documents, system=system).scores(PROCEDURE.metrics)
            cells |= {
                (row, column): 100 * (scores[f"unlabeled/{column.lower()}"] or 0.0)
                for column in SCORES
            }
        return cells

    return inputs.once("baselines", score_all)


def score_random_title(gold: Documents) -> tuple[Chance, ...]:
    """Return precision, recall and F1 over all ways to draw one noun phrase from each title.

    Every draw links equally many pairs, so each score is the number of correct links divided by a constant.  That
    number is a sum over documents, which are drawn independently.  0/0 is 0.
    """
    mean = variance = 0.0
    n_linked = n_gold = 0
    for record in gold:
        pairs = {(link["anchor"], link["complement"]) for link in record["np_relations"]}
        n_linking, phrases = Counter(complement for _, complement in pairs), list_phrases(record)
        n_gold += len(pairs)
        if titled := find_titled(record, phrases):
            hits = np.array([n_linking[f"np{number}"] for number in titled])
            mean, variance = mean + hits.mean(), variance + hits.var()
            n_linked += len(phrases) - 1
    return tuple(
        Chance(
            *(100 * float(np.nan_to_num(ratio(part, whole))) for part in (mean, np.sqrt(variance)))
        )
        for whole in (n_linked, n_gold, (n_linked + n_gold) / 2)
    )


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
    documents, cells = read_split(inputs, "test", LABELED), dict[tuple[str, str], Claim]()
    for row, of_links in tables["Table 5"].items():
        printed = tables["Table 3"][row] | of_links
        figures = {
            name: number
            for name, text in printed.items()
            if (number := parse_number(text)) is not None
        }
        claims: list[tuple[str, Callable[..., Decimal], tuple[str, ...]]] = []
        if row.startswith("Coupled"):
            claims = [
                ("Precision", multiply, ("Links-P", "IPrep-Acc")),
                ("Recall", multiply, ("Links-R", "IPrep-Acc")),
            ]
        elif row.startswith("Decoupled"):
            claims = [("Recall", link_everything, ("Links-R", "IPrep-Acc", "UPrep-Acc"))]
            if documents is not None:  # the percentage of ordered pairs that gold links
                share = _percent(len(documents.links.labeled.pair), documents.n_pairs)
                figures["share"] = Decimal(repr(share))
                claims.append(("Precision", multiply, ("Recall", "share")))
        for column, formula, names in claims:  # all figures are known within rounding
            values = [figures[name] for name in names]
            bounds = [formula(*corner) for corner in product(*map(_bound, values))]
            low, high = _bound(figures[column])
            told = f"{formula(*values):.2f} from Table 5, {figures[column]} in Table 3"
            cells[row, column] = Claim(told, min(bounds) <= high and low <= max(bounds))
    return cells


def _bound(value: Decimal) -> tuple[Decimal, Decimal]:
    """Return the lowest and the highest number that rounds to a printed one."""
    half = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return value - half, value + half


LINKS = {column: f"links/{column.lower()}" for column in SCORES}
PREPOSITION_SCORES = {
    "Links-P": "unlabeled/precision",
    "Links-R": "unlabeled/recall",
    "Links-F1": "unlabeled/f1",
    "IPrep-Acc": "iprep",
    "UPrep-Acc": "uprep",
}
"""The columns of Tables 3 and 5, and our names of the scores."""

LARGE = 24  # the layers of a large encoder


def score_runs(inputs: Inputs, table: str) -> Mapping[str, Mapping[str, Mapping[str, Value]]]:
    """Return the scores of each row that has a run, by decoding, and remark on the table which run that is.

    A score that is undefined for one of a row's runs is left out.
    """
    folder, documents = inputs.runs, read_split(inputs, "test", LABELED)
    if folder is None or documents is None:
        return {}

    def score_all() -> tuple[dict[str, dict[str, dict[str, Value]]], str]:
        from closeread.tasks.tne.models import TASK, score_decodings

        scores, names = defaultdict(list), defaultdict(list)
        for run, described in find_complete_runs(folder, TASK).items():
            row = name_row(run, described["model"])
            scores[row].append(score_decodings(documents, run))
            encoder = quote(str(described["model"]["name"]), 80)
            names[row].append(
                f"{run.relative_to(folder) if run != folder else run.name} with {encoder}"
            )
        parts = "; ".join(f"{row} of {', '.join(found)}" for row, found in names.items())
        means: dict[str, dict[str, dict[str, Value]]] = {}
        for row, runs in scores.items():
            means[row] = {decoding: {} for decoding in runs[0]}
            for decoding, names_of in runs[0].items():
                for name in names_of:
                    values = [value for run in runs if (value := run[decoding][name]) is not None]
                    if len(values) == len(runs):
                        means[row][decoding][name] = OwnModel(100 * float(np.mean(values)))
        return means, f"Runs here: {parts}"

    rows, inputs.remarks[table] = inputs.once("runs", score_all)
    return rows


def name_row(run: Path, model: Mapping[str, Any]) -> str:
    """Return the row of a run in Tables 3 and 5."""
    variant = str(model["variant"]).capitalize()
    if model["kind"] == "static":
        return f"{variant}-static"
    config = read_json(run / ENCODER / "config.json")
    layers = config.get("num_hidden_layers") if isinstance(config, dict) else None
    size = "large" if isinstance(layers, int) and layers >= LARGE else "base"
    return f"{variant}-frozen-{size}" if model["kind"] == "frozen" else f"{variant}-{size}"


PRONOUNS = (  # personal and reflexive pronouns
    *(
        "i",
        "you",
        "he",
        "she",
        "it",
        "we",
        "they",
        "me",
        "him",
        "her",
        "us",
        "them",
        "myself",
        "yourself",
        "himself",
    ),
    *("herself", "itself", "ourselves", "yourselves", "themselves"),
)

LEAST_PHRASES, MOST_PHRASES = 25, 50  # the noun phrases of an article that was kept (section 5.1)

TABLE_2: Mapping[str, Callable[[Statistics], float]] = {
    "Documents": lambda found: found["documents"],
    "Tokens": lambda found: found["tokens"],
    "NPs": lambda found: found["noun phrases"],
    "Coref-Clusters": lambda found: found["clusters of more than one"],
    "NP-Links": lambda found: found["links"],
    "Coref-Links": lambda found: found["links, once per cluster"],
    "Avg. Distance": lambda found: found[DISTANCE],
    "% Surface-Form": lambda found: found[SURFACE],
    "% Surface-Form+": lambda found: found[EXTENDED],
    "Avg. Transitive": lambda found: found["transitive links"] / found["documents"],
    "Avg. Title Links": lambda found: found["links to the title"] / found["documents"],
    "Avg. Symmetric Links": lambda found: found["symmetric links"] / found["documents"],
    "% Anaphores": lambda found: _percent(found["links to preceding phrases"], found["links"]),
    "% Intersentential": lambda found: _percent(found["links between sentences"], found["links"]),
}
"""How the rows of Table 2 follow from the statistics of a column."""

AVERAGED: Mapping[tuple[str, str], str] = {
    ("NPs per document", "1"): "NPs",
    ("links per document", "1"): "NP-Links",
    ("clusters of more than one NP per document", "6"): "Coref-Clusters",
    ("symmetric links per document", "6"): "Avg. Symmetric Links",
    ("transitive relations per document", "6"): "Avg. Transitive",
    ("anaphoric links, percent", "6"): "% Anaphores",
    ("intersentential links, percent", "6, footnote 16"): "% Intersentential",
    ("mean distance in tokens", "6"): "Avg. Distance",
    ("surface form, percent", "6"): "% Surface-Form",
    ("surface form+, percent", "6"): "% Surface-Form+",
}
"""The rows of Table 2 that the text gives for the whole release, the first three for each document."""


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2, as far as the splits are at hand."""
    cells: Cells = {}
    for column, found in measure_columns(inputs).items():
        for row, compute in TABLE_2.items():
            try:
                cells[row, column] = compute(found)
            except KeyError:  # links are withheld, or there are none to average over
                continue
    return cells


def figure_4(inputs: Inputs) -> Recomputed:
    """Recompute Figure 4: the percentage of links with each preposition, those under `SMALLEST` together."""
    found = measure_columns(inputs).get("test", {})
    if not found.get("links"):
        return {}
    shares = {name: _percent(found[f"links: {name}"], found["links"]) for name in PREPOSITIONS[1:]}
    other = sum(share for share in shares.values() if share < SMALLEST)
    shown = ("of", "in", "from", "for", "near", "at", "by", "member(s) of", "about")
    return {(name, "test"): shares[name] for name in shown} | {(OTHER, "test"): other}


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text."""
    columns, table = measure_columns(inputs), table_2(inputs)
    cells: Cells = {
        **count_documents(columns),
        **describe_news(inputs),
        **describe_annotation(inputs),
    }
    for place, row in AVERAGED.items():
        if (value := table.get((row, ALL))) is not None:
            per_document = row in ("NPs", "NP-Links", "Coref-Clusters")
            cells[place] = float(ratio(value, columns[ALL]["documents"])) if per_document else value
    documents = read_split(inputs, "test", LABELED)
    if documents is not None and any(documents.column("np_relations")):
        cells |= describe_test(documents) | describe_baselines(inputs, documents)
    return cells


def count_documents(columns: Mapping[str, Statistics]) -> Cells:
    """Count documents, noun phrases and links of the splits and domains at hand, by the columns of Table 2."""
    documents = {column: int(found["documents"]) for column, found in columns.items()}
    cells: Cells = {}

    def join(*names: str) -> str:
        return " / ".join(f"{documents[name]:,}" for name in names)

    if documents.keys() >= DOMAINS.keys():
        cells["documents of IMDB / Gutenberg / Reddit", "5.1"] = join("IMDB", "Books", "Reddit")
    if documents.keys() >= IN_DOMAIN.keys():
        n_news = sum(documents[column] for column in IN_DOMAIN)
        share = _percent(documents["test"], n_news)
        place = ("documents with one / two annotators of coreference, percent", "5.2")
        cells[place] = f"{100 - share:.0f} / {share:.0f}"
        if all("links" in columns[column] for column in IN_DOMAIN):
            n_links = sum(columns[column]["links"] for column in IN_DOMAIN)
            cells["links per document, second figure", "1"] = float(ratio(n_links, n_news))
    if ALL in documents:
        n_others, n_phrases = documents[OUT_OF_DOMAIN], int(columns[ALL]["noun phrases"])
        n_news = documents[ALL] - n_others
        holds = round(n_news, -3) == 5_000 and round(n_others, -2) == 500
        cells["documents of WikiNews / of other domains", "1"] = Claim(
            f"{n_news:,} / {n_others:,}", holds
        )
        place = ("documents for training / development / test / out of domain", "4")
        cells[place] = join(*IN_DOMAIN, OUT_OF_DOMAIN)
        cells["documents", "4"] = Claim(documents[ALL], round(documents[ALL], -2) == 5_500)
        cells["documents", "6"] = documents[ALL]
        cells["NPs", "4"] = Claim(n_phrases, round(n_phrases, -4) == 200_000)
        if "links" in columns[ALL]:
            cells["links", "4"] = Claim(columns[ALL]["links"], columns[ALL]["links"] > 1_000_000)
    return cells


def describe_news(inputs: Inputs) -> Cells:
    """Describe the texts of the news splits at hand."""
    read = (read_split(inputs, split) for split in IN_DOMAIN.values())
    records = list(chain.from_iterable(documents for documents in read if documents is not None))
    if not records:
        return {}
    sizes = np.array([len(record["nps"]) for record in records])
    nouns = [
        sum(phrase["text"].lower() not in PRONOUNS for phrase in record["nps"])
        for record in records
    ]
    paragraphs = Counter(_count_paragraphs(record["text"]) for record in records)
    typical, n_phrases, n_pronouns = (
        float(np.median(nouns)),
        int(sizes.sum()),
        int(sizes.sum()) - sum(nouns),
    )
    least, most = int(sizes.min()), int(sizes.max())
    share = _percent(((sizes >= LEAST_PHRASES) & (sizes <= MOST_PHRASES)).sum(), len(sizes))
    return {
        ("NPs that count", "2"): Claim(
            f"{n_pronouns:,} of {n_phrases:,} are pronouns", n_pronouns == 0
        ),
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


def describe_annotation(inputs: Inputs) -> Cells:
    """Describe prepositions and annotators of the splits at hand."""
    read = [
        documents
        for split in list_splits(inputs)
        if (documents := read_split(inputs, split)) is not None
    ]
    records = list(chain.from_iterable(read))
    used = {link["preposition"] for record in records for link in record.get("np_relations") or ()}
    cells: Cells = {}
    if used:
        cells["prepositions, beside member(s) of", "4"] = len(used - {"member(s) of"})
    told = [(record.get("metadata") or {}).get("annotators") or {} for record in records]
    workers = [len(ids) for about in told if (ids := about.get("np-relations_worker")) is not None]
    if workers:
        cells["annotators of links per document", "5.2"] = float(ratio(sum(workers), len(workers)))
    return cells


def describe_test(documents: Documents) -> Cells:
    """Describe the pairs of the test split and their prepositions."""
    links, labels = documents.links.labeled, documents.links.label
    n_pairs, n_links = len(links.pair), len(labels)

    def share(mask: Mask, total: int) -> float:
        return _percent(mask.sum(), total)

    readings = {
        "accuracy of prepositions when of is said of every pair, percent": (links.last, n_pairs),
        "of for every pair: the first preposition of a pair": (links.first, n_pairs),
        "of for every pair: any preposition of a pair": (split_triplets(links.triplet)[1], n_pairs),
        "of for every pair: share of links": (labels, n_links),
    }
    cells: Cells = {
        (row, "8.2"): share(label == LABELS["of"], n) for row, (label, n) in readings.items()
    }
    for name in ("of", "in", "from", "for"):
        cells[f"share of {name}, percent", "6"] = share(labels == LABELS[name], n_links)
    cells["share of into, the rarest, percent", "6"] = share(labels == LABELS["into"], n_links)
    place = ("two prepositions of one pair, percent of test", "5.2, footnote 13")
    cells[place] = _percent(len(links.triplet) - n_pairs, n_links)
    n_ordered = sum(1 for record in documents for _ in permutations(record["nps"], 2))
    cells["ordered pairs of k NPs", "2"] = Claim(
        f"{n_ordered:,} in test", n_ordered == documents.n_pairs
    )
    return cells


def describe_baselines(inputs: Inputs, documents: Documents) -> Cells:
    """Return what the text says of the deterministic baselines."""
    f1 = {
        row: score
        for (row, column), score in score_baselines(inputs, documents).items()
        if column == "F1"
    }
    # The baselines of each kind.  Combined unites the best of every kind; Title-Random differs from draw to draw.
    groups = [BASELINES[start : start + 2] for start in (0, 2, 4)]
    single = [f1[row] for row in BASELINES[:6]]
    described = f1["Surface-Extended, as described"]
    printed = next(
        table["rows"] for table in load_printed("tne")["tables"] if table["name"] == "Table 3"
    )
    is_printed = give_verdict(printed["Surface-Extended"]["F1"], described) == AGREES
    return {
        (
            "F1 of the single baselines, lowest / highest",
            "7.1",
        ): f"{min(single):.1f} / {max(single):.1f}",
        ("F1 of Combined", "7.1"): f1["Combined"],
        ("what Combined is made of", "7.1"): ", ".join(
            max(group, key=f1.__getitem__) for group in groups
        ),
        ("reach of Surface-Extended in tokens", "7"): Claim(
            f"F1 {described:.1f} up to 10", is_printed
        ),
    }


def table_6(inputs: Inputs) -> Recomputed:
    """Count what Table 6 says is allowed in TNE: anchors and links of test that show it."""
    documents = read_split(inputs, "test", LABELED)
    if documents is None or not any(documents.column("np_relations")):
        return {}
    is_old, is_later, is_indefinite, is_several = (
        list[bool](),
        list[bool](),
        list[bool](),
        list[bool](),
    )
    for record in documents:
        phrases, cluster = {phrase["id"]: phrase for phrase in record["nps"]}, find_clusters(record)
        begin = {name: phrase["first_token"] for name, phrase in phrases.items()}
        first = [min(begin[name] for name in one["members"]) for one in record["coref"]]
        linked: dict[str, set[int]] = defaultdict(set)  # the clusters that each anchor is linked to
        for link in record["np_relations"]:
            linked[link["anchor"]].add(cluster[link["complement"]])
            is_later.append(begin[link["complement"]] > begin[link["anchor"]])
        is_old += [begin[anchor] > first[cluster[anchor]] for anchor in linked]
        is_indefinite += [
            phrases[anchor]["text"].lower().startswith(("a ", "an ")) for anchor in linked
        ]
        is_several += [len(clusters) > 1 for clusters in linked.values()]
    counts = {
        "anchor may be discourse-old": ("anchors have an earlier mention", is_old),
        "cataphoric links allowed": ("links have a later complement", is_later),
        "anchor has to be definite": ("anchors begin with a or an", is_indefinite),
        "several complements allowed": ("anchors have complements of several clusters", is_several),
    }
    cells: Cells = {
        (row, "TNE"): Claim(f"{sum(mask):,} of {len(mask):,} {what}", any(mask))
        for row, (what, mask) in counts.items()
    }
    surface = measure_columns(inputs)["test"][SURFACE]
    cells["relations have to be implicit", "TNE"] = Claim(
        f"{surface:.1f} % of links are in surface form", surface > 0
    )
    return cells


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 3 that need no model, on the test split, and those of the runs that are at hand."""
    cells: Cells = {}
    if (documents := read_split(inputs, "test", LABELED)) is not None:
        cells |= score_baselines(inputs, documents)
        cells |= zip(product(["Title-Random"], SCORES), score_random_title(documents), strict=True)
    for row, scores in score_runs(inputs, "Table 3").items():
        decodings = {row: "links"}
        if row.startswith("Decoupled"):  # below, with the links that its head for links finds
            decodings = {row: "printed", f"{row}, links first": "links"}
        for name, decoding in decodings.items():
            found = scores[decoding]
            cells |= {
                (name, column): found[score] for column, score in LINKS.items() if score in found
            }
    return cells


def table_5(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 5 of the runs that are at hand, of the links that a model finds, as in print."""
    return {
        (row, column): scores["links"][name]
        for row, scores in score_runs(inputs, "Table 5").items()
        for column, name in PREPOSITION_SCORES.items()
        if name in scores["links"]
    }


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
