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
from closeread.exceptions import RequestError
from closeread.suggestions import describe_unknown


@dataclass(frozen=True)
class Explanation:
    """How a procedure explains its counts.

    Attributes:
        explain: maps the gold and the system record of a unit, and the options, to a JSON value per counted item.
        title: maps a unit's name and these values to the title of their table.
        header: the columns of the table.
        row: maps a value to its cells.
        notes: what the terms in the table mean, one sentence each.
        prose: the columns that a narrow terminal may wrap.
    """

    explain: Callable[[Any, Any, Options], list[Any]]
    title: Callable[[str, Sequence[Any]], str]
    header: Sequence[str]
    row: Callable[[Any], list[str]]
    notes: Sequence[str]
    prose: Sequence[str] = ()


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
class Preset:
    """The options and metrics of an official score.

    Attributes:
        options: the values that differ from the defaults of the procedure.
        metrics: the families of metrics that it reports.
        help: what it is, with its source; completes "Use the options of …".
        references: BibTeX of the papers that define it, besides those of its metrics.
    """

    options: Options
    metrics: tuple[str, ...]
    help: str
    references: tuple[str, ...] = ()


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
        more_metrics: scores that are computed only if they are selected by name, in order.
        presets: by name, the options and metrics of official scores.
        headline: the name of the score that systems are ranked by.
        modules: the evaluate modules that compute its scores, or some of them.
        count: returns a table of counts; takes the keyword arguments `gold` and `system` (see `sides`), one for each
            option, and `breakdowns` if it has any.
        sides: where gold and system come from.
        citation: BibTeX of its publication; None if that is the corpus's own paper.
        references: BibTeX of the papers that define a family of metrics, besides that publication, by family.
        breakdowns: the fields that it can count inside units, such as `preposition`.
        find_lacking: maps gold and system records, the options and a breakdown to what is missing for it, in a
            sentence; empty if nothing is.  None if nothing ever is.
        more_fields: where fields of units come from that gold does not have, for messages; may be empty.
        aliases: names that others use for its metrics and fields, to be suggested.
        selective: whether `count` takes `metrics`, the families to count.
        by_name: the fields of a record for which a mapping from names to values may stand, such as a document and its
            clusters; None if there are none.
        help: its part of a command's help.
        explanation: imports and returns how it explains its counts; None if it can't.
        fields: the fields of units that its tables may have, such as `category`, besides those of `more_fields`.
    """

    name: str
    version: int
    title: str
    unit: str
    resampling_unit: str
    options: tuple[Option, ...]
    metrics: tuple[Metric, ...]
    headline: str
    modules: tuple[str, ...]
    count: Callable[..., CountTable]
    sides: Sides[Any]
    citation: str | None = None
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    breakdowns: tuple[str, ...] = ()
    find_lacking: Callable[[Any, Any, Options, str], str] | None = None
    more_fields: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    selective: bool = False
    more_metrics: tuple[Metric, ...] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict)
    by_name: tuple[str, str] | None = None
    help: Help = Help()
    explanation: Callable[[], Explanation] | None = None
    fields: tuple[str, ...] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """The names of all metrics without `/precision`, `/recall` and `/f1`."""
        return tuple(dict.fromkeys(metric.name.partition("/")[0] for metric in self._all_metrics))

    @property
    def _all_metrics(self) -> tuple[Metric, ...]:
        return tuple({metric.name: metric for metric in (*self.metrics, *self.more_metrics)}.values())

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
        metrics = tuple(metric for metric in self._all_metrics if metric.name.partition("/")[0] in families)
        count = partial(self.count, metrics=families) if self.selective else self.count
        return replace(self, metrics=metrics, more_metrics=(), count=count)

    def select_metrics(self, families: str | Sequence[str] | None, options: Mapping[str, object]) -> Procedure:
        """Return the procedure with the metrics to compute: these, those of the preset in the options, or the default.

        Raises:
            RequestError: there is no such metric or preset.
        """
        preset = options.get("preset")
        if families is None and preset is not None:
            families = self.find_preset(str(preset)).metrics
        return self if families is None else self.with_metrics(families)

    def resolve_options(self, values: Mapping[str, object]) -> dict[str, str]:
        """Return every option with its value as text, given or default, in declared order; True becomes "true".

        Args:
            values: the values by name; under `preset`, the name of a preset, whose values are overridden by the others.

        Raises:
            RequestError: an option or preset does not exist, or an option does not accept its value.
        """
        return resolve_options(self.options, self.expand_preset(values), self.name)

    def expand_preset(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return values of options with those of the preset whose name is given as `preset`, if any.

        Raises:
            RequestError: there is no such preset.
        """
        name = values.get("preset")
        given = {option: value for option, value in values.items() if option != "preset"}
        return given if name is None else {**self.find_preset(str(name)).options, **given}

    def find_preset(self, name: str) -> Preset:
        """Return a preset by its name.

        Raises:
            RequestError: there is none of this name.
        """
        if name not in self.presets:
            raise RequestError(describe_unknown(f"{self.name} preset", name, list(self.presets)))
        return self.presets[name]

    def name_preset(self, options: Options) -> str | None:
        """Return the name of the preset that these options are; None if they are those of no preset."""
        values = self.keep_options(options, reading=True)
        for name, preset in self.presets.items():
            if self.keep_options({**self._defaults, **preset.options}, reading=True) == values:
                return name
        return None

    @property
    def _defaults(self) -> dict[str, str]:
        return {option.name: option.default for option in self.options}

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
