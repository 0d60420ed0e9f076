"""Fetch the texts of articles from a MediaWiki, as they were at the end of a day, into a folder.

Sources: https://www.mediawiki.org/wiki/API:Etiquette, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter,
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy,
https://www.mediawiki.org/wiki/API:Revisions, https://www.mediawiki.org/wiki/API:Logevents and
https://www.mediawiki.org/wiki/API:Parsing_wikitext.

Folder: the text of an article is `<title>.txt`, as the loader expects it.  `manifest.jsonl` has a row for each: its
title, the day, the API, the page's title today and how it was found, the numbers of the page and of the revision, when
that was saved, the name of the file and the sha256 of its bytes.  An article is fetched unless its text is there and is
the one of its row.  Texts and manifest are always complete, so that an interrupted run is continued by another.

Pages: a day is one of UTC.  A page keeps its history when it is moved, and its old title may name another page later.
So the log of moves is followed first, from that day on.  A title that had no page then may be one that redirects to it
now, and a page may have been a redirect then.  Old revisions are rendered with the templates of today.

Texts: a heading is a line between equals signs, as many as its level (`== History ==`), as in MediaWiki's TextExtracts
(`exsectionformat=wiki`).  Blocks are separated by an empty line, items of a list by a line end.  What TextExtracts
leaves out is left out here, too: tables, boxes, pictures with their captions, references, links to edit; boxes are all
`div` elements but those that only group paragraphs.  TextExtracts itself reads current revisions only.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import orjson
import requests
from requests.adapters import HTTPAdapter

from closeread._version import __version__
from closeread.corpus.downloads import (
    DownloadError,
    TooLargeError,
    open_session,
    read_wait,
    receive,
    try_again,
)
from closeread.corpus.sources import file_digest
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    RequestError,
    UnavailableError,
    name_option,
    pluralize,
    quote,
    quote_json,
    shorten,
)
from closeread.files import make_folders, write_text
from closeread.formats.folders import find_collisions, find_unwritable
from closeread.formats.json_lines import dump_json_lines, read_json_lines

MARK = re.compile(r"^(={1,6}) (.+) \1$", re.MULTILINE)
VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
BLOCKS = frozenset(
    {"p", "div", "section", "ul", "ol", "dl", "dt", "dd", "li", "blockquote", "pre", "center", "br"}
)
ITEMS = frozenset({"li", "dt", "dd"})
HEADINGS = {f"h{level}": "=" * level for level in range(1, 7)}
LEFT_OUT = frozenset(
    {"table", "figure", "script", "style", "input", "math", "noscript", "template"}
)
LEFT_OUT_CLASSES = frozenset(
    {
        *(
            "mw-editsection",
            "reference",
            "references",
            "error",
            "nomobile",
            "noprint",
            "noexcerpt",
            "sortkey",
        ),
        *("gallery", "mw-empty-elt"),
    }
)
GROUPS = frozenset({"mw-parser-output", "mw-heading", "div-col"})
"""Classes of `div` elements that only group paragraphs."""

INVISIBLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which the loader refuses in a text."""

LINK = re.compile(r'<a [^<>]*?title="([^"]*)"')
# no character, and perhaps more digits than Python reads
LONG_NUMBER = re.compile(r"&#[0-9]{1000,};?")
# the most characters from the mark of a redirect to the end of the link to the other page
NEAR = 2000


def extract_text(html: str) -> str:
    """Return the plain text of an article, which ends in a line end; empty if there is none.

    >>> print(extract_text("<p>Ann made<br>a jug.<sup class='reference'>[1]</sup></p><h2>History</h2><ul><li>Sold"))
    Ann made
    a jug.
    <BLANKLINE>
    == History ==
    <BLANKLINE>
    Sold
    <BLANKLINE>
    """
    parser = _Parser()
    parser.feed(LONG_NUMBER.sub("\ufffd", html))
    # Any rest follows a tag that does not end.  `HTMLParser.close` would look for the end of each tag in it, up to the
    # end of the page.
    parser.handle_data(unescape(parser.rawdata))
    parser.end_block()
    return "".join(parser.blocks) + "\n" if parser.blocks else ""


def find_redirect(html: str) -> str | None:
    """Return the title that a page redirects to; None if it is an article."""
    if 'class="redirectMsg"' not in html:
        return None
    found = LINK.search(html.partition('class="redirectText"')[2][:NEAR])
    return unescape(found[1]) if found else None


def strip_marks(text: str) -> str:
    """Return a text with the words of its headings, but without their equals signs.

    >>> strip_marks("== History ==\\nIt was sold.")
    'History\\nIt was sold.'
    """
    return MARK.sub(r"\2", text)


def count_words(text: str) -> int:
    """Count the words of a text, separated by white space, headings included."""
    return len(strip_marks(text).split())


def count_sections(text: str) -> int:
    """Count the sections of a text: its headings of level 2, without the introduction and without subsections."""
    return sum(len(mark[1]) == 2 for mark in MARK.finditer(text))


class _Parser(HTMLParser):
    """Collects the blocks of a page, each with the text before it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._parts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._counts: Counter[str] = Counter()
        self._n_hidden = 0
        self._mark = ""
        self._is_item = self._after_item = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS or tag in HEADINGS:
            self._break(tag)
        if tag in VOID:
            return
        attributes = dict(attrs)
        classes = set((attributes.get("class") or "").split())
        is_hidden = tag in LEFT_OUT or bool(
            classes & LEFT_OUT_CLASSES or (tag == "div" and not classes & GROUPS)
        )
        is_hidden = is_hidden or INVISIBLE.search(attributes.get("style") or "") is not None
        self._open.append((tag, is_hidden))
        self._counts[tag] += 1
        self._n_hidden += is_hidden

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS or tag in HEADINGS:
            self._break("")
        if not self._counts[tag]:
            return
        while True:  # closes blocks left open in it
            name, was_hidden = self._open.pop()
            self._counts[name] -= 1
            self._n_hidden -= was_hidden
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._n_hidden:
            self._parts.append(data)

    def _break(self, tag: str) -> None:
        if self._n_hidden:
            return
        if tag == "br":
            self._parts.append("\0")
            return
        self.end_block()
        self._mark, self._is_item = HEADINGS.get(tag, ""), tag in ITEMS

    def end_block(self) -> None:
        """End a block: write it unless it is empty."""
        lines = [
            " ".join(UNSAFE.sub("", line).split()) for line in "".join(self._parts).split("\0")
        ]
        self._parts = []
        if not (lines := list(filter(None, lines))):
            return
        block = f"{self._mark} {' '.join(lines)} {self._mark}" if self._mark else "\n".join(lines)
        if self.blocks:
            self.blocks.append("\n" if self._is_item and self._after_item else "\n\n")
        self.blocks.append(block)
        self._after_item = self._is_item


WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
MAX_LAG = 5  # how many seconds the server's replicas may lag; it refuses requests if they lag more
MAX_BYTES = 2**24  # more than any page of Wikipedia: their wikitext has at most 2 MiB
SECONDS = 300.0  # how long an answer may take
TRIES = 5
# seconds: before the second try, and for how long a server may ask to wait
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
EXPECTED_URL = "https://…/api.php"
# Wikimedia's answers to programs that don't identify themselves as it asks
CONTACT_STATUSES = (403, 429)
# the codes of errors that may pass begin so
BUSY = ("maxlag", "ratelimited", "readonly", "internal_api_error")
NOT_IN_TITLES = re.compile(rf"[#<>\[\]|{{}}]|{UNSAFE.pattern}")  # `|` would separate several
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
MOST_STEPS = 10
MOVED, REDIRECTS = "moved", "redirects"
MANIFEST = "manifest.jsonl"
FIELDS = (
    "title",
    "day",
    "api",
    "page",
    "found",
    "page_id",
    "revision",
    "timestamp",
    "file",
    "sha256",
)
Row = Mapping[str, Any]
T = TypeVar("T")


class NoWikiError(DownloadError):
    """The server is no MediaWiki."""

    def __init__(self, message: str = "answers with JSON that no MediaWiki sends") -> None:
        super().__init__(message)


class RefusedError(Exception):
    """The wiki refuses a request that it understood; the message gives the reason."""


class NoPageError(Exception):
    """There is no text of a title on a day; the message gives the reason."""


class Wiki:
    """A MediaWiki, by the address of its API; at least so many seconds lie between two requests.

    The contact is an address of the user, for the servers' operators; it may be empty.
    """

    def __init__(self, url: str = WIKIPEDIA, delay: float = 1.0, contact: str = "") -> None:
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_address = False
        if not is_address:
            raise RequestError(f"the address of the API is {quote(url)} (expected {EXPECTED_URL})")
        if not (contact.isascii() and contact.isprintable()):
            raise RequestError(f"the contact is {quote(contact)} (expected printable ASCII)")
        self.url, self._delay, self._contact = url, delay, contact
        self._last: float | None = None  # request
        self._session = open_session()
        if parts.scheme == "http":  # the host that the user asks for, and no other
            self._session.mount(f"http://{parts.netloc}/", HTTPAdapter())

    def ask(self, **parameters: str) -> Mapping[str, Any]:
        """Send a request and return its answer; retry after temporary errors, such as a lag."""
        return try_again(lambda: self._ask_once(parameters), TRIES, FIRST_WAIT, LONGEST_WAIT)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _ask_once(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        if self._last is not None and (wait := self._last + self._delay - monotonic()) > 0:
            sleep(wait)
        self._last = monotonic()
        parameters = {"format": "json", "formatversion": "2", "maxlag": str(MAX_LAG), **parameters}
        contact = f" ({self._contact})" if self._contact else ""
        agent = f"closeread/{__version__}{contact} {requests.utils.default_user_agent()}"
        headers = {"User-Agent": agent, "Accept-Encoding": "gzip"}  # Wikimedia asks for compression
        content = bytearray()
        arguments = (self._session, self.url, content.extend, MAX_BYTES, SECONDS)
        try:
            received = receive(*arguments, params=parameters, headers=headers)
        except TooLargeError:
            raise RefusedError(f"the answer has more than {MAX_BYTES:,} bytes") from None
        except DownloadError as error:
            expected = "" if error.may_pass else f"; expected {EXPECTED_URL}"
            what = (
                f"answers with {error}"
                if error.status
                else f"the connection failed ({error}{expected})"
            )
            if error.status in CONTACT_STATUSES and not self._contact:
                what += f"; Wikimedia refuses programs without a contact: pass yours with {name_option('contact')}"
            if error.may_pass or error.status == 403:
                raise DownloadError(what, may_pass=error.may_pass, wait=error.wait) from None
            raise NoWikiError(what) from None
        return _parse(bytes(content), read_wait(received))


def _parse(content: bytes, wait: float | None) -> Mapping[str, Any]:
    try:
        answer: Mapping[str, Any] = orjson.loads(content)
    except ValueError:
        raise DownloadError("answers with no complete JSON", may_pass=True) from None
    if (error := _read(answer, "error", object)) is None:
        return answer
    code, info = (str(_read(error, name, object, "")) for name in ("code", "info"))
    what = f"answers with the error {quote(code)}: {shorten(' '.join(info.split()))}"
    if code.startswith(BUSY):
        raise DownloadError(what, may_pass=True, wait=wait)
    raise RefusedError(what)


def _read(found: object, name: str, kind: type[T], missing: T | None = None) -> T:
    """Return a field of a part of an answer, which must be an object, and the field of this kind."""
    if isinstance(found, dict) and isinstance(value := found.get(name, missing), kind):
        return value
    raise NoWikiError


class Page(NamedTuple):
    """The text of a page at the end of a day."""

    title: str  # today
    found: str  # how its title was found: as it is (""), `MOVED` or `REDIRECTS`
    page_id: int
    revision: int
    timestamp: str  # when the revision was saved, such as `2017-06-01T12:00:00Z`
    text: str  # plain, not empty


def fetch_page(wiki: Wiki, title: str, day: date) -> Page:
    """Fetch the text of the page that a title named at the end of a day."""
    name, found = title, ""
    last_move: int | None = 0  # None: the title is one of today, and its former pages don't matter
    for _ in range(MOST_STEPS):
        if unusual := NOT_IN_TITLES.search(name):
            where = "" if name == title else f"leads to {quote(name)}, which "
            raise NoPageError(
                f"{where}contains {quote(unusual[0])} (expected a title of Wikipedia)"
            )
        page, moves = _ask_about(wiki, name, day)
        move = (
            None if last_move is None else next((one for one in moves if one[0] > last_move), None)
        )
        if move is not None:
            last_move, name = move
            found = MOVED
            continue
        revisions = [] if page is None else _read(page, "revisions", list, [])
        if not page or not revisions:
            target = _find_target(wiki, name) if page and page.get("redirect") else None
            if target is None:
                where = "" if name == title else f" (its page is now {quote(name)})"
                if page is None or page.get("invalid"):
                    raise NoPageError(f"can't be a title of this wiki{where}")
                if page.get("missing"):
                    raise NoPageError(
                        f"does not exist{where}; it may have been deleted or is spelled otherwise"
                    )
                raise NoPageError(f"did not exist at the end of {day.isoformat()}{where}")
            name, found, last_move = target, REDIRECTS, None
            continue
        revision, saved = _read(revisions[0], "revid", int), _read(revisions[0], "timestamp", str)
        today, page_id = _read(page, "title", str), _read(page, "pageid", int)
        if not TIMESTAMP.fullmatch(saved) or NOT_IN_TITLES.search(today):
            raise NoWikiError
        if saved[:10] > day.isoformat():
            what = f"answers with a revision of {quote(saved[:10])} of {quote(name)} (expected {day} or before)"
            raise NoWikiError(what)
        html = _render(wiki, revision)
        if (target := find_redirect(html)) is not None:
            name, found, last_move = target, REDIRECTS, 0
            continue
        if not (text := extract_text(html)):
            raise NoPageError(
                f"has no paragraphs in revision {revision} (expected the text of an article)"
            )
        return Page(today, found if name != title else "", page_id, revision, saved, text)
    raise NoPageError(f"was moved or redirects more than {MOST_STEPS} times (last: {quote(name)})")


def _ask_about(
    wiki: Wiki, title: str, day: date
) -> tuple[Mapping[str, Any] | None, list[tuple[int, str]]]:
    """Return the wiki's information on a title.

    That is its page of today with the last revision of a day, which may be missing, or None if it can't have any; and
    the later moves of pages away from this title, in order: the number of the entry and the new title.
    """
    revisions = {
        "rvlimit": "1",
        "rvdir": "older",
        "rvstart": f"{day.isoformat()}T23:59:59Z",
        "rvprop": "ids|timestamp",
    }
    after = f"{(day + timedelta(days=1)).isoformat()}T00:00:00Z"
    moves = {
        "letype": "move",
        "letitle": title,
        "leprop": "ids|details|timestamp",
        "ledir": "newer",
        "lestart": after,
    }
    query = {"prop": "revisions|info", "titles": title, "list": "logevents", "lelimit": "max"}
    found = _read(wiki.ask(action="query", **query, **revisions, **moves), "query", dict)
    pages, events = _read(found, "pages", list, []), []
    for event in _read(found, "logevents", list, []):
        # an empty list, or none, if the entry is hidden
        params = _read(event, "params", object, {})
        if not isinstance(params, dict | list):
            raise NoWikiError
        if isinstance(params, dict) and "target_title" in params:
            events.append((_read(event, "logid", int), _read(params, "target_title", str)))
    return pages[0] if pages else None, sorted(events)


def _find_target(wiki: Wiki, title: str) -> str | None:
    """Return the title that a redirect of today leads to."""
    found = _read(wiki.ask(action="query", titles=title, redirects="1"), "query", dict)
    steps = _read(found, "redirects", list, [])
    return _read(steps[-1], "to", str) if steps else None


def _render(wiki: Wiki, revision: int) -> str:
    """Return the HTML of a revision."""
    plain = {"disableeditsection": "1", "disablelimitreport": "1", "disabletoc": "1"}
    found = _read(
        wiki.ask(action="parse", oldid=str(revision), prop="text|revid", **plain), "parse", dict
    )
    if _read(found, "revid", int) != revision:
        raise NoWikiError
    return _read(found, "text", str)


class FetchedRows(NamedTuple):
    """The rows of the manifest for the titles asked for, in their order, and how many articles were fetched now."""

    rows: Sequence[Row]
    new: int

    @property
    def notes(self) -> list[str]:
        """Notices on titles that today belong to other pages, or to none."""
        return [
            f"{quote(row['title'])} {'was moved to' if row['found'] == MOVED else 'redirects to'} {quote(row['page'])}."
            for row in self.rows
            if row["found"]
        ]


def fetch_articles(
    titles: Sequence[str],
    folder: Path,
    day: date,
    wiki: Wiki,
    track: Callable[[Sequence[str]], Iterable[str]],
) -> FetchedRows:
    """Fetch the texts of articles that are not in a folder yet, as they were at the end of a day.

    `track` returns the titles to fetch, one after another, and may show the progress.
    """
    problems, collisions = find_unwritable(titles, ".txt"), find_collisions(titles)
    wanted = [
        title
        for title in titles
        if title not in collisions and not find_unwritable([title], ".txt")
    ]
    rows = _read_manifest(folder, day, wiki.url)
    there = {title for title in wanted if (folder / f"{title}.txt").exists()}
    other = [
        title
        for title in wanted
        if title in there
        and (title not in rows or file_digest(folder / f"{title}.txt") != rows[title]["sha256"])
    ]
    if other:
        names = ", ".join(quote(f"{title}.txt") for title in other[:3]) + (
            ", …" if len(other) > 3 else ""
        )
        as_is, them = ("it is", "it") if len(other) == 1 else ("they are", "them")
        found = (
            f"{folder} has {pluralize(len(other), 'text')} that {MANIFEST} does not list as {as_is}"
        )
        raise RequestError(f"{found}: {names}; move {them} away, or choose another folder")
    new = 0
    make_folders(folder)
    for title in track([title for title in wanted if title not in there]):
        try:
            page = fetch_page(wiki, title, day)
        except NoPageError as error:
            problems.append(Problem(f"{quote(title)} {error}"))
        except RefusedError as error:
            problems.append(Problem(f"{quote(title)}: {error}"))
        except DownloadError as error:
            already = f"{len(there) + new:,} of {len(titles):,} articles are in {folder}"
            again = "run the same command again to fetch the others"
            if isinstance(error, NoWikiError):
                again = f"check {name_option('api')}"
            problems.append(Problem(f"{error}; {already}: {again}"))
            break
        else:
            values = (
                page.title,
                page.found,
                page.page_id,
                page.revision,
                page.timestamp,
                f"{title}.txt",
            )
            digest = hashlib.sha256(page.text.encode("utf-8")).hexdigest()
            rows[title] = dict(
                zip(FIELDS, (title, day.isoformat(), wiki.url, *values, digest), strict=True)
            )
            # The row first, since a text without a row may be the user's own.
            write_text(folder / MANIFEST, dump_json_lines(map(dict, rows.values())))
            write_text(folder / f"{title}.txt", page.text)
            new += 1
    if problems:
        raise UnavailableError(wiki.url, problems)
    return FetchedRows([rows[title] for title in titles], new)


def _read_manifest(folder: Path, day: date, api: str) -> dict[str, Row]:
    """Return the rows of a manifest by title; none if there is no manifest."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    parsed = read_json_lines(path)
    problems = ProblemList(parsed.problems)
    for row, line in zip(parsed.records, parsed.lines, strict=True):
        for name in FIELDS:
            kind, expected = (
                (int, "a number") if name in ("page_id", "revision") else (str, "a text")
            )
            if not isinstance(row.get(name), kind):
                what = f"{name} is {quote_json(row.get(name))}"
                problems.append(
                    Problem(
                        f"{what} (expected {expected}, as `closeread articles` writes it)", line
                    )
                )
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    for name, expected, what in (("day", day.isoformat(), "as of"), ("api", api, "of")):
        found = next((row[name] for row in parsed.records if row[name] != expected), None)
        if found is not None:
            message = f"{folder} holds articles {what} {quote(found)} (expected {quote(expected)})"
            raise RequestError(f"{message}; choose another folder")
    return {row["title"]: row for row in parsed.records}
