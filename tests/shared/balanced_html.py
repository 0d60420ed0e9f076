"""HTML that is well-formed: every element is closed in the right order, and no attribute comes twice; what is in it."""

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


class Page(HTMLParser):
    """The elements of a page in order, as (tag, attributes), and their texts by tag."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.rows, self.inside = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = [*self.inside, tag][-1:]
        if tag == "tr":
            self.rows.append([dict(attrs).get("class", "")])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data):
        self.texts.append((self.inside[-1] if self.inside else "", data))
        in_cell = self.inside and self.inside[-1] in ("td", "th", "small", "i", "span", "tr")
        if in_cell and self.rows and len(self.rows[-1]) > 1:
            self.rows[-1][-1] += data

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag):
        return "".join(text for name, text in self.texts if name == tag)
