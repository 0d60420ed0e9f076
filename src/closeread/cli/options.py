"""Options and arguments: what click knows of the parameters of operations, of declared options, and of printing."""

from __future__ import annotations

import csv
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from closeread.cli.groups import FILE, FOLDER, NAMED, READING, WRITTEN
from closeread.corpus.names import corpus_names, find_corpus, find_task, load_corpus
from closeread.exceptions import describe_choice, escape
from closeread.parameters import PLACE, SENTENCES, Param, Parameter, is_repeated, list_fields
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


class Choice(click.Choice):  # type: ignore[type-arg]  # as above
    """One of several words; another one gets the suggestion of a similar one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return describe_choice(value, self.choices)


class Name(click.ParamType):  # type: ignore[type-arg]  # click 8.3 takes none
    """A name that stands for another: of a corpus or, if its kind is "scored", of what scores one."""

    def __init__(self, kind: str, others: Sequence[str] = ()) -> None:
        self.name = "corpus" if kind == "corpora" else "corpus or procedure"
        self.kind, self.others = kind, others

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.others:
            return str(value)
        if self.kind == "corpora":
            return find_corpus(value).name
        procedure, corpus = find_task(value)
        return corpus or procedure


def _split_names(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Return the names that were given to an option, several times or separated by commas; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",")))


def _split_csv(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Return the names in options that separate them by commas; a name with a comma is quoted."""
    try:
        return tuple(
            name.strip() for names in csv.reader(values, skipinitialspace=True) for name in names
        )
    except csv.Error as error:
        raise click.BadParameter(f"the names can't be separated: {error}.", ctx, param) from None


def _read_numbers(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, ...]:
    try:
        return tuple(float(text) for text in ([] if value is None else value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers.", ctx, param) from None


def _read_choices(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    """Return the options of a procedure that were given as NAME=VALUE, by name."""
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(
                f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
            )
        key = name.replace("-", "_")
        if key in found:
            what = (
                f"option {escape(name)} is given twice: {escape(found[key])} and {escape(value)}."
            )
            raise click.BadParameter(what, ctx, param)
        found[key] = value
    return found


READERS: dict[str, Callable[..., Any]] = {
    "choices": _read_choices,
    "csv": _split_csv,
    "list": _read_numbers,
    "names": _split_names,
}
TYPES: dict[Any, click.ParamType[Any]] = {
    **dict.fromkeys(("gold", "read", "source", "sources", "systems"), FILE),
    **dict.fromkeys((*READERS, "sort", str), click.STRING),
    **dict.fromkeys(("named", Path), NAMED),
    "write": WRITTEN,
    "folder": click.Path(path_type=Path, file_okay=False),
    "store": click.Path(),
    "procedure": Name("scored"),
    int: click.INT,
    float: click.FLOAT,
    date: click.DateTime(["%Y-%m-%d"]),
}
"""What click checks, by the kind of a parameter, or by its type."""


def make_params(
    parameter: Parameter, procedure: Procedure | None = None, corpus: str | None = None
) -> list[click.Parameter]:
    """Return the click parameters of a parameter: none if it is for Python, several if it is a group.

    The procedure that scores may be unknown; there is no corpus if gold is a key given by the user.
    """
    param = parameter.param
    is_keyed = procedure is not None and corpus is None
    if is_keyed and parameter.name in PLACE:
        return []
    match param.kind:
        case "systems":
            metavar = f"{'[KEY] ' * is_keyed}SYSTEMS..."
            return [
                click.Argument(["systems"], type=FILE, nargs=-1, required=True, metavar=metavar)
            ]
        case "source" | "sources" if procedure is not None:
            is_one, key = param.kind == "source", click.Argument(["gold"], type=FILE, metavar="KEY")
            how: dict[str, Any] = {"nargs": 1 if is_one else -1, "required": True}
            metavar = f"{'RESPONSE' if is_keyed else 'PREDICTIONS'}{'...' * (not is_one)}"
            return [
                *[key] * is_keyed,
                click.Argument(["predictions"], type=FILE, metavar=metavar, **how),
            ]
        case "python" | "preset" | "report":
            return []
        case "group":
            return [_make_param(field) for field in list_fields(parameter)]
        case "place" | "scored":
            declared = (
                "files" if param.kind == "place" else "procedure",
                param.corpus,
                *param.declared,
            )
            return [*map(_make_param, list_fields(parameter)), *_make_declared(declared)]
        case "options":
            return (
                _make_declared(param.declared)
                if param.declared
                else list(map(_make_flag, param.options))
            )
        case "procedure_options" if procedure is not None:
            files = [] if corpus is None else _make_declared(("files", corpus))
            return [*files, *_make_procedure_options(procedure, corpus)]
        case "by" | "fields" | "metrics" | "scores" | "sort" | "explain":
            procedure = load_procedure(param.corpus) if param.kind == "fields" else procedure
            offered = _offer_names(parameter, procedure)
            return [] if offered is None else [_make_param(offered)]
    return [_make_param(parameter)]


def _make_declared(declared: Sequence[str]) -> list[click.Parameter]:
    """Return the options that corpora declare for reading, or a task's module; those that are named, if some are."""
    role, *rest = declared
    if role == "files":
        return _make_file_options(rest or corpus_names())
    task, *names = rest
    if role == "procedure":
        found = _make_procedure_options(load_procedure(task))
    else:
        found = list(map(_make_flag, vars(find(task, role))["OPTIONS"]))
    return [one for one in found if not names or one.name in names]


def _make_param(parameter: Parameter) -> click.Parameter:
    name, param, default, hint = parameter.name, parameter.param, parameter.default, parameter.hint
    flags = param.flag.split() or [name_flag(f"no_{name}" if default is True else name)]
    if hint is bool:
        unset: dict[str, Any] = {"default": None} if default is None else {}
        return click.Option(
            [*flags, f"no_{name}" if default else name], is_flag=True, help=parameter.help, **unset
        )
    is_sequence = get_origin(hint) is Sequence
    if is_sequence:
        (hint,) = get_args(hint)
    settings: dict[str, Any] = {"type": _find_type(param, hint), "metavar": param.metavar}
    required = default is inspect.Parameter.empty
    if parameter.is_argument:
        how_many = -1 if is_repeated(parameter) else 1
        return click.Argument(
            [name], nargs=how_many, required=required and param.kind != "cited", **settings
        )
    if param.kind in READERS:
        settings |= {"multiple": param.kind != "list", "callback": READERS[param.kind]}
    elif is_sequence:
        settings["multiple"] = True
    elif required or param.required:
        settings["required"] = True
    else:
        value = param.default if default is None else default
        settings |= {
            "default": value,
            "show_default": value not in (None, ""),
        }
    return click.Option([*flags, name], help=parameter.help, **settings)


def _find_type(param: Param, hint: Any) -> click.ParamType[Any]:
    if param.kind in TYPES:
        return TYPES[param.kind]
    if param.kind == "corpus":
        return Name("corpora", param.others)
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

    def offer(text: str, names: Iterable[str], metavar: str, kind: str = "names") -> Parameter:
        known: Any = tuple(dict.fromkeys(names))
        hint: Any = Literal[known] if known else str
        is_single = kind == "sort"
        param = Param(kind=kind, metavar=metavar, default="none" if is_single else None)
        return parameter._replace(
            hint=hint if is_single else Sequence[hint], default=None, help=text, param=param
        )

    if procedure is None:
        return offer(
            "Also report scores for each value of FIELD; separate several by commas.", [], "FIELD"
        )
    families, names = procedure.families, [metric.name for metric in procedure.metrics]
    match parameter.param.kind:
        case "by" | "fields" as kind:
            fields = [
                *procedure.fields,
                *procedure.breakdowns,
                *filter(None, [procedure.more_fields]),
            ]
            what = parameter.help if kind == "fields" else "report scores"
            several = "" if len(fields) == 1 else "; separate several by commas"
            text = (
                f"Also {what} for each value of FIELD{several}. Choose from: {', '.join(fields)}."
            )
            return offer(text, fields, "FIELD") if fields else None
        case "metrics" if len(families) > 1:
            optional = {metric.name.partition("/")[0] for metric in procedure.more_metrics}
            default = ", ".join(name for name in families if name not in optional)
            text = f"Compute these metrics; separate several by commas: {default}"
            if optional:
                others = ", ".join(name for name in families if name in optional)
                text += f" (by default these); {others}"
            text += "."
            return offer(text, families, "NAMES")
        case "scores":
            split = [name.partition("/")[0] for name in names if name.endswith("/recall")]
            example = (
                f"{split[0]}/f1, or {split[0]} for its precision, recall and F1"
                if split
                else procedure.headline
            )
            default = "all but precision and recall" if split else "all"
            text = f"Select these scores, separated by commas, such as {example}.  [default: {default}]"
            return offer(text, [*families, *names], "NAMES", "csv")
        case "sort":
            return offer("Sort by this score, the best system first.", names, "SCORE", "sort")
        case "explain" if procedure.explanation is not None:
            from closeread.operations.score import SHOWN

            counted = f"Explain everything that is counted in each {procedure.unit} (in JSON: as 'explanations')"
            return parameter._replace(
                help=f"{counted}; tables show at most {SHOWN:,} rows per {procedure.unit}."
            )
    return None


def _make_file_options(corpora: Iterable[str]) -> list[click.Parameter]:
    """Return the options for the folders that users of these corpora get from their owners, and for reading them."""
    folders, reading = {}, {}
    for corpus in map(load_corpus, corpora):
        for folder in corpus.user_folders:
            text, flags = (
                f"Read {folder.content} from this folder.",
                [f"--{folder.name}", FOLDER + folder.name],
            )
            folders[folder.name] = click.Option(flags, type=NAMED, metavar="DIR", help=text)
        for one in corpus.reading_options:
            text, flags = (
                f"{one.help}  [default: {one.choices[0]}]",
                [name_flag(one.name), READING + one.name],
            )
            reading[one.name] = click.Option(flags, type=Choice(one.choices), help=text)
    return [*folders.values(), *reading.values()]


def _make_procedure_options(
    procedure: Procedure, corpus: str | None = None
) -> list[click.Parameter]:
    """Return the flags of a procedure's presets and options, with the defaults of a corpus in their help."""
    from closeread.scoring import resolve_options

    declared_corpus = None if corpus is None else load_corpus(corpus)
    defaults = resolve_options(procedure, declared_corpus, {})
    declared = [_make_flag(option, defaults[option.name]) for option in procedure.options]
    if not procedure.presets:
        return declared
    names = ", ".join(procedure.presets)
    text = (
        f"Use the options and metrics of an official score, except those given here: {names} "
        f"(see `closeread info {procedure.name}`)."
    )
    preset = click.Option(
        ["--preset"], type=Choice(list(procedure.presets)), metavar="NAME", help=text
    )
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

    default = option.default if default is None else default
    is_path = isinstance(option, PathOption)
    many = len("|".join(option.choices)) > MOST_CHOICES
    text = f"{option.help}  One of {', '.join(option.choices)}." if many else option.help
    metavar = (
        option.metavar if isinstance(option, PathOption) else option.name.rpartition("_")[2].upper()
    )
    return click.Option(
        [name_flag(option.name), option.name],
        type=Choice(option.choices) if option.choices else NAMED if is_path else str,
        callback=check,
        metavar=None if option.choices and not many else metavar,
        help=f"{text}  [default: {default}]" if default else text,
    )


# Printing

PRINTED = {
    **dict.fromkeys(("Catalogue", "Information", "Ranking", "Result"), ("style",)),
    **dict.fromkeys(("JudgingReport", "Page", "Publication", "list[Verdict]"), ("as_json",)),
    "SystemsTable": ("style", "output"),
    "Comparison | list[Comparison]": ("style", "output", "fail_if_worse"),
    "Drawing": ("output",),
    "Report": ("style", "per_unit", "with_counts", "output", "digits", "score_only"),
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


def make_printing_options(
    returns: str, procedure: Procedure | None = None
) -> list[click.Parameter]:
    """Return the options that say how the result of an operation, by the name of its type, is printed."""

    def make(name: str, flags: str, text: str, **settings: Any) -> tuple[str, click.Option]:
        return name, click.Option([*flags.split(), name], help=text, **settings)

    formats = ["table", "json", "markdown", "latex", "csv"]
    formats += {"SystemsTable": ["html"], "Report": ["eee"]}.get(returns, [])
    what = f"How to format the output{'; eee is a result for Every Eval Ever' if 'eee' in formats else ''}."
    if returns == "Information":
        what = "How to format the figures of --stats."
    several = procedure is not None and len(procedure.families) > 1
    main = f"main score (times 100){', or that of each of --metrics on a line of its own' if several else ''}"
    counts = (
        "Also show fields and counts in the table of --per-unit; JSON and CSV always have them."
    )
    is_picture = returns == "Drawing"
    output = (
        "to this file: .png, .svg or .pdf"
        if is_picture
        else "the result to this file; print nothing"
    )
    shown: dict[str, Any] = {"show_default": True}
    known = [
        make("style", "--format", what, type=Choice(formats), default="table", **shown),
        make("style", "--json", "Same as --format json.", flag_value="json"),
        make(
            "per_unit",
            "--per-unit",
            "Also report each unit separately (in JSON: as 'units').",
            is_flag=True,
        ),
        make("with_counts", "--with-counts", counts, is_flag=True),
        make(
            "output",
            "-o --output",
            f"Write {output}.",
            type=WRITTEN,
            required=is_picture,
            metavar="FILE",
        ),
        make(
            "digits",
            "--digits",
            SENTENCES["digits"],
            type=click.IntRange(0, 10),
            default=2,
            **shown,
        ),
        make(
            "fail_if_worse",
            "--fail-if-worse",
            FAIL_IF_WORSE,
            is_flag=False,
            flag_value=SIGNIFICANTLY,
            type=click.FLOAT,
            metavar="[POINTS]",
        ),
        make("score_only", "--score-only", f"Print only the {main}.", is_flag=True),
        make(
            "as_json", "--json", JSON_HELP.get(returns, "Print the result as JSON."), is_flag=True
        ),
    ]
    return [option for name, option in known if name in PRINTED.get(returns, ())]


def take_printing_options(returns: str, values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of printing from the values of a command, and return them."""
    taken = {name: values.pop(name) for name in PRINTED.get(returns, ())}
    if returns == "Report":
        taken["source"] = values.get("predictions") or values.get("from_counts")
    if taken.get("score_only"):
        asked = {**values, **taken}
        given = [
            name_flag(name)
            for name in ("by", "per_unit", "with_counts", "explain")
            if asked.get(name)
        ]
        if asked["style"] != "table":
            given.append(f"--format {asked['style']}")
        if given:
            raise click.UsageError(
                f"--score-only prints numbers alone; omit {' and '.join(given)}."
            )
        values["no_ci"] = True
        taken["metrics"] = values.get("metrics")
    return taken
