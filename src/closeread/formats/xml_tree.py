"""Read untrusted XML: elements with their lines, or one clear error.

Conventions: entities are never declared or fetched.  Any declaration in the document type is an error, which protects
against entity bombs and access to local files; a document type that only names a DTD, as in many released files, is
accepted and ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn
from xml.parsers import expat

from closeread import limits
from closeread.exceptions import FormatError, Problem, quote
from closeread.formats.text import UNSAFE, read_bytes

UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no text to write may contain: the characters that are refused in XML, by us or by XML itself."""

AROUND = 20
"""How many characters on each side of a wrong one are shown."""

SMALL = 2**16
"""The size, in bytes, up to which a file may have as many elements as it likes."""

DENSE = 16
"""The fewest bytes for each tag in larger files, on average: an element takes some 300 bytes of memory."""

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Element:
    """An element of a document.

    Attributes:
        name: its tag.
        attributes: name to value.
        line: the line where it begins, from 1.
        content: its children, elements and texts in order; texts are never adjacent.
    """

    name: str
    attributes: Mapping[str, str]
    line: int
    content: Sequence[Element | str] = ()

    def elements(self, name: str | None = None) -> Iterator[Element]:
        """Yield the child elements, or only those with a given name."""
        for child in self.content:
            if isinstance(child, Element) and name in (None, child.name):
                yield child

    def below(self, name: str) -> Iterator[Element]:
        """Yield all descendants with a given name, in document order."""
        for child in self.elements():
            if child.name == name:
                yield child
            yield from child.below(name)

    def text(self) -> str:
        """Return all text in it, in order."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.content)


def read_xml(path: Path) -> Element:
    """Read the root element of an XML file in UTF-8 or in its declared encoding.

    Raises:
        FormatError: the file can't be read (see `closeread.formats.text`), or as `parse_xml`.
    """
    return parse_xml(path, read_bytes(path))


def parse_xml(path: Path, data: bytes, encoding: str | None = None) -> Element:
    """Return the root element of the bytes of an XML file.

    Args:
        path: the file, for messages.
        data: its bytes.
        encoding: their encoding, whatever the file declares; None for the declared one, or UTF-8.

    Raises:
        FormatError: the file is not well-formed XML, is not in its declared encoding, declares entities, refers to
            files, contains control characters, is nested more than `limits.MAX_DEPTH` levels deep, or has a tag for
            less than `DENSE` bytes although it is not `SMALL`.
    """
    if len(data) > SMALL and (tags := data.count(b"<")) * DENSE > len(data):
        found = f"has {tags:,} tags in {len(data):,} bytes (expected at most one for every {DENSE} bytes)"
        raise FormatError(path, [Problem(found)])
    builder = _Builder(path, encoding)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        found = f"is not well-formed XML: {expat.errors.messages[error.code]} at column {error.offset + 1}"
        raise FormatError(path, [Problem(found, error.lineno)]) from None
    except FormatError:
        raise
    except (LookupError, ValueError):
        raise FormatError(path, [Problem("the encoding can't be read (expected UTF-8)", 1)]) from None
    return builder.root


def check_characters(text: str) -> None:
    """Check that the text of an XML file can be read again.

    Raises:
        ValueError: it contains a character that XML can't represent, or that `parse_xml` refuses.
    """
    if unsafe := UNWRITABLE.search(text):
        place = unsafe.start()
        around = quote(text[max(0, place - AROUND) : place + AROUND])
        raise ValueError(f"XML can't represent the character U+{ord(unsafe[0]):04X} (in {around})")


class _Builder:
    """Build the elements of a file while expat parses it, and reject what is not allowed.

    Args:
        path: the file, for messages.
        encoding: its encoding; None for the declared one.
    """

    def __init__(self, path: Path, encoding: str | None) -> None:
        self.path = path
        self.open_elements: list[Element] = []
        self.contents: list[list[Element | str]] = [[]]  # of the file, and of each of them
        self.line = 0  # one number for all elements of a line
        self.pieces: list[str] = []  # of the current text, which expat delivers in small buffers
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.declaration
        parser.AttlistDeclHandler = self.declaration
        parser.ElementDeclHandler = self.declaration
        parser.NotationDeclHandler = self.declaration
        parser.SkippedEntityHandler = self.skipped_entity

    @property
    def root(self) -> Element:
        """The root element, once the file has been parsed."""
        return next(one for one in self.contents[0] if isinstance(one, Element))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open_elements) == limits.MAX_DEPTH:
            self.refuse(f"element {quote(name)} is nested too deeply (expected at most {limits.MAX_DEPTH} levels)")
        for value in (name, *attributes, *attributes.values()):
            self.refuse_unsafe(value)
        self.end_of_text()
        if (line := self.parser.CurrentLineNumber) != self.line:
            self.line = line
        element = Element(name, attributes or _NO_ATTRIBUTES, self.line)
        self.contents[-1].append(element)
        self.open_elements.append(element)
        self.contents.append([])

    def end(self, name: str) -> None:
        del name
        self.end_of_text()
        element = self.open_elements.pop()
        if content := self.contents.pop():
            element.content = tuple(content)

    def characters(self, text: str) -> None:
        self.refuse_unsafe(text)
        self.pieces.append(text)

    def end_of_text(self) -> None:
        if self.pieces:
            self.contents[-1].append("".join(self.pieces))
            self.pieces.clear()

    def declaration(self, *declared: object) -> None:
        self.refuse(f"the document type declares {quote(str(declared[0]))} (expected XML without declarations)")

    def skipped_entity(self, name: str, is_parameter: bool) -> None:
        del is_parameter
        self.refuse(f"the entity {quote(name)} is not declared (expected the character itself)")

    def refuse_unsafe(self, text: str) -> None:
        if text.isprintable():  # ten times as fast, and true of nearly all texts
            return
        for unsafe in UNSAFE.finditer(text):
            if unsafe[0] not in "\t\n\r":
                self.refuse(f"the text {quote(text)} contains the control character U+{ord(unsafe[0]):04X}")

    def refuse(self, what: str) -> NoReturn:
        raise FormatError(self.path, [Problem(what, self.parser.CurrentLineNumber)])
