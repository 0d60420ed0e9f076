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

ID = re.compile(r"0*([1-9][0-9]*|0)", re.ASCII)
EXPECTED = "expected ids with '=' between them, such as 1 = 4 = 17"


@dataclass(frozen=True)
class GivenMentions:
    """The mentions that annotators were given.

    Attributes:
        name: the name of the document.
        rows: its rows.
        mentions: the spans of its mentions by id, in document order.
    """

    name: str
    rows: Sequence[Row]
    mentions: Mapping[str, Span]

    @cached_property
    def ids(self) -> Mapping[Span, str]:
        """The id of each mention by its span."""
        return {span: mention_id for mention_id, span in self.mentions.items()}

    def describe(self, mention_id: str) -> str:
        """Name a mention by id, sentence and words."""
        start, end = self.mentions[mention_id]
        words = " ".join(row.form for row in self.rows[start : end + 1])
        return f"{mention_id} ({self.rows[start].sentence}, {quote(words)})"


class Equalities(NamedTuple):
    """An annotation: the spans of each chain, and the ids of the mentions in none, all in document order."""

    chains: list[list[Span]]
    unused: list[str]


def read_given(path: Path) -> GivenMentions:
    """Read a file of given mentions."""
    problems = ProblemList()
    documents = read_documents(path, problems)
    if len(documents) > 1:
        raise FormatError(
            path,
            [
                Problem(
                    f"contains {len(documents):,} documents (expected one, since equalities name no document)"
                )
            ],
        )
    problems.raise_any(path)
    (document,) = documents
    document.find_chains(problems)
    rows = document.rows
    mentions: dict[str, Span] = {}
    for label, span in document.mentions:
        line = rows[span[0]].line
        match = ID.fullmatch(label)
        if match is None:
            problems.add(f"the id {quote(label)} is not a number", line)
            continue
        first = mentions.setdefault(match[1], span)
        if first != span:
            problems.add(
                f"{quote(label)} is also the id of the mention on line {rows[first[0]].line} "
                "(expected every mention in a chain of its own)",
                line,
            )
    problems.raise_any(path)
    ordered = sorted(mentions.items(), key=lambda mention: document_order(mention[1]))
    return GivenMentions(document.name, rows, dict(ordered))


def read_equalities(path: Path, document: GivenMentions) -> Equalities:
    """Read an annotation."""
    problems = ProblemList()
    chains = {mention_id: [span] for mention_id, span in document.mentions.items()}
    for line, text in enumerate(read_lines(path), start=1):
        if text.strip() and not text.lstrip().startswith("#"):
            ids, errors = _read_line(text, document)
            for error in dict.fromkeys(errors):
                problems.add(error, line)
            if not errors:
                _join(ids, chains, document, line, problems)
    problems.raise_any(path)
    # Mentions of one chain share a list.
    distinct = {id(chain): chain for chain in chains.values()}.values()
    joined = [chain for chain in distinct if len(chain) > 1]
    joined.sort(key=lambda chain: document_order(chain[0]))
    unused = [mention_id for mention_id, chain in chains.items() if len(chain) == 1]
    return Equalities(joined, unused)


def _read_line(text: str, document: GivenMentions) -> tuple[list[str], list[str]]:
    """Return the ids of a line, and its errors."""
    sides = [side.strip() for side in text.split("=")]
    if len(sides) == 1:
        return [], [f"{quote(text.strip())} has no '=' ({EXPECTED})"]
    ids: list[str] = []
    errors = []
    for side in sides:
        match = ID.fullmatch(side)
        if not side:
            errors.append(f"a side of '=' is empty ({EXPECTED})")
        elif match is None:
            errors.append(f"{quote(side)} is not a number ({EXPECTED})")
        elif match[1] not in document.mentions:
            errors.append(f"no given mention has the id {quote(side)}")
        elif match[1] in ids:
            errors.append(f"the id {quote(side)} is in the line twice")
        else:
            ids.append(match[1])
    return ids, errors


def _join(
    ids: Sequence[str],
    chains: dict[str, list[Span]],
    document: GivenMentions,
    line: int,
    problems: ProblemList,
) -> None:
    """Join the chains of the ids of a line, unless mentions of them overlap; chains stay in document order."""
    distinct = {id(chains[mention_id]): chains[mention_id] for mention_id in ids}
    *shorter, longest = sorted(distinct.values(), key=len)
    spans: list[Span] = []
    for chain in shorter:
        spans += chain
    # A chain may have all mentions of a document, so that only the neighbours of a span are compared.
    if not find_overlaps(spans) and not any(_overlaps(span, longest) for span in spans):
        for span in spans:
            insort(longest, span)
            chains[document.ids[span]] = longest
        return
    for overlapping in find_overlaps([*spans, *longest]):
        first, second = (document.ids[span] for span in overlapping)
        message = "puts overlapping mentions into one chain"
        if first not in ids or second not in ids:
            message += ", together with lines before"
        problems.add(f"{message}: {document.describe(first)} and {document.describe(second)}", line)


def _overlaps(span: Span, chain: Sequence[Span]) -> bool:
    """Tell whether a span overlaps one of a chain, in which no others overlap and which is in order."""
    place = bisect_left(chain, span)
    neighbours = chain[max(place - 1, 0) : place + 1]
    return any(start <= span[1] and span[0] <= end for start, end in neighbours)


def describe_unused(annotation: Equalities, document: GivenMentions, limit: int) -> list[str]:
    """Return notes that list the unused mentions, at most `limit` of them, after their number."""
    if not annotation.unused:
        return []
    heading = f"{pluralize(len(annotation.unused), 'given mention')} not used"
    if len(annotation.unused) > limit:
        heading += f" (first {limit} shown)"
    return [f"{heading}:", *map(document.describe, annotation.unused[:limit])]


def make_row(annotation: Equalities, document: GivenMentions) -> Record:
    """Return an annotation as a document of coreference."""
    clusters = [list(map(list, chain)) for chain in annotation.chains]
    return {"document": document.name, "clusters": clusters, "n_tokens": len(document.rows)}


def dump_annotation(annotation: Equalities, document: GivenMentions, suffix: str) -> str:
    """Return an annotation as CoNLL (`.conll`) or as JSON Lines of coreference (`.jsonl`); else a ValueError."""
    if suffix == ".conll":
        sentences = []
        for _, rows in groupby(document.rows, key=lambda row: row.sentence):
            sentences.append([f"{row.sentence}\t{row.ix}\t{row.form}" for row in rows])
        return format_document(document.name, sentences, annotation.chains)
    if suffix == ".jsonl":
        return dump_json_lines([make_row(annotation, document)])
    raise ValueError(f"the suffix is '{suffix}' (expected .conll or .jsonl)")
