"""What the annotators of the corpus sent: equalities between the mentions of a given file, and chains in CoNLL.

Source: Schüller et al. (2018, section 3.1); the exact syntax of their manual is not public.

Conventions: a file of given mentions is CoNLL (see `conll`) in which every mention is a chain of its own.  A line of
equalities has two or more ids of its chains with `=` between them, such as `1 = 4 = 17`; lines that share an id join.
Blank lines and those that begin with `#` are skipped.  Mentions that no line names are unused.
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

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats.json_lines import dump_json_lines
from closeread.formats.text import read_lines
from closeread.records import Record
from closeread.tasks.marmara.conll import Row, format_document, read_documents
from closeread.tasks.marmara.documents import Span, document_order, find_overlaps

CONLL = ".conll"
ID = re.compile(r"0*([1-9][0-9]*|0)", re.ASCII)
EXPECTED = "expected ids with '=' between them, such as 1 = 4 = 17"


@dataclass(frozen=True)
class GivenMentions:
    """The mentions that annotators were given: the name of the document, its rows, and the spans of its mentions."""

    name: str
    rows: Sequence[Row]
    mentions: Mapping[str, Span]  # by id, in document order

    @cached_property
    def ids(self) -> Mapping[Span, str]:
        """The id of each mention by its span."""
        return {span: m_id for m_id, span in self.mentions.items()}

    def describe(self, m_id: str) -> str:
        """Name a mention by id, sentence and words."""
        start, end = self.mentions[m_id]
        words = " ".join(row.form for row in self.rows[start : end + 1])
        return f"{m_id} ({self.rows[start].sentence}, {quote(words)})"


class Equalities(NamedTuple):
    """An annotation: the spans of each chain, and the ids of the mentions in none, all in document order."""

    chains: list[list[Span]]
    unused: list[str]


def read_given(path: Path) -> GivenMentions:
    """Read a file of given mentions."""
    problems = ProblemList()
    documents = read_documents(path, problems)
    if len(documents) > 1:
        found = f"contains {len(documents):,} documents"
        raise FormatError(
            path, [Problem(f"{found} (expected one, since equalities name no document)")]
        )
    problems.raise_any(path)
    (document,) = documents
    document.find_chains(problems)
    rows = document.rows
    mentions: dict[str, Span] = {}
    for label, (start, end) in document.mentions:
        number = ID.fullmatch(label)
        if number is None:
            problems.add(f"the id {quote(label)} is not a number", rows[start].line)
        elif mentions.setdefault(number[1], (start, end)) != (start, end):
            what = f"{quote(label)} is also the id of the mention on line {rows[mentions[number[1]][0]].line}"
            problems.add(f"{what} (expected every mention in a chain of its own)", rows[start].line)
    problems.raise_any(path)
    return GivenMentions(
        document.name, rows, dict(sorted(mentions.items(), key=lambda one: document_order(one[1])))
    )


def read_equalities(path: Path, given: GivenMentions) -> Equalities:
    """Read an annotation."""
    problems = ProblemList()
    chains = {m_id: [span] for m_id, span in given.mentions.items()}
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        sides = [side.strip() for side in text.split("=")]
        wrong = [] if len(sides) > 1 else [f"{quote(text.strip())} has no '=' ({EXPECTED})"]
        ids: list[str] = []
        for side in sides if len(sides) > 1 else ():
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
        if not wrong:
            _join(ids, chains, given, line, problems)
    problems.raise_any(path)
    different = {id(chain): chain for chain in chains.values()}.values()
    found = sorted(
        (chain for chain in different if len(chain) > 1), key=lambda chain: document_order(chain[0])
    )
    return Equalities(found, [m_id for m_id, chain in chains.items() if len(chain) < 2])


def _join(
    ids: Sequence[str],
    chains: dict[str, list[Span]],
    given: GivenMentions,
    line: int,
    problems: ProblemList,
) -> None:
    """Join the chains of the ids of a line, unless mentions of them overlap; chains stay in document order."""
    *others, longest = sorted({id(chains[one]): chains[one] for one in ids}.values(), key=len)
    new = [span for chain in others for span in chain]

    def overlaps_longest(span: Span) -> bool:
        place = bisect_left(longest, span)
        return any(
            one[0] <= span[1] and span[0] <= one[1]
            for one in longest[max(place - 1, 0) : place + 1]
        )

    if not find_overlaps(new) and not any(map(overlaps_longest, new)):
        for span in new:
            insort(longest, span)
            chains[given.ids[span]] = longest
        return
    for one, other in find_overlaps([*new, *longest]):
        both = f"{given.describe(given.ids[one])} and {given.describe(given.ids[other])}"
        how = (
            "" if {given.ids[one], given.ids[other]} <= set(ids) else ", together with lines before"
        )
        problems.add(f"puts overlapping mentions into one chain{how}: {both}", line)


def describe_unused(annotation: Equalities, given: GivenMentions, limit: int) -> list[str]:
    """Return notes that list the unused mentions, at most `limit` of them, after their number."""
    if not annotation.unused:
        return []
    total = f"{pluralize(len(annotation.unused), 'given mention')} not used"
    more = f" (first {limit} shown)" if len(annotation.unused) > limit else ""
    return [f"{total}{more}:", *map(given.describe, annotation.unused[:limit])]


def make_row(annotation: Equalities, given: GivenMentions) -> Record:
    """Return an annotation as a document of coreference."""
    clusters = [[list(span) for span in chain] for chain in annotation.chains]
    return {"document": given.name, "clusters": clusters, "n_tokens": len(given.rows)}


def dump_annotation(annotation: Equalities, given: GivenMentions, suffix: str) -> str:
    """Return an annotation as CoNLL (`.conll`) or as JSON Lines of coreference (`.jsonl`); else a ValueError."""
    if suffix == ".conll":
        sentences = groupby(given.rows, key=lambda row: row.sentence)
        rows = [
            [f"{row.sentence}\t{row.ix}\t{row.form}" for row in of_sentence]
            for _, of_sentence in sentences
        ]
        return format_document(given.name, rows, annotation.chains)
    if suffix == ".jsonl":
        return dump_json_lines([make_row(annotation, given)])
    raise ValueError(f"the suffix is '{suffix}' (expected .conll or .jsonl)")
