"""What the readers and writers of files with a line for every token share."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from closeread.exceptions import FormatError, ProblemList, quote
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, check_text, describe_unsafe, read_bytes
from closeread.tasks.coref.documents import Document, Documents, Entity, Mention, Words
from closeread.tasks.coref.spans import Span

PLAIN = bytes({*range(0x20, 0x100), *b"\t\n\r"} - {0x7F})
CONTROL = re.compile(rb"[^\t -~\x80-\xff]")


def read_text(path: Path) -> bytes:
    """Read a file without its byte-order mark, and check that it is UTF-8 text."""
    text = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    check_text(path, text)
    return text


def has_controls(text: bytes) -> bool:
    """Whether a text contains an ASCII control character other than tabs and line ends."""
    has_bare_return = b"\r" in text and text.count(b"\r") > text.count(b"\r\n")
    return has_bare_return or bool(text.translate(None, PLAIN))


def report_control(line: bytes, number: int, problems: ProblemList) -> None:
    """Report the first control character of a line, if it has one."""
    match = CONTROL.search(line.removesuffix(b"\r"))
    if match:
        column = len(line[: match.start()].decode()) + 1
        problems.add(f"character {column} is the control character U+{ord(match[0]):04X}", number)


def check_name(
    name: str, line: int, seen: dict[str, int], problems: ProblemList, hint: str = ""
) -> None:
    """Report a document name that is unsafe, or was seen on an earlier line."""
    unsafe = describe_unsafe(name)
    if unsafe:
        problems.add(f"document name {unsafe}", line)
    first_line = seen.setdefault(name, line)
    if first_line != line:
        problems.add(f"duplicate document {quote(name)} (first on line {first_line}){hint}", line)


def group_mentions(labeled: Iterable[tuple[str, Mention]]) -> list[Entity]:
    """Return the entities of mentions that are given with the id of their entity, in the order of these."""
    mentions_by_label: dict[str, list[Mention]] = {}
    for label, mention in labeled:
        mentions_by_label.setdefault(label, []).append(mention)
    return [Entity(label, mentions) for label, mentions in mentions_by_label.items()]


def make_mention(spans: Sequence[Span], **fields: Any) -> Mention:
    """Return the mention of some spans in ascending order, with other fields of `Mention`."""
    subspans = tuple(spans) if len(spans) > 1 else ()
    return Mention(spans[0][0], spans[-1][1], subspans=subspans, **fields)


class Section(NamedTuple):
    """The lines of a document in its file.

    Attributes:
        name: the document's name; empty if its first line has no valid one.
        header: what the first line has in place of a name; empty if it has none.
        line: the number of the first line, from 1; 0 if the document begins without one.
        begin, end: the offsets of the lines after it, in bytes.
    """

    name: str
    header: bytes
    line: int
    begin: int
    end: int


def iterate_hash_lines(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield each line that begins with ``#``: its number, from 1, and the offsets of its begin and end."""
    number = 1
    counted = 0
    begin = text.find(b"#")
    while begin >= 0:
        end = text.find(b"\n", begin) + 1 or len(text)
        if begin == 0 or text.startswith(b"\n", begin - 1):
            number += text.count(b"\n", counted, begin)
            counted = begin
            yield number, begin, end
        begin = text.find(b"#", end)


@dataclass(frozen=True)
class FileText:
    """The text of a file as `read_text` returns it, of which a part is read again when it is asked for."""

    path: Path

    def __getitem__(self, part: slice) -> bytes:
        """Return a part."""
        with self.path.open("rb") as file:
            begin = part.start
            if file.read(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
                begin += len(BYTE_ORDER_MARK)
            file.seek(begin)
            return file.read(part.stop - part.start)


@dataclass(kw_only=True, eq=False)
class StoredWords(Words):
    """The words of a document, of which only a digest is kept: its lines are read again when they are asked for.

    Attributes:
        text: the text of the file.
        section: the lines of the document in it.
    """

    text: bytes | FileText
    section: Section

    @abstractmethod
    def read_tokens(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token."""

    def read(self) -> Sequence[str]:
        """Return the tokens."""
        return [word.decode() for _, word in self.read_tokens()]

    def read_sentences(self) -> list[list[str]]:
        """Return the tokens of each sentence; a blank line stands between two."""
        word_by_line = dict(self.read_tokens())
        sentences: list[list[str]] = [[]]
        for number, line in self._iterate_lines():
            if number in word_by_line:
                sentences[-1].append(word_by_line[number].decode())
            elif not line.strip() and sentences[-1]:
                sentences.append([])
        return [sentence for sentence in sentences if sentence]

    def pack(self) -> bytes:
        """Return the tokens as UTF-8, each followed by a line end."""
        return b"".join([word + b"\n" for _, word in self.read_tokens()])

    def line_of(self, token: int) -> int:
        """Return the line of a token, from 1."""
        return self.lines[token]

    @cached_property
    def lines(self) -> list[int]:
        """The line of every token, from 1."""
        return [line for line, _ in self.read_tokens()]

    def _iterate_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the document with their numbers."""
        section = self.section
        lines = self.text[section.begin : section.end].split(b"\n")
        if not lines[-1]:
            lines.pop()
        return enumerate(lines, section.line + 1)


def choose_ids(document: Document, expressible: re.Pattern[str], prefix: str = "") -> Sequence[str]:
    """Choose the ids of a document's entities: their labels if the format can express them, else 1, 2, …"""
    labels = [entity.label for entity in document.entities]
    are_expressible = all(expressible.fullmatch(label) for label in labels)
    if are_expressible and len(set(labels)) == len(labels):
        return labels
    return [f"{prefix}{number}" for number in range(1, len(labels) + 1)]


def number_tokens(n_tokens: int, nodes: Collection[int]) -> list[str]:
    """List the ids of the tokens of a sentence in CoNLL-U; those of empty nodes have a dot."""
    ids = []
    word = 0
    node = 0
    for token in range(n_tokens):
        if token in nodes:
            node += 1
            ids.append(f"{word}.{node}")
        else:
            word += 1
            node = 0
            ids.append(str(word))
    return ids


def list_words(
    document: Document, n_tokens: int, valid: re.Pattern[str], kind: str
) -> Sequence[str]:
    """List the words of a document, or ``_`` for each; a ValueError if a kind of file can't express one."""
    words = document.words.read() or ["_"] * n_tokens
    invalid = next((word for word in words if not valid.fullmatch(word)), None)
    if invalid is not None:
        name = quote(document.name)
        raise ValueError(f"document {name}: {kind} can't express the word {quote(invalid)}")
    return words


def sort_spans(document: Document, kind: str, *, may_touch: bool) -> list[tuple[int, int, int]]:
    """Return the first token of each mention, minus its last, and the number of its entity, in ascending order.

    Raises:
        ValueError: two mentions of an entity cross, which a kind of file can't express; unless they may touch, also if
            one ends on the token on which the other begins.
    """
    spans = []
    for number, entity in enumerate(document.entities):
        spans += [(mention.start, -mention.end, number) for mention in entity.mentions]
    spans.sort()
    open_ends: defaultdict[int, list[int]] = defaultdict(list)
    for start, minus_end, number in spans:
        end = -minus_end
        if start == end:
            continue
        ends = open_ends[number]
        while ends and ends[-1] < start + may_touch:
            ends.pop()
        if ends and ends[-1] < end:
            crossing = f"two crossing mentions of one entity, the second on tokens {start} to {end}"
            raise ValueError(f"document {quote(document.name)}: {kind} can't express {crossing}")
        ends.append(end)
    return spans


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
            cells[start][1].append(opens + closes[-1])
        else:
            cells[start][1].append(opens)
            cells[-minus_end][0].append(closes)
    return cells


def place_mentions(
    spans: Sequence[tuple[int, int, int]], labels: Sequence[str], pair: str, n_tokens: int
) -> list[list[str]]:
    """Return the brackets of each token, a pair around each mention: those that close, then those that open."""
    brackets = [
        (start, minus_end, number, pair[0] + labels[number], labels[number] + pair[1])
        for start, minus_end, number in spans
    ]
    return [closing + opening for closing, opening in place_brackets(brackets, n_tokens)]


def check_continuous(documents: Sequence[Document], kind: str) -> None:
    """Raise a ValueError if a mention is discontinuous, which a kind of file can't express."""
    for document in documents:
        if any(mention.subspans for mention in document.mentions):
            raise ValueError(f"{kind} can't express discontinuous mentions")


def check_read_back(
    document: Document, read: Callable[[], Documents], kind: str, cause: str
) -> None:
    """Raise a ValueError unless a document that was written is read with the same name and the same mentions."""
    name = document.name
    with suppress(FormatError):
        again = read()
        if list(again.names) == [name] and _group_spans(again.documents[0]) == _group_spans(
            document
        ):
            return
    message = f"its mentions: they would be read back differently, as when {cause}"
    if not name or name != name.strip(" \t") or UNSAFE.search(name):
        message = "this name"
    raise ValueError(f"document {quote(name)}: {kind} can't express {message}")


def _group_spans(document: Document) -> list[list[tuple[Span, ...]]]:
    """List the spans of the mentions of each entity, all in order of position."""
    return sorted(map(_sort_spans, document.entities))


def _sort_spans(entity: Entity) -> list[tuple[Span, ...]]:
    return sorted(mention.spans for mention in entity.mentions)
