"""The page that a title named on a day, as it was at the end of that day.

Source: https://www.mediawiki.org/wiki/API:Revisions, https://www.mediawiki.org/wiki/API:Logevents and
https://www.mediawiki.org/wiki/API:Parsing_wikitext.

Conventions: a day is one of UTC.  A page keeps its history when it is moved, and its old title may name another page
later.  So the log of moves is followed first, from that day on.  A title that had no page then may be one that
redirects to it now, and a page may have been a redirect then.  Old revisions are rendered with the templates of today.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from closeread.exceptions import quote
from closeread.tasks.wikipossessions.article_text import UNSAFE, extract_text, find_redirect
from closeread.tasks.wikipossessions.mediawiki import NoWikiError, Wiki

NOT_IN_TITLES = re.compile(rf"[#<>\[\]|{{}}]|{UNSAFE.pattern}")
"""Characters that no title contains; `|` would separate several."""

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)

MOST_STEPS = 10
MOVED, REDIRECTS = "moved", "redirects"


class Page(NamedTuple):
    """The text of a page at the end of a day.

    Attributes:
        title: its title today.
        found: how its title was found: as it is (""), `MOVED` or `REDIRECTS`.
        page_id: its number.
        revision: the number of the revision.
        timestamp: when the revision was saved, such as `2017-06-01T12:00:00Z`.
        text: its plain text, which is not empty.
    """

    title: str
    found: str
    page_id: int
    revision: int
    timestamp: str
    text: str


class NoPageError(Exception):
    """There is no text of a title on a day; the message gives the reason."""


class _Found(NamedTuple):
    """What a wiki tells of a title.

    Attributes:
        page: its page of today, which may be missing; None if it can't have any.
        moves: the later moves of pages away from this title, in order: the number of the entry and the new title.
    """

    page: Mapping[str, Any] | None
    moves: tuple[tuple[int, str], ...]


def fetch_page(wiki: Wiki, title: str, day: date) -> Page:
    """Fetch the text of the page that a title named at the end of a day.

    Raises:
        NoPageError: there is none.
        RefusedError: the wiki refuses to show it, or it is too large.
        DownloadError: the wiki can't be reached.
    """
    name, found = title, ""
    last_move: int | None = 0  # None: the title is one of today, and its former pages don't matter
    for _ in range(MOST_STEPS):
        if unusual := NOT_IN_TITLES.search(name):
            where = "" if name == title else f"leads to {quote(name)}, which "
            raise NoPageError(f"{where}contains {quote(unusual[0])} (expected a title of Wikipedia)")
        told = _ask_about(wiki, name, day)
        move = None if last_move is None else next((one for one in told.moves if one[0] > last_move), None)
        if move is not None:
            last_move, name = move
            found = MOVED
            continue
        revision = _find_revision(told, name, day)
        if revision is None:
            target = _find_target(wiki, name) if told.page and told.page.get("redirect") else None
            if target is None:
                raise NoPageError(_explain(told, name, title, day))
            name, found, last_move = target, REDIRECTS, None
            continue
        page, html = told.page or {}, _render(wiki, revision["revid"])
        target = find_redirect(html)
        if target is not None:
            name, found, last_move = target, REDIRECTS, 0
            continue
        text = extract_text(html)
        if not text:
            raise NoPageError(f"has no paragraphs in revision {revision['revid']} (expected the text of an article)")
        return Page(page["title"], found if name != title else "", page["pageid"], *_unpack(revision), text)
    raise NoPageError(f"was moved or redirects more than {MOST_STEPS} times (last: {quote(name)})")


def _unpack(revision: Mapping[str, Any]) -> tuple[int, str]:
    return revision["revid"], revision["timestamp"]


def _explain(told: _Found, name: str, title: str, day: date) -> str:
    """Say why a title has no text."""
    where = "" if name == title else f" (its page is now {quote(name)})"
    if told.page is None or told.page.get("invalid"):
        return f"can't be a title of this wiki{where}"
    if told.page.get("missing"):
        return f"does not exist{where}; it may have been deleted or is spelled otherwise"
    return f"did not exist at the end of {day.isoformat()}{where}"


def _ask_about(wiki: Wiki, title: str, day: date) -> _Found:
    last, next_day = f"{day.isoformat()}T23:59:59Z", f"{(day + timedelta(days=1)).isoformat()}T00:00:00Z"
    answer = wiki.ask(
        action="query",
        prop="revisions|info",
        titles=title,
        rvlimit="1",
        rvdir="older",
        rvstart=last,
        rvprop="ids|timestamp",
        list="logevents",
        letype="move",
        letitle=title,
        leprop="ids|details|timestamp",
        ledir="newer",
        lestart=next_day,
        lelimit="max",
    )
    try:
        query = answer["query"]
        pages = query.get("pages", [])
        page = pages[0] if pages else None
        moves = sorted(
            (event["logid"], event["params"]["target_title"])
            for event in query.get("logevents", [])
            if "target_title" in event.get("params", {})  # others are hidden
        )
        are_known = all(isinstance(number, int) and isinstance(target, str) for number, target in moves)
    except (AttributeError, KeyError, IndexError, TypeError):
        raise NoWikiError from None
    if not (are_known and isinstance(page, dict | None)):
        raise NoWikiError
    return _Found(page, tuple(moves))


def _find_target(wiki: Wiki, title: str) -> str | None:
    """Return the title that a redirect of today leads to."""
    answer = wiki.ask(action="query", titles=title, redirects="1")
    try:
        steps = answer["query"].get("redirects", [])
        target = steps[-1]["to"] if steps else None
    except (AttributeError, KeyError, IndexError, TypeError):
        raise NoWikiError from None
    if not isinstance(target, str | None):
        raise NoWikiError
    return target


def _find_revision(told: _Found, name: str, day: date) -> Mapping[str, Any] | None:
    """Return the last revision of a day; None if there is none."""
    page = told.page or {}
    if not page.get("revisions"):
        return None
    try:
        revision: Mapping[str, Any] = page["revisions"][0]
        types = [type(revision["revid"]), type(page["pageid"])]
        is_known = bool(TIMESTAMP.fullmatch(revision["timestamp"])) and not NOT_IN_TITLES.search(page["title"])
    except (KeyError, IndexError, TypeError):
        raise NoWikiError from None
    if types != [int, int] or not is_known:
        raise NoWikiError
    saved = revision["timestamp"][:10]
    if saved > day.isoformat():
        raise NoWikiError(f"answers with a revision of {quote(saved)} of {quote(name)} (expected {day} or before)")
    return revision


def _render(wiki: Wiki, revision: int) -> str:
    """Return the HTML of a revision."""
    answer = wiki.ask(
        action="parse",
        oldid=str(revision),
        prop="text|revid",
        disableeditsection="1",
        disablelimitreport="1",
        disabletoc="1",
    )
    try:
        found, html = answer["parse"]["revid"], answer["parse"]["text"]
    except (KeyError, TypeError):
        found, html = None, None
    if found != revision or not isinstance(html, str):
        raise NoWikiError
    return html
