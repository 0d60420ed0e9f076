"""What readers of annotation tools' files yield: text, spans, and links between spans.

Conventions: positions count characters of the text (code points) from 0, and ends are exclusive.  In formats with a row
for every token, a token is two positions wide, so that a part of a word can be told from the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem
from closeread.formats.text import BYTE_ORDER_MARK
from closeread.tasks.coref.formats import StandoffOptions

Positions = tuple[int, int]
"""Where a part of a span begins and ends."""

CLUSTERS = "clusters"
"""The layer of the entities of systems, which have no other."""

WIDTH_OF_TOKEN = 2
"""The positions of a token in formats with rows."""


class SentenceLayout(NamedTuple):
    """How a sentence is laid out in a file with a row for every token.

    Attributes:
        text: its text.
        offsets: where its tokens are in the document, in UTF-16 units.
    """

    text: str
    offsets: list[Positions]


@dataclass(eq=False)
class StandoffSpan:
    """A span of the text that somebody marked.

    Attributes:
        layer: its layer; in tools without layers, its label.
        parts: where its parts are, in the order of the text.
        features: its other values by name; those without a value are left out.
        head: its head, if the format says which.
    """

    layer: str
    parts: Sequence[Positions]
    features: dict[str, str] = field(default_factory=dict)
    head: Positions | None = None


class Link(NamedTuple):
    """A link between two spans.

    Attributes:
        layer: its layer; in tools without layers, its label; of a feature that links, "LAYER.FEATURE".
        labels: its features that have values, by name, in the order of the layer.
        source, target: the ids of the spans.
    """

    layer: str
    labels: Mapping[str, str]
    source: Hashable
    target: Hashable

    def label(self, feature: str = "") -> str:
        """Return its value of a feature, or else of the first that has one; empty if there is none."""
        if feature:
            return self.labels.get(feature, "")
        return next(iter(self.labels.values()), "")


class Chain(NamedTuple):
    """Spans that are linked as a whole.

    Attributes:
        layer: its layer; in tools without layers, its label.
        spans: the ids of the spans, in the order of the file.
    """

    layer: str
    spans: Sequence[Hashable]


@dataclass(eq=False)
class StandoffDocument:
    """A document with annotation beside its text.

    Attributes:
        name: its name; empty if the file has none.
        text: its text; empty in formats with a row for every token.
        tokens: where its tokens are; None if the file has only characters.
        words: the words of the tokens; None if they are those of the text.
        file: its file in the folder that was read; None if it is from a file of its own.
        sentences: where its sentences begin and end, if the file says so.
        layout: its sentences, in formats with a row for every token.
        is_named: whether it has a name in its file, or one file for itself; otherwise its name is a number.
        spans: the spans by their ids in the file.
        links, chains: what the file says of spans that belong together.
        n_dangling: the number of links to spans that are nowhere.
        notices: what else there is to say of the document.
    """

    name: str = ""
    text: str = ""
    tokens: list[Positions] | None = None
    words: list[str] | None = None
    file: str | None = None
    sentences: Sequence[Positions] = ()
    layout: list[SentenceLayout] = field(default_factory=list)
    is_named: bool = True
    spans: dict[Hashable, StandoffSpan] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)
    n_dangling: int = 0
    notices: list[str] = field(default_factory=list)

    def add_rows(self, words: list[str]) -> None:
        """Add the tokens of a format with rows."""
        self.words = words
        self.tokens = [rows(number, number) for number in range(len(words))]

    def list_sentences(self) -> list[SentenceLayout]:
        """Return its sentences as a file with a row for every token has them; without any, the text is one."""
        if self.layout or not self.text:
            return self.layout
        units = count_utf16(self.text)
        layout = []
        tokens = self.tokens or []
        for begin, end in self.sentences or [(0, len(self.text))]:
            inside = [token for token in tokens if begin <= token[0] < end]
            offsets = [(units[first], units[last]) for first, last in inside]
            layout.append(SentenceLayout(self.text[begin:end], offsets))
        are_all_inside = sum(len(sentence.offsets) for sentence in layout) == len(tokens)
        return layout if are_all_inside else []

    def link(
        self,
        layer: str,
        source: Hashable,
        target: Hashable,
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Add a link, if both spans are there."""
        if source in self.spans and target in self.spans:
            self.links.append(Link(layer, labels, source, target))
        else:
            self.n_dangling += 1


AnnotatorDocuments = Mapping[str, Sequence[StandoffDocument]]
"""The documents of each annotator by name; that of a file that doesn't say whose it is is empty."""


def rows(first: int, last: int) -> Positions:
    """Return the positions of some tokens of a format with rows."""
    return WIDTH_OF_TOKEN * first, WIDTH_OF_TOKEN * (last + 1)


class StandoffFile(NamedTuple):
    """A file of an annotation tool, perhaps in a folder or a ZIP archive.

    Attributes:
        name: its path, for messages.
        data: its bytes.
        read_beside: returns the bytes of the file with the same name and another suffix; None if there is none.
        options: what of it is read.
    """

    name: str
    data: bytes
    read_beside: Callable[[str], bytes | None]
    options: StandoffOptions

    @property
    def text(self) -> str:
        """Its text, without a byte-order mark.

        Raises:
            FormatError: it is not UTF-8.
        """
        return decode_text(self.name, self.data.removeprefix(BYTE_ORDER_MARK))


def decode_text(name: str, data: bytes) -> str:
    """Return the text of a file, with its line ends as they are; a FormatError if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(name, [Problem(f"is not UTF-8 (byte {error.start})")]) from None


def count_utf16(text: str) -> list[int]:
    """Return the number of UTF-16 units before each character, and of all.

    >>> count_utf16("a😀b")
    [0, 1, 3, 4]
    """
    return list(accumulate((1 + (character > "\uffff") for character in text), initial=0))


def find_code_points(text: str) -> Sequence[int]:
    """Return the number of the code point at each position in UTF-16, where characters such as 😀 take two.

    >>> find_code_points("a😀b")
    [0, 1, 1, 2, 3]
    """
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    code_points = []
    for number, character in enumerate(text):
        code_points.append(number)
        if character > "\uffff":
            code_points.append(number)
    code_points.append(len(text))
    return code_points


def fit_offsets(
    document: StandoffDocument, texts: Mapping[Hashable, str | None]
) -> dict[Hashable, str]:
    """Make the offsets of spans count code points if they count UTF-16 units.

    Args:
        document: the document.
        texts: the text of each span, as the file has it, whatever its blanks; None if it has none.

    Returns:
        What is at the offsets of spans that have another text, or lie outside, either way.
    """
    differing = _find_differences(document, texts)
    if differing:
        original = {key: span.parts for key, span in document.spans.items()}
        code_points = find_code_points(document.text)
        last = len(code_points) - 1
        for span in document.spans.values():
            span.parts = [
                (code_points[min(begin, last)], code_points[min(end, last)])
                for begin, end in span.parts
            ]
        if not _find_differences(document, texts):
            document.notices.append("offsets count UTF-16 units.")
            return {}
        for key, parts in original.items():
            document.spans[key].parts = parts
    return differing


def _find_differences(
    document: StandoffDocument, texts: Mapping[Hashable, str | None]
) -> dict[Hashable, str]:
    """Return what is at the offsets of spans whose text is not that."""
    differing = {}
    length = len(document.text)
    for key, expected in texts.items():
        parts = document.spans[key].parts
        covered = " ".join(document.text[begin:end] for begin, end in parts)
        is_inside = all(0 <= begin <= end <= length for begin, end in parts)
        if not is_inside or (expected is not None and covered.split() != expected.split()):
            differing[key] = covered
    return differing
