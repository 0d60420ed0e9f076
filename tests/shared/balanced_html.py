"""HTML that is well-formed: every element is closed in the right order, and no attribute comes twice."""

from html.parser import HTMLParser


class Balanced(HTMLParser):
    """Checks that every element is closed in the right order."""

    VOID = frozenset(["meta", "link", "br", "img", "input", "hr", "col", "source"])

    OPTIONAL = frozenset(["td", "th", "tr", "tbody", "thead", "li", "p", "dt", "dd", "option"])
    """The elements whose end tags may be left out."""

    def __init__(self):
        super().__init__()
        self.opened, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag):
        while self.opened[-1] != tag and self.opened[-1] in self.OPTIONAL:
            self.opened.pop()
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def check_html(text):
    """Parse a page or a part of one; return its texts."""
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert parser.opened == []
    return parser.texts
