"""Figures of Elazar, Basmov, Goldberg and Tsarfaty (2021), recomputed from TNE."""

from collections import Counter
from statistics import mean, median, pvariance

from papers.figures import AGREES, Chance, Claim, give_verdict, load_rows

import closeread

# Columns of Table 2 and their splits, and parts of the split ood and their domains.
SPLITS = {"dev": "validation", "test": "test"}
DOMAINS = {"Books": "books", "IMDB": "imdb", "Reddit": "reddit"}

TOTALS = {
    "Documents": "documents",
    "Tokens": "tokens",
    "NPs": "noun phrases",
    "Coref-Clusters": "clusters of more than one",
    "NP-Links": "links",
    "Coref-Links": "links, once per cluster",
    "Avg. Distance": "mean distance in tokens",
    "% Surface-Form": "% of links in surface form",
    "% Surface-Form+": "% of links in extended surface form",
}
PER_DOCUMENT = {
    "Avg. Transitive": "transitive links",
    "Avg. Title Links": "links to the title",
    "Avg. Symmetric Links": "symmetric links",
}
PER_LINK = {
    "% Anaphores": "links to preceding phrases",
    "% Intersentential": "links between sentences",
}

SCORES = {"Precision": "precision", "Recall": "recall", "F1": "f1"}

# The single baselines by kind; Combined unites the best of each kind.
KINDS = (
    ("Title-First", "Title-Last"),
    ("Adj-Anaphora", "Adj-Cataphora"),
    ("Surface", "Surface-Extended"),
)

# Personal and reflexive pronouns.
PRONOUNS = {
    *("i", "you", "he", "she", "it", "we", "they", "me", "him", "her", "us", "them", "myself"),
    *("yourself", "himself", "herself", "itself", "ourselves", "yourselves", "themselves"),
}


def recompute():
    """Return the recomputed cells by table."""
    statistics = closeread.stats("tne").splits
    scores = score_baselines()
    news = closeread.load_dataset("tne")
    test = news["test"].to_list()
    return {
        "Table 2": describe_splits(statistics) | describe_domains(),
        "Table 3": scores | score_random_title(test),
        "Table 6": find_allowed(test, statistics["test"]),
        "Figure 4": {(name, "test"): share for name, share in share_labels(statistics).items()},
        "Text": {
            **describe_news([*news["validation"].to_list(), *test]),
            **describe_labels(statistics, test),
            **describe_baselines(scores),
            ("documents of IMDB / Gutenberg / Reddit", "5.1"): describe_sources(),
        },
    }


def describe_splits(statistics):
    """Recompute the columns of Table 2 whose links are at hand."""
    cells = {}
    for column, split in SPLITS.items():
        figures = statistics[split]
        for row, name in TOTALS.items():
            cells[row, column] = figures[name]
        for row, name in PER_DOCUMENT.items():
            cells[row, column] = figures[name] / figures["documents"]
        for row, name in PER_LINK.items():
            cells[row, column] = 100 * figures[name] / figures["links"]
    return cells


def describe_domains():
    """Recompute the sizes of the columns of Table 2 that are out of domain."""
    records = closeread.load_dataset("tne", "unlabeled", split="ood").to_list()
    parts = {"OOD-all": records}
    for column, domain in DOMAINS.items():
        parts[column] = [record for record in records if record["domain"] == domain]
    cells = {}
    for column, documents in parts.items():
        clusters = [cluster for document in documents for cluster in document["coref"]]
        cells["Documents", column] = len(documents)
        cells["Tokens", column] = sum(len(document["tokens"]) for document in documents)
        cells["NPs", column] = sum(len(document["nps"]) for document in documents)
        cells["Coref-Clusters", column] = sum(len(cluster["members"]) > 1 for cluster in clusters)
    return cells


def describe_sources():
    """Count the documents of each source outside the domain."""
    records = closeread.load_dataset("tne", "unlabeled", split="ood")
    sizes = Counter(records["domain"])
    return f"{sizes['imdb']} / {sizes['books']} / {sizes['reddit']}"


def score_baselines():
    """Recompute the rows of Table 3 that need no model."""
    cells = {}
    for row in (*KINDS[0], *KINDS[1], *KINDS[2], "Combined"):
        for column, score in score_baseline(row.lower()).items():
            cells[row, column] = score
    return cells


def score_baseline(name, **options):
    """Return precision, recall and F1 of a baseline's links on the test split, in percent."""
    rows = closeread.baseline("tne", name, split="test", **options)
    report = closeread.score("tne", rows, split="test", ci=False)
    return {column: 100 * report[f"unlabeled/{name}"].value for column, name in SCORES.items()}


def score_random_title(documents):
    """Score links to a random noun phrase of each title, over all draws.

    Every draw links equally many pairs, so that each score is the number of right links divided by a constant.  That
    number is a sum over documents, which are drawn independently.
    """
    n_gold = n_linked = expected = variance = 0
    for document in documents:
        pairs = {(link["anchor"], link["complement"]) for link in document["np_relations"]}
        n_anchors = Counter(complement for _, complement in pairs)
        title_end = document["text"].index("\n\n")
        in_title = [phrase["id"] for phrase in document["nps"] if phrase["last_char"] <= title_end]
        n_gold += len(pairs)
        if in_title:
            hits = [n_anchors[name] for name in in_title]
            n_linked += len(document["nps"]) - 1
            expected += mean(hits)
            variance += pvariance(hits)
    divisors = {"Precision": n_linked, "Recall": n_gold, "F1": (n_linked + n_gold) / 2}
    return {
        ("Title-Random", column): Chance(100 * expected / divisor, 100 * variance**0.5 / divisor)
        for column, divisor in divisors.items()
    }


def find_allowed(documents, figures):
    """Count anchors and links that show what Table 6 says is allowed."""
    n_anchors = n_old = n_indefinite = n_several = 0
    n_links = n_later = 0
    for document in documents:
        phrases = {phrase["id"]: phrase for phrase in document["nps"]}
        clusters = {name: name for name in phrases}
        first_mentions = {}
        for number, cluster in enumerate(document["coref"]):
            starts = [phrases[name]["first_token"] for name in cluster["members"]]
            clusters.update(dict.fromkeys(cluster["members"], number))
            first_mentions.update(dict.fromkeys(cluster["members"], min(starts)))
        complements = {}
        for link in document["np_relations"]:
            anchor = phrases[link["anchor"]]
            complement = phrases[link["complement"]]
            complements.setdefault(link["anchor"], set()).add(clusters[link["complement"]])
            n_links += 1
            n_later += complement["first_token"] > anchor["first_token"]
        for name, linked in complements.items():
            anchor = phrases[name]
            n_anchors += 1
            n_old += first_mentions.get(name, anchor["first_token"]) < anchor["first_token"]
            n_indefinite += anchor["text"].lower().startswith(("a ", "an "))
            n_several += len(linked) > 1
    surface = figures["% of links in surface form"]
    claims = {
        "anchor may be discourse-old": Claim(
            f"{n_old:,} of {n_anchors:,} anchors have an earlier mention", n_old > 0
        ),
        "cataphoric links allowed": Claim(
            f"{n_later:,} of {n_links:,} links have a later complement", n_later > 0
        ),
        "anchor has to be definite": Claim(
            f"{n_indefinite:,} of {n_anchors:,} anchors begin with a or an", n_indefinite > 0
        ),
        "several complements allowed": Claim(
            f"{n_several:,} of {n_anchors:,} anchors have complements of several clusters",
            n_several > 0,
        ),
        "relations have to be implicit": Claim(
            f"{surface:.1f} % of links are in surface form", surface > 0
        ),
    }
    return {(row, "TNE"): claim for row, claim in claims.items()}


def share_labels(statistics):
    """Return the share of each preposition among the links of test, in percent."""
    test = statistics["test"]
    names = [name.removeprefix("links: ") for name in test if name.startswith("links: ")]
    return {name: 100 * test[f"links: {name}"] / test["links"] for name in names}


def describe_news(documents):
    """Describe the news documents at hand."""
    sizes = [len(document["nps"]) for document in documents]
    nouns = [
        sum(phrase["text"].lower() not in PRONOUNS for phrase in document["nps"])
        for document in documents
    ]
    n_pronouns = sum(sizes) - sum(nouns)
    in_range = 100 * sum(25 <= size <= 50 for size in sizes) / len(sizes)
    paragraphs = Counter(count_paragraphs(document["text"]) for document in documents)
    typical = median(nouns)
    return {
        ("NPs that count", "2"): Claim(
            f"{n_pronouns:,} of {sum(sizes):,} are pronouns", n_pronouns == 0
        ),
        ("NPs in the first three paragraphs of an article that was kept", "5.1"): Claim(
            f"{min(sizes)} to {max(sizes)}, {in_range:.1f} % of documents in this range",
            in_range == 100,
        ),
        ("paragraphs taken of an article", "5.1"): paragraphs.most_common(1)[0][0],
        ("typical number of NPs", "5.2"): Claim(typical, 25 <= typical < 35),
    }


def count_paragraphs(text):
    """Count the paragraphs, which are lines after title and subtitle, each followed by a blank line."""
    _title, _subtitle, body = text.split("\n\n", 2)
    return sum(not line.isspace() for line in body.splitlines())


def describe_labels(statistics, documents):
    """Describe the pairs of test, their prepositions, and who annotated them."""
    test = statistics["test"]
    shares = share_labels(statistics)
    n_prepositions = sum(share > 0 for share in share_labels(statistics).values()) - 1
    last = {}
    for number, document in enumerate(documents):
        for link in document["np_relations"]:
            last[number, link["anchor"], link["complement"]] = link["preposition"]
    of = Counter(last.values())["of"]
    annotators = [
        len(document["metadata"]["annotators"]["np-relations_worker"]) for document in documents
    ]
    cells = {
        ("prepositions, beside member(s) of", "4"): n_prepositions,
        ("annotators of links per document", "5.2"): mean(annotators),
        ("two prepositions of one pair, percent of test", "5.2, footnote 13"): (
            100 * (test["triplets"] - test["pairs"]) / test["links"]
        ),
        ("accuracy of prepositions when of is said of every pair, percent", "8.2"): (
            100 * of / len(last)
        ),
        ("share of into, the rarest, percent", "6"): shares["into"],
    }
    for name in ("of", "in", "from", "for"):
        cells[f"share of {name}, percent", "6"] = shares[name]
    return cells


def describe_baselines(scores):
    """Recompute what the text says of the deterministic baselines."""
    f1 = {row: score for (row, column), score in scores.items() if column == "F1"}
    single = [f1[row] for kind in KINDS for row in kind]
    best = [max(kind, key=f1.get) for kind in KINDS]
    described = score_baseline("surface-extended", definition="described")["F1"]
    printed = load_rows("tne", "Table 3")["Surface-Extended"]["F1"]
    return {
        ("F1 of the single baselines, lowest / highest", "7.1"): (
            f"{min(single):.1f} / {max(single):.1f}"
        ),
        ("F1 of Combined", "7.1"): f1["Combined"],
        ("what Combined is made of", "7.1"): ", ".join(best),
        ("reach of Surface-Extended in tokens", "7"): Claim(
            f"F1 {described:.1f} up to 10", give_verdict(printed, described) == AGREES
        ),
    }
