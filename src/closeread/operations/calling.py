"""Find the operations of tasks, and call them with what a user gave, in Python or on the command line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from functools import cache
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from closeread.corpus.names import choose_equivalent, load_corpus
from closeread.corpus.notices import warn_all
from closeread.exceptions import (
    KEYWORDS,
    RequestError,
    UnknownOptionError,
    advising_only,
    choose_words,
    describe_unknown,
    name_option,
    offering,
    pluralize,
)
from closeread.files import check_outputs
from closeread.operations import GROUPS, plots
from closeread.parameters import (
    GoldSource,
    Intervals,
    Operation,
    Output,
    Param,
    Parameter,
    ScoredPredictions,
    Written,
    describe,
    is_repeated,
    list_fields,
    place_of,
)
from closeread.signatures import check_range
from closeread.tasks import find_all, procedure_names

if TYPE_CHECKING:
    pass

EMPTY = inspect.Parameter.empty
SOURCES = ("source", "sources", "scored")


def find_operations(group: str) -> dict[str, Operation]:
    """Collect the operations of a group, such as "plot", by name: of all tasks, or of a module of our own."""
    found: dict[str, Operation] = {}
    if group in GROUPS:
        for name in GROUPS[group]:
            found |= import_module(f"closeread.operations.{name}").OPERATIONS[group]
        return found
    for module in (*find_all("operations"), plots):
        offered = module.OPERATIONS.get(group, {})
        if repeated := found.keys() & offered.keys():
            raise ValueError(
                f"{module.__name__} and another task both offer `{group} {min(repeated)}`"
            )
        found |= offered
    corpus = group.removeprefix("baseline ")
    return {**(_offer_baselines(corpus) if corpus != group else {}), **dict(sorted(found.items()))}


def find_groups(group: str) -> list[str]:
    """Return the names of the groups inside a group: "mctaco" of "prepare", since there is "prepare mctaco"."""
    offered = {name for module in find_all("operations") for name in module.OPERATIONS}
    names = {name.removeprefix(f"{group} ") for name in offered if name.startswith(f"{group} ")}
    if group == "baseline":
        from closeread.corpus.baselines import corpora_with_baselines

        names |= set(corpora_with_baselines())
    return sorted(names)


def check_group(group: str, corpus: str) -> None:
    """Check that there is something in a group of a corpus, such as "baseline mctaco"."""
    known = find_groups(group)
    if corpus not in known:
        nothing = {"baseline": "no baselines", "prepare": "nothing to prepare"}[group]
        raise RequestError(f"{corpus} has {nothing} (choose from: {', '.join(known) or 'none'})")


@cache
def _offer_baselines(corpus: str) -> dict[str, Operation]:
    """Return the baselines that the task of a corpus declares as operations, by name."""
    from closeread.corpus.baselines import load_baselines
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.submissions import write_submission

    offered: dict[str, Operation] = {}
    for name, baseline in load_baselines(corpus).items():

        def predict(
            *, place: GoldSource, output: Path | None = None, _one: Any = baseline, **options: Any
        ) -> Written:
            _one.resolve_options(options)
            gold = read_corpus_gold(place)
            warn_all(gold.notices)
            rows = _one.predict(gold.records, **options)
            if output is not None:
                write_submission(output, rows, load_corpus(corpus))
            return Written(output, pluralize(len(rows), "row"), rows)

        required = "".join(
            f" --{one.name.replace('_', '-')} NAME" for one in baseline.required_options
        )
        example = f"closeread baseline {corpus} {name}{required}"
        examples = (
            f"  {example} -o predictions.jsonl\n  {example} --config sample -o predictions.jsonl"
        )
        predict.__doc__ = f"{baseline.description}\n\n\b\nExamples:\n{examples}"
        declared = Param(kind="options", options=baseline.options)
        predict.__annotations__ = {
            "place": Annotated[GoldSource, place_of(corpus)],
            "output": Output | None,
            "options": Annotated[str, declared],
            "return": "Written",
        }
        offered[name] = predict
    return offered


def call(
    group: str, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any], what: str = ""
) -> Any:
    """Call an operation of a group, by any of its names, with what a user gave, checked and converted.

    Keywords that are None are not given; the others are parameters, fields of groups of them, where gold is, and
    options that are declared elsewhere.
    """
    known = find_operations(group)
    own = choose_equivalent(name, known)
    if own is None:
        raise RequestError(describe_unknown(what or f"subcommand of {group}", name, list(known)))
    found = call_operation(f"{group} {own}", known[own], arguments, keywords)
    warn_all(getattr(found, "notices", ()))
    return found


def call_operation(
    called: str, operation: Operation, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """Call an operation, as `call` does; `called` is what to call it in messages."""
    from closeread.scoring import find_gold

    given = {name: value for name, value in keywords.items() if value is not None}
    described = describe(operation)
    has_options = any(one.param.kind == "options" for one in described)
    values = _take_arguments(called, described, arguments, given)
    for one in described:
        match one.param.kind:
            case "place":
                values[one.name], given = find_gold(one.param.corpus, **given)
            case "group":
                values[one.name] = _take_group(one, given)
            case kind if kind not in ("options", "scored") and one.name in given:
                values[one.name] = _check(one, given.pop(one.name))
    read: list[tuple[Path, bool]] = []
    written: list[Path] = []
    _list_files(described, values, read, written)
    check_outputs(read, written)
    known = [
        field.name
        for parameter in described
        if parameter.param.kind != "options"
        for field in list_fields(parameter)
    ]
    with ExitStack() as stack:
        stack.enter_context(offering(known, given))
        if not has_options:
            stack.enter_context(advising_only(known))
        if described and described[0].param.kind == "scored":
            values["scored"], given = _count(described[0].param.corpus, values, given), {}
        if given and not has_options:
            raise UnknownOptionError(called, next(iter(given)), known, KEYWORDS)
        needed = [
            one.name for one in described if one.default is EMPTY and one.param.kind != "options"
        ]
        if missing := [name for name in needed if name not in values]:
            raise RequestError(f"{called} needs {' and '.join(missing)}")
        converted = {
            one.name: _convert(operation, one, values[one.name])
            for one in described
            if one.name in values
        }
        first = [
            converted.pop(one.name)
            for one in described
            if one.is_argument and one.name in converted
        ]
        return operation(*first, **converted, **given)


def _take_arguments(
    called: str, described: Sequence[Parameter], arguments: Sequence[Any], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of positional parameters by name, and remove them from what is given by keywords."""
    rest, found = list(arguments), {}
    expected, lacks = [], False
    for one in described:
        if one.is_argument:
            name = "predictions" if one.param.kind == "scored" else one.name
            expected.append(name)
            if name in given:
                found[one.name] = _check(one, given.pop(name))
            elif rest:
                value, rest = (rest, []) if is_repeated(one) else (rest[0], rest[1:])
                found[one.name] = _check(one, value)
            else:
                lacks = lacks or one.default is EMPTY
    if rest or lacks:
        number = pluralize(len(arguments), "argument")
        raise RequestError(f"{called} got {number} (expected {', '.join(expected) or 'none'})")
    return found


def _list_files(
    described: Sequence[Parameter],
    values: Mapping[str, Any],
    read: list[tuple[Path, bool]],
    written: list[Path],
) -> None:
    """Collect the files that an operation reads, and whether all of each, and those that it writes."""
    for one in described:
        kind, value = one.param.kind, values.get(one.name)
        if kind == "group":
            _list_files(list_fields(one), vars(value), read, written)
            continue
        found: Any = value.gold if kind == "place" and value is not None else value
        several = is_repeated(one) and isinstance(found, list | tuple)
        paths = [
            Path(item)
            for item in (found if several else [found])
            if isinstance(item, str | os.PathLike) and item
        ]
        if kind == "write":
            written += paths
        elif (is_whole := kind in ("place", "read", *SOURCES)) or one.hint is Path:
            read += [(path, is_whole) for path in paths]


def _take_group(parameter: Parameter, given: dict[str, Any]) -> Any:
    """Return a group of parameters from the values of its fields; intervals may also be a `Resampling`."""
    found = {
        one.name: _check(one, given.pop(one.name))
        for one in list_fields(parameter)
        if one.name in given
    }
    if parameter.hint is Intervals and (whole := given.pop("resampling", None)) is not None:
        if found:
            raise RequestError(f"{next(iter(found))} is given twice: as itself and in resampling")
        return Intervals(
            whole.n_resamples != 0,
            whole.n_resamples or 1,
            whole.confidence,
            whole.seed,
            whole.interval,
        )
    return replace(parameter.default, **found)


def _count(corpus: str, values: Mapping[str, Any], given: dict[str, Any]) -> ScoredPredictions:
    """Read and count predictions, by the fields that are given or by all that errors can be broken down by."""
    from closeread.scoring import find_gold, open_scorer

    scorer = open_scorer(*find_gold(corpus, **given))
    system = scorer.read_source(values["scored"])
    counted = scorer.count(
        system, scorer.breakdowns_for(values.get("by", ()) or scorer.procedure.breakdowns)
    )
    warn_all([*scorer.gold.notices, *counted.notices])
    return ScoredPredictions(scorer.gold, system, counted)


def _check(parameter: Parameter, value: Any) -> Any:
    """Return a value as an operation takes it: paths, and tuples of names."""
    name, hint, param = parameter.name, parameter.hint, parameter.param
    if param.kind in SOURCES:
        return value
    if is_repeated(parameter):
        inner = get_args(hint)[0]
        parts = [value] if isinstance(value, str | os.PathLike | Real) else list(value)
        return tuple(
            _check(parameter._replace(hint=inner, param=param._replace(kind="")), part)
            for part in parts
        )
    if hint is Path:
        return str(value) if param.kind == "store" else Path(value)
    if hint is date and isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            raise RequestError(
                f"{name} is {value!r} (expected a day, such as 2017-06-12)"
            ) from None
    if param.range is not None:
        check_range(name, value, param.range)
    if get_origin(hint) is Literal and value not in get_args(hint):
        label = choose_words(name_option(name), name)
        raise RequestError(describe_unknown(label, value, list(map(str, get_args(hint)))))
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
            return [
                make_annotator(f"{singular} {number}", source)
                for number, source in enumerate(value, 1)
            ]
    return value


def take_path(value: str | Path | None) -> Path | None:
    """Return a path as such."""
    return None if value is None else Path(value)
