"""The corpus in CoNLL: sentence number, number of the word (IX), form and chains, separated by tabs.

Source: the files that the annotators of the corpus were given (Schüller et al., 2018, section 3.1).

Conventions: spans are the first and the last token in the document, from 0.  Chains are numbered from 1 in the order
in which they are given.  In a cell, mentions that end come first, the innermost first, then those of a single token,
then those that begin, the longest first; if none ends, those that begin come before single tokens, and if none begins,
those that end come after them.  Equal spans are in the order of their chains.

What is read is checked against the treebank, whose sentences and words the rows must repeat; blank lines don't matter.
Several documents of a file may be parts of one document of the treebank; each begins with its first row.  Documents are
named as in the whole treebank, whatever the file calls them and whichever of them it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import Problem, ProblemList, pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.coref.formats.conll import WORD, read_conll
from closeread.tasks.coref.formats.lines import place_brackets
from closeread.tasks.marmara.documents import (
    NO_GAPS,
    Span,
    WordNumbers,
    document_order,
    find_overlaps,
    make_document,
    number_words,
)
from closeread.tasks.marmara.treebank import Treebank, find_document_id, number_names

COLUMNS = "sentence number, word number, form and mentions"
Chains = Sequence[Sequence[Sequence[int]]]
"""The spans `[start, end]` of the mentions of each chain."""


def dump_conll(
    documents: Sequence[Record], chains: Sequence[Chains], word_numbers: WordNumbers = NO_GAPS
) -> str:
    """Return documents with the chains of each as CoNLL; a ValueError if it can't express a word or a name."""
    texts = []
    for document, of_document in zip(documents, chains, strict=True):
        rows = []
        for sentence in document["sentences"]:
            number, forms = sentence["number"], [token["form"] for token in sentence["tokens"]]
            if wrong := [form for form in forms if not WORD.fullmatch(form)]:
                raise ValueError(
                    f"sentence {quote(number)}: CoNLL can't express the word {quote(wrong[0])}"
                )
            numbers = number_words(sentence, word_numbers)
            rows.append(
                [f"{number}\t{ix}\t{form}" for ix, form in zip(numbers, forms, strict=True)]
            )
        texts.append(format_document(document["document"], rows, of_document))
    return "".join(texts)


def format_document(name: str, rows: Sequence[Sequence[str]], chains: Chains) -> str:
    """Return a document as CoNLL, given the rows of each sentence without chains; a ValueError for a wrong name."""
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: CoNLL can't express this name")
    n_tokens = sum(map(len, rows))
    spans = [
        (first, -last, n, f"({n}", f"{n})")
        for n, chain in enumerate(chains, 1)
        for first, last in chain
    ]
    innermost_first = place_brackets(sorted(spans, key=lambda span: (-span[0], span[2])), n_tokens)
    longest_first = place_brackets(sorted(spans), n_tokens)
    cells = zip(innermost_first, longest_first, strict=True)
    lines = [f"#begin document ({name});\n"]
    for sentence in rows:
        for row, ((end, _), (_, opening)) in zip(sentence, cells, strict=False):
            single = [bracket for bracket in opening if bracket.endswith(")")]
            begin = opening[: len(opening) - len(single)]
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


@dataclass
class ConllDocument:
    """A document of a CoNLL file, which is a document of the treebank or a part of one."""

    name: str  # or its number if it has none
    is_named: bool
    rows: Sequence[Row]
    mentions: Sequence[tuple[str, Span]]  # with the id of the chain, by the chains in their order
    home: str | None = None  # the document of the treebank; None if no row is from the treebank
    # of each token of that document with a row, in their order
    lines: dict[int, int] = field(default_factory=dict)

    def find_chains(self, problems: ProblemList) -> list[list[Span]]:
        """Return the chains, which may be of one mention, in the order of the file.

        Errors, by the line on which a mention ends: it is over two sentences, stands twice, or overlaps another of its
        chain.
        """
        rows = self.rows
        chains: dict[str, list[Span]] = {}
        seen: dict[Span, str] = {}
        for chain, (start, end) in self.mentions:
            about = f"the mention of chain {quote(chain)} that begins on line {rows[start].line}"
            if rows[start].sentence != rows[end].sentence:
                over = f"is over two sentences, {quote(rows[start].sentence)} and {quote(rows[end].sentence)}"
                problems.add(f"{about} {over} (expected one)", rows[end].line)
            if (start, end) in seen:
                known = quote(seen[start, end])
                problems.add(
                    f"{about} is already in chain {known} (expected one chain)", rows[end].line
                )
                continue
            seen[start, end] = chain
            chains.setdefault(chain, []).append((start, end))
        for spans in chains.values():
            for one, other in find_overlaps(spans):
                what = f"the mention that begins on line {rows[other[0]].line} overlaps another of its chain"
                problems.add(
                    f"{what}, on lines {rows[one[0]].line} to {rows[one[1]].line}",
                    rows[other[1]].line,
                )
        return list(chains.values())


def read_documents(path: Path, problems: ProblemList) -> list[ConllDocument]:
    """Read the documents of a CoNLL file; those without the columns are a problem, and left out."""
    documents = []
    for document in read_conll(path).documents:
        name = document.name
        columns = document.words.read_columns([0, 1, 2])
        if not document.n_tokens or columns is None:
            what = "too few columns" if document.n_tokens else "no rows"
            problems.add(f"document {quote(name)} has {what} (expected {COLUMNS})")
            continue
        rows = [Row(*row) for row in zip(*columns.cells, columns.lines, strict=True)]
        mentions = []
        for entity in document.entities:
            mentions += [
                (entity.label, (mention.start, mention.end)) for mention in entity.mentions
            ]
        documents.append(ConllDocument(name, document.is_named, rows, mentions))
    return documents


def read_checked(path: Path, treebank: Treebank) -> tuple[list[Record], list[Problem]]:
    """Read the documents of a CoNLL file as records without genre; mentions have ids from 0 in document order.

    A mention that is a chain of its own is in no chain of the record.

    Returns:
        The records, in the order of the treebank, and notices of documents that the file calls otherwise, by line.
    """
    problems = ProblemList()
    words = {
        name: [
            (sentence["number"], str(ix), token["form"])
            for sentence in sentences
            for ix, token in zip(
                number_words(sentence, treebank.word_numbers), sentence["tokens"], strict=True
            )
        ]
        for name, sentences in treebank.documents.items()
    }
    homes = {number: name for name, of_document in words.items() for number, _, _ in of_document}
    documents = read_documents(path, problems)
    for document in documents:
        _check_rows(document, homes, words, problems)
    parts = {
        name: _order_parts([one for one in documents if one.home == name], of, problems)
        for name, of in words.items()
    }
    chains = {id(document): document.find_chains(problems) for document in documents}
    problems.raise_any(path)
    # A document that the file lacks keeps its name, so that another of the same id is not taken for it.
    numbered: list[tuple[str, ConllDocument | None]] = []
    for name, found in parts.items():
        numbered += [(part.rows[0].sentence, part) for part in found] or [(words[name][0][0], None)]
    names = number_names(find_document_id(first) for first, _ in numbered)
    records, notices = [], []
    for name, (_, part) in zip(names, numbered, strict=True):
        if part:
            records.append(_make_record(name, part, chains[id(part)], treebank))
            if part.is_named and part.name.partition("; part ")[0] != name:
                what = f"document {quote(part.name)} is now {quote(name)}, as in the treebank"
                notices.append(Problem(what, part.rows[0].line))
    return records, notices


def _check_rows(
    document: ConllDocument,
    homes: Mapping[str, str],
    words: Mapping[str, Sequence[tuple[str, str, str]]],
    problems: ProblemList,
) -> None:
    """Compare the rows of a document with the treebank, and set its `home` and `lines`.

    `homes` are the documents of the treebank's sentences, `words` the sentence, number and form of its words.
    """
    document.home = next(
        (homes[row.sentence] for row in document.rows if row.sentence in homes), None
    )
    tokens = {
        (number, ix): token
        for token, (number, ix, _) in enumerate(words.get(document.home or "", ()))
    }
    last = -1
    for number, group in groupby(document.rows, key=lambda row: row.sentence):
        rows = list(group)
        home = homes.get(number)
        if home is None or home != document.home:
            what = f"the treebank has no sentence {quote(number)}"
            if home is not None:
                where = f"is in document {quote(home)}, but earlier rows are in {quote(str(document.home))}"
                what = f"sentence {quote(number)} {where}"
            problems.add(f"{what} ({pluralize(len(rows), 'row')})", rows[0].line)
            continue
        for row in rows:
            token = tokens.get((number, row.ix))
            about = f"word {row.ix} of sentence {quote(number)}"
            if token is None:
                problems.add(
                    f"sentence {quote(number)} has no word {quote(row.ix)} in the treebank",
                    row.line,
                )
                continue
            form = words[home][token][2]
            if row.form != form:
                problems.add(
                    f"{about} is {quote(row.form)} (expected {quote(form)}, as in the treebank)",
                    row.line,
                )
            if token <= last:
                problems.add(
                    f"{about} comes too late (expected the order of the treebank, each word once)",
                    row.line,
                )
            last = token
            document.lines[token] = row.line


def _order_parts(
    parts: Sequence[ConllDocument], words: Sequence[tuple[str, str, str]], problems: ProblemList
) -> list[ConllDocument]:
    """Return the documents of the file that are a document of the treebank, or its parts, in order.

    Words of the treebank's document without a row are a problem at the row after them, or else at the last one.
    """
    ordered = sorted((part for part in parts if part.lines), key=lambda part: min(part.lines))
    for one, other in pairwise(ordered):
        first, last = min(other.lines), max(one.lines)
        if first <= last or words[first][0] == words[last][0]:
            what = f"documents {quote(one.name)} and {quote(other.name)} have words of the same sentences"
            expected = "expected all words of a sentence in one document"
            problems.add(f"{what} ({expected})", next(iter(other.lines.values())))
    lines = {token: line for part in ordered for token, line in part.lines.items()}
    for is_missing, group in groupby(range(len(words)), key=lambda token: token not in lines):
        if is_missing and lines:
            first, *others = group
            number, ix, _ = words[first]
            after = first + len(others) + 1
            where, line = (
                ("before", lines[after]) if after in lines else ("after", max(lines.values()))
            )
            more = f" and {pluralize(len(others), 'word')} after it have" if others else " has"
            problems.add(
                f"word {ix} of sentence {quote(number)}{more} no row (expected {where} this row)",
                line,
            )
    return ordered


def _make_record(
    name: str, part: ConllDocument, chains: Sequence[Sequence[Span]], treebank: Treebank
) -> Record:
    """Return the record of a document whose rows are those of the treebank."""
    first_row = {row.sentence: token for token, row in reversed(list(enumerate(part.rows)))}
    sentences = [one for one in treebank.documents[str(part.home)] if one["number"] in first_row]
    place = {sentence["number"]: i for i, sentence in enumerate(sentences)}
    ids: dict[Span, str] = {}
    mentions = []
    for start, end in sorted((span for chain in chains for span in chain), key=document_order):
        sentence = part.rows[start].sentence
        ids[start, end] = str(len(ids))
        span = (start - first_row[sentence], end - first_row[sentence])
        mentions.append((ids[start, end], place[sentence], span))
    several = [[ids[span] for span in chain] for chain in chains if len(chain) > 1]
    return make_document(name, sentences, mentions, several, treebank.word_numbers)
