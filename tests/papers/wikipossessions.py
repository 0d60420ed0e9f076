"""Figures of Chinnappa, Palmer and Blanco (2020), recomputed from WikiPossessions."""

import calendar
from collections import Counter

from papers.figures import load_rows

import closeread

STATISTICS = {
    "Total for all articles": "possessors",
    "NE type: Pers": "type: PER",
    "NE type: Org": "type: ORG",
    "NE type: Loc": "type: LOC",
    "Poss: Cert": "possession: certain",
    "Poss: Uncert": "possession: uncertain",
    "Time: Known": "time: known",
    "Time: Unknown": "time: unknown",
    "TRel: Before": "relation: before",
    "TRel: During": "relation: during",
    "TRel: After": "relation: after",
    "TRel: Cert": "relation: certain",
    "TRel: Uncert": "relation: uncertain",
}
TYPES = {"PER": "people", "ORG": "organizations", "LOC": "locations"}
CERTAINTIES = {"certain": "C", "uncertain": "UC", None: "-"}
MOST_FREQUENT = {
    "Poss.Cert": "certainty",
    "Temp.Rel": "relation",
    "TRel.Cert": "relation_certainty",
}
SCORES = {"P": "precision", "R": "recall", "F1": "f1"}

# The article of Table 3, the possessors that the excerpt of Figure 1 has, and the ordered pairs of section 5.
EXAMPLE = "The Night Café"
NAMES_OF_FIGURE_1 = {
    "Ivan Morozov",
    "Soviet authorities",
    "Stephen Carlton Clark",
    "Yale University",
}
PAIRS_OF_SECTION_5 = (
    ("Vincent van Gogh", "Ivan Morozov"),
    ("Moscow", "Ivan Morozov"),
    ("Vincent van Gogh", "Moscow"),
    ("Ivan Morozov", "Moscow"),
    ("Vincent van Gogh", "Soviet authorities"),
    ("Ivan Morozov", "Soviet authorities"),
    ("Moscow", "Soviet authorities"),
)

# As printed: the release does not say which articles were annotated twice.
N_ANNOTATED_TWICE = 12


def recompute():
    """Return the recomputed cells by table."""
    articles = closeread.load_dataset("wikipossessions", split="test").to_list()
    figures = closeread.stats("wikipossessions").splits["test"]
    rows = [row for article in articles for row in article["possessions"]]
    example = rows_of(articles, EXAMPLE)
    return {
        "Table 1": {(row, "count"): figures[name] for row, name in STATISTICS.items()},
        "Table 2": describe_corpus(figures),
        "Table 3": list_example(example),
        "Table 4": score_every_name(articles),
        "Table 5": find_most_frequent(rows),
        "Text": describe_text(articles, rows, figures)
        | describe_example(example)
        | compare_names(),
    }


def rows_of(articles, title):
    """Return the possessions of an article."""
    return next(article["possessions"] for article in articles if article["article"] == title)


def describe_corpus(figures):
    """Recompute Table 2; words and sections would need the articles."""
    n_articles = figures["articles"]
    n_unique = figures["possessors, once per article"]
    values = {
        "Total # of Wikipedia articles": n_articles,
        "Total # of mentioned possessors": figures["possessors"],
        "Total # of unique possessors": n_unique,
        "Avg # of possessors per article": figures["possessors"] / n_articles,
        "Avg # of unique possessors per article": n_unique / n_articles,
    }
    return {(row, "value"): value for row, value in values.items()}


def list_example(rows):
    """Write out the example's possessions by order, and in the order of the file within ties."""
    cells = {}
    ordered = sorted(rows, key=lambda row: float(row["order"]))
    for number in map(int, load_rows("wikipossessions", "Table 3")):
        row = ordered[number - 1]
        cells |= {
            (str(number), "NE"): row["type"],
            (str(number), "Possessor"): row["possessor"],
            (str(number), "Poss.Cert"): CERTAINTIES[row["certainty"]],
            (str(number), "Ordering"): row["order"],
            (str(number), "Temp.Anchor"): row["anchor"] or "Unknown",
            (str(number), "TRel"): (row["relation"] or "-").capitalize(),
            (str(number), "TRel.Cert"): CERTAINTIES[row["relation_certainty"]],
        }
    return cells


def score_every_name(articles):
    """Recompute the cells of Table 4 that need no text of an article.

    In ORACLE, every name of an article is predicted once, as certain.  In ALLCORR, only what matches gold is predicted,
    so that no prediction of a possessor is wrong.
    """
    predictions = [predict_every_name(article) for article in articles]
    report = closeread.score("wikipossessions", predictions, scenario="oracle", ci=False)
    cells = {}
    for row, family in (("Poss.ID", "possessor"), ("Poss.Cert", "possessor_certainty")):
        for column, score in SCORES.items():
            cells[row, f"ORACLE {column}"] = report[f"{family}/{score}"].value
    for setting in ("exact", "partial"):
        report = closeread.score(
            "wikipossessions", predictions, scenario="all_correct", setting=setting, ci=False
        )
        cells["Poss.ID", f"ALLCORR {setting} P"] = report["possessor/precision"].value
    return cells


def predict_every_name(article):
    """Predict every name of an article once, as a certain possessor."""
    names = dict.fromkeys(row["possessor"] for row in article["possessions"])
    possessions = [make_possession(name, order) for order, name in enumerate(names, start=1)]
    return {"article": article["article"], "possessions": possessions}


def make_possession(name, order):
    """Make the prediction of a possessor."""
    return {
        "possessor": name,
        "order": str(order),
        "certainty": "certain",
        "anchor": "Now",
        "relation": "during",
        "relation_certainty": "certain",
    }


def find_most_frequent(rows):
    """Find the most frequent labels, which the baseline gives to everything (section 6.1)."""
    cells = {}
    for row, field in MOST_FREQUENT.items():
        labels = Counter(possession[field] for possession in rows)
        del labels[None]
        cells[row, "heuristic"] = f"all {labels.most_common(1)[0][0].capitalize()}"
    return cells


def describe_text(articles, rows, figures):
    """Recompute figures of the running text on the corpus."""
    types = sorted(TYPES, key=lambda name: -figures[f"type: {name}"])
    words = {word for row in rows for word in (row["anchor"] or "").split()}
    names_months = not words.isdisjoint(calendar.month_name[1:])
    n_unique = figures["possessors, once per article"]
    return {
        ("articles", "abstract"): figures["articles"],
        ("artifact-possessor relations", "abstract"): figures["possessors"],
        ("least number of possessors of an article that was kept", "4.1"): min(
            len(article["possessions"]) for article in articles
        ),
        ("pairs / unique pairs", "4.2.1"): f"{figures['possessors']} / {n_unique}",
        ("order of the types by frequency", "4.2.1"): ", ".join(TYPES[name] for name in types),
        ("possessors with a temporal anchor", "4.2.3"): figures["time: known"],
        ("granularity of anchors", "4.2.3"): "month" if names_months else "year",
        ("share of articles annotated twice, percent", "4.2.5"): (
            100 * N_ANNOTATED_TWICE / figures["articles"]
        ),
    }


def describe_example(rows):
    """Recompute figures of the running text on the example article."""
    orders = {row["possessor"]: float(row["order"]) for row in rows}
    ordered = [orders[earlier] <= orders[later] for earlier, later in PAIRS_OF_SECTION_5]
    return {
        ("pairs listed for the excerpt of Figure 1", "4.2.1"): len(
            NAMES_OF_FIGURE_1 & orders.keys()
        ),
        ("ordered pairs listed for Table 3 (said to be partial)", "5"): sum(ordered),
    }


def compare_names():
    """Match the example names of section 5 as the evaluation does."""
    return {
        ("exact match, example", "5"): compare("the Netherlands", "Netherlands"),
        ("partial match, example", "5"): compare("Museum of Modern Art", "Modern Art"),
        ("no match, example", "5"): compare("Museum of Modern Art", "Queen of Sheba"),
    }


def compare(name, other):
    """Write two names with the verdict between them: equal (=), partial match (~) or neither (a comma)."""
    gold = [{"article": "Example", "possessions": [make_possession(name, 1) | {"type": "LOC"}]}]
    system = [{"article": "Example", "possessions": [make_possession(other, 1)]}]
    for setting, sign in (("exact", " ="), ("partial", " ~")):
        report = closeread.score("wikipossessions", system, gold=gold, setting=setting, ci=False)
        if report["possessor/f1"].value == 1:
            return f"{name}{sign} {other}"
    return f"{name}, {other}"
