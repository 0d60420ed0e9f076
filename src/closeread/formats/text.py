"""Read text files of unknown origin: their lines, or one clear error.

Conventions: a line ends at ``\\n`` or ``\\r\\n`` and nowhere else (U+2028, form feeds and the like are text); the last
line need not end in one, and a byte-order mark at the start is dropped.  Gzipped files are decompressed.  A pipe that
is already open, such as standard input, is read to its end; a named pipe is refused, since it may have no writer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO, overload

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList
from closeread.formats.gzipped import MAGIC, decompress

STANDARD_INPUT = Path("/dev/stdin")
"""The name of standard input on all platforms; on the command line, it is `-`."""

DESCRIPTOR = re.compile(r"/dev/fd/[0-9]+|/proc/(?:self|[0-9]+)/fd/[0-9]+")
"""The names of files that are already open, such as those of process substitution in a shell."""

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates: text with one can't be shown, stored and compared safely."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

BLOCK = 2**17
"""How many bytes are split into lines at once, at least."""


class Lines(Sequence[str]):
    """The lines of a UTF-8 text, decoded when they are asked for: short lines as strings take 30 times their size.

    Args:
        data: the text, without a byte-order mark.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = len(data) - data.endswith(b"\n")
        self._length = data.count(b"\n", 0, self._end) + 1
        self._strips = b"\r" in data

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        # Line by line: one character beyond the basic plane would make a whole file take four times the memory.
        return (line for block in self.blocks() for line in map(bytes.decode, block))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, int):
            return next(islice(self, range(len(self))[index], None))
        chosen = range(len(self))[index]
        return list(islice(self, chosen.start, chosen.stop, chosen.step)) if chosen.step > 0 else list(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def blocks(self) -> Iterator[list[bytes]]:
        """Yield the lines in order, as bytes without their ends, many at a time."""
        for text in self.texts():
            block = text.split(b"\n")
            yield [line.removesuffix(b"\r") for line in block] if self._strips else block

    def texts(self) -> Iterator[bytes]:
        """Yield the text in order, many lines at a time, without the end of the last of them."""
        for begin, end in self._spans(BLOCK):
            yield self._data[begin:end]

    def _spans(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield where whole lines begin and end, of that many bytes or more together."""
        begin = 0
        while begin <= self._end:
            end = self._data.find(b"\n", begin + size, self._end)
            end = self._end if end < 0 else end
            yield begin, end
            begin = end + 1

    def parts(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield where parts of that many bytes or more begin and end, and how many lines each has."""
        for begin, end in self._spans(size):
            yield begin, end, self._data.count(b"\n", begin, end) + 1

    @property
    def data(self) -> bytes:
        """The text, without a byte-order mark."""
        return self._data

    def has_longer(self, limit: int) -> bool:
        """Tell whether a line has more bytes than a limit, its end included."""
        begin = 0
        while self._end - begin > limit:
            end = self._data.rfind(b"\n", begin, begin + limit)
            if end < 0:
                return True
            begin = end + 1
        return False

    def text(self) -> str:
        """Return the text, without its last line end."""
        return self._data[: self._end].decode()

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line as bytes, with its number from 1."""
        return enumerate((line for block in self.blocks() for line in block), start=1)


def read_lines(path: Path) -> Lines:
    """Read the lines of a UTF-8 text file, without their line ends.

    Raises:
        FormatError: the file is missing, not a regular file, empty, too large (more than `limits.max_file_bytes()`, or
            a line of more than `limits.MAX_LINE_BYTES`: rejected before parsing), binary, or not UTF-8.
    """
    return split_lines(path, read_bytes(path))


def split_lines(path: Path, data: bytes) -> Lines:
    """Split the bytes of a file into lines, as `read_lines` does."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    check_encoding(path, data)
    lines = Lines(data)
    if lines.has_longer(limits.MAX_LINE_BYTES) and (long := ProblemList(_find_long_lines(lines))):
        raise FormatError(path, long)
    try:
        for text in lines.texts():
            if not text.isascii():
                text.decode()
    except UnicodeDecodeError:
        raise FormatError(path, ProblemList(_find_encoding_errors(lines))) from None
    return lines


def check_encoding(path: Path, data: bytes, begin: int = 0) -> None:
    """Check that a file may be UTF-8 text.

    Args:
        path: the file.
        data: its bytes.
        begin: where its text begins.

    Raises:
        FormatError: it is empty, UTF-16 or binary.
    """
    if begin == len(data):
        raise FormatError(path, [Problem("is empty")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, [Problem("is UTF-16 text (expected UTF-8)")])
    if b"\0" in data:
        raise FormatError(path, [Problem("is a binary file: it contains NUL bytes (expected UTF-8 text)")])


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a file of a reasonable size, decompressed if it is gzipped.

    Raises:
        FormatError: the file is missing, unreadable, not a regular file or an open pipe, empty, not valid gzip, or
            larger than `limits.max_file_bytes()`.
    """
    try:
        data = _read_pipe(path) if is_open_pipe(path) else _read_regular(path)
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None
    if not data:
        raise FormatError(path, [Problem("is empty")])
    return decompress(path, data)


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """Yield a regular file with the content of a file, decompressed, for readers that read it more than once.

    Raises:
        FormatError: as `read_bytes`, if the file is gzipped or a pipe; or the block raises one about the yielded file,
            which is then raised about the file itself.
    """
    if not is_open_pipe(path) and not _is_gzipped(path):
        yield path
        return
    from tempfile import TemporaryDirectory  # takes longer to import than most files take to read

    data = read_bytes(path)
    with TemporaryDirectory(prefix="closeread-") as folder:
        # Some formats name a document after its file.
        plain = Path(folder) / (re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE) or "plain")
        plain.write_bytes(data)
        del data
        try:
            yield plain
        except FormatError as error:
            raise FormatError(path, error.problems) from None


def is_open_pipe(path: Path) -> bool:
    """Return whether a path is standard input, or a file that is already open and can be read only once."""
    if path == STANDARD_INPUT:
        return True
    return DESCRIPTOR.fullmatch(path.as_posix()) is not None and path.exists() and not path.is_file()


def _read_pipe(path: Path) -> bytes:
    if path != STANDARD_INPUT:
        with path.open("rb") as file:
            return _read_all(path, file)
    if sys.stdin is None:  # the process was started without one
        raise FormatError(path, [Problem("is closed")])
    return _read_all(path, sys.stdin.buffer)


def _read_all(path: Path, file: BinaryIO) -> bytes:
    parts: list[bytes] = []
    room = limit = limits.max_file_bytes()
    for part in iter(partial(file.read, 2**20), b""):
        parts.append(part)
        room -= len(part)
        if room < 0:
            raise FormatError(path, [Problem(f"is too large: more than {limit:,} bytes")])
    return b"".join(parts)


def _read_regular(path: Path) -> bytes:
    status = path.stat()
    if S_ISDIR(status.st_mode):
        raise FormatError(path, [Problem("is a directory (expected a file)")])
    if not S_ISREG(status.st_mode):
        raise FormatError(path, [Problem("is not a regular file")])
    if (found := limits.describe_excess(status.st_size)) is not None:
        raise FormatError(path, [Problem(found)])
    return path.read_bytes()


def _is_gzipped(path: Path) -> bool:
    """Return whether a regular file is gzipped; false if it can't be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _find_long_lines(lines: Lines) -> Iterator[Problem]:
    for number, line in lines.numbered():
        if len(line) > limits.MAX_LINE_BYTES:
            yield Problem(f"line is too long: {len(line):,} bytes (limit: {limits.MAX_LINE_BYTES:,})", number)


def _find_encoding_errors(lines: Lines) -> Iterator[Problem]:
    for number, line in lines.numbered():
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8", number)
