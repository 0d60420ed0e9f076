"""Parquet files, as `closeread export` writes them: the columns of a split.

A process of its own decodes them (`closeread.formats.parquet_process`), since a small file may ask for any amount of
memory, and damaged ones have ended the process that read them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from closeread import limits
from closeread.exceptions import FormatError, Problem
from closeread.formats.arrow import read_columns
from closeread.formats.text import read_bytes
from closeread.records import ColumnRecords

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMNS = 1000
"""The most columns of a file, those inside objects included."""

MAX_ELEMENTS = 20_000
"""The most elements of a list in a footer, such as the columns and the row groups."""

MAX_DECODED_BYTES = 2**28
"""The most bytes that a small file may take when it is decoded."""

MAX_EXPANSION = 20
"""How many times its own size a larger file may take when it is decoded."""

MAX_SECONDS = 120
"""The most seconds of processor time that decoding may take."""

MAGIC, ENCRYPTED = b"PAR1", b"PARE"

Check = Callable[["pa.Schema"], Sequence[Problem]]
"""Finds what is wrong with the columns of a file, before any value is decoded."""


def read_parquet(path: Path, check: Check) -> ColumnRecords:
    """Read the rows of a Parquet file.

    Args:
        path: the file.
        check: finds what is wrong with its columns.

    Raises:
        FormatError: the file can't be read, is too large, decodes to too much, or is not a valid Parquet file, or
            `check` finds problems.
    """
    data = read_bytes(path)
    if data.endswith(ENCRYPTED):
        raise FormatError(path, [Problem("is an encrypted Parquet file (expected one without encryption)")])
    if not data.startswith(MAGIC):
        raise FormatError(path, [Problem("is not a Parquet file")])
    if not data.endswith(MAGIC) or len(data) < 12:
        raise FormatError(path, [Problem("is not a valid Parquet file: it is truncated")])
    table = _decode(path, data, check)
    return ColumnRecords(read_columns(path, table))


def _decode(path: Path, data: bytes, check: Check) -> pa.Table:
    """Return the table of a file, which another process decodes.

    Raises:
        FormatError: as for `read_parquet`.
    """
    import pyarrow as pa

    by_size, of_any = max(MAX_DECODED_BYTES, MAX_EXPANSION * len(data)), limits.max_file_bytes()
    allowed = {
        "size": len(data),
        "bytes": min(by_size, of_any),
        "by_size": by_size < of_any,
        "columns": MAX_COLUMNS,
        "elements": MAX_ELEMENTS,
        "seconds": MAX_SECONDS,
    }
    with _start() as process:
        try:
            _send(process, json.dumps(allowed).encode() + b"\n" + data)
            schema = pa.ipc.read_schema(pa.py_buffer(_receive(path, process)))
            if problems := _find_problems(schema, check):
                raise FormatError(path, problems)
            _send(process, b"\n")
            return pa.ipc.open_stream(_receive(path, process)).read_all()
        finally:
            process.kill()


def _find_problems(schema: pa.Schema, check: Check) -> Sequence[Problem]:
    return check(schema) if schema.names else [Problem("has no columns")]


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).with_name("parquet_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        },
    )


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to a process; how it ended is found when it is read."""
    stdin = cast("IO[bytes]", process.stdin)
    with suppress(BrokenPipeError):
        stdin.write(data)
        stdin.flush()


def _receive(path: Path, process: subprocess.Popen[bytes]) -> bytes:
    """Return the next answer of the process.

    Raises:
        FormatError: it found problems, or it ended.
    """
    stdout = cast("IO[bytes]", process.stdout)
    header = stdout.readline()
    if not header.endswith(b"\n"):
        raise FormatError(path, [Problem(_describe_end(process.wait()))])
    answer: dict[str, Any] = json.loads(header)
    content = stdout.read(answer["size"])
    if len(content) < answer["size"]:
        raise FormatError(path, [Problem(_describe_end(process.wait()))])
    if answer["kind"] == "problems":
        raise FormatError(path, [Problem(what) for what in json.loads(content)])
    return content


def _describe_end(status: int) -> str:
    """Say why the process ended without an answer."""
    import signal

    if -status in (getattr(signal, "SIGXCPU", None), signal.SIGKILL if hasattr(signal, "SIGKILL") else None):
        return f"takes more than {MAX_SECONDS} seconds to decode"
    return "is not a valid Parquet file: it is damaged"
