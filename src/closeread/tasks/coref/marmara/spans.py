"""Spans of mentions: their order in the document, and overlaps.

Conventions: a span is the first and the last token of a mention, from 0 in the document.  In document order, spans are
sorted by their start, then the longer first.
"""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]


def document_order(span: Span) -> Span:
    """Return what sorts spans into document order."""
    return span[0], -span[1]


def find_overlaps(spans: Iterable[Span]) -> list[tuple[Span, Span]]:
    """Return each span that overlaps an earlier one, after the one of these that reaches furthest.

    >>> find_overlaps([(5, 9), (0, 3), (7, 7), (4, 4)])
    [((5, 9), (7, 7))]
    """
    found = []
    widest: Span | None = None
    for span in sorted(spans, key=document_order):
        if widest is not None and span[0] <= widest[1]:
            found.append((widest, span))
        widest = span if widest is None else max(widest, span, key=lambda one: one[1])
    return found
