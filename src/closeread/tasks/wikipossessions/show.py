"""An article for a reader: its possessions in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.showing import Part, View, format_cell
from closeread.records import Record
from closeread.tables import Grid

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
EXAMPLES = 2
"""The number of possessions of an example."""


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the possessions of each article, then its text if it is known."""
    for number, record in enumerate(records):
        yield record["article"]
        yield _draw_possessions("" if system is None else "Gold", record["possessions"])
        if system is not None:
            row = system[number]
            yield (
                _draw_possessions("Predictions", [])
                if row is None
                else _draw_possessions("Predictions", row["possessions"])
            )
        if record.get("text"):
            yield record["text"]


def _draw_possessions(title: str, possessions: Sequence[Record]) -> Grid:
    rows = [[format_cell(one.get(name)) for name in COLUMNS] for one in sorted(possessions, key=_order)]
    header = list(COLUMNS.values())
    return Grid(title, header, rows, prose=frozenset({"possessor", "anchor"}), texts=frozenset(header))


def _order(possession: Record) -> tuple[int, ...]:
    return tuple(map(int, possession["order"].split(".")))


def predict(record: Record) -> Record:
    """Predict the first possessions."""
    few = record["possessions"][:EXAMPLES]
    return {"article": record["article"], "possessions": [{name: one[name] for name in PREDICTED} for one in few]}


VIEWS = {"document": View(draw, predict=predict)}
