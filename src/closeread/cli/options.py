"""Options and arguments: what click knows of the parameters of operations, of declared options, and of printing."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from closeread.cli import completion
from closeread.cli.groups import FILE, FOLDER, NAMED, READING, WRITTEN
from closeread.corpus.names import corpus_names, find_corpus, find_task, load_corpus
from closeread.exceptions import escape, suggest
from closeread.parameters import SENTENCES, Param, Parameter, is_repeated, list_fields
from closeread.tasks import find, load_procedure

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from closeread.corpus.declaration import Corpus
    from closeread.counts.procedure import Option, Procedure


class NumberRange(click.FloatRange):
    """A number in a range; `nan`, which no comparison finds outside, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Name(click.ParamType):  # type: ignore[type-arg]  # click 8.3 takes none
    """A name that stands for another: of a corpus, or of what scores it.

    Args:
        name: what it is.
        find: returns the own name; a RequestError says that there is none, or that there are several.
        complete: what completes it.
    """

    def __init__(self, name: str, find: Callable[[str], str], complete: Callable[[str], list[CompletionItem]]) -> None:
        self.name, self.find, self.complete = name, find, complete

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the own name."""
        return self.find(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        return self.complete(incomplete)


def _name_corpus(others: Sequence[str]) -> Name:
    """Accept names of corpora, and some other words as they are."""
    return Name(
        "corpus",
        lambda name: name if name in others else find_corpus(name).name,
        lambda incomplete: completion.complete_corpora(incomplete, others),
    )


def _find_scored(name: str) -> str:
    procedure, corpus = find_task(name)
    return corpus or procedure


def split_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names that were given to an option, several times or separated by commas; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",")))


def split_metrics(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names of metrics likewise, all of which the procedure of the command has."""
    procedure: Procedure = vars(ctx.command)["procedure"]
    chosen, families = split_names(ctx, param, values), procedure.families
    for name in chosen:
        if name not in families:
            known = f"{', '.join(map(repr, families))}.{suggest(name, families, procedure.aliases)}"
            raise click.BadParameter(f"'{escape(name)}' is not one of {known}", ctx, param)
    return chosen


def split_csv(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names in options that separate them by commas; a name with a comma is quoted."""
    try:
        return tuple(name.strip() for names in csv.reader(values, skipinitialspace=True) for name in names)
    except csv.Error as error:
        raise click.BadParameter(f"the names can't be separated: {error}.", ctx, param) from None


def read_numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, ...]:
    """Return the numbers of a list that is separated by commas."""
    try:
        return tuple(float(text) for text in ([] if value is None else value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers.", ctx, param) from None


def read_choices(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Return the options of a procedure that were given as NAME=VALUE, by name."""
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        key = name.replace("-", "_")
        if not equals or not name:
            wrong = f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
            raise click.BadParameter(wrong, ctx, param)
        if key in found:
            wrong = f"option {escape(name)} is given twice: {escape(found[key])} and {escape(value)}."
            raise click.BadParameter(wrong, ctx, param)
        found[key] = value
    return found


READERS: dict[str, Callable[..., Any]] = {
    "choices": read_choices,
    "csv": split_csv,
    "list": read_numbers,
    "metrics": split_metrics,
    "names": split_names,
}
TYPES: dict[Any, click.ParamType[Any]] = {
    **dict.fromkeys(("gold", "read", "source", "sources", "systems"), FILE),
    **dict.fromkeys((*READERS, "sort", str), click.STRING),
    **dict.fromkeys(("named", Path), NAMED),
    "write": WRITTEN,
    "folder": click.Path(path_type=Path, file_okay=False),
    "store": click.Path(),
    "procedure": Name("corpus or procedure", _find_scored, completion.complete_scored),
    int: click.INT,
    float: click.FLOAT,
    date: click.DateTime(["%Y-%m-%d"]),
}
"""What click checks, by the kind of a parameter, or by its type."""


def make_params(
    parameter: Parameter, procedure: Procedure | None = None, corpus: str | None = None
) -> list[click.Parameter]:
    """Return the click parameters of a parameter: none if it is for Python, several if it is a group.

    Args:
        parameter: the parameter.
        procedure: the procedure that scores; None if it is unknown.
        corpus: the corpus that is scored; None if gold is a key given by the user.
    """
    param = parameter.param
    match param.kind:
        case "python" | "preset" | "report" | "log":
            return []
        case "place" | "scored" | "group":
            made = [one for field in list_fields(parameter) for one in make_params(field)]
            if param.kind == "group":
                return made
            is_place = param.kind == "place"
            return [*made, *_make_declared(("files" if is_place else "procedure", param.corpus, *param.declared))]
        case "options":
            flags = [_make_flag(one, one.default) for one in param.options]
            return _make_declared(param.declared) if param.declared else flags
        case "procedure_options" if procedure is not None:
            files = [] if corpus is None else _make_declared(("files", corpus))
            return [*files, *_make_procedure_options(procedure, corpus)]
        case "fields":
            procedure = load_procedure(param.corpus)
    if param.kind in ("by", "fields", "metrics", "scores", "sort", "explain"):
        return [_make_param(one) for one in _offer(parameter, procedure)]
    return [_make_param(parameter)]


def _make_declared(declared: Sequence[str]) -> list[click.Parameter]:
    """Return the options that corpora declare for reading, or a task's module; those that are named, if some are."""
    role, *rest = declared
    if role == "files":
        return _make_file_options(map(load_corpus, rest or corpus_names()))
    task, *names = rest
    if role == "procedure":
        found = _make_procedure_options(load_procedure(task))
    else:
        found = [_make_flag(one, one.default) for one in vars(find(task, role))["OPTIONS"]]
    return [one for one in found if not names or one.name in names]


def _make_param(parameter: Parameter) -> click.Parameter:
    name, param, default, hint = parameter.name, parameter.param, parameter.default, parameter.hint
    flags = param.flag.split() or [f"--{'no-' if default is True else ''}{name.replace('_', '-')}"]
    if hint is bool:
        unset: dict[str, Any] = {"default": None} if default is None else {}
        return click.Option([*flags, f"no_{name}" if default else name], is_flag=True, help=parameter.help, **unset)
    complete = completion.find(param.complete)
    is_sequence = get_origin(hint) is Sequence
    if is_sequence:
        (hint,) = get_args(hint)
    if param.kind in ("csv", "metrics", "names", "sort"):
        complete = completion.complete_list([name for name in get_args(hint) if " " not in name])
    settings: dict[str, Any] = {"type": _find_type(parameter, hint), "metavar": param.metavar}
    settings["shell_complete"] = complete
    required = default is inspect.Parameter.empty
    if parameter.is_argument:
        how_many = -1 if is_repeated(parameter) else 1
        return click.Argument([name], nargs=how_many, required=required and param.complete != "cited", **settings)
    if param.kind in READERS:
        settings |= {"multiple": param.kind != "list", "callback": READERS[param.kind]}
    elif is_sequence:
        settings |= {"multiple": True}
    elif required or param.required:
        settings |= {"required": True}
    else:
        value = param.default if default is None else default
        settings |= {"default": value, "show_default": value not in (None, "")}
    return click.Option([*flags, name], help=parameter.help, **settings)


def _find_type(parameter: Parameter, hint: Any) -> click.ParamType[Any]:
    param = parameter.param
    if param.kind in TYPES:
        return TYPES[param.kind]
    if param.kind == "corpus":
        return _name_corpus(param.others)
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    if (param.low, param.high) == (None, None):
        return TYPES[hint]
    if hint is int:
        low, high = (None if end is None else int(end) for end in (param.low, param.high))
        return click.IntRange(low, high)
    return NumberRange(param.low, param.high, min_open=param.above, max_open=param.below)


def _offer(parameter: Parameter, procedure: Procedure | None) -> list[Parameter]:
    """Return a parameter with the names that a procedure has for it; none if there is nothing to choose from."""

    def offer(text: str, names: Iterable[str], metavar: str, kind: str = "names") -> list[Parameter]:
        known: Any = tuple(dict.fromkeys(names))
        hint: Any = Literal[known] if known else str
        hint = hint if kind == "sort" else Sequence[hint]
        default = "none" if kind == "sort" else None
        param = Param(kind=kind, metavar=metavar, default=default)
        return [parameter._replace(hint=hint, default=None, help=text, param=param)]

    if procedure is None:
        return offer("Also report scores for each value of FIELD; separate several by commas.", [], "FIELD")
    families, names = procedure.families, [metric.name for metric in procedure.metrics]
    match parameter.param.kind:
        case "by" | "fields" as kind:
            fields = [*procedure.fields, *procedure.breakdowns, *filter(None, [procedure.more_fields])]
            what = parameter.help if kind == "fields" else "report scores"
            several = "" if len(fields) == 1 else "; separate several by commas"
            text = f"Also {what} for each value of FIELD{several}. Choose from: {', '.join(fields)}."
            return offer(text, fields, "FIELD") if fields else []
        case "metrics" if len(families) > 1:
            selected = {metric.name.partition("/")[0] for metric in procedure.more_metrics}
            default = f"all but {', '.join(name for name in families if name in selected)}" if selected else "all"
            text = f"Compute these metrics; separate several by commas: {', '.join(families)}.  [default: {default}]"
            return offer(text, families, "NAMES", "metrics")
        case "scores":
            split = [name.partition("/")[0] for name in names if name.endswith("/recall")]
            example = f"{split[0]}/f1, or {split[0]} for its precision, recall and F1" if split else procedure.headline
            default = "all but precision and recall" if split else "all"
            text = f"Select these scores, separated by commas, such as {example}.  [default: {default}]"
            return offer(text, [*families, *names], "NAMES", "csv")
        case "sort":
            return offer("Sort by this score, the best system first.", names, "SCORE", "sort")
        case "explain" if procedure.explanation is not None:
            from closeread.operations.score import SHOWN

            counted = f"Explain everything that is counted in each {procedure.unit} (in JSON: as 'explanations')"
            return [parameter._replace(help=f"{counted}; tables show at most {SHOWN:,} rows per {procedure.unit}.")]
    return []


def _make_file_options(corpora: Iterable[Corpus]) -> list[click.Parameter]:
    """Return the options for the folders that users of these corpora get from their owners, and for reading them."""
    folders, reading = {}, {}
    for corpus in corpora:
        for folder in corpus.user_folders:
            text = f"Read {folder.content} from this folder."
            flags = [f"--{folder.name}", FOLDER + folder.name]
            folders[folder.name] = click.Option(flags, type=NAMED, metavar="DIR", help=text)
        for one in corpus.reading_options:
            text = f"{one.help}  [default: {one.choices[0]}]"
            flags = [f"--{one.name.replace('_', '-')}", READING + one.name]
            reading[one.name] = click.Option(flags, type=click.Choice(one.choices), help=text)
    return [*folders.values(), *reading.values()]


def _make_procedure_options(procedure: Procedure, corpus: str | None = None) -> list[click.Parameter]:
    """Return the flags of a procedure's presets and options, with the defaults of a corpus in their help."""
    from closeread.scoring import resolve_options

    defaults = resolve_options(procedure, corpus, {})
    declared = [_make_flag(option, defaults[option.name]) for option in procedure.options]
    if not procedure.presets:
        return declared
    official = "; ".join(f"{name}: {preset.help}" for name, preset in procedure.presets.items())
    text = f"Use the options and metrics of an official score, except those given here ({official})."
    preset = click.Option(["--preset"], type=click.Choice(list(procedure.presets)), metavar="NAME", help=text)
    return [preset, *declared]


MOST_CHOICES = 70
"""How many characters of choices fit on the line of an option's name; more of them are listed in its help."""


def _make_flag(option: Option, default: str) -> click.Parameter:
    """Return the flag of a declared option; its value is None if not given, so that defaults stay in one place."""
    from closeread.counts.procedure import PathOption

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None and not option.accepts(str(value)):
            raise click.BadParameter(f"{option.describe_invalid(value)}.", ctx, param)
        return value

    is_path = isinstance(option, PathOption)
    name = option.metavar if isinstance(option, PathOption) else option.name.rpartition("_")[2].upper()
    many = len("|".join(option.choices)) > MOST_CHOICES
    text = f"{option.help}  One of {', '.join(option.choices)}." if many else option.help
    return click.Option(
        [f"--{option.name.replace('_', '-')}", option.name],
        type=click.Choice(option.choices) if option.choices else NAMED if is_path else str,
        callback=check,
        metavar=None if option.choices and not many else name,
        help=f"{text}  [default: {default}]" if default else text,
    )


PRINTED = {
    **dict.fromkeys(("Catalogue", "Papers", "Ranking", "Result", "Statistics"), ("style",)),
    **dict.fromkeys(("Judged", "Page", "Publication", "list[Verdict]"), ("as_json",)),
    **dict.fromkeys(("SystemsTable", "Comparison | list[Comparison]"), ("style", "output")),
    "Drawing": ("output",),
    "Report": ("style", "per_unit", "with_counts", "output", "digits", "score_only"),
}
"""The options of printing by the type that an operation returns."""

JSON_HELP = {
    "Page": "Print JSON.",
    "list[Verdict]": "Print a list with an object for each file: 'file', 'valid', 'rows' (gold records with "
    "predictions; null if the file is not valid) and 'problems'.",
}
FLAGS = {
    "per_unit": "Also report each unit separately (in JSON: as 'units').",
    "with_counts": "Also show fields and counts in the table of --per-unit; JSON and CSV always have them.",
}


def make_printing_options(returns: str, procedure: Procedure | None = None) -> list[click.Parameter]:
    """Return the options that say how the result of an operation, by the name of its type, is printed."""

    def make(name: str) -> Iterator[click.Parameter]:
        match name:
            case "style":
                formats = ["table", "json", "markdown", "latex", "csv", *["html"] * (returns == "SystemsTable")]
                shown: dict[str, Any] = {"type": click.Choice(formats), "default": "table", "show_default": True}
                yield click.Option(["--format", "style"], help="How to format the output.", **shown)
                yield click.Option(["--json", "style"], flag_value="json", help="Same as --format json.")
            case "output":
                is_picture = returns == "Drawing"
                file = "this file: .png, .svg or .pdf." if is_picture else "this file; print nothing."
                how: dict[str, Any] = {"type": WRITTEN, "required": is_picture, "metavar": "FILE"}
                text = f"Write {'' if is_picture else 'the result '}to {file}"
                yield click.Option(["-o", "--output"], help=text, **how)
            case "digits":
                ends: dict[str, Any] = {"type": click.IntRange(0, 10), "default": 2, "show_default": True}
                yield click.Option(["--digits"], help=SENTENCES["digits"], **ends)
            case "as_json":
                text = JSON_HELP.get(returns, "Print the result as JSON.")
                yield click.Option(["--json", "as_json"], is_flag=True, help=text)
            case "score_only":
                several = procedure is not None and len(procedure.families) > 1
                more = ", or that of each of --metrics on a line of its own" if several else ""
                text = f"Print only the main score (times 100){more}."
                yield click.Option(["--score-only"], is_flag=True, help=text)
            case flag:
                yield click.Option([f"--{flag.replace('_', '-')}"], is_flag=True, help=FLAGS[flag])

    return [option for name in PRINTED.get(returns, ()) for option in make(name)]


def take_printing_options(returns: str, values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of printing from the values of a command, and return them."""
    taken = {name: values.pop(name) for name in PRINTED.get(returns, ())}
    if taken.get("score_only"):
        asked = {**values, **taken}
        names = [name for name in ("by", "per_unit", "with_counts", "explain") if asked.get(name)]
        given = [f"--{name.replace('_', '-')}" for name in names]
        if asked["style"] != "table":
            given.append(f"--format {asked['style']}")
        if given:
            raise click.UsageError(f"--score-only prints numbers alone; omit {' and '.join(given)}.")
        values["no_ci"] = True
        taken["metrics"] = values.get("metrics")
    return taken
