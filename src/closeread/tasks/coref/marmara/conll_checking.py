"""CoNLL files of the corpus, checked against the treebank, whose sentences and words their rows must repeat.

Conventions: a row begins with the number of the sentence, that of the word (IX) and the form.  Blank lines don't
matter.  Several documents of a file may be parts of one document of the treebank; each begins with its first row.
Documents are named as in the whole treebank, whatever the file calls them and whichever of them it has.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import Problem, pluralize, quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.formats.conll import read_conll
from closeread.tasks.coref.marmara.conll_rows import Row, find_chains, read_rows
from closeread.tasks.coref.marmara.documents import Document, SpannedMention
from closeread.tasks.coref.marmara.record_making import make_document
from closeread.tasks.coref.marmara.sentence_numbers import find_document_id
from closeread.tasks.coref.marmara.spans import Span, document_order
from closeread.tasks.coref.marmara.treebank_xml import Treebank, number_names


class Checked(NamedTuple):
    """The documents of a CoNLL file.

    Attributes:
        documents: the records, in the order of the treebank.
        notices: the documents that the file calls otherwise, by line.
    """

    documents: list[Document]
    notices: list[Problem]


class _Place(NamedTuple):
    """Where the treebank has a word: its token in the document, from 0, and its form."""

    token: int
    form: str


class _Index(NamedTuple):
    """The words of a treebank.

    Attributes:
        documents: the document of each sentence, by the sentence's number.
        places: the words, by the number of their sentence and their own as text.
        words: the same numbers of each token, by document.
    """

    documents: Mapping[str, str]
    places: Mapping[tuple[str, str], _Place]
    words: Mapping[str, Sequence[tuple[str, str]]]


@dataclass
class _Part:
    """A document of a CoNLL file: a document of the treebank, or a part of one.

    Attributes:
        index: its place in the file, from 0.
        name: its name there.
        rows: its rows.
        document: the treebank's document; None if no row is from the treebank.
        tokens: the treebank's tokens, in the order of the rows that are right.
        lines: the line of each of these.
    """

    index: int
    name: str
    rows: Sequence[Row]
    document: str | None = None
    tokens: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read_checked(path: Path, treebank: Treebank) -> Checked:
    """Read the documents of a CoNLL file as records without genre; mentions have ids from 0 in document order.

    A mention that is a chain of its own is in no chain of the record.

    Raises:
        FormatError: the file is not valid CoNLL, or is not about the treebank; all problems at once.
    """
    table = read_conll(path)
    problems = Problems()
    documents = [_Part(index, table.names[index], rows) for index, rows in read_rows(table, problems).items()]
    index = _index_words(treebank)
    for document in documents:
        _check_rows(document, index, problems)
    parts = {
        name: _order_parts([one for one in documents if one.document == name], index.words[name], problems)
        for name in treebank.documents
    }
    chains = {one.index: find_chains(table, one.index, one.rows, problems) for one in documents}
    problems.raise_any(path)
    named = _name_parts(parts, treebank)
    records = [_make_record(name, part, chains[part.index], treebank) for name, part in named.items()]
    return Checked(records, list(_find_renamed(named, table.unnamed)))


def _name_parts(parts: Mapping[str, Sequence[_Part]], treebank: Treebank) -> dict[str, _Part]:
    """Return the documents of a file by their names in the treebank.

    A document that the file lacks keeps its name, so that another of the same id is not taken for it.

    Args:
        parts: the documents of the file, by that of the treebank which they are, or are parts of.
        treebank: the treebank.
    """
    numbered: list[tuple[str, _Part | None]] = []
    for document, found in parts.items():
        absent = treebank.documents[document][0]["number"], None
        numbered += [(part.rows[0].sentence, part) for part in found] or [absent]
    names = number_names(find_document_id(first) for first, _ in numbered)
    return {name: part for name, (_, part) in zip(names, numbered, strict=True) if part}


def _find_renamed(named: Mapping[str, _Part], unnamed: Container[int]) -> Iterator[Problem]:
    """Find the documents that the file calls otherwise than the treebank.

    Args:
        named: the documents by their names in the treebank.
        unnamed: the indices of those without a name in the file.
    """
    for name, part in named.items():
        if part.index not in unnamed and part.name.partition("; part ")[0] != name:
            what = f"document {quote(part.name)} is now {quote(name)}, as in the treebank"
            yield Problem(what, part.rows[0].line)


def _index_words(treebank: Treebank) -> _Index:
    words: dict[str, list[tuple[str, str]]] = {}
    places: dict[tuple[str, str], _Place] = {}
    for name, sentences in treebank.documents.items():
        words[name] = []
        for sentence in sentences:
            number, tokens = sentence["number"], sentence["tokens"]
            numbers = treebank.word_numbers.get(number, range(1, len(tokens) + 1))
            for ix, token in zip(numbers, tokens, strict=True):
                places[number, str(ix)] = _Place(len(words[name]), token["form"])
                words[name].append((number, str(ix)))
    documents = {one["number"]: name for name, sentences in treebank.documents.items() for one in sentences}
    return _Index(documents, places, words)


def _check_rows(document: _Part, index: _Index, problems: Problems) -> None:
    """Compare the rows of a document with the treebank, sentence by sentence."""
    document.document = next(
        (index.documents[row.sentence] for row in document.rows if row.sentence in index.documents), None
    )
    for number, rows in groupby(document.rows, key=itemgetter(0)):
        of_sentence = list(rows)
        found = index.documents.get(number)
        if found is None:
            what = f"the treebank has no sentence {quote(number)}"
        elif found != document.document:
            where = f"is in document {quote(found)}, but earlier rows are in {quote(str(document.document))}"
            what = f"sentence {quote(number)} {where}"
        else:
            for row in of_sentence:
                _check_row(document, row, index, problems)
            continue
        problems.add(f"{what} ({pluralize(len(of_sentence), 'row')})", of_sentence[0].line)


def _check_row(document: _Part, row: Row, index: _Index, problems: Problems) -> None:
    place = index.places.get((row.sentence, row.ix))
    if place is None:
        problems.add(f"sentence {quote(row.sentence)} has no word {quote(row.ix)} in the treebank", row.line)
        return
    about = f"word {row.ix} of sentence {quote(row.sentence)}"
    if row.form != place.form:
        problems.add(f"{about} is {quote(row.form)} (expected {quote(place.form)}, as in the treebank)", row.line)
    if document.tokens and place.token <= document.tokens[-1]:
        problems.add(f"{about} comes too late (expected the order of the treebank, each word once)", row.line)
    document.tokens.append(place.token)
    document.lines.append(row.line)


def _order_parts(documents: Sequence[_Part], words: Sequence[tuple[str, str]], problems: Problems) -> list[_Part]:
    """Return the documents of the file that are a document of the treebank, or its parts, in order.

    Args:
        documents: the documents; nothing if the file has none of this document.
        words: the sentence and the number of each token of the treebank's document.
        problems: where missing rows and parts that interleave are added.
    """
    parts = sorted((one for one in documents if one.tokens), key=lambda one: min(one.tokens))
    for one, other in pairwise(parts):
        first, last = min(other.tokens), max(one.tokens)
        if first <= last or words[first][0] == words[last][0]:
            what = f"documents {quote(one.name)} and {quote(other.name)} have words of the same sentences"
            problems.add(f"{what} (expected all words of a sentence in one document)", other.lines[0])
    if parts:
        lines = {token: line for one in parts for token, line in zip(one.tokens, one.lines, strict=True)}
        _find_missing(words, lines, problems)
    return parts


def _find_missing(words: Sequence[tuple[str, str]], lines: Mapping[int, int], problems: Problems) -> None:
    """Find the words of a document of the treebank that have no row, at the row after them or else the last one."""
    for is_missing, group in groupby(range(len(words)), key=lambda token: token not in lines):
        if is_missing:
            run = list(group)
            number, ix = words[run[0]]
            where = "before this row" if run[-1] + 1 in lines else "after this row"
            line = lines.get(run[-1] + 1) or max(lines.values())
            more = f" and {pluralize(len(run) - 1, 'word')} after it have" if len(run) > 1 else " has"
            problems.add(f"word {ix} of sentence {quote(number)}{more} no row (expected {where})", line)


def _make_record(name: str, part: _Part, chains: Sequence[Sequence[Span]], treebank: Treebank) -> Document:
    """Return the record of a document whose rows are those of the treebank."""
    numbers = {row.sentence for row in part.rows}
    sentences = [one for one in treebank.documents[str(part.document)] if one["number"] in numbers]
    mentions: list[SpannedMention] = []
    ordered = sorted((span for chain in chains for span in chain), key=document_order)
    ids = {span: str(m_id) for m_id, span in enumerate(ordered)}
    for (start, end), m_id in ids.items():
        first, last = part.rows[start], part.rows[end]
        mentions.append(
            {
                "id": m_id,
                "sentence": first.sentence,
                "from": int(first.ix),
                "to": int(last.ix),
                "start": start,
                "end": end,
            }
        )
    return make_document(name, sentences, mentions, [[ids[span] for span in one] for one in chains if len(one) > 1])
