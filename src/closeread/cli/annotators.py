"""Reading of annotators' files of coreference for commands, with the problems of all files at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.errors import InputError
    from closeread.tasks.coref.annotators import AnnotatorFile


def read_annotators(paths: Sequence[Path], given: Path | None = None) -> list[AnnotatorFile]:
    """Read the files of annotators, and print their notices.

    Args:
        paths: the files.
        given: a file with the mentions that annotators were given, which is read last; None if there is none.

    Raises:
        ClickException: files are invalid, or differ in their tokens; the problems of all of them at once.
    """
    from closeread.tasks.coref.annotators import compare_tokens, find_repeated_paths, read_annotator

    read = options.read_all(paths if given is None else (*paths, given), read_annotator)
    fail(compare_tokens(read))
    options.tell([*_list_notices(read), *find_repeated_paths(paths)])
    return read


def read_beside_gold(gold: Path, paths: Sequence[Path]) -> tuple[AnnotatorFile, list[AnnotatorFile]]:
    """Read gold, and the files of annotators or systems with documents of gold, and print their notices.

    Raises:
        ClickException: files are invalid, differ in their tokens, or have documents that gold lacks; the problems of
            all of them at once.
    """
    from closeread.errors import FormatError
    from closeread.tasks.coref.annotators import (
        compare_tokens,
        find_repeated_paths,
        find_unannotated,
        find_unknown_documents,
        read_annotator,
    )

    # A system's predictions may be next to gold annotation.
    key, *read = options.read_all((gold, *paths), lambda path: read_annotator(path, is_response=path is not gold))
    fail(compare_tokens([key, *read]))
    unknown = ((file.name, list(find_unknown_documents(file.table, key))) for file in read)
    fail(FormatError(name, problems) for name, problems in unknown if problems)
    options.tell([*_list_notices([key, *read]), *find_repeated_paths(paths), *find_unannotated(key, read)])
    return key, read


def _list_notices(files: Iterable[AnnotatorFile]) -> list[str]:
    return [notice for file in files for notice in file.table.notices]


def fail(errors: Iterable[InputError]) -> None:
    """Stop if there are errors.

    Raises:
        ClickException: there are; with all of them.
    """
    from closeread.errors import escape

    if lines := list(dict.fromkeys(map(str, errors))):
        raise click.ClickException(escape("\n".join(lines)))
