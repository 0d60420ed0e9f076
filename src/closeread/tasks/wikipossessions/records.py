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

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, format_cell
from closeread.counts.procedure import name_documents
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.wikipossessions.articles import count_sections, count_words
from closeread.tasks.wikipossessions.subtasks import ordered_pairs, possessions

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


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Corpus size, and numbers of possessors by type, certainty, relation, anchor and order.

    The ordered pairs of the paper's example are left out if its article is not there, and words and sections unless
    every article has a text.
    """
    rows = [possession for record in records for possession in record["possessions"]]
    names = Counter(
        (record["article"], row["possessor"]) for record in records for row in record["possessions"]
    )
    types, certainties, relations, relation_certainties = (
        Counter(row[name] for row in rows)
        for name in ("type", "certainty", "relation", "relation_certainty")
    )
    anchors = Counter(map(_classify_anchor, rows))
    pairs = {}
    for record in records:
        with name_documents([record["article"]], "article"):
            pairs[record["article"]] = len(find_ordered_pairs(record["possessions"]))
    return {
        "articles": len(records),
        "possessors": len(rows),
        "possessors, once per article": len(names),
        "possessors that repeat in an article": sum(number > 1 for number in names.values()),
        "possessors per article": round(float(ratio(len(rows), len(records))), 2),
        **{name: round(mean, 2) for name, mean in count_text(records).items()},
        **{f"type: {name}": types[name] for name in TYPES},
        **{f"possession: {name}": certainties[name] for name in ("certain", "uncertain")},
        "time: known": len(rows) - relations[None],
        "time: unknown": relations[None],
        **{f"relation: {name}": relations[name] for name in RELATIONS},
        **{f"relation: {name}": relation_certainties[name] for name in ("certain", "uncertain")},
        **{f"anchor: {name}": anchors[name] for name in ANCHORS},
        "unknown anchors with a relation": sum(
            row["relation"] is not None and row["anchor_kind"] == "unknown" for row in rows
        ),
        "orders inside another": sum("." in row["order"] for row in rows),
        "ordered pairs": sum(pairs.values()),
        **({f"ordered pairs of {EXAMPLE}": pairs[EXAMPLE]} if EXAMPLE in pairs else {}),
    }


def count_text(records: Sequence[Record]) -> dict[str, float]:
    """Return the mean numbers of words and sections of an article; nothing unless every article has a text.

    Sections are left out if no text marks its headings.
    """
    texts = [text for record in records if (text := record.get("text")) is not None]
    if not texts or len(texts) < len(records):
        return {}
    found = {"words per article": count_words, "sections per article": count_sections}
    totals = {name: sum(map(count, texts)) for name, count in found.items()}
    return {name: float(ratio(total, len(texts))) for name, total in totals.items() if total}


def find_ordered_pairs(rows: Sequence[Record]) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the pairs of normalized names, of which the first possessed the artifact no later than the second."""
    names, before = ordered_pairs(possessions(rows))
    return {(names[i].tokens, names[j].tokens) for i, j in zip(*before.nonzero(), strict=True)}


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
    rows = [
        [format_cell(one.get(name)) for name in COLUMNS] for one in sorted(possessions, key=_order)
    ]
    header = list(COLUMNS.values())
    return Grid(
        title, header, rows, prose=frozenset({"possessor", "anchor"}), texts=frozenset(header)
    )


def _order(possession: Record) -> tuple[int, ...]:
    return tuple(map(int, possession["order"].split(".")))


def predict(record: Record) -> Record:
    """Predict the first possessions."""
    few = record["possessions"][:2]
    return {
        "article": record["article"],
        "possessions": [{name: one[name] for name in PREDICTED} for one in few],
    }


VIEWS = {"document": View(draw, predict=predict)}


POSSESSION = (
    *("type", "possessor", "certainty", "order", "anchor", "anchor_kind", "lower", "upper"),
    *("open_start", "open_end", "relation", "relation_certainty"),
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each possession, in the order of the articles and of their possessions."""
    return ColumnRecords.from_rows(
        ("article", *POSSESSION),
        (
            (record["article"], *(possession[name] for name in POSSESSION))
            for record in records
            for possession in record["possessions"]
        ),
    )
