"""The files of the corpus's annotators: a folder for each document, with a file for each annotator.

Conventions: `DIR/<document>/<annotator>.conll` has the chains; `DIR/<document>/<annotator>.txt` has equalities between
the mentions of `given/<document>.conll`, in a folder beside DIR.  Other files are an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats.folders import walk_files
from closeread.tasks.coref.annotators import AnnotatorFile, compare_tokens, read_annotator
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.marmara.equalities import Given, read_equalities, read_given

GIVEN = "given"
CONLL, EQUALITIES = ".conll", ".txt"


class AnnotationFiles(NamedTuple):
    """The annotations of several documents.

    Attributes:
        files: the file of each annotation, in order of documents and annotators; each has one document.
        annotators: the name of the annotator of each file.
        given: how many mentions annotators were given, by document, as far as that is known.
    """

    files: list[AnnotatorFile]
    annotators: list[str]
    given: dict[str, int]

    @property
    def tables(self) -> list[MentionTable]:
        """The documents of each file."""
        return [file.table for file in self.files]


def read_annotation_files(folder: Path) -> AnnotationFiles:
    """Read all annotations below a folder.

    Raises:
        FormatError: a file can't be read, is in no document's folder, has several documents, lacks its given mentions,
            or differs from others in its tokens; all problems at once.
    """
    paths, problems = walk_files(folder)
    given, more = _read_given_files(folder.parent / GIVEN, paths)
    problems += more
    found: dict[str, AnnotatorFile] = {}
    for name, path in paths.items():
        try:
            found[name] = _read_file(name, path, given)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
    for differing in compare_tokens(list(found.values())):
        problems += [problem._replace(file=differing.source) for problem in differing.problems]
    if problems:
        raise FormatError(folder, sorted(problems, key=lambda problem: problem.order))
    sizes = {one.name: len(one.mentions) for one in given.values()}
    return AnnotationFiles(list(found.values()), [Path(name).stem for name in found], sizes)


def _read_given_files(folder: Path, paths: dict[str, Path]) -> tuple[dict[str, Given], list[Problem]]:
    """Read the given mentions of the documents that have equalities, and of others if they are there."""
    found: dict[str, Given] = {}
    problems: list[Problem] = ProblemList()
    for name in sorted({_document_of(file) for file in paths}):
        path = folder / f"{name}{CONLL}"
        if path.exists():
            try:
                found[name] = read_given(path)
            except FormatError as error:
                shown = f"../{folder.name}/{path.name}"
                problems += [problem._replace(file=shown) for problem in error.problems]
    return found, problems


def _read_file(name: str, path: Path, given: dict[str, Given]) -> AnnotatorFile:
    """Read the annotation of one document by one annotator.

    Raises:
        FormatError: as `read_annotation_files`.
    """
    document = _document_of(name)
    if not document or path.suffix not in (CONLL, EQUALITIES):
        expected = f"expected DOCUMENT/ANNOTATOR{CONLL} or DOCUMENT/ANNOTATOR{EQUALITIES}"
        raise FormatError(path, [Problem(f"is not an annotator's file ({expected})")])
    if path.suffix == EQUALITIES:
        if document not in given:
            found = f"equalities need {GIVEN}/{document}{CONLL} beside the folder of annotations, which is missing"
            raise FormatError(path, [Problem(f"{found} or invalid")])
        return AnnotatorFile(name, _read_chains(path, given[document]))
    table = read_annotator(path).table
    if len(table.names) != 1:
        raise FormatError(path, [Problem(f"has {len(table.names):,} documents (expected one, {quote(document)})")])
    return AnnotatorFile(name, table)


def _read_chains(path: Path, given: Given) -> MentionTable:
    chains = read_equalities(path, given).chains
    table = mention_table([given.name], [[[list(span) for span in chain] for chain in chains]])
    return replace(table, head=None, n_tokens=np.array([len(given.rows)], np.int64))


def _document_of(name: str) -> str:
    """Return the folder of a file, which is named after its document; empty if it is in none or deeper."""
    parts = name.split("/")
    return parts[0] if len(parts) == 2 else ""


def iterate_sizes(found: AnnotationFiles) -> Iterator[tuple[str, int, int]]:
    """Yield the document, the number of mentions in chains, and that of chains, of every annotation."""
    for table in found.tables:
        sizes = np.bincount(table.entity, minlength=table.n_entities)
        in_chains = sizes[sizes > 1]
        yield table.names[0], int(in_chains.sum()), len(in_chains)
