"""The six subtasks of WikiPossessions, with exact or partial matching of names.

Source: Chinnappa, Palmer and Blanco (2020), section 5.  What they leave open is decided so: the anchor Unknown is no
anchor, whatever its relation; a range from an unknown time on is its last year; Now is 2017; a century is an event; a
tolerance is rounded down, and widens gold also where recall is measured; relations are scored whatever the anchors are;
6.1 comes after 6 and before 6.2; partially, an ordered pair matches any pair whose names share tokens with its names.

Conventions: both the unit and the resampling unit are the article.  Numerators and denominators are summed over
articles and then divided (`average="micro"`), or scores are averaged over articles (`"documents"`).  0/0 is 0; in averages
over articles, `undefined` says whether it counts.

Metrics: precision, recall and F1 of
    possessor: possessors.
    possessor_certainty: possessors with the correct certainty.
    anchor: the years, or events, of anchors.
    relation, relation_certainty: relations to anchors, and their certainty.
    ordering: ordered pairs of possessors.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np

from closeread.corpus.submissions import CorpusReader, NothingInCommon
from closeread.counts.metrics import Metric, Ratio, average, precision_recall_f1, unit_scores
from closeread.counts.procedure import (
    EXTRA,
    Inconsistency,
    Option,
    Options,
    Procedure,
    check_present,
    missing_option,
    name_documents,
    unit_options,
)
from closeread.counts.table import CountTable
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.wikipossessions.matching import normalize_name, parse_order
from closeread.tasks.wikipossessions.rules import find_contradictions
from closeread.tasks.wikipossessions.subtasks import (
    COUNTS,
    FAMILIES,
    MAX_POSSESSIONS,
    article_counts,
    read_possessions,
)

TITLES = {
    "possessor": "Possessors",
    "possessor_certainty": "Certainty of possessors",
    "anchor": "Temporal anchors",
    "relation": "Temporal relations",
    "relation_certainty": "Certainty of relations",
    "ordering": "Ordering",
}
DESCRIPTIONS = {
    "possessor": ("predicted possessors that match a gold one", "gold possessors that are matched"),
    "possessor_certainty": (
        "predicted possessors that match a gold one of the same certainty",
        "gold possessors that are matched by one of the same certainty",
    ),
    "anchor": (
        "mean over predicted anchors of the proportion of years that are in gold",
        "mean over gold anchors of the proportion of years that are predicted",
    ),
    "relation": (
        "predicted anchors whose possessor matches and whose relation is correct",
        "gold anchors whose possessor is matched and whose relation is found",
    ),
    "relation_certainty": (
        "predicted anchors whose possessor matches and whose relation has the same certainty",
        "gold anchors whose possessor is matched and whose relation has the same certainty",
    ),
    "ordering": (
        "predicted ordered pairs that are in gold",
        "gold ordered pairs that are predicted",
    ),
}


def count(*, gold: Sequence[Record], system: Sequence[Record | None], **options: str) -> CountTable:
    """Count the possessions of each article.

    Args:
        gold: articles with `article` and `possessions`, each of which has `possessor`, `certainty`, `order`, `anchor`,
            `relation` and `relation_certainty`; values may be null.
        system: the same articles in the same order; None if there is no prediction.
        options: those of `PROCEDURE`, by default its defaults.
    """
    chosen = PROCEDURE.resolve_options(options)
    present = np.array([row is not None for row in system], np.bool_)
    check_present(present, "articles", chosen["missing"])
    names = [f"{family}/{name}" for family, name in product(FAMILIES, COUNTS)]
    counts = np.zeros((len(gold), len(names)))
    for number, (record, row) in enumerate(zip(gold, system, strict=True)):
        with name_documents([record["article"]], "article"):
            predicted = read_possessions(_rows(row))
            expected = read_possessions(_rows(record))
        counts[number] = article_counts(predicted, expected, chosen).ravel()
    columns = dict(zip(names, counts.T, strict=True))
    if chosen["average"] == "documents":
        columns = unit_scores(columns, PROCEDURE.metrics, undefined=chosen["undefined"])
    table = CountTable.of_columns([record["article"] for record in gold], columns)
    return table.select(present) if chosen["missing"] == "skip" else table


def validate(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Find rows of other articles, contradictory possessions and, in scenario "oracle", names that are not in gold.

    Yields:
        The side ("gold" or "system"), the index of the article, and the problem.
    """
    for number, (record, predicted) in enumerate(zip(gold, system, strict=True)):
        if predicted is not None and predicted["article"] != record["article"]:
            expected = f"expected {quote(record['article'])}, as in gold"
            message = f"article is {quote(predicted['article'])} ({expected})"
            yield Inconsistency("system", number, message)
    for number, record in enumerate(gold):
        yield from _find_problems("gold", number, record)
    for number, predicted in enumerate(system):
        yield from _find_problems("system", number, predicted)
    if options.get("scenario") == "oracle":
        for number, (record, predicted) in enumerate(zip(gold, system, strict=True)):
            yield from _find_unknown_names(number, record, predicted)


def _rows(record: Record | None) -> Sequence[Mapping[str, Any]]:
    return () if record is None else record.get("possessions", ())


def _find_problems(side: str, number: int, record: Record | None) -> Iterator[Inconsistency]:
    """Find the problems of an article that one side has alone."""
    rows = _rows(record)
    if len(rows) > MAX_POSSESSIONS:
        message = f"{len(rows):,} possessions (expected at most {MAX_POSSESSIONS:,})"
        yield Inconsistency(side, number, message)
    for position, row in enumerate(rows):
        for message in (*_find_wrong_texts(row), *find_contradictions(row)):
            yield _blame_possession(side, number, position, row, message)


def _blame_possession(
    side: str, number: int, position: int, row: Mapping[str, Any], message: str
) -> Inconsistency:
    place = ("possessions", position)
    return Inconsistency(side, number, message, place, quote(row["possessor"]))


def _find_unknown_names(
    number: int, record: Record, predicted: Record | None
) -> Iterator[Inconsistency]:
    """Find predicted names of an article that are not in gold, as far as gold is known."""
    if "possessions" not in record:
        return
    names = {normalize_name(row["possessor"]).tokens for row in record["possessions"]}
    expected = "expected only gold names in scenario oracle"
    message = f"is not a possessor of {quote(record['article'])} in gold ({expected})"
    for position, row in enumerate(_rows(predicted)):
        if normalize_name(row["possessor"]).tokens not in names:
            yield _blame_possession("system", number, position, row, message)


def _find_wrong_texts(row: Mapping[str, Any]) -> Iterator[str]:
    if not row["possessor"].strip():
        yield f"possessor is {quote(row['possessor'])} (expected a name)"
    order = row.get("order")
    if order is not None:
        try:
            parse_order(order)
        except ValueError as error:
            yield str(error)


def list_possessors(article: Record, options: Options) -> set[Hashable]:
    """Return the names of possessors of an article, and in the partial setting their words, any of which may match."""
    possessors: set[Hashable] = set()
    for row in _rows(article):
        name = normalize_name(row["possessor"])
        possessors.add(name.tokens)
        if options["setting"] == "partial":
            possessors |= name.content
    return possessors


NOTHING_IN_COMMON = NothingInCommon(
    "possessor", list_possessors, "are names written as in the articles?"
)


def _metrics() -> Iterator[Metric]:
    for family, sides in DESCRIPTIONS.items():
        of_system, of_gold = (f"{side[0].upper()}{side[1:]}." for side in sides)
        precision = Ratio(f"{family}/found_of_system", f"{family}/system", of_system)
        recall = Ratio(f"{family}/found_of_gold", f"{family}/gold", of_gold)
        yield from precision_recall_f1(family, TITLES[family], precision, recall)


METRICS = average(_metrics())


def _canonical_decimal(text: str) -> str:
    return format(Decimal(text).normalize(), "f")


OPTIONS = (
    *unit_options("article"),
    Option(
        "setting",
        ("exact", "partial"),
        "exact",
        "How to match names: exactly, or by a shared token that is not an article or preposition.",
    ),
    Option(
        "scenario",
        ("all", "all_correct", "oracle"),
        "all",
        "Score all predictions, only those that match gold, or, for a system that was given the gold names, only the "
        "first of each name.",
    ),
    Option(
        "tolerance",
        (),
        "0",
        "Widen each gold range on both sides by this fraction of its length, but at least one year; 0 to disable.",
        pattern=r"[0-9]{1,6}(\.[0-9]{1,12})?",
        expected="a decimal number such as 0.1",
        canonical=_canonical_decimal,
    ),
    missing_option("error"),
    EXTRA,
)

PROCEDURE = Procedure(
    name="wikipossessions",
    version=1,
    title="WikiPossessions: possessors, certainty, anchors, relations and ordering",
    unit="article",
    resampling_unit="article",
    options=OPTIONS,
    metrics=METRICS,
    headline="possessor/f1",
    modules=("possession",),
    count=count,
    reader=CorpusReader(check=validate, find_remarks=NOTHING_IN_COMMON),
)
