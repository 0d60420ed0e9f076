"""Digests of gold by unit, so that merged shards of the gold have the digest of the whole.

Conventions: the digest of a unit is the sha256 of its records, regardless of their order and the format of their file.
Missing keys and nulls are the same.  A record that contains only strings is digested as it is, any other record as JSON
with sorted keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import chain

from closeread.records import ColumnRecords, Record, column

DIGEST_BYTES = 32

FIELD_END, KEYS_END, RECORD_END = "\x1f", "\x1d", "\x1e"


def unit_digests(
    records: Sequence[Record], unit: str, not_in_digest: Iterable[str] = ()
) -> dict[str, bytes]:
    """Return the sha256 of the records of each unit, by the unit's name, which is a field.

    Without fields that do not affect scores; `a.b` is the field b of every item of the list a.
    """
    lines_by_unit: dict[str, list[str]] = {}
    lines = _format_records(records, not_in_digest)
    for name, line in zip(column(records, unit), lines, strict=True):
        lines_by_unit.setdefault(name, []).append(line)
    digests = {}
    for name, unit_lines in lines_by_unit.items():
        content = RECORD_END.join(sorted(unit_lines)).encode("utf-8", "surrogatepass")
        digests[name] = hashlib.sha256(content).digest()
    return digests


def combine_digests(digests: Iterable[bytes], groups: Sequence[str] = ()) -> str:
    """Return the sha256, in hex, of digests in sorted order, each together with its group if there are groups."""
    if groups:
        pairs = zip(digests, groups, strict=True)
        digests = [hashlib.sha256(digest + group.encode()).digest() for digest, group in pairs]
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def _format_records(records: Sequence[Record], not_in_digest: Iterable[str]) -> Iterable[str]:
    """Return a line for each record, which differ if the records do."""
    if isinstance(records, ColumnRecords) and not not_in_digest and _are_plain(records):
        # The lines are those of `_format_record`, which takes five times as long.
        names = sorted(records.columns)
        keys = FIELD_END.join(names) + KEYS_END
        columns = [records.columns[name] for name in names]
        return (keys + FIELD_END.join(values) for values in zip(*columns, strict=True))
    dropped_fields = [name.partition(".") for name in not_in_digest]
    return (_format_record(_drop_fields(record, dropped_fields)) for record in records)


def _are_plain(records: ColumnRecords) -> bool:
    """Return whether all values are strings without the marks of their ends."""
    values = list(chain.from_iterable(records.columns.values()))
    if set(map(type, values)) != {str}:
        return False
    text = "".join(set(values))
    return not any(mark in text for mark in (FIELD_END, KEYS_END, RECORD_END))


def _format_record(record: Record) -> str:
    present = {name: record[name] for name in sorted(record) if record[name] is not None}
    if set(map(type, present.values())) == {str}:
        row = FIELD_END.join(present.values())
        if row.count(FIELD_END) < len(present) and KEYS_END not in row and RECORD_END not in row:
            return FIELD_END.join(present) + KEYS_END + row
    import orjson  # ten times as fast as the standard library for the links of a corpus

    try:
        return orjson.dumps(present, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(present, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _drop_fields(record: Record, paths: Sequence[tuple[str, str, str]]) -> Record:
    record = dict(record)
    for outer, _, inner in paths:
        if not inner:
            record.pop(outer, None)
        elif record.get(outer):
            record[outer] = [
                {name: value for name, value in part.items() if name != inner}
                for part in record[outer]
            ]
    return record
