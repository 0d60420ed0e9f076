"""The ``Entity=`` values of CorefUD files, read one by one to find their problems.

Conventions: ``(e1-person-2-`` opens a mention, ``e1)`` closes the last open mention of entity e1, ``(e1-person-1-)`` is
a mention of a single token, and ``(e1[1/2]-`` to ``e1[1/2])`` is the first of two parts; pieces are joined without a
separator.  Tokens are numbered from 0 in their document.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain
from typing import NamedTuple

from closeread.exceptions import quote
from closeread.formats.problems import Problems

ENTITY_ID = frozenset({"eid", "GRP"})
"""The fields that contain the entity's id: of the file, or of its document."""

PIECE = re.compile(r"(\()?([^()]+)(\))?")
PART = re.compile(r"([^\[]+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]")
NUMBER = re.compile(r"[0-9]{1,9}")


class Name(NamedTuple):
    """An entity's id as it is in brackets: with the number of the part, from 1, and that of all parts."""

    label: str
    part: int = 1
    of: int = 1


def parse_name(text: str) -> Name | None:
    """Parse ``ID`` or ``ID[PART/PARTS]``; None if it is neither."""
    split = PART.fullmatch(text)
    if not split:
        return Name(text) if text and not text.endswith("]") else None
    name = Name(split[1], int(split[2]), int(split[3]))
    return name if name.part <= name.of and name.of > 1 else None


@dataclass
class Mention:
    """A mention, as far as it has been read.

    Attributes:
        opened: a number that is smaller if it opens earlier.
        line: the line on which it opens.
        head: the number of its head among its tokens, from 1; 0 if not given.
        parts: the (start, end) of the parts that have been read.
    """

    opened: int
    line: int
    head: int = 0
    parts: list[tuple[int, int]] = field(default_factory=list)


class Discontinuous:
    """The discontinuous mentions of an entity that lack parts.

    As in udapi, and thus in corefud-scorer, the interrupted mention that opened first continues first, and of all that
    lack parts, the one that opened last is complete first.
    """

    def __init__(self) -> None:
        self.incomplete: list[tuple[Mention, int]] = []  # with the number of all parts, as they open
        self._interrupted: list[tuple[int, Mention, int]] = []  # a heap

    def open(self, name: Name, mention: Mention) -> None:
        """Take a mention whose first part opens."""
        self.incomplete.append((mention, name.of))

    def resume(self, name: Name, token: int) -> Mention | None:
        """Return the mention of which another part opens; None if this part is not its next one."""
        if self._interrupted:
            _, mention, of = self._interrupted[0]
            if (name.of, name.part) == (of, len(mention.parts) + 1) and mention.parts[-1][1] < token:
                heappop(self._interrupted)
                return mention
        return None

    def close(self, name: Name, mention: Mention) -> Mention | None:
        """Close a part; if it is the last, return the mention that had to be complete before, if any."""
        if name.part < name.of:
            heappush(self._interrupted, (mention.opened, mention, name.of))
            return None
        last, _ = self.incomplete[-1]
        if last is mention:
            self.incomplete.pop()
            return None
        self.incomplete = [one for one in self.incomplete if one[0] is not mention]
        return last


class EntityReader:
    """Reader of the Entity values of a file.

    Args:
        problems: collects the problems.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        # Of the current document, by id: open mentions, as they are named and with the lines on which they open.
        self._open: dict[str, list[tuple[Name, int, Mention]]] = defaultdict(list)
        self._discontinuous: dict[str, Discontinuous] = defaultdict(Discontinuous)
        self._n_opened = 0

    def end_document(self) -> None:
        """Report mentions that are still open or lack parts."""
        for name, line, _ in chain.from_iterable(self._open.values()):
            self._problems.add(f"entity {_quote(name)} opens but never closes", line)
        is_open = {id(mention) for _, _, mention in chain.from_iterable(self._open.values())}
        for label, mentions in self._discontinuous.items():
            for mention, of in mentions.incomplete:
                if id(mention) not in is_open:
                    found = f"a mention of entity {quote(label)} has only {len(mention.parts)} of its {of} parts"
                    self._problems.add(f"{found} (expected all of them in the same document)", mention.line)
        self._open.clear()
        self._discontinuous.clear()

    def take(self, line: int, token: int, cell: str, fields: Sequence[str]) -> None:
        """Read the value of a token, whose pieces have these fields."""
        pieces = list(PIECE.finditer(cell))
        if "".join(p[0] for p in pieces) != cell or not all(p[1] or p[3] for p in pieces):
            found = f"column 10: {quote(cell)} is not a valid Entity"
            self._problems.add(f"{found} (expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')", line)
            return
        for opens, text, closes in (piece.groups() for piece in pieces):
            if opens:
                values = dict(zip(fields, text.split("-", len(fields) - 1), strict=False))
                self._open_mention(line, token, values, closes=bool(closes))
            else:
                self._close_mention(line, token, text)

    def _open_mention(self, line: int, token: int, values: dict[str, str], *, closes: bool) -> None:
        text = next((values[name] for name in ENTITY_ID if name in values), "")
        name = parse_name(text)
        if not name:
            found = f"column 10: {quote(text)} is not a valid entity id"
            self._problems.add(f"{found} (expected ID or ID[PART/PARTS] with PART from 1 to PARTS)", line)
            return
        mention = self._find_mention(line, token, name)
        if mention is None:
            found = f"column 10: part {name.part} of {name.of} of entity {quote(name.label)}"
            self._problems.add(f"{found} without part {name.part - 1} of {name.of} before it", line)
            return
        self._take_head(line, mention, values.get("head"))
        mention.parts.append((token, token))
        if closes:
            self._close(line, token, name, mention)
        else:
            self._open[name.label].append((name, line, mention))

    def _find_mention(self, line: int, token: int, name: Name) -> Mention | None:
        if name.part > 1:
            return self._discontinuous[name.label].resume(name, token)
        self._n_opened += 1
        mention = Mention(self._n_opened, line)
        if name.of > 1:
            self._discontinuous[name.label].open(name, mention)
        return mention

    def _close_mention(self, line: int, token: int, text: str) -> None:
        name = parse_name(text)
        opened = self._open.get(name.label) if name else None
        if not name or not opened:
            self._problems.add(f"column 10: entity {quote(text)} closes but is not open", line)
            return
        found = next((i for i in reversed(range(len(opened))) if opened[i][0] == name), None)
        if found is None:
            self._problems.add(f"column 10: entity {quote(text)} closes but is not open", line)
            return
        if found != len(opened) - 1:
            last, its_line, _ = opened[-1]
            between = f"{_quote(last)}, which opens later (line {its_line}), is still open"
            self._problems.add(f"column 10: entity {quote(text)} closes while {between}", line)
        self._close(line, token, name, opened.pop(found)[2])

    def _take_head(self, line: int, mention: Mention, text: str | None) -> None:
        if not text:
            return
        if not NUMBER.fullmatch(text) or int(text) == 0:
            found = f"column 10: {quote(text)} is not a valid head"
            self._problems.add(f"{found} (expected the number of a token, from 1)", line)
        elif mention.head not in (0, int(text)):
            self._problems.add(f"column 10: the head is {text}, but {mention.head} in another part", line)
        else:
            mention.head = int(text)

    def _close(self, line: int, token: int, name: Name, mention: Mention) -> None:
        mention.parts[-1] = (mention.parts[-1][0], token)
        if name.of > 1 and (other := self._discontinuous[name.label].close(name, mention)):
            found = f"another mention of it, which opens later (line {other.line}), lacks parts"
            self._problems.add(f"column 10: entity {_quote(name)} closes while {found}", line)
        if name.part < name.of:
            return
        size = sum(end - start + 1 for start, end in mention.parts)
        if mention.head > size:
            found = f"column 10: the head of a mention of entity {_quote(name)} is token {mention.head}"
            self._problems.add(f"{found} (expected at most {size}, the number of its tokens)", mention.line)


def _quote(name: Name) -> str:
    """Quote an id with its part, if it has several."""
    return quote(f"{name.label}[{name.part}/{name.of}]" if name.of > 1 else name.label)
