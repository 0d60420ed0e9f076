"""Scoring procedures: everything that commands, modules, cards and signatures need to know about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from closeread.counts.metrics import Metric
from closeread.counts.options import Option, resolve_options
from closeread.counts.sides import Options, Sides
from closeread.counts.table import CountTable
from closeread.errors import RequestError, describe_unknown


@dataclass(frozen=True)
class Explanation:
    """How a procedure explains its counts.

    Attributes:
        explain: maps the gold and the system record of a unit, and the options, to a JSON value per counted item.
        title: maps a unit's name and these values to the title of their table.
        header: the columns of the table.
        row: maps a value to its cells.
        notes: what the terms in the table mean, one sentence each.
    """

    explain: Callable[[Any, Any, Options], list[Any]]
    title: Callable[[str, Sequence[Any]], str]
    header: Sequence[str]
    row: Callable[[Any], list[str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Help:
    """The part of a command's help that belongs to the procedure, except its title and its options.

    Attributes:
        details: paragraphs about the files that it takes; may be empty.
        key, response: the names of these files in examples; the key is empty if gold comes from a corpus.
        flags: options to show in examples, each as typed.
    """

    details: str = ""
    key: str = ""
    response: str = "predictions.jsonl"
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class Procedure:
    """A published scoring procedure.

    Attributes:
        name: its name in commands.
        version: an integer, raised only when a score can change.
        title: its name in prose.
        unit: the name of what a row of counts is, in the singular.
        resampling_unit: the name of what is resampled together, in the singular.
        options: its options.
        metrics: its scores, in order.
        modules: the evaluate modules that compute its scores, or some of them.
        count: returns a table of counts; takes the keyword arguments `gold` and `system` (see `sides`), one for each
            option, and `breakdowns` if it has any.
        sides: where gold and system come from.
        citation: BibTeX of its publication; None if that is the corpus's own paper.
        breakdowns: the fields that it can count inside units, such as `preposition`.
        find_lacking: maps gold and system records, the options and a breakdown to what is missing for it, in a
            sentence; empty if nothing is.  None if nothing ever is.
        more_fields: where fields of units come from that gold does not have, for messages; may be empty.
        aliases: names that others use for its metrics and fields, to be suggested.
        selective: whether `count` takes `metrics`, the families to count.
        help: its part of a command's help.
        explanation: imports and returns how it explains its counts; None if it can't.
    """

    name: str
    version: int
    title: str
    unit: str
    resampling_unit: str
    options: tuple[Option, ...]
    metrics: tuple[Metric, ...]
    modules: tuple[str, ...]
    count: Callable[..., CountTable]
    sides: Sides[Any]
    citation: str | None = None
    breakdowns: tuple[str, ...] = ()
    find_lacking: Callable[[Any, Any, Options, str], str] | None = None
    more_fields: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    selective: bool = False
    help: Help = Help()
    explanation: Callable[[], Explanation] | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The names of the metrics without `/precision`, `/recall` and `/f1`."""
        return tuple(dict.fromkeys(metric.name.partition("/")[0] for metric in self.metrics))

    def with_metrics(self, families: str | Sequence[str]) -> Procedure:
        """Return the procedure with only some of its metrics.

        Args:
            families: the names of their families, such as `("muc", "conll")`.

        Raises:
            RequestError: there is no such metric, or `families` is empty.
        """
        families = (families,) if isinstance(families, str) else tuple(families)
        for name in families:
            if name not in self.families:
                raise RequestError(describe_unknown(f"{self.name} metric", name, self.families, self.aliases))
        if not families:
            raise RequestError(f"no {self.name} metric selected (choose from: {', '.join(self.families)})")
        metrics = tuple(metric for metric in self.metrics if metric.name.partition("/")[0] in families)
        count = partial(self.count, metrics=families) if self.selective else self.count
        return replace(self, metrics=metrics, count=count)

    def resolve_options(self, values: Mapping[str, object]) -> dict[str, str]:
        """Return every option with its value as text, given or default, in declared order; True becomes "true".

        Raises:
            RequestError: an option does not exist, or does not accept its value.
        """
        return resolve_options(self.options, values, self.name)

    def signature(self, options: Options, gold_digest: str) -> str:
        """Return the signature of a score: procedure, version, every option, and the digest of the gold as scored.

        >>> from closeread.tasks.mctaco.procedure import PROCEDURE
        >>> PROCEDURE.signature({"missing": "error"}, "0123456789abcdef" * 4)
        'mctaco|version:1|missing:error|gold:0123456789ab'
        """
        known = {option.name: option for option in self.options}
        unsigned = {name for name, value in options.items() if name in known and not _is_signed(known[name], value)}
        values = [f"{name}:{value}" for name, value in options.items() if name not in unsigned]
        return "|".join([self.name, f"version:{self.version}", *values, f"gold:{gold_digest[:12]}"])

    def keep_options(self, options: Options, *, reading: bool) -> dict[str, str]:
        """Return the options that can change a score: all of them, or without those of reading, which `count` lacks."""
        kept = {option.name for option in self.options if option.signed != "never" and (reading or not option.reading)}
        return {name: value for name, value in options.items() if name in kept}


def _is_signed(option: Option, value: str) -> bool:
    return option.signed == "always" or (option.signed == "if_changed" and value != option.default)
