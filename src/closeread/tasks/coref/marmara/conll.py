"""The corpus in CoNLL: sentence number, number of the word (IX), form and chains, separated by tabs.

Source: the files that the annotators of the corpus were given (Schüller et al., 2018, section 3.1).

Conventions: spans are the first and the last token in the document, from 0.  Chains are numbered from 1 in the order
in which they are given.  In a cell, mentions that end come first, the innermost first, then those of a single token,
then those that begin, the longest first; if none ends, those that begin come before single tokens, and if none begins,
those that end come after them.

What is read is checked against the treebank, whose sentences and words the rows must repeat; blank lines don't matter.
Several documents of a file may be parts of one document of the treebank; each begins with its first row.  Documents are
named as in the whole treebank, whatever the file calls them and whichever of them it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.exceptions import Problem, ProblemList, quote
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.coref.formats.conll import WORD, ConllWords, read_conll
from closeread.tasks.coref.formats.lines import place_brackets
from closeread.tasks.coref.marmara.documents import (
    NO_GAPS,
    Span,
    WordNumbers,
    document_order,
    find_overlaps,
    make_document,
    number_words,
)
from closeread.tasks.coref.marmara.treebank import Treebank, find_document_id, number_names

COLUMNS = "sentence number, word number, form and mentions"
Chains = Sequence[Sequence[Sequence[int]]]
"""The spans `[start, end]` of the mentions of each chain."""


def dump_conll(documents: Sequence[Record], chains: Sequence[Chains], word_numbers: WordNumbers = NO_GAPS) -> str:
    """Return documents with the chains of each as CoNLL; a ValueError if it can't express a word or a name."""
    texts = []
    for document, of_document in zip(documents, chains, strict=True):
        rows = []
        for sentence in document["sentences"]:
            number, forms = sentence["number"], [token["form"] for token in sentence["tokens"]]
            if wrong := [form for form in forms if not WORD.fullmatch(form)]:
                raise ValueError(f"sentence {quote(number)}: CoNLL can't express the word {quote(wrong[0])}")
            numbers = number_words(sentence, word_numbers)
            rows.append([f"{number}\t{ix}\t{form}" for ix, form in zip(numbers, forms, strict=True)])
        texts.append(format_document(document["document"], rows, of_document))
    return "".join(texts)


def format_document(name: str, rows: Sequence[Sequence[str]], chains: Chains) -> str:
    """Return a document as CoNLL, given the rows of each sentence without chains; a ValueError for a wrong name."""
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: CoNLL can't express this name")
    spans = sorted((first, -last, number) for number, chain in enumerate(chains, 1) for first, last in chain)
    placed = place_brackets(((*span, f"({span[2]}", f"{span[2]})") for span in spans), sum(map(len, rows)))
    cells = iter(placed)
    lines = [f"#begin document ({name});\n"]
    for sentence in rows:
        for row, (closing, opening) in zip(sentence, cells, strict=False):
            single = [one for one in opening if one.endswith(")")]
            begin, end = opening[: len(opening) - len(single)], closing[::-1]
            brackets = [*end, *single, *begin] if begin and end else [*begin, *single, *end]
            lines.append(f"{row}\t{'|'.join(brackets) or '-'}\n")
        lines.append("\n")
    return "".join([*lines, "#end document\n"])


class Row(NamedTuple):
    """A row of a CoNLL file: the number of the sentence, that of the word as written, the word, and its line."""

    sentence: str
    ix: str
    form: str
    line: int


class ConllDocument(NamedTuple):
    """A document of a CoNLL file, which is a document of the treebank or a part of one."""

    name: str  # or its number if it has none
    is_named: bool
    rows: Sequence[Row]
    mentions: Sequence[tuple[str, Span]]  # with the id of the chain, by the chains in their order
    chains: list[list[Span]]  # which may be of one mention, in the order of the file


def read_documents(path: Path, problems: ProblemList) -> list[ConllDocument]:
    """Read the documents of a CoNLL file; those without the columns are a problem, and left out."""
    table = read_conll(path)
    words = table.words if isinstance(table.words, ConllWords) else None
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    found = []
    for index, name in enumerate(table.names):
        columns = words.read_columns(index, [0, 1, 2]) if words is not None else None
        if words is None or columns is None or not columns[0][0]:
            what = "too few columns" if columns is None else "no rows"
            problems.add(f"document {quote(name)} has {what} (expected {COLUMNS})")
            continue
        rows = [Row(*row) for row in zip(*columns[0], words.lines(index), strict=True)]
        places = range(*borders[index : index + 2])
        mentions = [(table.label(place), (int(table.start[place]), int(table.end[place]))) for place in places]
        chains = _find_chains(rows, mentions, problems)
        found.append(ConllDocument(name, index not in table.unnamed, rows, mentions, chains))
    return found


def _find_chains(rows: Sequence[Row], mentions: Sequence[tuple[str, Span]], problems: ProblemList) -> list[list[Span]]:
    """Return the chains of a document.

    Errors, by the line on which a mention ends: it is over two sentences, stands twice, or overlaps another of its
    chain.
    """
    chains: dict[str, list[Span]] = {}
    seen: dict[Span, str] = {}
    for chain, (start, end) in mentions:
        about = f"the mention of chain {quote(chain)} that begins on line {rows[start].line}"
        if rows[start].sentence != rows[end].sentence:
            over = f"is over two sentences, {quote(rows[start].sentence)} and {quote(rows[end].sentence)}"
            problems.add(f"{about} {over} (expected one)", rows[end].line)
        if (start, end) in seen:
            problems.add(f"{about} is already in chain {quote(seen[start, end])} (expected one chain)", rows[end].line)
        else:
            seen[start, end] = chain
            chains.setdefault(chain, []).append((start, end))
    for spans in chains.values():
        for one, other in find_overlaps(spans):
            what = f"the mention that begins on line {rows[other[0]].line} overlaps another of its chain"
            problems.add(f"{what}, on lines {rows[one[0]].line} to {rows[one[1]].line}", rows[other[1]].line)
    return list(chains.values())


def read_checked(path: Path, treebank: Treebank) -> tuple[list[Record], list[Problem]]:
    """Read the documents of a CoNLL file as records without genre; mentions have ids from 0 in document order.

    A mention that is a chain of its own is in no chain of the record.  Of each document, the first row that differs
    from the treebank is a problem.

    Returns:
        The records, in the order of the treebank, and notices of documents that the file calls otherwise, by line.
    """
    problems = ProblemList()
    words = {
        name: [
            (sentence["number"], str(ix), token["form"])
            for sentence in sentences
            for ix, token in zip(number_words(sentence, treebank.word_numbers), sentence["tokens"], strict=True)
        ]
        for name, sentences in treebank.documents.items()
    }
    homes = {number: name for name, of in words.items() for number, _, _ in of}
    parts: dict[str, list[ConllDocument]] = {name: [] for name in words}
    for document in read_documents(path, problems):
        number, *_, line = document.rows[0]
        if home := homes.get(number):
            parts[home].append(document)
        else:
            problems.add(f"the treebank has no sentence {quote(number)}", line)
    for name, of_document in parts.items():
        order = list(dict.fromkeys(number for number, _, _ in words[name]))
        of_document.sort(key=lambda part: order.index(part.rows[0].sentence))
        for one, other in pairwise(of_document):
            if one.rows[-1].sentence == other.rows[0].sentence:
                what = f"documents {quote(one.name)} and {quote(other.name)} have words of the same sentence"
                problems.add(f"{what} (expected all of them in one document)", other.rows[0].line)
        rows = [row for part in of_document for row in part.rows]
        for row, expected in zip_longest(rows, words[name] if rows else ()):
            if row is None or row[:3] != expected:
                found = "the document ends after this row" if row is None else f"the row is {quote(' '.join(row[:3]))}"
                wanted = f"{quote(' '.join(expected))}, as in the treebank" if expected else "the end of the document"
                problems.add(f"{found} (expected {wanted})", rows[-1].line if row is None else row.line)
                break
    problems.raise_any(path)
    # A document that the file lacks keeps its name, so that another of the same id is not taken for it.
    numbered: list[tuple[str, str, ConllDocument | None]] = []
    for home, of_home in parts.items():
        numbered += [(home, part.rows[0].sentence, part) for part in of_home] or [(home, words[home][0][0], None)]
    names = number_names(find_document_id(first) for _, first, _ in numbered)
    records, notices = [], []
    for name, (home, _, part) in zip(names, numbered, strict=True):
        if part:
            records.append(_make_record(name, part, treebank.documents[home], treebank.word_numbers))
            if part.is_named and part.name.partition("; part ")[0] != name:
                what = f"document {quote(part.name)} is now {quote(name)}, as in the treebank"
                notices.append(Problem(what, part.rows[0].line))
    return records, notices


def _make_record(name: str, part: ConllDocument, sentences: Sequence[Record], word_numbers: WordNumbers) -> Record:
    """Return the record of a document whose rows are those of some sentences of the treebank."""
    starts: dict[str, int] = {}  # the first token of each sentence
    for token, row in enumerate(part.rows):
        starts.setdefault(row.sentence, token)
    place = {number: i for i, number in enumerate(starts)}
    ids: dict[Span, str] = {}
    mentions = []
    for start, end in sorted((span for chain in part.chains for span in chain), key=document_order):
        sentence = part.rows[start].sentence
        ids[start, end] = str(len(ids))
        mentions.append((ids[start, end], place[sentence], (start - starts[sentence], end - starts[sentence])))
    several = [[ids[span] for span in chain] for chain in part.chains if len(chain) > 1]
    return make_document(name, [one for one in sentences if one["number"] in starts], mentions, several, word_numbers)
