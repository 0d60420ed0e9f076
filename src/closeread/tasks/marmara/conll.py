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
    for document, chains_of_document in zip(documents, chains, strict=True):
        rows = [_format_rows(sentence, word_numbers) for sentence in document["sentences"]]
        texts.append(format_document(document["document"], rows, chains_of_document))
    return "".join(texts)


def _format_rows(sentence: Record, word_numbers: WordNumbers) -> list[str]:
    number = sentence["number"]
    rows = []
    for ix, token in zip(number_words(sentence, word_numbers), sentence["tokens"], strict=True):
        form = token["form"]
        if not WORD.fullmatch(form):
            raise ValueError(
                f"sentence {quote(number)}: CoNLL can't express the word {quote(form)}"
            )
        rows.append(f"{number}\t{ix}\t{form}")
    return rows


def format_document(name: str, rows: Sequence[Sequence[str]], chains: Chains) -> str:
    """Return a document as CoNLL, given the rows of each sentence without chains; a ValueError for a wrong name."""
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: CoNLL can't express this name")
    spans = []
    for number, chain in enumerate(chains, start=1):
        brackets = (f"({number}", f"{number})")
        spans += [(first, -last, number, *brackets) for first, last in chain]
    n_tokens = sum(map(len, rows))
    innermost_first = place_brackets(sorted(spans, key=lambda span: (-span[0], span[2])), n_tokens)
    longest_first = place_brackets(sorted(spans), n_tokens)
    cells = zip(innermost_first, longest_first, strict=True)
    lines = [f"#begin document ({name});\n"]
    for sentence in rows:
        for row, ((closing, _), (_, opening)) in zip(sentence, cells, strict=False):
            lines.append(f"{row}\t{_join_brackets(closing, opening)}\n")
        lines.append("\n")
    return "".join([*lines, "#end document\n"])


def _join_brackets(closing: Sequence[str], opening: Sequence[str]) -> str:
    """Return the cell of a token; those of single tokens are the last that open."""
    single = [bracket for bracket in opening if bracket.endswith(")")]
    opening = opening[: len(opening) - len(single)]
    if closing and opening:
        return "|".join([*closing, *single, *opening])
    return "|".join([*opening, *single, *closing]) or "-"


class Row(NamedTuple):
    """A row of a CoNLL file: the number of the sentence, that of the word as written, the word, and its line."""

    sentence: str
    ix: str
    form: str
    line: int


@dataclass
class ConllDocument:
    """A document of a CoNLL file, which is a document of the treebank or a part of one.

    Attributes:
        name: its name, or its number if it has none.
        is_named: whether it has a name.
        rows: its rows.
        mentions: the spans of its mentions with the id of their chain, by the chains in their order.
        home: the document of the treebank; empty if no row is from the treebank.
        lines: the line of each token of that document that has a row, in the order of the rows.
    """

    name: str
    is_named: bool
    rows: Sequence[Row]
    mentions: Sequence[tuple[str, Span]]
    home: str = ""
    lines: dict[int, int] = field(default_factory=dict)

    def find_chains(self, problems: ProblemList) -> list[list[Span]]:
        """Return the chains, which may be of one mention, in the order of the file.

        Errors, by the line on which a mention ends: it is over two sentences, stands twice, or overlaps another of its
        chain.
        """
        chains: dict[str, list[Span]] = {}
        chain_of_span: dict[Span, str] = {}
        for chain, span in self.mentions:
            first, last = (self.rows[token] for token in span)
            mention = f"the mention of chain {quote(chain)} that begins on line {first.line}"
            if first.sentence != last.sentence:
                sentences = f"{quote(first.sentence)} and {quote(last.sentence)}"
                problems.add(
                    f"{mention} is over two sentences, {sentences} (expected one)", last.line
                )
            if span in chain_of_span:
                problems.add(
                    f"{mention} is already in chain {quote(chain_of_span[span])} (expected one chain)",
                    last.line,
                )
            else:
                chain_of_span[span] = chain
                chains.setdefault(chain, []).append(span)
        for spans in chains.values():
            for wider, (start, end) in find_overlaps(spans):
                first, last = (self.rows[token] for token in wider)
                mention = f"the mention that begins on line {self.rows[start].line}"
                problems.add(
                    f"{mention} overlaps another of its chain, on lines {first.line} to {last.line}",
                    self.rows[end].line,
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


def _list_words(sentences: Sequence[Record], word_numbers: WordNumbers) -> list[Row]:
    """Return the words of a document of the treebank as rows, which have no lines."""
    words = []
    for sentence in sentences:
        numbers = number_words(sentence, word_numbers)
        for ix, token in zip(numbers, sentence["tokens"], strict=True):
            words.append(Row(sentence["number"], str(ix), token["form"], 0))
    return words


def read_checked(path: Path, treebank: Treebank) -> tuple[list[Record], list[Problem]]:
    """Read the documents of a CoNLL file as records without genre; mentions have ids from 0 in document order.

    A mention that is a chain of its own is in no chain of the record.

    Returns:
        The records, in the order of the treebank, and notices of documents that the file calls otherwise, by line.
    """
    problems = ProblemList()
    documents = read_documents(path, problems)
    homes: dict[str, str] = {}
    words: dict[str, list[Row]] = {}
    for home, sentences in treebank.documents.items():
        homes |= {sentence["number"]: home for sentence in sentences}
        words[home] = _list_words(sentences, treebank.word_numbers)
    for document in documents:
        _check_rows(document, homes, words, problems)
    # Each document with its first sentence.  One that the file lacks keeps its name, so that another of the same id is
    # not taken for it.
    numbered: list[tuple[str, ConllDocument | None]] = []
    for home, words_of_home in words.items():
        parts = [document for document in documents if document.home == home]
        ordered = _order_parts(parts, words_of_home, problems)
        numbered += [(part.rows[0].sentence, part) for part in ordered]
        if not ordered:
            numbered.append((words_of_home[0].sentence, None))
    chains = {id(document): document.find_chains(problems) for document in documents}
    problems.raise_any(path)
    names = number_names(find_document_id(sentence) for sentence, _ in numbered)
    records = []
    notices = []
    for name, (_, part) in zip(names, numbered, strict=True):
        if part is not None:
            records.append(_make_record(name, part, chains[id(part)], treebank))
            if part.is_named and part.name.partition("; part ")[0] != name:
                notices.append(
                    Problem(
                        f"document {quote(part.name)} is now {quote(name)}, as in the treebank",
                        part.rows[0].line,
                    )
                )
    return records, notices


def _check_rows(
    document: ConllDocument,
    homes: Mapping[str, str],
    words: Mapping[str, Sequence[Row]],
    problems: ProblemList,
) -> None:
    """Compare the rows of a document with the treebank, and set its `home` and `lines`.

    `homes` are the documents of the treebank's sentences, `words` their words.
    """
    homes_of_rows = (homes[row.sentence] for row in document.rows if row.sentence in homes)
    document.home = next(homes_of_rows, "")
    words_of_home = words.get(document.home, ())
    tokens = {(word.sentence, word.ix): token for token, word in enumerate(words_of_home)}
    last = -1
    for number, group in groupby(document.rows, key=lambda row: row.sentence):
        rows = list(group)
        sentence = f"sentence {quote(number)}"
        home = homes.get(number)
        if home is None or home != document.home:
            message = f"the treebank has no {sentence}"
            if home is not None:
                earlier = f"earlier rows are in {quote(document.home)}"
                message = f"{sentence} is in document {quote(home)}, but {earlier}"
            problems.add(f"{message} ({pluralize(len(rows), 'row')})", rows[0].line)
            continue
        for row in rows:
            token = tokens.get((number, row.ix))
            if token is None:
                problems.add(f"{sentence} has no word {quote(row.ix)} in the treebank", row.line)
                continue
            word = f"word {row.ix} of {sentence}"
            form = words_of_home[token].form
            if row.form != form:
                problems.add(
                    f"{word} is {quote(row.form)} (expected {quote(form)}, as in the treebank)",
                    row.line,
                )
            if token <= last:
                problems.add(
                    f"{word} comes too late (expected the order of the treebank, each word once)",
                    row.line,
                )
            last = token
            document.lines[token] = row.line


def _order_parts(
    parts: Sequence[ConllDocument], words: Sequence[Row], problems: ProblemList
) -> list[ConllDocument]:
    """Return the documents of the file that are a document of the treebank, or its parts, in order.

    Words of the treebank's document without a row are a problem at the row after them, or else at the last one.
    """
    ordered = sorted((part for part in parts if part.lines), key=lambda part: min(part.lines))
    lines: dict[int, int] = {}
    for part in ordered:
        lines |= part.lines
    for before, after in pairwise(ordered):
        last = max(before.lines)
        first = min(after.lines)
        if first <= last or words[first].sentence == words[last].sentence:
            message = (
                f"documents {quote(before.name)} and {quote(after.name)} have words of the same sentences "
                "(expected all words of a sentence in one document)"
            )
            problems.add(message, next(iter(after.lines.values())))
    for has_row, group in groupby(range(len(words)), key=lambda token: token in lines):
        if lines and not has_row:
            _report_missing(list(group), words, lines, problems)
    return ordered


def _report_missing(
    tokens: Sequence[int], words: Sequence[Row], lines: Mapping[int, int], problems: ProblemList
) -> None:
    """Report adjacent words that have no row."""
    word = words[tokens[0]]
    have = " has"
    if len(tokens) > 1:
        have = f" and {pluralize(len(tokens) - 1, 'word')} after it have"
    line = lines.get(tokens[-1] + 1)
    where = "before" if line is not None else "after"
    problems.add(
        f"word {word.ix} of sentence {quote(word.sentence)}{have} no row (expected {where} this row)",
        line or max(lines.values()),
    )


def _make_record(
    name: str, part: ConllDocument, chains: Sequence[Sequence[Span]], treebank: Treebank
) -> Record:
    """Return the record of a document whose rows are those of the treebank."""
    first_rows: dict[str, int] = {}
    for place, row in enumerate(part.rows):
        first_rows.setdefault(row.sentence, place)
    sentences = treebank.documents[part.home]
    sentences = [sentence for sentence in sentences if sentence["number"] in first_rows]
    ids: dict[Span, str] = {}
    mentions = []
    spans: list[Span] = []
    for chain in chains:
        spans += chain
    for start, end in sorted(spans, key=document_order):
        sentence = part.rows[start].sentence
        first = first_rows[sentence]
        ids[start, end] = str(len(ids))
        mentions.append((ids[start, end], sentence, (start - first, end - first)))
    long_chains = (chain for chain in chains if len(chain) > 1)
    ids_of_chains = [map(ids.__getitem__, chain) for chain in long_chains]
    return make_document(name, sentences, mentions, ids_of_chains, treebank.word_numbers)
