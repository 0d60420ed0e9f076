"""A folder with the texts of articles, and what they were fetched from.

Conventions: the text of an article is `<title>.txt`, as the loader expects it.  `manifest.jsonl` has a row for each:
its title, the day, the API, the page's title today and how it was found, the numbers of the page and of the revision,
when that was saved, the name of the file and the sha256 of its bytes.  An article is fetched unless its text is there
and is the one of its row.  Texts and manifest are always complete, so that an interrupted run is continued by another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from closeread.corpus.downloads import DownloadError
from closeread.corpus.sources import file_digest
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    RequestError,
    UnavailableError,
    pluralize,
    quote,
    quote_json,
)
from closeread.files import make_folders, write_text
from closeread.formats.folders import LONGEST_NAME, find_collisions
from closeread.formats.json_lines import dump_json_lines, read_json_lines
from closeread.tasks.wikipossessions.mediawiki import NoWikiError, RefusedError, Wiki
from closeread.tasks.wikipossessions.wiki_pages import MOVED, NoPageError, Page, fetch_page
from closeread.wording import name_option

MANIFEST = "manifest.jsonl"
FIELDS = ("title", "day", "api", "page", "found", "page_id", "revision", "timestamp", "file", "sha256")

Row = Mapping[str, Any]
Track = Callable[[Sequence[str]], Iterable[str]]


@dataclass(frozen=True)
class Fetched:
    """What a run fetched.

    Attributes:
        rows: the rows of the manifest for the titles asked for, in their order.
        new: the number of articles that were fetched now.
    """

    rows: tuple[Row, ...]
    new: int

    @property
    def notes(self) -> list[str]:
        """What to tell of titles that are now those of other pages, or of none."""
        return [_describe_other_title(row) for row in self.rows if row["found"]]


def fetch_articles(titles: Sequence[str], folder: Path, day: date, wiki: Wiki, track: Track) -> Fetched:
    """Fetch the texts of articles that are not in a folder yet, as they were at the end of a day.

    Args:
        titles: their titles, without repetition.
        folder: where the texts are, and where they are written; it need not exist.
        day: the day, in UTC.
        wiki: where to fetch them from.
        track: returns the titles to fetch, one after another, and may show the progress.

    Raises:
        RequestError: the folder holds articles of another day or wiki, or texts that are not in its manifest.
        FormatError: the manifest can't be read.
        UnavailableError: some articles can't be fetched; all others are there, unless the wiki can't be reached.
        OSError: the folder can't be written.
    """
    problems = [Problem(f"{quote(title)} {what}") for title in titles for what in _find_unwritable(title)]
    rows = _read_manifest(folder, day, wiki.url)
    collisions = find_collisions(titles)
    for title, first in collisions.items():
        what = f"{quote(title)} and {quote(first)} can't both be names of files: they differ only in case or accents"
        problems.append(Problem(what))
    wanted = [title for title in titles if title not in collisions and not _find_unwritable(title)]
    missing = _find_missing(folder, wanted, rows)
    new = 0
    make_folders(folder)
    for title in track(missing):
        try:
            page = fetch_page(wiki, title, day)
        except (NoPageError, RefusedError) as error:
            problems.append(
                Problem(f"{quote(title)} {error}" if isinstance(error, NoPageError) else f"{quote(title)}: {error}")
            )
        except DownloadError as error:
            there = f"{len(wanted) - len(missing) + new:,} of {len(titles):,} articles are in {folder}"
            again = (
                f"check {name_option('api')}"
                if isinstance(error, NoWikiError)
                else "run the same command again to fetch the others"
            )
            problems.append(Problem(f"{error}; {there}: {again}"))
            break
        else:
            _keep(folder, rows, _make_row(title, day, wiki.url, page), page.text)
            new += 1
    if problems:
        raise UnavailableError(wiki.url, problems)
    return Fetched(tuple(rows[title] for title in titles), new)


def name_file(title: str) -> str:
    """Return the name of the file with the text of an article."""
    return f"{title}.txt"


def _find_unwritable(title: str) -> list[str]:
    """Find why a title can't be the name of a file."""
    if "/" in title or "\\" in title or "\0" in title:
        return ["contains a slash, so that it can't be the name of a file"]
    size = len(name_file(title).encode("utf-8", "surrogatepass"))
    return (
        [f"is too long for the name of a file: {size:,} bytes (limit: {LONGEST_NAME})"] if size > LONGEST_NAME else []
    )


def _find_missing(folder: Path, titles: Sequence[str], rows: Mapping[str, Row]) -> list[str]:
    """Return the titles whose texts are not in the folder.

    Raises:
        RequestError: some texts are not those of the manifest.
    """
    there = [title for title in titles if (folder / name_file(title)).exists()]
    other = [
        title for title in there if title not in rows or file_digest(folder / name_file(title)) != rows[title]["sha256"]
    ]
    if other:
        names = ", ".join(quote(name_file(title)) for title in other[:3]) + (", …" if len(other) > 3 else "")
        as_is, them = ("it is", "it") if len(other) == 1 else ("they are", "them")
        found = f"{folder} has {pluralize(len(other), 'text')} that {MANIFEST} does not list as {as_is}"
        raise RequestError(f"{found}: {names}; move {them} away, or choose another folder")
    return [title for title in titles if title not in set(there)]


def _make_row(title: str, day: date, api: str, page: Page) -> Row:
    values = (page.title, page.found, page.page_id, page.revision, page.timestamp, name_file(title))
    digest = hashlib.sha256(page.text.encode("utf-8")).hexdigest()
    return dict(zip(FIELDS, (title, day.isoformat(), api, *values, digest), strict=True))


def _keep(folder: Path, rows: dict[str, Row], row: Row, text: str) -> None:
    """Write a text and its row: the row first, since a text without a row may be the user's own."""
    rows[row["title"]] = row
    write_text(folder / MANIFEST, dump_json_lines(map(dict, rows.values())))
    write_text(folder / row["file"], text)


def _read_manifest(folder: Path, day: date, api: str) -> dict[str, Row]:
    """Return the rows of a manifest by title; none if there is no manifest.

    Raises:
        FormatError: it can't be read.
        RequestError: it is of another day or another wiki.
    """
    path = folder / MANIFEST
    if not path.exists():
        return {}
    parsed = read_json_lines(path)
    problems = ProblemList(parsed.problems)
    rows = list(zip(parsed.records, parsed.lines, strict=True))
    for row, line in rows:
        problems += [Problem(what, line) for what in _check_row(row)]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    for name, expected, what in (("day", day.isoformat(), "as of"), ("api", api, "of")):
        found = next((row[name] for row, _ in rows if row[name] != expected), None)
        if found is not None:
            message = f"{folder} holds articles {what} {quote(found)} (expected {quote(expected)})"
            raise RequestError(f"{message}; choose another folder")
    return {row["title"]: row for row, _ in rows}


def _check_row(row: Row) -> Iterable[str]:
    for name in FIELDS:
        kind = int if name in ("page_id", "revision") else str
        if not isinstance(row.get(name), kind):
            expected = "a number" if kind is int else "a text"
            yield f"{name} is {quote_json(row.get(name))} (expected {expected}, as `closeread articles` writes it)"


def _describe_other_title(row: Row) -> str:
    how = "was moved to" if row["found"] == MOVED else "redirects to"
    return f"{quote(row['title'])} {how} {quote(row['page'])}."
