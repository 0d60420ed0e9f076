"""What the readers and writers of files with a line for every token share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from closeread.exceptions import FormatError, ProblemList, quote
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, describe_unsafe, read_bytes, split_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import Document, EmptyNode, MentionTable, Parts

PLAIN = bytes({*range(0x20, 0x100), *b"\t\n\r"} - {0x7F})


def read_text(path: Path) -> bytes:
    """Read a file without its byte-order mark, and check that it is UTF-8 text."""
    text = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    split_lines(path, text)
    return text


def has_controls(text: bytes) -> bool:
    """Whether a text contains an ASCII control character other than tabs and line ends."""
    return bool(text.translate(None, PLAIN)) or text.count(b"\r") > text.count(b"\r\n")


def check_name(
    name: str, line: int, seen: dict[str, int], problems: ProblemList, hint: str = ""
) -> None:
    """Report a document name that is unsafe, or was seen on an earlier line."""
    if unsafe := describe_unsafe(name):
        problems.add(f"document name {unsafe}", line)
    if (before := seen.setdefault(name, line)) != line:
        problems.add(f"duplicate document {quote(name)} (first on line {before}){hint}", line)


class FoundMention(NamedTuple):
    """A mention as a reader found it, with the id of its entity."""

    entity: str
    parts: Parts
    head: int | None = None
    minimum: tuple[int, ...] = ()
    fields: Mapping[str, str] = {}


def make_document(
    name: str,
    n_tokens: int | None,
    found: Sequence[FoundMention],
    *,
    has_heads: bool = False,
    fields: Iterable[str] = (),
    empty: Sequence[EmptyNode] = (),
) -> Document:
    """Make a document whose entities are numbered in the order of their first mentions."""
    number = {
        label: i for i, label in enumerate(dict.fromkeys(mention.entity for mention in found))
    }
    mentions = sorted(found, key=lambda mention: number[mention.entity])
    return Document(
        name=name,
        n_tokens=n_tokens,
        start=np.array([mention.parts[0][0] for mention in mentions], np.int64),
        end=np.array([mention.parts[-1][1] for mention in mentions], np.int64),
        entity=np.array([number[mention.entity] for mention in mentions], np.int64),
        labels=list(number),
        head=np.array([mention.head for mention in mentions], np.int64) if has_heads else None,
        parts={i: mention.parts for i, mention in enumerate(mentions) if len(mention.parts) > 1},
        minimum={i: mention.minimum for i, mention in enumerate(mentions) if mention.minimum},
        empty=empty,
        fields={name: [mention.fields[name] for mention in mentions] for name in fields},
    )


class Place(NamedTuple):
    """The offsets in bytes of a document's lines in its file, begin and end; its first line; a digest of its words."""

    begin: int
    end: int
    line: int
    digest: bytes


class StoredWords(ABC):
    """The words of a file's documents, read again when they are asked for.

    Different digests do not imply different words.
    """

    def __init__(self, text: bytes, places: Sequence[Place]) -> None:
        self._text, self._places = text, places
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
        return self._places[document].digest

    def line_of(self, document: int, token: int) -> int:
        """Return the line of a token, from 1; the lines of a document are kept for the next call."""
        if self._lines is None or self._lines[0] != document:
            self._lines = document, self.lines(document)
        return self._lines[1][token]

    def lines(self, document: int) -> list[int]:
        """Return the line of every token, from 1."""
        return [line for line, _ in self.read_tokens(document)]

    def _iterate_lines(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a document with their numbers."""
        place, stream = self._places[document], BytesIO(self._text)
        stream.seek(place.begin)
        for number, line in enumerate(stream, place.line):
            if stream.tell() > place.end:
                break
            yield number, line


def list_parts(document: Document) -> list[Parts]:
    """List the (start, end) of the parts of each mention."""
    spans = zip(document.start.tolist(), document.end.tolist(), strict=True)
    return [document.parts.get(i) or (span,) for i, span in enumerate(spans)]


def choose_ids(
    document: Document, expressible: re.Pattern[str], prefix: str = ""
) -> dict[int, str]:
    """Choose the ids of a document's entities: their labels if the format can express them, else 1, 2, …"""
    entities = sorted(set(document.entity.tolist()))
    labels = [document.labels[entity] for entity in entities] if document.labels else []
    if len(set(labels)) == len(entities) and all(expressible.fullmatch(label) for label in labels):
        return dict(zip(entities, labels, strict=True))
    return {entity: f"{prefix}{i}" for i, entity in enumerate(entities, start=1)}


def number_tokens(n_tokens: int, empty: Collection[int]) -> list[str]:
    """List the ids of the tokens of a sentence in CoNLL-U; those of empty nodes have a dot."""
    ids, word, node = [], 0, 0
    for token in range(n_tokens):
        word, node = (word, node + 1) if token in empty else (word + 1, 0)
        ids.append(f"{word}.{node}" if node else str(word))
    return ids


def list_words(
    table: MentionTable, document: int, n_tokens: int, valid: re.Pattern[str], kind: str
) -> Sequence[str]:
    """List the words of a document, or ``_`` for each; a ValueError if a kind of file can't express one."""
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if invalid := [word for word in words if not valid.fullmatch(word)]:
        name = quote(table.names[document])
        raise ValueError(f"document {name}: {kind} can't express the word {quote(invalid[0])}")
    return words


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


def check_read_back(
    table: MentionTable, document: int, read: Callable[[], Parsed], kind: str, cause: str
) -> None:
    """Raise a ValueError unless a document that was written is read with the same name and the same mentions."""
    name = table.names[document]
    with suppress(FormatError):
        again: Any = read().records
        if list(again.names) == [name] and _group_spans(again, 0) == _group_spans(table, document):
            return
    what = f"its mentions: they would be read back differently, as when {cause}"
    if not name or name != name.strip(" \t") or UNSAFE.search(name):
        what = "this name"
    raise ValueError(f"document {quote(name)}: {kind} can't express {what}")


def _group_spans(table: MentionTable, document: int) -> list[list[Parts]]:
    """List the mentions of each entity of a document, all in order of position."""
    entities: dict[int, list[Parts]] = {}
    for i in range(*table.document.searchsorted([document, document + 1]).tolist()):
        entities.setdefault(int(table.entity[i]), []).append(table.parts_of(i))
    return sorted(sorted(mentions) for mentions in entities.values())
