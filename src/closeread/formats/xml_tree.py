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

AROUND = 20  # how many characters on each side of a wrong one are shown

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Element:
    """An element of a document."""

    name: str
    attributes: Mapping[str, str]
    line: int  # where it begins, from 1
    content: Sequence[Element | str] = ()  # texts are never adjacent

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
    """Return the root element of the bytes of an XML file; an encoding overrides the declared one."""
    if foreign := describe_foreign_file(data):
        raise FormatError(path, [Problem(foreign)])
    opened: list[Element] = []
    contents: list[list[Element | str]] = [[]]  # of the file, and of each of them
    pieces: list[str] = []  # of the current text, which expat delivers in small buffers

    def refuse(what: str) -> NoReturn:
        raise FormatError(path, [Problem(what, parser.CurrentLineNumber)])

    def check(text: str) -> None:
        if text.isprintable():  # ten times as fast, and true of nearly all texts
            return
        for unsafe in UNSAFE.finditer(text):
            if unsafe[0] not in "\t\n\r":
                refuse(
                    f"the text {quote(text)} contains the control character U+{ord(unsafe[0]):04X}"
                )

    def end_text() -> None:
        if pieces:
            contents[-1].append("".join(pieces))
            pieces.clear()

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(opened) == limits.MAX_DEPTH:
            refuse(
                f"element {quote(name)} is nested too deeply (expected at most {limits.MAX_DEPTH} levels)"
            )
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

    def declare(*declared: object) -> None:
        refuse(
            f"the document type declares {quote(str(declared[0]))} (expected XML without declarations)"
        )

    def skip(name: str, is_parameter: bool) -> None:
        refuse(f"the entity {quote(name)} is not declared (expected the character itself)")

    try:
        parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = (
            start,
            end,
            add_text,
        )
        parser.EntityDeclHandler = parser.AttlistDeclHandler = declare
        parser.ElementDeclHandler = parser.NotationDeclHandler = declare
        parser.SkippedEntityHandler = skip
        parser.Parse(data, True)
    except expat.ExpatError as error:
        found = f"is not well-formed XML: {expat.errors.messages[error.code]} at column {error.offset + 1}"
        raise FormatError(path, [Problem(found, error.lineno)]) from None
    except FormatError:
        raise
    except (LookupError, ValueError):
        raise FormatError(
            path, [Problem("the encoding can't be read (expected UTF-8)", 1)]
        ) from None
    return next(one for one in contents[0] if isinstance(one, Element))


def check_characters(text: str) -> None:
    """Raise a ValueError if the text of an XML file could not be read again."""
    if unsafe := UNWRITABLE.search(text):
        place = unsafe.start()
        around = quote(text[max(0, place - AROUND) : place + AROUND])
        raise ValueError(f"XML can't represent the character U+{ord(unsafe[0]):04X} (in {around})")
