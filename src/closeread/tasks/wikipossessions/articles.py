"""Fetch the texts of articles from a MediaWiki, as they were at the end of a day, into a folder.

Sources: https://www.mediawiki.org/wiki/API:Etiquette, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter,
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy,
https://www.mediawiki.org/wiki/API:Revisions and https://www.mediawiki.org/wiki/API:Parsing_wikitext.

Folder: the text of an article is `<title>.txt`, as the loader expects it.  `manifest.jsonl` has a row for each: its
title, the day, the API, the page's title today, the number of the revision and when that was saved.  Texts that are
there are not fetched again.  Texts and manifest are always complete, so that an interrupted run is continued by
another.

Pages: a day is one of UTC.  A title is that of the page that has it today.  If that has no article of the day, its
redirect is followed, which a page that was moved leaves behind.  Old revisions are rendered with the templates of
today.

Texts: a heading is a line between equals signs, as many as its level (`== History ==`), as in MediaWiki's TextExtracts
(`exsectionformat=wiki`).  Blocks are separated by an empty line, items of a list by a line end.  What TextExtracts
leaves out is left out here, too: tables, boxes, pictures with their captions, references, links to edit; boxes are all
`div` elements but those that only group paragraphs.  TextExtracts itself reads current revisions only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import orjson
import requests
from requests.adapters import HTTPAdapter

from closeread._version import __version__
from closeread.corpus.downloads import (
    DownloadError,
    DownloadLimitError,
    open_session,
    read_wait,
    receive,
    try_again,
)
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    UnavailableError,
    name_option,
    quote,
)
from closeread.files import make_folders, write_text
from closeread.formats.folders import find_unwritable
from closeread.formats.json_lines import dump_json_lines, read_json_lines
from closeread.records import Record

MARK = re.compile(r"^(={1,6}) (.+) \1$", re.MULTILINE)
# fmt: off
VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
}
BLOCKS = {
    "p", "div", "section", "ul", "ol", "dl", "dt", "dd", "li", "blockquote", "pre", "center", "br",
}
LEFT_OUT = {"table", "figure", "script", "style", "input", "math", "noscript", "template"}
LEFT_OUT_CLASSES = {
    "mw-editsection", "reference", "references", "error", "nomobile", "noprint", "noexcerpt",
    "sortkey", "gallery", "mw-empty-elt",
}
# fmt: on
ITEMS = {"li", "dt", "dd"}
HEADINGS = {f"h{level}": "=" * level for level in range(1, 7)}
GROUPS = {"mw-parser-output", "mw-heading", "div-col"}
"""Classes of `div` elements that only group paragraphs."""

INVISIBLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which the loader refuses in a text."""

# no character, and perhaps more digits than Python reads
LONG_NUMBER = re.compile(r"&#[0-9]{1000,};?")


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
        is_box = tag == "div" and classes.isdisjoint(GROUPS)
        is_invisible = INVISIBLE.search(attributes.get("style") or "") is not None
        is_left_out = tag in LEFT_OUT or not classes.isdisjoint(LEFT_OUT_CLASSES)
        is_hidden = is_box or is_invisible or is_left_out
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
        self._mark = HEADINGS.get(tag, "")
        self._is_item = tag in ITEMS

    def end_block(self) -> None:
        """End a block: write it unless it is empty."""
        text = "".join(self._parts)
        self._parts = []
        lines = [" ".join(UNSAFE.sub("", line).split()) for line in text.split("\0")]
        lines = [line for line in lines if line]
        if not lines:
            return
        block = f"{self._mark} {' '.join(lines)} {self._mark}" if self._mark else "\n".join(lines)
        if self.blocks:
            self.blocks.append("\n" if self._is_item and self._after_item else "\n\n")
        self.blocks.append(block)
        self._after_item = self._is_item


WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
MAX_LAG_SECONDS = 5
"""How many seconds the server's replicas may lag; it refuses requests if they lag more."""

MAX_BYTES = 2**24
"""More than any page of Wikipedia: their wikitext has at most 2 MiB."""

ANSWER_SECONDS = 300.0
TRIES = 5
FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 300.0
BUSY = ("maxlag", "ratelimited", "readonly", "internal_api_error")
"""The codes of errors that may pass begin so."""

MANIFEST = "manifest.jsonl"


class NoPageError(Exception):
    """There is no text of a title on a day; the message gives the reason."""


class Wiki:
    """A MediaWiki, by the address of its API; at least so many seconds lie between two requests.

    The contact is an address of the user, for the servers' operators; it may be empty.
    """

    def __init__(self, url: str = WIKIPEDIA, delay: float = 1.0, contact: str = "") -> None:
        if not (contact.isascii() and contact.isprintable()):
            raise RequestError(f"the contact is {quote(contact)} (expected printable ASCII)")
        agent = f"closeread/{__version__} ({contact}) {requests.utils.default_user_agent()}"
        # Wikimedia asks for compression.
        self._headers = {"User-Agent": agent.replace(" ()", ""), "Accept-Encoding": "gzip"}
        self.url = url
        self._delay = delay
        self._has_contact = bool(contact)
        self._next_request = 0.0
        self._session = open_session()
        if url.startswith("http://"):
            self._session.mount(url, HTTPAdapter())

    def ask(self, **parameters: str) -> Any:
        """Send a request and return its answer; retry after temporary errors, such as a lag."""
        return try_again(
            lambda: self._ask_once(parameters), TRIES, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS
        )

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _ask_once(self, parameters: dict[str, str]) -> Any:
        wait = self._next_request - monotonic()
        if wait > 0:
            sleep(wait)
        self._next_request = monotonic() + self._delay
        usual = {"format": "json", "formatversion": "2", "maxlag": str(MAX_LAG_SECONDS)}
        content = bytearray()
        try:
            headers = receive(
                self._session,
                self.url,
                content.extend,
                MAX_BYTES,
                ANSWER_SECONDS,
                params=usual | parameters,
                headers=self._headers,
            )
            answer = orjson.loads(content)
        except DownloadError as error:
            message = f"no answer: {error}"
            if error.status in (403, 429) and not self._has_contact:
                contact = name_option("contact")
                message += (
                    f"; Wikimedia refuses programs without a contact: pass yours with {contact}"
                )
            raise DownloadError(message, may_pass=error.may_pass, wait=error.wait) from None
        except DownloadLimitError as error:
            raise DownloadError(f"no answer: {error}") from None
        except ValueError:
            raise DownloadError("answers with no complete JSON", may_pass=True) from None
        if "error" in answer:
            code = str(answer["error"]["code"])
            message = f"answers with the error {quote(code)}: {quote(str(answer['error']['info']))}"
            raise DownloadError(message, may_pass=code.startswith(BUSY), wait=read_wait(headers))
        return answer


class WikiPage(NamedTuple):
    """The text of a page at the end of a day.

    Attributes:
        title: the page's title today.
        revision: the number of the revision.
        timestamp: when the revision was saved, such as `2017-06-01T12:00:00Z`.
        text: the plain text, not empty.
    """

    title: str
    revision: int
    timestamp: str
    text: str


def fetch_page(wiki: Wiki, title: str, day: date) -> WikiPage:
    """Fetch the text of the page of a title at the end of a day, or else of the page that it redirects to today."""
    try:
        page, html = _fetch_html(wiki, title, day)
        if not html:
            page, html = _fetch_html(wiki, title, day, redirects="1")
        if "revisions" not in page:
            raise NoPageError(f"did not exist at the end of {day.isoformat()}")
        name = str(page["title"])
        revision = page["revisions"][0]
        number = int(revision["revid"])
        timestamp = str(revision["timestamp"])
    except (LookupError, TypeError, ValueError):
        raise DownloadError("answers with JSON that no MediaWiki sends") from None
    text = extract_text(html)
    if not text:
        raise NoPageError(f"had no paragraphs at the end of {day.isoformat()}")
    return WikiPage(name, number, timestamp, text)


def _fetch_html(wiki: Wiki, title: str, day: date, **more: str) -> tuple[Any, str]:
    """Return a page with its last revision of a day, if there is any, and its HTML; no HTML if it was a redirect."""
    answer = wiki.ask(
        action="query",
        titles=title,
        prop="revisions",
        rvlimit="1",
        rvdir="older",
        rvstart=f"{day.isoformat()}T23:59:59Z",
        rvprop="ids|timestamp",
        **more,
    )
    page = answer["query"]["pages"][0]
    if "revisions" not in page:
        return page, ""
    answer = wiki.ask(
        action="parse",
        oldid=str(page["revisions"][0]["revid"]),
        prop="text",
        disableeditsection="1",
        disablelimitreport="1",
        disabletoc="1",
    )
    html = str(answer["parse"]["text"])
    return page, "" if 'class="redirectMsg"' in html else html


def fetch_articles(
    titles: Sequence[str],
    folder: Path,
    day: date,
    wiki: Wiki,
    track: Callable[[Sequence[str]], Iterable[str]],
) -> tuple[list[Record], int]:
    """Fetch the texts of articles that are not in a folder yet, as they were at the end of a day.

    `track` returns the titles to fetch, one after another, and may show the progress.

    Returns:
        The rows of the manifest for the titles, and how many articles were fetched now.
    """
    problems = find_unwritable(titles, ".txt")
    if problems:
        raise UnavailableError(folder, problems)
    rows = _read_manifest(folder, day, wiki.url)
    lacking = [title for title in titles if not (folder / f"{title}.txt").exists()]
    make_folders(folder)
    n_fetched = 0
    for title in track(lacking):
        try:
            page = fetch_page(wiki, title, day)
        except NoPageError as error:
            problems.append(Problem(f"{quote(title)} {error}"))
            continue
        except DownloadError as error:
            n_present = len(titles) - len(lacking) + n_fetched
            present = f"{n_present:,} of {len(titles):,} articles are in {folder}"
            again = f"check {name_option('api')}, or run this again later for the others"
            problems.append(Problem(f"{error}; {present}: {again}"))
            break
        rows[title] = {
            "title": title,
            "day": day.isoformat(),
            "api": wiki.url,
            "page": page.title,
            "revision": page.revision,
            "timestamp": page.timestamp,
        }
        # The row first, so that each text has its revision.
        write_text(folder / MANIFEST, dump_json_lines(rows.values()))
        write_text(folder / f"{title}.txt", page.text)
        n_fetched += 1
    if problems:
        raise UnavailableError(wiki.url, problems)
    return [rows[title] for title in titles if title in rows], n_fetched


def _read_manifest(folder: Path, day: date, api: str) -> dict[str, Record]:
    """Return the rows of a manifest by title; none if there is no manifest."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    manifest = read_json_lines(path)
    if manifest.problems:
        raise FormatError(path, manifest.problems)
    rows = {}
    for row in manifest.records:
        place = f"{row.get('day')} from {row.get('api')}"
        expected = f"{day.isoformat()} from {api}"
        if place != expected:
            raise RequestError(
                f"{folder} holds articles of {quote(place)} (expected {quote(expected)}); choose another folder"
            )
        rows[row["title"]] = row
    return rows
