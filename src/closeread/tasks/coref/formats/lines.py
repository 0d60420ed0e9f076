"""What the readers of CoNLL and CorefUD files share: a part at a time is read, and words are read again when needed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from closeread import limits
from closeread.exceptions import ProblemList
from closeread.formats.text import BYTE_ORDER_MARK, check_encoding
from closeread.tasks.coref.documents import Document, MentionTable, Parts

PLAIN = bytes({*range(0x20, 0x100), *b"\t\n\r"} - {0x7F})
"""The bytes that lines of text may contain."""

PART = 2**22
"""How many bytes of a file are looked at together, unless a line is longer."""


def read_parts(path: Path, text: bytes, take: Callable[[int, bytes], None], *, allow_controls: bool = False) -> None:
    """Check that a file is text, and give its parts and their positions to a reader, unless something is wrong."""
    problems, line, begin = ProblemList(), 1, len(BYTE_ORDER_MARK) * text.startswith(BYTE_ORDER_MARK)
    if begin == len(text):
        check_encoding(path, b"")
    for position, data in iterate_parts(text, begin, len(text)):
        if position == begin or b"\0" in data:
            check_encoding(path, data)
        if not _is_clean(data, allow_controls=allow_controls):
            _find_problems(data, line, problems, allow_controls=allow_controls)
            if problems.total > limits.MAX_PROBLEMS:  # binary files have that many in their first part
                break
        if not problems.total:
            take(position, data)
        line += data.count(b"\n")
    problems.raise_any(path)


def iterate_parts(text: bytes, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a range that begins with a line, of whole lines, each with its position."""
    while begin < end:
        cut = begin + PART
        cut = end if cut >= end else text.rfind(b"\n", begin, cut) + 1 or text.find(b"\n", cut, end) + 1 or end
        yield begin, text[begin:cut]
        begin = cut


def iterate_lines(text: bytes, begin: int) -> Iterator[bytes]:
    """Yield the lines from a position on, with their ends."""
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        yield text[begin:end]
        begin = end


def has_controls(data: bytes) -> bool:
    """Whether some lines contain an ASCII control character."""
    return bool(data.translate(None, PLAIN)) or data.count(b"\r") > data.count(b"\r\n")


def _is_clean(data: bytes, *, allow_controls: bool) -> bool:
    if len(data) > limits.MAX_LINE_BYTES:
        return False
    if not allow_controls and has_controls(data):
        return False
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False


def _find_problems(data: bytes, first_line: int, problems: ProblemList, *, allow_controls: bool) -> None:
    for number, line in enumerate(BytesIO(data), first_line):
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(line) > limits.MAX_LINE_BYTES:
            problems.add(f"line is too long: {len(line):,} bytes (limit: {limits.MAX_LINE_BYTES:,})", number)
            continue
        try:
            line.decode()
        except UnicodeDecodeError as error:
            problems.add(f"byte {error.start + 1} (0x{line[error.start]:02x}) is not valid UTF-8", number)
        unsafe = None if allow_controls else re.search(rb"[^\t -~\x80-\xff]", line)
        if unsafe:
            problems.add(f"character {unsafe.start() + 1} is the control character U+{ord(unsafe[0]):04X}", number)


def list_parts(document: Document) -> list[Parts]:
    """List the (start, end) of the parts of each mention."""
    spans = zip(document.start.tolist(), document.end.tolist(), strict=True)
    return [document.parts.get(i) or (span,) for i, span in enumerate(spans)]


def group_spans(table: MentionTable, document: int) -> list[list[Parts]]:
    """List the mentions of each entity of a document, all in order of position."""
    entities: dict[int, list[Parts]] = {}
    for i in range(*table.document.searchsorted([document, document + 1]).tolist()):
        entities.setdefault(int(table.entity[i]), []).append(table.parts_of(i))
    return sorted(sorted(mentions) for mentions in entities.values())


def choose_ids(document: Document, expressible: re.Pattern[str], prefix: str = "") -> dict[int, str]:
    """Choose the ids of a document's entities: their labels if the format can express them, else 1, 2, …"""
    entities = sorted(set(document.entity.tolist()))
    labels = [document.labels[entity] for entity in entities] if document.labels else []
    if len(set(labels)) == len(entities) and all(expressible.fullmatch(label) for label in labels):
        return dict(zip(entities, labels, strict=True))
    return {entity: f"{prefix}{i}" for i, entity in enumerate(entities, start=1)}


def place_brackets(
    brackets: Iterable[tuple[int, int, int, str, str]], n_tokens: int
) -> list[tuple[list[str], list[str]]]:
    """Return the closing and the opening brackets of each token.

    Args:
        brackets: the first token, minus the last, the number and both brackets of each mention, in ascending order.
        n_tokens: the number of tokens.
    """
    cells: list[tuple[list[str], list[str]]] = [([], []) for _ in range(n_tokens)]
    for start, minus_end, _, opens, closes in brackets:
        if start == -minus_end:
            cells[start][1].append(f"{opens})")
        else:
            cells[start][1].append(opens)
            cells[-minus_end][0].append(closes)
    return cells


class StoredWords(ABC):
    """The words of a file's documents, read again when they are asked for.

    Args:
        text: the file.
        digests: a digest of the words of each document; different digests do not imply different words.
    """

    def __init__(self, text: bytes, digests: Sequence[bytes]) -> None:
        self._text, self._digests = text, digests
        self._lines: tuple[int, list[int]] | None = None

    @abstractmethod
    def read_tokens(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token of a document."""

    def __call__(self, document: int) -> Sequence[str]:
        """Return the tokens of a document."""
        return [word.decode() for _, word in self.read_tokens(document)]

    def packed(self, document: int) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        return b"".join([word + b"\n" for _, word in self.read_tokens(document)])

    def digest(self, document: int) -> bytes:
        """Return the digest of a document's words."""
        return self._digests[document]

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token, from 1; the lines of a document are kept for the next call."""
        if self._lines is None or self._lines[0] != document:
            self._lines = document, self.lines(document)
        return self._lines[1][token]

    def lines(self, document: int) -> list[int]:
        """Return the line of every token, from 1."""
        return [line for line, _ in self.read_tokens(document)]

    def _iterate_lines(self, begin: int, end: int, number: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a range of the file with their numbers, given that of the first."""
        for _, data in iterate_parts(self._text, begin, end):
            for line in BytesIO(data):
                yield number, line
                number += 1
