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
from closeread.formats.foreign import describe_foreign_file
from closeread.formats.text import UNSAFE, read_bytes

UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no text to write may contain: the characters that are refused in XML, by us or by XML itself."""

CONTEXT_CHARACTERS = 20  # on each side of a wrong one that are shown

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Element:
    """An element of a document.

    Attributes:
        name: its tag.
        attributes: their values by name.
        line: where it begins, from 1.
        content: its children and its texts, which are never adjacent.
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
    """Read the root element of an XML file in UTF-8 or in its declared encoding."""
    return parse_xml(path, read_bytes(path))


def parse_xml(path: Path, data: bytes, encoding: str | None = None) -> Element:
    """Return the root element of the bytes of an XML file, which is none of another tool.

    An encoding overrides the declared one.
    """
    foreign = describe_foreign_file(data)
    if foreign:
        raise FormatError(path, [Problem(foreign)])
    return build_tree(path, data, encoding)


def build_tree(path: Path, data: bytes, encoding: str | None = None) -> Element:
    """Return the root element of the bytes of an XML file, whichever tool it is of."""
    opened: list[Element] = []
    # of the file, and of each element that is open
    contents: list[list[Element | str]] = [[]]
    pieces: list[str] = []  # of the current text, which expat delivers in small buffers

    def refuse(message: str) -> NoReturn:
        raise FormatError(path, [Problem(message, parser.CurrentLineNumber)])

    def check(text: str) -> None:
        if text.isprintable():  # ten times as fast, and true of nearly all texts
            return
        for unsafe in UNSAFE.finditer(text):
            if unsafe[0] not in "\t\n\r":
                code = f"U+{ord(unsafe[0]):04X}"
                refuse(f"the text {quote(text)} contains the control character {code}")

    def end_text() -> None:
        if pieces:
            contents[-1].append("".join(pieces))
            pieces.clear()

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(opened) == limits.MAX_DEPTH:
            expected = f"expected at most {limits.MAX_DEPTH} levels"
            refuse(f"element {quote(name)} is nested too deeply ({expected})")
        for value in (name, *attributes, *attributes.values()):
            check(value)
        end_text()
        element = Element(name, attributes or _NO_ATTRIBUTES, parser.CurrentLineNumber)
        contents[-1].append(element)
        opened.append(element)
        contents.append([])

    def end(name: str) -> None:
        end_text()
        opened.pop().content = tuple(contents.pop())

    def add_text(text: str) -> None:
        check(text)
        pieces.append(text)

    def declare(name: object, *_: object) -> None:
        expected = "expected XML without declarations"
        refuse(f"the document type declares {quote(str(name))} ({expected})")

    def skip(name: str, is_parameter: bool) -> None:
        refuse(f"the entity {quote(name)} is not declared (expected the character itself)")

    try:
        parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = add_text
        parser.EntityDeclHandler = parser.AttlistDeclHandler = declare
        parser.ElementDeclHandler = parser.NotationDeclHandler = declare
        parser.SkippedEntityHandler = skip
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"{expat.errors.messages[error.code]} at column {error.offset + 1}"
        problem = Problem(f"is not well-formed XML: {message}", error.lineno)
        raise FormatError(path, [problem]) from None
    except FormatError:
        raise
    except (LookupError, ValueError):
        problem = Problem("the encoding can't be read (expected UTF-8)", 1)
        raise FormatError(path, [problem]) from None
    return next(root for root in contents[0] if isinstance(root, Element))


def check_characters(text: str) -> None:
    """Raise a ValueError if the text of an XML file could not be read again."""
    unsafe = UNWRITABLE.search(text)
    if unsafe is not None:
        start = max(0, unsafe.start() - CONTEXT_CHARACTERS)
        around = quote(text[start : unsafe.start() + CONTEXT_CHARACTERS])
        raise ValueError(f"XML can't represent the character U+{ord(unsafe[0]):04X} (in {around})")
