"""Genres of documents: from `genres.tsv`, or from what the paper prints.

Source: Schüller et al. (2018), Tables 1 and 2: the tokens of these documents sum up to those of their genre (Article:
one off).  Those of the others, short stories and novels, can't be told apart in this way.

Conventions: `genres.tsv` has a header; its first two columns are a document and its genre, others are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, join_names, pluralize, quote
from closeread.formats.text import read_lines
from closeread.suggestions import suggest

GENRES = ("News", "Short Story", "Novel", "Essay", "Research Monograph", "Article", "Travel", "Other")
"""The genres, as Table 1 lists them."""

KNOWN_GENRES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("20200000", "20210000", "20270000", "20580000", "20710000"), "News"),
        **dict.fromkeys(("20970000", "21040000", "22080000", "22280000"), "News"),
        **dict.fromkeys(("00009123", "00142211"), "Essay"),
        **dict.fromkeys(("00095233", "00111211"), "Research Monograph"),
        **dict.fromkeys(("00016112", "00038121", "00044121"), "Article"),
        "00220166": "Travel",
        "00131266": "Other",
    }
)
"""The genre of a document, where it follows from the printed sums."""


class Genres(NamedTuple):
    """The genres of documents.

    Attributes:
        by_document: the genre of every document; None where it is unknown.
        problems: what is wrong with the file.
        notices: what is odd about it.
    """

    by_document: Mapping[str, str | None]
    problems: list[Problem]
    notices: list[Problem]


def find_genres(documents: Collection[str], path: Path | None, name: str = "genres.tsv") -> Genres:
    """Find the genres of documents.

    Args:
        documents: their names.
        path: the file of genres; None if there is none.
        name: what messages call the file.
    """
    genres = {document: KNOWN_GENRES.get(document.partition("_")[0]) for document in documents}
    if path is None:
        return Genres(genres, [], [])
    try:
        lines = read_lines(path)
    except FormatError as error:
        return Genres(genres, [problem._replace(file=name) for problem in error.problems], [])
    problems, notices = _read_rows(lines, documents, genres)
    placed = [[one._replace(file=name) for one in found] for found in (problems, notices)]
    return Genres(genres, *placed)


def _read_rows(
    lines: Iterable[str], documents: Collection[str], genres: dict[str, str | None]
) -> tuple[list[Problem], list[Problem]]:
    """Set the genres of documents to those of a file's rows; return errors and oddities."""
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    seen: dict[str, int] = {}
    for line, text in enumerate(lines, start=1):
        document, *others = (cell.strip() for cell in text.split("\t"))
        if line == 1:
            if document in documents or not others:
                problems.append(Problem(f"has no header: {quote(text)} (expected document TAB genre)", line))
            continue
        if not text.strip():
            continue
        if not others:
            problems.append(Problem(f"{quote(text)} has one column (expected document TAB genre)", line))
            continue
        if document in seen:
            what = f"document {quote(document)} already has a genre on line {seen[document]}"
            problems.append(Problem(what, line))
        elif document not in documents and document.partition("_")[0] in documents:
            what = f"document {quote(document)} is not cut off here, so its genre is not used"
            notices.append(Problem(what, line))
        elif document not in documents:
            problems.append(Problem(f"document {quote(document)} is not in the corpus", line))
        if others[0] not in GENRES:
            what = f"genre {quote(others[0])} is not one of {', '.join(GENRES)}.{suggest(others[0], GENRES)}"
            problems.append(Problem(what, line))
        seen.setdefault(document, line)
        if document in genres and others[0] in GENRES:
            genres[document] = others[0]
    missing = [document for document in documents if document not in seen]
    if missing:
        notices.append(Problem(f"{pluralize(len(missing), 'document')} without a row: {join_names(missing)}"))
    return problems, notices
