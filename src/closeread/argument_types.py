"""Check the types of arguments where users call in, as the annotations of a function declare them.

A string is never a list; any other iterable may stand for one, since those of NumPy and pandas do.  An empty string is
no path.  A `Literal` accepts every value of its types: which names exist is found where they are looked up.
`Annotated[type, "words"]` describes the expected value, `Annotated[int, Range(1)]` gives the range of a number.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from functools import cache, partial, wraps
from numbers import Integral, Real
from pathlib import Path
from reprlib import Repr
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from closeread.exceptions import (
    KEYWORDS,
    RequestError,
    advising_only,
    escape,
    offering,
    pluralize,
    quote,
    shorten,
    suggest,
)

P = ParamSpec("P")
R = TypeVar("R")

UNIONS = (Union, UnionType)
LISTS = (list, Sequence, Iterable)
WORDS = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    Path: "a path",
    NoneType: "None",
    Mapping: "a mapping",
    Callable: "a function",
}


class Range(NamedTuple):
    """The numbers that a parameter takes: from the lowest to the highest, or above and below these."""

    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False

    def describe_misfit(self, value: Any) -> str:
        """Describe the range if a number is not in it; otherwise return nothing."""
        is_low = self.low is not None and (value <= self.low if self.above else value < self.low)
        is_high = self.high is not None and (
            value >= self.high if self.below else value > self.high
        )
        if not is_low and not is_high and value == value:
            return ""
        ends = [] if self.low is None else [f"{'above' if self.above else 'from'} {self.low:,}"]
        if self.high is not None:
            to = "below" if self.below else "to" if ends and not self.above else "up to"
            ends.append(f"{to} {self.high:,}")
        is_whole = isinstance(value, Integral) and not self.above and not self.below
        kind = "a whole number" if is_whole else "a number"
        expected = f"{kind} {(' and ' if self.below else ' ').join(ends)}"
        is_percentage = self.low == 0 and self.high == 1 and 10 <= value < 100
        return f"{expected}; write {value / 100:g}" if is_percentage else expected


def check_types(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that first checks the types of its arguments: a RequestError names all that are wrong."""

    @wraps(function)
    def check_and_call(*arguments: P.args, **options: P.kwargs) -> R:
        hints, signature = read_hints(function), inspect.signature(function)
        wrong: list[str | None] = []
        try:
            bound = signature.bind_partial(*arguments, **options).arguments
        except TypeError:
            _raise_unbound(signature, function.__name__, arguments, options)
            bound = {}  # Python says it of the call
        keywords = [name for name in _list_keywords(signature) if name not in bound]
        for name, value in bound.items():
            match signature.parameters[name].kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    given = {f"{name}[{i}]": one for i, one in enumerate(value)}
                case inspect.Parameter.VAR_KEYWORD:
                    wrong += _find_wrong_options(value, hints.get(name, object), keywords)
                    given = {}
                case _:
                    given = {name: value}
            wrong += [
                _find_misfit(shown, one, hints.get(name, object)) for shown, one in given.items()
            ]
        _raise_misfits(wrong)
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        passes_on = inspect.Parameter.VAR_KEYWORD in kinds
        with (
            offering(keywords, options),
            nullcontext() if passes_on else advising_only(signature.parameters),
        ):
            return function(*arguments, **options)

    return check_and_call


def _list_keywords(signature: inspect.Signature) -> list[str]:
    """Return the names by which a function takes keywords."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, parameter in signature.parameters.items() if parameter.kind in kinds]


def _raise_unbound(
    signature: inspect.Signature,
    function: str,
    arguments: Sequence[object],
    options: Mapping[str, object],
) -> None:
    """Raise a TypeError for an unknown keyword, or for too many arguments, which says which names there are."""
    keywords = _list_keywords(signature)
    for name in options:
        if name not in keywords:
            guess = suggest(name, keywords, KEYWORDS)
            unexpected = f"got an unexpected keyword argument '{name}'{guess and '.'}{guess}"
            raise TypeError(f"{function}() {unexpected}")
    parameters = signature.parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    n_positional = sum(parameter.kind in positional for parameter in parameters)
    if len(arguments) > n_positional:
        only_by_name = [
            parameter
            for parameter in parameters
            if parameter.kind == inspect.Parameter.KEYWORD_ONLY
        ]
        names = [f"{parameter.name}=" for parameter in only_by_name[:3]]
        hint = f" (name the others: {', '.join(names)}, …)" if names else ""
        taken = pluralize(n_positional, "positional argument")
        raise TypeError(f"{function}() takes {taken}, not {len(arguments)}{hint}")


def _find_wrong_options(
    options: Mapping[str, object], hint: object, keywords: Sequence[str]
) -> list[str]:
    """Return why values of options are not allowed, each with the keyword that was perhaps meant."""
    wrong = []
    for name, value in options.items():
        misfit = _find_misfit(name, value, hint)
        if misfit is not None:
            guess = suggest(name, keywords, KEYWORDS)
            wrong.append(f"{misfit}{guess and '.'}{guess}")
    return wrong


def check_fields(made: Any) -> None:
    """Check the types of the fields of an instance of a dataclass; a RequestError has all that are wrong."""
    hints = read_hints(type(made))  # type: ignore[arg-type]
    _raise_misfits(
        _find_misfit(one.name, getattr(made, one.name), hints[one.name]) for one in fields(made)
    )


def check_argument(name: str, value: object, hint: object) -> None:
    """Check the type of one argument, such as an option whose type depends on its name."""
    _raise_misfits([_find_misfit(name, value, hint)])


def _raise_misfits(misfits: Iterable[str | None]) -> None:
    if found := list(filter(None, misfits)):
        raise RequestError("\n".join(found))


@cache
def read_hints(declared: Any) -> dict[str, Any]:
    """Return the annotations of a function's parameters or a class's fields; that of the result may be unknown here."""
    kept: Callable[[str], bool] = "return".__ne__
    # its first parameters have values, and may be annotated by what is not imported
    if isinstance(declared, partial):
        kept, declared = inspect.signature(declared).parameters.__contains__, declared.func
    texts = {name: one for name, one in declared.__annotations__.items() if kept(name)}
    return get_type_hints(
        SimpleNamespace(__annotations__=texts),
        vars(sys.modules[declared.__module__]),
        include_extras=True,
    )


class TypeText(str):
    """A type as a signature shows it."""

    def __repr__(self) -> str:
        return str(self)


def write_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function as help shows it: types without what only commands need, and modules."""
    signature = inspect.signature(function)
    texts = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    declared = SimpleNamespace(__annotations__=texts)
    types = get_type_hints(declared, vars(sys.modules[function.__module__]))
    parameters = [
        parameter.replace(
            annotation=_write_type(types.get(parameter.name, inspect.Parameter.empty))
        )
        for parameter in signature.parameters.values()
    ]
    returned = _write_type(signature.return_annotation)
    return signature.replace(parameters=parameters, return_annotation=returned)


def _write_type(hint: Any) -> Any:
    if hint is inspect.Parameter.empty:
        return hint
    if get_origin(hint) in UNIONS:
        return TypeText(" | ".join(str(_write_type(part)) for part in get_args(hint)))
    if hint is NoneType:
        return TypeText("None")
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return TypeText(re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=\w)", "", text))


def _find_misfit(name: str, value: object, hint: Any, words: str = "") -> str | None:
    """Return why an annotation does not allow an argument, or an item of it; None if it does."""
    kind, inner = get_origin(hint), get_args(hint)
    items: Iterable[tuple[object, object]] = ()
    if kind is Annotated:
        words = next((one for one in inner[1:] if isinstance(one, str)), words)
        wrong = _find_misfit(name, value, inner[0], words)
        if wrong is None and isinstance(value, Real):
            ranges = (one for one in inner[1:] if isinstance(one, Range))
            expected = next(filter(None, (one.describe_misfit(value) for one in ranges)), "")
            return f"{name} is {value} (expected {expected})" if expected else None
        return wrong
    if kind in UNIONS:
        is_empty = isinstance(value, str) and not value
        if not is_empty or Path not in inner or any(get_origin(one) is Literal for one in inner):
            found = [_find_misfit(name, value, one) for one in inner]
            if None in found:
                return None
            if inside := [one for one in found if one is not None and one.startswith(f"{name}[")]:
                return inside[0]
        fits = False
    elif kind is Mapping:
        if fits := isinstance(value, Mapping):
            items = ((_show(key), item) for key, item in value.items())
    elif kind in LISTS:
        is_table = kind is Sequence and hasattr(value, "columns")
        fits = (
            isinstance(value, Iterable)
            and not isinstance(value, str | bytes | Mapping)
            and not is_table
        )
        if isinstance(value, list | tuple) and inner[0] is not object:
            items = enumerate(value)
    elif kind is Literal:
        fits = isinstance(value, tuple(map(type, inner)))
    elif kind is Callable:
        fits = callable(value)
    # `datasets` exchanges it in modules that it streams from
    elif isinstance(hint, type) and issubclass(hint, Path):
        fits = isinstance(value, os.PathLike)
    elif hint is bool:
        is_numpy = getattr(getattr(value, "dtype", None), "kind", "") == "b"
        fits = is_numpy or (isinstance(value, Integral) and value in (0, 1))
    elif hint in (int, float):
        fits = isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    else:
        fits = isinstance(value, hint)
    if not fits:
        return f"{name} is {_show(value)} (expected {words or _describe(hint)})"
    return next(
        filter(None, (_find_misfit(f"{name}[{key}]", item, inner[-1]) for key, item in items)), None
    )


def _describe(hint: Any) -> str:
    """Describe in words what an annotation allows."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return next((one for one in inner[1:] if isinstance(one, str)), "") or _describe(inner[0])
    if kind in UNIONS:
        named = [
            one
            for one in inner
            if get_origin(one) is not Literal and not (one is str and Path in inner)
        ]
        *first, last = dict.fromkeys(
            ", ".join(map(_describe, named)).replace(" or ", ", ").split(", ")
        )
        return f"{', '.join(first)} or {last}" if first else last
    if kind is Literal:
        return " or ".join(map(repr, inner))
    if kind in LISTS:
        return f"a list of {_describe(inner[0]).removeprefix('a ')}s"
    return WORDS.get(kind or hint) or f"a {hint.__module__.partition('.')[0]}.{hint.__name__}"


def _show(value: object) -> str:
    """Show a value in a message: numbers, text and short lists as they are, otherwise its type."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | int | float | list | tuple | dict | set | Path):
        try:
            return shorten(escape(Repr().repr(value)), 60)
        except ValueError:  # Python shows no number of more than 4,300 digits
            return "a number of too many digits" if isinstance(value, int) else type(value).__name__
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
