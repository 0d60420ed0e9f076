"""A stand-in for the API of Wikipedia: pages with revisions and redirects, and faults on demand.

It answers the few requests that the package sends as Wikipedia's API documents them, in version 2 of its format, and
shares no code with the package.  A fault answers one request, in the order in which faults were added.
"""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BEFORE, AFTER = "2017-05-01T08:00:00Z", "2019-03-04T10:00:00Z"
CUT, ENDLESS = "cut", "endless"


class Wiki(ThreadingHTTPServer):
    """Pages by title; each has a number and revisions: the time and the HTML of each, oldest first."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages, self.redirects = {}, {}
        self.faults, self.asked, self.agents, self.times = [], [], [], []
        self.rate = None
        """Requests a second; None for no limit."""
        self.make = None
        """From a title to the HTML of its page, for titles that are not in `pages`."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/w/api.php"

    def add(self, title, *revisions):
        """Add a page with revisions, each a time and HTML; one of 2017 if only its HTML is given."""
        pairs = [(BEFORE, one) if isinstance(one, str) else one for one in revisions]
        self.pages[title] = (len(self.pages) + 1, pairs)

    def move(self, old, new, at=AFTER):
        """Move a page, and leave a redirect, as is usual."""
        self.pages[new] = self.pages.pop(old)
        self.add(old, (at, redirect_to(new)))
        self.redirects[old] = new

    def fail(self, *faults):
        """Answer requests so: a status, (status, headers), (headers, JSON), bytes, (`CUT`, size), `ENDLESS`."""
        self.faults += faults

    def find_page(self, title):
        if (
            self.make is not None
            and title not in self.pages
            and (html := self.make(title)) is not None
        ):
            self.add(title, html)
        return self.pages.get(title)

    def answer(self, asked):
        return self.answer_query(asked) if asked["action"] == "query" else self.answer_parse(asked)

    def answer_query(self, asked):
        title = asked["titles"].replace("_", " ")
        title = title[:1].upper() + title[1:]
        while asked.get("redirects") and title in self.redirects:
            title = self.redirects[title]
        if "~~~" in title:
            return {"query": {"pages": [{"title": title, "invalid": True}]}}
        found = self.find_page(title)
        page = {"ns": 0, "title": title}
        if found is None:
            page["missing"] = True
        else:
            number, revisions = found
            page |= {"pageid": number} | ({"redirect": True} if title in self.redirects else {})
            until = [place for place, (at, _) in enumerate(revisions) if at <= asked["rvstart"]]
            if until:
                revid = 1000 * number + until[-1]
                page["revisions"] = [
                    {"revid": revid, "parentid": 0, "timestamp": revisions[until[-1]][0]}
                ]
        return {"batchcomplete": True, "query": {"pages": [page]}}

    def answer_parse(self, asked):
        number, place = divmod(int(asked["oldid"]), 1000)
        title, (_, revisions) = next(one for one in self.pages.items() if one[1][0] == number)
        return {
            "parse": {
                "title": title,
                "pageid": number,
                "revid": int(asked["oldid"]),
                "text": revisions[place][1],
            }
        }

    def is_too_fast(self):
        now = time.monotonic()
        self.times.append(now)
        recent = [one for one in self.times if now - one < 1]
        return self.rate is not None and len(recent) > self.rate


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and content in one packet

    def do_GET(self):
        wiki = self.server
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        wiki.asked.append(asked)
        wiki.agents.append(self.headers["User-Agent"])
        if wiki.faults:
            self.fail(wiki.faults.pop(0), asked)
        elif wiki.is_too_fast():
            self.send(429, b"", {"Retry-After": "1"})
        else:
            self.send(200, json.dumps(wiki.answer(asked)).encode())

    def fail(self, fault, asked):
        match fault:
            case int():
                self.send(fault, b"")
            case bytes():
                self.send(200, fault)
            case int(), dict():
                self.send(fault[0], b"", fault[1])
            case dict(), _:
                self.send(200, json.dumps(fault[1]).encode(), fault[0])
            case "endless":
                self.stream()
            case "cut", n_bytes:
                self.send(200, json.dumps(self.server.answer(asked)).encode(), n_bytes=n_bytes)

    def send(self, status, content, headers=None, n_bytes=None):
        """Send an answer; with `n_bytes`, only so many of its content, and break off."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:n_bytes])
        self.close_connection = n_bytes is not None

    def stream(self):
        """Send a page of 50 MB, until the client has enough."""
        self.send_response(200)
        self.send_header("Content-Length", str(50 * 2**20))
        self.end_headers()
        with suppress(OSError):
            for _ in range(50):
                self.wfile.write(b"a" * 2**20)
        self.close_connection = True

    def log_message(self, *arguments):
        pass


def redirect_to(title):
    """The HTML of a page that is a redirect."""
    link = f'<a href="/wiki/{title}" title="{title}">{title}</a>'
    return f'<div class="redirectMsg"><p>Redirect to:</p><ul class="redirectText"><li>{link}</li></ul></div>'


@contextmanager
def serving_wiki():
    with Wiki() as wiki:
        thread = threading.Thread(target=wiki.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield wiki
        finally:
            wiki.shutdown()
            thread.join()
