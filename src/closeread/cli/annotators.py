"""Files of several annotators for commands: checked, read with the problems of all files at once, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.counts.annotators import Pair
    from closeread.counts.rendering import Grid
    from closeread.errors import InputError
    from closeread.tasks.coref.annotators import AnnotatorFile


def find_repeated_paths(paths: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each path that leads to the same file as an earlier one."""
    seen: dict[str, Path] = {}
    for path in paths:
        if (before := seen.setdefault(realpath(path), path)) is not path:
            same = "" if before == path else f", also as {before}"
            yield f"{path} is given twice{same}; it counts as two files."


def check_annotators(paths: Sequence[Path]) -> None:
    """Check that there are files of two annotators or more; note those that are given twice.

    Raises:
        RequestError: there is one file only.
    """
    from closeread.errors import RequestError

    if len(paths) < 2:
        raise RequestError("only one annotator's file is given (expected two or more)")
    tell(find_repeated_paths(paths))


def make_pair_grid(
    names: Sequence[str],
    columns: Sequence[str],
    pairs: Mapping[Pair, Sequence[float | None]],
    mean: Sequence[float | None],
    notes: Sequence[str],
    format_score: Callable[[float | None], str] = printing.format_percent,
) -> Grid:
    """Return a table with a row for every two annotators, and the mean in the last row.

    Annotators are numbered, since the names of files would leave no room for scores; the first note names them.

    Args:
        names: the annotators' names.
        columns: the names of the scores.
        pairs: the scores of every two annotators, from 0 to 1, in the order of `columns`.
        mean: the means over the pairs.
        notes: the sentences below the table.
        format_score: formats a score.
    """
    from closeread.counts.rendering import Grid

    rows = [[f"{i + 1} and {j + 1}", *map(format_score, scores)] for (i, j), scores in pairs.items()]
    rows.append(["mean", *map(format_score, mean)])
    numbered = ", ".join(f"{number} is {name}" for number, name in enumerate(names, 1))
    return Grid("", ["annotators", *columns], rows, [f"Annotators: {numbered}.", *notes])


def read_annotators(paths: Sequence[Path], given: Path | None = None) -> list[AnnotatorFile]:
    """Read the files of annotators, and print their notices.

    Args:
        paths: the files.
        given: a file with the mentions that annotators were given, which is read last; None if there is none.

    Raises:
        ClickException: files are invalid, or differ in their tokens; the problems of all of them at once.
    """
    from closeread.tasks.coref.annotators import compare_tokens, read_annotator

    read = options.read_all(paths if given is None else (*paths, given), read_annotator)
    fail(compare_tokens(read))
    tell([*_list_notices(read), *find_repeated_paths(paths)])
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
        find_unannotated,
        find_unknown_documents,
        read_annotator,
    )

    # A system's predictions may be next to gold annotation.
    key, *read = options.read_all((gold, *paths), lambda path: read_annotator(path, is_response=path is not gold))
    fail(compare_tokens([key, *read]))
    unknown = ((file.name, list(find_unknown_documents(file.table, key))) for file in read)
    fail(FormatError(name, problems) for name, problems in unknown if problems)
    tell([*_list_notices([key, *read]), *find_repeated_paths(paths), *find_unannotated(key, read)])
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
