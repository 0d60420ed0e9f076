"""Records for readers: paragraphs, tables and examples.

The module `records` of a task offers `VIEWS`, a mapping from a definition of the schema to the `View` of such records.
What has no view of its own, such as the rows of a flat config, is shown field by field.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, GoldSource, read_corpus_gold, read_gold
from closeread.corpus.schema import load_schema, resolve
from closeread.exceptions import RequestError, choose_words, escape, quote, suggest
from closeread.records import Record, column
from closeread.tables import NOTHING, Grid, draw, find_width, wrap_paragraph
from closeread.tasks import find

Part = str | Grid  # A paragraph or a table

Draw = Callable[[Sequence[Record], Sequence[Record | None] | None], Iterable[Part]]
"""Makes parts from the records of one view, and from a system's rows beside them, None without a system."""


@dataclass(frozen=True)
class View:
    """How records are shown."""

    draw: Draw  # makes the parts of a page
    # the field whose value is shared by records that are shown together; empty if each is shown
    # alone
    unit: str = ""
    # Makes a prediction from a gold record that agrees with it, in whole or in part, as an example.
    predict: Callable[[Record], Record] = lambda record: record


def read_records(corpus: Corpus, source: GoldSource) -> Gold:
    """Read the records of any config, or of the user's own gold."""
    if source.gold is not None:
        gold = read_corpus_gold(source)
    else:
        gold = read_gold(corpus, source.config, source.split, source.files)
    if not gold.records:
        raise RequestError("there are no records")
    return gold


def load_view(corpus: Corpus, config: str | None) -> View:
    """Return the view of the records of a config; None stands for a user's own gold."""
    declared = None if config is None else corpus.configs[config]
    module = None if declared is not None and declared.flattens else find(corpus.task, "records")
    views = cast(Mapping[str, View], getattr(module, "VIEWS", {}))
    return views.get("document" if declared is None else declared.definition, View(_draw_fields))


def list_names(corpus: Corpus, view: View, records: Sequence[Record]) -> list[str]:
    """Return the distinct ids of the records or of the units shown together; none if the records have no ids."""
    field = view.unit or corpus.key
    return list(dict.fromkeys(column(records, field))) if records and field in records[0] else []


def select_records(
    corpus: Corpus, view: View, records: Sequence[Record], name: str | None
) -> tuple[list[int], list[int]]:
    """Return the numbers of the records with an id, and of those that are shown with them.

    The id may be the value of another field that identifies records, or the unit of a view; None for the first.
    """
    fields = [
        field
        for field in dict.fromkeys((corpus.key, view.unit, *corpus.unique))
        if field in records[0]
    ]
    known: dict[str, list[int]] = {}
    for field in reversed(fields):  # ids come first
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, value in enumerate(column(records, field)):
            numbers[str(value)].append(number)
        known |= numbers
    matching = [0] if name is None else known.get(name)
    if matching is None:
        listing = choose_words("--ids", f"closeread.show('{corpus.name}', ids=True)")
        raise RequestError(
            f"{quote(str(name))} is not the id of a record.{suggest(str(name), list(known))} See `{listing}`."
        )
    if not view.unit:
        return matching, matching
    unit = records[matching[0]][view.unit]
    shown = [number for number, value in enumerate(column(records, view.unit)) if value == unit]
    return (shown if name is None else matching), shown


def _draw_fields(
    records: Sequence[Record], system: Sequence[Record | None] | None
) -> Iterable[Part]:
    del system
    for record in records:
        texts = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in record.values()
        )
        rows = [[name, text] for name, text in zip(record, texts, strict=True)]
        yield Grid(
            "", ["field", "value"], rows, prose=frozenset({"value"}), texts=frozenset({"value"})
        )


def draw_parts(parts: Iterable[Part], *, coloured: bool) -> str:
    """Return paragraphs, wrapped to the terminal's width, and tables, with an empty line between them."""
    width = find_width()
    drawn = [
        "\n".join(
            line for text in part.splitlines() for line in wrap_paragraph(escape(text), width)
        )
        if isinstance(part, str)
        else draw(part, "table", coloured=coloured)
        for part in parts
    ]
    return "\n\n".join(text.rstrip("\n") for text in drawn)


def mark_spans(pieces: Sequence[str], spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return tokens or characters with brackets around spans (first, last, label), and the labels after these.

    >>> mark_spans(["The", "ferry", "Gannet"], [(2, 2, "a"), (0, 2, "b")])
    ['[The', 'ferry', '[Gannet]a]b']
    """
    marked = list(pieces)
    inside = [(start, end, label) for start, end, label in spans if 0 <= start <= end < len(marked)]
    # inner spans close first
    for _, end, label in sorted(inside, key=lambda span: (span[1], -span[0])):
        marked[end] += f"]{label}"
    for start, _, _ in inside:
        marked[start] = f"[{marked[start]}"
    return marked


def format_cell(value: object) -> str:
    """Format a value for a cell; a dash for None."""
    return NOTHING if value is None else str(value)


# Examples

SAMPLE = "sample"


def example_record(corpus: Corpus) -> Record:
    """Return a short gold record of the sample: the one with the fewest characters as JSON."""
    return min(read_gold(corpus, SAMPLE).records, key=lambda record: len(json.dumps(record)))


def example_submission(corpus: Corpus) -> str:
    """Return a line of JSON Lines that is a valid submission for the sample, made of the same record in gold."""
    schema = load_schema(corpus.schema)
    fields = resolve(schema, schema["$defs"]["submission"])["properties"]
    row = load_view(corpus, SAMPLE).predict(example_record(corpus))
    return json.dumps(
        {name: value for name, value in row.items() if name in fields}, ensure_ascii=False
    )


def abridge(record: Record) -> str:
    """Return a record as JSON with a line for each field and only the first items of lists.

    >>> print(abridge({"id": "s1", "tokens": ["The", "ferry", "hit", "a", "sandbank"]}))
    {"id": "s1",
     "tokens": ["The", "ferry", … 3 more]}
    """

    def abridge_value(value: Any) -> str:
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(
                    f"{json.dumps(name)}: {abridge_value(child)}" for name, child in value.items()
                )
                + "}"
            )
        if not isinstance(value, list):
            return json.dumps(value, ensure_ascii=False)
        # Two items of a list are shown; a third is as short as the words that would replace it.
        shown = value if len(value) <= 3 else value[:2]
        rest = [f"… {len(value) - 2:,} more"] if len(value) > len(shown) else []
        return "[" + ", ".join([*map(abridge_value, shown), *rest]) + "]"

    return (
        "{"
        + ",\n ".join(
            f"{json.dumps(name)}: {abridge_value(value)}" for name, value in record.items()
        )
        + "}"
    )
