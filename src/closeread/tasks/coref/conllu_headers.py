"""The comments of CoNLL-U files that matter: where documents begin, and which fields entities have.

Conventions: a document begins at ``# newdoc id = NAME``, or at ``# newdoc``; its name is then its number in the file,
from 1.  A file without any of these is document 1.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.conllu_misc import UNDECLARED, MiscReader
from closeread.tasks.coref.conllu_rows import SPACE, TAB, Rows

N, D, G, B = b"ndgb"
"""The first and fourth letters of the headers' names."""

HEADER = re.compile(r"#[ \t]*(newdoc|global\.Entity)(?![^\s=])")
NEWDOC = re.compile(r"#[ \t]*newdoc(?:[ \t]*|(?:[ \t]+id)?[ \t]*=[ \t]*+(.*[^ \t\n]|)[ \t]*)")
GLOBAL_ENTITY = re.compile(r"#[ \t]*global\.Entity(?:[ \t]*=[ \t]*+(.*[^ \t\n]|))?[ \t]*")


class Document(NamedTuple):
    """A document of the file, which ends where the next one begins.

    Attributes:
        name: its name.
        is_numbered: whether that is its number, since the file has no name for it.
        header: the line of its header, or its first line if it has none.
        line: its first line after the header.
        begin: the position of that line.
    """

    name: str
    is_numbered: bool
    header: int
    line: int
    begin: int


class HeaderReader:
    """Reader of the headers of a file.

    Args:
        begin, end: the position of the first line, and the end of the file.
        misc: reader of the last column, which uses the declarations.
        problems: collects the problems.

    Attributes:
        documents: the documents.
    """

    def __init__(self, begin: int, end: int, misc: MiscReader, problems: Problems) -> None:
        self.documents: list[Document] = []
        self._begin, self._end = begin, end
        self._misc = misc
        self._problems = problems
        self._seen: dict[str, int] = {}  # the line of each document's header
        self._n_headers = 0
        self._outside: int | None = None  # the line of the first token, if it is before the first header
        self._declared = UNDECLARED

    def take(self, rows: Rows) -> tuple[Ints, Ints]:
        """Read a block.

        Returns:
            The lines, in the block, at which a document begins; and the number of the declaration that applies to each
            row.
        """
        headers = [(line, text, match[1]) for line, text in _comments(rows) if (match := HEADER.match(text))]
        newdocs = [(line, text) for line, text, name in headers if name == "newdoc"]
        if not self.documents and len(rows.lines) and (not newdocs or rows.lines[0] < newdocs[0][0]):
            self._outside = rows.line + int(rows.lines[0])
            self.documents.append(Document("1", True, 1, 1, self._begin))
        for line, text in newdocs:
            after = int(rows.begin[line + 1]) if line + 1 < len(rows.begin) else len(rows.raw)
            begin = min(rows.offset + after, self._end)  # the last line of the file may lack a line end
            self._begin_document(rows.line + line, text, begin)
        declarations = [(line, text) for line, text, name in headers if name != "newdoc"]
        numbers = [self._declared, *(self._declare(rows.line + line, text) for line, text in declarations)]
        self._declared = numbers[-1]
        which = np.searchsorted(np.array([line for line, _ in declarations], np.int64), rows.lines)
        return np.array([line for line, _ in newdocs], np.int64), np.array(numbers)[which]

    def finish(self) -> None:
        """Handle the end of the file."""
        if self._outside and self._n_headers:
            self._problems.add("token outside a document (expected '# newdoc id = NAME' before it)", self._outside)
        if not self.documents and not self._problems.total:
            self._problems.add("contains no document (expected '# newdoc id = NAME' before the first sentence)")

    def _begin_document(self, line: int, text: str, begin: int) -> None:
        self._n_headers += 1
        match = NEWDOC.fullmatch(text)
        is_numbered = match is not None and match[1] is None
        name = str(self._n_headers) if is_numbered else (match[1] if match else "")
        self.documents.append(Document(name, is_numbered, line, line + 1, begin))
        if not name:
            found = "document without a name" if match else f"{quote(text)} is not valid"
            self._problems.add(f"{found} (expected '# newdoc id = NAME')", line)
        elif unsafe := UNSAFE.search(name):
            found = f"document name {quote(name)} contains the control character U+{ord(unsafe[0]):04X}"
            self._problems.add(found, line)
        elif (before := self._seen.setdefault(name, line)) != line:
            number = "; a document without an id is named by its number" if is_numbered else ""
            self._problems.add(f"duplicate document {quote(name)} (first on line {before}){number}", line)

    def _declare(self, line: int, text: str) -> int:
        match = GLOBAL_ENTITY.fullmatch(text)
        return self._misc.declare(line, (match[1] or "") if match else text)


def _comments(rows: Rows) -> list[tuple[int, str]]:
    """List the comments that may be headers, with their lines in the block."""
    lines = np.flatnonzero(rows.is_comment)
    name = rows.begin[lines] + 1
    name += rows.raw.take(name, mode="clip") == SPACE
    first, fourth = (rows.raw.take(name + i, mode="clip") for i in (0, 3))
    lines = lines[((first == N) & (fourth == D)) | ((first == G) & (fourth == B)) | (first == SPACE) | (first == TAB)]
    columns = (column[lines].tolist() for column in (rows.begin, rows.end))
    return [(line, rows.text(*span).decode()) for line, *span in zip(lines.tolist(), *columns, strict=True)]
