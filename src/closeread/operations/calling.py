"""Find the operations of tasks, and call them with what a user gave, in Python or on the command line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
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
    Annotator,
    GoldSource,
    Intervals,
    Operation,
    Output,
    Param,
    Parameter,
    ScoredPredictions,
    Written,
    describe,
    list_fields,
)
from closeread.signatures import check_ranges
from closeread.tasks import find_all, procedure_names

if TYPE_CHECKING:
    from closeread.corpus.baselines import Baseline

NO_DEFAULT = inspect.Parameter.empty
SOURCES = (Annotator, Sequence[Annotator], GoldSource, ScoredPredictions)
"""The types of parameters that are files, folders or objects."""


def find_operations(group: str) -> dict[str, Operation]:
    """Collect the operations of a group, such as "plot", by name: of all tasks, or of modules of our own."""
    operations: dict[str, Operation] = {}
    if group in GROUPS:
        for name in GROUPS[group]:
            operations |= import_module(f"closeread.operations.{name}").OPERATIONS[group]
        return operations
    for module in (*find_all("operations"), plots):
        offered = module.OPERATIONS.get(group, {})
        repeated = operations.keys() & offered.keys()
        if repeated:
            command = f"{group} {min(repeated)}"
            raise ValueError(f"{module.__name__} and another task both offer `{command}`")
        operations |= offered
    operations = dict(sorted(operations.items()))
    if group.startswith("baseline "):
        corpus = group.removeprefix("baseline ")
        return {**_offer_baselines(corpus), **operations}
    return operations


def find_groups(group: str) -> list[str]:
    """Return the names of the groups inside a group: "mctaco" of "prepare", since there is "prepare mctaco"."""
    names = set()
    for module in find_all("operations"):
        for name in module.OPERATIONS:
            if name.startswith(f"{group} "):
                names.add(name.removeprefix(f"{group} "))
    if group == "baseline":
        from closeread.corpus.baselines import corpora_with_baselines

        names |= set(corpora_with_baselines())
    return sorted(names)


def check_group(group: str, corpus: str) -> None:
    """Check that there is something in a group of a corpus, such as "baseline mctaco"."""
    corpora = find_groups(group)
    if corpus not in corpora:
        listed = ", ".join(corpora) or "none"
        if group == "baseline":
            raise RequestError(f"{corpus} has no baselines (corpora with baselines: {listed})")
        raise RequestError(f"{corpus} has nothing to prepare (corpora that have: {listed})")


@cache
def _offer_baselines(corpus: str) -> dict[str, Operation]:
    """Return the baselines that the task of a corpus declares as operations, by name."""
    from closeread.corpus.baselines import load_baselines

    return {
        name: _make_operation(corpus, name, baseline)
        for name, baseline in load_baselines(corpus).items()
    }


def _make_operation(corpus: str, name: str, baseline: Baseline) -> Operation:
    """Return the operation that writes the predictions of a baseline."""
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.submissions import write_submission

    def predict(*, place: GoldSource, output: Path | None = None, **options: Any) -> Written:
        baseline.resolve_options(options)
        gold = read_corpus_gold(place)
        warn_all(gold.notices)
        rows = baseline.predict(gold.records, **options)
        if output is not None:
            write_submission(output, rows, load_corpus(corpus))
        return Written(output, pluralize(len(rows), "row"), rows)

    example = f"  closeread baseline {corpus} {name}"
    for option in baseline.required_options:
        example += f" --{option.name.replace('_', '-')} NAME"
    examples = f"{example} -o predictions.jsonl\n{example} --config sample -o predictions.jsonl"
    predict.__doc__ = f"{baseline.description}\n\n\b\nExamples:\n{examples}"
    # Commands and keywords are derived from annotations.  These depend on the baseline, so they are set afterwards.
    declared = Param(options=baseline.options)
    annotations = predict.__annotations__
    annotations["place"] = Annotated[GoldSource, Param(corpus=corpus)]
    annotations["output"] = Output | None
    annotations["options"] = Annotated[str, declared]
    return predict


def call(
    group: str, name: str, arguments: Sequence[Any], noun: str = "", /, **keywords: Any
) -> Any:
    """Call an operation of a group, by any of its names, with what a user gave, checked and converted.

    Args:
        group: the group, such as "plot" or "prepare tne".
        name: the name of the operation, or an equivalent one.
        arguments: the values of positional parameters.
        noun: what messages call an operation; by default, a subcommand of the group.
        **keywords: each is one of the following, and None if it is not given:

            * a parameter of the operation;
            * a field of a group of parameters, such as `seed` of intervals;
            * a part of where gold is, such as `split`;
            * an option that is declared elsewhere, such as one of the procedure.
    """
    operations = find_operations(group)
    chosen = choose_equivalent(name, operations)
    if chosen is None:
        noun = noun or f"subcommand of {group}"
        raise RequestError(describe_unknown(noun, name, list(operations)))
    result = call_operation(f"{group} {chosen}", operations[chosen], arguments, keywords)
    warn_all(getattr(result, "notices", ()))
    return result


def call_operation(
    title: str, operation: Operation, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """Call an operation, as `call` does; messages call it by its title."""
    # Each parameter gets a value, and options are what is left.
    parameters = describe(operation)
    options = {name: value for name, value in keywords.items() if value is not None}
    values = _bind(title, parameters, arguments, options)
    _check_files(parameters, values)

    # What messages advise instead of an unknown option.
    takes_options = any(parameter.is_options for parameter in parameters)
    names: list[str] = []
    for parameter in parameters:
        if not parameter.is_options:
            names += [field.name for field in list_fields(parameter)]
    with ExitStack() as stack:
        stack.enter_context(offering(names, options))
        if not takes_options:
            stack.enter_context(advising_only(names))

        # Counting predictions takes the options of the procedure, so that none is left for the operation.
        if parameters and parameters[0].hint is ScoredPredictions:
            values["predictions"] = _count(parameters[0].param.corpus, values, options)
            options = {}
        if options and not takes_options:
            raise UnknownOptionError(title, next(iter(options)), names, KEYWORDS)
        _check_complete(title, parameters, values)

        # Values are passed by position or by keyword, as the operation is declared.
        positional: list[Any] = []
        for parameter in parameters:
            if parameter.name not in values:
                continue
            value = _make_annotators(operation, parameter, values.pop(parameter.name))
            if parameter.role == inspect.Parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.is_argument:
                positional.append(value)
            else:
                options[parameter.name] = value
        return operation(*positional, **options)


def _bind(
    title: str, parameters: Sequence[Parameter], arguments: Sequence[Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of parameters by name, and leave in the options what no parameter takes."""
    values = _bind_arguments(title, parameters, arguments, options)
    for parameter in parameters:
        hint = parameter.hint
        if hint is GoldSource:
            from closeread.scoring import find_gold  # imports NumPy

            # `find_gold` takes the options of where gold is, and returns the others.
            source, remaining = find_gold(parameter.param.corpus, **options)
            values[parameter.name] = source
            options.clear()
            options.update(remaining)
        elif parameter.is_group:
            values[parameter.name] = _take_group(parameter, options)
        elif parameter.name in options and not parameter.is_options:
            values[parameter.name] = _check_value(parameter, options.pop(parameter.name))
    return values


def _bind_arguments(
    title: str, parameters: Sequence[Parameter], arguments: Sequence[Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of positional parameters by name, and remove them from the options."""
    values: dict[str, Any] = {}
    names: list[str] = []
    remaining = list(arguments)
    is_complete = True
    for parameter in parameters:
        if not parameter.is_argument:
            continue
        name = parameter.name
        names.append(name)
        if name in options:
            values[name] = _check_value(parameter, options.pop(name))
        elif remaining and parameter.is_repeated:
            values[name] = _check_value(parameter, remaining)
            remaining = []
        elif remaining:
            values[name] = _check_value(parameter, remaining.pop(0))
        elif parameter.default is NO_DEFAULT:
            is_complete = False
    if remaining or not is_complete:
        number = pluralize(len(arguments), "argument")
        raise RequestError(f"{title} got {number} (expected {', '.join(names) or 'none'})")
    return values


def _check_complete(title: str, parameters: Sequence[Parameter], values: Mapping[str, Any]) -> None:
    """Check that all parameters without a default have values."""
    missing = []
    for parameter in parameters:
        is_needed = parameter.default is NO_DEFAULT and not parameter.is_options
        if is_needed and parameter.name not in values:
            missing.append(parameter.name)
    if missing:
        raise RequestError(f"{title} needs {' and '.join(missing)}")


def _check_files(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> None:
    """Check that no file is both read and written, or written twice."""
    read: list[tuple[Path, bool]] = []
    written: list[Path] = []
    for parameter, value in _list_values(parameters, values):
        hint = parameter.hint
        if hint is GoldSource and value is not None:
            value = value.gold
        sources = value if parameter.is_repeated and isinstance(value, list | tuple) else [value]
        is_written = parameter.param.kind == "write"
        is_read_whole = parameter.param.kind == "read" or hint in SOURCES
        for source in sources:
            if not isinstance(source, str | os.PathLike) or not source:
                continue
            if is_written:
                written.append(Path(source))
            elif is_read_whole or hint is Path:
                read.append((Path(source), is_read_whole))
    check_outputs(read, written)


def _list_values(
    parameters: Sequence[Parameter], values: Mapping[str, Any]
) -> Iterator[tuple[Parameter, Any]]:
    """Yield parameters with their values, and the fields of groups with theirs."""
    for parameter in parameters:
        value = values.get(parameter.name)
        if parameter.is_group:
            yield from _list_values(list_fields(parameter), vars(value))
        else:
            yield parameter, value


def _take_group(parameter: Parameter, options: dict[str, Any]) -> Any:
    """Return a group of parameters with the values of its fields, which are removed from the options.

    In Python, `resampling=` is another way to give intervals: a `Resampling`, which has the same settings, but says
    with 0 resamples that there are no intervals.
    """
    fields = {}
    for field in list_fields(parameter):
        if field.name in options:
            fields[field.name] = _check_value(field, options.pop(field.name))
    resampling = options.pop("resampling", None) if parameter.hint is Intervals else None
    if resampling is None:
        return replace(parameter.default, **fields)
    if fields:
        raise RequestError(f"{next(iter(fields))} is given twice: as itself and in resampling")
    return Intervals(
        resampling.n_resamples != 0,
        resampling.n_resamples or 1,
        resampling.confidence,
        resampling.seed,
        resampling.interval,
    )


def _count(corpus: str, values: Mapping[str, Any], options: dict[str, Any]) -> ScoredPredictions:
    """Read and count predictions, by the fields that are given or by all that errors can be broken down by."""
    from closeread.scoring import find_gold, open_scorer

    scorer = open_scorer(*find_gold(corpus, **options))
    system = scorer.read(values["predictions"])
    fields = values.get("by", ()) or scorer.procedure.breakdowns
    counted = scorer.count(system, fields)
    warn_all([*scorer.gold.notices, *counted.notices])
    return ScoredPredictions(scorer.gold, system, counted)


def _check_value(parameter: Parameter, value: Any) -> Any:
    """Check the range and choices of a value, and return it as an operation takes it: as a path, a date or a tuple."""
    name = parameter.name
    label = choose_words(name_option(name), name)
    hint = parameter.hint
    param = parameter.param
    if parameter.is_repeated:
        single = parameter._replace(hint=get_args(hint)[0])
        is_single = isinstance(value, str | os.PathLike | Real)
        return tuple(_check_value(single, part) for part in ([value] if is_single else value))
    if hint is Path:
        return str(value) if param.kind == "store" else Path(value)
    if hint is date and isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            message = f"{label} is {value!r} (expected a day, such as 2017-06-12)"
            raise RequestError(message) from None
    if param.range is not None:
        check_ranges({name: value}, {name: (param.range,)})
    if get_origin(hint) is Literal and value not in get_args(hint):
        raise RequestError(describe_unknown(label, value, list(map(str, get_args(hint)))))
    return value


def _make_annotators(operation: Operation, parameter: Parameter, value: Any) -> Any:
    """Return sources as annotators if the parameter takes these, other values as they are; several are numbered."""
    if Annotator not in (parameter.hint, *get_args(parameter.hint)):
        return value
    name = parameter.name
    if not parameter.is_repeated:
        return _make_annotator(operation, parameter, name, value)
    if name == "predictions" and len(value) == 1:
        return [_make_annotator(operation, parameter, name, value[0])]
    singular = name if name == "predictions" else name.removesuffix("s")
    return [
        _make_annotator(operation, parameter, f"{singular} {number}", source)
        for number, source in enumerate(value, start=1)
    ]


def _make_annotator(
    operation: Operation, parameter: Parameter, name: str, source: Any
) -> Annotator:
    """Return a file or folder as an annotator, named by its path, or an object, by a name."""
    from closeread.corpus.objects import take_rows
    from closeread.counts import annotators
    from closeread.scoring import find_procedure

    if isinstance(source, str | os.PathLike):
        return annotators.Annotator(str(source), Path(source))
    task = parameter.param.corpus
    task = task or operation.__module__.removeprefix("closeread.tasks.").partition(".")[0]
    by_name = find_procedure(task)[0].by_name if task in procedure_names() else None
    return annotators.Annotator(name, take_rows(name, source, by_name))
