"""Named choices that change what is computed: the source of flags, keywords, signatures and tables in cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from closeread.arrays import Mask
from closeread.exceptions import RequestError, quote
from closeread.suggestions import describe_unknown

OptionValue = Annotated[str | float | bool | Path, "a string, a number or a path"]
"""What a user may give for an option; it counts as its text, True as "true"."""


@dataclass(frozen=True)
class Option:
    """A named choice that changes what is computed.

    Attributes:
        name: the keyword, with underscores; the command line writes it with hyphens.
        choices: the accepted values; empty for free text that matches `pattern`.
        default: the value if none is given.
        help: one sentence.
        pattern: a regular expression for free text; None if there are choices.
        expected: a description of the free text, such as "a whole number".
        canonical: maps equivalent values to one form, so that equal computations have equal signatures.
        signed: whether the signature has the option: "always"; "if_changed" for one that was added later, which the
            signature has only if it is not at its default, so that earlier signatures stay the same; or "never" for
            one that can't change a score.
        reading: whether it changes only how files are read, so that counting and evaluate modules do without it.
        references: BibTeX of the papers that its choices come from.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    help: str
    pattern: str | None = None
    expected: str = ""
    canonical: Callable[[str], str] = str
    signed: Literal["always", "if_changed", "never"] = "always"
    reading: bool = False
    references: tuple[str, ...] = ()

    @property
    def accepted(self) -> str:
        """A description of the accepted values.

        >>> Option("tolerance", (), "0", "", pattern="[0-9]+", expected="a whole number").accepted
        'a whole number'
        """
        return self.expected if self.pattern is not None else f"one of {', '.join(map(repr, self.choices))}"

    def describe_invalid(self, value: object) -> str:
        """Write the message for a value that is not accepted."""
        found = quote(str(value))
        if self.pattern is None:
            return f"{found} is not {self.accepted}"
        return f"{found} is not valid (expected {self.expected})"

    def accepts(self, value: object) -> bool:
        """Return whether a value is valid."""
        if self.pattern is None:
            return value in self.choices
        return re.fullmatch(self.pattern, str(value)) is not None


@dataclass(frozen=True)
class PathOption(Option):
    """An option whose value is the path of a file or folder to read; empty for none.

    Attributes:
        metavar: what the help calls the path.
    """

    metavar: str = "DIR"


def resolve_options(options: Sequence[Option], values: Mapping[str, object], owner: str) -> dict[str, str]:
    """Return every option with its value as text, given or default, in declared order; True becomes "true", 4.0 "4".

    Args:
        options: the options that exist.
        values: the given values by name.
        owner: what has these options, for messages.

    Raises:
        RequestError: an option does not exist, or does not accept its value.

    >>> resolve_options([Option("average", ("micro", "macro"), "micro", "")], {"average": "macro"}, "coref")
    {'average': 'macro'}
    """
    known = {option.name: option for option in options}
    given = {name: _as_text(value) for name, value in values.items()}
    for name, value in given.items():
        if name not in known:
            raise RequestError(describe_unknown(f"option of {owner}", name, list(known)))
        if not known[name].accepts(value):
            raise RequestError(f"option {name}: {known[name].describe_invalid(value)}")
    return {name: option.canonical(given.get(name, option.default)) for name, option in known.items()}


def _as_text(value: object) -> str:
    """Return a value as the command line writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def missing_option(default: str) -> Option:
    """Return the option for units without a prediction: "error", "empty" or "skip"."""
    return Option("missing", ("error", "empty", "skip"), default, "How to treat units without a prediction.")


def average_option(unit: str) -> Option:
    """Return the option of procedures whose metrics come from `closeread.counts.metrics.average`."""
    return Option(
        "average",
        ("micro", "macro"),
        "micro",
        f"Sum counts over {unit}s and divide once (micro), or average the scores of the {unit}s (macro).",
    )


def check_present(present: Mask, units: str, missing: str, what: str = "prediction") -> None:
    """Check that every unit has a prediction if `missing` is "error".

    Args:
        present: (n_units,) True for units that have one.
        units: the name of the units, in the plural.
        missing: the value of the option `missing`.
        what: the name of a prediction.

    Raises:
        ValueError: `missing` is "error" and a unit has no prediction.
    """
    if missing == "error" and not present.all():
        absent = len(present) - int(present.sum())
        raise ValueError(f"{absent:,} of {len(present):,} {units} have no {what}")
