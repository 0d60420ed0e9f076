"""Read text files of unknown origin: their lines, or one clear error.

Conventions: a line ends at ``\\n`` or ``\\r\\n`` and nowhere else (U+2028, form feeds and the like are text); the last
line need not end in one, and a byte-order mark at the start is dropped.  Gzipped files are decompressed.  A pipe that
is already open, such as standard input, is read to its end; a named pipe is refused, since it may have no writer.
"""

from __future__ import annotations

import re
import sys
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from gzip import BadGzipFile, GzipFile
from io import BytesIO
from itertools import chain, islice
from lzma import LZMAError
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

from closeread import limits
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    describe_excess,
    describe_unreadable,
    quote,
)
from closeread.files import read_at_most, scratch_folder
from closeread.formats.foreign import describe_foreign_file

# the name of standard input on all platforms; on the command line, it is `-`
STANDARD_INPUT = Path("/dev/stdin")
DESCRIPTOR = re.compile(r"/dev/fd/[0-9]+|/proc/(?:self|[0-9]+)/fd/[0-9]+")
"""The names of files that are already open, such as those of process substitution in a shell."""

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates: text with one can't be shown, stored and compared safely."""

UNSAFE_IN_ROWS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
"""The same without tabs and C1 controls, which are quotes of Windows-1252 that were read as Latin-1: words have them."""

UNSAFE_IN_TEXTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""The same without tabs and line ends, which the text of an article has."""


def describe_unsafe(text: str, unsafe: re.Pattern[str] = UNSAFE) -> str:
    """Say which unsafe character a text contains; empty if it has none."""
    match = unsafe.search(text)
    if match is None:
        return ""
    kind = "lone surrogate" if "\ud800" <= match[0] <= "\udfff" else "control character"
    return f"{quote(text)} contains the {kind} U+{ord(match[0]):04X}"


BYTE_ORDER_MARK = b"\xef\xbb\xbf"

GZIP_MAGIC = b"\x1f\x8b"  # how gzipped files begin
CHUNK_BYTES = 2**20  # how many are read, decompressed or checked at once


BYTES_AT_ONCE = 4096
"""How long lines are together that are read at once; if one of them needs a closer look, all of them get it."""


class Lines(Sequence[str]):
    """The lines of a UTF-8 text, decoded when they are asked for: short lines as strings take 30 times their size."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._length = data.count(b"\n") + (not data.endswith(b"\n"))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.in_groups())

    def in_groups(self) -> Iterator[list[str]]:
        """Yield lines that follow each other together, up to one that makes them `BYTES_AT_ONCE` long."""
        file = BytesIO(self._data)
        while group := file.readlines(BYTES_AT_ONCE):
            text = b"".join(group).decode().removesuffix("\n")
            yield [line.removesuffix("\r") for line in text.split("\n")]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        return next(islice(self, range(len(self))[index], None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def encoded(self) -> Iterator[bytes]:
        """Yield the lines as bytes, without their ends."""
        return (line.removesuffix(b"\n").removesuffix(b"\r") for line in BytesIO(self._data))


def read_lines(path: Path) -> Lines:
    """Read the lines of a UTF-8 text file, without their line ends."""
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    check_text(path, data)
    return Lines(data)


def check_text(path: Path, data: bytes) -> None:
    """Check that the bytes of a file, without its byte-order mark, are UTF-8 text of ours whose lines are not too long."""
    if not data:
        raise FormatError(path, [Problem("is empty")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, [Problem("is UTF-16 text (expected UTF-8)")])
    foreign = describe_foreign_file(data)
    if foreign:
        raise FormatError(path, [Problem(foreign)])
    if b"\0" in data:
        expected = "expected UTF-8 text"
        raise FormatError(path, [Problem(f"is a binary file: it contains NUL bytes ({expected})")])
    if len(data) > limits.MAX_LINE_BYTES and max(map(len, BytesIO(data))) > limits.MAX_LINE_BYTES:
        problems = ProblemList()
        for number, line in enumerate(Lines(data).encoded(), 1):
            if len(line) > limits.MAX_LINE_BYTES:
                limit = f"(limit: {limits.MAX_LINE_BYTES:,})"
                problems.add(f"line is too long: {len(line):,} bytes {limit}", number)
        problems.raise_any(path)
    try:
        # Not at once: one character beyond the basic plane makes a text take four times its size.
        decoder = getincrementaldecoder("utf-8")()
        for begin in range(0, len(data), CHUNK_BYTES):
            decoder.decode(data[begin : begin + CHUNK_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        # The file is in another encoding throughout, so that the first place is enough.
        raise FormatError(path, [next(_find_encoding_errors(Lines(data)))]) from None


def _find_encoding_errors(lines: Lines) -> Iterator[Problem]:
    for number, line in enumerate(lines.encoded(), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            column = len(line[: error.start].decode()) + 1
            message = f"is not UTF-8 from column {column} (byte 0x{line[error.start]:02x})"
            yield Problem(f"{message}; convert the file to UTF-8", number)


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a file of a reasonable size, decompressed if it is gzipped."""
    try:
        if path == STANDARD_INPUT:
            if sys.stdin is None:  # the process was started without one
                raise FormatError(path, [Problem("is closed")])
            data = _read_all(path, sys.stdin.buffer, limits.MAX_FILE_BYTES)
        elif is_open_pipe(path):
            with path.open("rb") as file:
                data = _read_all(path, file, limits.MAX_FILE_BYTES)
        else:
            status = path.stat()
            if S_ISDIR(status.st_mode):
                raise FormatError(path, [Problem("is a directory (expected a file)")])
            if not S_ISREG(status.st_mode):
                raise FormatError(path, [Problem("is not a regular file")])
            if excess := describe_excess(status.st_size):
                raise FormatError(path, [Problem(excess)])
            data = path.read_bytes()
    except OSError as error:
        raise describe_unreadable(path, error) from None
    if not data:
        raise FormatError(path, [Problem("is empty")])
    return decompress(path, data)


def _read_all(path: Path, file: BinaryIO, limit: int, when: str = "") -> bytes:
    data = read_at_most(file, limit)
    if len(data) > limit:
        raise FormatError(path, [Problem(f"is too large: more than {limit:,} bytes{when}")])
    return data


def decompress(path: Path, data: bytes, limit: int | None = None) -> bytes:
    """Return the bytes of a file, decompressed if they are gzipped; `limits.MAX_FILE_BYTES` at most by default."""
    if not data.startswith(GZIP_MAGIC):
        return data
    limit = limits.MAX_FILE_BYTES if limit is None else limit
    with wording_gzip_errors(path), GzipFile(fileobj=BytesIO(data)) as file:
        return _read_all(path, cast(BinaryIO, file), limit, " when decompressed")


@contextmanager
def wording_gzip_errors(path: Path) -> Iterator[None]:
    """Raise a FormatError for a gzipped file that turns out to be invalid in the block."""
    try:
        yield
    except EOFError:
        raise FormatError(path, [Problem("is not a valid gzip file: it is truncated")]) from None
    except (BadGzipFile, zlib.error):
        raise FormatError(
            path, [Problem("is not a valid gzip file: its data is corrupt")]
        ) from None


@contextmanager
def wording_zip_errors(path: Path | str, file: str | None) -> Iterator[None]:
    """Raise a FormatError for an archive, or a file in it, that turns out to be damaged or encrypted in the block."""
    try:
        yield
    except (BadZipFile, LZMAError, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise FormatError(path, [Problem(f"can't be unpacked: {error}", file=file)]) from None
    except RuntimeError:  # what zipfile raises for a password
        problem = "is encrypted (expected an archive without a password)"
        raise FormatError(path, [Problem(problem, file=file)]) from None


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """Yield a regular file with the content of a file, decompressed, for readers that read it more than once.

    A FormatError in the block about the yielded file is raised about the file itself.
    """
    if not is_open_pipe(path) and not _is_gzipped(path):
        yield path
        return
    data = read_bytes(path)
    with scratch_folder() as folder:
        # Some formats name a document after its file.
        plain = folder / (re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE) or "plain")
        plain.write_bytes(data)
        del data
        try:
            yield plain
        except FormatError as error:
            raise FormatError(path, error.problems) from None


def _is_gzipped(path: Path) -> bool:
    """Return whether a file begins as gzipped ones do; if it can't be read, reading it reports the error."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return False


def is_open_pipe(path: Path) -> bool:
    """Return whether a path is standard input, or a file that is already open and can be read only once."""
    if path == STANDARD_INPUT:
        return True
    return (
        DESCRIPTOR.fullmatch(path.as_posix()) is not None and path.exists() and not path.is_file()
    )
