"""Records of WikiPossessions: statistics, a view for readers, and flat rows (one for each possession).

Source: Chinnappa, Palmer and Blanco (2020), Tables 1 and 2 (sections 4.1 to 4.2.3); other figures are ours.

Conventions: a possessor is a row of the file, so a possessor with two possessions counts twice unless stated otherwise.
A time is known if there is a relation to an anchor, as in the paper, which includes two rows with a relation to
`Unknown` (which is not an anchor).  Ordered pairs are those that the scores of ordering count (section 5).  Words and
sections are those of the articles' texts, as `closeread prepare wikipossessions articles` writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, format_cell
from closeread.counts.procedure import name_documents
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.wikipossessions.articles import count_sections, count_words
from closeread.tasks.wikipossessions.matching import parse_order
from closeread.tasks.wikipossessions.subtasks import ordered_pairs, read_possessions

EXAMPLE = "The Night Café"
"""The article whose annotation the paper prints."""

TYPES = ("PER", "ORG", "LOC")
RELATIONS = ("before", "during", "after")
ANCHORS = (
    "one year",
    "first to last year",
    "year to now",
    "unknown to year",
    "unknown to now",
    "event",
    "unknown",
)


CERTAINTIES = ("certain", "uncertain")


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Corpus size, and numbers of possessors by type, certainty, relation, anchor and order.

    The ordered pairs of the paper's example are left out if its article is not there, and words and sections unless
    every article has a text.
    """
    possessions: list[Mapping[str, Any]] = []
    n_mentions: Counter[tuple[str, str]] = Counter()
    n_ordered_pairs = {}
    for record in records:
        article = record["article"]
        possessions += record["possessions"]
        n_mentions.update((article, row["possessor"]) for row in record["possessions"])
        with name_documents([article], "article"):
            n_ordered_pairs[article] = len(find_ordered_pairs(record["possessions"]))
    figures: dict[str, float] = {
        "articles": len(records),
        "possessors": len(possessions),
        "possessors, once per article": len(n_mentions),
        "possessors that repeat in an article": sum(n > 1 for n in n_mentions.values()),
    }
    mean = float(ratio(len(possessions), len(records)))
    figures["possessors per article"] = round(mean, 2)
    for name, mean in count_text(records).items():
        figures[name] = round(mean, 2)
    for name in TYPES:
        figures[f"type: {name}"] = _count(possessions, "type", name)
    for name in CERTAINTIES:
        figures[f"possession: {name}"] = _count(possessions, "certainty", name)
    n_unknown = _count(possessions, "relation", None)
    figures["time: known"] = len(possessions) - n_unknown
    figures["time: unknown"] = n_unknown
    for name in RELATIONS:
        figures[f"relation: {name}"] = _count(possessions, "relation", name)
    for name in CERTAINTIES:
        figures[f"relation: {name}"] = _count(possessions, "relation_certainty", name)
    anchors = Counter(map(_classify_anchor, possessions))
    for name in ANCHORS:
        figures[f"anchor: {name}"] = anchors[name]
    unknown_anchors = [row for row in possessions if row["anchor_kind"] == "unknown"]
    n_with_relation = len(unknown_anchors) - _count(unknown_anchors, "relation", None)
    figures["unknown anchors with a relation"] = n_with_relation
    figures["orders inside another"] = sum("." in row["order"] for row in possessions)
    figures["ordered pairs"] = sum(n_ordered_pairs.values())
    if EXAMPLE in n_ordered_pairs:
        figures[f"ordered pairs of {EXAMPLE}"] = n_ordered_pairs[EXAMPLE]
    return figures


def _count(possessions: Sequence[Mapping[str, Any]], field: str, value: str | None) -> int:
    return sum(possession[field] == value for possession in possessions)


def count_text(records: Sequence[Record]) -> dict[str, float]:
    """Return the mean numbers of words and sections of an article; nothing unless every article has a text.

    Sections are left out if no text marks its headings.
    """
    texts: list[Any] = [record.get("text") for record in records]
    if not texts or None in texts:
        return {}
    totals = {
        "words per article": sum(map(count_words, texts)),
        "sections per article": sum(map(count_sections, texts)),
    }
    return {name: float(ratio(total, len(texts))) for name, total in totals.items() if total}


def find_ordered_pairs(rows: Sequence[Record]) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the pairs of normalized names, of which the first possessed the artifact no later than the second."""
    names, before = ordered_pairs(read_possessions(rows))
    return {(names[first].tokens, names[second].tokens) for first, second in np.argwhere(before)}


def _classify_anchor(possession: Mapping[str, Any]) -> str:
    if possession["anchor_kind"] != "years":
        return str(possession["anchor_kind"])
    if possession["open_start"]:
        return "unknown to now" if possession["open_end"] else "unknown to year"
    if possession["open_end"]:
        return "year to now"
    return "one year" if possession["lower"] == possession["upper"] else "first to last year"


PREDICTED = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")
COLUMNS = {
    "order": "order",
    "possessor": "possessor",
    "type": "type",
    "certainty": "possession",
    "relation": "relation",
    "anchor": "anchor",
    "relation_certainty": "certainty of the relation",
}


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the possessions of each article, then its text if it is known."""
    for number, record in enumerate(records):
        yield record["article"]
        yield _draw_possessions("" if system is None else "Gold", record["possessions"])
        if system is not None:
            row = system[number]
            yield _draw_possessions("Predictions", [] if row is None else row["possessions"])
        if record.get("text"):
            yield record["text"]


def _draw_possessions(title: str, possessions: Sequence[Record]) -> Grid:
    rows = []
    for possession in sorted(possessions, key=lambda possession: parse_order(possession["order"])):
        cells = [format_cell(possession.get(name)) for name in COLUMNS]
        rows.append(cells)
    header = list(COLUMNS.values())
    prose = frozenset({"possessor", "anchor"})
    return Grid(title, header, rows, prose=prose, texts=frozenset(header))


def predict(record: Record) -> Record:
    """Predict the first possessions."""
    possessions = []
    for possession in record["possessions"][:2]:
        predicted = {name: possession[name] for name in PREDICTED}
        possessions.append(predicted)
    return {"article": record["article"], "possessions": possessions}


VIEWS = {"document": View(draw, predict=predict)}


# fmt: off
POSSESSION = (
    "type", "possessor", "certainty", "order", "anchor", "anchor_kind", "lower", "upper",
    "open_start", "open_end", "relation", "relation_certainty",
)
# fmt: on


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each possession, in the order of the articles and of their possessions."""
    rows: list[Sequence[Any]] = []
    for record in records:
        for possession in record["possessions"]:
            fields = [possession[name] for name in POSSESSION]
            rows.append((record["article"], *fields))
    return ColumnRecords.from_rows(("article", *POSSESSION), rows)
