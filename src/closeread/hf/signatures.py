"""What the methods of an evaluate module take and return, from its procedure: signatures and docstrings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

from closeread.counts.options import Option
from closeread.counts.procedure import Procedure

INPUTS = ("predictions", "references")


def describe_inputs(options: Iterable[Option], scores: Mapping[str, str]) -> str:
    """Return what evaluate adds to the docstrings of `compute`, `add` and `add_batch`.

    Args:
        options: the options of the module.
        scores: the description of each score, by name.
    """
    described = [
        f"    {o.name}: {o.help} {o.accepted[0].upper()}{o.accepted[1:]}; {o.default!r} by default."
        for o in options
        if not o.reading
    ]
    returned = [f"    {name}: {description}" for name, description in scores.items()]
    return "\n".join(["Args:", *described, "", "Returns:", *returned, ""])


def with_options(function: Callable[..., Any], procedure: Procedure) -> Callable[..., Any]:
    """Return the method `_compute` of a module with the options of its procedure in its signature.

    It takes keywords of any name, so that an unknown option is reported with the names of the options.
    """

    @wraps(function)
    def compute(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in INPUTS]
    compute.__signature__ = _make_signature(inputs, procedure)  # type: ignore[attr-defined]
    return compute


def signature_of_compute(procedure: Procedure) -> Signature:
    """Return the signature of the method `compute` of a module, which takes its inputs by name, or none."""
    return _make_signature([Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in INPUTS], procedure)


def _make_signature(inputs: Sequence[Parameter], procedure: Procedure) -> Signature:
    options = [
        Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default)
        for option in procedure.options
        if not option.reading
    ]
    return Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *inputs, *options])
