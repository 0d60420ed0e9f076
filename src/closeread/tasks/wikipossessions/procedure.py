"""The six subtasks of WikiPossessions, with exact or partial match of names.

Source: Chinnappa, Palmer and Blanco (2020), section 5; what they leave open is an option.

Conventions: the unit, and what is resampled, is the article.  Numerators and denominators are summed over articles
before anything is divided (`average="micro"`), or every article's scores are averaged (`"macro"`).  0/0 is 0.

Metrics: precision, recall and F1 of
    possessor: possessors found.
    possessor_certainty: those whose certainty is right.
    anchor: years, or events, of the anchors.
    relation, relation_certainty: relations to the anchors, and their certainty.
    ordering: ordered pairs of possessors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from closeread.corpora.sides import CorpusSides
from closeread.counts.metrics import Metric, Ratio, average, precision_recall_f1, unit_scores
from closeread.counts.options import Option, average_option, check_present, missing_option
from closeread.counts.procedure import Procedure
from closeread.counts.sides import Inconsistency
from closeread.counts.table import CountTable
from closeread.errors import quote
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.matching import MATCHINGS, SETTINGS
from closeread.tasks.wikipossessions.kernels.names import STRIP_SCOPES, normalised
from closeread.tasks.wikipossessions.kernels.ordering import ORDERING_MATCHES, SUBORDERS
from closeread.tasks.wikipossessions.kernels.subtasks import (
    COUNTS,
    FAMILIES,
    RELATION_CERTAINTY_GOLD,
    SCENARIOS,
    Rules,
    article_counts,
    possessions,
)
from closeread.tasks.wikipossessions.kernels.temporal import (
    CENTURIES,
    OPEN_RANGES,
    TOLERANCE_RECALLS,
    TOLERANCE_ROUNDINGS,
    UNKNOWN_WITH_RELATION,
    Reading,
    Tolerance,
)

TITLES = {
    "possessor": "Possessors",
    "possessor_certainty": "Certainty of possessors",
    "anchor": "Temporal anchors",
    "relation": "Temporal relations",
    "relation_certainty": "Certainty of relations",
    "ordering": "Ordering",
}
ASKED = {
    "possessor": ("predicted possessors that match one of gold", "gold possessors that are matched"),
    "possessor_certainty": (
        "predicted possessors that match one of gold and are as certain",
        "gold possessors that are matched by one as certain",
    ),
    "anchor": (
        "mean over predicted anchors of the share of years that gold has",
        "mean over gold anchors of the share of years that is predicted",
    ),
    "relation": (
        "predicted anchors whose possessor matches and whose relation is right",
        "gold anchors whose possessor is matched and whose relation is found",
    ),
    "relation_certainty": (
        "predicted anchors whose possessor matches and whose relation is as certain",
        "gold anchors whose possessor is matched and whose relation is as certain",
    ),
    "ordering": ("predicted ordered pairs that gold has", "gold ordered pairs that are predicted"),
}
ORDER = re.compile(r"[0-9]+(\.[0-9]+)*")


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    strip_scope: str = "all",
    matching: str = "one_to_one",
    unknown_with_relation: str = "unanchored",
    tolerance_rounding: str = "floor",
    tolerance_recall: str = "expanded",
    now_year: str = "2017",
    open_range: str = "collapse",
    century: str = "event",
    relation_certainty_gold: str = "anchored",
    suborder: str = "tuple",
    ordering_match: str = "existential",
    average: str = "micro",
    setting: str = "exact",
    scenario: str = "all",
    tolerance: str = "0",
    missing: str = "error",
) -> CountTable:
    """Counts of every article.

    Args:
        gold: articles, each with `article` and `possessions`, of which each has `possessor`, `certainty`, `order`,
            `anchor`, `relation` and `relation_certainty`; what lacks is null.
        system: the same articles in the same order; None where there is none.
        strip_scope, matching, unknown_with_relation, tolerance_rounding, tolerance_recall, now_year, open_range,
            century, relation_certainty_gold, suborder, ordering_match, average, setting, scenario, tolerance, missing:
            what `PROCEDURE` says of its options.

    Raises:
        ValueError: an article has no predictions and `missing` is "error"; an order is none; or `scenario` is "oracle"
            and a possessor is none of gold's.
    """
    present = np.array([row is not None for row in system], np.bool_)
    check_present(present, "articles", missing)
    reading = Reading(strip_scope, unknown_with_relation, int(now_year), open_range, century)
    rules = Rules(
        setting=setting,
        scenario=scenario,
        reading=reading,
        matching=matching,
        tolerance=Tolerance(Fraction(tolerance), tolerance_rounding, tolerance_recall),
        relation_certainty_gold=relation_certainty_gold,
        suborder=suborder,
        ordering_match=ordering_match,
    )
    counted = [
        article_counts(possessions(_rows(row), reading), possessions(_rows(record), reading), rules)
        for record, row in zip(gold, system, strict=True)
    ]
    counts = np.array(counted).reshape(len(gold), len(FAMILIES) * len(COUNTS))
    names = [f"{family}/{name}" for family in FAMILIES for name in COUNTS]
    columns = dict(zip(names, counts.T, strict=True))
    if average == "macro":
        columns = unit_scores(columns, PROCEDURE.metrics)
    table = CountTable.of_columns([record["article"] for record in gold], columns)
    return table.select(present) if missing == "skip" else table


def find_inconsistencies(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Rows of other articles, possessions that contradict themselves, and, where names of gold were given, other names.

    Yields:
        The side ("gold" or "system"), the article's number from 0, and what is wrong.
    """
    for number, (record, predicted) in enumerate(zip(gold, system, strict=True)):
        if predicted is not None and predicted["article"] != record["article"]:
            found, needed = quote(predicted["article"]), quote(record["article"])
            yield Inconsistency("system", number, f"article is {found}; needed: {needed}, as in the gold")
    for side, records in (("gold", gold), ("system", system)):
        for number, row_or_none in enumerate(records):
            for place, row in enumerate(_rows(row_or_none)):
                for what in _inconsistent(row):
                    yield Inconsistency(side, number, f"{_place(place, row)}: {what}")
    if options.get("scenario") == "oracle":
        yield from _of_other_names(gold, system, options.get("strip_scope", STRIP_SCOPES[0]))


def _of_other_names(gold: Sequence[Record], system: Sequence[Record | None], scope: str) -> Iterator[Inconsistency]:
    """Predictions whose names are none of gold's."""
    for number, (record, predicted) in enumerate(zip(gold, system, strict=True)):
        known = {normalised(row["possessor"], scope).tokens for row in _rows(record)}
        for place, row in enumerate(_rows(predicted)):
            if normalised(row["possessor"], scope).tokens not in known:
                found = f"{_place(place, row)}: is no possessor in gold's {quote(record['article'])}"
                yield Inconsistency("system", number, f"{found}; needed in scenario oracle: the names of gold")


def _rows(record: Record | None) -> Sequence[Mapping[str, Any]]:
    return () if record is None else record["possessions"]


def _place(place: int, row: Mapping[str, Any]) -> str:
    return f"possessions[{place}] ({quote(row['possessor'])})"


def _inconsistent(row: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a possession by itself."""
    order, relation, certainty = (row.get(name) for name in ("order", "relation", "relation_certainty"))
    if not row["possessor"].strip():
        yield f"possessor is {quote(row['possessor'])}; needed: a name"
    if order is not None and not ORDER.fullmatch(order):
        yield f"order is {quote(order)}; needed: whole numbers with full stops between them, such as 6 or 6.1"
    if relation is not None and row.get("anchor") is None:
        yield f"relation is {quote(relation)} and anchor is null; needed: an anchor, or no relation"
    if certainty is not None and relation is None:
        yield f"relation_certainty is {quote(certainty)} and relation is null; needed: both or neither"
    if relation is not None and certainty is None:
        yield f"relation is {quote(relation)} and relation_certainty is null; needed: both or neither"


def _metrics() -> Iterator[Metric]:
    for family, asked in ASKED.items():
        of_system, of_gold = (f"{what[0].upper()}{what[1:]}." for what in asked)
        precision = Ratio(f"{family}/found_of_system", f"{family}/system", of_system)
        recall = Ratio(f"{family}/found_of_gold", f"{family}/gold", of_gold)
        yield from precision_recall_f1(family, TITLES[family], precision, recall)


def _canonical_year(text: str) -> str:
    return str(int(text))


def _canonical_decimal(text: str) -> str:
    return format(Decimal(text).normalize(), "f")


PROCEDURE = Procedure(
    name="wikipossessions",
    version=1,
    title="WikiPossessions: possessors, certainty, anchors, relations and ordering",
    unit="article",
    resampling_unit="article",
    options=(
        Option(
            "strip_scope",
            STRIP_SCOPES,
            "all",
            "Where articles and prepositions are dropped from names: everywhere, or only at their edges.",
        ),
        Option(
            "matching",
            MATCHINGS,
            "one_to_one",
            "Whether a gold possession is that of one prediction, or may be that of several, the best of which counts "
            "for recall.",
        ),
        Option(
            "unknown_with_relation",
            UNKNOWN_WITH_RELATION,
            "unanchored",
            "What the anchor Unknown is where it has a relation: no anchor, or one that equals only its like.",
        ),
        Option(
            "tolerance_rounding",
            TOLERANCE_ROUNDINGS,
            "floor",
            "How the years of the tolerance are rounded (a half up); they are 1 at least.",
        ),
        Option(
            "tolerance_recall",
            TOLERANCE_RECALLS,
            "expanded",
            "Against which gold range recall is measured under a tolerance: the expanded one, of which a year that is "
            "exactly right is a third, or the original one.",
        ),
        Option(
            "now_year",
            (),
            "2017",
            "The year that Now is; the articles are of June 2017.",
            pattern=r"-?[0-9]{1,5}",
            expected="a year such as 2017",
            canonical=_canonical_year,
        ),
        Option(
            "open_range",
            OPEN_RANGES,
            "collapse",
            "What begins at an unknown time is, as Unknown-1930 and a lone Now do: its end alone, or no anchor.",
        ),
        Option(
            "century",
            CENTURIES,
            "event",
            "What 13th Century is, by itself or as a side of a range: an event, or the years 1201 to 1300.",
        ),
        Option(
            "relation_certainty_gold",
            RELATION_CERTAINTY_GOLD,
            "anchored",
            "Of which gold the certainty of the relation is scored: all that is anchored, or only where it is certain; "
            "predictions of other gold are then left out too.",
        ),
        Option(
            "suborder",
            SUBORDERS,
            "tuple",
            "How 6.1 is ordered: after 6 and before 6.2; moreover in a tie with 6, inside which it is; or as 6.",
        ),
        Option(
            "ordering_match",
            ORDERING_MATCHES,
            "existential",
            "In the partial setting, when an ordered pair is found: where the other side has some pair whose names "
            "partially match, or whose names are matched with these.",
        ),
        average_option("article"),
        Option(
            "setting", SETTINGS, "exact", "How names match: wholly, or in a token that is no article or preposition."
        ),
        Option(
            "scenario",
            SCENARIOS,
            "all",
            "Which predictions are scored: all, those that match gold, or, where a system was given the names of gold, "
            "the first of each name.",
        ),
        Option(
            "tolerance",
            (),
            "0",
            "By which share of its length a gold range is widened on either side, by a year at least; 0 is not at all.",
            pattern=r"[0-9]{1,6}(\.[0-9]{1,12})?",
            expected="a decimal number such as 0.1",
            canonical=_canonical_decimal,
        ),
        missing_option("error"),
    ),
    metrics=average(_metrics()),
    modules=("possession",),
    count=count,
    sides=CorpusSides(find=find_inconsistencies),
)
