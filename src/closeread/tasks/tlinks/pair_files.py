"""Files of pairs: tables of temporal links without texts, as TimeBank-Dense, TDDiscourse and MATRES have them.

Sources: the README of TDDiscourse (Naik et al., 2019); Cassidy et al. (2014) for TimeBank-Dense; Ning et al. (2018) for
MATRES.

    document  source  target  relation          TimeBank-Dense and TDDiscourse; a fifth column is ignored
    document  verb  verb  source  target  relation          MATRES

Conventions: columns are separated by tabs, without a header.  The first form has ids of events and times, such as `e1`
and `t0`, and relations of one or two letters.  The second has numbers of event instances, 1 for `ei1`; 0, which no
instance has, is the creation time, `t0`.  MATRES compares only where events start, so its BEFORE is weaker than
TimeML's and has a name of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.formats.text import read_lines
from closeread.formats.timeml import EVENT, TEXT, TIMEX, Passage, Span, TimeMLDocument, Tlink

SUFFIXES = (".tsv", ".txt")
SEPARATOR = "\t"

LETTERS = {
    "a": "AFTER",
    "b": "BEFORE",
    "i": "INCLUDES",
    "ii": "IS_INCLUDED",
    "s": "SIMULTANEOUS",
    "v": "VAGUE",
}
STARTS = {
    "BEFORE": "STARTS_BEFORE",
    "AFTER": "STARTS_AFTER",
    "EQUAL": "STARTS_EQUAL",
    "VAGUE": "VAGUE",
}
"""The relations of MATRES, as statements about where events start."""

N_COLUMNS_OF_STARTS = 6
INTERVAL_ID = re.compile(r"(?:e|ei|t)[0-9]+")
NUMBER = re.compile(r"[0-9]+")


def read_pairs(path: Path) -> tuple[dict[str, TimeMLDocument], list[str]]:
    """Read the documents of a file of pairs by name, and notices for the user."""
    problems = ProblemList()
    tlinks: dict[str, list[Tlink]] = {}
    n_zeros = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        if len(cells) == N_COLUMNS_OF_STARTS:
            n_zeros += cells[3:5].count("0")
            source, target = map(_name_instance, cells[3:5])
            relation = _find_relation(cells[5], STARTS, number, problems)
        elif len(cells) in (4, 5):
            source, target = cells[1:3]
            relation = _find_relation(cells[3], LETTERS, number, problems)
        else:
            forms = "4 or 5: document, source, target and relation; or 6, as in MATRES"
            problems.add(f"has {pluralize(len(cells), 'column')} (expected {forms})", number)
            continue
        for end in (source, target):
            if not INTERVAL_ID.fullmatch(end):
                message = f"{quote(end)} is no id of an event or a time (expected such as e1 or t0)"
                problems.add(message, number)
        if not cells[0]:
            problems.add("has no name of a document", number)
        tlinks.setdefault(cells[0], []).append(Tlink(source, target, relation, {}, number))
    if not tlinks:
        problems.add("has no pairs")
    problems.raise_any(path)
    notices = []
    if n_zeros:
        links = pluralize(n_zeros, "link")
        notices.append(f"{path}: {links} of an event 0, read as the creation time, t0")
    return {name: make_document(name, links) for name, links in tlinks.items()}, notices


def _name_instance(number: str) -> str:
    """Return the id of an instance with a number; other text as it is, for the error message."""
    if not NUMBER.fullmatch(number):
        return number
    return "t0" if number == "0" else f"ei{number}"


def _find_relation(
    name: str, relations: Mapping[str, str], line: int, problems: ProblemList
) -> str:
    if name not in relations:
        expected = f"expected one of {', '.join(relations)}"
        problems.add(f"the relation is {quote(name)} ({expected})", line)
    return relations.get(name, "")


def make_document(name: str, tlinks: Sequence[Tlink]) -> TimeMLDocument:
    """Return a document without text, whose events and times are those of its links."""
    ends: dict[str, int | None] = {}
    for tlink in tlinks:
        ends.setdefault(tlink.source, tlink.line)
        ends.setdefault(tlink.target, tlink.line)
    spans = []
    for interval, line in ends.items():
        tag, attribute = (TIMEX, "tid") if interval.startswith("t") else (EVENT, "eid")
        spans.append(Span(tag, 0, 0, {attribute: interval}, line))
    return TimeMLDocument(name, (Passage(TEXT, "", tuple(spans)),), tlinks=tuple(tlinks))
