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
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.formats import Format
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    GENRE,
    ROOT,
    Document,
    Documents,
    EmptyNode,
    Mention,
    Node,
    documents_of,
    find_genre,
    list_lengths,
    nth_token,
    number_of_token,
)
from closeread.tasks.coref.formats.lines import (
    StoredWords,
    check_name,
    check_read_back,
    choose_ids,
    group_mentions,
    has_controls,
    list_words,
    make_mention,
    number_tokens,
    place_brackets,
    read_text,
)
from closeread.tasks.coref.notices import count_notice
from closeread.tasks.coref.relations import merge_runs

COLUMNS = 10
DEFAULT_FIELDS = "eid-etype-head-other"
FILE = "a CorefUD file"

HEADER = re.compile(r"#[ \t]*(newdoc|global\.Entity)(?![^\s=])")
NEWDOC = re.compile(r"#[ \t]*newdoc(?:[ \t]*|(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*)")
GLOBAL_ENTITY = re.compile(r"#[ \t]*global\.Entity(?:[ \t]*=[ \t]*+(.*[^ \t\n]|))?[ \t]*")
ROW_ID = re.compile(rb"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")
DEPENDENCY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?:(.+)")
CHAINS = "coref_chains="
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
    """A mention, as far as it has been read."""

    line: int  # on which it opens
    type: str  # of the entity
    name: Name  # in the bracket that opened last
    bracket: int  # the line of that bracket
    head: int = 0  # its number among the tokens, from 1; 0 if not given
    # (start, end); the start twice while one is open
    parts: list[tuple[int, int]] = field(default_factory=list)


class _Document:
    """A document, as far as it has been read, and its current sentence."""

    def __init__(self, name: str, header: int, line: int, begin: int) -> None:
        self.name, self.header = name, header  # the line of its header; 1 if it has none
        # the first line after the header, and where it begins, in bytes
        self.line, self.begin = line, begin
        self.mentions: list[_Mention] = []
        self.open: defaultdict[str, list[_Mention]] = defaultdict(list)  # by entity
        # the mentions that lack parts
        self.incomplete: defaultdict[str, list[_Mention]] = defaultdict(list)
        self.tags: list[bytes] = []  # the part of speech of each token
        self.empty: list[EmptyNode] = []
        self.digest = hashlib.blake2b(digest_size=16)
        self.n_sentences = 0
        self.begin_sentence()

    def begin_sentence(self) -> None:
        self.words = [ROOT]  # the token of each word
        self.nodes: dict[tuple[int, int], int] = {}  # the token of each empty node
        self.range_end = 0  # the last word of the last multiword token
        # The token of each empty node, its line, and its parents: their ids and the relations.
        self.parents: list[tuple[int, int, list[tuple[int, int, str]]]] = []
        self.digested: list[bytes] = []  # words; those of empty nodes are empty


class _Reader:
    """Reader of a file."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._path, self._text = path, text
        self._problems = ProblemList()
        # parents that don't exist, which are reported if there are no other problems
        self._lacking = ProblemList()
        self._line = 0
        self._document: _Document | None = None
        self._outside = 0  # the line of the first token if it is before any header
        # of entities; empty if their declaration is not usable
        self._fields: Sequence[str] | None = None
        self._has_types = False
        self._has_entities = False
        self._first_chains = 0  # the line of the first token with stanza's chains
        self._documents: list[Document] = []
        self._headers: list[int] = []
        self._seen: dict[str, int] = {}
        self._is_named = True  # whether the open document has a name
        self._n_bridging = 0
        # the documents and entities with split antecedents
        self._split: set[tuple[int, str]] = set()

    def read(self) -> Parsed:
        """Return all documents, and the line of each one's header."""
        text = self._text
        is_safe = not has_controls(text)
        stream = BytesIO(text)
        for number, raw in enumerate(stream, 1):
            cells, document = raw.split(b"\t"), self._document
            if (  # most rows are words without annotation of coreference
                document is not None
                and len(cells) == COLUMNS
                and cells[0] == b"%d" % len(document.words)
                and cells[1]
                and is_safe
                and not (b"Entity=" in raw or b"Bridge=" in raw or b"SplitAnte=" in raw)
                and b"coref_chains=" not in raw
            ):
                document.words.append(len(document.tags))
                document.digested.append(cells[1])
                document.tags.append(cells[3])
                continue
            self._line = number
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if line.startswith(b"#"):
                if header := HEADER.match(line.decode()):
                    if header[1] == "newdoc":
                        self._begin_document(header.string, stream.tell())
                    else:
                        self._declare_fields(header.string)
            elif not line.strip(b" \t"):
                self._end_sentence()
            elif len(cells) != COLUMNS:
                self._report(
                    f"the number of columns is {len(cells)} (expected {COLUMNS}, separated by tabs)"
                )
            else:
                if not is_safe and has_controls(line):
                    self._report("the row contains a control character")
                if document is None:
                    self._outside = number
                    self._is_named = False
                    document = self._document = _Document("1", 1, number, stream.tell() - len(raw))
                self._take_row(document, line.split(b"\t"))
        self._line = number
        self._end_document(len(text))
        if self._outside and len(self._headers) > 1:
            self._report(
                "token outside a document (expected '# newdoc id = NAME' before it)", self._outside
            )
        if self._first_chains and self._has_entities:
            what = "column 10: coref_chains in a file with Entity (expected one of them)"
            self._report(what, self._first_chains)
        if not self._headers and not self._problems:
            self._problems.add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )
        self._problems.raise_any(self._path)
        self._lacking.raise_any(self._path)
        notices = []
        if self._first_chains:
            notices.append("mentions are read from stanza's coref_chains, which have no heads.")
        if self._split or self._n_bridging:
            counts = {
                "split antecedent": len(self._split),
                "bridging relation": self._n_bridging,
            }
            notices.append(count_notice(describe_relations, counts))
        return Parsed(Documents(self._documents, notices), self._headers, [])

    def _report(self, what: str, line: int | None = None) -> None:
        self._problems.add(what, line or self._line)

    def _begin_document(self, line: str, position: int) -> None:
        self._end_document(position)
        match = NEWDOC.fullmatch(line)
        name = match[1] or "" if match else ""
        hint = ""
        self._is_named = not match or match[1] is not None
        if not self._is_named:
            name = str(len(self._headers) + 1)
            hint = "; a document without an id is named by its number"
        if name:
            check_name(name, self._line, self._seen, self._problems, hint)
        else:
            what = "document without a name" if match else f"{quote(line)} is not valid"
            self._report(f"{what} (expected '# newdoc id = NAME')")
        self._document = _Document(name, self._line, self._line + 1, position)

    def _declare_fields(self, line: str) -> None:
        declared = GLOBAL_ENTITY.fullmatch(line)
        value = (declared[1] or "") if declared else line
        self._fields = value.split("-")
        given = [name for name in self._fields if name]
        if len({"eid", "GRP"} & set(given)) != 1 or len(set(given)) < len(given):
            expected = (
                f"expected different fields with either eid or GRP, such as {DEFAULT_FIELDS!r}"
            )
            self._report(f"global.Entity is {quote(value)} ({expected})")
            self._fields = ()
        self._has_types |= not {"etype", "entity"}.isdisjoint(self._fields)

    def _take_row(self, document: _Document, cells: Sequence[bytes]) -> None:
        kind = self._take_id(document, cells[0])
        misc = cells[9].decode()
        entities = [text[7:] for text in misc.split("|") if text.startswith("Entity=")]
        chains = misc.partition(CHAINS)[2].partition("|")[0]
        if len(entities) > 1:
            self._report("column 10: Entity is given twice")
        if kind == b"-" and (chains or any(entities[:1])):
            attribute = "coref_chains" if chains else "Entity"
            self._report(f"column 10: {attribute} on a multiword token (expected on its words)")
        if kind in (b"-", b"?"):
            return
        token = len(document.tags)
        document.tags.append(cells[3])
        if not cells[1]:
            self._report("column 2: the word is empty (expected a word or '_')")
        document.digested.append(b"" if kind == b"." else cells[1])
        if kind == b".":
            cell = cells[8].decode()
            matches = (
                [] if cell == "_" else [DEPENDENCY.fullmatch(text) for text in cell.split("|")]
            )
            if not all(matches):
                expected = "expected '_' or PARENT:RELATION, several separated by '|'"
                self._report(f"column 9: {quote(cell)} is not valid ({expected})")
            parents = [(int(match[1]), int(match[2] or 0), match[3]) for match in matches if match]
            document.parents.append((token, self._line, parents))
        if not any(entities[:1]):
            pass
        elif self._fields is None:
            expected = f"expected a line such as '# global.Entity = {DEFAULT_FIELDS}' before it"
            self._report(f"column 10: Entity without a declaration of its fields ({expected})")
        elif self._fields and not ENTITY.fullmatch(entities[0]):
            what = f"column 10: {quote(entities[0])} is not a valid Entity"
            self._report(f"{what} (expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')")
        elif self._fields:
            for opens, text, closes in PIECE.findall(entities[0]):
                if opens:
                    values = dict(
                        zip(self._fields, text.split("-", len(self._fields) - 1), strict=False)
                    )
                    self._open_mention(document, token, values, is_single=bool(closes))
                else:
                    self._close_mention(document, token, text)
        self._has_entities |= any(entities)
        if chains:
            self._first_chains = self._first_chains or self._line
            self._take_chains(document, token, chains)
        if "Bridge=" in misc or "SplitAnte=" in misc:
            self._take_relations(misc)

    def _take_chains(self, document: _Document, token: int, chains: str) -> None:
        """Read where a token is in the mentions of stanza's chains."""
        # A mention that ends here opened before those that begin here.
        for text in sorted(chains.split(","), key=lambda text: not text.startswith("end-")):
            match = CHAIN.fullmatch(text)
            if not match:
                expected = "expected unit-idN, start-idN, middle-idN or end-idN, also with repr-id"
                self._report(f"column 10: {quote(text)} is not valid in coref_chains ({expected})")
                continue
            place, entity = match.groups()
            if place == "end":
                self._close_mention(document, token, entity)
            elif place != "middle":
                self._open_mention(document, token, {"eid": entity}, is_single=place == "unit")
            elif not document.open[entity]:
                self._report(f"column 10: entity {quote(entity)} goes on but is not open")

    def _take_id(self, document: _Document, text: bytes) -> bytes:
        """Read an id; return whether it is that of a word (empty), an empty node (.), a range (-) or of nothing (?)."""
        match = ROW_ID.fullmatch(text)
        kind = (match[2] or b"") if match else b"?"
        number, second = (int(match[1]), int(match[3] or 0)) if match else (0, 0)
        after, token = len(document.words), len(document.tags)
        before, last = next(reversed(document.nodes), (0, 0))
        node = (after - 1, last + 1 if before == after - 1 else 1)
        if not kind and number == after:
            document.words.append(token)
        elif kind == b"." and (number, second) == node:
            document.nodes[node] = token
        elif kind == b"-" and number == after and second > number > document.range_end:
            document.range_end = second
        else:
            follows = f" follows word {after - 1}" if after > 1 else ""
            expected = f"expected {after}, {after - 1}.{node[1]} or a range from {after}"
            self._report(f"column 1: {quote(text.decode())}{follows} ({expected})")
        return kind

    def _take_relations(self, misc: str) -> None:
        for attribute in misc.split("|"):
            name, _, value = attribute.partition("=")
            if name not in RELATIONS or not value:
                continue
            pattern, expected = RELATIONS[name]
            for text in value.split(","):
                match = pattern.fullmatch(text)
                if not match or match[1] == match[2]:
                    what = f"column 10: {quote(text)} is not a valid {name}"
                    self._report(
                        f"{what} (expected {expected} with two entities, several separated by ',')"
                    )
                elif name == "Bridge":
                    self._n_bridging += 1
                else:
                    self._split.add((len(self._headers), match[2]))

    def _open_mention(
        self, document: _Document, token: int, values: Mapping[str, str], *, is_single: bool
    ) -> None:
        text = values.get("eid", values.get("GRP", ""))
        name = parse_name(text)
        if not name:
            what = f"column 10: {quote(text)} is not a valid entity id"
            self._report(f"{what} (expected ID or ID[PART/PARTS] with PART from 1 to PARTS)")
            return
        opened = document.open[name.label]
        if name.part == 1:
            mention = _Mention(
                self._line, values.get("etype", values.get("entity", "")), name, self._line
            )
            document.mentions.append(mention)
            if name.of > 1:
                document.incomplete[name.label].append(mention)
        else:
            # As in udapi, and thus in corefud-scorer, the interrupted mention that opened first continues first, and
            # of all that lack parts, the one that opened last is complete first.
            interrupted = next(
                (one for one in document.incomplete[name.label] if one not in opened), None
            )
            before = name._replace(part=name.part - 1)
            if not interrupted or interrupted.name != before or interrupted.parts[-1][1] >= token:
                what = f"column 10: part {name.part} of {name.of} of entity {quote(name.label)}"
                self._report(f"{what} without part {name.part - 1} of {name.of} before it")
                return
            mention = interrupted
        mention.name, mention.bracket = name, self._line
        if head := values.get("head"):
            if not NUMBER.fullmatch(head) or int(head) == 0:
                self._report(
                    f"column 10: {quote(head)} is not a valid head (expected the number of a token, from 1)"
                )
            elif mention.head not in (0, int(head)):
                self._report(f"column 10: the head is {head}, but {mention.head} in another part")
            else:
                mention.head = int(head)
        mention.parts.append((token, token))
        if is_single:
            self._end_part(document, token, mention)
        else:
            opened.append(mention)

    def _close_mention(self, document: _Document, token: int, text: str) -> None:
        name = parse_name(text)
        opened = document.open.get(name.label, []) if name else []
        mention = next((one for one in reversed(opened) if one.name == name), None)
        if mention is None:
            self._report(f"column 10: entity {quote(text)} closes but is not open")
            return
        if (last := opened[-1]) is not mention:
            between = (
                f"{quote(str(last.name))}, which opens later (line {last.bracket}), is still open"
            )
            self._report(f"column 10: entity {quote(text)} closes while {between}")
        opened.remove(mention)
        self._end_part(document, token, mention)

    def _end_part(self, document: _Document, token: int, mention: _Mention) -> None:
        name = mention.name
        mention.parts[-1] = (mention.parts[-1][0], token)
        if name.part < name.of:
            return
        if name.of > 1:
            incomplete = document.incomplete[name.label]
            if (last := incomplete[-1]) is not mention:
                later = f"another mention of it, which opens later (line {last.line}), lacks parts"
                self._report(f"column 10: entity {quote(str(name))} closes while {later}")
            incomplete.remove(mention)
        if mention.head > 1 and mention.head > (
            size := sum(end - start + 1 for start, end in mention.parts)
        ):
            what = f"column 10: the head of a mention of entity {quote(str(name))} is token {mention.head}"
            self._report(
                f"{what} (expected at most {size}, the number of its tokens)", mention.line
            )

    def _end_sentence(self) -> None:
        if not (document := self._document):
            return
        words = document.words
        if document.range_end >= len(words):
            self._report(
                f"the sentence ends before word {document.range_end}, the last of a multiword token"
            )
        for token, line, parents in document.parents:
            dependencies = []
            for number, node, relation in parents:
                at = (
                    document.nodes.get((number, node))
                    if node
                    else words[number]
                    if number < len(words)
                    else None
                )
                if at is None:
                    text = f"{number}.{node}" if node else str(number)
                    self._lacking.add(f"column 9: the parent {text} is not in the sentence", line)
                else:
                    dependencies.append((at, relation))
            document.empty.append(EmptyNode(token, document.n_sentences, dependencies))
        document.n_sentences += bool(document.digested)
        document.digest.update(b"".join([word + b"\t" for word in document.digested]))
        document.begin_sentence()

    def _end_document(self, position: int) -> None:
        self._end_sentence()
        if not (document := self._document):
            return
        for mention in chain.from_iterable(document.open.values()):
            self._report(
                f"entity {quote(str(mention.name))} opens but never closes", mention.bracket
            )
        for label, incomplete in document.incomplete.items():
            for mention in incomplete:
                if mention not in document.open[label]:
                    what = f"a mention of entity {quote(label)} has only {mention.name.part} of its {mention.name.of}"
                    self._report(
                        f"{what} parts (expected all of them in the same document)", mention.line
                    )
        self._headers.append(document.header)
        if self._problems:
            return
        genre = find_genre(document.name)
        self._documents.append(
            Document(
                name=document.name,
                entities=group_mentions(self._list_mentions(document)),
                n_tokens=len(document.tags),
                words=ConlluWords(
                    self._text, document.begin, position, document.line, document.digest.digest()
                ),
                nodes=document.empty,
                fields={GENRE: genre} if genre else {},
                is_named=self._is_named,
            )
        )

    def _list_mentions(self, document: _Document) -> Iterator[tuple[str, Mention]]:
        """Yield the mentions of a document with the ids of their entities; those of stanza have no heads."""
        for mention in document.mentions:
            label = mention.name.label
            spans = merge_runs(mention.parts)
            if self._first_chains:
                yield label, make_mention(spans)
                continue
            head = nth_token(spans, mention.head or 1)
            tag = document.tags[head].decode()
            yield label, make_mention(spans, head=head, tag="" if tag == "_" else tag)


def describe_relations(counts: Mapping[str, int]) -> str:
    """Say how many relations other than identity there are."""
    parts = [pluralize(number, noun) for noun, number in counts.items() if number]
    verb = "is" if sum(counts.values()) == 1 else "are"
    return f"{' and '.join(parts)} {verb} not scored"


class ConlluWords(StoredWords):
    """The words of a document."""

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


def _make_node(cells: Sequence[bytes], tokens: Mapping[bytes, int]) -> Node:
    """Return the place of a row in the trees, given the tokens of its sentence by their ids."""
    parent = None if b"." in cells[0] else tokens.get(cells[6], ROOT)
    if cells[8] == b"_":
        return Node(parent, [] if parent is None else [parent])
    ids = [dependency.partition(b":")[0] for dependency in cells[8].split(b"|")]
    return Node(parent, [tokens.get(id_, ROOT) for id_ in ids])


def read_conllu(path: Path) -> Documents:
    """Read the documents of a CorefUD file."""
    return documents_of(read_records(path, "").records)


def read_records(path: Path, split: str) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    return _Reader(path, read_text(path)).read()


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
    reader = _Reader(Path(document.name), text.encode("utf-8", "replace"))
    check_read_back(document, reader.read, FILE, "two mentions of an entity cross")
    return text


def _list_brackets(document: Document) -> list[tuple[int, int, int, str, str]]:
    """Return the brackets of each part of each mention, as `place_brackets` takes them."""
    brackets = []
    number = 0
    for label, entity in zip(choose_ids(document, PLAIN_ID, "e"), document.entities, strict=True):
        for mention in entity.mentions:
            spans = mention.spans
            head = mention.start if mention.head is None else mention.head
            for part, (start, end) in enumerate(spans, start=1):
                name = Name(label, part, len(spans))
                opens = f"({name}--{number_of_token(spans, head)}-"
                brackets.append((start, -end, number, opens, f"{name})"))
            number += 1
    return sorted(brackets)


FORMAT = Format(
    read_records,
    lambda records: dump_conllu(documents_of(records).documents),
    suffixes=(".conllu",),
    first_line=re.compile(
        r"#\s*(?:global\.|newdoc|newpar|sent_id|text\b|generator\b|meta::)", re.ASCII
    ),
)
