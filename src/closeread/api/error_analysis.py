"""Count the errors of a system, or of annotators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import cast

from closeread.api.agreement import check_arguments, take_annotator
from closeread.argument_types import check_argument, check_types
from closeread.corpus.names import choose_equivalent
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import Place
from closeread.counts.results import Result
from closeread.exceptions import RequestError
from closeread.scoring import find_procedure, limit_files, make_place, open_scorer
from closeread.suggestions import describe_unknown
from closeread.tasks import find_all, procedure_names

OWNER = "closeread.tasks."


def errors(
    kind: str,
    first: FileOrRows,
    /,
    *systems: FileOrRows,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    max_bytes: int | None = None,
    **options: str | int | Sequence[str] | Resampling,
) -> Result:
    """Count and list the errors of a system, or the mistakes of annotators, as `closeread errors` does.

    >>> import closeread
    >>> key = {"letter": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]]}
    >>> response = {"letter": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]]}
    >>> closeread.errors("coref", key, response).to_json()["counts"]["split entity"]
    1

    Args:
        kind: "coref", or another name of its corpus, for the entities and mentions of a system, "chains" for the chains
            of annotators or systems, "tne" for the links of a system, "mctaco" for its labels.
        first: for "tne" and "mctaco" the predictions, otherwise the key: a file, a folder or objects, as for
            `closeread.score`.
        *systems: the response; for "chains", one or more annotators or systems; for "tne" and "mctaco", none.
        gold, config, split, data_dir: for "tne" and "mctaco", the gold, as for `closeread.score`.
        max_bytes: as for `closeread.score`; of each file.
        **options: those of the command line: `by`, `limit`, for "coref" `document` and `kinds`, for "tne" and "mctaco"
            `resampling`; the options of the procedure.

    Returns:
        The errors, which print themselves as the command line does; `to_frame()` has a row for each.  For "tne" and
        "mctaco", `report` has the scores by each field, as `closeread.score` returns them.

    Raises:
        RequestError: a name does not exist; an InputError if something is missing or invalid.
    """
    task, count = _find_kind(kind)
    procedure = find_procedure(task)[0] if task in procedure_names() else None
    if procedure is not None and not procedure.sides.key_first:
        if systems:
            raise RequestError(f"{kind} got {len(systems) + 1} systems (expected one)")
        place, rest = make_place(task, gold, config, split, data_dir, cast("dict[str, str]", options))
        with limit_files(max_bytes):
            analysed, notices = analyse_predictions(task, count, first, place, rest)
        warn_all(notices)
        return analysed
    if any(one is not None for one in (gold, config, split, data_dir)):
        raise RequestError(f"{kind} takes gold first, and no corpus")
    check_arguments(f"errors {kind}", count, options)
    by_name = None if procedure is None else procedure.by_name
    key = take_annotator("gold", first, by_name)
    names = ["predictions"] if len(systems) == 1 else [f"predictions {number + 1}" for number in range(len(systems))]
    sides = [take_annotator(name, one, by_name) for name, one in zip(names, systems, strict=True)]
    with limit_files(max_bytes):
        counted = check_types(count)(key, sides, **options)
    warn_all(getattr(counted, "notices", ()))
    return counted


def _find_kind(kind: str) -> tuple[str, Callable[..., Result]]:
    """Return the task of a kind of error analysis, and what counts its errors.

    Raises:
        RequestError: there is no such kind.
    """
    found: dict[str, tuple[str, Callable[..., Result]]] = {}
    for module in find_all("error_kinds"):
        task = module.__name__.removeprefix(OWNER).partition(".")[0]
        found |= {name: (task, count) for name, count in module.ERRORS.items()}
    name = choose_equivalent(kind, found)
    if name is None:
        raise RequestError(describe_unknown("kind of error analysis", kind, sorted(found)))
    return found[name]


def analyse_predictions(
    task: str, count: Callable[..., Result], predictions: FileOrRows, place: Place, options: Mapping[str, object]
) -> tuple[Result, Sequence[str]]:
    """Count the errors of predictions for a corpus.

    Args:
        task: the name of the procedure.
        count: counts the errors; takes both sides and their counts, then its own options by keyword.
        predictions: the predictions.
        place: where gold is.
        options: those of `count`, and of the procedure.

    Returns:
        The errors, and notices for the user, one sentence each.

    Raises:
        RequestError: a name or an option does not exist; an InputError if something is missing or invalid.
    """
    own = [one.name for one in signature(count).parameters.values() if one.kind == one.KEYWORD_ONLY]
    chosen = {name: value for name, value in options.items() if name in own}
    by, limit = chosen.get("by", ()), chosen.get("limit", 0)
    check_argument("by", by, str | Sequence[str])
    if isinstance(limit, int) and limit < 0:
        raise RequestError(f"limit is {limit} (expected a whole number from 0)")
    scorer = open_scorer(task, place, {name: value for name, value in options.items() if name not in own})
    system = scorer.take(predictions)
    fields = (by,) if isinstance(by, str) else tuple(cast("Sequence[str]", by))
    counted = scorer.count(system, scorer.breakdowns_for(fields or scorer.procedure.breakdowns))
    found = check_types(count)(scorer.gold, system, counted, **chosen)
    return found, (*scorer.gold.notices, *counted.notices)
