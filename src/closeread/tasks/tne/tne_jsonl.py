"""TNE's released files: JSON Lines, gzipped or not, of either version.

Conventions: version 1.0 stores the noun phrases of a document as an object by id, version 1.1 as a list; both are read
as a list.  Two fields are added: the domain and the forum, from the name of the source file.  Texts keep their line
ends and the characters U+0080 to U+009F, which some released texts contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from closeread import limits
from closeread.exceptions import Problem, ProblemList, quote, quote_json
from closeread.formats import Format
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".json.gz")

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""Characters that no text may contain: control characters but for tab, line end and those of the released texts."""

DERIVED = ("domain", "forum")

FORUM = re.compile(r"reddit_(.+)_formatted\.json")
DOMAINS = {"news": r"wiki_[0-9]+_news\.json", "books": r".*_gut\.json", "imdb": r".*_imdb\.json"}


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, with their noun phrases as a list; the split makes no difference."""
    del split
    parsed = parse_json_lines(read_lines(path), UNSAFE)
    records: list[Record] = []
    lines = []
    problems = ProblemList(parsed.problems)
    for number, record in zip(parsed.lines, parsed.records, strict=True):
        wrong = list(islice(_normalize(record), limits.MAX_PROBLEMS))
        if not wrong:
            records.append(record)
            lines.append(number)
            continue
        name = record.get("id")
        place = f"id {quote(name)}: " if isinstance(name, str) else ""
        problems += (Problem(f"{place}{problem}", number) for problem in wrong)
    return Parsed(records, lines, problems)


def complete_rows(rows: Sequence[Any]) -> Parsed:
    """Convert documents of either version in memory to the common form, without changing them."""
    records: list[Any] = []
    problems = ProblemList()
    for number, row in enumerate(rows):
        if isinstance(row, dict):
            row = dict(row)
            # What `_normalize` changes in place; a list of noun phrases stays as it is.
            for name in ("metadata", "coref", "nps"):
                if name in row and (name != "nps" or isinstance(row[name], dict)):
                    row[name] = deepcopy(row[name])
            wrong = islice(_normalize(row), limits.MAX_PROBLEMS)
            problems += (Problem(problem, record=f"row {number}") for problem in wrong)
        records.append(row)
    return Parsed(records, None, problems)


def _normalize(record: Record) -> Iterator[str]:
    """Convert a document of either version to the common form, and yield what is wrong with it."""
    phrases = record.get("nps")
    if isinstance(phrases, dict):
        for name, phrase in phrases.items():
            if isinstance(phrase, dict) and phrase.setdefault("id", name) != name:
                other = quote_json(phrase["id"], 60)
                yield f"nps: noun phrase {quote(name)} has the id {other} (expected the same)"
        record["nps"] = list(phrases.values())
    clusters = record.get("coref")
    for cluster in clusters if isinstance(clusters, list) else ():
        # may be missing in version 1.0 of the training split
        _add_nulls(cluster, "np_type")
    metadata = record.get("metadata")
    if not isinstance(metadata, dict):
        return
    _add_nulls(metadata, "annotators", "url", "source")
    workers = ("coref_worker", "consolidator_worker", "np-relations_worker")
    _add_nulls(metadata["annotators"], *workers)
    for name, value in zip(DERIVED, find_origin(metadata["source"]), strict=True):
        if record.get(name) is None:
            record[name] = value
        elif value is not None and record[name] != value:
            stated = quote_json(record[name], 60)
            yield f"{name} is {stated} (expected {quote(value)}, from the source, or null)"


def _add_nulls(value: object, *names: str) -> None:
    """Add missing fields as null, so that a missing field and a null one are the same."""
    if isinstance(value, dict):
        for name in names:
            value.setdefault(name, None)


def find_origin(source: object) -> tuple[str | None, str | None]:
    """Return the domain and the forum, from the name of a source file; None if it has none.

    >>> find_origin("wiki_05_news.json"), find_origin("reddit_atheism_formatted.json")
    (('news', None), ('reddit', 'atheism'))
    """
    if not isinstance(source, str):
        return None, None
    if match := FORUM.fullmatch(source):
        return "reddit", match[1]
    for domain, pattern in DOMAINS.items():
        if re.fullmatch(pattern, source):
            return domain, None
    return None, None


def dump_records(records: Iterable[Record]) -> str:
    """Return the records as the text of a file of version 1.1, without the fields that reading adds."""
    lines = []
    for record in records:
        released = dict(record)
        origin = find_origin((record.get("metadata") or {}).get("source"))
        for name, value in zip(DERIVED, origin, strict=True):
            if released.get(name) in (None, value):
                released.pop(name, None)
        for name in ("metadata", "np_relations"):
            if released.get(name) is None:
                released.pop(name, None)
        lines.append(orjson.dumps(released).decode() + "\n")
    return "".join(lines)


FORMAT = Format(
    read=read_records,
    write=dump_records,
    suffixes=SUFFIXES,
    unsafe=UNSAFE,
    is_json_lines=True,
    complete=complete_rows,
)
