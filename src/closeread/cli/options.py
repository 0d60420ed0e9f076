"""Options and arguments: what click knows of the parameters of operations, of declared options, and of printing."""

from __future__ import annotations

import csv
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from closeread.cli.groups import FILE, NAMED, WRITTEN, RareOption
from closeread.corpus.names import corpus_names, load_corpus
from closeread.exceptions import describe_choice, escape
from closeread.parameters import (
    PLACE,
    SENTENCES,
    Annotator,
    GoldSource,
    Param,
    Parameter,
    ScoredPredictions,
    list_fields,
)
from closeread.signatures import Range
from closeread.tasks import find, load_procedure

if TYPE_CHECKING:
    from closeread.counts.procedure import Option, Procedure

MOST_CHOICES = 70
"""How many characters of choices fit on the line of an option's name; more of them are listed in its help."""


class NumberRange(click.FloatRange):
    """A number in a range; `nan`, which no comparison finds outside, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = float(click.FLOAT.convert(value, param, ctx))
        accepted = Range(self.min, self.max, self.min_open, self.max_open)
        expected = accepted.describe_misfit(number)
        if expected:
            self.fail(f"{value} (expected {expected})", param, ctx)
        return number


class Choice(click.Choice):  # type: ignore[type-arg]  # click 8.3 takes none
    """One of several words; another one gets the suggestion of a similar one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return describe_choice(value, self.choices)


def _split_names(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Return the names in options that separate them by commas; a name with a comma is quoted."""
    names: list[str] = []
    try:
        for row in csv.reader(values, skipinitialspace=True):
            names += map(str.strip, row)
    except csv.Error as error:
        raise click.BadParameter(f"the names can't be separated: {error}.", ctx, param) from None
    return tuple(names)


def _read_numbers(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[float, ...]:
    numbers: list[float] = []
    for value in values:
        try:
            numbers += map(float, value.split(","))
        except ValueError:
            message = f"{value!r} is no list of numbers."
            raise click.BadParameter(message, ctx, param) from None
    return tuple(numbers)


def _read_choices(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    """Return the options of a procedure that were given as NAME=VALUE, by name."""
    choices: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            message = f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
            raise click.BadParameter(message)
        key = name.replace("-", "_")
        if key in choices:
            both = f"{escape(choices[key])} and {escape(value)}"
            message = f"option {escape(name)} is given twice: {both}."
            raise click.BadParameter(message, ctx, param)
        choices[key] = value
    return choices


TYPES: dict[Any, click.ParamType[Any]] = {
    "read": FILE,
    Annotator: FILE,
    "write": WRITTEN,
    "store": click.Path(),
    Path: NAMED,
    str: click.STRING,
    int: click.INT,
    float: click.FLOAT,
    date: click.STRING,
}
"""What click checks, by the kind of a parameter, or by its type."""


def make_params(
    parameter: Parameter, procedure: Procedure | None, corpus: str | None
) -> list[click.Parameter]:
    """Return the click parameters of a parameter: none if it is for Python, several if it is a group.

    The procedure that scores may be unknown; there is no corpus if gold is a key given by the user.
    """
    param = parameter.param
    takes_key = procedure is not None and corpus is None
    fields = list_fields(parameter)
    if takes_key:
        fields = tuple(field for field in fields if field.name not in PLACE)
    if param.kind == "python" or not fields:
        return []
    if parameter.hint in (GoldSource, ScoredPredictions):
        role = "files" if parameter.hint is GoldSource else "procedure"
        declared = _make_declared(role, param.corpus)
        return [*map(_make_param, fields), *declared]
    if parameter.is_group:
        return list(map(_make_param, fields))
    if parameter.is_options:
        if param.declared:
            return _make_declared(param.declared, param.corpus)
        if procedure is None:
            return list(map(_make_flag, param.options))
        files = [] if corpus is None else _make_declared("files", corpus)
        return [*files, *_make_procedure_options(procedure, corpus)]
    match param.kind:
        case "systems":
            metavar = "SYSTEMS..."
            if takes_key:
                # Counts of systems, which some commands take, know their key.
                metavar = f"{'KEY' if param.required else '[KEY]'} {metavar}"
            return [_make_files("systems", metavar, is_repeated=True)]
        case "read" if procedure is not None and parameter.is_argument:
            metavar = "RESPONSE" if takes_key else "PREDICTIONS"
            if parameter.is_repeated:
                metavar += "..."
            predictions = _make_files("predictions", metavar, is_repeated=parameter.is_repeated)
            if not takes_key:
                return [predictions]
            return [click.Argument(["gold"], type=FILE, metavar="KEY"), predictions]
        case "of_procedure":
            choosing = _offer_names(parameter, procedure)
            return [] if choosing is None else [_make_param(choosing)]
    return [_make_param(parameter)]


def _make_files(name: str, metavar: str, *, is_repeated: bool) -> click.Argument:
    count = -1 if is_repeated else 1
    return click.Argument([name], type=FILE, metavar=metavar, nargs=count, required=True)


def _make_declared(role: str, corpus: str) -> list[click.Parameter]:
    """Return the options of reading a corpus, or all of them, of a procedure, or of a module of a task."""
    if role == "files":
        return _make_file_options([corpus] if corpus else corpus_names())
    if role == "procedure":
        return _make_procedure_options(load_procedure(corpus))
    return list(map(_make_flag, vars(find(corpus, role))["OPTIONS"]))


def _make_param(parameter: Parameter) -> click.Parameter:
    name = parameter.name
    param = parameter.param
    default = parameter.default
    hint = parameter.hint
    flags = param.flag.split() or [name_flag(f"no_{name}" if default is True else name)]
    if hint is bool:
        unset: dict[str, Any] = {"default": None} if default is None else {}
        return click.Option(
            [*flags, f"no_{name}" if default else name], is_flag=True, help=parameter.help, **unset
        )
    required = param.required or default is inspect.Parameter.empty
    if parameter.is_argument:
        count = 1
        if parameter.is_repeated:
            count = -1
            (hint,) = get_args(hint)
        kind = _find_type(param, hint)
        return click.Argument(
            [name], type=kind, nargs=count, required=required, metavar=param.metavar
        )
    settings: dict[str, Any] = {"required": required}
    if parameter.is_repeated or get_origin(hint) is Mapping:
        settings = _read_several(hint)
    else:
        settings["type"] = _find_type(param, hint)
        value = param.default if default is None else default
        if not required:
            settings |= {"default": value, "show_default": value not in (None, "")}
    return click.Option([*flags, name], help=parameter.help, metavar=param.metavar, **settings)


def _read_several(hint: Any) -> dict[str, Any]:
    """Return how an option is read that takes several values."""
    value, *_ = get_args(hint)
    if value is Path:
        return {"multiple": True, "type": NAMED}
    reader: Callable[..., Any] = _split_names
    if get_origin(hint) is Mapping:
        reader = _read_choices
    elif value is float:
        reader = _read_numbers
    return {"multiple": True, "type": click.STRING, "callback": reader}


def _find_type(param: Param, hint: Any) -> click.ParamType[Any]:
    if param.kind in TYPES:
        return TYPES[param.kind]
    if get_origin(hint) is Literal:
        return Choice(get_args(hint))
    if param.range is None:
        return TYPES[hint]
    low, high, above, below = param.range
    if hint is int:
        return click.IntRange(
            None if low is None else int(low), None if high is None else int(high)
        )
    return NumberRange(low, high, min_open=above, max_open=below)


def _offer_names(parameter: Parameter, procedure: Procedure | None) -> Parameter | None:
    """Return a parameter with the names that a procedure has for it; None if there is nothing to choose from."""

    def offer(text: str, metavar: str) -> Parameter:
        param = Param(metavar=metavar)
        return parameter._replace(hint=Sequence[str], default=None, help=text, param=param)

    if procedure is None:
        text = "Also report scores for each value of FIELD; separate several by commas."
        return offer(text, "FIELD")
    families = procedure.families
    match parameter.name:
        case "by":
            fields = [*procedure.fields, *procedure.breakdowns]
            if procedure.more_fields:
                fields.append(procedure.more_fields)
            if not fields:
                return None
            separated = "" if len(fields) == 1 else "; separate several by commas"
            choices = ", ".join(fields)
            text = f"Also report scores for each value of FIELD{separated}. Choose from: {choices}."
            return offer(text, "FIELD")
        case "metrics" if len(families) > 1:
            optional = {metric.name.partition("/")[0] for metric in procedure.more_metrics}
            usual = ", ".join(family for family in families if family not in optional)
            text = f"Compute these metrics; separate several by commas: {usual}"
            if optional:
                others = ", ".join(family for family in families if family in optional)
                text += f" (by default these); {others}"
            return offer(f"{text}.", "NAMES")
        case "scores":
            example = procedure.headline
            default = "all"
            names = [metric.name for metric in procedure.metrics]
            split = [name.partition("/")[0] for name in names if name.endswith("/recall")]
            if split:
                example = f"{split[0]}/f1, or {split[0]} for its precision, recall and F1"
                default = "all but precision and recall"
            text = f"Select these scores, separated by commas, such as {example}."
            return offer(f"{text}  [default: {default}]", "NAMES")
        case "sort":
            text = "Sort by this score, the best system first."
            param = Param(metavar="SCORE", default="none")
            return parameter._replace(hint=str, default=None, help=text, param=param)
        case "secondary" if procedure.secondary:
            ways = ", ".join(procedure.secondary)
            return parameter._replace(
                help=f"Also count in other ways, for tables of groups: {ways}."
            )
        case "explain" if procedure.explanation is not None:
            from closeread.operations.score import SHOWN

            unit = procedure.unit
            text = f"Explain everything that is counted in each {unit} (in JSON: as 'explanations')"
            return parameter._replace(
                help=f"{text}; tables show at most {SHOWN:,} rows per {unit}."
            )
    return None


def _make_file_options(corpora: Iterable[str]) -> list[click.Parameter]:
    """Return the options for the folders that users of these corpora get from their owners, and for reading them."""
    folders: dict[str, click.Parameter] = {}
    reading: dict[str, click.Parameter] = {}
    for corpus in map(load_corpus, corpora):
        for folder in corpus.user_folders:
            folders[folder.name] = click.Option(
                [name_flag(folder.name)],
                type=NAMED,
                metavar="DIR",
                help=f"Read {folder.content} from this folder.",
            )
        for option in corpus.reading_options:
            reading[option.name] = RareOption(
                [name_flag(option.name)],
                type=Choice(option.choices),
                help=f"{option.help}  [default: {option.choices[0]}]",
            )
    return [*folders.values(), *reading.values()]


def _make_procedure_options(
    procedure: Procedure, corpus: str | None = None
) -> list[click.Parameter]:
    """Return the flags of a procedure's presets and options, with the defaults of a corpus in their help."""
    from closeread.scoring import choose_preset, resolve_options

    declared_corpus = None if corpus is None else load_corpus(corpus)
    defaults = resolve_options(procedure, declared_corpus, choose_preset(declared_corpus, {}))
    declared = [_make_flag(option, defaults[option.name]) for option in procedure.options]
    if not procedure.presets:
        return declared
    names = ", ".join(procedure.presets)
    text = (
        f"Use options and metrics of an official score, except those given here: {names} "
        f"(see `closeread info {procedure.name}`)."
    )
    choices = list(procedure.presets)
    if declared_corpus is not None and declared_corpus.preset:
        choices.append("none")
        text += f"  [default: {declared_corpus.preset}; none for no preset]"
    preset = click.Option(["--preset"], type=Choice(choices), metavar="NAME", help=text)
    return [preset, *declared]


def name_flag(name: str) -> str:
    """Return the flag of an option by its name in Python."""
    return f"--{name.replace('_', '-')}"


def _make_flag(option: Option, default: str | None = None) -> click.Parameter:
    """Return the flag of a declared option; its value is None if not given, so that defaults stay in one place."""
    from closeread.counts.procedure import PathOption

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None and not option.accepts(str(value)):
            raise click.BadParameter(f"{option.describe_invalid(value)}.", ctx, param)
        return value

    if default is None:
        default = option.default
    text = option.help
    has_many_choices = len("|".join(option.choices)) > MOST_CHOICES
    if has_many_choices:
        text += f"  One of {', '.join(option.choices)}."
    if default:
        text += f"  [default: {default}]"
    kind: Any = str
    metavar: str | None = option.metavar or option.name.rpartition("_")[2].upper()
    if isinstance(option, PathOption):
        kind = NAMED
    if option.choices:
        kind = Choice(option.choices)
        if not has_many_choices:
            metavar = None
    return click.Option(
        [name_flag(option.name), option.name],
        type=kind,
        callback=check,
        metavar=metavar,
        help=text,
    )


# Printing

PRINTED = {
    **dict.fromkeys(("Catalogue", "Information", "Ranking", "Result"), ("style",)),
    **dict.fromkeys(("JudgingReport", "Page", "Publication", "list[Verdict]"), ("as_json",)),
    "SystemsTable": ("style", "output"),
    "Comparison": ("style", "output", "fail_if_worse"),
    "Drawing": ("output",),
    "Report": ("style", "per_unit", "with_counts", "output", "digits", "columns", "score_only"),
}
"""The options of printing by the type that an operation returns."""

SIGNIFICANTLY = math.nan
"""The points of `--fail-if-worse` without a number."""

FAIL_IF_WORSE = (
    "Exit with status 3 if the main score of a system is worse than that of the first: by more than POINTS "
    "(score times 100), or, without POINTS, significantly by the randomization test."
)

JSON_HELP = {
    "Page": "Print JSON.",
    "list[Verdict]": "Print a list with an object for each file: 'file', 'valid', 'rows' (gold records with "
    "predictions; null if the file is not valid) and 'problems'.",
}


def make_printing_options(returns: str, procedure: Procedure | None) -> list[click.Parameter]:
    """Return the options that say how the result of an operation, by the name of its type, is printed."""
    formats, style_help = _describe_formats(returns)
    main_scores = "main score (times 100)"
    if procedure is not None and len(procedure.families) > 1:
        main_scores += ", or that of each of --metrics on a line of its own"
    is_picture = returns == "Drawing"
    output_help = "Write the result to this file; print nothing."
    if is_picture:
        output_help = "Write to this file: .png, .svg or .pdf."
    options = [
        click.Option(
            ["--format", "style"],
            type=Choice(formats),
            default="table",
            show_default=True,
            help=style_help,
        ),
        click.Option(["--json", "style"], flag_value="json", help="Same as --format json."),
        click.Option(
            ["--per-unit"],
            is_flag=True,
            help="Also report each unit separately (in JSON: as 'units').",
        ),
        click.Option(
            ["--with-counts"],
            is_flag=True,
            help="Also show fields and counts in the table of --per-unit; JSON and CSV always have them.",
        ),
        click.Option(
            ["-o", "--output"], type=WRITTEN, required=is_picture, metavar="FILE", help=output_help
        ),
        click.Option(
            ["--digits"],
            type=click.IntRange(0, 10),
            default=2,
            show_default=True,
            help=SENTENCES["digits"],
        ),
        click.Option(
            ["--columns"],
            metavar="PARTS",
            default="f1",
            show_default=True,
            help="What to show of each metric in tables of groups: p, r, f1; separate several by commas.",
        ),
        click.Option(
            ["--fail-if-worse"],
            is_flag=False,
            flag_value=SIGNIFICANTLY,
            type=click.FLOAT,
            metavar="[POINTS]",
            help=FAIL_IF_WORSE,
        ),
        click.Option(["--score-only"], is_flag=True, help=f"Print only the {main_scores}."),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            help=JSON_HELP.get(returns, "Print the result as JSON."),
        ),
    ]
    return [option for option in options if option.name in PRINTED.get(returns, ())]


def _describe_formats(returns: str) -> tuple[Sequence[str], str]:
    """Return the formats of a result, and what help says of them."""
    formats = ["table", "json", "markdown", "latex", "csv"]
    style_help = "How to format the output."
    match returns:
        case "Information":
            style_help = "How to format the figures of --stats."
        case "SystemsTable":
            formats.append("html")
        case "Report":
            formats.append("eee")
            style_help = "How to format the output; eee is a result for Every Eval Ever."
    return formats, style_help


def take_printing_options(returns: str, values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of printing from the values of a command, and return them."""
    taken = {name: values.pop(name) for name in PRINTED.get(returns, ())}
    if returns == "Report":
        taken["source"] = values.get("predictions") or values.get("from_counts")
    if taken.get("score_only"):
        details = {**values, **taken}
        too_many = [
            name_flag(name)
            for name in ("by", "per_unit", "with_counts", "explain")
            if details.get(name)
        ]
        if taken["style"] != "table":
            too_many.append(f"--format {taken['style']}")
        if too_many:
            message = f"--score-only prints numbers alone; omit {' and '.join(too_many)}."
            raise click.UsageError(message)
        values["no_ci"] = True
        taken["metrics"] = values.get("metrics")
    return taken
