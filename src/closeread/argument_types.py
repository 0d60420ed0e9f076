"""Check the types of arguments where users call in, as the annotations of a function declare them.

`closeread.score(…)` and the other public functions are checked where `closeread` hands them out, so that `data_dir=5`
is one sentence about `data_dir` instead of an error from deep inside.  Inside, nothing is checked again.  Only types
are: whether a name exists is found, and worded with the known ones, where it is looked up.  Libraries that do this,
such as beartype and pydantic, take longer to import than all of this package, and word errors in terms of types.

Conventions: a string is never a list; any other iterable may stand for one, since those of NumPy and pandas do.  An
empty string is no path.  A `Literal` accepts every value of its types.  `Annotated[type, "words"]` says what is
expected.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial, wraps
from numbers import Integral, Real
from pathlib import Path
from reprlib import Repr
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from closeread.exceptions import RequestError, escape, quote, shorten

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
}
SHORT = Repr()


class Misfit(NamedTuple):
    """A value that its annotation does not allow.

    Attributes:
        place: where it is in the argument, such as "[2]"; empty for the argument itself.
        value: the value.
        expected: what is expected, in words.
    """

    place: str
    value: object
    expected: str


def check_types(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that checks the types of its arguments, and otherwise does the same.

    The function that is returned raises a RequestError for arguments of a wrong type, all of them at once.
    """

    @wraps(function)
    def check_and_call(*arguments: P.args, **options: P.kwargs) -> R:
        _check(_name_arguments(function, arguments, options))
        return function(*arguments, **options)

    return check_and_call


def check_fields(made: object) -> None:
    """Check the types of the fields of an instance of a dataclass.

    Raises:
        RequestError: some are not what the class declares; all of them at once.
    """
    hints = read_hints(type(made))  # type: ignore[arg-type]
    _check((one.name, getattr(made, one.name), hints[one.name]) for one in fields(made))  # type: ignore[arg-type]


def check_argument(name: str, value: object, hint: object) -> None:
    """Check the type of one argument, such as one of several options whose name decides what it is.

    Raises:
        RequestError: it has another type.
    """
    _check([(name, value, hint)])


def _check(arguments: Iterable[tuple[str, object, object]]) -> None:
    """Check names, values and annotations.

    Raises:
        RequestError: values are not what they are declared to be; all of them at once.
    """
    found = [(name, misfit) for name, value, hint in arguments if (misfit := _find_misfit(value, hint)) is not None]
    if found:
        lines = [f"{name}{one.place} is {_show(one.value)} (expected {one.expected})" for name, one in found]
        raise RequestError("\n".join(lines))


def _name_arguments(
    function: Callable[..., object], arguments: Sequence[object], options: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the name, the value and the annotation of each argument; none for those that the function does not take."""
    names, several, rest = _read_parameters(function)
    hints = read_hints(function)
    for name, value in zip(names, arguments, strict=False):
        yield name, value, hints.get(name, object)
    for number, value in enumerate(arguments[len(names) :]):
        yield f"{several}[{number}]", value, hints.get(several, object)
    for name, value in options.items():
        yield name, value, hints.get(name, hints.get(rest, object))


@cache
def _read_parameters(function: Callable[..., object]) -> tuple[tuple[str, ...], str, str]:
    """Return the names of a function's positional parameters, and those of `*` and `**`; empty if it has none."""
    parameters = inspect.signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    several = next((one.name for one in parameters if one.kind == one.VAR_POSITIONAL), "")
    rest = next((one.name for one in parameters if one.kind == one.VAR_KEYWORD), "")
    return tuple(names), several, rest


@cache
def read_hints(declared: Any) -> dict[str, Any]:
    """Return the annotations of a function's parameters or a class's fields; what is returned may be unknown here."""
    kept: Callable[[str], bool] = "return".__ne__
    if isinstance(declared, partial):  # its first parameters have values, and may be annotated by what is not imported
        kept, declared = inspect.signature(declared).parameters.__contains__, declared.func
    texts = {name: one for name, one in declared.__annotations__.items() if kept(name)}
    return get_type_hints(
        SimpleNamespace(__annotations__=texts), vars(sys.modules[declared.__module__]), include_extras=True
    )


def _find_misfit(value: object, hint: Any, words: str = "") -> Misfit | None:
    """Find what an annotation does not allow in a value; None if it allows all of it."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _find_misfit(value, inner[0], next((one for one in inner[1:] if isinstance(one, str)), words))
    if kind in UNIONS:
        return _find_misfit_in_union(value, hint, words)
    misfit = Misfit("", value, words or _describe(hint))
    if kind is Mapping:
        if not isinstance(value, Mapping):
            return misfit
        items = ((f"[{_show(name)}]", one) for name, one in value.items())
        return _find_misfit_inside(items, inner[1])
    if kind in LISTS:
        is_table = kind is Sequence and hasattr(value, "columns")
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping) or is_table:
            return misfit
        places = ((f"[{i}]", one) for i, one in enumerate(value)) if isinstance(value, list | tuple) else ()
        return None if inner[0] is object else _find_misfit_inside(places, inner[0])
    return None if _fits(value, hint, kind, inner) else misfit


def _find_misfit_in_union(value: object, hint: Any, words: str) -> Misfit | None:
    members = get_args(hint)
    misfit = Misfit("", value, words or _describe(hint))
    is_empty = isinstance(value, str) and not value
    if is_empty and Path in members and not any(get_origin(one) is Literal for one in members):
        return misfit
    found = [_find_misfit(value, one) for one in members]
    if None in found:
        return None
    return next((one for one in found if one is not None and one.place), misfit)


def _find_misfit_inside(items: Iterable[tuple[str, object]], hint: Any) -> Misfit | None:
    for place, value in items:
        if (misfit := _find_misfit(value, hint)) is not None:
            return misfit._replace(place=place + misfit.place)
    return None


def _fits(value: object, hint: Any, kind: object, inner: tuple[object, ...]) -> bool:
    """Return whether a value is of a class, or of that of a literal."""
    if kind is Literal:
        return isinstance(value, tuple(map(type, inner)))
    if hint is Path:
        return isinstance(value, os.PathLike)
    if hint is bool:
        return isinstance(value, bool) or (isinstance(value, Integral) and value in (0, 1)) or _is_numpy_bool(value)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return isinstance(value, hint)


def _is_numpy_bool(value: object) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _describe(hint: Any) -> str:
    """Describe in words what an annotation allows."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return next((one for one in inner[1:] if isinstance(one, str)), "") or _describe(inner[0])
    if kind in UNIONS:
        named = [one for one in inner if get_origin(one) is not Literal and not (one is str and Path in inner)]
        *first, last = dict.fromkeys(", ".join(map(_describe, named)).replace(" or ", ", ").split(", "))
        return f"{', '.join(first)} or {last}" if first else last
    if kind is Literal:
        return " or ".join(map(repr, inner))
    if kind is Mapping:
        return "a mapping"
    if kind in LISTS:
        return f"a list of {_describe(inner[0]).removeprefix('a ')}s"
    return WORDS.get(hint) or f"a {hint.__module__.partition('.')[0]}.{hint.__name__}"


def _show(value: object) -> str:
    """Show a value in a message: numbers, text and short lists as they are, otherwise its type."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | int | float | list | tuple | dict | set | Path):
        return shorten(escape(SHORT.repr(value)), 60)
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
