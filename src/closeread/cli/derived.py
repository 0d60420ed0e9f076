"""Commands that are derived from operations, and groups of them: arguments, options, help, and what they print."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from closeread.cli import completion, names, options, printing
from closeread.cli.groups import GROUPS
from closeread.cli.names import NamesGroup, rename
from closeread.cli.printing import is_quiet, silence_libraries, warnings_as_notes
from closeread.cli.procedure_group import procedure_options
from closeread.corpus.names import corpus_names, load_corpus
from closeread.operations import GROUPS as MODULES
from closeread.operations.calling import find_groups, find_operations
from closeread.parameters import Operation, Parameter, describe, describe_fields, is_repeated, read_doc
from closeread.tasks import find, load_procedure

PATHS = {"read": options.FILE, "source": options.FILE, "sources": options.FILE, "write": options.WRITTEN}
FOLDER = click.Path(path_type=Path, file_okay=False)
SCALARS: dict[Any, click.ParamType[Any]] = {
    str: click.STRING,
    int: click.INT,
    float: click.FLOAT,
    Path: options.NAMED,
    date: click.DateTime(["%Y-%m-%d"]),
}
COMPLETIONS = {
    "configs": completion.complete_configs,
    "splits": completion.complete_splits,
    "modules": completion.complete_modules,
}


RESULTS = ("Ranking", "Result", "Statistics")
REPORTS = ("log", "report")
WITH_JSON = ("Judged", "Publication")


class DerivedCommand(options.WritingCommand):
    """The command of an operation.

    Args:
        group: the names of the commands that lead to it, such as "plot".
        name: its name, and the name that the operation has in its group.
        operation: the operation.
    """

    def __init__(self, group: str, name: str, operation: Operation) -> None:
        about, _ = read_doc(operation)
        super().__init__(name, help=about, short_help=about.split("\n\n")[0].replace("\n", " "), callback=self._run)
        self._group, self._own_name, self._operation = group, name, operation
        del self.params  # they are made when they are needed

    @property
    def corpus(self) -> str:
        """What configs and splits are completed for."""
        return next((one.param.corpus for one in describe(self._operation) if one.param.corpus), "")

    def __getattr__(self, name: str) -> Any:
        if name != "params":
            raise AttributeError(name)
        self.params = [param for one in describe(self._operation) for param in make_params(one)]
        if self._returns == "Drawing":
            self.params.append(options.make_output())
        elif self._returns in RESULTS:
            self.params += options.make_styles()
        elif self._returns in WITH_JSON:
            self.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON."))
        return self.params

    @property
    def _returns(self) -> str:
        return str(self._operation.__annotations__["return"])

    def _run(self, **values: Any) -> None:
        """Call the operation, and print its result, or what it says of what it has written."""
        from closeread.exceptions import escape_line
        from closeread.operations.calling import call, call_operation
        from closeread.operations.plot import draw

        style, as_json = values.pop("style", None), values.pop("as_json", False)
        for one in describe(self._operation):
            if one.param.kind in REPORTS and not as_json:
                values[one.name] = lambda line, err=one.param.kind == "log": click.echo(escape_line(line), err=err)
        with warnings_as_notes(), printing.showing_bars(), silence_libraries() if is_quiet() else nullcontext():
            if self._returns == "Drawing":
                output: Path = values.pop("output")
                drawing = draw(self._own_name, (), to_keywords(values), output)
                click.echo(escape_line(f"{output}: {drawing.summary}"))
                return
            if self._group:
                found = call(self._group, self._own_name, (), to_keywords(values))
            else:
                found = call_operation(self._own_name, self._operation, (), to_keywords(values))
        if self._returns in RESULTS:
            printing.show_result(style, found)
        elif as_json:
            printing.print_json(found.to_json())
        elif self._returns == "Publication":
            printing.print_grids(found.to_grids())
        elif isinstance(found, dict):
            printing.print_json(found)
        elif isinstance(found, list):
            for one in found:
                click.echo(escape_line(str(one)))
        elif not any(one.param.kind in REPORTS for one in describe(self._operation)):
            for line in (found.describe() if self._returns == "TrainedRun" else str(found)).split("\n"):
                click.echo(escape_line(line))
        if getattr(found, "has_failed", False):
            click.get_current_context().exit(1)


def to_keywords(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command as keywords of its operation, those that are given."""
    found = {}
    for name, value in values.items():
        if name.startswith("no_") and isinstance(value, bool):
            name, value = name.removeprefix("no_"), not value
        if isinstance(value, datetime):
            value = value.date()
        if value is not None and value != ():
            found[name.removeprefix(options.FOLDER).removeprefix(options.READING)] = value
    return found


def make_params(parameter: Parameter) -> list[click.Parameter]:
    """Return the click parameters of a parameter; several if it is a group."""
    param = parameter.param
    match param.kind:
        case "place":
            made = [one for one in options.make_place_options() if one.name not in param.without]
            return [*made, *options.file_options([load_corpus(param.corpus)])]
        case "scored":
            predictions = click.Argument(["predictions"], type=options.FILE)
            return [
                predictions,
                *options.make_place_options(),
                *_make_declared(("procedure", param.corpus, *param.declared)),
            ]
        case "group":
            return [one for field in describe_fields(parameter) for one in make_params(field)]
        case "options":
            return _make_declared(param.declared)
        case "report" | "log":
            return []
        case "fields":
            return [click.Option(["--by"], **options.describe_by(load_procedure(param.corpus), parameter.help))]
    return [make_argument(parameter) if parameter.is_argument else make_option(parameter)]


def _make_declared(declared: Sequence[str]) -> list[click.Parameter]:
    """Return the options that the module of a task with a role declares; those that are named, if some are."""
    if declared == ("files",):
        return options.file_options(map(load_corpus, corpus_names()))
    role, task, *names = declared
    if role == "procedure":
        found = procedure_options(load_procedure(task))
    else:
        found = options.declared_options(vars(find(task, role))["OPTIONS"])
    return [one for one in found if not names or one.name in names]


def make_argument(parameter: Parameter) -> click.Argument:
    """Return the argument of a positional parameter."""
    several = is_repeated(parameter)
    required = parameter.default is inspect.Parameter.empty
    return click.Argument(
        [parameter.name],
        type=_find_type(parameter),
        nargs=-1 if several else 1,
        required=required,
        metavar=parameter.param.metavar,
        shell_complete=COMPLETIONS.get(parameter.param.complete),
    )


def make_option(parameter: Parameter) -> click.Option:
    """Return the option of a keyword."""
    name, param, default = parameter.name, parameter.param, parameter.default
    flags = param.flag.split() or [f"--{name.replace('_', '-')}"]
    settings: dict[str, Any] = {"help": parameter.help}
    if parameter.hint is bool:
        if default:
            flags, name = param.flag.split() or [f"--no-{name}"], f"no_{name}"
        if default is None:
            settings["default"] = None
        return click.Option([*flags, name], is_flag=True, **settings)
    if param.kind == "names":
        choices = get_args(get_args(parameter.hint)[0])
        settings |= {
            "multiple": True,
            "callback": options.split_names,
            "shell_complete": completion.complete_list(choices),
        }
    elif param.kind == "choices":
        settings |= {"multiple": True, "callback": options.read_choices}
    elif param.kind == "list":
        settings |= {"callback": _read_numbers}
    elif get_origin(parameter.hint) is Sequence:
        settings |= {"multiple": True}
    else:
        required = default is inspect.Parameter.empty or param.required
        settings |= {"required": required, "default": None if required else default}
        settings["show_default"] = settings["default"] not in (None, "")
    if param.complete:
        settings["shell_complete"] = COMPLETIONS[param.complete]
    return click.Option([*flags, name], type=_find_type(parameter), metavar=param.metavar, **settings)


def _read_numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, ...]:
    """Return the numbers of a list that is separated by commas."""
    try:
        return tuple(float(text) for text in ([] if value is None else value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers.", ctx, param) from None


def _find_type(parameter: Parameter) -> click.ParamType[Any]:
    hint, param = parameter.hint, parameter.param
    if param.kind in ("names", "list", "choices"):
        return click.STRING
    if get_origin(hint) is Sequence and param.kind != "sources":
        hint = get_args(hint)[0]
    if param.kind == "folder":
        return FOLDER
    if param.kind == "corpus":
        return names.CORPUS
    if param.kind == "procedure":
        return names.SCORED
    if param.kind == "store":
        return options.STORE
    if param.kind in PATHS:
        return PATHS[param.kind]
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    if (param.low, param.high) != (None, None):
        if hint is int:
            low, high = (None if end is None else int(end) for end in (param.low, param.high))
            return click.IntRange(low, high)
        return options.NumberRange(param.low, param.high, min_open=param.above, max_open=param.below)
    return SCALARS[hint]


class TaskGroup(NamesGroup):
    """A group with the operations that modules offer under its name; those of "perturb mctaco" are a group inside.

    A subcommand that is named as a corpus, a procedure or a module is found by the other names of these, too.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, sorted, or in the order of their use."""
        return list(self._find_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; None if there is none of that name.

        Raises:
            RequestError: the name is that of a procedure that scores several corpora with a subcommand.
        """
        from closeread.corpus.names import choose_equivalent

        commands = self._find_commands()
        if cmd_name in commands:
            return commands[cmd_name]
        found = choose_equivalent(cmd_name, commands)
        return None if found is None else rename(commands[found], cmd_name)

    def _find_commands(self) -> Mapping[str, click.Command]:
        path = str(self.name)
        found: dict[str, click.Command] = {name: make_group(f"{path} {name}") for name in find_groups(path)}
        found |= {name: DerivedCommand(path, name, one) for name, one in find_operations(path).items()}
        return found if path in MODULES else dict(sorted(found.items()))


def make_group(path: str) -> click.Command:
    """Return a group of operations."""
    about = GROUPS[path]
    return TaskGroup(path, help=about.help, short_help=about.summary, hidden=about.hidden)
