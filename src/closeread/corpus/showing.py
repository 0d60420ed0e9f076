"""Records for readers: paragraphs, tables and examples.

The module `records` of a task offers `VIEWS`, a mapping from a definition of the schema to the `View` of such records.
What has no view of its own, such as the rows of a flat config, is shown field by field.
"""

from __future__ import annotations

import json
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

Part = str | Grid
"""A paragraph or a table."""

Draw = Callable[[Sequence[Record], Sequence[Record | None] | None], Iterable[Part]]
"""Makes parts from the records of one view, and from a system's rows beside them, None without a system."""


@dataclass(frozen=True)
class View:
    """How records are shown.

    Attributes:
        draw: makes the parts of a page.
        unit: the field whose value is shared by records that are shown together; empty if each is shown alone.
        predict: makes a prediction from a gold record that agrees with it, in whole or in part, as an example.
    """

    draw: Draw
    unit: str = ""
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
    definition = "document"
    if config is not None:
        if corpus.configs[config].flattens:
            return View(_draw_fields)
        definition = corpus.configs[config].definition
    views = cast(Mapping[str, View], getattr(find(corpus.task, "records"), "VIEWS", {}))
    return views.get(definition, View(_draw_fields))


def list_names(corpus: Corpus, view: View, records: Sequence[Record]) -> list[str]:
    """Return the distinct ids of the records or of the units shown together; none if the records have no ids."""
    field = view.unit or corpus.key
    if not records or field not in records[0]:
        return []
    return list(dict.fromkeys(column(records, field)))


def select_records(
    corpus: Corpus, view: View, records: Sequence[Record], name: str | None
) -> tuple[list[int], list[int]]:
    """Return the numbers of the records with an id, and of those that are shown with them.

    The id may be the value of another field that identifies records, or the unit of a view; None for the first.
    """
    numbers_by_name: dict[str, list[int]] = {}
    # Ids come last, since they have priority.
    for field in reversed(dict.fromkeys((corpus.key, view.unit, *corpus.unique))):
        if field in records[0]:
            numbers_by_name |= _number_values(records, field)
    matching = [0] if name is None else numbers_by_name.get(name)
    if matching is None:
        listing = choose_words("--ids", f"closeread.show('{corpus.name}', ids=True)")
        suggestion = suggest(str(name), list(numbers_by_name))
        raise RequestError(
            f"{quote(str(name))} is not the id of a record.{suggestion} See `{listing}`."
        )
    if not view.unit:
        return matching, matching
    together = _number_values(records, view.unit)[str(records[matching[0]][view.unit])]
    return (together if name is None else matching), together


def _number_values(records: Sequence[Record], field: str) -> dict[str, list[int]]:
    """Return the numbers of the records with each value of a field."""
    numbers: dict[str, list[int]] = {}
    for number, value in enumerate(column(records, field)):
        numbers.setdefault(str(value), []).append(number)
    return numbers


def _draw_fields(
    records: Sequence[Record], system: Sequence[Record | None] | None
) -> Iterable[Part]:
    del system
    for record in records:
        rows = []
        for name, value in record.items():
            is_text = isinstance(value, str)
            rows.append([name, value if is_text else json.dumps(value, ensure_ascii=False)])
        columns = frozenset({"value"})
        yield Grid("", ["field", "value"], rows, prose=columns, texts=columns)


def draw_parts(parts: Iterable[Part], *, coloured: bool) -> str:
    """Return paragraphs, wrapped to the terminal's width, and tables, with an empty line between them."""
    width = find_width()
    texts = []
    for part in parts:
        if isinstance(part, str):
            lines: list[str] = []
            for line in part.splitlines():
                lines += wrap_paragraph(escape(line.rstrip()), width)
            text = "\n".join(lines)
        else:
            text = draw(part, "table", coloured=coloured)
        texts.append(text.rstrip("\n"))
    return "\n\n".join(texts)


def mark_spans(pieces: Sequence[str], spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return tokens or characters with brackets around spans (first, last, label), and the labels after these.

    >>> mark_spans(["The", "ferry", "Gannet"], [(2, 2, "a"), (0, 2, "b")])
    ['[The', 'ferry', '[Gannet]a]b']
    """
    marked = list(pieces)
    # Inner spans close first.
    for start, end, label in sorted(spans, key=lambda span: (span[1], -span[0])):
        if 0 <= start <= end < len(marked):
            marked[end] += f"]{label}"
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
    submitted = {name: value for name, value in row.items() if name in fields}
    return json.dumps(submitted, ensure_ascii=False)


def abridge(record: Record) -> str:
    """Return a record as JSON with a line for each field and only the first items of lists.

    >>> print(abridge({"id": "s1", "tokens": ["The", "ferry", "hit", "a", "sandbank"]}))
    {"id": "s1",
     "tokens": ["The", "ferry", … 3 more]}
    """

    def abridge_value(value: Any) -> str:
        if isinstance(value, dict):
            return abridge_fields(value, ", ")
        if not isinstance(value, list):
            return json.dumps(value, ensure_ascii=False)
        # A third item is as short as the words that would replace it.
        if len(value) <= 3:
            texts = list(map(abridge_value, value))
        else:
            texts = [*map(abridge_value, value[:2]), f"… {len(value) - 2:,} more"]
        return f"[{', '.join(texts)}]"

    def abridge_fields(fields: Record, separator: str) -> str:
        texts = [f"{json.dumps(name)}: {abridge_value(value)}" for name, value in fields.items()]
        return "{" + separator.join(texts) + "}"

    return abridge_fields(record, ",\n ")
