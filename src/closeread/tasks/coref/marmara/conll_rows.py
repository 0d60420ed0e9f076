"""The rows of CoNLL files of the corpus, and the mentions and chains that they may have.

Conventions: a row begins with the number of the sentence, that of the word (IX) and the form.  Tokens are counted from
0 in the document, and a span's end is its last token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.marmara.spans import Span, find_overlaps

COLUMNS = "sentence number, word number, form and mentions"


class Row(NamedTuple):
    """A row of a CoNLL file.

    Attributes:
        sentence: the number of the sentence.
        ix: the number of the word, as written.
        form: the word.
        line: its line in the file, from 1.
    """

    sentence: str
    ix: str
    form: str
    line: int

    @property
    def text(self) -> str:
        """The row without the cell of the mentions."""
        return f"{self.sentence}\t{self.ix}\t{self.form}"


def read_rows(table: MentionTable, problems: Problems) -> dict[int, list[Row]]:
    """Return the rows of the documents of a CoNLL file, by index; those without the columns are a problem."""
    found: dict[int, list[Row]] = {}
    words = table.words if isinstance(table.words, ConllWords) else None
    for index, name in enumerate(table.names):
        read = words.read_columns(index, [0, 1, 2]) if words is not None else None
        is_empty = table.n_tokens is not None and not table.n_tokens[index]
        if words is None or read is None or is_empty:
            what = f"document {quote(name)} has {'no rows' if is_empty else 'too few columns'}"
            problems.add(f"{what} (expected {COLUMNS})")
            continue
        numbers, words_in_sentence, forms = read[0]
        columns = zip(numbers, words_in_sentence, forms, words.lines(index), strict=True)
        found[index] = [Row(*row) for row in columns]
    return found


def find_chains(table: MentionTable, index: int, rows: Sequence[Row], problems: Problems) -> list[list[Span]]:
    """Return the chains of a document, which may be of one mention, in the order of the file.

    Errors, by the line on which a mention ends: it is over two sentences, stands twice, or overlaps another of its
    chain.
    """
    first, last = np.searchsorted(table.document, [index, index + 1]).tolist()
    chains: dict[int, list[Span]] = {}
    seen: dict[Span, str] = {}
    for place in range(first, last):
        start, end, chain = int(table.start[place]), int(table.end[place]), table.label(place)
        about = f"the mention of chain {quote(chain)} that begins on line {rows[start].line}"
        if rows[start].sentence != rows[end].sentence:
            over = f"is over two sentences, {quote(rows[start].sentence)} and {quote(rows[end].sentence)}"
            problems.add(f"{about} {over} (expected one)", rows[end].line)
        if (start, end) in seen:
            problems.add(f"{about} is already in chain {quote(seen[start, end])} (expected one chain)", rows[end].line)
            continue
        seen[start, end] = chain
        chains.setdefault(int(table.entity[place]), []).append((start, end))
    for spans in chains.values():
        for one, other in find_overlaps(spans):
            what = f"the mention that begins on line {rows[other[0]].line} overlaps another of its chain"
            problems.add(f"{what}, on lines {rows[one[0]].line} to {rows[one[1]].line}", rows[other[1]].line)
    return list(chains.values())
