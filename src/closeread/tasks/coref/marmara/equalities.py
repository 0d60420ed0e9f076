r"""Equalities between the mentions of a given file: what the annotators of the corpus sent.

Source: Schüller et al. (2018, section 3.1); the exact syntax of their manual is not public.

Conventions: a file of given mentions is CoNLL (see `conll_files`) in which every mention is a chain of its own.  A line
has two or more ids of its chains with `=` between them, such as `1 = 4 = 17`; lines that share an id join.  Blank lines
and those that begin with `#` are skipped.  Mentions that no line names are unused.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.problems import Problems
from closeread.formats.text import read_lines
from closeread.records import Record
from closeread.tasks.coref.formats.conll import read_conll
from closeread.tasks.coref.marmara.conll_files import format_document
from closeread.tasks.coref.marmara.conll_rows import Row, find_chains, read_rows
from closeread.tasks.coref.marmara.spans import Span, document_order, find_overlaps

ID = re.compile(r"0*([1-9][0-9]*|0)", re.ASCII)
EXPECTED = "expected ids with '=' between them, such as 1 = 4 = 17"


@dataclass(frozen=True)
class Given:
    """The mentions that annotators were given.

    Attributes:
        name: the document's name.
        rows: its rows.
        mentions: the span of each mention by its id, in document order.
    """

    name: str
    rows: Sequence[Row]
    mentions: Mapping[str, Span]

    @cached_property
    def ids(self) -> Mapping[Span, str]:
        """The id of each mention by its span."""
        return {span: m_id for m_id, span in self.mentions.items()}

    @property
    def sentences(self) -> list[list[str]]:
        """The rows of each sentence, without the cell of the mentions."""
        return [[row.text for row in rows] for _, rows in groupby(self.rows, key=lambda row: row.sentence)]

    def describe(self, m_id: str) -> str:
        """Name a mention by id, sentence and words."""
        start, end = self.mentions[m_id]
        words = " ".join(row.form for row in self.rows[start : end + 1])
        return f"{m_id} ({self.rows[start].sentence}, {quote(words)})"


class Equalities(NamedTuple):
    """An annotation.

    Attributes:
        chains: the spans of the mentions of each chain, in document order; chains by their first mention.
        unused: the ids of the mentions in no chain, in document order.
    """

    chains: list[list[Span]]
    unused: list[str]


def read_given(path: Path) -> Given:
    """Read a file of given mentions.

    Raises:
        FormatError: the file is not valid CoNLL, has several documents, or a chain is not a number or has two mentions.
    """
    table = read_conll(path)
    if len(table.names) > 1:
        found = f"contains {len(table.names):,} documents"
        raise FormatError(path, [Problem(f"{found} (expected one, since equalities name no document)")])
    problems = Problems()
    rows = read_rows(table, problems).get(0, [])
    problems.raise_any(path)
    find_chains(table, 0, rows, problems)
    mentions: dict[str, Span] = {}
    for place in range(len(table.start)):
        start, end, label = int(table.start[place]), int(table.end[place]), table.label(place)
        number = ID.fullmatch(label)
        if number is None:
            problems.add(f"the id {quote(label)} is not a number", rows[start].line)
        elif mentions.setdefault(number[1], (start, end)) != (start, end):
            what = f"{quote(label)} is also the id of the mention on line {rows[mentions[number[1]][0]].line}"
            problems.add(f"{what} (expected every mention in a chain of its own)", rows[start].line)
    problems.raise_any(path)
    ordered = sorted(mentions.items(), key=lambda one: document_order(one[1]))
    return Given(table.names[0], rows, dict(ordered))


def read_equalities(path: Path, given: Given) -> Equalities:
    """Read an annotation.

    Raises:
        FormatError: the file is no text, or lines have another form, unknown ids or ids twice, or put overlapping
            mentions into one chain; all problems at once.
    """
    problems = Problems()
    chains = {m_id: [span] for m_id, span in given.mentions.items()}
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        ids = _parse_line(text, given, line, problems)
        if ids is not None:
            _join(ids, chains, given, line, problems)
    problems.raise_any(path)
    different = {id(chain): chain for chain in chains.values()}.values()
    found = sorted((chain for chain in different if len(chain) > 1), key=lambda chain: document_order(chain[0]))
    return Equalities(found, [m_id for m_id, chain in chains.items() if len(chain) < 2])


def _parse_line(text: str, given: Given, line: int, problems: Problems) -> list[str] | None:
    """Return the ids of a line; None if something is wrong."""
    sides = [side.strip() for side in text.split("=")]
    if len(sides) < 2:
        problems.add(f"{quote(text.strip())} has no '=' ({EXPECTED})", line)
        return None
    wrong: list[str] = []
    ids: list[str] = []
    for side in sides:
        number = ID.fullmatch(side)
        if not side:
            wrong.append(f"a side of '=' is empty ({EXPECTED})")
        elif number is None:
            wrong.append(f"{quote(side)} is not a number ({EXPECTED})")
        elif number[1] not in given.mentions:
            wrong.append(f"no given mention has the id {quote(side)}")
        elif number[1] in ids:
            wrong.append(f"the id {quote(side)} is in the line twice")
        else:
            ids.append(number[1])
    for what in dict.fromkeys(wrong):
        problems.add(what, line)
    return None if wrong else ids


def _join(ids: Sequence[str], chains: dict[str, list[Span]], given: Given, line: int, problems: Problems) -> None:
    """Join the chains of the ids of a line, unless mentions of them overlap; chains stay in document order."""
    *others, longest = sorted({id(chains[one]): chains[one] for one in ids}.values(), key=len)
    new = [span for chain in others for span in chain]
    if not find_overlaps(new) and not any(_overlaps(span, longest) for span in new):
        for span in new:
            insort(longest, span)
            chains[given.ids[span]] = longest
        return
    for one, other in find_overlaps([*new, *longest]):
        both = f"{given.describe(given.ids[one])} and {given.describe(given.ids[other])}"
        how = "" if {given.ids[one], given.ids[other]} <= set(ids) else ", together with lines before"
        problems.add(f"puts overlapping mentions into one chain{how}: {both}", line)


def _overlaps(span: Span, chain: Sequence[Span]) -> bool:
    """Return whether a span overlaps one of a chain's, which are in order and don't overlap each other."""
    place = bisect_left(chain, span)
    return (place > 0 and chain[place - 1][1] >= span[0]) or (place < len(chain) and chain[place][0] <= span[1])


def describe_unused(annotation: Equalities, given: Given, limit: int) -> list[str]:
    """Return notes that list the unused mentions, at most `limit` of them, after their number."""
    if not annotation.unused:
        return []
    total = f"{pluralize(len(annotation.unused), 'given mention')} not used"
    more = f" (first {limit} shown)" if len(annotation.unused) > limit else ""
    return [f"{total}{more}:", *map(given.describe, annotation.unused[:limit])]


def make_row(annotation: Equalities, given: Given) -> Record:
    """Return an annotation as a document of coreference."""
    clusters = [[list(span) for span in chain] for chain in annotation.chains]
    return {"document": given.name, "clusters": clusters, "n_tokens": len(given.rows)}


def dump_annotation(annotation: Equalities, given: Given, suffix: str) -> str:
    """Return an annotation as CoNLL (`.conll`) or as JSON Lines of coreference (`.jsonl`).

    Raises:
        ValueError: the suffix is another.
    """
    if suffix == ".conll":
        return format_document(given.name, given.sentences, annotation.chains)
    if suffix == ".jsonl":
        return dump_json_lines([make_row(annotation, given)])
    raise ValueError(f"the suffix is '{suffix}' (expected .conll or .jsonl)")
