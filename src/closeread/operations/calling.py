"""Find the operations of tasks, and call them with what a user gave, in Python or on the command line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from closeread.argument_types import check_argument
from closeread.exceptions import RequestError, choose_words, describe_unknown, name_option, pluralize
from closeread.operations import GROUPS
from closeread.operations.outputs import check_outputs
from closeread.parameters import (
    Intervals,
    Operation,
    Operations,
    Parameter,
    Scored,
    describe,
    describe_fields,
    is_repeated,
)
from closeread.records import FileOrRows
from closeread.tasks import find_all, procedure_names

EMPTY = inspect.Parameter.empty
PLACE = ("gold", "config", "split", "data_dir")


def find_operations(group: str) -> dict[str, Operation]:
    """Collect the operations of a group, such as "plot", by name: of all tasks, or of a module of our own."""
    if group in GROUPS:
        own: Operations = import_module(f"closeread.operations.{GROUPS[group]}").OPERATIONS
        return dict(own[group])
    found: dict[str, Operation] = {}
    for module in find_all("operations"):
        offered = module.OPERATIONS.get(group, {})
        if repeated := found.keys() & offered.keys():
            raise ValueError(f"{module.__name__} and another task both offer `{group} {min(repeated)}`")
        found |= offered
    return dict(sorted(found.items()))


def find_groups(group: str) -> list[str]:
    """Return the names of the groups inside a group: "mctaco" of "perturb", since there is "perturb mctaco"."""
    offered = {name for module in find_all("operations") for name in module.OPERATIONS}
    return sorted(name.removeprefix(f"{group} ") for name in offered if name.startswith(f"{group} "))


def call(group: str, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any], what: str = "") -> Any:
    """Call an operation of a task with what a user gave, checked and converted to what it takes.

    Args:
        group: the name of its group, such as "plot".
        name: its name, or another name of the same corpus.
        arguments: values of its positional parameters; those of several sources one after the other.
        keywords: values by name, None for those that are not given: of all its parameters, of the fields of their
            groups, of where gold is, and options that are declared elsewhere.
        what: what to call it if there is none of that name.

    Raises:
        RequestError: there is no such operation; or an argument is missing, superfluous, unknown or not what its
            parameter accepts.
    """
    from closeread.corpus.names import choose_equivalent
    from closeread.corpus.notices import warn_all

    known = find_operations(group)
    own = choose_equivalent(name, known)
    if own is None:
        raise RequestError(describe_unknown(what or f"subcommand of {group}", name, sorted(known)))
    found = call_operation(f"{group} {own}", known[own], arguments, keywords)
    warn_all(getattr(found, "notices", ()))
    return found


def call_operation(called: str, operation: Operation, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call an operation, as `call` does; `called` is what to call it in messages."""
    from closeread.scoring import limit_files, make_place

    given = {name: value for name, value in keywords.items() if value is not None}
    described = describe(operation)
    values = _take_arguments(called, described, arguments, given)
    for one in described:
        match one.param.kind:
            case "place":
                where = {name: given.pop(name, None) for name in PLACE}
                values[one.name], given = make_place(one.param.corpus, options=given, **where)
            case "group":
                values[one.name] = _take_group(one, given)
            case kind if kind not in ("options", "scored") and one.name in given:
                values[one.name] = _check(one, given.pop(one.name))
    check_outputs(*_list_files(described, values))
    limit = next((values[one.name] for one in described if one.param.kind == "limit" and one.name in values), None)
    with nullcontext() if limit is None else limit_files(limit):
        if described and described[0].param.kind == "scored":
            values["scored"], given = _count(described[0].param.corpus, values, given), {}
        if given and not any(one.param.kind == "options" for one in described):
            known = [name for one in described for name in list_names(one)]
            raise RequestError(describe_unknown(f"option of {called}", next(iter(given)), known))
        needed = [one.name for one in described if one.default is EMPTY and one.param.kind != "options"]
        if missing := [name for name in needed if name not in values]:
            raise RequestError(f"{called} needs {' and '.join(missing)}")
        converted = {one.name: _convert(operation, one, values[one.name]) for one in described if one.name in values}
        first = [converted.pop(one.name) for one in described if one.is_argument and one.name in converted]
        return operation(*first, **converted, **given)


def list_names(parameter: Parameter) -> list[str]:
    """Return the keywords of a parameter: those of its fields if it is a group."""
    match parameter.param.kind:
        case "place":
            return list(PLACE)
        case "scored":
            return ["predictions", *PLACE]
        case "group":
            return [one.name for one in describe_fields(parameter)]
        case "options":
            return []
    return [parameter.name]


def _take_arguments(
    called: str, described: Sequence[Parameter], arguments: Sequence[Any], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of positional parameters by name, and remove them from what is given by keywords."""
    rest, found = list(arguments), {}
    positional = [one for one in described if one.is_argument]
    names = ["predictions" if one.param.kind == "scored" else one.name for one in positional]
    for name, one in zip(names, positional, strict=True):
        if name in given:
            found[one.name] = _check(one, given.pop(name))
        elif rest and is_repeated(one):
            found[one.name], rest = _check(one, rest), []
        elif rest:
            found[one.name] = _check(one, rest.pop(0))
        elif one.default is EMPTY:
            break
    if rest or any(one.name not in found and one.default is EMPTY for one in positional):
        number = pluralize(len(arguments), "argument")
        raise RequestError(f"{called} got {number} (expected {', '.join(names) or 'none'})")
    return found


def _list_files(
    described: Sequence[Parameter], values: Mapping[str, Any]
) -> tuple[list[tuple[Path, bool]], list[Path]]:
    """Return the files that an operation reads, and whether all of each, and those that it writes."""
    read: list[tuple[Path, bool]] = []
    written: list[Path] = []
    for one in described:
        kind, value = one.param.kind, values.get(one.name)
        if kind == "group":
            more = _list_files(describe_fields(one), vars(value))
            read, written = [*read, *more[0]], [*written, *more[1]]
            continue
        found: Any = value.gold if kind == "place" and value is not None else value
        several = is_repeated(one) and isinstance(found, list | tuple)
        paths = [Path(item) for item in (found if several else [found]) if isinstance(item, str | os.PathLike) and item]
        if kind == "write":
            written += paths
        elif kind in ("place", "read", "source", "sources", "scored") or one.hint is Path:
            read += [(path, kind in ("place", "read", "source", "sources", "scored")) for path in paths]
    return read, written


def _take_group(parameter: Parameter, given: dict[str, Any]) -> Any:
    """Return a group of parameters from the values of its fields; intervals may also be a `Resampling`."""
    from closeread.counts.estimates import Resampling

    fields = describe_fields(parameter)
    found = {one.name: _check(one, given.pop(one.name)) for one in fields if one.name in given}
    if parameter.hint is Intervals and (whole := given.pop("resampling", None)) is not None:
        check_argument("resampling", whole, Resampling | None)
        if found:
            raise RequestError(f"{next(iter(found))} is given twice: as itself and in resampling")
        return Intervals(whole.n_resamples != 0, whole.n_resamples or 1, whole.confidence, whole.seed)
    return replace(parameter.default, **found)


def _count(corpus: str, values: Mapping[str, Any], given: dict[str, Any]) -> Scored:
    """Read and count predictions, by the fields that are given or by all that errors can be broken down by."""
    from closeread.corpus.notices import warn_all
    from closeread.scoring import make_place, open_scorer

    where = {name: given.pop(name, None) for name in PLACE}
    place, options = make_place(corpus, options=given, **where)
    scorer = open_scorer(corpus, place, options)
    system = scorer.read_source(values["scored"])
    counted = scorer.count(system, scorer.breakdowns_for(values.get("by", ()) or scorer.procedure.breakdowns))
    warn_all([*scorer.gold.notices, *counted.notices])
    return Scored(scorer.gold, system, counted)


def _check(parameter: Parameter, value: Any) -> Any:
    """Return a value as an operation takes it: paths, and tuples of names.

    Raises:
        RequestError: its type is wrong, or it is no choice, or out of its range.
    """
    name, hint, param = parameter.name, parameter.hint, parameter.param
    if param.kind in ("source", "sources", "scored"):
        check_argument(name, value, Sequence[FileOrRows] if param.kind == "sources" else FileOrRows)
        return value
    if is_repeated(parameter):
        inner = get_args(hint)[0]
        single = isinstance(value, str | os.PathLike | Real)
        accepted: Any = str | Path if inner is Path else float if inner is float else str
        check_argument(name, value, accepted | Sequence[accepted])
        parts = [value] if single else list(value)
        return tuple(_check(parameter._replace(hint=inner, param=param._replace(kind="")), part) for part in parts)
    if hint is Path:
        check_argument(name, value, str | Path)
        return str(value) if param.kind == "store" else Path(value)
    if hint is date and isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            raise RequestError(f"{name} is {value!r} (expected a day, such as 2017-06-12)") from None
    check_argument(name, value, hint)
    label = choose_words(name_option(name), name)
    if get_origin(hint) is Literal and value not in get_args(hint):
        raise RequestError(describe_unknown(label, value, list(map(str, get_args(hint)))))
    low, high = param.low, param.high
    if (low, high) == (None, None):
        return value
    is_low = low is not None and (value <= low if param.above else value < low)
    is_high = high is not None and (value >= high if param.below else value > high)
    if is_low or is_high or value != value:
        ends = [] if low is None else [f"{'above' if param.above else 'from'} {low:,}"]
        if high is not None:
            to = "below" if param.below else "to" if ends and not param.above else "up to"
            ends.append(f"{to} {high:,}")
        noun = "a whole number" if isinstance(value, Integral) else "a number"
        raise RequestError(f"{label} is {value} (expected {noun} {(' and ' if param.below else ' ').join(ends)})")
    return value


def _convert(operation: Operation, parameter: Parameter, value: Any) -> Any:
    """Return sources as annotators: files or folders, named by their paths, or objects, named by the parameter."""
    from closeread.corpus.objects import take_rows
    from closeread.counts.annotators import Annotator
    from closeread.scoring import find_procedure

    def make_annotator(name: str, source: Any) -> Annotator:
        if isinstance(source, str | os.PathLike):
            return Annotator(str(source), Path(source))
        task = operation.__module__.removeprefix("closeread.tasks.").partition(".")[0]
        by_name = find_procedure(task)[0].by_name if task in procedure_names() else None
        return Annotator(name, take_rows(name, source, by_name))

    name = parameter.name
    match parameter.param.kind:
        case "source":
            return make_annotator(name, value)
        case "sources" if name == "predictions" and len(value) == 1:
            return [make_annotator(name, value[0])]
        case "sources":
            singular = name if name == "predictions" else name.removesuffix("s")
            return [make_annotator(f"{singular} {number}", source) for number, source in enumerate(value, 1)]
    return value
