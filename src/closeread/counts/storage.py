"""Files of counts: results in Parquet, with their provenance, to be compared and merged later.

Conventions: a row is a unit or, if `breakdown` is not null, a part of a unit.  Columns are `unit`, `block`, `gold` (the
sha256 of the unit's gold), `block_name` (that of the block's name; only where a block may have several units),
`breakdown`, `part`, `field:…` and `count:…`; the provenance is metadata.  A count is null in the rows that do not have
it: a breakdown may have other counts than the units.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread import limits
from closeread.arrays import Floats, Ints
from closeread.counts.counted import Counted, Provenance
from closeread.counts.procedure import Procedure
from closeread.counts.table import Breakdown, CountTable
from closeread.digests import DIGEST_BYTES
from closeread.exceptions import FormatError, Problem, RequestError, quote
from closeread.files import replacing
from closeread.records import check_format
from closeread.wording import choose_words

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 3
"""The number of the file format.  Files of format 1 have neither this number nor a digest of their content; those of
format 2 have no names of blocks, so that shards that share a block can't be merged.
"""

KEY = b"closeread"
MAGIC = b"PAR1"
BLOCK_NAME, FIELD, COUNT = "block_name", "field:", "count:"
UNITS = ""
"""Stands for the units among the names of breakdowns, which are not empty."""

MAX_COLUMNS = 1000
MAX_CELLS = 2**28
"""The limits of a file's columns, and of its rows times columns."""

LARGEST = 2**53
"""The limit of counts and of their sums: whole numbers below it are exact."""

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no name of a unit, field or part may contain: control characters and lone surrogates."""

TEXT: dict[str, Any] = {"type": "string", "maxLength": 200}
MAYBE: dict[str, Any] = {**TEXT, "type": ["string", "null"]}
NUMBER: dict[str, Any] = {"type": "integer", "minimum": 0}
NAMES: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
METADATA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [*(field.name for field in fields(Provenance)), "breakdowns"],
    "properties": {
        **dict.fromkeys(("procedure", "corpus"), TEXT),
        **dict.fromkeys(("config", "split"), MAYBE),
        **dict.fromkeys(("procedure_version", "missing"), NUMBER),
        "signature": {**TEXT, "maxLength": 2000},
        "released": {"type": ["boolean", "null"]},
        "options": {"type": "object", "additionalProperties": TEXT},
        "format": {"type": "integer"},
        "digest": {"type": "string"},
        "breakdowns": NAMES,
        "counts": NAMES,
    },
}


class _Stored(NamedTuple):
    """What a file says; `is_changed` if its content has another digest than it says."""

    table: CountTable
    provenance: Provenance
    is_changed: bool


def digest_content(table: CountTable, provenance: Provenance) -> str:
    """Return the sha256, in hex, of all that a file of counts says: of the values, not of how they are encoded."""
    inside = {name: [list(parts.parts), list(parts.names)] for name, parts in table.breakdowns.items()}
    columns = {name: list(column) for name, column in table.fields.items()}
    about = {**asdict(provenance), "options": list(provenance.options.items())}
    head = [about, list(table.units), list(table.names), columns, inside]
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    arrays: list[Floats | Ints] = [table.blocks, table.values]
    for _, parts in sorted(table.breakdowns.items()):
        arrays += [parts.unit, parts.part, parts.values]
    for array in arrays:
        found.update(np.ascontiguousarray(array, np.dtype(array.dtype).newbyteorder("<")).tobytes())
    found.update(b"".join([*table.digests, *table.block_names]))
    return found.hexdigest()


def write_counts(path: Path, counted: Counted) -> None:
    """Write the counts of a system.

    Raises:
        OSError: the file can't be written.
        RequestError: a name contains a control character.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = counted.table
    if unsafe := list(_find_unsafe_names(table, counted.procedure.unit)):
        raise RequestError(f"{path}: the counts can't be stored: {'; '.join(unsafe)}")
    inside = list(table.breakdowns.items())
    n, units = len(table.units), np.asarray(table.units, dtype=object)
    rows = np.concatenate([np.arange(n), *(parts.unit for _, parts in inside)]).astype(np.int64)
    counts = list(dict.fromkeys([*table.names, *(name for _, parts in inside for name in parts.names)]))
    values = np.full((len(rows), len(counts)), np.nan)
    start = 0
    for own, names in ((table.values, table.names), *((parts.values, parts.names) for _, parts in inside)):
        values[start : start + len(own), [counts.index(name) for name in names or table.names]] = own
        start += len(own)

    def fill_digests(digests: Sequence[bytes]) -> pa.Array:
        return pa.array([*digests, *[None] * (len(rows) - len(digests))], pa.binary(DIGEST_BYTES))

    within = [name for name, parts in inside for _ in parts.unit]
    part = [parts.parts[i] for _, parts in inside for i in parts.part.tolist()]
    columns = {
        "unit": pa.array(units[rows].tolist(), pa.string()),
        "block": pa.array(table.blocks[rows], pa.int64()),
        **({BLOCK_NAME: fill_digests(table.block_names)} if table.block_names else {}),
        "gold": fill_digests(table.digests),
        "breakdown": pa.array([None] * n + within, pa.string()),
        "part": pa.array([None] * n + part, pa.string()),
        **{
            FIELD + name: pa.array(np.asarray(column, dtype=object)[rows].tolist(), pa.string())
            for name, column in table.fields.items()
        },
        **{
            COUNT + name: pa.array(column, pa.float64(), from_pandas=True)  # NaN is null
            for name, column in zip(counts, values.T, strict=True)
        },
    }
    # The rows do not show the order of the parts, nor breakdowns without counts.
    about: dict[str, Any] = {"format": FORMAT, "digest": digest_content(table, counted.provenance)}
    about |= {**asdict(counted.provenance), "breakdowns": {name: parts.parts for name, parts in inside}}
    if own_names := {name: parts.names for name, parts in inside if parts.names}:
        about["counts"] = {UNITS: table.names, **own_names}
    arrow = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about)})
    # pyarrow takes no path that is not UTF-8.
    with replacing(path) as partial, partial.open("wb") as file:
        pq.write_table(arrow, file, write_page_checksum=True)


def _find_unsafe_names(table: CountTable, unit: str) -> Iterator[str]:
    texts = {unit: table.units}
    texts |= {f"value of {name}": column for name, column in table.fields.items()}
    texts |= {f"value of {name}": parts.parts for name, parts in table.breakdowns.items()}
    for what, names in texts.items():
        if unsafe := [name for name in names if UNSAFE.search(name)]:
            more = f" ({len(unsafe):,} in all)" if len(unsafe) > 1 else ""
            yield f"{what} {quote(unsafe[0])} contains a control character{more}"


def is_count_file(path: Path) -> bool:
    """Return whether a file is Parquet, as files of counts are and submissions never are."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_any_counts(path: Path, load: Callable[[str], Procedure]) -> Counted:
    """Read the counts of a system by any procedure, with all metrics that can be computed from them.

    Args:
        path: the file.
        load: returns the procedure of a name.

    Raises:
        FormatError: the file is missing, was not written by `write_counts`, was changed, or is for another procedure or
            another version of it; a RequestError if there is no such procedure.
    """
    table, provenance, is_changed = _read_file(path)
    procedure = load(provenance.procedure)
    if (provenance.procedure, provenance.procedure_version) != (procedure.name, procedure.version):
        found = f"contains counts of {provenance.procedure} version {provenance.procedure_version}"
        raise FormatError(path, [Problem(f"{found} (expected {procedure.name} version {procedure.version})")])
    try:  # options that were added since are at their defaults
        options = procedure.keep_options(procedure.resolve_options(provenance.options), reading=True)
    except RequestError as error:
        raise FormatError(path, [Problem(str(error))]) from None
    procedure = procedure.with_metrics(procedure.families)
    lacking = {metric.family for metric in procedure.metrics if not metric.is_defined(table.names)}
    if lacking >= set(procedure.families):
        raise FormatError(path, [Problem("contains no counts for any score; score them again")])
    procedure = procedure.with_metrics([family for family in procedure.families if family not in lacking])
    if provenance.signature != procedure.signature(options, table.gold_digest):
        raise FormatError(path, [Problem("the signature does not match the options and the gold; score again")])
    problems = list(map(Problem, _find_problems(table, procedure.unit)))
    if is_changed:
        problems.append(Problem("was changed after it was written: its content has another digest; score again"))
    elif problems:
        problems.append(Problem(f"contains counts that {_name_writer()} never writes; score again"))
    if problems:
        raise FormatError(path, problems)
    return Counted(table, procedure, replace(provenance, options=options))


def _find_problems(table: CountTable, unit: str) -> Iterator[str]:
    """Yield what is wrong with ids, blocks and numbers, by whatever procedure."""
    twice, times = max(Counter(table.units).items(), key=lambda item: item[1], default=("", 0))
    if times > 1:
        yield f"{unit} {quote(twice)} occurs twice"
    blocks = np.unique(table.blocks)
    if not np.array_equal(blocks, np.arange(len(blocks))):
        found = ", ".join(map(str, blocks[:5].tolist())) + (", …" if len(blocks) > 5 else "")
        yield f"blocks are {found} (expected 0, 1, 2 and so on, each at least once)"
    every = [("", np.arange(len(table.units)), table.names, table.values)]
    for name, parts in table.breakdowns.items():
        every.append((f", by {name}", parts.unit, parts.names or table.names, parts.values))
    for within, rows, names, values in every:
        for name, column in zip(names, values.T, strict=True):
            wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0) & (column < LARGEST)))
            if len(wrong):
                more = f" ({len(wrong):,} rows)" if len(wrong) > 1 else ""
                first = f"{unit} {quote(table.units[rows[wrong[0]]])}{within}"
                yield f"{first}: {name} is {column[wrong[0]]:.15g} (expected a number from 0 to 2**53){more}"
            elif column.sum() >= LARGEST:
                yield f"{name} sums to {column.sum():.15g} (expected less than 2**53)"


def _read_file(path: Path) -> _Stored:
    """Read the counts of a file and their provenance, of which only the form is checked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists() and not path.is_file():  # opening a pipe would wait
        raise FormatError(path, [Problem("is not a file")])
    try:
        with path.open("rb") as data:
            plain = pq.ParquetFile(data)
            schema, size = plain.schema.to_arrow_schema(), plain.metadata
            about = json.loads((schema.metadata or {})[KEY])
            check_format(about, FORMAT, path)
            decoded = sum(size.row_group(i).total_byte_size for i in range(size.num_row_groups))
            excess = limits.describe_excess(max(decoded, path.stat().st_size))
            if size.num_columns > MAX_COLUMNS or size.num_rows * size.num_columns > MAX_CELLS:
                excess = f"is too large: {size.num_rows:,} rows of {size.num_columns:,} columns"
            if excess is not None:
                raise FormatError(path, [Problem(excess)])  # noqa: TRY301
            texts = [field.name for field in schema if field.type == pa.string()]
            options = {"metadata": size, "page_checksum_verification": True}
            with pq.ParquetFile(data, read_dictionary=texts, **options) as file:
                return _read_content(schema, file.read(use_threads=False), about)
    except (FormatError, MemoryError):  # pyarrow's own is one of its errors, too
        raise
    except OSError as error:
        # pyarrow's own errors have no strerror.
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or "not a Parquet file"
        raise FormatError(path, [Problem(f"can't be read: {reason.lower()}")]) from None
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        expected = f"expected one written by {_name_writer()}"
        raise FormatError(path, [Problem(f"is not a file of counts ({expected})")]) from None


def _read_content(schema: pa.Schema, arrow: pa.Table, about: Any) -> _Stored:
    """Read counts and provenance from a file's columns, texts with dictionaries, and its metadata."""
    import jsonschema_rs

    if not jsonschema_rs.is_valid(METADATA, about):
        raise ValueError("the metadata are invalid")
    parts_of, counts = about["breakdowns"], about.get("counts", {})
    provenance = Provenance(**{field.name: about[field.name] for field in fields(Provenance)})
    table = _read_table(_list_chunks(schema, arrow), parts_of, counts)
    is_signed = about.get("format", 1) > 1
    return _Stored(table, provenance, is_signed and about["digest"] != digest_content(table, provenance))


def _list_chunks(schema: pa.Schema, arrow: pa.Table) -> dict[str, Sequence[pa.Array]]:
    """Return the chunks of each column, which has the type that `write_counts` gives it."""
    digest = f"fixed_size_binary[{DIGEST_BYTES}]"
    kinds = {"unit": "string", BLOCK_NAME: digest, "block": "int64", FIELD: "string", COUNT: "double"}
    kinds |= {"breakdown": "string", "part": "string", "gold": digest}
    chunks: dict[str, Sequence[pa.Array]] = {}
    for field, column in zip(schema, arrow.columns, strict=True):
        kind = next((kind for start, kind in kinds.items() if field.name.startswith(start)), None)
        may_be_null = field.name in (BLOCK_NAME, "breakdown", "part", "gold") or field.name.startswith(COUNT)
        if str(field.type) != kind or field.name in chunks or (column.null_count and not may_be_null):
            raise ValueError(f"column {field.name} is not one column of {kind}")
        chunks[field.name] = column.chunks
    return chunks


def _read_table(
    chunks: Mapping[str, Sequence[pa.Array]], parts_of: Mapping[str, Sequence[str]], counts: Mapping[str, Sequence[str]]
) -> CountTable:
    """Read the counts from a file's columns."""

    def select(kind: str) -> dict[str, Sequence[pa.Array]]:
        return {name.removeprefix(kind): own for name, own in chunks.items() if name.startswith(kind)}

    values = {name: _read_numbers(own, "f8", np.nan) for name, own in select(COUNT).items()}
    of_units = tuple(name for name in counts.get(UNITS, values) if name in values)
    (units, names), (part, parts), (within, breakdowns) = (
        _read_texts(chunks[name]) for name in ("unit", "part", "breakdown")
    )
    n = int(np.count_nonzero(within < 0))
    known = {*parts_of, *(name for i, name in enumerate(breakdowns) if not (within == i).any())}
    if not (within[:n] < 0).all() or set(breakdowns) - known or UNITS in breakdowns:
        raise ValueError("a breakdown is not after the units, or has an unknown name")
    row_of = np.full(len(names) + 1, -1)
    row_of[units[:n]] = np.arange(n)

    def read_digests(name: str) -> list[bytes]:
        found = [digest for chunk in chunks.get(name, ()) for digest in chunk.to_pylist()][:n]
        if None in found:
            raise ValueError("a unit has no digest")
        return found

    def stack(names: Sequence[str], rows: slice | Ints) -> Floats:
        return np.column_stack([values[name][rows] for name in names])

    def read_breakdown(name: str) -> Breakdown:
        own = tuple(counts.get(name, ()))
        rows = np.flatnonzero(within == (breakdowns.index(name) if name in breakdowns else -2))
        number = {part: i for i, part in enumerate(parts_of[name])}
        place_of = np.array([*(number.get(part, -1) for part in parts), -1], np.int64)
        unit, place = row_of[units[rows]], place_of[part[rows]]
        if min(unit.min(initial=0), place.min(initial=0)) < 0:
            raise ValueError("a part is of no unit, or has an unknown name")
        return Breakdown(tuple(parts_of[name]), unit, place, stack(own or of_units, rows), own)

    def list_texts(codes: Ints, texts: Sequence[str]) -> list[str]:
        return [texts[code] for code in codes[:n].tolist()]

    return CountTable(
        list_texts(units, names),
        _read_numbers(chunks["block"], "i8")[:n].copy(),
        of_units,
        stack(of_units, slice(n)),
        {name: list_texts(*_read_texts(own)) for name, own in select(FIELD).items()},
        {name: read_breakdown(name) for name in parts_of},
        read_digests("gold"),
        read_digests(BLOCK_NAME),
    )


def _read_numbers(chunks: Sequence[pa.Array], dtype: str, null: float = 0) -> Any:
    """Return a column of numbers, (n,)."""
    found = [np.empty(0, dtype)]
    for chunk in filter(len, chunks):
        valid, data = chunk.buffers()
        end = chunk.offset + len(chunk)
        values = np.frombuffer(data, dtype)[chunk.offset : end]
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(valid, np.uint8), count=end, bitorder="little")
            values = np.where(bits[chunk.offset :], values, np.array(null, dtype))
        found.append(values)
    return np.concatenate(found)


def _read_texts(chunks: Sequence[pa.DictionaryArray]) -> tuple[Ints, list[str]]:
    """Return the number of each row's text, (n,), -1 for null, and the text of each number; all are distinct."""
    numbers: dict[str, int] = {}
    codes = [np.empty(0, np.int64)]
    for chunk in chunks:
        places = [numbers.setdefault(text, len(numbers)) for text in chunk.dictionary.to_pylist()]
        indices = _read_numbers([chunk.indices], f"i{chunk.indices.type.bit_width // 8}", -1)
        codes.append(np.array([*places, -1], np.int64)[indices])
    return np.concatenate(codes), list(numbers)


def _name_writer() -> str:
    return choose_words("--counts", "`closeread score --counts`")
