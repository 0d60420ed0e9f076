"""Records for readers: paragraphs and tables.

The module `show` of a task offers `VIEWS`, a mapping from a definition of the schema to the `View` of such records.
What has no view of its own, such as the rows of a flat config, is shown field by field.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, read_corpus_gold, read_gold
from closeread.counts.procedure import GoldSpec
from closeread.exceptions import RequestError, escape, quote
from closeread.records import Record, column
from closeread.suggestions import suggest
from closeread.tables import NOTHING, Grid, draw, find_width, wrap_paragraph
from closeread.tasks import find
from closeread.wording import choose_words

Part = str | Grid
"""A paragraph or a table."""

Draw = Callable[[Sequence[Record], Sequence[Record | None] | None], Iterable[Part]]
"""Makes parts from the records that are shown together, and a system's rows beside them; None without a system."""


def copy_record(record: Record) -> Record:
    """Return the record itself."""
    return record


@dataclass(frozen=True)
class View:
    """How records are shown.

    Attributes:
        draw: makes the parts of a page.
        unit: the field whose value is the same in records that are shown together; empty if each is shown alone.
        predict: makes a prediction from a gold record that agrees with it, in whole or in part, as an example.
    """

    draw: Draw
    unit: str = ""
    predict: Callable[[Record], Record] = copy_record


def read_records(corpus: Corpus, place: GoldSpec) -> Gold:
    """Read the records of any config, or of the user's own gold.

    Args:
        corpus: the declaration that they follow.
        place: where they are, with the name of the corpus.

    Raises:
        RequestError: there are none, or no such config or split; an InputError if a file is missing or invalid.
    """
    if place.gold is not None:
        found = read_corpus_gold(place)
    else:
        found = read_gold(corpus, place.config, place.split, place.data_dir)
    if not found.records:
        raise RequestError("there are no records")
    return found


def load_view(corpus: Corpus, config: str | None) -> View:
    """Return the view of the records of a config; None stands for a user's own gold."""
    declared = None if config is None else corpus.configs[config]
    definition = "document" if declared is None else declared.definition
    module = None if declared is not None and declared.flattens else find(corpus.task, "show")
    views = {} if module is None else cast(Mapping[str, View], module.VIEWS)
    return views.get(definition, FIELDS)


def list_names(corpus: Corpus, view: View, records: Sequence[Record]) -> list[str]:
    """Return the ids of what is shown together, each once; none if the records have no ids."""
    field = view.unit or corpus.key
    return list(dict.fromkeys(column(records, field))) if records and field in records[0] else []


def select_records(
    corpus: Corpus, view: View, records: Sequence[Record], name: str | None
) -> tuple[list[int], list[int]]:
    """Return the numbers of the records with an id, and of those that are shown with them.

    Args:
        corpus: the declaration that they follow.
        view: how they are shown.
        records: the records, at least one.
        name: an id, the value of another field that identifies records, or the unit of a view; None for the first.

    Raises:
        RequestError: no record has this id; the message suggests a similar one.
    """
    fields = [field for field in dict.fromkeys((corpus.key, view.unit, *corpus.unique)) if field in records[0]]
    known: dict[str, list[int]] = {}
    for field in reversed(fields):  # ids come first
        known |= _index(column(records, field))
    unit = view.unit or None
    if name is None:
        matching = [0]
    elif name in known:
        matching = known[name]
    else:
        listing = choose_words("--ids", f"closeread show {corpus.name} --ids")
        raise RequestError(f"{quote(name)} is not the id of a record.{suggest(name, list(known))} See `{listing}`.")
    if unit is None:
        return matching, matching
    shown = [number for number, value in enumerate(column(records, unit)) if value == records[matching[0]][unit]]
    return (shown if name is None else matching), shown


def _index(values: Sequence[Any]) -> dict[str, list[int]]:
    """Return the numbers of the records with each value."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, value in enumerate(values):
        found[str(value)].append(number)
    return found


def _draw_fields(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterable[Part]:
    del system
    for record in records:
        rows = [[name, _format_value(value)] for name, value in record.items()]
        yield Grid("", ["field", "value"], rows, prose=frozenset({"value"}), texts=frozenset({"value"}))


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FIELDS = View(_draw_fields)
"""The view of records without a view of their own."""


def draw_parts(parts: Iterable[Part], *, coloured: bool = False) -> str:
    """Return paragraphs, wrapped to the terminal's width, and tables, with an empty line between them.

    Args:
        parts: the paragraphs and tables.
        coloured: whether tables have bold and dim text.
    """
    width = find_width()
    drawn = [
        "\n".join(line for text in part.splitlines() for line in wrap_paragraph(escape(text), width))
        if isinstance(part, str)
        else draw(part, "table", coloured=coloured)
        for part in parts
    ]
    return "\n\n".join(text.rstrip("\n") for text in drawn)


def mark_spans(pieces: Sequence[str], spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return pieces of a text with brackets around spans, and the label of a span after its closing bracket.

    Args:
        pieces: tokens or characters.
        spans: the first and the last piece of each span, and its label.

    >>> mark_spans(["The", "ferry", "Gannet"], [(2, 2, "a"), (0, 2, "b")])
    ['[The', 'ferry', '[Gannet]a]b']
    """
    marked = list(pieces)
    ordered = sorted(spans, key=lambda span: (span[1], -span[0]))  # inner spans close first
    for start, end, label in ordered:
        if 0 <= start <= end < len(marked):
            marked[end] += f"]{label}"
    for start, end, _ in ordered:
        if 0 <= start <= end < len(marked):
            marked[start] = f"[{marked[start]}"
    return marked


def format_cell(value: object) -> str:
    """Format a value for a cell; a dash for None."""
    return NOTHING if value is None else str(value)
