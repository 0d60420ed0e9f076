"""CorefUD: CoNLL-U files with coreference, also in the annotation of GUM or of stanza.

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

stanza has ``coref_chains=start-repr-id0,unit-id1`` in place of ``Entity=``: a token is all of a mention (`unit`), or its
first, a middle or its last token, and `end` closes the mention of the entity that was opened last.  Such mentions have no
heads.

Of the words, only a digest is kept; they are read again when they are asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.tasks.coref.documents import (
    GENRE,
    ROOT,
    Document,
    Documents,
    EmptyNode,
    Mention,
    Node,
    WordLayout,
    find_genre,
    list_lengths,
)
from closeread.tasks.coref.formats.conllu_sentences import (
    COLUMNS,
    INVALID,
    NODE,
    RANGE,
    WORD,
    RowIds,
    Sentence,
    iterate_sentences,
    read_ids,
)
from closeread.tasks.coref.formats.lines import (
    FileText,
    Section,
    StoredWords,
    check_name,
    check_read_back,
    choose_ids,
    group_mentions,
    iterate_hash_lines,
    list_words,
    make_mention,
    number_tokens,
    place_brackets,
    read_text,
)
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import count_notice
from closeread.tasks.coref.spans import Span, merge_runs, nth_token, number_of_token

DEFAULT_FIELDS = "eid-etype-head-other"
FILE = "a CorefUD file"

NEWDOC_LINE = re.compile(rb"#[ \t]*newdoc(?![^\s=])")
GLOBAL_ENTITY_LINE = re.compile(rb"#[ \t]*global\.Entity(?![^\s=])")
NEWDOC = re.compile(r"#[ \t]*newdoc(?:[ \t]*|(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*)")
GLOBAL_ENTITY = re.compile(r"#[ \t]*global\.Entity(?:[ \t]*=[ \t]*+(.*[^ \t\n]|))?[ \t]*")
DEPENDENCY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?:(.+)")
ANNOTATION = re.compile(rb"Entity=|Bridge=|SplitAnte=|coref_chains=")
CHAIN = re.compile(r"(unit|start|middle|end)-(?:repr-)?(id[0-9]{1,9})")
PIECE = re.compile(r"(\()?([^()]+)(\))?")
ENTITY = re.compile(r"(?:\([^()]++\)?+|[^()]++\))+")
PART = re.compile(r"([^\[]+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]")
NUMBER = re.compile(r"[0-9]{1,9}")
RELATIONS = {
    "Bridge": (re.compile(r"([^<>]+)<([^<>:]+)(?::[^<>]*)?"), "ID<ID or ID<ID:RELATION"),
    "SplitAnte": (re.compile(r"([^<>]+)<([^<>]+)"), "ID<ID"),
}
PLAIN_ID = re.compile(r"[^-()\[\]|=\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
PLAIN_WORD = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class Name(NamedTuple):
    """An entity's id as it is in brackets: with the number of the part, from 1, and that of all parts."""

    label: str
    part: int = 1
    n_parts: int = 1

    def __str__(self) -> str:
        return f"{self.label}[{self.part}/{self.n_parts}]" if self.n_parts > 1 else self.label


@lru_cache(maxsize=2**12)
def parse_name(text: str) -> Name | None:
    """Parse ``ID`` or ``ID[PART/PARTS]``; None if it is neither."""
    split = PART.fullmatch(text)
    if not split:
        return Name(text) if text and not text.endswith("]") else None
    name = Name(split[1], int(split[2]), int(split[3]))
    return name if name.part <= name.n_parts and name.n_parts > 1 else None


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a file."""
    text = read_text(path)
    return _Reader(path, text, FileText(path) if reading.is_reread else text).read()


# First phase: the documents of a file


def _split_documents(text: bytes, problems: ProblemList) -> list[Section]:
    """Find the lines of each document; what is before the first header is a document if it has tokens."""
    headers = []
    for line, begin, end in iterate_hash_lines(text):
        if NEWDOC_LINE.match(text, begin, end):
            header = text[begin:end].removesuffix(b"\n").removesuffix(b"\r").decode()
            headers.append((line, begin, end, header))
    first_begin = headers[0][1] if headers else len(text)
    sections = _find_unnamed_document(text[:first_begin])
    first_token = _find_first_token(text[:first_begin])
    if headers and first_token:
        message = "token outside a document (expected '# newdoc id = NAME' before it)"
        problems.add(message, first_token)
    lines_by_name: dict[str, int] = {}
    ends = [begin for _, begin, _, _ in headers[1:]]
    ends.append(len(text))
    for (line, _, begin, header), end in zip(headers, ends, strict=False):
        match = NEWDOC.fullmatch(header)
        name = match[1] or "" if match else ""
        hint = ""
        is_named = not match or match[1] is not None
        if not is_named:
            name = str(len(sections) + 1)
            hint = "; a document without an id is named by its number"
        if name:
            check_name(name, line, lines_by_name, problems, hint)
        else:
            message = "document without a name" if match else f"{quote(header)} is not valid"
            problems.add(f"{message} (expected '# newdoc id = NAME')", line)
        sections.append(Section(name, name.encode() if is_named else b"", line, begin, end))
    return sections


def _find_unnamed_document(text: bytes) -> list[Section]:
    """Return the document before the first header, if there are any rows."""
    has_rows = any(line.strip() and not line.startswith(b"#") for line in text.split(b"\n"))
    return [Section("1", b"", 0, 0, len(text))] if has_rows else []


def _find_first_token(text: bytes) -> int:
    """Return the line of the first row of a token; 0 if there is none."""
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.startswith(b"#") and line.count(b"\t") == COLUMNS - 1:
            return number
    return 0


# Second phase: a document


AnnotatedRow = tuple[bytes, int, int, str]
"""A row with annotation of coreference: what it is, its token, its line and its last column.  A plain tuple, since there
are many."""


class Bracket(NamedTuple):
    """A bracket of a token, or both of a mention of this token alone.

    Attributes:
        label: the id of the entity.
        head: the number of the head as it is given; empty if it is not.
        opens, closes: whether a mention opens, and whether one closes.
    """

    label: str
    head: str
    opens: bool
    closes: bool


@lru_cache(maxsize=2**14)
def _parse_entity(entity: str, fields: tuple[str, ...]) -> Sequence[Bracket]:
    """Parse the brackets of a token, given the fields of mentions; none if anything else is there."""
    if not ENTITY.fullmatch(entity):
        return ()
    brackets = []
    for opens, text, closes in PIECE.findall(entity):
        label = text
        head = ""
        if opens:
            values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
            label = values.get("eid", values.get("GRP", ""))
            head = values.get("head", "")
        brackets.append(Bracket(label, head, bool(opens), bool(closes)))
    return brackets


@dataclass
class _Tokens:
    """The tokens of a document, as far as it has been read.

    Attributes:
        words: the words; those of empty nodes are empty.
        tags: the parts of speech.
        nodes: the empty nodes.
        n_sentences: the number of sentences with tokens.
    """

    words: list[bytes] = field(default_factory=list)
    tags: list[bytes] = field(default_factory=list)
    nodes: list[EmptyNode] = field(default_factory=list)
    n_sentences: int = 0


class _Reader:
    """Reader of a file."""

    def __init__(self, path: Path, text: bytes, stored_text: bytes | FileText) -> None:
        self._path = path
        self._text = text
        self._stored_text = stored_text
        self._problems = ProblemList()
        # Parents that don't exist, which are reported if there are no other problems.
        self._lacking = ProblemList()
        # The fields of mentions, as declared so far; None if they are not, empty if the declaration is not usable.
        self._fields: tuple[str, ...] | None = None
        self._has_entities = False
        # The line of the first token with stanza's chains; 0 if there is none.
        self._first_chains = 0
        self._n_bridging = 0
        # The documents and entities with split antecedents.
        self._split_entities: set[tuple[str, str]] = set()

    def read(self) -> Documents:
        """Return all documents."""
        sections = _split_documents(self._text, self._problems)
        # Fields may be declared before the first document.
        before = self._text[: sections[0].begin] if sections else b""
        for line, begin, end in iterate_hash_lines(before):
            self._take_comment(before[begin:end], line)
        documents = [self._read_document(section) for section in sections]
        if self._first_chains and self._has_entities:
            message = "column 10: coref_chains in a file with Entity (expected one of them)"
            self._problems.add(message, self._first_chains)
        if not sections and not self._problems:
            self._problems.add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )
        self._problems.raise_any(self._path)
        self._lacking.raise_any(self._path)
        return Documents(documents, self._list_notices())

    def _list_notices(self) -> list[str]:
        notices = []
        if self._first_chains:
            notices.append("mentions are read from stanza's coref_chains, which have no heads.")
        if self._split_entities or self._n_bridging:
            counts = {
                "split antecedent": len(self._split_entities),
                "bridging relation": self._n_bridging,
            }
            notices.append(count_notice(describe_relations, counts))
        return notices

    def _read_document(self, section: Section) -> Document:
        tokens = _Tokens()
        mentions = _Mentions(self._problems)
        text = self._text[section.begin : section.end]
        for sentence in iterate_sentences(text, section.line + 1, self._problems):
            for line, comment in sentence.comments:
                self._take_comment(comment, line)
            self._read_sentence(section, sentence, tokens, mentions)
        mentions.end()
        packed = b"\t".join([*tokens.words, b""])
        digest = hashlib.blake2b(packed, digest_size=16).digest()
        genre = find_genre(section.name)
        # Where there are problems, mentions may have heads outside the document.
        labeled = [] if self._problems else self._list_mentions(tokens, mentions)
        return Document(
            name=section.name,
            entities=group_mentions(labeled),
            n_tokens=len(tokens.tags),
            words=ConlluWords(text=self._stored_text, section=section, digest=digest),
            nodes=tokens.nodes,
            fields={GENRE: genre} if genre else {},
            is_named=bool(section.header),
        )

    def _take_comment(self, comment: bytes, number: int) -> None:
        """Read the fields of mentions if a comment declares them."""
        if not GLOBAL_ENTITY_LINE.match(comment):
            return
        line = comment.removesuffix(b"\n").removesuffix(b"\r").decode()
        declared = GLOBAL_ENTITY.fullmatch(line)
        value = (declared[1] or "") if declared else line
        fields = value.split("-")
        names = [name for name in fields if name]
        if len({"eid", "GRP"} & set(names)) != 1 or len(set(names)) < len(names):
            expected = (
                f"expected different fields with either eid or GRP, such as {DEFAULT_FIELDS!r}"
            )
            self._problems.add(f"global.Entity is {quote(value)} ({expected})", number)
            fields = []
        self._fields = tuple(fields)

    def _read_sentence(
        self, section: Section, sentence: Sentence, tokens: _Tokens, mentions: _Mentions
    ) -> None:
        """Add the tokens and the mentions of a sentence to those of its document."""
        ids = read_ids(sentence, len(tokens.tags), self._problems)
        _, words, _, tags, *_, annotations = sentence.columns
        n_tokens = len(ids.tokens)
        if ids.kinds.count(WORD) == n_tokens:
            tokens.words += words
            tokens.tags += tags
        else:
            self._add_tokens(sentence, ids, tokens)
        rows = zip(ids.kinds, ids.tokens, sentence.lines, annotations, strict=True)
        for kind, token, line, annotation in rows:
            if annotation != b"_" and ANNOTATION.search(annotation):
                row = (kind, token, line, annotation.removesuffix(b"\r").decode())
                self._read_annotation(section, row, mentions)
        if n_tokens:
            tokens.n_sentences += 1

    def _add_tokens(self, sentence: Sentence, ids: RowIds, tokens: _Tokens) -> None:
        """Add the words and the empty nodes of a sentence that has not only words."""
        for kind, token, (line, cells) in zip(
            ids.kinds, ids.tokens, sentence.list_rows(), strict=True
        ):
            if kind == WORD:
                tokens.words.append(cells[1])
                tokens.tags.append(cells[3])
            elif kind == NODE:
                tokens.words.append(b"")
                tokens.tags.append(cells[3])
                dependencies = self._find_dependencies(cells[8].decode(), ids, line)
                tokens.nodes.append(EmptyNode(token, tokens.n_sentences, dependencies))

    def _find_dependencies(self, cell: str, ids: RowIds, line: int) -> list[tuple[int, str]]:
        """Return the enhanced dependencies of an empty node, whose parents may follow it."""
        dependencies = []
        for word, node, relation in self._parse_dependencies(cell, line):
            parent = ids.find_token(word, node)
            if parent is None:
                name = f"{word}.{node}" if node else str(word)
                self._lacking.add(f"column 9: the parent {name} is not in the sentence", line)
            else:
                dependencies.append((parent, relation))
        return dependencies

    def _parse_dependencies(self, cell: str, line: int) -> list[tuple[int, int, str]]:
        """Return the word and the number of the empty node after it, 0 for the word itself, of each parent; the relation."""
        if cell == "_":
            return []
        matches = [DEPENDENCY.fullmatch(text) for text in cell.split("|")]
        if not all(matches):
            expected = "expected '_' or PARENT:RELATION, several separated by '|'"
            self._problems.add(f"column 9: {quote(cell)} is not valid ({expected})", line)
        return [(int(match[1]), int(match[2] or 0), match[3]) for match in matches if match]

    def _read_annotation(self, section: Section, row: AnnotatedRow, mentions: _Mentions) -> None:
        """Read what a row says of coreference."""
        kind, token, line, misc = row
        entities = []
        chains = ""
        relations = []
        for attribute in misc.split("|"):
            name, _, value = attribute.partition("=")
            if name == "Entity":
                entities.append(value)
            elif name == "coref_chains":
                chains = chains or value
            elif name in RELATIONS and value:
                relations.append((name, value))
        if len(entities) > 1:
            self._problems.add("column 10: Entity is given twice", line)
        entity = entities[0] if entities else ""
        if kind == RANGE and (chains or entity):
            attribute = "coref_chains" if chains else "Entity"
            message = f"{attribute} on a multiword token (expected on its words)"
            self._problems.add(f"column 10: {message}", line)
        if kind in (RANGE, INVALID):
            return
        if entity:
            self._read_entity(entity, token, line, mentions)
        if any(entities):
            self._has_entities = True
        if chains:
            self._first_chains = self._first_chains or line
            self._read_chains(chains, token, line, mentions)
        for name, value in relations:
            self._read_relations(section, name, value, line)

    def _read_entity(self, entity: str, token: int, line: int, mentions: _Mentions) -> None:
        """Read the brackets of a token."""
        fields = self._fields
        if fields is None:
            expected = f"expected a line such as '# global.Entity = {DEFAULT_FIELDS}' before it"
            message = f"Entity without a declaration of its fields ({expected})"
            self._problems.add(f"column 10: {message}", line)
        elif fields:
            brackets = _parse_entity(entity, fields)
            if not brackets:
                expected = "expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)'"
                message = f"{quote(entity)} is not a valid Entity ({expected})"
                self._problems.add(f"column 10: {message}", line)
            for label, head, opens, closes in brackets:
                if opens:
                    mentions.open(label, token, line, head)
                    if closes:
                        mentions.close_opened(token)
                else:
                    mentions.close(label, token, line)

    def _read_chains(self, chains: str, token: int, line: int, mentions: _Mentions) -> None:
        """Read where a token is in the mentions of stanza's chains."""
        pieces = chains.split(",")
        # A mention that ends here opened before those that begin here.
        ending = [text for text in pieces if text.startswith("end-")]
        beginning = [text for text in pieces if not text.startswith("end-")]
        for text in ending + beginning:
            match = CHAIN.fullmatch(text)
            if not match:
                expected = "expected unit-idN, start-idN, middle-idN or end-idN, also with repr-id"
                message = f"{quote(text)} is not valid in coref_chains ({expected})"
                self._problems.add(f"column 10: {message}", line)
                continue
            place, entity = match.groups()
            if place == "end":
                mentions.close(entity, token, line)
            elif place != "middle":
                mentions.open(entity, token, line)
                if place == "unit":
                    mentions.close_opened(token)
            elif not mentions.is_open(entity):
                message = f"entity {quote(entity)} goes on but is not open"
                self._problems.add(f"column 10: {message}", line)

    def _read_relations(self, section: Section, name: str, value: str, line: int) -> None:
        """Check and count bridging relations, or entities with split antecedents."""
        pattern, form = RELATIONS[name]
        for text in value.split(","):
            match = pattern.fullmatch(text)
            if not match or match[1] == match[2]:
                expected = f"expected {form} with two entities, several separated by ','"
                message = f"{quote(text)} is not a valid {name} ({expected})"
                self._problems.add(f"column 10: {message}", line)
            elif name == "Bridge":
                self._n_bridging += 1
            else:
                self._split_entities.add((section.name, match[2]))

    def _list_mentions(self, tokens: _Tokens, mentions: _Mentions) -> Iterator[tuple[str, Mention]]:
        """Yield the mentions of a document with the ids of their entities; those of stanza have no heads."""
        for mention in mentions.mentions:
            spans = mention.spans
            if len(spans) > 1:
                spans = merge_runs(spans)
            if self._first_chains:
                yield mention.name.label, make_mention(spans)
                continue
            head = nth_token(spans, mention.head or 1)
            tag = tokens.tags[head].decode()
            subspans = tuple(spans) if len(spans) > 1 else ()
            tag = "" if tag == "_" else tag
            yield mention.name.label, Mention(spans[0][0], spans[-1][1], head, subspans, tag=tag)


@dataclass(eq=False, slots=True)
class _OpenMention:
    """A mention, as far as it has been read.

    Attributes:
        name: the name in the bracket that opened last.
        line: the line on which it opens.
        bracket_line: the line of the bracket that opened last.
        head: the number of its head among its tokens, from 1; 0 if it is not given.
        spans: the first and the last token of each part; of an open one, the first twice.
    """

    name: Name
    line: int
    bracket_line: int
    head: int = 0
    spans: list[Span] = field(default_factory=list)


class _Mentions:
    """The mentions of a document, as far as it has been read."""

    def __init__(self, problems: ProblemList) -> None:
        self._problems = problems
        self.mentions: list[_OpenMention] = []
        # The mentions of each entity that are open, and those that lack parts.
        self._open: defaultdict[str, list[_OpenMention]] = defaultdict(list)
        self._incomplete: defaultdict[str, list[_OpenMention]] = defaultdict(list)
        self._last_opened: _OpenMention | None = None

    def is_open(self, label: str) -> bool:
        """Whether a mention of an entity is open."""
        return bool(self._open[label])

    def open(self, text: str, token: int, line: int, head: str = "") -> None:
        """Open a mention, or a further part of one."""
        self._last_opened = None
        name = parse_name(text)
        if not name:
            expected = "expected ID or ID[PART/PARTS] with PART from 1 to PARTS"
            message = f"{quote(text)} is not a valid entity id ({expected})"
            self._problems.add(f"column 10: {message}", line)
            return
        mention = self._begin_part(name, token, line)
        if mention is None:
            return
        mention.name = name
        mention.bracket_line = line
        if head:
            self._set_head(mention, head, line)
        mention.spans.append((token, token))
        self._open[name.label].append(mention)
        self._last_opened = mention

    def _begin_part(self, name: Name, token: int, line: int) -> _OpenMention | None:
        """Return the mention of which a part opens; None if its earlier parts are missing."""
        if name.part == 1:
            mention = _OpenMention(name, line, line)
            self.mentions.append(mention)
            if name.n_parts > 1:
                self._incomplete[name.label].append(mention)
            return mention
        # As in udapi, and thus in corefud-scorer, the interrupted mention that opened first continues first, and of all
        # that lack parts, the one that opened last is complete first.
        is_open = self._open[name.label]
        interrupted = [
            mention for mention in self._incomplete[name.label] if mention not in is_open
        ]
        part_before = name._replace(part=name.part - 1)
        if interrupted:
            mention = interrupted[0]
            if mention.name == part_before and mention.spans[-1][1] < token:
                return mention
        message = f"part {name.part} of {name.n_parts} of entity {quote(name.label)}"
        before = f"without part {name.part - 1} of {name.n_parts} before it"
        self._problems.add(f"column 10: {message} {before}", line)
        return None

    def _set_head(self, mention: _OpenMention, head: str, line: int) -> None:
        if not NUMBER.fullmatch(head) or int(head) == 0:
            expected = "expected the number of a token, from 1"
            message = f"{quote(head)} is not a valid head ({expected})"
            self._problems.add(f"column 10: {message}", line)
        elif mention.head not in (0, int(head)):
            message = f"the head is {head}, but {mention.head} in another part"
            self._problems.add(f"column 10: {message}", line)
        else:
            mention.head = int(head)

    def close_opened(self, token: int) -> None:
        """Close the part that was opened last, if it could be opened."""
        mention = self._last_opened
        if mention is not None:
            self._open[mention.name.label].remove(mention)
            self._end_part(mention, token, mention.bracket_line)

    def close(self, text: str, token: int, line: int) -> None:
        """Close a mention, or a part of one."""
        name = parse_name(text)
        opened = self._open.get(name.label, []) if name else []
        if opened and opened[-1].name == name:
            self._end_part(opened.pop(), token, line)
            return
        matching = [mention for mention in opened if mention.name == name]
        if not matching:
            self._problems.add(f"column 10: entity {quote(text)} closes but is not open", line)
            return
        mention = matching[-1]
        last = opened[-1]
        later = f"which opens later (line {last.bracket_line}), is still open"
        message = f"entity {quote(text)} closes while {quote(str(last.name))}, {later}"
        self._problems.add(f"column 10: {message}", line)
        opened.remove(mention)
        self._end_part(mention, token, line)

    def _end_part(self, mention: _OpenMention, token: int, line: int) -> None:
        name = mention.name
        mention.spans[-1] = (mention.spans[-1][0], token)
        if name.part < name.n_parts:
            return
        if name.n_parts > 1:
            incomplete = self._incomplete[name.label]
            last = incomplete[-1]
            if last is not mention:
                later = f"another mention of it, which opens later (line {last.line}), lacks parts"
                message = f"entity {quote(str(name))} closes while {later}"
                self._problems.add(f"column 10: {message}", line)
            incomplete.remove(mention)
        if mention.head > 1:
            n_tokens = sum(end - start + 1 for start, end in mention.spans)
            if mention.head > n_tokens:
                where = f"the head of a mention of entity {quote(str(name))}"
                expected = f"expected at most {n_tokens}, the number of its tokens"
                message = f"{where} is token {mention.head} ({expected})"
                self._problems.add(f"column 10: {message}", mention.line)

    def end(self) -> None:
        """Report the mentions that are still open, or lack parts."""
        for mentions in self._open.values():
            for mention in mentions:
                message = f"entity {quote(str(mention.name))} opens but never closes"
                self._problems.add(message, mention.bracket_line)
        for label, incomplete in self._incomplete.items():
            for mention in incomplete:
                if mention in self._open[label]:
                    continue
                has = f"has only {mention.name.part} of its {mention.name.n_parts} parts"
                expected = "expected all of them in the same document"
                message = f"a mention of entity {quote(label)} {has} ({expected})"
                self._problems.add(message, mention.line)


def describe_relations(counts: Mapping[str, int]) -> str:
    """Say how many relations other than identity there are."""
    parts = [pluralize(number, noun) for noun, number in counts.items() if number]
    verb = "is" if sum(counts.values()) == 1 else "are"
    return f"{' and '.join(parts)} {verb} not scored"


@dataclass(kw_only=True, eq=False)
class ConlluWords(StoredWords):
    """The words of a document."""

    digest: bytes
    counts_empty_nodes = True

    def read_tokens(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line and the word of every token."""
        for number, line in self._iterate_lines():
            cells = line.split(b"\t", 2)
            if len(cells) == 3 and not line.startswith(b"#") and b"-" not in cells[0]:
                yield number, b"_" if b"." in cells[0] else cells[1]

    def read_nodes(self) -> list[Node]:
        """Return the place of every token in its tree."""
        nodes: list[Node] = []
        rows: list[list[bytes]] = []
        for _, line in (*self._iterate_lines(), (0, b"")):
            cells = line.rstrip(b"\r").split(b"\t")
            if len(cells) == COLUMNS and b"-" not in cells[0]:
                rows.append(cells)
            elif not line.strip():
                tokens = {cells[0]: len(nodes) + i for i, cells in enumerate(rows)}
                nodes += [_make_node(cells, tokens) for cells in rows]
                rows = []
        return nodes

    def read_layout(self) -> WordLayout:
        """Return the sentences, and the words with SpaceAfter=No; in a multiword token, the last one has it."""
        starts: list[int] = []
        glued: list[int] = []
        token = 0
        is_start = True
        # The last word of a multiword token, and whether a blank follows it.
        last_id = b""
        is_last_glued = False
        for _, line in self._iterate_lines():
            cells = line.rstrip(b"\r").split(b"\t")
            if len(cells) != COLUMNS:
                is_start = is_start or not line.strip()
                continue
            is_glued = b"SpaceAfter=No" in cells[9].split(b"|")
            if b"-" in cells[0]:
                last_id = cells[0].partition(b"-")[2]
                is_last_glued = is_glued
                continue
            if is_start:
                starts.append(token)
                is_start = False
            if is_glued or (is_last_glued and cells[0] == last_id):
                glued.append(token)
                is_last_glued = False
            token += 1
        return WordLayout(starts, glued or None)


def _make_node(cells: Sequence[bytes], tokens: Mapping[bytes, int]) -> Node:
    """Return the place of a row in the trees, given the tokens of its sentence by their ids."""
    parent = None if b"." in cells[0] else tokens.get(cells[6], ROOT)
    if cells[8] == b"_":
        return Node(parent, [] if parent is None else [parent])
    ids = [dependency.partition(b":")[0] for dependency in cells[8].split(b"|")]
    return Node(parent, [tokens.get(id_, ROOT) for id_ in ids])


def dump_conllu(documents: Sequence[Document]) -> str:
    """Convert documents to CorefUD, each to one sentence with coreference as its only annotation.

    Words are ``_`` if they are unknown; ids are kept if the format can express them; empty nodes keep their enhanced
    dependencies.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a word or name with a
            control character, two crossing mentions of one entity.
    """
    lengths = list_lengths(documents, FILE)
    return "".join(map(_dump_document, documents, lengths))


def _dump_document(document: Document, n_tokens: int) -> str:
    words = list_words(document, n_tokens, PLAIN_WORD, FILE)
    dependencies_by_node = {node.token: node.dependencies for node in document.nodes}
    rows = dict(enumerate(number_tokens(n_tokens, dependencies_by_node)))
    rows[ROOT] = "0"
    lines = [f"# newdoc id = {document.name}", f"# global.Entity = {DEFAULT_FIELDS}"]
    cells = place_brackets(_list_brackets(document), n_tokens)
    for token, (closing, opening) in enumerate(cells):
        entity = "".join([*reversed(closing), *opening])
        dependencies = "|".join(
            f"{rows[parent]}:{relation}" for parent, relation in dependencies_by_node.get(token, ())
        )
        columns = [
            rows[token],
            words[token],
            *"____",
            "_" if token in dependencies_by_node else "0",
            "_",
            dependencies or "_",
            f"Entity={entity}" if entity else "_",
        ]
        lines.append("\t".join(columns))
    text = "".join(f"{line}\n" for line in [*lines, ""])
    data = text.encode("utf-8", "replace")
    reader = _Reader(Path(document.name), data, data)
    check_read_back(document, reader.read, FILE, "two mentions of an entity cross")
    return text


def _list_brackets(document: Document) -> list[tuple[int, int, int, str, str]]:
    """Return the brackets of each part of each mention, as `place_brackets` takes them."""
    brackets = []
    number = 0
    for label, entity in zip(choose_ids(document, PLAIN_ID, "e"), document.entities, strict=True):
        for mention in entity.mentions:
            spans = mention.spans
            head = mention.head_or_start
            for part, (start, end) in enumerate(spans, start=1):
                name = Name(label, part, len(spans))
                opens = f"({name}--{number_of_token(spans, head)}-"
                brackets.append((start, -end, number, opens, f"{name})"))
            number += 1
    return sorted(brackets)


FORMAT = CorefFormat(read_records, dump_conllu)
