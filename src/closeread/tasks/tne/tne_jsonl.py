"""TNE's released files: JSON Lines, gzipped or not, of either version.

Conventions: version 1.0 keeps the noun phrases of a document as an object by id, version 1.1 as a list; both become the
list.  Two fields are added: the domain and the forum that the source file's name tells.  Texts keep their line ends,
and the characters U+0080 to U+009F that some of the released ones hold.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from closeread.errors import FormatError, Problem, quote, quote_json
from closeread.formats import Format
from closeread.formats.gzipped import unzipped
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import BYTE_ORDER_MARK, MAX_LINE_BYTES, read_bytes
from closeread.records import Parsed, Record
from closeread.tasks.tne.columns import Documents

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".json.gz")

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""What no text may hold: of the control characters, tab, line end and the released texts' own are let through."""

DERIVED = ("domain", "forum")

SUSPECT_ESCAPE = re.compile(rb"\\(?:[bfr]|u00[01]|u007[fF]|u0022)")

NEWS = re.compile(r"wiki_[0-9]+_news\.json")
BOOK = re.compile(r".*_gut\.json")
REVIEW = re.compile(r".*_imdb\.json")
FORUM = re.compile(r"reddit_(.+)_formatted\.json")


def read_records(path: Path, split: str) -> Parsed:
    """The documents of a file, whatever the split, with their noun phrases as a list.

    Raises:
        FormatError: the file can't be read, is no sound gzip file, or no UTF-8.
    """
    del split
    data = unzipped(path, read_bytes(path)).removeprefix(BYTE_ORDER_MARK)
    if not data:
        raise FormatError(path, [Problem("is empty")])
    with uncollected():
        return _parsed(data.removesuffix(b"\n").split(b"\n"))


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for garbage in the block, which would walk through all objects of the process again and again.

    It costs a tenth of the time in a bare process, and more the more is alive beside what is read.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parsed(raw: Sequence[bytes]) -> Parsed:
    records: list[Record] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for number, line in enumerate(raw, start=1):
        record = _plain_object(line)
        if record is None:
            found, problem = _object(line)
            if problem is not None:
                problems.append(Problem(problem, number))
            if found is None:
                continue
            record = found
        wrong = list(_normalise(record))
        name = record.get("id")
        of = f"id {quote(name)}: " if isinstance(name, str) else ""
        problems += [Problem(f"{of}{what}", number) for what in wrong]
        if not wrong:
            records.append(record)
            lines.append(number)
    return Parsed(Documents(records), lines, problems)


def _plain_object(line: bytes) -> Record | None:
    """The object on a line on which there can't be anything to refuse; None for all other lines."""
    if len(line) > MAX_LINE_BYTES or b"\x7f" in line or SUSPECT_ESCAPE.search(line):
        return None
    try:
        value = orjson.loads(line)
        # All quotation marks are written again, but for those of a key that is given twice.
        same_keys = isinstance(value, dict) and _quotes(orjson.dumps(value)) == _quotes(line)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return value if same_keys else None


def _quotes(line: bytes) -> int:
    """How many quotation marks there are, in half the time that `bytes.count` takes where there are so many."""
    return int(np.count_nonzero(np.frombuffer(line, np.uint8) == ord('"')))


def _object(line: bytes) -> tuple[Record | None, str | None]:
    """The object on any line, or what is wrong with the line."""
    if len(line) > MAX_LINE_BYTES:
        return None, f"has {len(line):,} bytes; a line may have {MAX_LINE_BYTES:,}"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, f"byte {error.start + 1} (0x{line[error.start]:02x}) is not UTF-8; needed: UTF-8 text"
    parsed = parse_json_lines([text], UNSAFE)
    if parsed.problems:
        return None, parsed.problems[0].what
    return parsed.records[0], None


def _normalise(record: Record) -> Iterator[str]:
    """Bring a document of either version into the one form; what can't be brought there is told."""
    nps = record.get("nps")
    if isinstance(nps, dict):
        for name, noun_phrase in nps.items():
            if isinstance(noun_phrase, dict) and noun_phrase.setdefault("id", name) != name:
                found = f"nps: the noun phrase {quote(name)} has the id {quote_json(noun_phrase['id'], 60)}"
                yield f"{found}; needed: the same"
        record["nps"] = list(nps.values())
    clusters = record.get("coref")
    for cluster in clusters if isinstance(clusters, list) else ():
        _fill(cluster, ("np_type",))  # version 1.0 of the split for training may lack it
    metadata = record.get("metadata")
    if not isinstance(metadata, dict):
        return
    _fill(metadata, ("annotators", "url", "source"))
    _fill(metadata["annotators"], ("coref_worker", "consolidator_worker", "np-relations_worker"))
    for name, value in zip(DERIVED, _origin(metadata), strict=True):
        if record.get(name) is None:
            record[name] = value
        elif value is not None and record[name] != value:
            yield f"{name} is {quote_json(record[name], 60)}; needed: {quote(value)}, as the source says, or nothing"


def _fill(value: object, names: Iterable[str]) -> None:
    """Give an object these names, so that it is the same whether a name is absent or null."""
    if isinstance(value, dict):
        for name in names:
            value.setdefault(name, None)


def _origin(metadata: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    source = metadata.get("source") if metadata else None
    return origin(source) if isinstance(source, str) else (None, None)


def origin(source: str) -> tuple[str | None, str | None]:
    """The domain and the forum that the name of a source file tells.

    >>> origin("wiki_05_news.json"), origin("reddit_atheism_formatted.json")
    (('news', None), ('reddit', 'atheism'))
    """
    if forum := FORUM.fullmatch(source):
        return "reddit", forum[1]
    domains = (("news", NEWS), ("books", BOOK), ("imdb", REVIEW))
    return next((domain for domain, pattern in domains if pattern.fullmatch(source)), None), None


def dump_records(records: Iterable[Record]) -> str:
    """The records as the text of a file of version 1.1; what was added to them, and is added again, is dropped."""
    lines = []
    for record in records:
        added = dict(zip(DERIVED, _origin(record.get("metadata")), strict=True))
        own = {name: value for name, value in record.items() if name not in added or value not in (None, added[name])}
        for name in ("metadata", "np_relations"):
            if own.get(name, ...) is None:
                del own[name]
        lines.append(orjson.dumps(own).decode() + "\n")
    return "".join(lines)


FORMAT = Format(read=read_records, write=dump_records, suffixes=SUFFIXES)
