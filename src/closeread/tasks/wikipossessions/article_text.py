"""The plain text of an article: paragraphs with marks of sections, from the HTML of a MediaWiki.

Conventions: a heading is a line between equals signs, as many as its level (`== History ==`), as in MediaWiki's
TextExtracts (`exsectionformat=wiki`).  Blocks are separated by an empty line, items of a list by a line end.  What
TextExtracts leaves out is left out here, too: tables, boxes, pictures with their captions, references, links to edit;
boxes are all `div` elements but those that only group paragraphs.  TextExtracts itself reads current revisions only.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser

MARK = re.compile(r"^(={1,6}) (.+) \1$", re.MULTILINE)
SECTION_LEVEL = 2
"""The level of the sections of an article: level 1 is its title."""

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
BLOCKS = frozenset({"p", "div", "section", "ul", "ol", "dl", "dt", "dd", "li", "blockquote", "pre", "center", "br"})
ITEMS = frozenset({"li", "dt", "dd"})
HEADINGS = {f"h{level}": "=" * level for level in range(1, 7)}
LEFT_OUT = frozenset({"table", "figure", "script", "style", "input", "math", "noscript", "template"})
LEFT_OUT_CLASSES = frozenset(
    {
        *("mw-editsection", "reference", "references", "error", "nomobile", "noprint", "noexcerpt", "sortkey"),
        *("gallery", "mw-empty-elt"),
    }
)
GROUPS = frozenset({"mw-parser-output", "mw-heading", "div-col"})
"""Classes of `div` elements that only group paragraphs."""

INVISIBLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which the loader refuses in a text."""

REDIRECT = 'class="redirectText"'
LINK = re.compile(r'<a [^<>]*?title="([^"]*)"')
NEAR = 2000
"""Within how many characters after `REDIRECT` the link to the other page ends."""


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
    parser.feed(html)
    # What is left follows a tag that does not end, if there is one.  `HTMLParser.close` would look for the end of each
    # tag in it, up to the end of the page.
    parser.handle_data(unescape(parser.rawdata))
    parser.end_block()
    return parser.text


def find_redirect(html: str) -> str | None:
    """Return the title that a page redirects to; None if it is an article."""
    if 'class="redirectMsg"' not in html:
        return None
    found = LINK.search(html.partition(REDIRECT)[2][:NEAR])
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
    return sum(len(mark[1]) == SECTION_LEVEL for mark in MARK.finditer(text))


class _Parser(HTMLParser):
    """Collects the blocks of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._parts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._counts: Counter[str] = Counter()
        self._n_hidden = 0
        self._mark = ""
        self._is_item = self._after_item = False

    @property
    def text(self) -> str:
        return "".join(self.blocks).strip("\n") + "\n" if self.blocks else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS or tag in HEADINGS:
            self._break(tag)
        if tag in VOID:
            return
        is_hidden = _is_left_out(tag, dict(attrs))
        self._open.append((tag, is_hidden))
        self._counts[tag] += 1
        self._n_hidden += is_hidden

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS or tag in HEADINGS:
            self._break("")
        if not self._counts[tag]:
            return
        while True:  # closes what was left open in it
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
        lines = [" ".join(UNSAFE.sub("", line).split()) for line in "".join(self._parts).split("\0")]
        self._parts = []
        lines = list(filter(None, lines))
        if not lines:
            return
        block = f"{self._mark} {' '.join(lines)} {self._mark}" if self._mark else "\n".join(lines)
        if self.blocks:
            self.blocks.append("\n" if self._is_item and self._after_item else "\n\n")
        self.blocks.append(block)
        self._after_item = self._is_item


def _is_left_out(tag: str, attributes: dict[str, str | None]) -> bool:
    classes = set((attributes.get("class") or "").split())
    if tag in LEFT_OUT or classes & LEFT_OUT_CLASSES or INVISIBLE.search(attributes.get("style") or ""):
        return True
    return tag == "div" and not classes & GROUPS
