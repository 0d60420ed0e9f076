"""TNE's released files: JSON Lines, gzipped or not, of either version.

Conventions: version 1.0 stores the noun phrases of a document as an object by id, version 1.1 as a list; both are read
as a list.  Two fields are added: the domain and the forum, from the name of the source file.  Texts keep their line
ends and the characters U+0080 to U+009F, which some released texts contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    for number, row in zip(parsed.lines, parsed.records, strict=True):
        record, wrong = _normalize(row)
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
        if not isinstance(row, dict):
            records.append(row)
            continue
        record, wrong = _normalize(row)
        records.append(record)
        problems += (Problem(problem, record=f"row {number}") for problem in wrong)
    return Parsed(records, None, problems)


def _normalize(document: Record) -> tuple[Record, Sequence[str]]:
    """Return a document of either version in the common form, and what is wrong with it, as far as it is listed."""
    record = dict(document)
    problems = []
    phrases = record.get("nps")
    if isinstance(phrases, dict):
        record["nps"] = []
        for name, phrase in phrases.items():
            if isinstance(phrase, dict):
                phrase = {**phrase, "id": phrase.get("id", name)}
                if phrase["id"] != name:
                    other = quote_json(phrase["id"], 60)
                    problems.append(
                        f"nps: noun phrase {quote(name)} has the id {other} (expected the same)"
                    )
            record["nps"].append(phrase)
    clusters = record.get("coref")
    if isinstance(clusters, list):
        # may be missing in version 1.0 of the training split
        record["coref"] = [_add_nulls(cluster, "np_type") for cluster in clusters]
    if isinstance(record.get("metadata"), dict):
        metadata = _add_nulls(record["metadata"], "annotators", "url", "source")
        workers = ("coref_worker", "consolidator_worker", "np-relations_worker")
        metadata["annotators"] = _add_nulls(metadata["annotators"], *workers)
        record["metadata"] = metadata
        for name, value in zip(DERIVED, find_origin(metadata["source"]), strict=True):
            if record.get(name) is None:
                record[name] = value
            elif value is not None and record[name] != value:
                stated = quote_json(record[name], 60)
                expected = f"expected {quote(value)}, from the source, or null"
                problems.append(f"{name} is {stated} ({expected})")
    return record, problems[: limits.MAX_PROBLEMS]


def _add_nulls(value: Any, *names: str) -> Any:
    """Return an object with missing fields as null, so that a missing field and a null one are the same."""
    if not isinstance(value, dict):
        return value
    return {**value, **{name: value.get(name) for name in names}}


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
