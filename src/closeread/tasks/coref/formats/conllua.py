"""CoNLL-U Plus files of Universal Anaphora, with a column for each layer of annotation.

Conventions: ``# global.columns = ID FORM … IDENTITY BRIDGING DISCOURSE_DEIXIS …`` names the columns; rows may lack the
last ones.  Cells are separated by tabs if that gives enough of them, otherwise by any blanks and tabs.  A document
begins at ``# newdoc id = NAME``.  Its tokens are words and zeros (``3.1``), in the order of the file, a zero with the
word ``_``.  A mention of words does not contain the zeros between them.  Ids of words count up, in the
document from 0 or 1 or in each sentence from 1.  A layer's markables are read by `_Layer`; those whose
entity's id ends in ``-Pseudo`` are non-referring.

Source: M. Poesio et al., Universal Anaphora in CoNLL-U-Plus, version 1.1 (github.com/UniversalAnaphora).

Markables: ``(EntityID=1|MarkableID=m1`` opens a markable, ``)`` closes the one that opened last, and ``m1)`` closes
m1, so that markables can cross; ``(EntityID=1|MarkableID=m1)`` is a markable of a single token.  An ``@`` before an
opening bracket is ignored.  A MarkableID that occurs again in its document opens another part of the same markable.
``Min=3,4`` is the minimum span, from the third to the fourth word of the document; only the first part's counts.
``ElementOf=7,8`` means that the entity is an antecedent of the entities 7 and 8.  Words are numbered from 0 in their
document, without zeros.

Bridging: ``(MarkableID=m2|Rel=poss|MentionAnchor=m1|EntityAnchor=1`` opens on the first token of markable m2, which
is anchored to markable m1, and ``)`` closes it.  Both are markables of the layer of identity, which has their tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from closeread.exceptions import ProblemList, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, describe_unsafe, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    EmptyNode,
    ListedWords,
    MentionTable,
    Parts,
    list_lengths,
    make_table,
    split_table,
)
from closeread.tasks.coref.formats.coref_json import table_of
from closeread.tasks.coref.formats.lines import choose_ids, group_spans, list_parts, place_brackets
from closeread.tasks.coref.relations import Bridging, DocumentRelations, Place, Relations, find_circles, merge_runs

# What closes is taken from its first character on or not at all, so that long cells without a bracket are cheap.
PIECE = re.compile(r"@?\(([^()]*)|((?:(?<![^()])[^()]++)?)\)")
MINIMUM = re.compile(r"([1-9][0-9]{0,8})(?:,([1-9][0-9]{0,8}))?")
NON_REFERRING = "-Pseudo"


@dataclass
class Markable:
    """A markable, as far as it has been read.

    Attributes:
        name: its MarkableID; empty if it has none.
        entity: its EntityID.
        line: the line on which it opens.
        parts: the first and last word of each part; None as the last word of an open one.
        zero: the token of a zero; None for a markable with words.
        minimum: the first and last word of the minimum span.
        element_of: the entities that its entity is an antecedent of.
    """

    name: str
    entity: str
    line: int
    parts: list[tuple[int, int | None]] = field(default_factory=list)
    zero: int | None = None
    minimum: tuple[int, int] | None = None
    element_of: set[str] = field(default_factory=set)

    @property
    def is_referring(self) -> bool:
        """Whether it refers to an entity."""
        return not self.entity.endswith(NON_REFERRING)


class _Layer:
    """The markables of a document in one layer, in the order in which they open; and the reader of their cells."""

    def __init__(self, problems: ProblemList) -> None:
        self.markables: list[Markable] = []
        self._problems = problems
        self._by_name: dict[str, Markable] = {}
        self._open: dict[int, Markable] = {}  # in the order of their brackets
        self._bracket: dict[str, int] = {}  # of each open markable with an id
        self._n_brackets = 0

    def end(self) -> None:
        """Report markables that are still open."""
        for markable in self._open.values():
            self._problems.add(f"{_describe(markable)} opens but never closes", markable.line)
        for names in (self._by_name, self._open, self._bracket):
            names.clear()

    def take(self, line: int, place: str, word: int, zero: int | None, cell: str) -> None:
        """Read the cell of a word, or of a zero: then `zero` is its token, and `word` the number of the next word."""
        pieces = list(PIECE.finditer(cell))
        if "".join(piece[0] for piece in pieces) != cell:
            found = f"{place}: {quote(cell)} is not valid"
            self._problems.add(f"{found} (expected '(EntityID=…|MarkableID=…', ')' or both)", line)
            return
        before = len(self._open)
        for piece in pieces:
            if piece[1] is not None:
                self._open_markable(line, place, word, zero, piece[1].removesuffix("@"))
            elif zero is not None and len(self._open) <= before:
                self._problems.add(f"{place}: a markable closes on a zero (expected on a word)", line)
            else:
                self._close_markable(line, place, word, piece[2])
        if zero is not None and len(self._open) > before:
            self._problems.add(f"{place}: a markable that opens on a zero does not close there", line)
            while len(self._open) > before:
                self._open.popitem()

    def _open_markable(self, line: int, place: str, word: int, zero: int | None, text: str) -> None:
        values = read_fields(text)
        if values is None or not values.get("EntityID"):
            found = f"{place}: {quote(text)} has no EntityID" if values else f"{place}: {quote(text)} is not valid"
            self._problems.add(f"{found} (expected fields such as 'EntityID=1|MarkableID=m1')", line)
            values = {"EntityID": "?"}  # the bracket that closes it is no problem of its own
        markable = self._find_markable(line, place, word, zero, values)
        minimum = self._read_minimum(line, place, values.get("Min"))
        if not markable.parts:
            markable.minimum = minimum
        markable.element_of.update(filter(None, values.get("ElementOf", "").split(",")))
        markable.parts.append((word, None))
        self._n_brackets += 1
        self._open[self._n_brackets] = markable
        if markable.name:
            self._bracket[markable.name] = self._n_brackets

    def _find_markable(self, line: int, place: str, word: int, zero: int | None, values: dict[str, str]) -> Markable:
        """Return a new markable, or the one of which this is another part."""
        name, entity = values.get("MarkableID", ""), values["EntityID"]
        earlier = self._by_name.get(name)
        if earlier is None:
            markable = Markable(name, entity, line, zero=zero)
            self.markables.append(markable)
            if name:
                self._by_name[name] = markable
            return markable
        known = f"{_describe(earlier)} (line {earlier.line})"
        if earlier.entity != entity:
            self._problems.add(f"{place}: {known} belongs to entity {quote(earlier.entity)}, not {quote(entity)}", line)
        elif earlier.zero is not None or zero is not None:
            self._problems.add(f"{place}: {known} has several parts, one of which is a zero", line)
        elif (end := earlier.parts[-1][1]) is None or end >= word:
            self._problems.add(f"{place}: {known} opens again inside itself", line)
        return earlier

    def _read_minimum(self, line: int, place: str, text: str | None) -> tuple[int, int] | None:
        if text is None:
            return None
        numbers = MINIMUM.fullmatch(text)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
        if first > last:
            found = f"{place}: Min is {quote(text)}"
            self._problems.add(f"{found} (expected a word or its first and last word, from 1, such as 3 or 3,4)", line)
            return None
        return first - 1, last - 1

    def _close_markable(self, line: int, place: str, word: int, name: str) -> None:
        bracket = self._bracket.get(name) if name else next(reversed(self._open), None)
        markable = None if bracket is None else self._open.pop(bracket, None)
        if markable is None:
            what = f"markable {quote(name)}" if name else "a markable"
            self._problems.add(f"{place}: {what} closes but is not open", line)
        else:
            markable.parts[-1] = (markable.parts[-1][0], word)


def read_fields(text: str) -> dict[str, str] | None:
    """Read fields such as ``EntityID=1|MarkableID=m1``; None if they are invalid or one of them occurs twice."""
    pairs = [field.partition("=") for field in text.split("|")]
    values = {name: value for name, _, value in pairs}
    return values if len(values) == len(pairs) and all(name and equals for name, equals, _ in pairs) else None


def _describe(markable: Markable) -> str:
    if markable.name:
        return f"markable {quote(markable.name)}"
    return f"a markable of entity {quote(markable.entity)}"


class _Bridging:
    """The bridging anaphors of a document, and the reader of their cells.

    Attributes:
        anchors: the anchor of each anaphor, both as MarkableIDs; None for an anchor that is given as an entity only.
    """

    def __init__(self, problems: ProblemList) -> None:
        self.anchors: dict[str, str | None] = {}
        self._problems = problems
        self._open: list[int] = []  # the lines of the open brackets

    def end(self) -> None:
        """Report brackets that are still open."""
        for line in self._open:
            self._problems.add("a bridging anaphor opens but never closes", line)

    def take(self, line: int, place: str, cell: str) -> None:
        """Read the cell of a token."""
        pieces = list(PIECE.finditer(cell))
        if "".join(piece[0] for piece in pieces) != cell or any(piece[2] for piece in pieces):
            found = f"{place}: {quote(cell)} is not valid"
            self._problems.add(f"{found} (expected '(MarkableID=…|MentionAnchor=…', ')' or both)", line)
            return
        for opens in (piece[1] for piece in pieces):
            if opens is None and self._open:
                self._open.pop()
            elif opens is None:
                self._problems.add(f"{place}: a bridging anaphor closes but is not open", line)
            else:
                self._open.append(line)
                text = opens.removesuffix("@")
                values = read_fields(text) or {}
                anchor = values.get("MentionAnchor") or None
                if values.get("MarkableID") and (anchor or values.get("EntityAnchor")):
                    self.anchors[values["MarkableID"]] = anchor
                else:
                    found = f"{place}: {quote(text)} is not valid"
                    self._problems.add(f"{found} (expected fields such as 'MarkableID=m2|MentionAnchor=m1')", line)


class _Document:
    """A document that is read: words and lines; the token of each word that is no zero; the zeros; the layers."""

    def __init__(self, name: str, problems: ProblemList) -> None:
        self.name = name
        self.words: list[str] = []
        self.lines: list[int] = []
        self.token_of_word: list[int] = []
        self.zeros: list[int] = []
        self.identity, self.deixis, self.bridging = _Layer(problems), _Layer(problems), _Bridging(problems)

    def add(self, line: int, word: str, *, is_zero: bool) -> tuple[int, int]:
        """Add a token; return the number of the word, or of the word after a zero, and that of the token."""
        token = len(self.words)
        # The word of a zero is a guess of its annotator or system; only real words are compared with the key's.
        self.words.append("_" if is_zero else word)
        self.lines.append(line)
        if is_zero:
            self.zeros.append(token)
            return len(self.token_of_word), token
        self.token_of_word.append(token)
        return len(self.token_of_word) - 1, token

    def find_parts(self, markable: Markable) -> Parts:
        """Return the runs of tokens of a markable, which are interrupted by zeros between its words."""
        if markable.zero is not None:
            return ((markable.zero, markable.zero),)
        parts = []
        for first, last in _list_words(markable):
            start, end = self.token_of_word[first], self.token_of_word[last]
            for zero in self.zeros[bisect_left(self.zeros, start) : bisect_left(self.zeros, end)]:
                if start < zero:
                    parts.append((start, zero - 1))
                start = zero + 1
            parts.append((start, end))
        return tuple(parts)

    def find_place(self, markable: Markable) -> Place:
        """Return the place of a markable, as relations have it."""
        if markable.zero is None:
            return tuple(_list_words(markable))
        words = markable.parts[0][0]
        before = self.token_of_word[words - 1] if words else -1
        return ((-1 - words, markable.zero - before - 1),)

    def find_minimum(self, markable: Markable, problems: ProblemList) -> tuple[int, ...]:
        """Return the tokens of the minimum span."""
        if markable.minimum is None:
            return ()
        first, last = markable.minimum
        if last >= len(self.token_of_word):
            found = f"Min is {first + 1}" + (f",{last + 1}" if first < last else "")
            expected = f"expected at most {len(self.token_of_word):,}, the number of words of the document"
            problems.add(f"{found} ({expected})", markable.line)
        return tuple(self.token_of_word[first : last + 1])


def _list_words(markable: Markable) -> list[tuple[int, int]]:
    """List the first and last word of each part of a markable; parts that touch are one."""
    return merge_runs(sorted((first, last or 0) for first, last in markable.parts))


def _make_layer(
    documents: Sequence[_Document], problems: ProblemList, name: str, deixis: MentionTable | None = None
) -> MentionTable:
    """Convert the markables of a layer to a table; report what is wrong with their minimum spans and antecedents."""
    found, relations = [], {}
    for document in documents:
        markables = (document.deixis if name == "deixis" else document.identity).markables
        anchors = {} if name == "deixis" else document.bridging.anchors
        place_of: dict[str, Place] = {}
        non_referring: dict[str, list[Place]] = {}
        for markable in markables:
            place = document.find_place(markable)
            if markable.name:
                place_of[markable.name] = place
            if not markable.is_referring:
                non_referring.setdefault(markable.entity, []).append(place)
        antecedents = _list_antecedents(markables, problems)
        relations[document.name] = DocumentRelations(antecedents, non_referring, *_find_bridging(anchors, place_of))
        referring = [markable for markable in markables if markable.is_referring]
        number = {label: i for i, label in enumerate(dict.fromkeys(markable.entity for markable in referring))}
        mentions = sorted(referring, key=lambda markable: number[markable.entity])
        parts = [document.find_parts(markable) for markable in mentions]
        minima = [document.find_minimum(markable, problems) for markable in mentions]
        found.append(
            Document(
                name=document.name,
                n_tokens=len(document.words),
                start=np.array([spans[0][0] for spans in parts], np.int64),
                end=np.array([spans[-1][1] for spans in parts], np.int64),
                entity=np.array([number[markable.entity] for markable in mentions], np.int64),
                labels=list(number),
                parts={i: spans for i, spans in enumerate(parts) if len(spans) > 1},
                minimum={i: minimum for i, minimum in enumerate(minima) if minimum},
                # Only words tell the places of zeros apart, as in the scorer: a document counts as one sentence.
                empty=[EmptyNode(token, 0, ()) for token in document.zeros],
            )
        )
    words = ListedWords([one.words for one in documents], [one.lines for one in documents])
    return make_table(found, words=words, relations=Relations(relations, deixis))


def _find_bridging(anchors: Mapping[str, str | None], place_of: Mapping[str, Place]) -> tuple[list[Bridging], int]:
    """Find the bridging anaphors whose markables are known, each once, and the number of the others."""
    found: dict[Place, Bridging] = {}
    unknown = 0
    for anaphor, anchor in anchors.items():
        own, other = place_of.get(anaphor), None if anchor is None else place_of.get(anchor)
        if own is None or (anchor is not None and other is None):
            unknown += 1
        else:
            found[own] = Bridging(own, other)
    return list(found.values()), unknown


def _list_antecedents(markables: Sequence[Markable], problems: ProblemList) -> dict[str, list[str]]:
    """List the antecedents of each entity with split antecedents."""
    direct: dict[str, dict[str, int]] = {}  # the antecedents of an entity, each with the line that says so
    known = {markable.entity for markable in markables}
    for markable in markables:
        for whole in sorted(markable.element_of):
            if whole in known:
                direct.setdefault(whole, {}).setdefault(markable.entity, markable.line)
            else:
                found = f"ElementOf: there is no entity {quote(whole)} in the document"
                problems.add(f"{found} (expected the EntityID of a markable)", markable.line)
    antecedents = {whole: list(elements) for whole, elements in direct.items()}
    for whole in find_circles(antecedents):
        problems.add(f"ElementOf: entity {quote(whole)} is an element of itself", min(direct[whole].values()))
    return antecedents


COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING DISCOURSE_DEIXIS REFERENCE NOM_SEM"
"""The columns of a file that is written, which are those of the released files."""

WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
PLAIN_ID = re.compile(r"[^()|=,@\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+(?<!-Pseudo)")


def dump_conllua(table: MentionTable) -> str:
    """Convert documents to text.

    Words are ``_`` if the table has none; ids of entities are kept if the format can express them.  Minimum spans are
    written, or heads where there are none.  Closing brackets have ids only if mentions cross somewhere in the file; the
    Universal Anaphora scorer has an option for such files.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something, such as a word with a blank
            or a mention that contains a zero and words.
    """
    lengths = list_lengths(table, "a Universal Anaphora file")
    documents = list(split_table(table))
    numbered = [_number_words(document, n_tokens) for document, n_tokens in zip(documents, lengths, strict=True)]
    brackets = [_list_brackets(document, ids) for document, ids in zip(documents, numbered, strict=True)]
    named = any(map(_has_crossing, brackets))
    texts = []
    for i, document in enumerate(documents):
        name = document.name
        words = list((table.words(i) if table.words else ()) or ["_"] * lengths[i])
        invalid = [text for text in words if not WORD.fullmatch(text)]
        if invalid or not NAME.fullmatch(name):
            what = quote((invalid or [name])[0])
            raise ValueError(f"document {quote(name)}: a Universal Anaphora file can't express {what}")
        placed = ((*one[:4], one[4] if named else ")") for one in brackets[i])
        cells = place_brackets(placed, lengths[i])
        lines = [f"# global.columns = {COLUMNS}", f"# newdoc id = {name}"]
        for number, word, (closing, opening) in zip(numbered[i], words, cells, strict=True):
            lines.append("\t".join([number, word, *"________", "".join(closing + opening) or "_", *"____"]))
        texts.append("".join(f"{line}\n" for line in [*lines, ""]))
    for i, text in enumerate(texts):
        reader = _read(text.split("\n"))
        again = None if reader.problems.total else reader.table()
        if again is None or list(again.names) != [table.names[i]] or group_spans(again, 0) != group_spans(table, i):
            found = "a mention of zeros and words, or a name that would be read back differently"
            raise ValueError(f"document {quote(table.names[i])}: a Universal Anaphora file can't express {found}")
    return "".join(texts)


def _number_words(document: Document, n_tokens: int) -> list[str]:
    """List the ids of the tokens; those of zeros have a dot."""
    zeros = {node.token for node in document.empty}
    ids, word, zero = [], 0, 0
    for token in range(n_tokens):
        zero = zero + 1 if token in zeros else 0
        word += zero == 0
        ids.append(f"{word}.{zero}" if zero else str(word))
    return ids


def _list_brackets(document: Document, ids: Sequence[str]) -> list[tuple[int, int, int, str, str]]:
    """List the brackets, as `place_brackets` takes them; parts of a mention with only zeros between them are one."""
    labels = choose_ids(document, PLAIN_ID)
    word_of = {token: int(text) for token, text in enumerate(ids) if "." not in text}
    brackets = []
    for i, parts in enumerate(list_parts(document)):
        entity = labels[int(document.entity[i])]
        head = () if document.head is None else (int(document.head[i]),)
        opens = f"(EntityID={entity}|MarkableID=m{i + 1}{_format_minimum(document.minimum.get(i, head), word_of)}"
        runs: list[tuple[int, int]] = []
        for start, end in parts:
            if runs and word_of.get(start, 0) == word_of.get(runs[-1][1], -2) + 1:
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
        brackets += [(start, -end, i, opens, f"m{i + 1})") for start, end in runs]
    return sorted(brackets)


def _format_minimum(tokens: Sequence[int], word_of: Mapping[int, int]) -> str:
    words = sorted(word_of[token] for token in tokens if token in word_of)
    if not words or len(words) != len(tokens) or words[-1] - words[0] != len(words) - 1:
        return ""
    return f"|Min={words[0]}" if len(words) == 1 else f"|Min={words[0]},{words[-1]}"


def _has_crossing(brackets: Sequence[tuple[int, int, int, str, str]]) -> bool:
    open_ends: list[int] = []
    for start, minus_end, *_ in brackets:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and open_ends[-1] < -minus_end:
            return True
        open_ends.append(-minus_end)
    return False


COMMENT = re.compile(r"#[ \t]*(newdoc|global\.columns)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=(.*))?")
TOKEN_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
BLANKS = re.compile(r"[ \t]+")
REQUIRED = ("ID", "FORM", "IDENTITY")
OPTIONAL = ("BRIDGING", "DISCOURSE_DEIXIS")


@dataclass(frozen=True)
class _Columns:
    """The columns of a file; `place` has those that are read."""

    names: Sequence[str]

    @cached_property
    def place(self) -> dict[str, int]:
        """The columns that are read, from 0."""
        return {name: self.names.index(name) for name in (*REQUIRED, *OPTIONAL) if name in self.names}

    @cached_property
    def needed(self) -> int:
        """The number of cells that a row must have."""
        return 1 + max(self.place.values())

    def fit(self, cells: Sequence[str]) -> bool:
        """Return whether a row may have this many cells."""
        return self.needed <= len(cells) <= len(self.names)

    def split(self, text: str) -> list[str]:
        """Split a row at tabs if that gives enough cells, otherwise at any blanks and tabs."""
        by_tab = [cell.strip(" ") for cell in text.split("\t")]
        return by_tab if self.fit(by_tab) else BLANKS.split(text.strip(" \t"))


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, each with the line on which it begins; names are the file's, whatever the split."""
    del split
    reader = _read(read_lines(path))
    reader.problems.raise_any(path)
    table = reader.table()
    reader.problems.raise_any(path)
    return Parsed(table, list(reader.seen.values()), [])


def _read(lines: Sequence[str]) -> _Reader:
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        reader.take(number, line)
    reader.finish()
    return reader


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = ProblemList()
        self.documents: list[_Document] = []
        self.seen: dict[str, int] = {}  # the first line of each document name
        self._columns: _Columns | None = None
        self._word: int | None = None  # the id of the last word; None at the begin of a document
        self._zero: int | None = None  # the number of the last zero after it
        self._begins_sentence = True
        self._is_outside = False  # whether a token was found before the first document

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        if not line.strip(" \t"):
            self._begins_sentence = True
        elif line.startswith("#"):
            if comment := COMMENT.fullmatch(line):
                value = (comment[2] or "").strip(" \t")
                if comment[1] == "newdoc":
                    self._begin_document(number, value)
                else:
                    self._take_columns(number, value.split())
        else:
            self._take_row(number, line)

    def finish(self) -> None:
        """Handle the end of the file."""
        self._end_document()
        if not self.documents and not self.problems.total:
            self._report("contains no document (expected '# newdoc id = NAME' before the first sentence)")

    def table(self) -> MentionTable:
        """Return all documents; only if there are no problems."""
        layer = None
        if any(document.deixis.markables for document in self.documents):
            layer = _make_layer(self.documents, self.problems, "deixis")
        return _make_layer(self.documents, self.problems, "identity", layer)

    def _report(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, line)

    def _begin_document(self, line: int, name: str) -> None:
        self._end_document()
        if not name:
            self._report("document without a name (expected '# newdoc id = NAME')", line)
        elif unsafe := describe_unsafe(name):
            self._report(f"document name {unsafe}", line)
        elif (before := self.seen.setdefault(name, line)) != line:
            self._report(f"duplicate document {quote(name)} (first on line {before})", line)
        self.documents.append(_Document(name, self.problems))

    def _end_document(self) -> None:
        if self.documents:
            self.documents[-1].identity.end()
            self.documents[-1].deixis.end()
            self.documents[-1].bridging.end()
        self._word = self._zero = None
        self._begins_sentence = True

    def _take_columns(self, line: int, names: list[str]) -> None:
        self._columns = _Columns(names)
        lacking = [name for name in REQUIRED if name not in names]
        if lacking:
            self._report(f"global.columns lacks {' and '.join(lacking)} (expected columns such as {COLUMNS})", line)
        elif twice := [name for name in self._columns.place if names.count(name) > 1]:
            self._report(f"global.columns has {quote(twice[0])} twice", line)
        else:
            return
        self._columns = _Columns(COLUMNS.split())

    def _take_row(self, line: int, text: str) -> None:
        if self._columns is None:
            self._report(f"row without a declaration of its columns (expected '# global.columns = {COLUMNS}')", line)
            self._columns = _Columns(COLUMNS.split())
        if UNSAFE.search(text.replace("\t", "")):
            self._report("the row contains a control character", line)
        if not self.documents:
            if not self._is_outside:
                self._report("token outside a document (expected '# newdoc id = NAME' before it)", line)
            self._is_outside = True
            return
        cells = self._columns.split(text)
        if not self._columns.fit(cells):
            fewest, most = self._columns.needed, len(self._columns.names)
            expected = f"{fewest} to {most}" if fewest < most else f"{most}"
            self._report(f"the number of columns is {len(cells)} (expected {expected})", line)
            return
        self._take_token(line, cells, self._columns.place)

    def _take_token(self, line: int, cells: list[str], place: dict[str, int]) -> None:
        document = self.documents[-1]
        is_zero = self._take_id(line, place["ID"] + 1, cells[place["ID"]])
        self._begins_sentence = False
        if not cells[place["FORM"]]:
            self._report(f"column {place['FORM'] + 1}: the word is empty (expected a word or '_')", line)
        word, token = document.add(line, cells[place["FORM"]], is_zero=is_zero)
        for name, cell in ((name, cells[i]) for name, i in place.items() if name not in ("ID", "FORM")):
            if cell == "_":
                continue
            where = f"column {place[name] + 1}"
            if not cell:
                self._report(f"{where}: the cell is empty (expected '_' or annotation)", line)
            elif name == "BRIDGING":
                document.bridging.take(line, where, cell)
            else:
                layer = document.identity if name == "IDENTITY" else document.deixis
                layer.take(line, where, word, token if is_zero else None, cell)

    def _take_id(self, line: int, column: int, text: str) -> bool:
        """Read the id, which must be a next one; return whether it is that of a zero."""
        parts = TOKEN_ID.fullmatch(text)
        number, zero = (int(part) if part else None for part in parts.groups()) if parts else (None, None)
        is_usual = zero is None and number == (self._word or 0) + 1
        if not is_usual and (number, zero) not in (expected := self._list_next_ids()):
            names = ", ".join(f"{n}" if z is None else f"{n}.{z}" for n, z in expected)
            after = f" follows word {self._word}" if self._word is not None else ""
            self._report(f"column {column}: {quote(text)}{after} (expected one of {names})", line)
        if number is not None:
            self._word, self._zero = number, zero
        return zero is not None

    def _list_next_ids(self) -> list[tuple[int, int | None]]:
        """List the ids that can come next, each with its number as a zero."""
        if self._word is None:
            return [(0, None), (1, None), (0, 0), (0, 1)]
        following = [0, 1] if self._zero is None else [self._zero + 1]
        expected: list[tuple[int, int | None]] = [(self._word + 1, None), *((self._word, zero) for zero in following)]
        if self._begins_sentence and self._word > 0:
            expected += [(1, None), (0, 0), (0, 1)]
        return expected


FORMAT = Format(
    read_records,
    lambda records: dump_conllua(table_of(records)),
    suffixes=(".conllua",),
    first_line=re.compile(r"#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)", re.ASCII),
)
