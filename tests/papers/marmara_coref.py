"""Figures of Schüller et al. (2018), recomputed from the corpus and the treebank, which users get from their owners."""

import closeread

CORPUS = "marmara_coref"
SCORES = {
    "MUC": "muc",
    "B3": "b3",
    "CEAFe": "ceafe",
    "CEAFm": "ceafm",
    "BLANC": "blanc",
    "LEA": "lea",
}


def recompute():
    """Return the recomputed cells by table."""
    documents = closeread.load_dataset(CORPUS, split="test").to_list()
    genres = dict.fromkeys(document["genre"] for document in documents)
    groups = {"Overall": documents}
    for genre in genres:
        groups[genre] = [document for document in documents if document["genre"] == genre]
    figures = closeread.stats(CORPUS).splits["test"]
    gold_mentions = score("svc")
    detected = score("mentions")
    several_tokens = 100 * figures["mentions: several tokens"] / figures["mentions"]
    text = {
        ("documents", "3.5"): len(documents),
        ("mentions", "3.4"): figures["mentions"],
        ("chains", "3.4"): figures["chains"],
        ("chains of two mentions", "3.4"): figures["chains of two mentions"],
        ("percent of single-token mentions", "3.4"): 100 - several_tokens,
        ("percent of mentions of several tokens", "3.4"): several_tokens,
        ("percent of nested mentions", "3.4"): figures["% of nested mentions"],
        ("levels of nesting inside a nested mention", "3.4"): (
            figures["mentions nested in a nested mention"]
        ),
    }
    return {
        "Table 1": describe_genres(groups, {"Doc": "Doc sum", "Tok": "Tok avg"}),
        "Table 2": describe_genres(groups),
        "Table 3": list_scores(gold_mentions) | list_detection(detected),
        "Table 4": {
            (method, column): value
            for method, report in (
                ("SVC/GM/T", gold_mentions),
                ("SVR/GM/T", score("svr")),
                ("SVR/PM/T", score("svr", mentions="predicted")),
            )
            for (row, column), value in list_scores(report).items()
            if row == "Total"
        },
        "Text": text,
    }


def describe_genres(groups, names=None):
    """Return sums and means by genre, of mentions and chains weighted by the tokens of the document."""
    cells = {}
    for genre, documents in groups.items():
        sizes = [document["n_tokens"] for document in documents]
        n_chains = [len(document["clusters"]) for document in documents]
        n_mentions = [sum(map(len, document["clusters"])) for document in documents]
        values = {
            "Doc sum": len(documents),
            "Tok sum": sum(sizes),
            "Tok avg": sum(sizes) / len(sizes),
            "M sum": sum(n_mentions),
            "M avg": average(n_mentions, sizes),
            "C sum": sum(n_chains),
            "C avg": average(n_chains, sizes),
        }
        for column, name in (names or dict(zip(values, values, strict=True))).items():
            cells[genre, column] = values[name]
    return cells


def average(values, weights):
    """Return a weighted mean."""
    products = [value * weight for value, weight in zip(values, weights, strict=True)]
    return sum(products) / sum(weights)


def score(baseline, **options):
    """Score a baseline on all documents and by genre; return the scores by row."""
    rows = closeread.baseline(CORPUS, baseline, **options)
    report = closeread.score(CORPUS, rows, by="genre", ci=False)
    return {"Total": report.total, **report.slices["genre"]}


def list_scores(reports):
    """Return F1 in percent, by row and metric."""
    return {
        (row, column): 100 * report.scores[f"{name}/f1"].value
        for row, report in reports.items()
        for column, name in SCORES.items()
    }


def list_detection(reports):
    """Return recall and precision of detected mentions in percent, by row."""
    cells = {}
    for row, report in reports.items():
        cells[row, "RMD"] = 100 * report.scores["mentions/recall"].value
        cells[row, "PMD"] = 100 * report.scores["mentions/precision"].value
    return cells
