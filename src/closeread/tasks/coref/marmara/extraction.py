"""Extract the documents of the treebank from the fragments in which it is distributed.

Source: Schüller et al. (2018), who split one of the treebank's 32 ids into two documents; which one is not told, so
that users say where a document begins, or name the document of every fragment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.files import creating_folder
from closeread.formats.folders import find_unwritable, list_files
from closeread.formats.text import read_bytes, read_lines
from closeread.formats.xml_tree import check_characters
from closeread.tasks.coref.marmara.treebank import (
    AUTO,
    FRAGMENT,
    Sentence,
    XmlReader,
    get_form,
    limit_notices,
    number_names,
)

SUFFIX = ".xml"
DOCUMENT = re.compile(r"\w[\w.-]{0,99}")
"""The name of a document, and of its file."""

ORDER = ("IX", "LEM", "MORPH", "IG", "REL")
"""The order of the attributes of a word; others follow as they stand."""


def extract(
    folder: Path,
    *,
    encoding: str = AUTO,
    splits: Iterable[str] = (),
    documents: Mapping[str, str] | None = None,
) -> tuple[Mapping[str, Sequence[Sentence]], list[Problem]]:
    """Extract the documents of a folder of fragments, which are all files ending in `.xml`.

    The encoding is `decode`'s; `splits` are the numbers of sentences that begin a new document; `documents` has the
    document of each fragment, if it is not the one in its name.

    Returns:
        The sentences of every document by its name, in order, and oddities of the fragments, with their files.
    """
    files, misfits, others = list_files(folder, "fragment", SUFFIX)
    if not files:
        raise FormatError(
            folder, [Problem(f"contains no fragment (expected files ending in {SUFFIX})")]
        )
    reader = XmlReader()
    reader.notices += [Problem(f"is ignored: {one.what}", None, one.file) for one in misfits]
    reader.notices += others
    read: dict[str, tuple[Path, bytes]] = {}
    for name, path in files.items():
        try:
            read[name] = (path, read_bytes(path))
        except FormatError as error:
            reader.problems += [problem._replace(file=name) for problem in error.problems]
    found = reader.read_fragments(read, encoding, documents)
    reader.check_numbers(found.values())
    split = split_documents(found, splits, reader.problems)
    if not split and not reader.problems:
        reader.problems.append(Problem("contains no words"))
    if reader.problems:
        raise FormatError(folder, sorted(reader.problems, key=lambda problem: problem.order))
    fragments = {name.removesuffix(SUFFIX) for name in files}
    for fragment in (fragment for fragment in documents or () if fragment not in fragments):
        reader.notices.append(
            Problem(f"the map names fragment {quote(fragment)}, which has no file")
        )
    return split, limit_notices(reader.notices, "the fragments")


def split_documents(
    documents: Mapping[str, Sequence[Sentence]], splits: Iterable[str], problems: list[Problem]
) -> dict[str, Sequence[Sentence]]:
    """Split documents before the sentences of these numbers; the parts of NAME are NAME, NAME_2, NAME_3 and so on.

    Unknown sentences, and those at the start of a document, are added to the problems.
    """
    left = dict.fromkeys(splits)
    parts: dict[str, Sequence[Sentence]] = {}
    for name, sentences in documents.items():
        starts = [place for place, sentence in enumerate(sentences) if sentence.number in left]
        for place in starts:
            del left[sentences[place].number]
        if starts and not starts[0]:
            what = f"sentence {quote(sentences[0].number)} is the first of document {quote(name)}"
            problems.append(Problem(f"{what} (expected one that begins a new document)"))
        ends = [*starts, len(sentences)]
        for part, start, end in zip(
            number_names([name] * len(ends)), [0, *starts], ends, strict=True
        ):
            if part in parts or (part != name and part in documents):
                problems.append(
                    Problem(f"document {quote(part)} exists already (expected another name for it)")
                )
            elif start < end:
                parts[part] = sentences[start:end]
    problems += [
        Problem(f"there is no sentence {quote(number)} that a document could begin with")
        for number in left
    ]
    return parts


def read_map(path: Path) -> dict[str, str]:
    """Read the document of each fragment: rows of a fragment and a document, separated by a tab."""
    documents: dict[str, str] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = ProblemList()
    for line, text in enumerate(read_lines(path), start=1):
        if not text.strip():
            continue
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) != 2:
            problems.append(
                Problem(f"{quote(text)} is not a fragment and a document, separated by a tab", line)
            )
            continue
        fragment, document = cells
        if FRAGMENT.fullmatch(fragment) is None:
            problems.append(
                Problem(
                    f"{quote(fragment)} is not a fragment (expected a name such as 77000112003)",
                    line,
                )
            )
        if DOCUMENT.fullmatch(document) is None:
            what = f"{quote(document)} is not a document's name (expected letters, digits, '_', '-' and '.')"
            problems.append(Problem(what, line))
        if lines.setdefault(fragment, line) != line:
            problems.append(
                Problem(f"fragment {quote(fragment)} is already on line {lines[fragment]}", line)
            )
        documents[fragment] = document
    if problems:
        raise FormatError(path, problems)
    return documents


def write_documents(folder: Path, documents: Mapping[str, Sequence[Sentence]]) -> None:
    """Write documents into a new or an empty folder, a file each; all or none."""
    if problems := find_unwritable(documents, SUFFIX):
        raise FormatError(folder, problems)
    with creating_folder(folder) as partial:
        for name, sentences in documents.items():
            (partial / f"{name}{SUFFIX}").write_text(dump_document(sentences), "utf-8", newline="")


def dump_document(sentences: Sequence[Sentence]) -> str:
    """Return a document as the text of an extracted file; a ValueError if XML can't represent a character."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<Set sentences="{len(sentences)}">']
    for sentence in sentences:
        lines.append(f"<S No={_dump_value(sentence.number)}>")
        for word in sentence.words.values():
            names = [*(name for name in ORDER if name in word.attributes), *word.attributes]
            attributes = "".join(
                f" {name}={_dump_value(word.attributes[name])}" for name in dict.fromkeys(names)
            )
            lines.append(f"<W{attributes}> {escape(get_form(word))} </W>")
        lines.append("</S>")
    text = "\n".join([*lines, "</Set>", ""])
    check_characters(text)
    return text


def _dump_value(value: str) -> str:
    """Return an attribute's value in quotes: in double ones unless these occur in it, as in the groups of a word."""
    escaped = escape(value, {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
    return "'{}'".format(escaped.replace("'", "&apos;")) if '"' in value else f'"{escaped}"'
