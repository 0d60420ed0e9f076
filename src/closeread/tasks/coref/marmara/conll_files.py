"""The corpus in CoNLL: sentence number, number of the word (IX), form and chains, separated by tabs.

Source: the files that the annotators of the corpus were given (Schüller et al., 2018, section 3.1).

Conventions: spans are the first and the last token in the document, from 0.  Chains are numbered from 1 in the order
in which they are given.  In a cell, mentions that end come first, the innermost first, then those of a single token,
then those that begin, the longest first; if none ends, those that begin come before single tokens, and if none begins,
those that end come after them.  Equal spans are in the order of their chains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from closeread.exceptions import quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.marmara.documents import Sentence
from closeread.tasks.coref.marmara.record_making import NO_GAPS

WORD = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
"""What a cell may contain: cells are separated by blanks."""

Chains = Sequence[Sequence[Sequence[int]]]
"""The spans `[start, end]` of the mentions of each chain."""


def make_rows(sentences: Iterable[Sentence], word_numbers: Mapping[str, Sequence[int]] = NO_GAPS) -> list[list[str]]:
    """Return the rows of each sentence without the cell of the mentions.

    Args:
        sentences: the sentences.
        word_numbers: the numbers (IX) of the words of each sentence in which they are not 1, 2, 3 …

    Raises:
        ValueError: a word contains a blank or a control character.
    """
    rows = []
    for sentence in sentences:
        number, tokens = sentence["number"], sentence["tokens"]
        for token in tokens:
            if not WORD.fullmatch(token["form"]):
                raise ValueError(f"sentence {quote(number)}: CoNLL can't express the word {quote(token['form'])}")
        numbers = word_numbers.get(number, range(1, len(tokens) + 1))
        rows.append([f"{number}\t{ix}\t{token['form']}" for ix, token in zip(numbers, tokens, strict=True)])
    return rows


def format_document(name: str, rows: Sequence[Sequence[str]], chains: Chains) -> str:
    """Return a document as CoNLL text.

    Args:
        name: its name.
        rows: the rows of each sentence without the cell of the mentions.
        chains: its chains.

    Raises:
        ValueError: the name contains a control character.
    """
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: CoNLL can't express this name")
    cells = iter(format_cells(chains, sum(map(len, rows))))
    lines = [f"#begin document ({name});\n"]
    for sentence in rows:
        lines += [f"{row}\t{cell}\n" for row, cell in zip(sentence, cells, strict=False)]
        lines.append("\n")
    return "".join([*lines, "#end document\n"])


def format_cells(chains: Chains, n_tokens: int) -> list[str]:
    """Return the cell of the mentions of each token.

    >>> format_cells([[[0, 2], [3, 3]], [[0, 1]], [[2, 2]]], 4)
    ['(1|(2', '2)', '(3)|1)', '(1)']
    """
    single: dict[int, list[int]] = {}
    begin: dict[int, list[tuple[int, int]]] = {}  # what sorts them, and the chain
    end: dict[int, list[tuple[int, int]]] = {}
    for chain, spans in enumerate(chains, 1):
        for first, last in spans:
            if first == last:
                single.setdefault(first, []).append(chain)
            else:
                begin.setdefault(first, []).append((-last, chain))
                end.setdefault(last, []).append((-first, chain))
    cells = []
    for token in range(n_tokens):
        ends = [f"{chain})" for _, chain in sorted(end.get(token, ()))]
        begins = [f"({chain}" for _, chain in sorted(begin.get(token, ()))]
        singles = [f"({chain})" for chain in sorted(single.get(token, ()))]
        if not begins:
            pieces = singles + ends
        elif not ends:
            pieces = begins + singles
        else:
            pieces = ends + singles + begins
        cells.append("|".join(pieces) or "-")
    return cells
