"""XML files that may be anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from closeread.exceptions import FormatError
from closeread.formats.xml_tree import read_xml


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_elements_with_lines_and_mixed_content(tmp_path: Path) -> None:
    root = read_xml(written(tmp_path, '<a>\n<b n="1">x<!-- no -->y<c/>z</b>\n<b/></a>'))
    first, second = root.below("b")
    assert (root.name, root.line, first.line, second.line) == ("a", 1, 2, 3)
    assert (first.attributes, first.content[0], first.text()) == ({"n": "1"}, "xy", "xyz")
    assert [e.name for e in root.elements()] == ["b", "b"]


def test_a_document_type_by_name_alone_is_let_through(tmp_path: Path) -> None:
    assert (
        read_xml(written(tmp_path, '<!DOCTYPE TimeML SYSTEM "TimeML.dtd">\n<TimeML/>')).name
        == "TimeML"
    )


def test_other_encodings_that_are_declared_are_read(tmp_path: Path) -> None:
    data = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1")
    assert read_xml(written(tmp_path, data)).text() == "é"


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]>\n<a>&y;</a>'
BROKEN = {
    "entity bomb": (BOMB, "1: the document type declares 'x'"),
    "external entity": (
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        "1: the document type declares 'x'",
    ),
    "unknown entity": ("<a>\n&x;</a>", "2: is not well-formed XML: undefined entity"),
    "entity of a document type elsewhere": (
        '<!DOCTYPE a SYSTEM "a.dtd"><a>\n&x;</a>',
        "2: the entity 'x' is not declared",
    ),
    "not closed": ("<a>\n<b></a>", "2: is not well-formed XML: mismatched tag"),
    "no XML": ("hello", "1: is not well-formed XML: syntax error"),
    "wrong encoding": (
        b"<a>\xe9</a>",
        "1: is not well-formed XML: not well-formed (invalid token)",
    ),
    "unknown encoding": (
        '<?xml version="1.0" encoding="none"?><a/>',
        "1: the encoding can't be read (expected UTF-8)",
    ),
    "too deep": ("<a>" * 101 + "</a>" * 101, "1: element 'a' is nested too deeply"),
    "control character": (
        "<a>\x85</a>",
        "1: the text '\\x85' contains the control character U+0085",
    ),
    "empty": ("", " is empty"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_bad_files_are_refused_with_the_line(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    with pytest.raises(FormatError) as caught:
        read_xml(written(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'file.xml'}:{message}")
