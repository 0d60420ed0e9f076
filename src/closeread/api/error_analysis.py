"""Count the errors of a system, or of annotators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from closeread.api.agreement import check_arguments, take_annotator
from closeread.argument_types import check_types
from closeread.corpora.notices import warn_all
from closeread.corpora.objects import FileOrRows
from closeread.counts.results import Result
from closeread.errors import RequestError
from closeread.scoring import find_procedure
from closeread.suggestions import describe_unknown
from closeread.tasks import find_all, procedure_names

__all__ = ["OWNER", "errors"]

OWNER = "closeread.tasks."


def errors(kind: str, gold: FileOrRows, *systems: FileOrRows, **options: str | int | Sequence[str]) -> Result:
    """Count and list the errors of a system, or the mistakes of annotators, as `closeread errors` does.

    >>> import closeread
    >>> key = {"letter": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]]}
    >>> response = {"letter": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]]}
    >>> closeread.errors("coref", key, response).to_json()["counts"]["split entity"]
    1

    Args:
        kind: "coref" for the entities and mentions of a system, "chains" for the chains of annotators or systems.
        gold: the key: a file, a folder or objects, as for `closeread.score`.
        *systems: the response; for "chains", one or more annotators or systems.
        **options: those of the command line: `document`, `by`, `kinds`, and the options of the procedure.

    Returns:
        The errors, which print themselves as the command line does; `to_frame()` has a row for each.

    Raises:
        RequestError: a name does not exist; an InputError if something is missing or invalid.
    """
    found: dict[str, tuple[str, Callable[..., Result]]] = {}
    for module in find_all("error_kinds"):
        task = module.__name__.removeprefix(OWNER).partition(".")[0]
        found |= {name: (task, count) for name, count in module.ERRORS.items()}
    if kind not in found:
        raise RequestError(describe_unknown("kind of error analysis", kind, sorted(found)))
    task, count = found[kind]
    by_name = find_procedure(task)[0].by_name if task in procedure_names() else None
    check_arguments(f"errors {kind}", count, options)
    key = take_annotator("gold", gold, by_name)
    several = len(systems) > 1
    names = [f"predictions {number}" if several else "predictions" for number, _ in enumerate(systems, 1)]
    sides = [take_annotator(name, one, by_name) for name, one in zip(names, systems, strict=True)]
    counted = check_types(count)(key, sides, **options)
    warn_all(getattr(counted, "notices", ()))
    return counted
