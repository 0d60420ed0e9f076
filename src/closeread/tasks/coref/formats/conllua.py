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

from closeread.exceptions import ProblemList, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE_IN_ROWS, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    Documents,
    EmptyNode,
    ListedWords,
    Mention,
)
from closeread.tasks.coref.formats.lines import check_name, group_mentions, make_mention
from closeread.tasks.coref.relations import (
    Bridging,
    DocumentRelations,
    Place,
    find_circles,
    merge_runs,
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
    """A markable, as far as it has been read; words are numbered from 0."""

    name: str  # its MarkableID; empty if it has none
    entity: str
    line: int
    zero: int | None = None  # the token of a zero
    # first and last word; an open part ends before word 0
    parts: list[tuple[int, int]] = field(default_factory=list)
    minimum: tuple[int, int] | None = None  # first and last word
    # the entities that its entity is an antecedent of
    element_of: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return (
            f"markable {quote(self.name)}"
            if self.name
            else f"a markable of entity {quote(self.entity)}"
        )

    @property
    def is_referring(self) -> bool:
        """Whether it refers to an entity."""
        return not self.entity.endswith("-Pseudo")

    def list_words(self) -> list[tuple[int, int]]:
        """List the first and last word of each part; parts that touch are one."""
        return merge_runs(sorted(self.parts))


def _split_cell(cell: str) -> list[re.Match[str]] | None:
    """Split a cell into brackets, of which the first group opens and the second closes; None if it is invalid."""
    pieces = list(PIECE.finditer(cell))
    return pieces if "".join(piece[0] for piece in pieces) == cell else None


def _read_fields(text: str) -> dict[str, str]:
    """Read fields such as ``EntityID=1|MarkableID=m1``; none if they are invalid or one of them occurs twice."""
    pairs = [one.partition("=") for one in text.removesuffix("@").split("|")]
    values = {name: value for name, _, value in pairs}
    return (
        values
        if len(values) == len(pairs) and all(name and equals for name, equals, _ in pairs)
        else {}
    )


class _Layer:
    """The markables of a document in one layer, in the order in which they open."""

    def __init__(self, problems: ProblemList) -> None:
        self.markables: list[Markable] = []
        self.open: list[Markable] = []  # one for each open bracket
        self._problems = problems
        self._by_name: dict[str, Markable] = {}

    def take(self, line: int, place: str, word: int, zero: int | None, cell: str) -> None:
        """Read the cell of a word, or of a zero: then `zero` is its token, and `word` the number of the next word."""

        def report(what: str) -> None:
            self._problems.add(f"{place}: {what}", line)

        pieces, before = _split_cell(cell), len(self.open)
        if pieces is None:
            report(f"{quote(cell)} is not valid (expected '(EntityID=…|MarkableID=…', ')' or both)")
        for opens, closes in (piece.groups() for piece in pieces or ()):
            if opens is not None:
                values = _read_fields(opens)
                if not values.get("EntityID"):
                    what = f"{quote(opens.removesuffix('@'))} {'has no EntityID' if values else 'is not valid'}"
                    report(f"{what} (expected fields such as 'EntityID=1|MarkableID=m1')")
                    # the bracket that closes it is no problem of its own
                    values = {"EntityID": "?"}
                name, entity = values.get("MarkableID", ""), values["EntityID"]
                markable = self._by_name.get(name)
                if markable is None:
                    markable = Markable(name, entity, line, zero)
                    self.markables.append(markable)
                    if name:
                        self._by_name[name] = markable
                elif markable.entity != entity:
                    belongs = f"belongs to entity {quote(markable.entity)}, not {quote(entity)}"
                    report(f"{markable} (line {markable.line}) {belongs}")
                elif markable.zero is not None or zero is not None:
                    report(
                        f"{markable} (line {markable.line}) has several parts, one of which is a zero"
                    )
                elif markable in self.open or markable.parts[-1][1] >= word:
                    report(f"{markable} (line {markable.line}) opens again inside itself")
                if (minimum := values.get("Min")) is not None:
                    numbers = MINIMUM.fullmatch(minimum)
                    first, last = (
                        (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
                    )
                    if first > last:
                        expected = (
                            "expected a word or its first and last word, from 1, such as 3 or 3,4"
                        )
                        report(f"Min is {quote(minimum)} ({expected})")
                    elif not markable.parts:
                        markable.minimum = first - 1, last - 1
                markable.element_of.update(filter(None, values.get("ElementOf", "").split(",")))
                markable.parts.append((word, -1))
                self.open.append(markable)
                continue
            named = next(
                (
                    i
                    for i in reversed(range(len(self.open)))
                    if not closes or self.open[i].name == closes
                ),
                -1,
            )
            if zero is not None and len(self.open) <= before:
                report("a markable closes on a zero (expected on a word)")
            elif named < 0:
                report(
                    f"{f'markable {quote(closes)}' if closes else 'a markable'} closes but is not open"
                )
            else:
                parts = self.open.pop(named).parts
                parts[-1] = (parts[-1][0], word)
        if zero is not None and len(self.open) > before:
            report("a markable that opens on a zero does not close there")
            del self.open[before:]


class _Document:
    """A document that is read."""

    def __init__(self, name: str, problems: ProblemList) -> None:
        self.name, self._problems = name, problems
        self.words: list[str] = []
        self.lines: list[int] = []
        self.token_of_word: list[int] = []  # without zeros
        self.identity, self.deixis = _Layer(problems), _Layer(problems)
        # of bridging anaphors, both as MarkableIDs; None for an entity
        self.anchors: dict[str, str | None] = {}
        self._open_bridging: list[int] = []  # the lines of the open brackets

    def take_bridging(self, line: int, place: str, cell: str) -> None:
        """Read the cell of a token with bridging anaphors."""
        pieces = _split_cell(cell)
        if pieces is None or any(piece[2] for piece in pieces):
            expected = "expected '(MarkableID=…|MentionAnchor=…', ')' or both"
            self._problems.add(f"{place}: {quote(cell)} is not valid ({expected})", line)
            return
        for opens in (piece[1] for piece in pieces):
            if opens is not None:
                self._open_bridging.append(line)
                values = _read_fields(opens)
                anchor = values.get("MentionAnchor") or None
                if values.get("MarkableID") and (anchor or values.get("EntityAnchor")):
                    self.anchors[values["MarkableID"]] = anchor
                else:
                    expected = "expected fields such as 'MarkableID=m2|MentionAnchor=m1'"
                    self._problems.add(
                        f"{place}: {quote(opens.removesuffix('@'))} is not valid ({expected})", line
                    )
            elif self._open_bridging:
                self._open_bridging.pop()
            else:
                self._problems.add(f"{place}: a bridging anaphor closes but is not open", line)

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
            what = f"Min is {first + 1}" + (f",{last + 1}" if first < last else "")
            expected = f"expected at most {n_words:,}, the number of words of the document"
            self._problems.add(f"{what} ({expected})", markable.line)
        spans = merge_runs((token, token) for token in tokens)
        return make_mention(spans, minimum=tuple(self.token_of_word[first : last + 1]))

    def list_antecedents(self, markables: Sequence[Markable]) -> dict[str, list[str]]:
        """List the antecedents of each entity with split antecedents."""
        # the antecedents of an entity, each with the line that says so
        direct: dict[str, dict[str, int]] = {}
        known = {markable.entity for markable in markables}
        for markable in markables:
            for whole in sorted(markable.element_of):
                if whole in known:
                    direct.setdefault(whole, {}).setdefault(markable.entity, markable.line)
                else:
                    what = f"ElementOf: there is no entity {quote(whole)} in the document"
                    self._problems.add(
                        f"{what} (expected the EntityID of a markable)", markable.line
                    )
        antecedents = {whole: list(elements) for whole, elements in direct.items()}
        for whole in find_circles(antecedents):
            what = f"ElementOf: entity {quote(whole)} is an element of itself"
            self._problems.add(what, min(direct[whole].values()))
        return antecedents

    def find_relations(
        self, markables: Sequence[Markable], anchors: Mapping[str, str | None]
    ) -> DocumentRelations:
        """Return the relations of a layer; of bridging anaphors, those whose markables are known, each once."""
        places = {
            markable.name: self.find_place(markable) for markable in markables if markable.name
        }
        non_referring: dict[str, list[Place]] = {}
        for markable in markables:
            if not markable.is_referring:
                non_referring.setdefault(markable.entity, []).append(self.find_place(markable))
        known = [(a, b) for a, b in anchors.items() if a in places and (b is None or b in places)]
        bridging = {
            places[a]: Bridging(places[a], None if b is None else places[b]) for a, b in known
        }
        antecedents = self.list_antecedents(markables)
        return DocumentRelations(
            antecedents, non_referring, list(bridging.values()), len(anchors) - len(known)
        )


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = ProblemList()
        self.documents: list[_Document] = []
        self.seen: dict[str, int] = {}  # the first line of each document name
        self._names: Sequence[str] = ()  # of the columns
        self._place: dict[str, int] = {}  # of the columns that are read, from 0
        # the ids of the last word and of a zero after it
        self._last: tuple[int, int | None] = (-1, None)
        self._begins_sentence = True
        self._is_outside = False  # whether a token was found before the first document

    def read(self, lines: Sequence[str]) -> Parsed:
        """Return all documents, and the first line of each."""
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
        if not self.documents and not self.problems:
            self.problems.add(
                "contains no document (expected '# newdoc id = NAME' before the first sentence)"
            )
        for document in self.documents:
            document.end()
        has_deixis = any(document.deixis.markables for document in self.documents)
        documents: list[Document] = []
        if not self.problems:
            documents = [_make_document(document) for document in self.documents]
            if has_deixis:
                deixis = map(_make_deixis, self.documents)
                documents = [
                    replace(document, deixis=layer)
                    for document, layer in zip(documents, deixis, strict=True)
                ]
        return Parsed(Documents(documents), list(self.seen.values()), self.problems)

    def _begin_document(self, line: int, name: str) -> None:
        if name:
            check_name(name, line, self.seen, self.problems)
        else:
            self.problems.add("document without a name (expected '# newdoc id = NAME')", line)
        self.documents.append(_Document(name, self.problems))
        self._last, self._begins_sentence = (-1, None), True

    def _declare_columns(self, line: int, names: Sequence[str]) -> None:
        if lacking := [name for name in REQUIRED if name not in names]:
            what = (
                f"global.columns lacks {' and '.join(lacking)} (expected columns such as {COLUMNS})"
            )
            self.problems.add(what, line)
        elif twice := [name for name in READ if names.count(name) > 1]:
            self.problems.add(f"global.columns has {quote(twice[0])} twice", line)
        self._names = COLUMNS.split() if lacking or twice else names
        self._place = {name: self._names.index(name) for name in READ if name in self._names}

    def _take_row(self, line: int, text: str) -> None:
        if not self._names:
            what = f"row without a declaration of its columns (expected '# global.columns = {COLUMNS}')"
            self.problems.add(what, line)
            self._declare_columns(line, COLUMNS.split())
        if UNSAFE_IN_ROWS.search(text):
            self.problems.add("the row contains a control character", line)
        if not self.documents:
            if not self._is_outside:
                self.problems.add(
                    "token outside a document (expected '# newdoc id = NAME' before it)", line
                )
            self._is_outside = True
            return
        document, place = self.documents[-1], self._place
        fewest, most = 1 + max(place.values()), len(self._names)
        cells = [cell.strip(" ") for cell in text.split("\t")]
        if not fewest <= len(cells) <= most:
            cells = BLANKS.split(text.strip(" \t"))
        if not fewest <= len(cells) <= most:
            expected = f"{fewest} to {most}" if fewest < most else f"{most}"
            self.problems.add(f"the number of columns is {len(cells)} (expected {expected})", line)
            return
        is_zero, token, word = (
            self._take_id(line, cells),
            len(document.words),
            len(document.token_of_word),
        )
        if not (form := cells[place["FORM"]]):
            self.problems.add(
                f"column {place['FORM'] + 1}: the word is empty (expected a word or '_')", line
            )
        # The word of a zero is a guess of its annotator or system; only real words are compared with the key's.
        document.words.append("_" if is_zero else form)
        document.lines.append(line)
        if not is_zero:
            document.token_of_word.append(token)
        for name, i in place.items():
            cell, where = cells[i], f"column {i + 1}"
            if name in ("ID", "FORM") or cell == "_":
                continue
            if not cell:
                self.problems.add(f"{where}: the cell is empty (expected '_' or annotation)", line)
            elif name == "BRIDGING":
                document.take_bridging(line, where, cell)
            else:
                layer = document.identity if name == "IDENTITY" else document.deixis
                layer.take(line, where, word, token if is_zero else None, cell)

    def _take_id(self, line: int, cells: Sequence[str]) -> bool:
        """Read the id, which must be a next one; return whether it is that of a zero."""
        text = cells[self._place["ID"]]
        parts = TOKEN_ID.fullmatch(text)
        found = (int(parts[1]), int(parts[2]) if parts[2] else None) if parts else None
        word, zero = self._last
        expected: list[tuple[int, int | None]] = [(word + 1, None)]
        if word >= 0:
            expected += [
                (word, next_zero) for next_zero in ([0, 1] if zero is None else [zero + 1])
            ]
        if word < 0 or (self._begins_sentence and word):
            expected += [(1, None), (0, 0), (0, 1)]
        if found not in expected:
            names = ", ".join(f"{n}" if z is None else f"{n}.{z}" for n, z in expected)
            after = f" follows word {word}" if word >= 0 else ""
            what = f"{quote(text)}{after} (expected one of {names})"
            self.problems.add(f"column {self._place['ID'] + 1}: {what}", line)
        self._last, self._begins_sentence = found or self._last, False
        return found is not None and found[1] is not None


def _make_document(read: _Document) -> Document:
    """Return the identity layer of a document; report wrong minimum spans and antecedents."""
    return _make_layer(read, read.identity.markables, read.anchors)


def _make_deixis(read: _Document) -> Document:
    """Return the layer of discourse deixis of a document; report wrong minimum spans and antecedents."""
    return _make_layer(read, read.deixis.markables, {})


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
    return Document(
        name=read.name,
        entities=group_mentions(mentions),
        n_tokens=len(read.words),
        words=ListedWords(read.words, read.lines),
        nodes=[EmptyNode(token, 0, ()) for token in zeros],
        relations=relations,
    )


def read_records(path: Path, split: str) -> Parsed:
    """Read the documents of a file, each with the line on which it begins; names are the file's, whatever the split."""
    del split
    reader = _Reader()
    parsed = reader.read(read_lines(path))
    reader.problems.raise_any(path)
    return parsed


FORMAT = Format(
    read_records,
    suffixes=(".conllua",),
    first_line=re.compile(r"#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)", re.ASCII),
)
