"""Documents of a declared corpus of temporal links: read from its files, of TimeML or of pairs, as records of links.

Conventions: a file is read as `closeread score tlinks` reads it.  Texts are left out, so events and times match by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from closeread.corpus.declaration import NO_TRAITS, DocumentTraits
from closeread.exceptions import FormatError, Problem
from closeread.files import text_suffix
from closeread.formats import Format, FormatFolder
from closeread.formats.json_lines import SUFFIXES, read_json_lines
from closeread.records import Parsed, Record
from closeread.tasks.tlinks.documents import TimeMLDocuments, list_links, read_key


def read_files(
    files: Mapping[str, Path], split: str, *, traits: DocumentTraits = NO_TRAITS
) -> Parsed:
    """Read the documents of a split from its files, by their paths below the corpus's folder."""
    records: list[Record] = []
    places: list[str] = []
    problems: list[Problem] = []
    notices: list[Problem] = []
    for file, path in files.items():
        try:
            side = read_key(path)
        except FormatError as error:
            problems += [problem._replace(file=file) for problem in error.problems]
            continue
        texts = [notice.removeprefix(f"{path}: ") for notice in side.notices]
        notices += [Problem(text, file=file) for text in texts]
        for record in _list_records(side):
            if split not in traits.only or record["document"] in traits.only[split]:
                records.append(record)
                places.append(file)
    return Parsed(records, places, problems, notices)


def _list_records(side: TimeMLDocuments) -> list[Record]:
    """Return a record of each document, with all its links, whatever their relation."""
    return [
        {"document": name, "tlinks": list_links(document.tlinks)}
        for name, _, document in side.read()
    ]


def _read_path(path: Path, split: str = "") -> Parsed:
    """Read a user's own file of documents, or a folder of TimeML files."""
    del split
    if path.is_dir():
        return Parsed(_list_records(read_key(path)), None, [], [])
    if text_suffix(path) in SUFFIXES:
        return read_json_lines(path)
    return Parsed(_list_records(read_key(path)), None, [])


FORMAT = Format(_read_path, suffixes=SUFFIXES, folder=FormatFolder(read_files, _read_path))
