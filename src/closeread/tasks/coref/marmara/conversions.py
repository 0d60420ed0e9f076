"""Conversions of the corpus's coreference, of given mentions, and of equalities between these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from closeread.corpus.conversions import Conversion, Converted
from closeread.counts.annotators import Annotator
from closeread.exceptions import SHOWN, RequestError, pluralize
from closeread.files import text_suffix, write_text
from closeread.records import Record
from closeread.tasks.coref.marmara.converting import (
    Source,
    dump_given,
    find_losses,
    locate_treebank,
    read_source,
    write_source,
)
from closeread.tasks.coref.marmara.equalities import (
    describe_unused,
    dump_annotation,
    make_row,
    read_equalities,
    read_given,
)


def convert(
    source: Annotator, output: Path | None, *, data_dir: str | Path | None = None, treebank: str | Path | None = None
) -> Converted:
    """Convert the corpus's coreference between XML, CoNLL and JSON Lines.

    Args:
        source: a coreference file or a folder of them, a CoNLL file, or a file of the corpus's records (`.jsonl`).
        output: the file or new folder to write; None to write nothing.
        data_dir: a folder with the corpus's files; None to look in the usual places.
        treebank: the folder of the treebank, if it is elsewhere.

    Raises:
        RequestError: the source is not a file, or the output's format can't express it; an InputError if files are
            missing or invalid.
    """
    found = _read(source, data_dir, treebank)
    lost: list[str] = []
    if output is not None:
        write_source(found, output)
        lost = [f"lost: {what}." for what in find_losses(found, output)]
    return Converted(_records(found), pluralize(len(found.documents), "document"), [*found.notices, *lost])


def convert_given(
    source: Annotator, output: Path | None, *, data_dir: str | Path | None = None, treebank: str | Path | None = None
) -> Converted:
    """Write all mentions of documents as CoNLL (.conll), each mention a chain of its own, as annotators get them.

    Args:
        source, output, data_dir, treebank: as for `convert`.

    Returns:
        The documents, as they were read.

    Raises:
        RequestError: the source is not a file, or the output is not CoNLL; an InputError if files are missing or
            invalid.
    """
    if output is not None and text_suffix(output) != ".conll":
        raise RequestError(f"cannot write {output}: the suffix is '{output.suffix}' (expected .conll)")
    found = _read(source, data_dir, treebank)
    if output is not None:
        try:
            text = dump_given(found)
        except ValueError as error:
            raise RequestError(f"cannot write {output}: {error}") from None
        write_text(output, text)
    mentions = sum(len(document["mentions"]) for document in found.documents)
    size = f"{pluralize(len(found.documents), 'document')}, {pluralize(mentions, 'mention')}"
    return Converted(_records(found), size, found.notices)


def convert_equalities(source: Annotator, output: Path | None, *, given: str | Path | None = None) -> Converted:
    """Convert an annotation in equalities, such as 1 = 4 = 17, to chains: CoNLL (.conll) or JSON Lines (.jsonl).

    Args:
        source: a file with two or more ids of given mentions a line.
        output: the file to write; None to write nothing.
        given: the mentions that the annotator was given, as `convert_given` writes them.

    Raises:
        RequestError: the source is not a file, there are no given mentions, or the suffix is unknown; an InputError if
            files are missing or invalid.
    """
    path = _take_file(source)
    if given is None:
        raise RequestError("equalities need the mentions that the annotator was given (expected a CoNLL file as given)")
    mentions = read_given(Path(given))
    annotation = read_equalities(path, mentions)
    if output is not None:
        try:
            text = dump_annotation(annotation, mentions, text_suffix(output))
        except ValueError as error:
            raise RequestError(f"cannot write {output}: {error}") from None
        write_text(output, text)
    used = sum(map(len, annotation.chains))
    size = f"{pluralize(len(annotation.chains), 'chain')}, {pluralize(used, 'mention')}"
    return Converted([make_row(annotation, mentions)], size, describe_unused(annotation, mentions, SHOWN))


def _read(source: Annotator, data_dir: str | Path | None, treebank: str | Path | None) -> Source:
    folders = [None if one is None else Path(one) for one in (data_dir, treebank)]
    return read_source(_take_file(source), lambda: locate_treebank(*folders))


def _take_file(source: Annotator) -> Path:
    if not isinstance(source.source, Path):
        raise RequestError(f"{source.name} is not a file or folder (expected a path)")
    return source.source


def _records(found: Source) -> Sequence[Record]:
    return cast(Sequence[Record], found.documents)


CONVERSIONS = {
    "marmara_coref": Conversion(convert),
    "given": Conversion(convert_given),
    "equalities": Conversion(convert_equalities),
}
