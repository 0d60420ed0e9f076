"""Examples of a corpus: a gold record of its sample, and a valid line of a submission."""

from __future__ import annotations

import json
from typing import Any

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import read_gold
from closeread.corpus.schema import load_schema, resolve
from closeread.corpus.showing import load_view
from closeread.records import Record

SAMPLE = "sample"
ITEMS = 2
"""The number of items of a list that are shown."""


def example_record(corpus: Corpus) -> Record:
    """Return a short gold record of the sample: the one with the fewest characters as JSON."""
    return min(read_gold(corpus, SAMPLE).records, key=lambda record: len(json.dumps(record)))


def example_submission(corpus: Corpus) -> str:
    """Return a line of JSON Lines that is valid for the sample: what gold says of the same record, or a part of it."""
    schema = load_schema(corpus.schema)
    fields = resolve(schema, schema["$defs"]["submission"])["properties"]
    row = load_view(corpus, SAMPLE).predict(example_record(corpus))
    return json.dumps({name: value for name, value in row.items() if name in fields}, ensure_ascii=False)


def abridge(record: Record) -> str:
    """Return a record as JSON with a line for each field and only the first items of lists.

    >>> print(abridge({"id": "s1", "tokens": ["The", "ferry", "hit", "a", "sandbank"]}))
    {"id": "s1",
     "tokens": ["The", "ferry", … 3 more]}
    """
    fields = [f"{json.dumps(name)}: {_abridge(value)}" for name, value in record.items()]
    return "{" + ",\n ".join(fields) + "}"


def _abridge(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)}: {_abridge(child)}" for name, child in value.items()) + "}"
    if isinstance(value, list):
        # One more item is as short as the words that would stand for it.
        shown = value if len(value) <= ITEMS + 1 else value[:ITEMS]
        rest = [f"… {len(value) - ITEMS:,} more"] if len(value) > len(shown) else []
        return "[" + ", ".join([*map(_abridge, shown), *rest]) + "]"
    return json.dumps(value, ensure_ascii=False)
