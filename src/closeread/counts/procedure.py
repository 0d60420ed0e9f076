"""A published way to score: everything that commands, modules, cards and signatures need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from closeread.counts.metrics import Metric
from closeread.counts.options import Option, resolve_options
from closeread.counts.sides import Options, Sides
from closeread.counts.table import CountTable
from closeread.errors import RequestError, describe_unknown


@dataclass(frozen=True)
class Explanation:
    """How a procedure accounts for everything that it counts.

    Attributes:
        explain: from the gold and the system record of a unit and the options to a JSON value per counted thing.
        title: from a unit's name and these values to the heading of their table.
        header: the columns of the table.
        row: from a value to its cells.
        notes: what the words in the table mean, one sentence each.
    """

    explain: Callable[[Any, Any, Options], list[Any]]
    title: Callable[[str, Sequence[Any]], str]
    header: Sequence[str]
    row: Callable[[Any], list[str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Help:
    """What the command line says of a procedure beside its title and its options.

    Attributes:
        details: paragraphs on the files that it takes; may be empty.
        key, response: how examples call these; both empty where gold is a corpus's.
        flags: options worth an example, each as typed.
    """

    details: str = ""
    key: str = ""
    response: str = "predictions.jsonl"
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class Procedure:
    """A published way to score.

    Attributes:
        name: its name in commands.
        version: an integer, raised only when a number can change.
        title: its name in prose.
        unit: what a row of counts is, in the singular.
        resampling_unit: what is resampled together, in the singular.
        options: the choices it offers.
        metrics: the scores, in order.
        modules: the evaluate modules that compute its scores, or some of them.
        count: keyword arguments `gold`, `system` (see `sides`), `breakdowns` where it has any, and one for each option,
            to a table of counts.
        sides: where gold and system come from.
        citation: BibTeX of where it was published; None where that is the corpus's own paper.
        breakdowns: what it can count inside units, such as `preposition`.
        selective: whether `count` takes `metrics`, the families to count.
        help: what the command line says of it.
        explanation: imports how it accounts for what it counts; None where it can't.
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
    selective: bool = False
    help: Help = Help()
    explanation: Callable[[], Explanation] | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The names of its metrics without `/precision`, `/recall` and `/f1`."""
        return tuple(dict.fromkeys(metric.name.partition("/")[0] for metric in self.metrics))

    def with_metrics(self, families: str | Sequence[str]) -> Procedure:
        """The procedure with some of its metrics only.

        Args:
            families: their names, such as `("muc", "conll")`.

        Raises:
            RequestError: there is no such metric, or none is named.
        """
        families = (families,) if isinstance(families, str) else tuple(families)
        for name in families:
            if name not in self.families:
                raise RequestError(describe_unknown(f"{self.name} metric", name, self.families))
        if not families:
            raise RequestError(f"no {self.name} metric was named (choose from: {', '.join(self.families)})")
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
        """What makes two numbers comparable: procedure, version, every option, and the gold as scored.

        >>> from closeread.tasks.mctaco.procedure import PROCEDURE
        >>> PROCEDURE.signature({"missing": "error"}, "0123456789abcdef" * 4)
        'mctaco|version:1|missing:error|gold:0123456789ab'
        """
        values = [f"{name}:{value}" for name, value in options.items()]
        return "|".join([self.name, f"version:{self.version}", *values, f"gold:{gold_digest[:12]}"])
