"""The bridging anaphors of a Universal Anaphora file, read cell by cell.

Conventions: ``(MarkableID=m2|Rel=poss|MentionAnchor=m1|EntityAnchor=1`` opens on the first token of markable m2, which
is anchored to markable m1, and ``)`` closes it.  Both are markables of the layer of identity, which has their tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.conllua_markables import PIECE, read_fields
from closeread.tasks.coref.relations import Bridging, Place


class BridgingReader:
    """Reader of the bridging anaphors of a file.

    Args:
        problems: collects the problems.

    Attributes:
        documents: the anchors of each document that has ended, by the anaphor, both as MarkableIDs; None for an anchor
            that is given as an entity only.
    """

    def __init__(self, problems: Problems) -> None:
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


def find_bridging(
    anchors: Mapping[str, str | None], place_of: Callable[[str], Place | None]
) -> tuple[list[Bridging], int]:
    """Find the places of bridging anaphors and their anchors.

    Args:
        anchors: the anchors by anaphor, both as MarkableIDs.
        place_of: the place of a markable; None if there is no such markable.

    Returns:
        The anaphors whose markables are known, each once, and the number of the others.
    """
    found: dict[Place, Bridging] = {}
    unknown = 0
    for anaphor, anchor in anchors.items():
        own, other = place_of(anaphor), None if anchor is None else place_of(anchor)
        if own is None or (anchor is not None and other is None):
            unknown += 1
        else:
            found[own] = Bridging(own, other)
    return list(found.values()), unknown
