"""Extract the documents of the treebank from the fragments in which it is distributed.

Source: Schüller et al. (2018), who split one of the treebank's 32 ids into two documents; which one is not told, so
that users say where a document begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from closeread.exceptions import FormatError, Problem, quote
from closeread.files import creating_folder
from closeread.formats.folders import find_unwritable, list_files
from closeread.formats.text import read_bytes
from closeread.formats.xml_tree import check_characters
from closeread.tasks.marmara.treebank import (
    Sentence,
    XmlReader,
    get_form,
    limit_notices,
    number_names,
)

SUFFIX = ".xml"
ORDER = ("IX", "LEM", "MORPH", "IG", "REL")
"""The order of the attributes of a word; others follow as they stand."""


def extract(
    folder: Path, splits: Iterable[str] = ()
) -> tuple[Mapping[str, Sequence[Sentence]], list[Problem]]:
    """Extract the documents of a folder of fragments, which are all files ending in `.xml`.

    Args:
        folder: the folder.
        splits: the numbers of sentences that begin a new document.

    Returns:
        The sentences of every document by its name, in order, and oddities of the fragments, with their files.
    """
    files, misfits, notices = list_files(folder, "fragment", SUFFIX)
    if not files:
        raise FormatError(
            folder, [Problem(f"contains no fragment (expected files ending in {SUFFIX})")]
        )
    reader = XmlReader()
    for misfit in misfits:
        reader.notices.append(Problem(f"is ignored: {misfit.message}", None, misfit.file))
    reader.notices += notices
    read: dict[str, tuple[Path, bytes]] = {}
    for name, path in files.items():
        try:
            read[name] = (path, read_bytes(path))
        except FormatError as error:
            reader.problems += [problem._replace(file=name) for problem in error.problems]
    unsplit = reader.read_fragments(read)
    reader.check_numbers(unsplit.values())
    documents = split_documents(unsplit, splits, reader.problems)
    if not documents and not reader.problems:
        reader.problems.append(Problem("contains no words"))
    if reader.problems:
        raise FormatError(folder, sorted(reader.problems, key=lambda problem: problem.order))
    return documents, limit_notices(reader.notices, "the fragments")


def split_documents(
    documents: Mapping[str, Sequence[Sentence]], splits: Iterable[str], problems: list[Problem]
) -> dict[str, Sequence[Sentence]]:
    """Split documents before the sentences of these numbers; the parts of NAME are NAME, NAME_2, NAME_3 and so on.

    Unknown sentences, and those at the start of a document, are added to the problems.
    """
    unused = dict.fromkeys(splits)
    parts: dict[str, Sequence[Sentence]] = {}
    for name, sentences in documents.items():
        starts = [place for place, sentence in enumerate(sentences) if sentence.number in unused]
        for place in starts:
            del unused[sentences[place].number]
        if starts and not starts[0]:
            what = f"sentence {quote(sentences[0].number)} is the first of document {quote(name)}"
            problems.append(Problem(f"{what} (expected one that begins a new document)"))
        ends = [*starts, len(sentences)]
        for part, start, end in zip(
            number_names([name] * len(ends)), [0, *starts], ends, strict=True
        ):
            if start < end:
                parts[part] = sentences[start:end]
    problems += [
        Problem(f"there is no sentence {quote(number)} that a document could begin with")
        for number in unused
    ]
    return parts


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
