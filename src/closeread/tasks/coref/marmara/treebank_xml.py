"""The treebank, read from extracted files or from fragments as distributed.

Source: the METU-Sabanci Turkish Treebank (Oflazer et al., 2003), and the form in which the authors of the corpus
extracted it: one well-formed XML file for each document.

Conventions: a file is a document, whatever it is called.  It is named by the document id in the numbers of its
sentences; a second file of that id, in the order of the numbers, is `ID_2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from closeread.exceptions import FormatError, Problem, ProblemList, join_names, quote
from closeread.formats.xml_tree import check_characters, parse_xml
from closeread.tasks.coref.marmara.documents import Sentence
from closeread.tasks.coref.marmara.fragments import read_fragments
from closeread.tasks.coref.marmara.sentence_numbers import EXPECTED, find_document_id, is_sentence_number, sort_key
from closeread.tasks.coref.marmara.treebank_files import Files, Kind, TreebankFile, read_files
from closeread.tasks.coref.marmara.treebank_words import (
    SourceDocument,
    SourceSentence,
    find_words,
    has_gaps,
    iterate_sentences,
    make_sentence,
)

ORDER = ("IX", "LEM", "MORPH", "IG", "REL")
"""The order of the attributes of a word; others follow as they stand."""


class Treebank(NamedTuple):
    """The documents of a treebank.

    Attributes:
        documents: the sentences of every document, by its name.
        files: the file of every document, or the first of its files.
        word_numbers: the IX of the words of every sentence where these are not 1, 2, 3 …
        problems: what can't be read, with its file.
        notices: what is odd, with its file.
    """

    documents: Mapping[str, list[Sentence]]
    files: Mapping[str, str]
    word_numbers: Mapping[str, Sequence[int]]
    problems: list[Problem]
    notices: list[Problem]


def read_treebank(files: Mapping[str, Path]) -> Treebank:
    """Read the files of a treebank in XML: all extracted, or all as distributed.

    Args:
        files: the files, by the names that messages show.
    """
    return parse_treebank(read_files(files))


def parse_treebank(found: Files) -> Treebank:
    """Return the treebank in files that were read; CoNLL-U is an error here."""
    problems, notices = list(found.problems), list(found.notices)
    sources: list[SourceDocument] = []
    if found.kind is Kind.EXTRACTED:
        sources = [read_extracted(name, file, problems, notices) for name, file in found.files.items()]
    elif found.kind is Kind.FRAGMENT:
        sources = list(read_fragments(found.files, problems, notices).values())
    elif found.kind is Kind.CONLLU:
        problems += [Problem("is CoNLL-U (expected the treebank in XML)", None, name) for name in found.files]
    problems += find_repeated_numbers(sources)
    documents = name_documents([source for source in sources if source.sentences])
    if not documents and not problems:
        problems.append(Problem("contains no words"))
    word_numbers: dict[str, Sequence[int]] = {}
    sentences: dict[str, list[Sentence]] = {}
    for name, document in documents.items():
        made = [make_sentence(source) for source in document.sentences]
        sentences[name] = [sentence for sentence, _ in made]
        notices += [notice for _, odd in made for notice in odd]
        gaps = filter(has_gaps, document.sentences)
        word_numbers |= {source.number: [word.ix for word in source.words] for source in gaps}
    of_documents = {name: document.file for name, document in documents.items()}
    return Treebank(sentences, of_documents, word_numbers, problems, notices)


def read_extracted(name: str, file: TreebankFile, problems: list[Problem], notices: list[Problem]) -> SourceDocument:
    """Read the document of an extracted file.

    Args:
        name: the file's name, for messages.
        file: its contents.
        problems, notices: where errors and oddities are added.
    """
    sentences: list[SourceSentence] = []
    wrong: list[Problem] = ProblemList()
    odd: list[Problem] = []
    try:
        root = parse_xml(file.path, file.data)
    except FormatError as error:
        problems += [problem._replace(file=name) for problem in error.problems]
        return SourceDocument(name, [])
    for number, element in iterate_sentences(root, wrong, odd):
        if not is_sentence_number(number):
            wrong.append(Problem(f"the sentence number {quote(number)} has another form ({EXPECTED})", element.line))
        elif words := find_words(element, number, wrong, odd):
            sentences.append(SourceSentence(name, number, words, element.line))
    ids = list(dict.fromkeys(find_document_id(sentence.number) for sentence in sentences))
    if len(ids) > 1:
        odd.append(Problem(f"has sentences of {join_names(ids)}, and is named by the first"))
    problems += [problem._replace(file=name) for problem in wrong]
    notices += [notice._replace(file=name) for notice in odd]
    return SourceDocument(name, sentences)


def find_repeated_numbers(documents: Iterable[SourceDocument]) -> list[Problem]:
    """Find sentences with the number of an earlier one."""
    first: dict[str, SourceSentence] = {}
    problems: list[Problem] = ProblemList()
    for sentence in (sentence for document in documents for sentence in document.sentences):
        other = first.setdefault(sentence.number, sentence)
        if other is not sentence:
            where = f"line {other.line}" if other.file == sentence.file else f"line {other.line} of {other.file}"
            what = f"the sentence number {quote(sentence.number)} is already used on {where}"
            problems.append(Problem(what, sentence.line, sentence.file))
    return problems


def name_documents(documents: Iterable[SourceDocument]) -> dict[str, SourceDocument]:
    """Name documents, which have sentences, by the id of their first sentence; return them in order."""
    ordered = sorted(documents, key=lambda document: sort_key(document.sentences[0].number))
    names = number_names(find_document_id(document.sentences[0].number) for document in ordered)
    return dict(zip(names, ordered, strict=True))


def number_names(ids: Iterable[str]) -> list[str]:
    """Return a name for each id: the id, and `ID_2`, `ID_3` … where it comes again.

    >>> number_names(["77000112", "77000112", "77000113"])
    ['77000112', '77000112_2', '77000113']
    """
    seen: dict[str, int] = {}
    names = []
    for one in ids:
        seen[one] = seen.get(one, 0) + 1
        names.append(one if seen[one] == 1 else f"{one}_{seen[one]}")
    return names


def dump_document(sentences: Sequence[SourceSentence]) -> str:
    """Return a document as the text of an extracted file.

    Raises:
        ValueError: a text contains a control character, which XML can't represent.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<Set sentences="{len(sentences)}">']
    for sentence in sentences:
        lines.append(f"<S No={_dump_value(sentence.number)}>")
        for word in sentence.words:
            names = [name for name in ORDER if name in word.attributes]
            names += [name for name in word.attributes if name not in ORDER]
            attributes = "".join(f" {name}={_dump_value(word.attributes[name])}" for name in names)
            lines.append(f"<W{attributes}> {escape(word.form)} </W>")
        lines.append("</S>")
    text = "\n".join([*lines, "</Set>", ""])
    check_characters(text)
    return text


def _dump_value(value: str) -> str:
    """Return an attribute's value in quotes: in double ones unless these occur in it, as in the groups of a word."""
    escaped = escape(value, {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
    return "'{}'".format(escaped.replace("'", "&apos;")) if '"' in value else f'"{escaped}"'
