"""ARRAU: columns, as in the CRAC 2018 shared task: a document per file, a token per line, minimum spans (MIN).

Conventions: cells are separated by blanks and tabs; a first line that begins with TOKEN names the columns.  The first
column is the word.  The second contains the markables, several separated by ``@``: ``B-markable_7=set_3`` on the first
token of markable 7 of entity 3, ``I-markable_7=set_3`` on the others; a markable reaches from its first to its last
token.  If there are four or more columns, the third contains the minimum span of each of these markables, by the
numbers of its words in the file, from 1: ``word_12`` or ``word_12..word_14``.  If there are three or more, the last
contains a word for each: markables that are ``non_referring`` are in no entity.  The document is named as the file,
without its suffix.

Source: the reader of coval (github.com/ns-moosavi/coval), which scores such files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.formats.text import UNSAFE, read_lines
from closeread.tasks.coref.documents import Document, Documents, ListedWords, Mention
from closeread.tasks.coref.formats.lines import group_mentions
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import count_notice

MARKABLE = re.compile(r"([BI])-markable_([0-9]{1,9})=set_([0-9A-Za-z_]+)")
MINIMUM = re.compile(r"word_([0-9]{1,9})(?:\.\.word_([0-9]{1,9}))?")
NOTHING = frozenset({"", "-", "_"})


@dataclass
class _Markable:
    """A markable; words are numbered from 0."""

    line: int
    entity: str
    start: int
    end: int
    minimum: tuple[int, int] | None
    is_referring: bool


def describe_non_referring(counts: Mapping[str, int]) -> str:
    """Say how many markables do not refer."""
    non_referring = pluralize(counts["non-referring"], "non-referring markable")
    return f"{non_referring} of {counts['markables']:,} not scored"


def describe_outside(counts: Mapping[str, int]) -> str:
    """Say how many minimum spans are ignored."""
    return f"{pluralize(counts['outside'], 'minimum span')} ignored: not inside the markable"


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read a file, which is a document; the mentions of an entity are in the order in which they begin."""
    del reading
    problems = ProblemList()
    words: list[str] = []
    lines: list[int] = []
    markables: dict[str, _Markable] = {}
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split()
        if not cells or (not words and cells[0].startswith("TOKEN")):
            continue
        if any(map(UNSAFE.search, cells)):
            problems.add("the row contains a control character", number)
        words.append(cells[0])
        lines.append(number)
        if len(cells) > 1 and cells[1] not in NOTHING:
            names = cells[1].split("@")
            columns = [3 if len(cells) > 3 else 0, len(cells) if len(cells) > 2 else 0]
            values = [
                _split(cells[i - 1] if i else "_", len(names), i, number, problems) for i in columns
            ]
            for text, minimum, kind in zip(names, *values, strict=True):
                _take_markable(markables, len(words) - 1, text, minimum, kind, number, problems)
    if not words and not problems:
        problems.add("contains no token")
    problems.raise_any(path)
    mentions = []
    # The lines of markables whose minimum spans are not inside them.
    outside_lines = []
    for markable in markables.values():
        if not markable.is_referring:
            continue
        span: Sequence[int] = ()
        if markable.minimum is not None:
            first, last = markable.minimum
            if markable.start <= first and last <= markable.end:
                span = range(first, last + 1)
            else:
                outside_lines.append(markable.line)
        mention = Mention(markable.start, markable.end, minimum=tuple(span))
        mentions.append((markable.entity, mention))
    notices = []
    n_non_referring = len(markables) - len(mentions)
    if n_non_referring:
        counts = {"non-referring": n_non_referring, "markables": len(markables)}
        notices.append(count_notice(describe_non_referring, counts))
    if outside_lines:
        counts = {"outside": len(outside_lines)}
        notices.append(count_notice(describe_outside, counts, f"line {outside_lines[0]}"))
    document = Document(
        name=path.stem,
        entities=group_mentions(mentions),
        n_tokens=len(words),
        words=ListedWords(words, lines),
        is_named=False,
    )
    return Documents([document], notices)


def _split(cell: str, n: int, column: int, line: int, problems: ProblemList) -> Sequence[str]:
    """Split a cell that has a value for each of the n markables of its row, or none."""
    values = cell.split("@")
    if len(values) == n:
        return values
    if cell not in NOTHING:
        number = f"{quote(cell)} has {pluralize(len(values), 'value')} separated by '@'"
        problems.add(f"column {column}: {number} (expected {n}, one for each markable)", line)
    return [""] * n


def _take_markable(
    markables: dict[str, _Markable],
    token: int,
    text: str,
    minimum: str,
    kind: str,
    line: int,
    problems: ProblemList,
) -> None:
    match = MARKABLE.fullmatch(text)
    if not match:
        expected = "expected B-markable_ID=set_ID or I-markable_ID=set_ID, several separated by '@'"
        problems.add(f"column 2: {quote(text)} is not a markable ({expected})", line)
        return
    letter, name, entity = match.groups()
    begins = letter == "B"
    before = markables.get(name)
    if begins and before:
        problems.add(f"column 2: markable {name} begins again (first on line {before.line})", line)
    elif begins:
        numbers = MINIMUM.fullmatch(minimum)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (0, 0)
        if minimum not in NOTHING and not 0 < first <= last:
            expected = "expected word_FIRST..word_LAST, numbered from 1 in the file"
            problems.add(f"column 3: {quote(minimum)} is not a minimum span ({expected})", line)
        span = (first - 1, last - 1) if numbers else None
        markables[name] = _Markable(line, entity, token, token, span, kind != "non_referring")
    elif not before:
        problems.add(
            f"column 2: markable {name} has not begun (expected B-markable_{name} before it)", line
        )
    elif before.entity != entity:
        found_in = (
            f"markable {name} is in set_{entity}, but in set_{before.entity} on line {before.line}"
        )
        problems.add(f"column 2: {found_in}", line)
    else:
        before.end = token


FORMAT = CorefFormat(read_records)
