"""The figures that WikiPossessions' paper prints, recomputed from the release.

Source: Chinnappa, Palmer and Blanco (2020), Tables 1 to 5 and the running text.

Conventions: scores are ratios and counts are of possessions, as printed.  If there is a text for every article, its
words and sections are counted.  With a spaCy pipeline, the paper's baseline is run on the articles that have a text,
and scored with the paper's tolerance on these.
"""

from __future__ import annotations

from calendar import month_name
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from closeread.arrays import ratio
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.printed_tables import Claim, Value
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.wikipossessions.baselines import (
    predict_entities,
    predict_names,
    read_documents,
    read_folder,
)
from closeread.tasks.wikipossessions.dates import Years, parse_time, time_overlap
from closeread.tasks.wikipossessions.matching import normalize_name, order_key
from closeread.tasks.wikipossessions.procedure import PROCEDURE
from closeread.tasks.wikipossessions.records import EXAMPLE, count_text, facts, find_ordered_pairs

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
"""The rows of Table 1 and the names of the same figures in `facts`."""

ROWS_OF_TABLE_3 = 7
CERTAINTIES = {"certain": "C", "uncertain": "UC"}
SUBTASKS = {
    "Poss.ID": "possessor",
    "Poss.Cert": "possessor_certainty",
    "Temp.Anch": "anchor",
    "Temp.Rel": "relation",
    "TRel.Cert": "relation_certainty",
    "Ordering": "ordering",
}
"""The rows of Table 4 and the families of their scores."""

COLUMNS = {
    "ALL exact": ("all", "exact"),
    "ALL partial": ("all", "partial"),
    "ALLCORR exact": ("all_correct", "exact"),
    "ALLCORR partial": ("all_correct", "partial"),
    "ORACLE": ("oracle", "exact"),
}
"""The columns of Table 4: the options scenario and setting."""

SCORES = {"P": "precision", "R": "recall", "F1": "f1"}
TYPES = {"PER": "people", "ORG": "organizations", "LOC": "locations"}
PAIRS_OF_FIGURE_1 = (
    "Ivan Morozov",
    "Soviet authorities",
    "Stephen Carlton Clark",
    "Yale University",
)
PAIRS_OF_SECTION_5 = tuple(
    (earlier, later)
    for later, *others in (
        ("Ivan Morozov", "Vincent van Gogh", "Moscow"),
        ("Moscow", "Vincent van Gogh", "Ivan Morozov"),
        ("Soviet authorities", "Vincent van Gogh", "Ivan Morozov", "Moscow"),
    )
    for earlier in others
)
ANNOTATED_TWICE = 12
"""As printed: the release does not say which articles were annotated twice."""


def table_1(inputs: Inputs) -> Recomputed:
    """Count the possessors by type, certainty, time and relation."""
    found = facts(_read_records(inputs))
    return {(row, "count"): found[name] for row, name in STATISTICS.items()}


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute the size of the corpus; words and sections only if every article has a text."""
    records = _read_records(inputs)
    found = facts(records)
    articles, possessors, unique = (
        int(found[name]) for name in ("articles", "possessors", "possessors, once per article")
    )
    values = {
        "Total # of Wikipedia articles": articles,
        "Total # of mentioned possessors": possessors,
        "Total # of unique possessors": unique,
        "Avg # of possessors per article": float(ratio(possessors, articles)),
        "Avg # of unique possessors per article": float(ratio(unique, articles)),
        **{
            f"Avg # of {name.split()[0]} per article": mean
            for name, mean in count_text(records).items()
        },
    }
    return {(row, "value"): value for row, value in values.items()}


def table_3(inputs: Inputs) -> Recomputed:
    """Write out the example article's possessions by order, and in the order of the file within ties."""
    rows = sorted(_find_example(_read_records(inputs)), key=lambda row: order_key(row["order"]))
    cells: dict[tuple[str, str], Value] = {}
    for number, row in enumerate(rows[:ROWS_OF_TABLE_3], start=1):
        texts = {
            "NE": row["type"],
            "Possessor": row["possessor"],
            "Poss.Cert": CERTAINTIES[row["certainty"]],
            "Ordering": row["order"],
            "Temp.Anchor": row["anchor"],
            "TRel": "-" if row["relation"] is None else row["relation"].capitalize(),
            "TRel.Cert": CERTAINTIES.get(row["relation_certainty"], "-"),
        }
        cells |= {(str(number), column): text for column, text in texts.items() if text is not None}
    return cells


def table_4(inputs: Inputs) -> Recomputed:
    """Recompute all cells with the paper's baseline, given a spaCy pipeline; else those that need no article.

    Without articles, these are possessors and their certainty in ORACLE, where every name of an article is predicted
    once, as certain, and the precision of ALLCORR, where only what matches gold is predicted, so that no prediction of
    possessors is wrong.  Relations need the articles: they are only predicted for names that are given a date.
    """
    if inputs.spacy_model is not None:
        return inputs.once("table 4", lambda: _run_baseline(inputs))
    records = _read_records(inputs)
    predictions = [_predict_every_name(record) for record in records]
    oracle = _score(records, predictions, scenario="oracle")
    cells: dict[tuple[str, str], Value] = {
        (row, f"ORACLE {column}"): oracle(f"{SUBTASKS[row]}/{score}")
        for row in ("Poss.ID", "Poss.Cert")
        for column, score in SCORES.items()
    }
    for setting in ("exact", "partial"):
        correct = _score(records, predictions, scenario="all_correct", setting=setting)
        cells["Poss.ID", f"ALLCORR {setting} P"] = correct("possessor/precision")
    return cells


def _run_baseline(inputs: Inputs) -> Recomputed:
    """Run the paper's baseline on the articles that have a text, and score it."""
    records = _read_records(inputs)
    documents = read_documents(records, inputs.spacy_model or "", inputs.articles)
    with_text = [record for record in records if record["article"] in documents]
    entities, names = predict_entities(documents), predict_names(records, documents)
    cells: dict[tuple[str, str], Value] = {}
    for group, (scenario, setting) in COLUMNS.items():
        predicted = names if scenario == "oracle" else entities
        # section 6.1
        found = _score(with_text, predicted, scenario=scenario, setting=setting, tolerance="0.1")
        cells |= {
            (row, f"{group} {column}"): found(f"{family}/{score}")
            for row, family in SUBTASKS.items()
            for column, score in SCORES.items()
        }
    model, n_texts = (
        quote(inputs.spacy_model or ""),
        f"{len(with_text):,} of {len(records):,} articles",
    )
    source = f"your texts of {n_texts} with the spaCy pipeline {model}, and scored with a tolerance of 10 %"
    inputs.remarks["Table 4"] = inputs.remarks["Text"] = (
        f"Here, the results of the baseline are recomputed from {source}"
    )
    return cells


def table_5(inputs: Inputs) -> Recomputed:
    """Find the most frequent labels, which the baseline gives to everything (section 6.1)."""
    rows = [row for record in _read_records(inputs) for row in record["possessions"]]
    labels = {"Poss.Cert": "certainty", "Temp.Rel": "relation", "TRel.Cert": "relation_certainty"}
    counts = {
        row: Counter(one[label] for one in rows if one[label] is not None)
        for row, label in labels.items()
    }
    return {
        (row, "heuristic"): f"all {count.most_common(1)[0][0].capitalize()}"
        for row, count in counts.items()
        if count
    }


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text on the corpus and the evaluation."""
    records = _read_records(inputs)
    found = facts(records)
    possessors, unique = found["possessors"], found["possessors, once per article"]
    sizes = [len(record["possessions"]) for record in records]
    types = sorted(TYPES, key=lambda name: -found[f"type: {name}"])
    anchors = [
        row["anchor"]
        for record in records
        for row in record["possessions"]
        if row["anchor"] is not None
    ]
    words = {word for anchor in anchors for word in anchor.casefold().split()}
    months = {name.casefold() for name in month_name if name}
    # Whether a tolerance of a quarter, that of the paper's example, accepts the years after a single one.
    later = [
        time_overlap(Years(year, year), Years(1832, 1832), tolerance="0.25")[0] == 1
        for year in range(1833, 1900)
    ]
    cells: dict[tuple[str, str], Value] = {
        ("articles", "abstract"): len(records),
        ("artifact-possessor relations", "abstract"): possessors,
        ("least number of possessors of an article that was kept", "4.1"): min(sizes),
        ("pairs / unique pairs", "4.2.1"): f"{possessors:.0f} / {unique:.0f}",
        ("order of the types by frequency", "4.2.1"): ", ".join(TYPES[name] for name in types),
        ("possessors with a temporal anchor", "4.2.3"): found["time: known"],
        ("granularity of anchors", "4.2.3"): "month" if months & words else "year",
        ("share of articles annotated twice, percent", "4.2.5"): 100
        * float(ratio(ANNOTATED_TWICE, len(records))),
        ("exact match, example", "5"): _compare_names("the Netherlands", "Netherlands"),
        ("partial match, example", "5"): _compare_names("Museum of Modern Art", "Modern Art"),
        ("no match, example", "5"): _compare_names("Museum of Modern Art", "Queen of Sheba"),
        ("bounds of the year 1832", "5"): ", ".join(map(str, parse_time("1832") or ())),
        ("bounds of the range 1815-1845", "5"): ", ".join(map(str, parse_time("1815-1845") or ())),
        ("tolerance: least adjustment in years", "5"): next(
            years for years, accepted in enumerate(later, start=1) if not accepted
        )
        - 1,
    }
    example = _find_example(records)
    if example:
        names = {normalize_name(row["possessor"]).tokens for row in example}
        listed = sum(normalize_name(name).tokens in names for name in PAIRS_OF_FIGURE_1)
        cells["pairs listed for the excerpt of Figure 1", "4.2.1"] = listed
        pairs = find_ordered_pairs(example)
        listed = sum(
            tuple(normalize_name(name).tokens for name in pair) in pairs
            for pair in PAIRS_OF_SECTION_5
        )
        cells["ordered pairs listed for Table 3 (said to be partial)", "5"] = listed
    if inputs.spacy_model is not None:
        scores = inputs.once("table 4", lambda: _run_baseline(inputs))
        exact, partial = (
            cast(float, scores["Poss.ID", f"ALL {setting} R"]) for setting in ("exact", "partial")
        )
        cells |= {
            (
                "Poss.ID recall of the baseline, exact / partial",
                "6.2",
            ): f"{exact:.2f} / {partial:.2f}",
            ("possessors captured by named entity recognition, percent", "6.2"): Claim(
                100 * partial, partial < 0.75
            ),
            ("F1 of temporal anchors in ORACLE", "6.2"): scores["Temp.Anch", "ORACLE F1"],
        }
    return cells


def _read_records(inputs: Inputs) -> Sequence[Record]:
    """Return the records of the corpus, with the texts of the folder of articles if one is given."""
    records = read_gold(load_corpus("wikipossessions"), data_dir=inputs.data_dir).records
    if inputs.articles is None:
        return records
    texts = read_folder(inputs.articles, [record["article"] for record in records])
    return [{**record, "text": texts.get(record["article"])} for record in records]


def _find_example(records: Sequence[Record]) -> Sequence[Record]:
    """Return the possessions of the example article; none if it is not there."""
    return [
        row for record in records if record["article"] == EXAMPLE for row in record["possessions"]
    ]


def _predict_every_name(record: Record) -> Record:
    names = dict.fromkeys(row["possessor"] for row in record["possessions"])
    same = {
        "certainty": "certain",
        "anchor": "Now",
        "relation": "during",
        "relation_certainty": "certain",
    }
    rows = [
        {"possessor": name, "order": str(number), **same}
        for number, name in enumerate(names, start=1)
    ]
    return {"article": record["article"], "possessions": rows}


def _score(
    records: Sequence[Record], predictions: Sequence[Record], **options: str
) -> Callable[[str], float]:
    """Score predictions; return a function from the name of a score to its value."""
    scores = PROCEDURE.count(gold=records, system=predictions, **options).scores(PROCEDURE.metrics)
    return lambda name: float(scores[name] or 0)


def _compare_names(one: str, other: str) -> str:
    """Write two names with the evaluation's verdict between them: equal (=), partial match (~) or neither (a comma)."""
    ours, theirs = normalize_name(one), normalize_name(other)
    if ours.tokens == theirs.tokens:
        return f"{one} = {other}"
    return f"{one} ~ {other}" if ours.content & theirs.content else f"{one}, {other}"


TAKES = ("articles", "spacy_model")

RECOMPUTE: Mapping[str, Recompute] = {
    "Table 1": table_1,
    "Table 2": table_2,
    "Table 3": table_3,
    "Table 4": table_4,
    "Table 5": table_5,
    "Text": text,
}
