"""Extract the documents of the treebank from the fragments in which it is distributed.

Source: Schüller et al. (2018), who split one of the treebank's 32 ids into two documents; which one is not told, so
that users say where a document begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from closeread.exceptions import FormatError, Problem, quote
from closeread.files import creating_folder
from closeread.formats.folders import find_unwritable, list_files
from closeread.formats.xml_tree import check_characters
from closeread.tasks.marmara.documents import Notes
from closeread.tasks.marmara.treebank import (
    Sentence,
    check_numbers,
    get_form,
    limit_notices,
    number_names,
    read_files,
    read_fragments,
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
    notes = Notes()
    for misfit in misfits:
        notes.notices.append(Problem(f"is ignored: {misfit.message}", None, misfit.file))
    notes.notices.extend(notices)
    unsplit = read_fragments(read_files(files, notes), notes)
    check_numbers(unsplit.values(), notes)
    documents = split_documents(unsplit, splits, notes)
    if not documents and not notes.problems:
        notes.report("contains no words")
    notes.problems.raise_any(folder)
    return documents, limit_notices(notes.notices, "the fragments")


def split_documents(
    documents: Mapping[str, Sequence[Sentence]], splits: Iterable[str], notes: Notes
) -> dict[str, Sequence[Sentence]]:
    """Split documents before the sentences of these numbers; the parts of NAME are NAME, NAME_2, NAME_3 and so on.

    Unknown sentences, and those at the start of a document, are errors.
    """
    unused = dict.fromkeys(splits)
    parts: dict[str, Sequence[Sentence]] = {}
    for name, sentences in documents.items():
        starts = [place for place, sentence in enumerate(sentences) if sentence.number in unused]
        for place in starts:
            del unused[sentences[place].number]
        if 0 in starts:
            message = (
                f"sentence {quote(sentences[0].number)} is the first of document {quote(name)}"
            )
            notes.report(f"{message} (expected one that begins a new document)")
        borders = [0, *starts, len(sentences)]
        part_names = number_names([name] * (len(starts) + 1))
        for part_name, (start, end) in zip(part_names, pairwise(borders), strict=True):
            if start < end:
                parts[part_name] = sentences[start:end]
    for number in unused:
        notes.report(f"there is no sentence {quote(number)} that a document could begin with")
    return parts


def write_documents(folder: Path, documents: Mapping[str, Sequence[Sentence]]) -> None:
    """Write documents into a new or an empty folder, a file each; all or none."""
    problems = find_unwritable(documents, SUFFIX)
    if problems:
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
            tag = "<W"
            for name in dict.fromkeys([*ORDER, *word.attributes]):
                if name in word.attributes:
                    tag += f" {name}={_dump_value(word.attributes[name])}"
            lines.append(f"{tag}> {escape(get_form(word))} </W>")
        lines.append("</S>")
    text = "\n".join([*lines, "</Set>", ""])
    check_characters(text)
    return text


def _dump_value(value: str) -> str:
    """Return an attribute's value in quotes: in double ones unless these occur in it, as in the groups of a word."""
    escaped = escape(value, {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
    return "'{}'".format(escaped.replace("'", "&apos;")) if '"' in value else f'"{escaped}"'
