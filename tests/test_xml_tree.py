"""XML files that may be anything."""

from __future__ import annotations

from pathlib import Path

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
