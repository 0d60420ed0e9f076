"""Measure the agreement of annotators."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from closeread import tasks
from closeread.argument_types import check_types
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows, take_rows
from closeread.counts.annotators import Annotator
from closeread.counts.results import Result
from closeread.exceptions import RequestError
from closeread.scoring import find_procedure
from closeread.suggestions import describe_unknown


def agreement(corpus: str, *annotators: FileOrRows, **options: str | Sequence[str] | FileOrRows) -> Result:
    """Measure the agreement of annotators, as `closeread agreement` does.

    >>> import closeread
    >>> anna = {"letter": [[[0, 0], [1, 1], [2, 2]]]}
    >>> ben = {"letter": [[[0, 0], [1, 1]], [[2, 2]]]}
    >>> print(closeread.agreement("coref", anna, ben).to_json()["iaa1"])
    0.0

    Args:
        corpus: the name of a corpus or of its procedure.
        *annotators: what each annotated: a file, a folder or objects, as for `closeread.score`.
        **options: those of the command line, such as `setting="partial"` for "wikipossessions", `by="domain"` for "tne"
            and `given` for "coref".

    Returns:
        The agreement, which prints itself as the command line does.

    Raises:
        RequestError: a name does not exist, or there are too few annotators; an InputError if what they have is
            invalid, or is not about the same documents.
    """
    procedure, _ = find_procedure(corpus)
    module = tasks.find(procedure.name, "agreement")
    if module is None:
        known = [name for name in tasks.procedure_names() if tasks.find(name, "agreement")]
        raise RequestError(f"{procedure.name} has no measure of agreement (choose from: {', '.join(known)})")
    compare = module.compare_annotators
    chosen = dict(options)
    check_arguments(
        f"agreement {procedure.name}", compare, chosen, [one.name for one in getattr(module, "OPTIONS", ())]
    )
    if "given" in chosen:
        chosen["given"] = take_annotator("given", chosen["given"], procedure.by_name)
    found = check_types(compare)(take_annotators(annotators, procedure.by_name), **chosen)
    warn_all(found.notices)
    return cast(Result, found)


def take_annotators(annotators: Sequence[FileOrRows], by_name: tuple[str, str] | None = None) -> list[Annotator]:
    """Return annotators, who are named by their files, or numbered from 1."""
    return [take_annotator(f"annotator {number}", one, by_name) for number, one in enumerate(annotators, 1)]


def take_annotator(name: str, annotator: FileOrRows, by_name: tuple[str, str] | None = None) -> Annotator:
    """Return an annotator, who is named by a file, or by what to call objects."""
    if isinstance(annotator, str | os.PathLike):
        return Annotator(str(annotator), Path(annotator))
    return Annotator(name, take_rows(name, annotator, by_name))


def check_arguments(
    what: str, function: Callable[..., object], given: Iterable[str], more: Sequence[str] | None = None
) -> None:
    """Check that a task's function takes the options that a user gives.

    Args:
        what: what has the options, for messages.
        function: the function; options are its keywords.
        given: the names of the options.
        more: the names that it takes by `**`; None if it checks these itself.

    Raises:
        RequestError: it does not take one of them.
    """
    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind == inspect.Parameter.KEYWORD_ONLY]
    if more is None and any(one.kind == inspect.Parameter.VAR_KEYWORD for one in parameters):
        return
    for name in given:
        if name not in (*known, *(more or ())):
            raise RequestError(describe_unknown(f"option of {what}", name, [*known, *(more or ())]))
