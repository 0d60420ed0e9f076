"""Scoring procedures: everything that commands, modules, cards and signatures need to know about them.

All input to scoring (a file on the command line, records in Python, an `evaluate` module, a submission to a
leaderboard) becomes gold and a system, read, validated and aligned by a `Reader`; `closeread.scoring` scores them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from closeread.arrays import LimitError, Mask
from closeread.counts.metrics import Metric
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FieldPath,
    Problem,
    RequestError,
    UnknownOptionError,
    describe_choice,
    describe_unknown,
    quote,
)
from closeread.records import Origin


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
        signed: whether the signature has the option: "always"; "if_changed" for a rare one, which the signature has
            only if it is not at its default, so that signatures stay short; "if_averaged" for one that is the same, but
            changes only averages over units; or "never" for one that can't change a score.
        reading: whether it changes only how files are read, so that counting and evaluate modules do without it.
        references: BibTeX of the papers that its choices come from.
        metavar: what the help calls its value; empty for the last word of its name.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    help: str
    pattern: str | None = None
    expected: str = ""
    canonical: Callable[[str], str] = str
    signed: Literal["always", "if_changed", "if_averaged", "never"] = "always"
    reading: bool = False
    references: tuple[str, ...] = ()
    metavar: str = ""

    @property
    def accepted(self) -> str:
        """A description of the accepted values."""
        if self.pattern is not None:
            return self.expected
        return f"one of {', '.join(map(repr, self.choices))}"

    def describe_invalid(self, value: object) -> str:
        """Return the message for a value that is not accepted."""
        if self.pattern is None:
            return describe_choice(value, self.choices)
        return f"{quote(str(value))} is not valid (expected {self.expected})"

    def accepts(self, value: object) -> bool:
        """Return whether a value is valid."""
        if self.pattern is None:
            return value in self.choices
        return bool(re.fullmatch(self.pattern, str(value)))


@dataclass(frozen=True)
class PathOption(Option):
    """An option whose value is the path of a file or folder to read; empty for none."""

    metavar: str = "DIR"


def resolve_options(
    options: Sequence[Option], values: Mapping[str, object], owner: str
) -> dict[str, str]:
    """Return every option with its value as text, given or default, in declared order; True becomes "true", 4.0 "4".

    >>> resolve_options([Option("average", ("micro", "documents"), "micro", "")], {"average": "documents"}, "coref")
    {'average': 'documents'}
    """
    option_by_name = {option.name: option for option in options}
    texts = {}
    for name, value in values.items():
        texts[name] = _format_value(value)
        if name not in option_by_name:
            raise UnknownOptionError(owner, name, option_by_name)
        option = option_by_name[name]
        if not option.accepts(texts[name]):
            raise RequestError(f"option {name}: {option.describe_invalid(texts[name])}")
    return {
        option.name: option.canonical(texts.get(option.name, option.default))
        for option in option_by_name.values()
    }


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def missing_option(default: str) -> Option:
    """Return the option for units without a prediction: "error", "empty" or "skip"."""
    return Option(
        "missing", ("error", "empty", "skip"), default, "How to treat units without a prediction."
    )


EXTRA = Option(
    "extra",
    ("ignore", "error"),
    "ignore",
    "How to treat unknown fields of predictions: leave them out, with a note, or refuse the predictions.",
    signed="never",
    reading=True,
)


GROUPS = "groups"
"""The value of the option `average` for the mean of the scores of groups."""

GROUP_BY = Option(
    "group_by",
    (),
    "",
    "Average over groups, which are the values of this field.",
    pattern="(?s).*",
    expected="the name of a field",
    signed="never",
    reading=True,
    metavar="FIELD",
)


def unit_options(unit: str) -> tuple[Option, Option]:
    """Return the options of procedures that can average over units, which have no fields to group them by."""
    average = Option(
        "average",
        ("micro", "documents"),
        "micro",
        f"Sum counts over {unit}s and divide once (micro), or average the scores of the {unit}s (documents).",
    )
    return average, make_undefined_option(f"{unit}s", reading=False)


def average_options(unit: str) -> tuple[Option, Option, Option]:
    """Return the options of procedures that can average over units, and over groups of them."""
    average = Option(
        "average",
        ("micro", "documents", GROUPS),
        "micro",
        f"Sum counts over {unit}s and divide once (micro), or average the scores of the {unit}s (documents), or of "
        f"groups of {unit}s, such as treebanks, each of which is micro (groups).",
    )
    return average, make_undefined_option(f"{unit}s or groups", reading=False), GROUP_BY


def group_options(unit: str) -> tuple[Option, Option, Option]:
    """Return the options of procedures that can average over groups of units, but not over units."""
    average = Option(
        "average",
        ("micro", GROUPS),
        "micro",
        f"Sum counts over {unit}s and divide once (micro), or average the scores of groups of {unit}s (groups).",
        signed="if_changed",
        reading=True,
    )
    return average, make_undefined_option("groups", reading=True), GROUP_BY


def make_undefined_option(averaged: str, *, reading: bool) -> Option:
    """Return the option for scores that are 0/0 of what is averaged."""
    return Option(
        "undefined",
        ("skip", "zero"),
        "skip",
        f"How to average scores of {averaged} that are 0/0, where nothing was to be found and nothing was: leave them "
        "out of the mean, or count them as 0.",
        signed="if_averaged",
        reading=reading,
    )


def check_present(present: Mask, units: str, missing: str, what: str = "prediction") -> None:
    """Raise a ValueError if the option `missing` is "error" and a unit is not `present`, (n_units,)."""
    if missing == "error" and not present.all():
        absent = len(present) - int(present.sum())
        raise ValueError(f"{absent:,} of {len(present):,} {units} have no {what}")


Options = Mapping[str, str]
"""All options of a procedure with their values."""


class ScorableGold(Protocol):
    """Gold, ready for scoring."""

    @property
    def records(self) -> Sequence[Any]:
        """The argument `gold` of `Procedure.count`, with an item for each unit or part of a unit."""

    @property
    def units(self) -> Sequence[str]:
        """The name of each record's unit."""

    @property
    def origin(self) -> Origin:
        """Where it comes from."""

    @property
    def notices(self) -> Sequence[str]:
        """Notices about it for the user, one sentence each."""

    @property
    def files(self) -> Sequence[Path]:
        """The files, or the folder, that it was read from; none for objects in memory."""

    def digests(self, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of the scored part of each unit's gold, by the unit's name; the source does not matter."""


@dataclass(frozen=True)
class System:
    """A system's output, validated and aligned with gold.

    Attributes:
        rows: the argument `system` of `Procedure.count`: an item for each gold record, None without a prediction.
        missing: the names of the gold records without a prediction.
        notices: notices for the user, one sentence each.
        left_out: the names of what is not scored, since a file of a side has errors.
    """

    rows: Sequence[Any]
    missing: Sequence[str] = ()
    notices: Sequence[str] = ()
    left_out: Sequence[str] = ()


class Inconsistency(NamedTuple):
    """A problem of one side, "gold" or "system", that the schema can't express; otherwise like a `Problem`."""

    side: str
    row: int
    what: str
    path: FieldPath = ()
    about: str = ""

    @property
    def problem(self) -> Problem:
        """The problem without its side."""
        return Problem(self.what, row=self.row, path=self.path, about=self.about)


G = TypeVar("G")


class Reader(Protocol[G]):
    """How a procedure reads gold and a system's output."""

    @property
    def key_first(self) -> bool:
        """Whether gold is a file given by the user, the key, which comes before the response, and no corpus."""
        return False

    def read_gold(self, source: Any, options: Options) -> G:
        """Read gold from a `closeread.corpus.gold.GoldSource`."""

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> G:
        """Wrap gold records in memory that are already validated."""

    def pack(self, definition: str, rows: Sequence[Any]) -> Sequence[Any] | None:
        """Return rows in the form that the procedure counts fastest; None unless they are certainly valid."""
        return None

    def read_system(self, gold: G, source: Path | Sequence[Any], options: Options) -> System:
        """Read a system's output (a file, a folder or records) and align it with gold; raise all problems at once."""

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a system's output, a file or a folder, without gold, of which only the names are known.

        They are the ids that predictions need, in the order of the gold, or the names of the documents of a key.
        """

    def remarks(
        self, gold: G, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Return notices about both sides for the user, one sentence each; `table` has the counts, if available."""
        return ()

    def list_fields(self, gold: G) -> Mapping[str, Sequence[str]] | None:
        """Return the fields of the units, if that takes less time than counting; otherwise None."""
        return None

    def validate(
        self, gold: Sequence[Any], system: Sequence[Any], options: Options
    ) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        return ()


@contextmanager
def name_documents(names: Sequence[str], unit: str = "document") -> Iterator[None]:
    """Turn a LimitError, which has the number of a document, into a RequestError with its name."""
    try:
        yield
    except LimitError as error:
        raise RequestError(f"{unit} {quote(names[error.document])}: {error.excess}") from None


def _is_signed(option: Option, options: Options) -> bool:
    """Return whether the signature of a score has an option."""
    if option.signed in ("always", "never"):
        return option.signed == "always"
    can_change = option.signed == "if_changed" or options.get("average") != "micro"
    return can_change and options.get(option.name) != option.default


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
        formats: the formats of keys and responses; empty if gold comes from a corpus.
    """

    details: str = ""
    key: str = ""
    response: str = "predictions.jsonl"
    flags: Sequence[str] = ()
    formats: Sequence[str] = ()


@dataclass(frozen=True)
class Preset:
    """The options and metrics of an official score.

    Attributes:
        options: the values that differ from the defaults of the procedure.
        metrics: the families of metrics that it reports.
        help: its name with its source; completes "Use the options of …".
        references: BibTeX of the papers that define it, besides those of its metrics.
        groups: the groups, such as datasets of a shared task, over which its score is averaged; empty for any.
    """

    options: Options
    metrics: tuple[str, ...]
    help: str
    references: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Procedure:
    """A published scoring procedure.

    Attributes:
        name: its name in commands.
        version: an integer, raised only when a score can change.
        title: its name in prose.
        unit: the name of the unit that a row of counts stands for, in the singular.
        resampling_unit: the name of the unit that is resampled as a whole, in the singular.
        options: its options.
        metrics: its scores, in order.
        headline: the name of the score that systems are ranked by.
        modules: the evaluate modules that compute its scores.
        count: returns a table of counts; takes the keyword arguments `gold` and `system` (see `reader`), one for each
            option, and `breakdowns` if it has any.
        reader: reads gold and systems.
        citation: BibTeX of its publication; None if that is the corpus's own paper.
        references: BibTeX of the papers that define a family of metrics, besides that publication, by family.
        breakdowns: the fields that it can count inside units, such as `preposition`.
        find_lacking: maps gold and system records, the options and a breakdown to a sentence about what the breakdown
            lacks; empty if it lacks nothing.  None if no breakdown ever lacks anything.
        more_fields: in messages, the source of fields of units that gold does not have; may be empty.
        aliases: names that others use for its metrics and fields.
        selective: whether `count` takes `metrics`, the families to count.
        always_counted: the families that are counted even if they are not chosen.
        more_metrics: scores that are computed only if they are selected by name, in order.
        presets: by name, the options and metrics of official scores.
        by_name: the fields of a record for which a mapping from names to values may stand, such as a document and its
            clusters; None if there are none.
        help: its part of a command's help.
        explanation: imports and returns the explanation of its counts; None if it has none.
        fields: the fields of units that its tables may have, such as `category`, besides those of `more_fields`.
        legend: explains, below tables, names of scores.
        secondary: the options of other ways of counting that are reported beside the score, by name.
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
    reader: Reader[Any]
    citation: str | None = None
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    breakdowns: tuple[str, ...] = ()
    find_lacking: Callable[[Any, Any, Options, str], str] | None = None
    more_fields: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    selective: bool = False
    always_counted: tuple[str, ...] = ()
    more_metrics: tuple[Metric, ...] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict)
    by_name: tuple[str, str] | None = None
    help: Help = Help()
    explanation: Callable[[], Explanation] | None = None
    fields: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict, hash=False)
    secondary: Mapping[str, Options] = field(default_factory=dict, hash=False)

    @property
    def families(self) -> tuple[str, ...]:
        """The names of all metrics without `/precision`, `/recall` and `/f1`."""
        return tuple(dict.fromkeys(metric.family for metric in self._all_metrics))

    @property
    def _all_metrics(self) -> tuple[Metric, ...]:
        metrics = (*self.metrics, *self.more_metrics)
        return tuple({metric.name: metric for metric in metrics}.values())

    def with_metrics(self, families: str | Sequence[str]) -> Procedure:
        """Return the procedure with only the metrics of some families, such as `("muc", "conll")`."""
        families = (families,) if isinstance(families, str) else tuple(families)
        for name in families:
            if name not in self.families:
                raise RequestError(
                    describe_unknown(f"{self.name} metric", name, self.families, self.aliases)
                )
        if not families:
            raise RequestError(
                f"no {self.name} metric selected (choose from: {', '.join(self.families)})"
            )
        metrics = tuple(metric for metric in self._all_metrics if metric.family in families)
        count = partial(self.count, metrics=families) if self.selective else self.count
        return replace(self, metrics=metrics, more_metrics=(), count=count)

    def select_metrics(
        self, families: str | Sequence[str] | None, options: Mapping[str, object]
    ) -> Procedure:
        """Return the procedure with the metrics to compute: these, those of the preset, or the default ones."""
        preset = options.get("preset")
        if families is None and preset is not None:
            families = self.find_preset(str(preset)).metrics
        return self if families is None else self.with_metrics(families)

    def resolve_options(
        self, values: Mapping[str, object], defaults: Options = MappingProxyType({})
    ) -> dict[str, str]:
        """Return every option with its value: as given, of the preset, or the default.

        Args:
            values: the values that are given; `preset` names a preset.
            defaults: defaults that differ from the procedure's own.
        """
        chosen = dict(values)
        preset = chosen.pop("preset", None)
        if preset is not None:
            chosen = {**self.find_preset(str(preset)).options, **chosen}
        return resolve_options(self.options, {**defaults, **chosen}, self.name)

    def find_preset(self, name: str) -> Preset:
        """Return a preset by its name."""
        if name not in self.presets:
            raise RequestError(describe_unknown(f"{self.name} preset", name, list(self.presets)))
        return self.presets[name]

    def name_preset(
        self, options: Options, asked: str | None = None, *, n_groups: int = 0
    ) -> str | None:
        """Return the name of the preset that has these options, best the one that was asked for; None if there is none.

        With fewer than two groups, micro is the mean over groups.
        """
        values = self.keep_options(options, reading=True)
        defaults = {option.name: option.default for option in self.options}
        names = list(self.presets)
        if asked is not None:
            names.insert(0, asked)
        for name in names:
            expected = {**defaults, **self.presets[name].options}
            averages = (expected.get("average"), options.get("average"))
            if n_groups < 2 and averages == (GROUPS, "micro"):
                expected["average"] = "micro"
            if self.keep_options(expected, reading=True) == values:
                return name
        return None

    def describe_preset(self, name: str, groups: Sequence[str]) -> str:
        """Return the name of a preset, with how many of its groups there are if some are lacking."""
        expected = self.presets[name].groups
        n_present = len(set(expected) & set(groups))
        if n_present == len(expected):
            return name
        return f"{name}, over {n_present} of {len(expected)} datasets"

    def explain_names(self, scores: Iterable[str]) -> str:
        """Return a sentence that explains the names of these scores, where they need it."""
        return "; ".join(self.legend[name] for name in scores if name in self.legend)

    def signature(self, options: Options, gold_digest: str, n_groups: int = 0) -> str:
        """Return the signature of a score: procedure, version, every option, and the digest of the gold as scored.

        The number of groups follows the option of averaging over them.

        >>> from closeread.tasks.mctaco.procedure import PROCEDURE
        >>> PROCEDURE.signature({"missing": "error"}, "0123456789abcdef" * 4)
        'mctaco|version:1|missing:error|gold:0123456789ab'
        """
        unsigned = {option.name for option in self.options if not _is_signed(option, options)}
        values = []
        for name, value in options.items():
            if name not in unsigned:
                values.append(f"{name}:{value}")
            if name == "average" and value == GROUPS:
                values.append(f"groups:{n_groups}")
        return "|".join([self.name, f"version:{self.version}", *values, f"gold:{gold_digest[:12]}"])

    def keep_options(self, options: Options, *, reading: bool) -> dict[str, str]:
        """Return the options that can change a score; without `reading`, only those that `count` takes."""
        names = {
            option.name
            for option in self.options
            if option.signed != "never" and (reading or not option.reading)
        }
        return {name: value for name, value in options.items() if name in names}
