"""The ``Entity=`` values of CorefUD files, read token by token.

Conventions: ``(e1-person-2-`` opens a mention, ``e1)`` closes the last open mention of entity e1, ``(e1-person-1-)`` is
a mention of a single token, and ``(e1[1/2]-`` to ``e1[1/2])`` is the first of two parts; pieces are joined without a
separator.  Tokens are numbered from 0 in their document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from closeread.errors import quote
from closeread.formats.problems import Problems

PIECE = re.compile(r"(\()?([^()]+)(\))?")
PART = re.compile(r"(.+)\[([0-9]{1,9})/([0-9]{1,9})\]")
NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass
class Mention:
    """A mention, as far as it has been read.

    Attributes:
        entity: the number of its entity in the file, from 0.
        line: the line on which it opens.
        of: the number of its parts.
        parts: the (start, end) of the parts that have been read.
        head: the number of its head among its tokens, from 1; None if not given.
    """

    entity: int
    line: int
    of: int
    parts: list[tuple[int, int]] = field(default_factory=list)
    head: int | None = None


class EntityReader:
    """Reader of the Entity values of a file.

    Args:
        problems: collects the problems.

    Attributes:
        mentions: the mentions that have been read, in the order in which they open.
        labels: the ids of the entities, in order of first appearance.
        document_of_entity: the document of each entity.
    """

    def __init__(self, problems: Problems) -> None:
        self.mentions: list[Mention] = []
        self.labels: list[str] = []
        self.document_of_entity: list[int] = []
        self._problems = problems
        # Of the current document: entities by id, open mentions by id and part, and mentions that lack parts.
        self._entities: dict[str, int] = {}
        self._open: dict[str, list[Mention]] = {}
        self._incomplete: dict[str, list[Mention]] = {}

    def end_document(self) -> None:
        """Report mentions that are still open or lack parts."""
        for name, mentions in self._open.items():
            for mention in mentions:
                self._problems.add(f"entity {quote(name)} opens but never closes", mention.line)
        for label, mentions in self._incomplete.items():
            for mention in mentions:
                found = f"a mention of entity {quote(label)} has only {len(mention.parts)} of its {mention.of} parts"
                self._problems.add(f"{found} (expected all of them in the same document)", mention.line)
        self._entities, self._open, self._incomplete = {}, {}, {}

    def take(self, line: int, document: int, token: int, cell: str, fields: Sequence[str]) -> None:
        """Read the value of a token, whose pieces have these fields."""
        pieces = list(PIECE.finditer(cell))
        if "".join(p[0] for p in pieces) != cell or not all(p[1] or p[3] for p in pieces):
            found = f"column 10: {quote(cell)} is not a valid Entity"
            self._problems.add(f"{found} (expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')", line)
            return
        for opens, text, closes in (piece.groups() for piece in pieces):
            if opens:
                values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
                self._open_mention(line, document, token, values, closes=bool(closes))
            elif mentions := self._open.get(text):
                self._close(text, mentions.pop(), token)
            else:
                self._problems.add(f"column 10: entity {quote(text)} closes but is not open", line)

    def _open_mention(self, line: int, document: int, token: int, values: dict[str, str], *, closes: bool) -> None:
        name = values.get("eid", "")
        split = PART.fullmatch(name)
        label, part, of = (split[1], int(split[2]), int(split[3])) if split else (name, 1, 1)
        if not label or not part or part > of or (split and of < 2):
            found = f"column 10: {quote(name)} is not a valid entity id"
            self._problems.add(f"{found} (expected ID or ID[PART/PARTS] with PART from 1 to PARTS)", line)
            return
        mention = self._find_mention(line, document, token, label, part, of)
        if mention is None:
            before = f"part {part - 1} of {of} before it"
            self._problems.add(f"column 10: part {part} of {of} of entity {quote(label)} without {before}", line)
            return
        self._take_head(line, mention, values.get("head"))
        mention.parts.append((token, token))
        if closes:
            self._close(name, mention, token)
        else:
            self._open.setdefault(name, []).append(mention)

    def _find_mention(self, line: int, document: int, token: int, label: str, part: int, of: int) -> Mention | None:
        """Return a new mention, or the one whose next part this is; None if there is none."""
        if part == 1:
            entity = self._entities.get(label)
            if entity is None:
                entity = self._entities.setdefault(label, len(self.labels))
                self.labels.append(label)
                self.document_of_entity.append(document)
            self.mentions.append(Mention(entity, line, of))
            return self.mentions[-1]
        incomplete = self._incomplete.get(label, [])
        for i in reversed(range(len(incomplete))):
            mention = incomplete[i]
            if mention.of == of and len(mention.parts) == part - 1 and mention.parts[-1][1] < token:
                return incomplete.pop(i)
        return None

    def _take_head(self, line: int, mention: Mention, text: str | None) -> None:
        if not text:
            return
        if not NUMBER.fullmatch(text) or int(text) == 0:
            found = f"column 10: {quote(text)} is not a valid head"
            self._problems.add(f"{found} (expected the number of a token, from 1)", line)
        elif mention.head not in (None, int(text)):
            self._problems.add(f"column 10: the head is {text}, but {mention.head} in another part", line)
        else:
            mention.head = int(text)

    def _close(self, name: str, mention: Mention, token: int) -> None:
        mention.parts[-1] = (mention.parts[-1][0], token)
        if len(mention.parts) < mention.of:
            self._incomplete.setdefault(self.labels[mention.entity], []).append(mention)
            return
        size = sum(end - start + 1 for start, end in mention.parts)
        if mention.head is not None and mention.head > size:
            found = f"column 10: the head of a mention of entity {quote(name)} is token {mention.head}"
            self._problems.add(f"{found} (expected at most {size}, the number of its tokens)", mention.line)
