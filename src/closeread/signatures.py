"""Signatures of the functions that users call: the ranges of numbers, and types as help shows them.

`Annotated[int, Range(1)]` gives the range of a parameter; the types themselves are not checked.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import cache, wraps
from numbers import Integral, Real
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from closeread.exceptions import RequestError, advising_only, offering

P = ParamSpec("P")
R = TypeVar("R")

UNIONS = (Union, UnionType)


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


def check_ranges(values: Mapping[str, object], ranges: Mapping[str, tuple[Range, ...]]) -> None:
    """Check that numbers are in the ranges of their names: a RequestError has all that are not.

    What is no number is in all ranges.
    """
    misfits = []
    for name, value in values.items():
        for numbers in ranges.get(name, ()):
            expected = numbers.describe_misfit(value) if isinstance(value, Real) else ""
            if expected:
                misfits.append(f"{name} is {value} (expected {expected})")
    if misfits:
        raise RequestError("\n".join(misfits))


@cache
def read_ranges(declared: Any) -> dict[str, tuple[Range, ...]]:
    """Return the ranges of a function's parameters or a class's fields, by name."""
    hints = read_hints(declared)
    return {name: tuple(_find_ranges(hint)) for name, hint in hints.items()}


def _find_ranges(hint: Any) -> Iterator[Range]:
    yield from (part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Range))
    if get_origin(hint) in UNIONS:
        for alternative in get_args(hint):
            yield from _find_ranges(alternative)


def check_calls(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that first checks the ranges of its arguments, and names its keywords in errors."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    keywords = [parameter.name for parameter in parameters if parameter.kind in by_name]
    passes_on = any(parameter.kind == inspect.Parameter.VAR_KEYWORD for parameter in parameters)

    @wraps(function)
    def check_and_call(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            bound = signature.bind(*arguments, **options).arguments
        except TypeError:
            # Python says it of the function itself.
            return function(*arguments, **options)
        check_ranges(bound, read_ranges(function))
        unused = [name for name in keywords if name not in bound]
        advising = nullcontext() if passes_on else advising_only(signature.parameters)
        with offering(unused, options), advising:
            return function(*arguments, **options)

    return check_and_call


@cache
def read_hints(declared: Any) -> dict[str, Any]:
    """Return the annotations of a function's parameters or a class's fields; that of the result may be unknown here."""
    return _read_types(declared, include_extras=True)


def _read_types(declared: Any, *, include_extras: bool) -> dict[str, Any]:
    texts = {name: hint for name, hint in declared.__annotations__.items() if name != "return"}
    namespace = SimpleNamespace(__annotations__=texts)
    names = vars(sys.modules[declared.__module__])
    return get_type_hints(namespace, names, include_extras=include_extras)


class TypeText(str):
    """A type as a signature shows it."""

    def __repr__(self) -> str:
        return str(self)


def write_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function as help shows it: types without what only commands need, and modules."""
    signature = inspect.signature(function)
    types = _read_types(function, include_extras=False)
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
