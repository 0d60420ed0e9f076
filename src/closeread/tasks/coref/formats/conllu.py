"""CoNLL-U files with coreference in the annotation of CorefUD, or of GUM.

Conventions: a document begins at ``# newdoc id = NAME``, or at ``# newdoc``; its name is then its number in the file,
from 1.  A file without any of these is document 1.  Tokens are words and empty nodes, in the order of the file, an
empty node with the word ``_``; they are numbered from 0 in their document.  Words have the ids 1, 2, … in each
sentence, empty nodes 3.1, 3.2, … after word 3 (0.1 before the first), and the multiword token 3-4, which is no token,
is before word 3, without an overlap with other multiword tokens.  The enhanced dependencies of empty nodes are in the
column DEPS.

The mentions are in the last column as ``Entity=``: ``(e1-person-2-`` opens a mention, ``e1)`` closes the last open
mention of entity e1, ``(e1-person-1-)`` is a mention of a single token, and ``(e1[1/2]-`` to ``e1[1/2])`` is the first
of two parts; brackets are joined without a separator.  Their fields are declared by ``# global.Entity``: `eid` is the
entity's id, `GRP` (in GUM) the same; ids belong to their document.  `head` is the number of the mention's head among
its tokens, from 1; the default is the first token.  A mention may cross the end of a sentence.
``Bridge=e1<e5:subset`` and ``SplitAnte=e3<e11,e4<e11`` are checked and counted, and otherwise ignored.

Files are read line by line.  Of the words, only a digest is kept; they are read again when they are asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread import limits
from closeread.exceptions import FormatError, ProblemList, pluralize, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, describe_unsafe, read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    EmptyNode,
    MentionTable,
    find_genre,
    list_lengths,
    make_table,
    nth_token,
    number_of_token,
    split_table,
)
from closeread.tasks.coref.formats.coref_json import table_of
from closeread.tasks.coref.formats.lines import (
    StoredWords,
    choose_ids,
    group_spans,
    has_controls,
    list_parts,
    place_brackets,
    read_parts,
)
from closeread.tasks.coref.relations import merge_runs

COLUMNS = 10
DEFAULT_FIELDS = "eid-etype-head-other"
ROOT = -1

HEADER = re.compile(r"#[ \t]*(newdoc|global\.Entity)(?![^\s=])")
NEWDOC = re.compile(r"#[ \t]*newdoc(?:[ \t]*|(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*)")
GLOBAL_ENTITY = re.compile(r"#[ \t]*global\.Entity(?:[ \t]*=[ \t]*+(.*[^ \t\n]|))?[ \t]*")
CONTROL = re.compile(rb"\xc2[\x80-\x9f]")  # beyond ASCII
ROW_ID = re.compile(rb"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")
DEPENDENCY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?:(.+)")
PIECE = re.compile(r"(\()?([^()]+)(\))?")
ENTITY = re.compile(r"(?:\([^()]++\)?+|[^()]++\))+")
PART = re.compile(r"([^\[]+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]")
NUMBER = re.compile(r"[0-9]{1,9}")
BRIDGE = re.compile(r"([^<>]+)<([^<>:]+)(?::[^<>]*)?")
SPLIT_ANTECEDENT = re.compile(r"([^<>]+)<([^<>]+)")
PLAIN_ID = re.compile(r"[^-()\[\]|=\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class Name(NamedTuple):
    """An entity's id as it is in brackets: with the number of the part, from 1, and that of all parts."""

    label: str
    part: int = 1
    of: int = 1

    def __str__(self) -> str:
        return f"{self.label}[{self.part}/{self.of}]" if self.of > 1 else self.label


@lru_cache(maxsize=2**12)
def parse_name(text: str) -> Name | None:
    """Parse ``ID`` or ``ID[PART/PARTS]``; None if it is neither."""
    split = PART.fullmatch(text)
    if not split:
        return Name(text) if text and not text.endswith("]") else None
    name = Name(split[1], int(split[2]), int(split[3]))
    return name if name.part <= name.of and name.of > 1 else None


@dataclass(eq=False)
class _Mention:
    """A mention, as far as it has been read.

    Attributes:
        line: the line on which it opens.
        entity: the number of its entity in the document.
        type: the type of the entity.
        name: what is in the bracket that opened last.
        bracket: the line of that bracket.
        is_open: whether it has not closed.
        head: the number of its head among its tokens, from 1; 0 if not given.
        parts: the (start, end) of the parts that have been read; the start twice while one is open.
    """

    line: int
    entity: int
    type: str
    name: Name
    bracket: int
    is_open: bool = False
    head: int = 0
    parts: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _Entities:
    """The entities of the current document, by id: their numbers, and their mentions that are open or lack parts."""

    numbers: dict[str, int] = field(default_factory=dict)
    mentions: list[_Mention] = field(default_factory=list)
    open: defaultdict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))
    incomplete: defaultdict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class _Sentence:
    """How far the current sentence has been read.

    Attributes:
        words: the token of each word, after the root.
        nodes: the token of each empty node, by its id.
        range_end: the last word of the last multiword token.
        parents: the token, the line, and the parents of each empty node: its id and the relation.
        digested: the words as they are digested; those of empty nodes are empty.
    """

    words: list[int] = field(default_factory=lambda: [ROOT])
    nodes: dict[tuple[int, int], int] = field(default_factory=dict)
    range_end: int = 0
    parents: list[tuple[int, int, list[tuple[int, int, str]]]] = field(default_factory=list)
    digested: list[bytes] = field(default_factory=list)


@dataclass
class _Place:
    """Where a document begins: the line of its header, or its first line, and the next line and its position."""

    name: str
    is_numbered: bool
    header: int
    line: int
    begin: int


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self, path: Path) -> None:
        self.problems = ProblemList()
        self.documents: list[Document] = []
        self.places: list[_Place] = []
        self.digests: list[bytes] = []
        self._path = path
        self._lacking = ProblemList()  # parents that don't exist, which are reported if there are no other problems
        self._seen: dict[str, int] = {}  # the line of each document's header
        self._line = self._n_headers = self._n_bridging = 0
        self._outside: int | None = None  # the line of the first token, if it is before the first header
        self._fields: Sequence[str] | None = None  # of entities; empty if their declaration is not usable
        self._has_types = False
        self._split: set[tuple[int, str]] = set()  # the documents and entities with split antecedents
        self._begin_tokens()

    def _begin_tokens(self) -> None:
        """Begin to read the tokens of a document."""
        self._entities, self._sentence, self._n_sentences = _Entities(), _Sentence(), 0
        self._tags: list[bytes] = []  # the part of speech of each token
        self._nodes: list[EmptyNode] = []
        self._digest = hashlib.blake2b(digest_size=16)

    def take(self, position: int, data: bytes) -> None:
        """Read some lines, given their position in the file."""
        is_safe = not has_controls(data) and (data.isascii() or not CONTROL.search(data))
        lines = BytesIO(data)
        for raw in lines:
            self._line += 1
            cells, sentence = raw.split(b"\t"), self._sentence
            if (  # most rows are words without annotation of coreference
                len(cells) == COLUMNS
                and cells[0] == b"%d" % len(sentence.words)
                and cells[1]
                and is_safe
                and self.places
                and not (b"Entity=" in raw or b"Bridge=" in raw or b"SplitAnte=" in raw)
            ):
                sentence.words.append(len(self._tags))
                sentence.digested.append(cells[1])
                self._tags.append(cells[3])
                continue
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if line.startswith(b"#"):
                if b"newdoc" in line or b"global.Entity" in line:
                    self._take_header(line.decode(), position + lines.tell())
            elif not line.strip(b" \t"):
                self._end_sentence()
            elif len(cells) == COLUMNS:
                if not self.places:
                    self._outside = self._line
                    self.places.append(_Place("1", True, 1, self._line, position + lines.tell() - len(raw)))
                if not is_safe and UNSAFE.search(line.decode().replace("\t", " ")):
                    self._report("the row contains a control character")
                self._take_row(line.split(b"\t"))
            else:
                self._report(f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)")
        if self.problems.total > limits.MAX_PROBLEMS:  # counting the problems of a gigabyte of garbage helps nobody
            self.problems.raise_any(self._path)

    def _take_header(self, line: str, position: int) -> None:
        match = HEADER.match(line)
        if match and match[1] == "newdoc":
            self._end_sentence()
            self._end_document()
            self._begin_document(line, position)
        elif match:
            declared = GLOBAL_ENTITY.fullmatch(line)
            value = (declared[1] or "") if declared else line
            self._fields = value.split("-")
            given = [name for name in self._fields if name]
            if len({"eid", "GRP"} & set(given)) != 1 or len(set(given)) < len(given):
                expected = f"expected different fields with either eid or GRP, such as {DEFAULT_FIELDS!r}"
                self._report(f"global.Entity is {quote(value)} ({expected})")
                self._fields = ()
            self._has_types |= not {"etype", "entity"}.isdisjoint(self._fields)

    def _begin_document(self, line: str, position: int) -> None:
        self._n_headers += 1
        match = NEWDOC.fullmatch(line)
        is_numbered = match is not None and match[1] is None
        name = str(self._n_headers) if is_numbered else (match[1] if match else "")
        self.places.append(_Place(name, is_numbered, self._line, self._line + 1, position))
        if not name:
            found = "document without a name" if match else f"{quote(line)} is not valid"
            self._report(f"{found} (expected '# newdoc id = NAME')")
        elif unsafe := describe_unsafe(name):
            self._report(f"document name {unsafe}")
        elif (before := self._seen.setdefault(name, self._line)) != self._line:
            number = "; a document without an id is named by its number" if is_numbered else ""
            self._report(f"duplicate document {quote(name)} (first on line {before}){number}")

    def _take_row(self, cells: Sequence[bytes]) -> None:
        kind = self._take_id(self._sentence, cells[0])
        misc = cells[9].decode()
        entities = [text[7:] for text in misc.split("|") if text.startswith("Entity=")]
        if len(entities) > 1:
            self._report("column 10: Entity is given twice")
        if kind == b"-" and entities and entities[0]:
            self._report("column 10: Entity on a multiword token (expected on its words)")
        if kind in (b"-", b"?"):
            return
        token = len(self._tags)
        self._tags.append(cells[3])
        if not cells[1]:
            self._report("column 2: the word is empty (expected a word or '_')")
        self._sentence.digested.append(b"" if kind == b"." else cells[1])
        if kind == b".":
            self._take_dependencies(token, cells[8].decode())
        if entities and entities[0]:
            if self._fields is None:
                expected = f"expected a line such as '# global.Entity = {DEFAULT_FIELDS}' before it"
                self._report(f"column 10: Entity without a declaration of its fields ({expected})")
            elif self._fields:
                self._take_entity(token, entities[0], self._fields)
        if "Bridge=" in misc or "SplitAnte=" in misc:
            self._take_relations(misc)

    def _take_id(self, sentence: _Sentence, text: bytes) -> bytes:
        """Read an id; return whether it is that of a word (empty), an empty node (.), a range (-) or of nothing (?)."""
        if text == b"%d" % len(sentence.words):
            sentence.words.append(len(self._tags))
            return b""
        match = ROW_ID.fullmatch(text)
        kind = (match[2] or b"") if match else b"?"
        number, second = (int(match[1]), int(match[3] or 0)) if match else (0, 0)
        after, token = len(sentence.words), len(self._tags)
        before, last = next(reversed(sentence.nodes), (0, 0))
        node = (after - 1, last + 1 if before == after - 1 else 1)
        if not kind and number == after:
            sentence.words.append(token)
        elif kind == b"." and (number, second) == node:
            sentence.nodes[node] = token
        elif kind == b"-" and number == after and second > number > sentence.range_end:
            sentence.range_end = second
        else:
            follows = f" follows word {after - 1}" if after > 1 else ""
            expected = f"expected {after}, {after - 1}.{node[1]} or a range from {after}"
            self._report(f"column 1: {quote(text.decode())}{follows} ({expected})")
        return kind

    def _take_dependencies(self, token: int, cell: str) -> None:
        matches = [] if cell == "_" else [DEPENDENCY.fullmatch(text) for text in cell.split("|")]
        parents = [(int(match[1]), int(match[2] or 0), match[3]) for match in matches if match]
        if len(parents) < len(matches):
            expected = "expected '_' or PARENT:RELATION, several separated by '|'"
            self._report(f"column 9: {quote(cell)} is not valid ({expected})")
        self._sentence.parents.append((token, self._line, parents))

    def _take_relations(self, misc: str) -> None:
        for attribute in misc.split("|"):
            name, _, value = attribute.partition("=")
            if name not in ("Bridge", "SplitAnte") or not value:
                continue
            pattern, expected = (BRIDGE, "ID<ID or ID<ID:RELATION") if name == "Bridge" else (SPLIT_ANTECEDENT, "ID<ID")
            for text in value.split(","):
                match = pattern.fullmatch(text)
                if not match or match[1] == match[2]:
                    found = f"column 10: {quote(text)} is not a valid {name}"
                    self._report(f"{found} (expected {expected} with two entities, several separated by ',')")
                elif name == "Bridge":
                    self._n_bridging += 1
                else:
                    self._split.add((len(self.places), match[2]))

    def _take_entity(self, token: int, cell: str, fields: Sequence[str]) -> None:
        if not ENTITY.fullmatch(cell):
            found = f"column 10: {quote(cell)} is not a valid Entity"
            self._report(f"{found} (expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')")
            return
        for opens, text, closes in PIECE.findall(cell):
            if opens:
                values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
                self._open_mention(token, values, is_single=bool(closes))
            else:
                self._close_mention(token, text)

    def _open_mention(self, token: int, values: Mapping[str, str], *, is_single: bool) -> None:
        text = values.get("eid", values.get("GRP", ""))
        name = parse_name(text)
        if not name:
            found = f"column 10: {quote(text)} is not a valid entity id"
            self._report(f"{found} (expected ID or ID[PART/PARTS] with PART from 1 to PARTS)")
            return
        entities = self._entities
        incomplete = entities.incomplete[name.label] if name.of > 1 else []
        if name.part == 1:
            entity = entities.numbers.setdefault(name.label, len(entities.numbers))
            kind = values.get("etype", values.get("entity", ""))
            mention = _Mention(self._line, entity, kind, name, self._line)
            entities.mentions.append(mention)
            incomplete.append(mention)
        else:
            # As in udapi, and thus in corefud-scorer, the interrupted mention that opened first continues first, and
            # of all that lack parts, the one that opened last is complete first.
            interrupted = next((one for one in incomplete if not one.is_open), None)
            before = name._replace(part=name.part - 1)
            if not interrupted or interrupted.name != before or interrupted.parts[-1][1] >= token:
                found = f"column 10: part {name.part} of {name.of} of entity {quote(name.label)}"
                self._report(f"{found} without part {name.part - 1} of {name.of} before it")
                return
            mention = interrupted
        mention.name, mention.bracket, mention.is_open = name, self._line, True
        if head := values.get("head"):
            if not NUMBER.fullmatch(head) or int(head) == 0:
                self._report(f"column 10: {quote(head)} is not a valid head (expected the number of a token, from 1)")
            elif mention.head not in (0, int(head)):
                self._report(f"column 10: the head is {head}, but {mention.head} in another part")
            else:
                mention.head = int(head)
        mention.parts.append((token, token))
        if is_single:
            self._end_part(token, mention)
        else:
            entities.open[name.label].append(mention)

    def _close_mention(self, token: int, text: str) -> None:
        name = parse_name(text)
        opened = self._entities.open.get(name.label, []) if name else []
        mention = next((one for one in reversed(opened) if one.name == name), None)
        if mention is None:
            self._report(f"column 10: entity {quote(text)} closes but is not open")
            return
        if (last := opened[-1]) is not mention:
            between = f"{quote(str(last.name))}, which opens later (line {last.bracket}), is still open"
            self._report(f"column 10: entity {quote(text)} closes while {between}")
        opened.remove(mention)
        self._end_part(token, mention)

    def _end_part(self, token: int, mention: _Mention) -> None:
        name, mention.is_open = mention.name, False
        mention.parts[-1] = (mention.parts[-1][0], token)
        if name.part < name.of:
            return
        if name.of > 1:
            incomplete = self._entities.incomplete[name.label]
            if (last := incomplete[-1]) is not mention:
                found = f"another mention of it, which opens later (line {last.line}), lacks parts"
                self._report(f"column 10: entity {quote(str(name))} closes while {found}")
            incomplete.remove(mention)
        if mention.head > 1 and mention.head > (size := sum(end - start + 1 for start, end in mention.parts)):
            found = f"column 10: the head of a mention of entity {quote(str(name))} is token {mention.head}"
            self._report(f"{found} (expected at most {size}, the number of its tokens)", mention.line)

    def _end_sentence(self) -> None:
        sentence, self._sentence = self._sentence, _Sentence()
        if sentence.range_end >= len(sentence.words):
            self._report(f"the sentence ends before word {sentence.range_end}, the last of a multiword token")
        words = sentence.words
        for token, line, parents in sentence.parents:
            dependencies = []
            for number, second, relation in parents:
                at = (number, second)
                parent = sentence.nodes.get(at) if second else words[number] if number < len(words) else None
                if parent is None:
                    text = f"{number}.{second}" if second else str(number)
                    self._lacking.add(f"column 9: the parent {text} is not in the sentence", line)
                else:
                    dependencies.append((parent, relation))
            self._nodes.append(EmptyNode(token, self._n_sentences, dependencies))
        self._n_sentences += bool(sentence.digested)
        self._digest.update(b"".join([word + b"\t" for word in sentence.digested]))

    def _end_document(self) -> None:
        if not self.places:
            return
        entities = self._entities
        for mention in chain.from_iterable(entities.open.values()):
            self._report(f"entity {quote(str(mention.name))} opens but never closes", mention.bracket)
        for label, incomplete in entities.incomplete.items():
            for mention in incomplete:
                if not mention.is_open:
                    of = f"{mention.name.part} of its {mention.name.of} parts"
                    found = f"a mention of entity {quote(label)} has only {of}"
                    self._report(f"{found} (expected all of them in the same document)", mention.line)
        self.digests.append(self._digest.digest())
        if not self.problems.total:
            mentions = sorted(entities.mentions, key=lambda one: one.entity)
            parts = [tuple(merge_runs(one.parts)) for one in mentions]
            heads = [nth_token(spans, one.head or 1) for spans, one in zip(parts, mentions, strict=True)]
            tags = [self._tags[head].decode() for head in heads]
            self.documents.append(
                Document(
                    name=self.places[-1].name,
                    n_tokens=len(self._tags),
                    start=np.array([spans[0][0] for spans in parts], np.int64),
                    end=np.array([spans[-1][1] for spans in parts], np.int64),
                    entity=np.array([one.entity for one in mentions], np.int64),
                    labels=list(entities.numbers),
                    head=np.array(heads, np.int64),
                    parts={i: spans for i, spans in enumerate(parts) if len(spans) > 1},
                    empty=self._nodes,
                    fields={"pos": ["" if tag == "_" else tag for tag in tags], "type": [one.type for one in mentions]},
                )
            )
        self._begin_tokens()

    def _report(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, self._line if line is None else line)

    def finish(self, text: bytes) -> MentionTable:
        """Return all documents."""
        self._end_sentence()
        self._end_document()
        if self._outside and self._n_headers:
            self._report("token outside a document (expected '# newdoc id = NAME' before it)", self._outside)
        if not self.places and not self.problems.total:
            self.problems.add("contains no document (expected '# newdoc id = NAME' before the first sentence)")
        self.problems.raise_any(self._path)
        self._lacking.raise_any(self._path)
        if not self._has_types:
            for document in self.documents:
                document.fields.pop("type")
        genres = [find_genre(place.name) for place in self.places]
        counted = [pluralize(len(self._split), "split antecedent")] if self._split else []
        counted += [pluralize(self._n_bridging, "bridging relation")] if self._n_bridging else []
        verb = "is" if len(self._split) + self._n_bridging == 1 else "are"
        return make_table(
            self.documents,
            words=ConlluWords(text, self.digests, self.places),
            document_fields={"genre": genres} if any(genres) else {},
            unnamed=frozenset(i for i, place in enumerate(self.places) if place.is_numbered),
            notices=[f"{' and '.join(counted)} {verb} not scored"] if counted else [],
        )


class ConlluWords(StoredWords):
    """The words of a file's documents."""

    def __init__(self, text: bytes, digests: Sequence[bytes], places: Sequence[_Place]) -> None:
        super().__init__(text, digests)
        self._places = places

    def read_tokens(self, document: int) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token of a document."""
        place, *after = self._places[document : document + 2]
        for number, line in self._iterate_lines(place.begin, after[0].begin if after else len(self._text), place.line):
            cells = line.split(b"\t", 2)
            if len(cells) == 3 and not line.startswith(b"#") and b"-" not in cells[0]:
                yield number, b"_" if b"." in cells[0] else cells[1]


def read_conllu(path: Path) -> MentionTable:
    """Read the documents of a CoNLL-U file."""
    return _read(path)[0]


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    return Parsed(*_read(path), [])


def _read(path: Path) -> tuple[MentionTable, list[int]]:
    text = read_bytes(path)
    reader = _Reader(path)
    read_parts(path, text, reader.take, allow_controls=True)
    return reader.finish(text), [place.header for place in reader.places]


def dump_conllu(table: MentionTable) -> str:
    """Convert documents to CoNLL-U text, each to one sentence with coreference as its only annotation.

    Words are ``_`` if the table has none; ids are kept if the format can express them; empty nodes keep their enhanced
    dependencies.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a word or name with a
            control character, two crossing mentions of one entity.
    """
    lengths = list_lengths(table, "a CoNLL-U file")
    return "".join(
        _format_document(table, i, document, n_tokens)
        for i, (document, n_tokens) in enumerate(zip(split_table(table), lengths, strict=True))
    )


def _format_document(table: MentionTable, number: int, document: Document, n_tokens: int) -> str:
    name = document.name
    about = f"document {quote(name)}: a CoNLL-U file can't express"
    header = f"# newdoc id = {name}"
    match = NEWDOC.fullmatch(header)
    if UNSAFE.search(name) or not name or not match or match[1] != name:
        raise ValueError(f"{about} {quote(name)}")
    words = (table.words(number) if table.words else ()) or ["_"] * n_tokens
    if invalid := [word for word in words if not word or UNSAFE.search(word)]:
        raise ValueError(f"{about} {quote(invalid[0])}")
    ids = choose_ids(document, PLAIN_ID, "e")
    parts = list_parts(document)
    heads = [spans[0][0] for spans in parts] if document.head is None else document.head.tolist()
    brackets = []
    for i, (entity, spans, head) in enumerate(zip(document.entity.tolist(), parts, heads, strict=True)):
        for part, (start, end) in enumerate(spans, start=1):
            bracket = Name(ids[entity], part, len(spans))
            brackets.append((start, -end, i, f"({bracket}--{number_of_token(spans, head)}-", f"{bracket})"))
    cells = place_brackets(sorted(brackets), n_tokens)
    empty = {node.token: node.dependencies for node in document.empty}
    rows = {ROOT: "0"}
    word = second = 0
    for token in range(n_tokens):
        word, second = (word, second + 1) if token in empty else (word + 1, 0)
        rows[token] = f"{word}.{second}" if second else str(word)
    lines = [header, f"# global.Entity = {DEFAULT_FIELDS}"]
    for token, (closing, opening) in enumerate(cells):
        cell = "".join([*reversed(closing), *opening])
        governor = "0" if token not in empty else "_"
        dependencies = "|".join(f"{rows[parent]}:{relation}" for parent, relation in empty.get(token, ())) or "_"
        misc = f"Entity={cell}" if cell else "_"
        lines.append("\t".join([rows[token], words[token], *"____", governor, "_", dependencies, misc]))
    text = "".join(f"{line}\n" for line in [*lines, ""])
    reader = _Reader(Path(name))
    reader.take(0, text.encode())
    with suppress(FormatError):
        if group_spans(reader.finish(b""), 0) == group_spans(table, number):
            return text
    raise ValueError(f"{about} two crossing mentions of one entity")


FORMAT = Format(
    read_records,
    lambda records: dump_conllu(table_of(records)),
    suffixes=(".conllu",),
    first_line=re.compile(r"#\s*(?:global\.|newdoc|newpar|sent_id|text\b|generator\b|meta::)", re.ASCII),
)
