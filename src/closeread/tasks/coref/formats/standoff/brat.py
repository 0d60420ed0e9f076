"""brat's standoff: a text, and a file with a line for every annotation of it.

Conventions: offsets count code points.  Events stand for their triggers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.tasks.coref.formats.standoff.records import (
    AnnotatorDocuments,
    Positions,
    StandoffDocument,
    StandoffFile,
    StandoffSpan,
    decode_text,
    fit_offsets,
)

TEXT_BOUND = re.compile(r"(\S+)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
EVENT = re.compile(r"(E\S*)\t\S+?:(\S+).*")
ATTRIBUTE = re.compile(r"\S+\t(\S+) (\S+)(?: (.*))?")


class LinkKind(NamedTuple):
    """How a file links text-bound annotation.

    Attributes:
        syntax: a line, of which the first group is the label, and the others have ids.
        title: what such a line is.
        form: how it is written.
    """

    syntax: re.Pattern[str]
    title: str
    form: str


LINKS = {
    "R": LinkKind(
        re.compile(r"\S+\t(\S+)\s+\S+?:(\S+)\s+\S+?:(\S+)\s*"),
        "a relation",
        "R1, a tab, and LABEL Arg1:ID Arg2:ID",
    ),
    "*": LinkKind(
        re.compile(r"\*\t(\S+)((?: \S+)+)\s*"), "an equivalence", "*, a tab, and LABEL ID ID"
    ),
}
"""By the first character of the line."""

FEATURES = {
    "A": ATTRIBUTE,
    "M": ATTRIBUTE,
    "N": re.compile(r"\S+\t(\S+) (\S+) (\S+)(?:\t.*)?"),
    "#": re.compile(r"\S+\t(\S+) (\S+)(?:\t(.*))?"),
}
"""Attributes, normalizations and notes: their kind, the id of what they are about, and the value."""


class TextBound(NamedTuple):
    """A stretch of text that somebody marked.

    Attributes:
        line: its line in the file.
        label: its label.
        parts: the offsets of its parts.
        text: its text in the file; None if it has none.
    """

    line: int
    label: str
    parts: Sequence[Positions]
    text: str | None


def read_brat(file: StandoffFile) -> AnnotatorDocuments:
    """Read a document; its text is in the file of the same name that ends in ``.txt``.

    Raises:
        FormatError: the text is not there, or differs from the annotation, or a line is not as brat writes it.
    """
    data = file.read_beside(".txt")
    if data is None:
        problem = Problem("has no text (expected a file of the same name that ends in .txt)")
        raise FormatError(file.name, [problem])
    lines = [line.removesuffix("\r") for line in file.text.split("\n")]
    problems = ProblemList()
    bounds = _read_text_bounds(lines, problems)
    document = StandoffDocument(text=decode_text(file.name, data))
    for key, bound in bounds.items():
        document.spans[key] = StandoffSpan(bound.label, bound.parts)
    _fit_text(document, bounds, problems)
    _read_annotations(document, lines, problems)
    problems.raise_any(file.name)
    return {"": [document]}


def _read_text_bounds(lines: Sequence[str], problems: ProblemList) -> dict[str, TextBound]:
    bounds: dict[str, TextBound] = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("T"):
            continue
        match = TEXT_BOUND.fullmatch(line)
        if match is None:
            expected = "expected T1, LABEL BEGIN END and the text, separated by tabs"
            problems.add(f"{quote(line)} is not a text-bound annotation ({expected})", number)
            continue
        if match[1] in bounds:
            first = bounds[match[1]].line
            problems.add(f"duplicate id {quote(match[1])} (first on line {first})", number)
            continue
        parts = []
        for part in match[3].split(";"):
            begin, end = part.split(" ")
            parts.append((int(begin), int(end)))
        bounds[match[1]] = TextBound(number, match[2], sorted(parts), match[4])
    return bounds


def _fit_text(
    document: StandoffDocument, bounds: Mapping[str, TextBound], problems: ProblemList
) -> None:
    """Make the offsets count the characters of the text; line ends may count as one."""
    texts: dict[Hashable, str | None] = {key: bound.text for key, bound in bounds.items()}
    differing = fit_offsets(document, texts)
    if not differing:
        return
    text = document.text
    document.text = text.replace("\r\n", "\n")
    if not fit_offsets(document, texts):
        document.notices.append("offsets count a line end of two characters as one.")
        return
    document.text = text
    for key, covered in differing.items():
        bound = bounds[str(key)]
        found = f"the text at its offsets is {quote(covered)}"
        problems.add(f"{found} (expected {quote(bound.text or '')})", bound.line)


def _read_annotations(
    document: StandoffDocument, lines: Sequence[str], problems: ProblemList
) -> None:
    """Read what is said of text-bound annotation."""
    triggers: dict[str, str] = {}
    for line in lines:
        event = EVENT.fullmatch(line)
        if event:
            triggers[event[1]] = event[2]
    unknown: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        kind = line[:1]
        if kind in LINKS:
            link = LINKS[kind]
            match = link.syntax.fullmatch(line)
            if match is None:
                message = f"{quote(line)} is not {link.title} (expected {link.form})"
                problems.add(message, number)
                continue
            label, *ids = match.groups()
            keys = [triggers.get(key, key) for key in " ".join(ids).split()]
            for source, target in pairwise(keys):
                document.link(label, source, target)
        elif kind in FEATURES:
            _read_feature(document, line, triggers)
        elif kind not in "TE":
            unknown[kind] += 1
    if unknown:
        kinds = ", ".join(sorted(unknown))
        lines_left_out = pluralize(unknown.total(), "line")
        document.notices.append(f"{lines_left_out} of unknown kinds left out: {kinds}.")


def _read_feature(document: StandoffDocument, line: str, triggers: dict[str, str]) -> None:
    """Read an attribute, a note or a normalization as a feature of a span; those of others are left out."""
    pattern = FEATURES[line[0]]
    match = pattern.fullmatch(line)
    if match is None:
        return
    name, key, value = match.groups()
    key = triggers.get(key, key)
    if pattern is ATTRIBUTE:
        value = value or "true"
    else:
        value = (value or "").strip()
    if key in document.spans and value:
        document.spans[key].features[name] = value
