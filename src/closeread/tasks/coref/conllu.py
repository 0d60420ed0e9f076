"""CoNLL-U files with coreference in the annotation of CorefUD.

Conventions: a document begins at ``# newdoc id = NAME`` and ends at the next one.  Its tokens are words and empty nodes
(``3.1``), in the order of the file, an empty node with the word ``_``; lines of multiword tokens (``3-4``) are no
tokens.  The mentions are in the last column as ``Entity=`` (`closeread.tasks.coref.conllu_entities`).  The fields after
the id are declared by ``# global.Entity``: `head` is the number of the mention's head among its tokens, from 1; the
default is the first token.  Bridging and split antecedents are ignored.  A mention may cross the end of a sentence.
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
from closeread.tasks.coref.columns import EmptyNodes, ListedWords, MentionTable, Parts, nth_token, number_of_token
from closeread.tasks.coref.conllu_entities import EntityReader
from closeread.tasks.coref.coref_json import table_of

COLUMNS = 10

COMMENT = re.compile(r"#[ \t]*(newdoc|global\.Entity)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=[ \t]*(.*?))?[ \t]*")
WORD_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9})|-([0-9]{1,9}))?")
PLAIN_ID = re.compile(r"[^-()\[\]|=\s\x00-\x1f\x7f-\x9f]+")
FORM = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")

DEFAULT_FIELDS = "eid-etype-head-other"


@dataclass
class _Documents:
    """The documents of a file while it is read."""

    names: list[str] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    lines: list[list[int]] = field(default_factory=list)
    empty: list[tuple[int, int, int, list[tuple[int, str]]]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)


def read_conllu(path: Path) -> MentionTable:
    """Read the documents of a CoNLL-U file.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file is not text or not valid CoNLL-U, with all its problems.
    """
    reader = _read(path)
    return _make_table(reader.documents, reader.entities)


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    reader = _read(path)
    return Parsed(_make_table(reader.documents, reader.entities), list(reader.seen.values()), [])


def _read(path: Path) -> _Reader:
    reader = _Reader()
    for number, line in enumerate(read_lines(path), start=1):
        reader.take(number, line)
    reader.finish()
    reader.documents.problems.raise_any(path)
    return reader


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.documents = _Documents()
        self.entities = EntityReader(self.documents.problems)
        self._fields: list[str] | None = None
        self.seen: dict[str, int] = {}  # the first line of each document name
        self._word = self._empty = 0  # the number of the last word of the sentence, and of the last empty node after it
        self._range_end = 0
        self._sentence = 0
        self._tokens = {"0": -1}  # the token of each id of the sentence
        self._empty_nodes: list[tuple[int, int, int, str]] = []

    def take(self, number: int, line: str) -> None:
        """Read a line."""
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
        """Handle the end of the file."""
        self._end_document()
        if not self.documents.names and not self.documents.problems.total:
            self._report("contains no document (expected '# newdoc id = NAME' before the first sentence)")

    def _report(self, what: str, line: int | None = None) -> None:
        self.documents.problems.add(what, line)

    def _begin_document(self, line: int, name: str | None) -> None:
        self._end_document()
        if not name:
            self._report("document without a name (expected '# newdoc id = NAME')", line)
            name = ""
        elif unsafe := UNSAFE.search(name):
            self._report(f"document name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}", line)
        elif (before := self.seen.setdefault(name, line)) != line:
            self._report(f"duplicate document {quote(name)} (first on line {before})", line)
        self.documents.names.append(name)
        self._sentence = 0
        self.documents.words.append([])
        self.documents.lines.append([])

    def _end_document(self) -> None:
        self._end_empty_nodes()
        self.entities.end_document()
        self._word = self._empty = self._range_end = 0

    def _end_sentence(self, line: int) -> None:
        self._end_empty_nodes()
        if self._range_end > self._word:
            self._report(f"the sentence ends before word {self._range_end}, the last of a multiword token", line)
        self._word = self._empty = self._range_end = 0

    def _end_empty_nodes(self) -> None:
        for document, token, line, cell in self._empty_nodes:
            pairs = [] if cell == "_" else [pair.split(":", 1) for pair in cell.split("|")]
            if unknown := [pair for pair in pairs if len(pair) < 2 or pair[0] not in self._tokens]:
                self._report(
                    f"column 9: {quote(':'.join(unknown[0]))} is not a dependency on a node of the sentence", line
                )
                continue
            dependencies = [(self._tokens[parent], relation) for parent, relation in pairs]
            self.documents.empty.append((document, token, self._sentence, dependencies))
        if len(self._tokens) > 1:
            self._sentence += 1
        self._tokens, self._empty_nodes = {"0": -1}, []

    def _take_fields(self, line: int, value: str | None) -> None:
        self._fields = (value or "").split("-")
        if "eid" not in self._fields:
            expected = f"expected fields that include eid, such as {DEFAULT_FIELDS!r}"
            self._report(f"global.Entity is {quote(value or '')} ({expected})", line)

    def _take_row(self, line: int, cells: list[str]) -> None:
        if len(cells) != COLUMNS:
            self._report(f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)", line)
            return
        if any(map(UNSAFE.search, cells)):
            self._report("the row contains a control character", line)
        if not self.documents.names:
            self._report("token outside a document (expected '# newdoc id = NAME' before it)", line)
            return
        is_token = self._take_id(line, cells[0])
        entity = self._find_entity(line, cells[-1])
        if not is_token:
            if entity:
                self._report("column 10: Entity on a multiword token (expected on its words)", line)
            return
        if not cells[1]:
            self._report("column 2: the word is empty (expected a word or '_')", line)
        # The word of an empty node is a guess of its annotator or system; only real words are compared with the key's.
        self.documents.words[-1].append(cells[1] if self._empty == 0 else "_")
        self.documents.lines[-1].append(line)
        self._tokens[cells[0]] = len(self.documents.words[-1]) - 1
        if self._empty:
            place = (len(self.documents.names) - 1, len(self.documents.words[-1]) - 1, line, cells[8])
            self._empty_nodes.append(place)
        if entity and self._fields is None:
            expected = f"expected a line such as '# global.Entity = {DEFAULT_FIELDS}' before it"
            self._report(f"column 10: Entity without a declaration of its fields ({expected})", line)
        elif entity and "eid" in (self._fields or ()):
            document, token = len(self.documents.names) - 1, len(self.documents.words[-1]) - 1
            self.entities.take(line, document, token, entity, self._fields or ())

    def _take_id(self, line: int, text: str) -> bool:
        """Read the id, which must be the next one of its sentence; return whether it is that of a token."""
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
            self._report(f"{what} (expected {following})", line)
            return parts is not None and last is None
        if empty is not None:
            self._empty = empty
        elif last is not None:
            self._range_end = last
        else:
            self._word, self._empty = number, 0
        return last is None

    def _find_entity(self, line: int, misc: str) -> str:
        values = [part.removeprefix("Entity=") for part in misc.split("|") if part.startswith("Entity=")]
        if len(values) > 1:
            self._report("column 10: Entity is given twice", line)
        return values[0] if values else ""


def _make_table(documents: _Documents, entities: EntityReader) -> MentionTable:
    places = np.array([place[:3] for place in documents.empty], np.int64).reshape(-1, 3).T
    empty = EmptyNodes(places[0], places[1], places[2], [place[3] for place in documents.empty])
    mentions = sorted(entities.mentions, key=lambda mention: mention.entity)
    entity = np.array([mention.entity for mention in mentions], np.int64)
    return MentionTable(
        names=documents.names,
        n_tokens=np.array([len(words) for words in documents.words], np.int64),
        document=np.array(entities.document_of_entity, np.int64)[entity],
        start=np.array([mention.parts[0][0] for mention in mentions], np.int64),
        end=np.array([mention.parts[-1][1] for mention in mentions], np.int64),
        entity=entity,
        n_entities=len(entities.labels),
        parts={i: tuple(mention.parts) for i, mention in enumerate(mentions) if mention.of > 1},
        head=np.array([nth_token(mention.parts, mention.head or 1) for mention in mentions], np.int64),
        labels=entities.labels,
        words=ListedWords(documents.words, documents.lines),
        empty=empty if documents.empty else None,
    )


def dump_conllu(table: MentionTable) -> str:
    """Convert documents to CoNLL-U text, each to one sentence with coreference as its only annotation.

    Words are ``_`` if the table has none; ids are kept if the format can express them.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a word or name with a
            control character, two crossing mentions of one entity.
    """
    if table.n_tokens is None:
        raise ValueError("a CoNLL-U file has a row for every token, but the number of tokens is unknown")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    n_tokens = table.n_tokens.tolist()
    return "".join(
        _format_document(table, i, range(first, last), n_tokens[i]) for i, (first, last) in enumerate(pairwise(borders))
    )


def _format_document(table: MentionTable, document: int, mentions: Sequence[int], n_tokens: int) -> str:
    name = table.names[document]
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if invalid := [text for text in (name, *words) if not FORM.fullmatch(text)]:
        raise ValueError(f"document {quote(name)}: a CoNLL-U file can't express {quote(invalid[0])}")
    ids = _choose_ids(table, sorted({int(table.entity[i]) for i in mentions}))
    spans = [table.parts.get(i, ((int(table.start[i]), int(table.end[i])),)) for i in mentions]
    heads = [
        int(table.head[i]) if table.head is not None else span[0][0] for i, span in zip(mentions, spans, strict=True)
    ]
    numbers = list(map(number_of_token, spans, heads))
    labels = [ids[int(table.entity[i])] for i in mentions]
    lines = [f"# newdoc id = {name}", f"# global.Entity = {DEFAULT_FIELDS}"]
    cells = _format_cells(labels, spans, numbers, n_tokens)
    for i, (word, cell) in enumerate(zip(words, cells, strict=True), start=1):
        lines.append("\t".join([str(i), word, *"____0__", f"Entity={cell}" if cell else "_"]))
    lines.append("")
    reader = _Reader()
    for number, line in enumerate(lines):
        reader.take(number, line)
    reader.finish()
    again = [(reader.entities.labels[m.entity], tuple(m.parts), m.head) for m in reader.entities.mentions]
    if (
        reader.documents.problems.total
        or reader.documents.names != [name]
        or sorted(again) != sorted(zip(labels, spans, numbers, strict=True))
    ):
        found = "two crossing mentions of one entity, or a name that would be read back differently"
        raise ValueError(f"document {quote(name)}: a CoNLL-U file can't express {found}")
    return "".join(f"{line}\n" for line in lines)


def _format_cells(labels: Sequence[str], spans: Sequence[Parts], heads: Sequence[int], n_tokens: int) -> Iterator[str]:
    """List the brackets of each token: closing ones first, then opening ones, longest mention first."""
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


def _choose_ids(table: MentionTable, entities: Sequence[int]) -> dict[int, str]:
    """Choose the ids of a document's entities: those of the table if the format can express them, else e1, e2, …"""
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
