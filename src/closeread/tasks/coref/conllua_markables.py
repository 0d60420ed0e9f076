"""The markables of a layer of a Universal Anaphora file, read cell by cell.

Conventions: ``(EntityID=1|MarkableID=m1`` opens a markable, ``)`` closes the one that opened last, and ``m1)`` closes
m1, so that markables can cross; ``(EntityID=1|MarkableID=m1)`` is a markable of a single token.  An ``@`` before an
opening bracket is ignored.  A MarkableID that occurs again in its document opens another part of the same markable.
``Min=3,4`` is the minimum span, from the third to the fourth word of the document; only the first part's counts.
``ElementOf=7,8`` means that the entity is an antecedent of the entities 7 and 8.  Words are numbered from 0 in their
document, without zeros.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from closeread.exceptions import quote
from closeread.formats.problems import Problems

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

    def __init__(self, problems: Problems) -> None:
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
