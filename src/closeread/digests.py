"""Digests of gold by unit, so that merged shards of the gold have the digest of the whole.

Conventions: the digest of a unit is the sha256 of its records, regardless of their order and the format of their file.
Missing keys and nulls are the same.  A record that contains only strings is digested as it is, any other record as JSON
with sorted keys.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, repeat
from typing import Any, TypeGuard

from closeread.coded_columns import CodedColumn, LazyColumn, NumberedNames
from closeread.records import ColumnRecords, Record, column, find_runs

DIGEST_BYTES = 32

ROWS = 2**12
"""How many records are written at once."""

FIELD_END, KEYS_END, RECORD_END = "\x1f", "\x1d", "\x1e"

CONTROLS = re.compile("[\x00-\x1f]")


def unit_digests(records: Sequence[Record], unit: str, not_in_digest: Iterable[str] = ()) -> dict[str, bytes]:
    """Return the sha256 of the records of each unit, by the unit's name.

    Args:
        records: gold records.
        unit: the field with the name of a record's unit.
        not_in_digest: fields that do not affect scores; `a.b` is the field b of every item of the list a.
    """
    names, dropped = column(records, unit), tuple(not_in_digest)
    if isinstance(records, ColumnRecords) and isinstance(names, CodedColumn):
        fields = [name for name in sorted(records.columns) if name not in dropped]
        columns = {name: values for name in fields if _is_safe(values := records.columns[name])}
        if columns and len(columns) == len(fields):
            return dict(zip(names.values, _digest_columns(columns, names), strict=True))
    texts = _format_records(records, dropped)
    starts = find_runs(names)
    if len({names[start] for start in starts}) == len(starts):  # the records of each unit follow each other
        return {names[start]: _hash(list(islice(texts, end - start))) for start, end in pairwise([*starts, len(names)])}
    by_unit: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        by_unit.setdefault(name, []).append(text)
    return {name: _hash(own) for name, own in by_unit.items()}


def _is_safe(values: Sequence[object]) -> TypeGuard[LazyColumn]:
    """Tell whether a column is a lazy one without control characters, which come before those that end fields."""
    if isinstance(values, NumberedNames):
        return CONTROLS.search(values.prefix) is None
    if not isinstance(values, CodedColumn):
        return False
    blocks = ("".join(values.values[begin : begin + ROWS]) for begin in range(0, len(values.values), ROWS))
    return all(text.isprintable() or CONTROLS.search(text) is None for text in blocks)


def _digest_columns(columns: Mapping[str, LazyColumn], units: CodedColumn) -> Iterator[bytes]:
    """Yield the sha256 of the records of each unit, in the order of the units' numbers.

    Args:
        columns: the fields to digest, sorted, without control characters.
        units: the unit of each record.
    """
    import numpy as np  # only here, since help imports this module

    order = np.argsort(units.codes, kind="stable")
    ends = np.cumsum(np.bincount(units.codes, minlength=len(units.values)))
    own, shared = _split_columns(list(columns.values()), units)
    first = FIELD_END.join(columns) + KEYS_END
    begin = unit = 0
    while unit < len(ends):
        next_unit = max(unit + 1, int(np.searchsorted(ends, begin + ROWS, "right")))
        bounds = [begin, *ends[unit:next_unit].tolist()]
        rows, heads = order[begin : bounds[-1]], order[bounds[:-1]]
        texts = list(map(FIELD_END.join, zip(*(one.take(rows) for one in own), strict=True)))
        rests = map(FIELD_END.join, zip(*(one.take(heads) for one in shared), strict=True)) if shared else repeat("")
        for (start, end), rest in zip(pairwise(bounds), rests, strict=False):
            tail = FIELD_END + rest if shared else ""
            yield _hash(texts[start - begin : end - begin], first, tail)
        begin, unit = bounds[-1], next_unit


def _split_columns(columns: Sequence[LazyColumn], units: CodedColumn) -> tuple[list[LazyColumn], list[LazyColumn]]:
    """Split columns into some and the last ones, in which the records of a unit have the same text."""
    n_own = len(columns)
    while n_own > 1 and isinstance(last := columns[n_own - 1], CodedColumn) and last.is_constant_in(units):
        n_own -= 1
    return list(columns[:n_own]), list(columns[n_own:])


def _hash(texts: list[str], first: str = "", last: str = "") -> bytes:
    """Return the sha256 of the records of a unit, in any order, each between the same two texts."""
    texts.sort()
    whole = first + f"{last}{RECORD_END}{first}".join(texts) + last
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


def combine_digests(digests: Iterable[bytes]) -> str:
    """Return the sha256, in hex, of digests in sorted order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def _format_records(records: Sequence[Record], not_in_digest: Sequence[str]) -> Iterator[str]:
    """Yield each record as text, which is the same for equal records."""
    if isinstance(records, ColumnRecords):
        columns = {name: records.columns[name] for name in sorted(records.columns) if name not in not_in_digest}
        if all(set(map(type, values)) == {str} for values in columns.values()):
            rows = map(FIELD_END.join, zip(*columns.values(), strict=True))
            first = FIELD_END.join(columns) + KEYS_END
            begin = 0
            while some := list(islice(rows, ROWS)):
                if _contains_ends(some, len(columns)):
                    yield from (_format_record(record) for record in _rows_of(columns, begin, len(some)))
                else:
                    yield from map(first.__add__, some)
                begin += len(some)
            return
    paths = [name.partition(".") for name in not_in_digest]
    yield from (_format_record(_drop_fields(record, paths)) for record in records)


def _rows_of(columns: Mapping[str, Sequence[str]], begin: int, number: int) -> Iterator[Record]:
    """Yield some rows of columns."""
    return (
        dict(zip(columns, row, strict=True))
        for row in zip(*(values[begin : begin + number] for values in columns.values()), strict=True)
    )


def _contains_ends(rows: Sequence[str], n_fields: int) -> bool:
    """Return whether a text contains one of the characters that end fields, keys or records."""
    whole = "".join(rows)
    ends = whole.count(FIELD_END) - len(rows) * (n_fields - 1)
    return bool(ends) or RECORD_END in whole or KEYS_END in whole


def _format_record(record: Record) -> str:
    present = {name: record[name] for name in sorted(record) if record[name] is not None}
    if set(map(type, present.values())) == {str}:
        row = FIELD_END.join(present.values())
        if not _contains_ends([row], len(present)):
            return FIELD_END.join(present) + KEYS_END + row
    return _format_json(present)


def _drop_fields(record: Record, paths: Sequence[tuple[str, str, str]]) -> Record:
    """Return a record without some of its fields."""
    whole = {outer for outer, _, inner in paths if not inner}
    rest = {name: value for name, value in record.items() if name not in whole}
    for outer, _, inner in paths:
        if inner and rest.get(outer):
            rest[outer] = [{name: value for name, value in item.items() if name != inner} for item in rest[outer]]
    return rest


def _format_json(value: Any) -> str:
    """Return a value as JSON, which is the same for equal values."""
    import orjson  # ten times as fast as the standard library for the links of a corpus

    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
