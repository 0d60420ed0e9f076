"""Universal Anaphora: CoNLL-U Plus files, with a column for each layer of annotation.

Conventions: ``# global.columns = ID FORM … IDENTITY BRIDGING DISCOURSE_DEIXIS …`` names the columns; rows may lack the
last ones.  Cells are separated by tabs if that gives enough of them, otherwise by any blanks and tabs.  A document
begins at ``# newdoc id = NAME``.  Its tokens are words and zeros (``3.1``), in the order of the file, a zero with the
word ``_``.  A mention of words does not contain the zeros between them.  Ids of words count up, in the document from 0
or 1 or in each sentence from 1.  Markables whose entity's id ends in ``-Pseudo`` are non-referring.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
from closeread.formats.text import UNSAFE_IN_ROWS, read_lines
from closeread.tasks.coref.documents import Document, Documents, EmptyNode, ListedWords, Mention
from closeread.tasks.coref.formats.lines import check_name, group_mentions, make_mention
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.spans import Span, merge_runs
from closeread.tasks.coref.universal_anaphora.relations import (
    Bridging,
    DocumentRelations,
    Place,
    find_circles,
)

COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING DISCOURSE_DEIXIS REFERENCE NOM_SEM"
"""The columns of the released files."""

REQUIRED = ("ID", "FORM", "IDENTITY")
READ = (*REQUIRED, "BRIDGING", "DISCOURSE_DEIXIS")

# What closes is taken from its first character on or not at all, so that long cells without a bracket are cheap.
PIECE = re.compile(r"@?\(([^()]*)|((?:(?<![^()])[^()]++)?)\)")
MINIMUM = re.compile(r"([1-9][0-9]{0,8})(?:,([1-9][0-9]{0,8}))?")
COMMENT = re.compile(r"#[ \t]*(newdoc|global\.columns)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=(.*))?")
TOKEN_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
BLANKS = re.compile(r"[ \t]+")


@dataclass
class Markable:
    """A markable, as far as it has been read; words are numbered from 0.

    Attributes:
        name: its MarkableID; empty if it has none.
        entity: the id of its entity.
        line: the line on which it opens.
        zero: the token of a zero; None if it consists of words.
        parts: the first and the last word of each part; an open part ends before word 0.
        minimum: the first and the last word of its minimum span.
        element_of: the entities that its entity is an antecedent of.
    """

    name: str
    entity: str
    line: int
    zero: int | None = None
    parts: list[Span] = field(default_factory=list)
    minimum: Span | None = None
    element_of: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        if self.name:
            return f"markable {quote(self.name)}"
        return f"a markable of entity {quote(self.entity)}"

    @property
    def is_referring(self) -> bool:
        """Whether it refers to an entity."""
        return not self.entity.endswith("-Pseudo")

    def list_words(self) -> list[Span]:
        """List the first and last word of each part; parts that touch are one."""
        return merge_runs(sorted(self.parts))


def _split_cell(cell: str) -> list[re.Match[str]] | None:
    """Split a cell into brackets, of which the first group opens and the second closes; None if it is invalid."""
    pieces = list(PIECE.finditer(cell))
    return pieces if "".join(piece[0] for piece in pieces) == cell else None


def _read_fields(text: str) -> dict[str, str]:
    """Read fields such as ``EntityID=1|MarkableID=m1``; none if they are invalid or one of them occurs twice."""
    values = {}
    pieces = text.removesuffix("@").split("|")
    for piece in pieces:
        name, equals, value = piece.partition("=")
        if not name or not equals:
            return {}
        values[name] = value
    return values if len(values) == len(pieces) else {}


class _Place(NamedTuple):
    """Where a cell is.

    Attributes:
        line: the line of its row.
        column: its column in words, such as "column 11".
        word: the number of its word; of a zero, that of the next word.
        zero: the token of a zero; None for a word.
    """

    line: int
    column: str
    word: int
    zero: int | None


class _Layer:
    """The markables of a document in one layer, in the order in which they open."""

    def __init__(self, problems: ProblemList) -> None:
        self.markables: list[Markable] = []
        # One for each open bracket.
        self.open: list[Markable] = []
        self._problems = problems
        self._by_name: dict[str, Markable] = {}

    def take(self, place: _Place, cell: str) -> None:
        """Read the cell of a token."""
        n_open = len(self.open)
        pieces = _split_cell(cell)
        if pieces is None:
            expected = "expected '(EntityID=…|MarkableID=…', ')' or both"
            self._report(place, f"{quote(cell)} is not valid ({expected})")
            return
        for opens, closes in (piece.groups() for piece in pieces):
            if opens is not None:
                self._open_markable(place, opens)
            elif place.zero is not None and len(self.open) <= n_open:
                self._report(place, "a markable closes on a zero (expected on a word)")
            else:
                self._close_markable(place, closes)
        if place.zero is not None and len(self.open) > n_open:
            self._report(place, "a markable that opens on a zero does not close there")
            del self.open[n_open:]

    def _report(self, place: _Place, message: str) -> None:
        self._problems.add(f"{place.column}: {message}", place.line)

    def _open_markable(self, place: _Place, text: str) -> None:
        values = _read_fields(text)
        if not values.get("EntityID"):
            fault = "has no EntityID" if values else "is not valid"
            expected = "expected fields such as 'EntityID=1|MarkableID=m1'"
            self._report(place, f"{quote(text.removesuffix('@'))} {fault} ({expected})")
            # The bracket that closes it is no problem of its own.
            values = {"EntityID": "?"}
        markable = self._find_markable(place, values.get("MarkableID", ""), values["EntityID"])
        minimum = values.get("Min")
        if minimum is not None:
            self._set_minimum(place, markable, minimum)
        markable.element_of.update(filter(None, values.get("ElementOf", "").split(",")))
        markable.parts.append((place.word, -1))
        self.open.append(markable)

    def _find_markable(self, place: _Place, name: str, entity: str) -> Markable:
        """Return a new markable, or that of which another part opens."""
        markable = self._by_name.get(name)
        if markable is None:
            markable = Markable(name, entity, place.line, place.zero)
            self.markables.append(markable)
            if name:
                self._by_name[name] = markable
            return markable
        earlier = f"{markable} (line {markable.line})"
        if markable.entity != entity:
            belongs = f"belongs to entity {quote(markable.entity)}, not {quote(entity)}"
            self._report(place, f"{earlier} {belongs}")
        elif markable.zero is not None or place.zero is not None:
            self._report(place, f"{earlier} has several parts, one of which is a zero")
        elif markable in self.open or markable.parts[-1][1] >= place.word:
            self._report(place, f"{earlier} opens again inside itself")
        return markable

    def _set_minimum(self, place: _Place, markable: Markable, text: str) -> None:
        """Set the minimum span, unless an earlier part did."""
        numbers = MINIMUM.fullmatch(text)
        first = int(numbers[1]) if numbers else 1
        last = int(numbers[2] or numbers[1]) if numbers else 0
        if first > last:
            expected = "expected a word or its first and last word, from 1, such as 3 or 3,4"
            self._report(place, f"Min is {quote(text)} ({expected})")
        elif not markable.parts:
            markable.minimum = first - 1, last - 1

    def _close_markable(self, place: _Place, name: str) -> None:
        """Close the part of a markable that opened last, or that of any if there is no name."""
        numbers = [
            number for number, markable in enumerate(self.open) if not name or markable.name == name
        ]
        if not numbers:
            markable_name = f"markable {quote(name)}" if name else "a markable"
            self._report(place, f"{markable_name} closes but is not open")
            return
        parts = self.open.pop(numbers[-1]).parts
        parts[-1] = (parts[-1][0], place.word)


class _Document:
    """A document that is read."""

    def __init__(self, name: str, problems: ProblemList) -> None:
        self.name = name
        self._problems = problems
        self.words: list[str] = []
        self.lines: list[int] = []
        # The tokens of words, without zeros.
        self.token_of_word: list[int] = []
        self.identity = _Layer(problems)
        self.deixis = _Layer(problems)
        # The anchors of bridging anaphors, both as MarkableIDs; None for an entity.
        self.anchors: dict[str, str | None] = {}
        # The lines of the open brackets of bridging anaphors.
        self._open_bridging: list[int] = []

    def take_bridging(self, line: int, column: str, cell: str) -> None:
        """Read the cell of a token with bridging anaphors."""
        pieces = _split_cell(cell)
        if pieces is None or any(piece[2] for piece in pieces):
            expected = "expected '(MarkableID=…|MentionAnchor=…', ')' or both"
            self._problems.add(f"{column}: {quote(cell)} is not valid ({expected})", line)
            return
        for piece in pieces:
            if piece[1] is not None:
                self._open_bridging.append(line)
                self._take_anchor(line, column, piece[1])
            elif self._open_bridging:
                self._open_bridging.pop()
            else:
                message = "a bridging anaphor closes but is not open"
                self._problems.add(f"{column}: {message}", line)

    def _take_anchor(self, line: int, column: str, text: str) -> None:
        values = _read_fields(text)
        anaphor = values.get("MarkableID")
        anchor = values.get("MentionAnchor") or None
        if anaphor and (anchor or values.get("EntityAnchor")):
            self.anchors[anaphor] = anchor
        else:
            expected = "expected fields such as 'MarkableID=m2|MentionAnchor=m1'"
            message = f"{quote(text.removesuffix('@'))} is not valid ({expected})"
            self._problems.add(f"{column}: {message}", line)

    def end(self) -> None:
        """Report markables that are still open."""
        for markable in self.identity.open + self.deixis.open:
            self._problems.add(f"{markable} opens but never closes", markable.line)
        for line in self._open_bridging:
            self._problems.add("a bridging anaphor opens but never closes", line)

    def find_place(self, markable: Markable) -> Place:
        """Return the place of a markable, as relations have it."""
        if markable.zero is None:
            return tuple(markable.list_words())
        n_words = markable.parts[0][0]
        before = self.token_of_word[n_words - 1] if n_words else -1
        return ((-1 - n_words, markable.zero - before - 1),)

    def find_mention(self, markable: Markable) -> Mention:
        """Return a markable as a mention, which is interrupted by the zeros between its words."""
        if markable.zero is not None:
            tokens = [markable.zero]
        else:
            tokens = []
            for first, last in markable.list_words():
                tokens += self.token_of_word[first : last + 1]
        first, last = markable.minimum or (0, -1)
        n_words = len(self.token_of_word)
        if last >= n_words:
            minimum = f"{first + 1},{last + 1}" if first < last else f"{first + 1}"
            expected = f"expected at most {n_words:,}, the number of words of the document"
            self._problems.add(f"Min is {minimum} ({expected})", markable.line)
        spans = merge_runs((token, token) for token in tokens)
        return make_mention(spans, minimum=tuple(self.token_of_word[first : last + 1]))

    def list_antecedents(self, markables: Sequence[Markable]) -> dict[str, list[str]]:
        """List the antecedents of each entity with split antecedents."""
        # The antecedents of each entity, with the line that says so.
        lines_by_entity: dict[str, dict[str, int]] = {}
        entities = {markable.entity for markable in markables}
        for markable in markables:
            for entity in sorted(markable.element_of):
                if entity in entities:
                    lines = lines_by_entity.setdefault(entity, {})
                    lines.setdefault(markable.entity, markable.line)
                else:
                    lacking = f"there is no entity {quote(entity)} in the document"
                    expected = "expected the EntityID of a markable"
                    self._problems.add(f"ElementOf: {lacking} ({expected})", markable.line)
        antecedents = {entity: list(lines) for entity, lines in lines_by_entity.items()}
        for entity in find_circles(antecedents):
            message = f"ElementOf: entity {quote(entity)} is an element of itself"
            self._problems.add(message, min(lines_by_entity[entity].values()))
        return antecedents

    def find_relations(
        self, markables: Sequence[Markable], anchors: Mapping[str, str | None]
    ) -> DocumentRelations:
        """Return the relations of a layer; of bridging anaphors, those whose markables are known, each once."""
        place_by_name = {}
        non_referring: dict[str, list[Place]] = {}
        for markable in markables:
            place = self.find_place(markable)
            if markable.name:
                place_by_name[markable.name] = place
            if not markable.is_referring:
                non_referring.setdefault(markable.entity, []).append(place)
        n_unknown = 0
        bridging = {}
        for anaphor_name, anchor_name in anchors.items():
            is_known = anchor_name is None or anchor_name in place_by_name
            if anaphor_name not in place_by_name or not is_known:
                n_unknown += 1
                continue
            anaphor = place_by_name[anaphor_name]
            anchor = None if anchor_name is None else place_by_name[anchor_name]
            bridging[anaphor] = Bridging(anaphor, anchor)
        antecedents = self.list_antecedents(markables)
        return DocumentRelations(antecedents, non_referring, list(bridging.values()), n_unknown)


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = ProblemList()
        self._documents: list[_Document] = []
        self._line_by_name: dict[str, int] = {}
        # The names of the columns, and the numbers of those that are read, from 0.
        self._names: Sequence[str] = ()
        self._columns: dict[str, int] = {}
        # The ids of the last word and of a zero after it.
        self._last_id: tuple[int, int | None] = (-1, None)
        self._begins_sentence = True
        # Whether a token was found before the first document.
        self._is_outside = False

    def read(self, lines: Sequence[str]) -> Documents:
        """Return all documents; none if anything is wrong."""
        for number, line in enumerate(lines, start=1):
            comment = COMMENT.fullmatch(line)
            if not line.strip(" \t"):
                self._begins_sentence = True
            elif comment and comment[1] == "newdoc":
                self._begin_document(number, (comment[2] or "").strip(" \t"))
            elif comment:
                self._declare_columns(number, (comment[2] or "").split())
            elif not line.startswith("#"):
                self._take_row(number, line)
        if not self._documents and not self.problems:
            self.problems.add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )
        for document in self._documents:
            document.end()
        documents = []
        if not self.problems:
            has_deixis = any(document.deixis.markables for document in self._documents)
            for read in self._documents:
                identity = _make_layer(read, read.identity.markables, read.anchors)
                if has_deixis:
                    deixis = _make_layer(read, read.deixis.markables, {})
                    identity = replace(identity, deixis=deixis)
                documents.append(identity)
        return Documents(documents)

    def _begin_document(self, line: int, name: str) -> None:
        if name:
            check_name(name, line, self._line_by_name, self.problems)
        else:
            self.problems.add("document without a name (expected '# newdoc id = NAME')", line)
        self._documents.append(_Document(name, self.problems))
        self._last_id = (-1, None)
        self._begins_sentence = True

    def _declare_columns(self, line: int, names: Sequence[str]) -> None:
        lacking = [name for name in REQUIRED if name not in names]
        repeated = [name for name in READ if names.count(name) > 1]
        if lacking:
            expected = f"expected columns such as {COLUMNS}"
            self.problems.add(f"global.columns lacks {' and '.join(lacking)} ({expected})", line)
        elif repeated:
            self.problems.add(f"global.columns has {quote(repeated[0])} twice", line)
        self._names = COLUMNS.split() if lacking or repeated else names
        self._columns = {name: self._names.index(name) for name in READ if name in self._names}

    def _take_row(self, line: int, text: str) -> None:
        if not self._names:
            expected = f"expected '# global.columns = {COLUMNS}'"
            self.problems.add(f"row without a declaration of its columns ({expected})", line)
            self._declare_columns(line, COLUMNS.split())
        if UNSAFE_IN_ROWS.search(text):
            self.problems.add("the row contains a control character", line)
        if not self._documents:
            if not self._is_outside:
                expected = "expected '# newdoc id = NAME' before it"
                self.problems.add(f"token outside a document ({expected})", line)
            self._is_outside = True
            return
        cells = self._split_row(line, text)
        if cells is not None:
            self._take_cells(self._documents[-1], line, cells)

    def _split_row(self, line: int, text: str) -> list[str] | None:
        """Return the cells of a row; None if there are too few or too many."""
        fewest = 1 + max(self._columns.values())
        most = len(self._names)
        cells = [cell.strip(" ") for cell in text.split("\t")]
        if not fewest <= len(cells) <= most:
            cells = BLANKS.split(text.strip(" \t"))
        if fewest <= len(cells) <= most:
            return cells
        expected = f"{fewest} to {most}" if fewest < most else f"{most}"
        self.problems.add(f"the number of columns is {len(cells)} (expected {expected})", line)
        return None

    def _take_cells(self, document: _Document, line: int, cells: Sequence[str]) -> None:
        is_zero = self._take_id(line, cells)
        token = len(document.words)
        word = len(document.token_of_word)
        form_column = self._columns["FORM"]
        form = cells[form_column]
        if not form:
            message = "the word is empty (expected a word or '_')"
            self.problems.add(f"column {form_column + 1}: {message}", line)
        # The word of a zero is a guess of its annotator or system; only real words are compared with the key's.
        document.words.append("_" if is_zero else form)
        document.lines.append(line)
        if not is_zero:
            document.token_of_word.append(token)
        for name, number in self._columns.items():
            cell = cells[number]
            if name in ("ID", "FORM") or cell == "_":
                continue
            column = f"column {number + 1}"
            if not cell:
                expected = "expected '_' or annotation"
                self.problems.add(f"{column}: the cell is empty ({expected})", line)
            elif name == "BRIDGING":
                document.take_bridging(line, column, cell)
            else:
                layer = document.identity if name == "IDENTITY" else document.deixis
                layer.take(_Place(line, column, word, token if is_zero else None), cell)

    def _take_id(self, line: int, cells: Sequence[str]) -> bool:
        """Read the id, which must be a next one; return whether it is that of a zero."""
        column = self._columns["ID"]
        text = cells[column]
        numbers = TOKEN_ID.fullmatch(text)
        token_id = None
        if numbers:
            token_id = int(numbers[1]), int(numbers[2]) if numbers[2] else None
        expected = self._list_next_ids()
        if token_id not in expected:
            names = [str(word) if zero is None else f"{word}.{zero}" for word, zero in expected]
            last_word = self._last_id[0]
            follows = f" follows word {last_word}" if last_word >= 0 else ""
            message = f"{quote(text)}{follows} (expected one of {', '.join(names)})"
            self.problems.add(f"column {column + 1}: {message}", line)
        self._last_id = token_id or self._last_id
        self._begins_sentence = False
        return token_id is not None and token_id[1] is not None

    def _list_next_ids(self) -> list[tuple[int, int | None]]:
        """Return the ids that may follow."""
        word, zero = self._last_id
        ids: list[tuple[int, int | None]] = [(word + 1, None)]
        if word >= 0 and zero is None:
            ids += [(word, 0), (word, 1)]
        elif word >= 0 and zero is not None:
            ids.append((word, zero + 1))
        if word < 0 or (self._begins_sentence and word):
            ids += [(1, None), (0, 0), (0, 1)]
        return ids


def _make_layer(
    read: _Document, markables: Sequence[Markable], anchors: Mapping[str, str | None]
) -> Document:
    relations = read.find_relations(markables, anchors)
    mentions = [
        (markable.entity, read.find_mention(markable))
        for markable in markables
        if markable.is_referring
    ]
    # Only words distinguish the places of zeros, as in the scorer: a document counts as one sentence.
    zeros = sorted(set(range(len(read.words))).difference(read.token_of_word))
    words = ListedWords(read.words, read.lines)
    return Document(
        name=read.name,
        entities=group_mentions(mentions),
        n_tokens=len(read.words),
        words=words,
        nodes=[EmptyNode(token, 0, ()) for token in zeros],
        relations=relations,
    )


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a file."""
    del reading
    reader = _Reader()
    documents = reader.read(read_lines(path))
    reader.problems.raise_any(path)
    return documents


FORMAT = CorefFormat(read_records)
