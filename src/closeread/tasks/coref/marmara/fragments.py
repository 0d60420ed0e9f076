"""The fragments of the treebank as distributed, grouped into documents.

Conventions: a fragment is a file named by a document id of 8 digits and a number of 1 to 4.  Its sentences are numbered
in the file; in the document they have the fragment's name before their number.  The fragments of a document are in the
order of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats.xml_tree import parse_xml
from closeread.tasks.coref.marmara.fragment_text import AUTO, decode, describe_decoding_error, repair
from closeread.tasks.coref.marmara.sentence_numbers import FRAGMENT, is_sentence_number
from closeread.tasks.coref.marmara.treebank_files import TreebankFile
from closeread.tasks.coref.marmara.treebank_words import (
    SourceDocument,
    SourceSentence,
    find_words,
    iterate_sentences,
)


def read_fragments(
    files: Mapping[str, TreebankFile],
    problems: list[Problem],
    notices: list[Problem],
    *,
    encoding: str = AUTO,
    documents: Mapping[str, str] | None = None,
) -> dict[str, SourceDocument]:
    """Read the documents that fragments make up, by name, in order.

    Args:
        files: the fragments, by the names that messages show.
        problems, notices: where errors and oddities are added.
        encoding: their encoding, or `auto` (see `closeread.tasks.coref.marmara.fragment_text`).
        documents: the document of each fragment; None for the one in its name.
    """
    sentences: dict[str, list[SourceSentence]] = {}
    files_of: dict[str, str] = {}
    for name, fragment in sorted(((name, find_name(name)) for name in files), key=lambda one: _sort_key(one[1])):
        found = FRAGMENT.fullmatch(fragment)
        if found is None:
            what = "is not the name of a fragment (expected 8 digits of the document and 1 to 4 of the fragment)"
            problems.append(Problem(what, None, name))
        elif documents is not None and fragment not in documents:
            problems.append(Problem(f"fragment {quote(fragment)} has no document in the map", None, name))
        else:
            document = found[1] if documents is None else documents[fragment]
            files_of.setdefault(document, name)
            read = read_fragment(name, files[name], problems, notices, encoding=encoding)
            sentences.setdefault(document, []).extend(read)
    return {name: SourceDocument(files_of[name], sentences[name]) for name in sorted(sentences)}


def read_fragment(
    name: str, file: TreebankFile, problems: list[Problem], notices: list[Problem], *, encoding: str = AUTO
) -> list[SourceSentence]:
    """Read the sentences of a fragment.

    Args:
        name: the file's name, for messages.
        file: its contents.
        problems, notices: where errors and oddities are added.
        encoding: its encoding, or `auto`.
    """
    fragment = find_name(name)
    wrong: list[Problem] = ProblemList()
    odd: list[Problem] = []
    sentences: list[SourceSentence] = []
    try:
        root = parse_xml(file.path, repair(decode(file.data, encoding)).encode("utf-8", "surrogatepass"), "utf-8")
    except FormatError as error:
        # Columns are those of the repaired text.
        wrong += [problem._replace(what=problem.what.partition(" at column ")[0]) for problem in error.problems]
    except UnicodeError as error:
        wrong.append(describe_decoding_error(error, encoding))
    else:
        for given, element in iterate_sentences(root, wrong, odd):
            number = given if given.startswith(f"{fragment}.") else f"{fragment}.{given}"
            if not is_sentence_number(number):
                what = f"the sentence number {quote(given)} has another form (expected a number such as 1)"
                wrong.append(Problem(what, element.line))
            elif words := find_words(element, number, wrong, odd):
                sentences.append(SourceSentence(name, number, words, element.line))
    problems += [problem._replace(file=name) for problem in wrong]
    notices += [notice._replace(file=name) for notice in odd]
    return sentences


def find_name(file: str) -> str:
    """Return the name of the fragment in a file.

    >>> find_name("treebank/77000112003.xml")
    '77000112003'
    """
    return PurePosixPath(file).name.removesuffix(".gz").removesuffix(".xml")


def _sort_key(fragment: str) -> tuple[str, int, str]:
    """Return what sorts fragments by document, then by number: 9 before 10."""
    found = FRAGMENT.fullmatch(fragment)
    return (fragment, 0, "") if found is None else (found[1], int(found[2]), fragment)
