"""CoNLL-U files with CorefUD's annotation of coreference.

Conventions: a document begins at ``# newdoc id = NAME`` and ends at the next one.  Words and empty nodes (``3.1``) are
its tokens, in the order of the file, an empty node under the name ``_``; lines of multiword tokens (``3-4``) are none.
The mentions stand in the last column as ``Entity=``: ``(e1-person-2-`` opens one, ``e1)`` closes the one of this
entity that was opened last, ``(e1-person-1-)`` is one of a single token, and ``(e1[1/2]-`` to ``e1[1/2])`` is the
first part of two; cells are joined without a sign between them.  What the fields behind the id mean is said by ``#
global.Entity``: `head` is the number of the mention's head among its tokens, from 1; where none is given it is the
first token.  Bridging and split antecedents are left alone, and a mention may cross the end of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from closeread.errors import quote
from closeread.formats import Format
from closeread.formats.problems import Problems
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.columns import ListedWords, MentionTable, Parts, nth_token, number_of_token
from closeread.tasks.coref.coref_json import table_of

COLUMNS = 10

COMMENT = re.compile(r"#[ \t]*(newdoc|global\.Entity)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=[ \t]*(.*?))?[ \t]*")
WORD_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9})|-([0-9]{1,9}))?")
PIECE = re.compile(r"(\()?([^()]+)(\))?")
PART = re.compile(r"(.+)\[([0-9]{1,9})/([0-9]{1,9})\]")
NUMBER = re.compile(r"[0-9]{1,9}")
PLAIN_ID = re.compile(r"[^-()\[\]|=\s\x00-\x1f\x7f-\x9f]+")
FORM = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")

DEFAULT_FIELDS = "eid-etype-head-other"


@dataclass
class _Mention:
    """A mention as far as it has been read."""

    entity: int
    line: int
    of: int
    parts: list[tuple[int, int]] = field(default_factory=list)
    head: int | None = None


@dataclass
class _Found:
    """The columns of a file while it is read."""

    names: list[str] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    lines: list[list[int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    document_of_entity: list[int] = field(default_factory=list)
    mentions: list[_Mention] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)


def read_conllu(path: Path) -> MentionTable:
    """The documents of a CoNLL-U file.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file can't be read as text, or is not of this format, with all that is wrong with it.
    """
    return _table(_read(path).found)


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    reader = _read(path)
    return Parsed(_table(reader.found), list(reader.seen.values()), [])


def _read(path: Path) -> _Reader:
    reader = _Reader()
    for number, line in enumerate(read_lines(path), start=1):
        reader.take(number, line)
    reader.finish()
    reader.found.problems.raise_any(path)
    return reader


class _Reader:
    """Goes through the lines of a file."""

    def __init__(self) -> None:
        self.found = _Found()
        self._fields: list[str] | None = None
        self.seen: dict[str, int] = {}  # the line on which each document's name was first seen
        self._word = self._empty = 0  # the number of the last word of the sentence, and of the last empty node on it
        self._range_end = 0
        # Of the current document: the entities, what is open by id and part, and what waits for its next part.
        self._entities: dict[str, int] = {}
        self._open: dict[str, list[_Mention]] = {}
        self._waiting: dict[str, list[_Mention]] = {}

    def take(self, number: int, line: str) -> None:
        """Read on."""
        if not line.strip(" \t"):
            self._end_sentence(number)
        elif line.startswith("#"):
            if comment := COMMENT.fullmatch(line):
                if comment[1] == "newdoc":
                    self._begin_document(number, comment[2])
                else:
                    self._take_fields(number, comment[2])
        else:
            self._take_row(number, line.split("\t"))

    def finish(self) -> None:
        """Nothing follows."""
        self._end_document()
        if not self.found.names and not self.found.problems.total:
            self._say("holds no document; needed: '# newdoc id = NAME' before the first sentence")

    def _say(self, what: str, line: int | None = None) -> None:
        self.found.problems.add(what, line)

    def _begin_document(self, line: int, name: str | None) -> None:
        self._end_document()
        if not name:
            self._say("a document without a name; needed: '# newdoc id = NAME'", line)
            name = ""
        elif unsafe := UNSAFE.search(name):
            self._say(f"the name {quote(name)} holds the control character U+{ord(unsafe[0]):04X}", line)
        elif (before := self.seen.setdefault(name, line)) != line:
            self._say(f"document {quote(name)} stands on line {before} already; needed: one of a name", line)
        self.found.names.append(name)
        self.found.words.append([])
        self.found.lines.append([])

    def _end_document(self) -> None:
        for name, mentions in self._open.items():
            for mention in mentions:
                self._say(f"entity {quote(name)} opens but never closes", mention.line)
        for label, mentions in self._waiting.items():
            for mention in mentions:
                found = f"a mention of entity {quote(label)} has {len(mention.parts)} of its {mention.of} parts"
                self._say(f"{found}; needed: all in one document", mention.line)
        self._entities, self._open, self._waiting = {}, {}, {}
        self._word = self._empty = self._range_end = 0

    def _end_sentence(self, line: int) -> None:
        if self._range_end > self._word:
            self._say(f"the sentence ends before word {self._range_end}, with which a multiword token ends", line)
        self._word = self._empty = self._range_end = 0

    def _take_fields(self, line: int, value: str | None) -> None:
        self._fields = (value or "").split("-")
        if "eid" not in self._fields:
            self._say(f"global.Entity is {quote(value or '')}; needed: fields with eid, as {DEFAULT_FIELDS!r}", line)

    def _take_row(self, line: int, cells: list[str]) -> None:
        if len(cells) != COLUMNS:
            self._say(f"the number of columns is {len(cells)}; needed: {COLUMNS}, separated by tabs", line)
            return
        if any(map(UNSAFE.search, cells)):
            self._say("the row holds a control character; needed: none", line)
        if not self.found.names:
            self._say("a token stands outside a document; needed: '# newdoc id = NAME' before", line)
            return
        is_token = self._take_id(line, cells[0])
        entity = self._entity_cell(line, cells[-1])
        if not is_token:
            if entity:
                self._say("column 10: Entity on a multiword token; needed: on its words", line)
            return
        if not cells[1]:
            self._say("column 2: the word is empty; needed: a word, or '_'", line)
        # What an empty node is called is a guess of whoever put it there; words are what key and response share.
        self.found.words[-1].append(cells[1] if self._empty == 0 else "_")
        self.found.lines[-1].append(line)
        if entity and self._fields is None:
            needed = f"needed: '# global.Entity = {DEFAULT_FIELDS}', or what they are, before"
            self._say(f"column 10: Entity, but nothing says what its fields are; {needed}", line)
        elif entity and "eid" in (self._fields or ()):
            self._take_entity(line, len(self.found.words[-1]) - 1, entity)

    def _take_id(self, line: int, text: str) -> bool:
        """Whether the id is a token's; it must be the next one of its sentence."""
        parts = WORD_ID.fullmatch(text)
        number, empty, last = (int(p) if p else None for p in parts.groups()) if parts else (None, None, None)
        after = self._word + 1
        if empty is not None:
            right = (number, empty) == (self._word, self._empty + 1)
        elif last is not None:
            right = number == after and last > number and after > self._range_end
        else:
            right = number == after
        if not right or number is None:
            what = f"column 1: {quote(text)} follows word {self._word}" if self._word else f"column 1: {quote(text)}"
            following = f"{after}, {self._word}.{self._empty + 1} or a range from {after}"
            self._say(f"{what}; needed: {following}", line)
            return parts is not None and last is None
        if empty is not None:
            self._empty = empty
        elif last is not None:
            self._range_end = last
        else:
            self._word, self._empty = number, 0
        return last is None

    def _entity_cell(self, line: int, misc: str) -> str:
        values = [part.removeprefix("Entity=") for part in misc.split("|") if part.startswith("Entity=")]
        if len(values) > 1:
            self._say("column 10: Entity stands twice; needed: once", line)
        return values[0] if values else ""

    def _take_entity(self, line: int, token: int, cell: str) -> None:
        pieces = list(PIECE.finditer(cell))
        if "".join(p[0] for p in pieces) != cell or not all(p[1] or p[3] for p in pieces):
            self._say(f"column 10: {quote(cell)} is no Entity; needed: '(ID-FIELDS', 'ID)' or '(ID-FIELDS)'", line)
            return
        for opens, text, closes in (piece.groups() for piece in pieces):
            if opens:
                self._take_opening(line, token, text, closes=bool(closes))
            elif mentions := self._open.get(text):
                self._close(text, mentions.pop(), token)
            else:
                self._say(f"column 10: entity {quote(text)} closes but is not open", line)

    def _take_opening(self, line: int, token: int, text: str, *, closes: bool) -> None:
        fields = self._fields or []
        values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
        name = values.get("eid", "")
        split = PART.fullmatch(name)
        label, part, of = (split[1], int(split[2]), int(split[3])) if split else (name, 1, 1)
        if not label or not part or part > of or (split and of < 2):
            found = f"{quote(name)} is no entity or part of one"
            self._say(f"column 10: {found}; needed: ID or ID[PART/PARTS] with PART from 1 to PARTS", line)
            return
        mention = self._mention(line, token, label, part, of)
        if mention is None:
            before = f"part {part - 1} of {of} before it"
            self._say(f"column 10: part {part} of {of} of entity {quote(label)}, but not {before}", line)
            return
        self._take_head(line, mention, values.get("head"))
        mention.parts.append((token, token))
        if closes:
            self._close(name, mention, token)
        else:
            self._open.setdefault(name, []).append(mention)

    def _mention(self, line: int, token: int, label: str, part: int, of: int) -> _Mention | None:
        """A new mention, or the one whose next part this is."""
        if part == 1:
            entity = self._entities.get(label)
            if entity is None:
                entity = self._entities.setdefault(label, len(self.found.labels))
                self.found.labels.append(label)
                self.found.document_of_entity.append(len(self.found.names) - 1)
            self.found.mentions.append(_Mention(entity, line, of))
            return self.found.mentions[-1]
        waiting = self._waiting.get(label, [])
        for i in reversed(range(len(waiting))):
            mention = waiting[i]
            if mention.of == of and len(mention.parts) == part - 1 and mention.parts[-1][1] < token:
                return waiting.pop(i)
        return None

    def _take_head(self, line: int, mention: _Mention, text: str | None) -> None:
        if not text:
            return
        if not NUMBER.fullmatch(text) or int(text) == 0:
            self._say(f"column 10: {quote(text)} is no head; needed: the number of a token, from 1", line)
        elif mention.head not in (None, int(text)):
            self._say(f"column 10: the head is {text}, and {mention.head} in another part; needed: the same", line)
        else:
            mention.head = int(text)

    def _close(self, name: str, mention: _Mention, token: int) -> None:
        mention.parts[-1] = (mention.parts[-1][0], token)
        if len(mention.parts) < mention.of:
            self._waiting.setdefault(self.found.labels[mention.entity], []).append(mention)
            return
        size = sum(end - start + 1 for start, end in mention.parts)
        if mention.head is not None and mention.head > size:
            found = f"the head of entity {quote(name)} is token {mention.head} of a mention of {size}"
            self._say(f"column 10: {found}; needed: one of its tokens", mention.line)


def _table(found: _Found) -> MentionTable:
    mentions = sorted(found.mentions, key=lambda mention: mention.entity)
    entity = np.array([mention.entity for mention in mentions], np.int64)
    return MentionTable(
        names=found.names,
        n_tokens=np.array([len(words) for words in found.words], np.int64),
        document=np.array(found.document_of_entity, np.int64)[entity],
        start=np.array([mention.parts[0][0] for mention in mentions], np.int64),
        end=np.array([mention.parts[-1][1] for mention in mentions], np.int64),
        entity=entity,
        n_entities=len(found.labels),
        parts={i: tuple(mention.parts) for i, mention in enumerate(mentions) if mention.of > 1},
        head=np.array([nth_token(mention.parts, mention.head or 1) for mention in mentions], np.int64),
        labels=found.labels,
        words=ListedWords(found.words, found.lines),
    )


def dump_conllu(table: MentionTable) -> str:
    """The documents as CoNLL-U text, each as one sentence whose annotation is the coreference alone.

    Words are ``_`` where the table has none; ids are kept where the format can express them.

    Raises:
        ValueError: the number of tokens is not known, or the format can't express something: a word or name with a
            control character, mentions of one entity whose brackets would be told apart wrongly (they cross).
    """
    if table.n_tokens is None:
        raise ValueError("a CoNLL-U file has a row for every token, and the number of tokens is not known")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    n_tokens = table.n_tokens.tolist()
    return "".join(
        _dumped(table, i, range(first, last), n_tokens[i]) for i, (first, last) in enumerate(pairwise(borders))
    )


def _dumped(table: MentionTable, document: int, mentions: Sequence[int], n_tokens: int) -> str:
    name = table.names[document]
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if unfit := [text for text in (name, *words) if not FORM.fullmatch(text)]:
        raise ValueError(f"document {quote(name)}: a CoNLL-U file can't express {quote(unfit[0])}")
    ids = _ids(table, sorted({int(table.entity[i]) for i in mentions}))
    spans = [table.parts.get(i, ((int(table.start[i]), int(table.end[i])),)) for i in mentions]
    heads = [
        int(table.head[i]) if table.head is not None else span[0][0] for i, span in zip(mentions, spans, strict=True)
    ]
    numbers = list(map(number_of_token, spans, heads))
    labels = [ids[int(table.entity[i])] for i in mentions]
    lines = [f"# newdoc id = {name}", f"# global.Entity = {DEFAULT_FIELDS}"]
    cells = _cells(labels, spans, numbers, n_tokens)
    for i, (word, cell) in enumerate(zip(words, cells, strict=True), start=1):
        lines.append("\t".join([str(i), word, *"____0__", f"Entity={cell}" if cell else "_"]))
    lines.append("")
    reader = _Reader()
    for number, line in enumerate(lines):
        reader.take(number, line)
    reader.finish()
    again = [(reader.found.labels[m.entity], tuple(m.parts), m.head) for m in reader.found.mentions]
    if (
        reader.found.problems.total
        or reader.found.names != [name]
        or sorted(again) != sorted(zip(labels, spans, numbers, strict=True))
    ):
        found = "two mentions of one entity that cross, or a name that it reads otherwise"
        raise ValueError(f"document {quote(name)}: a CoNLL-U file can't express {found}")
    return "".join(f"{line}\n" for line in lines)


def _cells(labels: Sequence[str], spans: Sequence[Parts], heads: Sequence[int], n_tokens: int) -> Iterator[str]:
    """What opens and closes on each token: what closes first, then what opens, the longest first."""
    opening: list[list[str]] = [[] for _ in range(n_tokens)]
    closing: list[list[str]] = [[] for _ in range(n_tokens)]
    brackets = [
        (start, -end, i, f"{label}[{part}/{len(parts)}]" if len(parts) > 1 else label)
        for i, (label, parts) in enumerate(zip(labels, spans, strict=True))
        for part, (start, end) in enumerate(parts, start=1)
    ]
    for start, minus_end, i, name in sorted(brackets):
        opening[start].append(f"({name}--{heads[i]}-" + (")" if start == -minus_end else ""))
        if start < -minus_end:
            closing[-minus_end].append(f"{name})")
    return ("".join(chain(closes, opens)) for closes, opens in zip(closing, opening, strict=True))


def _ids(table: MentionTable, entities: Sequence[int]) -> dict[int, str]:
    """The ids of a document's entities: those of the table if the format can express them, otherwise e1, e2, …"""
    labels = [table.labels[entity] for entity in entities] if table.labels else []
    if len(set(labels)) == len(entities) and all(PLAIN_ID.fullmatch(label) for label in labels):
        return dict(zip(entities, labels, strict=True))
    return {entity: f"e{i}" for i, entity in enumerate(entities, start=1)}


FORMAT = Format(
    read_records,
    lambda records: dump_conllu(table_of(records)),
    suffixes=(".conllu",),
    first_line=re.compile(r"#\s*(?:global\.|newdoc|newpar|sent_id|text\b)", re.ASCII),
)
