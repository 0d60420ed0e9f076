"""The process that decodes a Parquet file, so that no file can end, or fill, the process that wants its rows.

It is run as a script, and imports nothing of this package: `closeread.formats.parquet` starts it.

Standard input is a line of JSON with the limits, and the bytes of the file.  The answers are messages, each a line of
JSON with `kind` and `size`, and as many bytes: "schema", the Arrow schema; and once a line was written to standard
input, "table", an Arrow stream.  In place of either, "problems" is a JSON list of what is wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

ROOM = 2**30
"""How many bytes decoding may take beyond those that it returns."""

SMALL, LARGE = 16, 64
"""What a value, and an object or a list, take in Python at least, in bytes."""


class RefusedError(Exception):
    """A file that is not decoded; the arguments are what is wrong with it."""


def main() -> None:
    """Decode the file on standard input."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    limits = json.loads(stdin.readline())
    data = stdin.read(limits["size"])
    try:
        file = _open(data, limits)
        _write(stdout, "schema", file.schema_arrow.serialize())
        if stdin.readline():
            _write(stdout, "table", _to_stream(_decode(file, limits)))
    except RefusedError as error:
        _write(stdout, "problems", json.dumps(error.args).encode())
    except MemoryError:
        found = f"takes more than {limits['bytes']:,} bytes of memory to decode"
        _write(stdout, "problems", json.dumps([found]).encode())


def _write(file: IO[bytes], kind: str, content: Any) -> None:
    file.write(json.dumps({"kind": kind, "size": len(content)}).encode() + b"\n")
    file.write(content)
    file.flush()


def _limit_process(limits: dict[str, int]) -> None:
    """Limit the memory and the time of this process, on systems that can."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return
    wanted = {
        resource.RLIMIT_AS: used + 3 * limits["bytes"] + ROOM,
        resource.RLIMIT_CPU: limits["seconds"],
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _open(data: bytes, limits: dict[str, int]) -> Any:
    """Open a file and check what its footer says of its size.

    Raises:
        RefusedError: it is damaged, or too large.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    _limit_process(limits)
    try:
        file = pq.ParquetFile(
            pa.BufferReader(data),
            thrift_string_size_limit=len(data),
            thrift_container_size_limit=limits["elements"],
            page_checksum_verification=True,
        )
        file.schema_arrow.names  # noqa: B018 (which may not be UTF-8)
        problems = list(_check_size(file.metadata, limits))
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, MemoryError):
            raise
        found = "is too large" if "size limit" in str(error) else "is damaged"
        raise RefusedError(f"is not a valid Parquet file: its footer {found}") from None
    if problems:
        raise RefusedError(*problems)
    return file


def _check_size(metadata: Any, limits: dict[str, int]) -> Iterator[str]:
    """Yield what is too large, or impossible, in the numbers of a footer."""
    columns, rows = metadata.num_columns, metadata.num_rows
    if columns > limits["columns"]:
        yield f"has {columns:,} columns (limit: {limits['columns']:,})"
        return
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if rows < 0 or rows != sum(group.num_rows for group in groups):
        yield f"is damaged: its footer says that it has {rows:,} rows, but its row groups have others"
        return
    chunks = [group.column(j) for group in groups for j in range(columns)]
    most = limits["bytes"] // SMALL
    limit = "limit in a file of this size" if limits["by_size"] else "limit"
    if (values := max(rows * columns, sum(chunk.num_values for chunk in chunks))) > most:
        yield f"has {values:,} values in {rows:,} rows ({limit}: {most:,})"
    if (size := sum(chunk.total_uncompressed_size for chunk in chunks)) > limits["bytes"]:
        yield f"has {size:,} bytes when decompressed ({limit}: {limits['bytes']:,})"


def _decode(file: Any, limits: dict[str, int]) -> Any:
    """Return the columns of a file as a table without dictionaries.

    Raises:
        RefusedError: columns are damaged, or the table is too large.
    """
    import pyarrow as pa

    problems, columns, left = [], {}, limits["bytes"]
    for name in file.schema_arrow.names:
        try:
            column = _decode_column(file, name, left)
            left -= sum(map(_measure, column.chunks))
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError, pa.ArrowException) as error:
            if isinstance(error, MemoryError):
                raise
            problems.append(f"column {name!r} is damaged")
            continue
        if len(column) != file.metadata.num_rows:
            problems.append(f"column {name!r} is damaged")
        if left < 0:
            most = f"more than {limits['bytes']:,} bytes"
            by_size = f"takes {most} of memory to decode, the limit for a file of its size"
            raise RefusedError(by_size if limits["by_size"] else f"is too large: {most} when decoded")
        columns[name] = column
    if problems:
        raise RefusedError(*problems)
    return pa.table(columns)


def _decode_column(file: Any, name: str, limit: int) -> Any:
    """Return a column without a dictionary.

    Raises:
        MemoryError: the values for which its dictionary stands take more than `limit` bytes.
    """
    from pyarrow import types

    column = file.read(columns=[name], use_threads=False)[name]
    if not types.is_dictionary(column.type):
        return column
    _check_dictionary(column, limit)
    return column.cast(column.type.value_type)


def _check_dictionary(column: Any, limit: int) -> None:
    """Check the size of the values for which a dictionary stands, before there are any.

    Raises:
        MemoryError: they take more bytes than `limit`.
    """
    import pyarrow.compute as pc

    size = 0
    for chunk in column.chunks:
        chunk.validate(full=True)
        if hasattr(chunk.dictionary, "buffers") and chunk.dictionary.nbytes > len(chunk.dictionary) * 8:
            lengths = pc.binary_length(chunk.dictionary)
            size += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if size > limit:
        raise MemoryError


def _measure(array: Any) -> int:
    """Return the bytes that an array takes, here or at least in Python."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_struct(kind):
        fields = sum(_measure(array.field(i)) for i in range(kind.num_fields))
        return int(LARGE * len(array) + fields)
    if hasattr(array, "flatten") and hasattr(kind, "value_type"):
        return int(LARGE * len(array) + _measure(array.flatten()))
    return int(SMALL * len(array) + array.nbytes)


def _to_stream(table: Any) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


if __name__ == "__main__":
    main()
