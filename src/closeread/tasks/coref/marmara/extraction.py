"""Extract the documents of the treebank from the fragments in which it is distributed.

Source: Schüller et al. (2018), who split one of the treebank's 32 ids into two documents; which one is not told, so
that users say where a document begins, or name the document of every fragment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.files import creating_folder
from closeread.formats.folders import find_unwritable, list_files
from closeread.formats.text import read_bytes, read_lines
from closeread.tasks.coref.marmara.fragment_text import AUTO
from closeread.tasks.coref.marmara.fragments import read_fragments
from closeread.tasks.coref.marmara.notices import limit_notices
from closeread.tasks.coref.marmara.sentence_numbers import FRAGMENT
from closeread.tasks.coref.marmara.treebank_files import TreebankFile
from closeread.tasks.coref.marmara.treebank_words import SourceDocument, SourceSentence, make_sentence
from closeread.tasks.coref.marmara.treebank_xml import dump_document, find_repeated_numbers, number_names

SUFFIX = ".xml"
DOCUMENT = re.compile(r"\w[\w.-]{0,99}")
"""The name of a document, and of its file."""


class Extracted(NamedTuple):
    """The documents that fragments make up.

    Attributes:
        documents: the sentences of every document by its name, in order.
        notices: what is odd about the fragments, with its file.
    """

    documents: Mapping[str, Sequence[SourceSentence]]
    notices: list[Problem]

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return sum(map(len, self.documents.values()))

    @property
    def n_tokens(self) -> int:
        """The number of words, punctuation included."""
        return sum(len(sentence.words) for sentences in self.documents.values() for sentence in sentences)


def extract(
    folder: Path, *, encoding: str = AUTO, splits: Iterable[str] = (), documents: Mapping[str, str] | None = None
) -> Extracted:
    """Extract the documents of a folder of fragments.

    Args:
        folder: the folder, of which all files ending in `.xml` are read.
        encoding: the encoding of the files, or `auto` (see `closeread.tasks.coref.marmara.fragment_text`).
        splits: the numbers of sentences that begin a new document, such as `77000112003.5`.
        documents: the document of each fragment; None for the one in its name.

    Raises:
        FormatError: the folder can't be read, a fragment can't be read or has no document, a sentence number is used
            twice, or a split is no sentence; all problems at once.
    """
    files, misfits = list_files(folder, "fragment", SUFFIX)
    if not files:
        raise FormatError(folder, [Problem(f"contains no fragment (expected files ending in {SUFFIX})")])
    notices = [Problem(f"is ignored: {one.what}", None, one.file) for one in misfits]
    read: dict[str, TreebankFile] = {}
    problems: list[Problem] = ProblemList()
    for name, path in files.items():
        try:
            read[name] = TreebankFile(path, read_bytes(path))
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
    found = read_fragments(read, problems, notices, encoding=encoding, documents=documents)
    problems += find_repeated_numbers(found.values())
    split = split_documents(found, splits, problems)
    if not split and not problems:
        problems.append(Problem("contains no words"))
    if problems:
        raise FormatError(folder, sorted(problems, key=lambda problem: problem.order))
    for sentence in (sentence for sentences in split.values() for sentence in sentences):
        notices += make_sentence(sentence)[1]
    if documents is not None:
        fragments = {name.removesuffix(SUFFIX) for name in files}
        absent = [fragment for fragment in documents if fragment not in fragments]
        notices += [Problem(f"the map names fragment {quote(fragment)}, which has no file") for fragment in absent]
    return Extracted(split, limit_notices(notices, "the fragments"))


def split_documents(
    documents: Mapping[str, SourceDocument], splits: Iterable[str], problems: list[Problem]
) -> dict[str, Sequence[SourceSentence]]:
    """Split documents before sentences; the parts of NAME are NAME, NAME_2, NAME_3 and so on.

    Args:
        documents: the documents by name.
        splits: the numbers of the sentences.
        problems: where unknown sentences are added, and those at the start of a document.
    """
    left = dict.fromkeys(splits)
    parts: dict[str, Sequence[SourceSentence]] = {}
    for name, (_, sentences) in documents.items():
        starts = [place for place, sentence in enumerate(sentences) if sentence.number in left]
        for place in starts:
            del left[sentences[place].number]
        if starts and not starts[0]:
            what = f"sentence {quote(sentences[0].number)} is the first of document {quote(name)}"
            problems.append(Problem(f"{what} (expected one that begins a new document)"))
        ends = [*starts, len(sentences)]
        for part, start, end in zip(number_names([name] * len(ends)), [0, *starts], ends, strict=True):
            if part in parts or (part != name and part in documents):
                problems.append(Problem(f"document {quote(part)} exists already (expected another name for it)"))
            elif start < end:
                parts[part] = sentences[start:end]
    problems += [Problem(f"there is no sentence {quote(number)} that a document could begin with") for number in left]
    return parts


def read_map(path: Path) -> dict[str, str]:
    """Read the document of each fragment: rows of a fragment and a document, separated by a tab.

    Raises:
        FormatError: the file can't be read, a row has another form, or a fragment comes twice.
    """
    documents: dict[str, str] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = ProblemList()
    for line, text in enumerate(read_lines(path), start=1):
        if not text.strip():
            continue
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) != 2:
            problems.append(Problem(f"{quote(text)} is not a fragment and a document, separated by a tab", line))
            continue
        fragment, document = cells
        if FRAGMENT.fullmatch(fragment) is None:
            problems.append(Problem(f"{quote(fragment)} is not a fragment (expected a name such as 77000112003)", line))
        if DOCUMENT.fullmatch(document) is None:
            what = f"{quote(document)} is not a document's name (expected letters, digits, '_', '-' and '.')"
            problems.append(Problem(what, line))
        if fragment in lines:
            problems.append(Problem(f"fragment {quote(fragment)} is already on line {lines[fragment]}", line))
        lines.setdefault(fragment, line)
        documents[fragment] = document
    if problems:
        raise FormatError(path, problems)
    return documents


def write_documents(folder: Path, extracted: Extracted) -> None:
    """Write documents into a new or an empty folder, a file each; all or none.

    Raises:
        FormatError: some documents have names that those of files can't be; all of them.
        OSError: the folder is not empty, or can't be written.
    """
    if problems := find_unwritable(extracted.documents, SUFFIX):
        raise FormatError(folder, problems)
    with creating_folder(folder) as partial:
        for name, sentences in extracted.documents.items():
            (partial / f"{name}{SUFFIX}").write_text(dump_document(sentences), "utf-8", newline="")
