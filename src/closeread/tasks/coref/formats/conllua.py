"""CoNLL-U Plus files of Universal Anaphora, with a column for each layer of annotation.

Conventions: ``# global.columns = ID FORM … IDENTITY BRIDGING DISCOURSE_DEIXIS …`` names the columns; rows may lack the
last ones.  Cells are separated by tabs if that gives enough of them, otherwise by any blanks and tabs.  A document
begins at ``# newdoc id = NAME``.  Its tokens are words and zeros (``3.1``), in the order of the file, a zero with the
word ``_``.  A mention of words does not contain the zeros between them.  Ids of words count up, in the
document from 0 or 1 or in each sentence from 1.  A layer's markables are described in `MarkableReader`; those whose
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from closeread.exceptions import ProblemList, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    Document,
    EmptyNode,
    ListedWords,
    MentionTable,
    Parts,
    choose_ids,
    list_lengths,
    make_table,
)
from closeread.tasks.coref.formats.coref_json import table_of
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


class MarkableReader:
    """Reader of the markables of a layer.

    Args:
        problems: collects the problems.

    Attributes:
        documents: the markables of each document that has ended, in the order in which they open.
    """

    def __init__(self, problems: ProblemList) -> None:
        self.documents: list[list[Markable]] = []
        self._problems = problems
        # Of the current document: markables, markables by id, those that are open in the order of their brackets, and
        # the bracket of each open markable with an id.
        self._markables: list[Markable] = []
        self._by_name: dict[str, Markable] = {}
        self._open: dict[int, Markable] = {}
        self._bracket: dict[str, int] = {}
        self._n_brackets = 0

    def end_document(self) -> None:
        """Report markables that are still open."""
        for markable in self._open.values():
            self._problems.add(f"{_describe(markable)} opens but never closes", markable.line)
        self.documents.append(self._markables)
        self._markables, self._by_name, self._open, self._bracket = [], {}, {}, {}

    def take(self, line: int, place: str, word: int, zero: int | None, cell: str) -> None:
        """Read the cell of a token.

        Args:
            line: the line.
            place: the column, in words.
            word: the number of the word, or of the word after a zero.
            zero: the token, if it is a zero.
            cell: the content of the cell.
        """
        pieces = list(PIECE.finditer(cell))
        if "".join(piece[0] for piece in pieces) != cell:
            found = f"{place}: {quote(cell)} is not valid"
            self._problems.add(f"{found} (expected '(EntityID=…|MarkableID=…', ')' or both)", line)
            return
        before = len(self._open)
        for opens, closes in (piece.groups() for piece in pieces):
            if opens is not None:
                self._open_markable(line, place, word, zero, opens.removesuffix("@"))
            elif zero is not None and len(self._open) <= before:
                self._problems.add(f"{place}: a markable closes on a zero (expected on a word)", line)
            else:
                self._close_markable(line, place, word, closes)
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
            self._markables.append(markable)
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


class BridgingReader:
    """Reader of the bridging anaphors of a file.

    Args:
        problems: collects the problems.

    Attributes:
        documents: the anchors of each document that has ended, by the anaphor, both as MarkableIDs; None for an anchor
            that is given as an entity only.
    """

    def __init__(self, problems: ProblemList) -> None:
        self.documents: list[dict[str, str | None]] = []
        self._problems = problems
        # Of the current document: anchors by anaphor, and the lines of the open brackets.
        self._anchors: dict[str, str | None] = {}
        self._open: list[int] = []

    def end_document(self) -> None:
        """Report brackets that are still open."""
        for line in self._open:
            self._problems.add("a bridging anaphor opens but never closes", line)
        self.documents.append(self._anchors)
        self._anchors, self._open = {}, []

    def take(self, line: int, place: str, cell: str) -> None:
        """Read the cell of a token."""
        pieces = list(PIECE.finditer(cell))
        if "".join(piece[0] for piece in pieces) != cell or any(piece[2] for piece in pieces):
            found = f"{place}: {quote(cell)} is not valid"
            self._problems.add(f"{found} (expected '(MarkableID=…|MentionAnchor=…', ')' or both)", line)
            return
        for opens, _ in (piece.groups() for piece in pieces):
            if opens is not None:
                self._open.append(line)
                self._take_anaphor(line, place, opens.removesuffix("@"))
            elif self._open:
                self._open.pop()
            else:
                self._problems.add(f"{place}: a bridging anaphor closes but is not open", line)

    def _take_anaphor(self, line: int, place: str, text: str) -> None:
        values = read_fields(text) or {}
        if not values.get("MarkableID") or not (values.get("MentionAnchor") or values.get("EntityAnchor")):
            found = f"{place}: {quote(text)} is not valid"
            self._problems.add(f"{found} (expected fields such as 'MarkableID=m2|MentionAnchor=m1')", line)
        else:
            self._anchors[values["MarkableID"]] = values.get("MentionAnchor") or None


@dataclass
class DocumentTokens:
    """The tokens of a document: words and lines; the token of each word that is no zero; the zeros."""

    name: str
    words: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    token_of_word: list[int] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)

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


def _list_words(markable: Markable) -> Iterator[tuple[int, int]]:
    """List the first and last word of each part of a markable; parts that touch are one."""
    return merge_runs(sorted((first, last or 0) for first, last in markable.parts))


def _make_layer(
    documents: Sequence[DocumentTokens],
    markables: Sequence[Sequence[Markable]],
    anchors: Sequence[Mapping[str, str | None]],
    problems: ProblemList,
    deixis: MentionTable | None = None,
) -> MentionTable:
    """Convert the markables of a layer to a table; report what is wrong with their minimum spans and antecedents."""
    found, relations = [], {}
    for tokens, of_document, its_anchors in zip(documents, markables, anchors, strict=True):
        places = [tokens.find_place(markable) for markable in of_document]
        non_referring: dict[str, list[Place]] = {}
        for markable, place in zip(of_document, places, strict=True):
            if not markable.is_referring:
                non_referring.setdefault(markable.entity, []).append(place)
        of_name = {markable.name: place for markable, place in zip(of_document, places, strict=True) if markable.name}
        antecedents = _list_antecedents(of_document, problems)
        relations[tokens.name] = DocumentRelations(antecedents, non_referring, *_find_bridging(its_anchors, of_name))
        referring = [markable for markable in of_document if markable.is_referring]
        number = {label: i for i, label in enumerate(dict.fromkeys(markable.entity for markable in referring))}
        mentions = sorted(referring, key=lambda markable: number[markable.entity])
        parts = [tokens.find_parts(markable) for markable in mentions]
        minima = [tokens.find_minimum(markable, problems) for markable in mentions]
        found.append(
            Document(
                name=tokens.name,
                n_tokens=len(tokens.words),
                start=np.array([spans[0][0] for spans in parts], np.int64),
                end=np.array([spans[-1][1] for spans in parts], np.int64),
                entity=np.array([number[markable.entity] for markable in mentions], np.int64),
                labels=list(number),
                parts={i: spans for i, spans in enumerate(parts) if len(spans) > 1},
                minimum={i: minimum for i, minimum in enumerate(minima) if minimum},
                # Only words tell the places of zeros apart, as in the scorer: a document counts as one sentence.
                empty=[EmptyNode(token, 0, ()) for token in tokens.zeros],
            )
        )
    words = ListedWords([tokens.words for tokens in documents], [tokens.lines for tokens in documents])
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


def dump_conllua(table: MentionTable, read: Callable[[str], MentionTable | None]) -> str:
    """Convert documents to text.

    Words are ``_`` if the table has none; ids of entities are kept if the format can express them.  Minimum spans are
    written, or heads where there are none.  Closing brackets have ids only if mentions cross somewhere in the file; the
    Universal Anaphora scorer has an option for such files.

    Args:
        table: the documents.
        read: reads text; None if it is invalid.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something, such as a word with a blank
            or a mention that contains a zero and words.
    """
    lengths = list_lengths(table, "a Universal Anaphora file")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    zeros: list[set[int]] = [set() for _ in table.names]
    if table.empty is not None:
        for document, token in zip(table.empty.document.tolist(), table.empty.token.tolist(), strict=True):
            zeros[document].add(token)
    layouts = [
        _Layout(table, range(first, last), n_tokens, of_document)
        for (first, last), n_tokens, of_document in zip(pairwise(borders), lengths, zeros, strict=True)
    ]
    named = any(layout.has_crossing() for layout in layouts)
    documents = [_format_document(table, i, layout, named=named) for i, layout in enumerate(layouts)]
    for i, text in enumerate(documents):
        again = read(text)
        if again is None or list(again.names) != [table.names[i]] or _spans(again, 0) != _spans(table, i):
            found = "a mention of zeros and words, or a name that would be read back differently"
            raise ValueError(f"document {quote(table.names[i])}: a Universal Anaphora file can't express {found}")
    return "".join(documents)


def _spans(table: MentionTable, document: int) -> list[list[Parts]]:
    """List the mentions of each entity of a document, all in order of position."""
    entities: dict[int, list[Parts]] = {}
    for i in range(*table.document.searchsorted([document, document + 1]).tolist()):
        entities.setdefault(int(table.entity[i]), []).append(table.parts_of(i))
    return sorted(sorted(mentions) for mentions in entities.values())


class _Layout:
    """The brackets of a document.

    Args:
        table: the documents.
        mentions: the rows of the mentions of this one.
        n_tokens: the number of its tokens.
        zeros: those that are zeros.

    Attributes:
        brackets: (first token, minus the last token, the number of the mention from 0), in order of position, longest
            first.
        word_of: the number of each word by its token.
    """

    def __init__(self, table: MentionTable, mentions: Sequence[int], n_tokens: int, zeros: set[int]) -> None:
        self.mentions, self.n_tokens, self.zeros = mentions, n_tokens, zeros
        self.word_of = {token: i for i, token in enumerate(token for token in range(n_tokens) if token not in zeros)}
        self.brackets = sorted(
            (start, -end, number)
            for number, i in enumerate(mentions)
            for start, end in _merge_over_zeros(table.parts_of(i), self.word_of)
        )

    def has_crossing(self) -> bool:
        """Return whether two brackets cross."""
        open_ends: list[int] = []
        for start, minus_end, _ in self.brackets:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < -minus_end:
                return True
            open_ends.append(-minus_end)
        return False


def _format_document(table: MentionTable, document: int, layout: _Layout, *, named: bool) -> str:
    name = table.names[document]
    words = list((table.words(document) if table.words else ()) or ["_"] * layout.n_tokens)
    invalid = [text for text in words if not WORD.fullmatch(text)]
    if invalid or not NAME.fullmatch(name):
        what = quote((invalid or [name])[0])
        raise ValueError(f"document {quote(name)}: a Universal Anaphora file can't express {what}")
    lines = [f"# global.columns = {COLUMNS}", f"# newdoc id = {name}"]
    ids = _list_ids(layout.n_tokens, layout.zeros)
    for number, word, cell in zip(ids, words, _format_cells(table, layout, named=named), strict=True):
        lines.append("\t".join([number, word, *"________", cell or "_", *"____"]))
    return "".join(f"{line}\n" for line in [*lines, ""])


def _list_ids(n_tokens: int, zeros: set[int]) -> Iterator[str]:
    word = zero = 0
    for token in range(n_tokens):
        zero = zero + 1 if token in zeros else 0
        word += zero == 0
        yield f"{word}.{zero}" if zero else str(word)


def _format_cells(table: MentionTable, layout: _Layout, *, named: bool) -> Iterator[str]:
    """List the brackets of each token: closing ones first, then opening ones, longest mention first."""
    opening: list[list[str]] = [[] for _ in range(layout.n_tokens)]
    closing: list[list[str]] = [[] for _ in range(layout.n_tokens)]
    labels = choose_ids(table, sorted({int(table.entity[i]) for i in layout.mentions}), PLAIN_ID)
    for start, minus_end, number in layout.brackets:
        i = layout.mentions[number]
        minimum = _format_minimum(table, i, layout.word_of)
        fields = f"(EntityID={labels[int(table.entity[i])]}|MarkableID=m{number + 1}{minimum}"
        opening[start].append(fields + (")" if start == -minus_end else ""))
        if start < -minus_end:
            closing[-minus_end].append(f"m{number + 1})" if named else ")")
    return ("".join(chain(closes, opens)) for closes, opens in zip(closing, opening, strict=True))


def _merge_over_zeros(parts: Parts, word_of: dict[int, int]) -> Iterator[tuple[int, int]]:
    """List the parts of a mention, joined where only zeros are between them."""
    runs: list[tuple[int, int]] = []
    for start, end in parts:
        words = [word_of.get(token, -2) for token in (runs[-1][1], start)] if runs else [0, 0]
        if words[0] + 1 == words[1] and words[0] >= 0:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return iter(runs)


def _format_minimum(table: MentionTable, i: int, word_of: dict[int, int]) -> str:
    head = None if table.head is None else int(table.head[i])
    tokens = table.minimum.get(i, () if head is None else (head,))
    words = sorted(word_of[token] + 1 for token in tokens if token in word_of)
    if not words or len(words) != len(tokens) or words[-1] - words[0] != len(words) - 1:
        return ""
    return f"|Min={words[0]}" if len(words) == 1 else f"|Min={words[0]},{words[-1]}"


COMMENT = re.compile(r"#[ \t]*(newdoc|global\.columns)(?![^\s=])(?:[ \t]+id)?[ \t]*(?:=(.*))?")
TOKEN_ID = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
BLANKS = re.compile(r"[ \t]+")
REQUIRED = ("ID", "FORM", "IDENTITY")
OPTIONAL = ("BRIDGING", "DISCOURSE_DEIXIS")


@dataclass(frozen=True)
class _Columns:
    """The columns of a file: their number, and the places of those that are read."""

    number: int
    place: dict[str, int]

    @property
    def needed(self) -> int:
        """The number of cells that a row must have."""
        return 1 + max(self.place.values())

    def fit(self, cells: Sequence[str]) -> bool:
        """Return whether a row may have this many cells."""
        return self.needed <= len(cells) <= self.number

    def split(self, text: str) -> list[str]:
        """Split a row at tabs if that gives enough cells, otherwise at any blanks and tabs."""
        by_tab = [cell.strip(" ") for cell in text.split("\t")]
        return by_tab if self.fit(by_tab) else BLANKS.split(text.strip(" \t"))


def _columns_of(names: Sequence[str]) -> _Columns:
    return _Columns(len(names), {name: names.index(name) for name in (*REQUIRED, *OPTIONAL) if name in names})


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


def _read_text(text: str) -> MentionTable | None:
    reader = _read(text.split("\n"))
    return None if reader.problems.total else reader.table()


class _Reader:
    """Reader of the lines of a file."""

    def __init__(self) -> None:
        self.problems = ProblemList()
        self.documents: list[DocumentTokens] = []
        self.identity = MarkableReader(self.problems)
        self.deixis = MarkableReader(self.problems)
        self.bridging = BridgingReader(self.problems)
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
        if any(self.deixis.documents):
            layer = _make_layer(self.documents, self.deixis.documents, [{}] * len(self.documents), self.problems)
        return _make_layer(
            self.documents, self.identity.documents, self.bridging.documents, self.problems, deixis=layer
        )

    def _report(self, what: str, line: int | None = None) -> None:
        self.problems.add(what, line)

    def _begin_document(self, line: int, name: str) -> None:
        self._end_document()
        if not name:
            self._report("document without a name (expected '# newdoc id = NAME')", line)
        elif unsafe := UNSAFE.search(name):
            self._report(f"document name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}", line)
        elif (before := self.seen.setdefault(name, line)) != line:
            self._report(f"duplicate document {quote(name)} (first on line {before})", line)
        self.documents.append(DocumentTokens(name))

    def _end_document(self) -> None:
        if self.documents:
            self.identity.end_document()
            self.deixis.end_document()
            self.bridging.end_document()
        self._word = self._zero = None
        self._begins_sentence = True

    def _take_columns(self, line: int, names: list[str]) -> None:
        self._columns = _columns_of(names)
        lacking = [name for name in REQUIRED if name not in names]
        if lacking:
            self._report(f"global.columns lacks {' and '.join(lacking)} (expected columns such as {COLUMNS})", line)
        elif twice := [name for name in self._columns.place if names.count(name) > 1]:
            self._report(f"global.columns has {quote(twice[0])} twice", line)
        else:
            return
        self._columns = _columns_of(COLUMNS.split())

    def _take_row(self, line: int, text: str) -> None:
        if self._columns is None:
            self._report(f"row without a declaration of its columns (expected '# global.columns = {COLUMNS}')", line)
            self._columns = _columns_of(COLUMNS.split())
        if UNSAFE.search(text.replace("\t", "")):
            self._report("the row contains a control character", line)
        if not self.documents:
            if not self._is_outside:
                self._report("token outside a document (expected '# newdoc id = NAME' before it)", line)
            self._is_outside = True
            return
        cells = self._columns.split(text)
        if not self._columns.fit(cells):
            fewest, most = self._columns.needed, self._columns.number
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
                self.bridging.take(line, where, cell)
            else:
                layer = self.identity if name == "IDENTITY" else self.deixis
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
    lambda records: dump_conllua(table_of(records), _read_text),
    suffixes=(".conllua",),
    first_line=re.compile(r"#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)", re.ASCII),
)
