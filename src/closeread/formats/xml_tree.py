"""Read untrusted XML: elements with their lines, or one clear error.

Conventions: entities are never declared or fetched.  Any declaration in the document type is an error, which protects
against entity bombs and access to local files; a document type that only names a DTD, as in many released files, is
accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from closeread import limits
from closeread.errors import FormatError, Problem, quote
from closeread.formats.text import UNSAFE, read_bytes

__all__ = ["Element", "parse_xml", "read_xml"]


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
    attributes: dict[str, str]
    line: int
    content: list[Element | str] = field(default_factory=list)

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
            files, contains control characters, or is nested more than `limits.MAX_DEPTH` levels deep.
    """
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
    return next(builder.top.elements())


class _Builder:
    """Build the elements of a file while expat parses it, and reject what is not allowed.

    Args:
        path: the file, for messages.
        encoding: its encoding; None for the declared one.
    """

    def __init__(self, path: Path, encoding: str | None) -> None:
        self.path = path
        self.top = Element("", {}, 0)
        self.open_elements = [self.top]
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

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open_elements) > limits.MAX_DEPTH:
            self.refuse(f"element {quote(name)} is nested too deeply (expected at most {limits.MAX_DEPTH} levels)")
        for value in (name, *attributes, *attributes.values()):
            self.refuse_unsafe(value)
        self.end_of_text()
        element = Element(name, attributes, self.parser.CurrentLineNumber)
        self.open_elements[-1].content.append(element)
        self.open_elements.append(element)

    def end(self, name: str) -> None:
        del name
        self.end_of_text()
        self.open_elements.pop()

    def characters(self, text: str) -> None:
        self.refuse_unsafe(text)
        self.pieces.append(text)

    def end_of_text(self) -> None:
        if self.pieces:
            self.open_elements[-1].content.append("".join(self.pieces))
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
