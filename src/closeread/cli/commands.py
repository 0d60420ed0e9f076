"""Commands that are derived from operations, and groups of them: their help, what they call, and what they print."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from closeread.cli import printing
from closeread.cli.groups import Command, Group
from closeread.cli.options import (
    make_params,
    make_printing_options,
    take_printing_options,
)
from closeread.corpus.names import choose_equivalent, find_corpus, load_corpus
from closeread.exceptions import RequestError, advising_only, describe_unknown, escape_line
from closeread.operations import COMMANDS, GROUPS, HIDDEN, TASKS
from closeread.operations.calling import (
    call,
    call_operation,
    check_group,
    find_groups,
    find_operations,
)
from closeread.parameters import Operation, describe, read_doc
from closeread.tasks import procedure_names, summarize

if TYPE_CHECKING:
    from closeread.counts.comparison import Comparison
    from closeread.counts.procedure import Procedure

REGRESSION = 3
"""The exit status of `compare --fail-if-worse` if a system is worse."""

MAX_EXAMPLES = 4
"""How many examples the help of a command has that is derived for each procedure; `--help-all` has all."""

WIDTH = 75
"""The longest line of an example; help indents it by 4."""


def format_help(text: str) -> str:
    """Break long commands in the examples of a help text before an option, as a shell accepts it."""
    lines = []
    for line in text.split("\n"):
        command = line.removeprefix("  ")
        # Where the last option begins that still leaves room for a backslash.
        place = command[:WIDTH].rfind(" -")
        if line.startswith("  closeread ") and len(command) > WIDTH and place > 0:
            lines.append(f"  {command[:place]} \\")
            lines.append(f"    {command[place + 1 :]}")
        else:
            lines.append(line)
    return "\n".join(lines)


def capitalize(title: str) -> str:
    """Begin a title with a capital letter."""
    return title[0].upper() + title[1:]


def to_keywords(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command as keywords of its operation, without those that are not given."""
    keywords: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or value == ():
            continue
        if name.startswith("no_") and isinstance(value, bool):
            keywords[name.removeprefix("no_")] = not value
        else:
            keywords[name] = value
    return keywords


OUTPUTS = {
    "plot": "{}.png",
    "baseline": "{}.jsonl",
    "prepare mctaco": "{}.jsonl",
    "prepare semeval2015_timeline": "timelines.jsonl",
    "prepare tne": "documents.jsonl",
    "adjudicate": "adjudicated.jsonl",
    "predict": "predictions.jsonl",
    "merge": "counts.parquet",
    "leaderboard build": "index.html",
    "llm rows": "predictions.jsonl",
}
"""Where commands write by default, by path or group; others need a name, since it decides what they write."""


class DerivedCommand(Command):
    """The command of an operation, below a path such as "plot", which may be typed in another way, or on top.

    If a procedure, or a corpus that it scores, is its name, that is the first argument of the operation.
    """

    def __init__(
        self,
        path: str,
        name: str,
        operation: Operation,
        typed: str = "",
        scored: tuple[Procedure, str | None] | None = None,
        **about: Any,
    ) -> None:
        text = format_help(
            read_doc(operation)[0].replace(f"closeread {path} ", f"closeread {typed or path} ")
        )
        settings = {"help": text, "short_help": text.split("\n\n")[0].replace("\n", " ")}
        super().__init__(name, callback=self.run, **(settings | about))
        self.path = path
        self.operation = operation
        self.subcommand = name
        self.procedure: Procedure | None = None
        self.corpus: str | None = None
        if scored is not None:
            self.procedure, self.corpus = scored
        self.returns = str(operation.__annotations__["return"])  # by its name, a result is printed
        del self.params  # they are made when they are needed

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """Its arguments and options; the user's own gold stands behind the config and the split."""
        parameters = describe(self.operation)
        if self.procedure is not None:
            # The first is the name of what is scored.
            parameters = parameters[1:]
        params: list[click.Parameter] = []
        for parameter in sorted(parameters, key=lambda parameter: not parameter.param.options):
            params += make_params(parameter, self.procedure, self.corpus)
        names = [param.name for param in params]
        if {"gold", "data_dir"} <= {*names} and "split" in names[names.index("gold") :]:
            params.insert(names.index("split"), params.pop(names.index("gold")))
        # How results are printed is listed before the file of counts, which is written besides.
        place = names.index("counts") if "counts" in names else len(params)
        params[place:place] = make_printing_options(self.returns, self.procedure)
        default = self.find_default_output()
        for param in params:
            if not isinstance(param, click.Option) or param.name != "output":
                continue
            if param.required and default is not None:
                param.required = False
                param.default = default
                param.show_default = True
        return params

    def find_default_output(self) -> Path | None:
        """Return the file that the command writes if none is named; None if one must be."""
        for path in (f"{self.path} {self.subcommand}".strip(), self.path, self.path.split(" ")[0]):
            if path in OUTPUTS:
                return Path(OUTPUTS[path].format(self.subcommand))
        return None

    def call(self, values: dict[str, Any]) -> Any:
        """Call the operation with the values of the command."""
        if self.path:
            return call(self.path, self.subcommand, (), **to_keywords(values))
        arguments: list[Any] = [] if self.procedure is None else [self.name]
        if "systems" in values:
            from closeread.operations.compare import take_key

            systems = values.pop("systems")
            if self.corpus is None:
                values["gold"], systems = take_key(systems)
            takes_each = describe(self.operation)[1].role == inspect.Parameter.VAR_POSITIONAL
            arguments += systems if takes_each else [list(systems)]
        if values.get("sort") == "none":
            del values["sort"]
        return call_operation(self.subcommand, self.operation, arguments, to_keywords(values))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; messages advise only the options that it has."""
        flags = [flag for param in self.params for flag in (*param.opts, *param.secondary_opts)]
        with advising_only([flag.lstrip("-").replace("-", "_") for flag in flags]):
            return super().invoke(ctx)

    def run(self, **values: Any) -> None:
        """Call the operation, and print its result, or what it says of what it has written."""
        printing_options = take_printing_options(self.returns, values)
        fail_if_worse = printing_options.pop("fail_if_worse", None)
        is_judging = self.returns == "JudgingReport" and not printing_options["as_json"]
        if is_judging:
            # Its lines are printed as it goes.
            values["report"] = print_line
        name = "" if is_judging else click.get_current_context().command_path
        with printing.quieting_libraries(), printing.showing_line(name):
            if self.returns == "Drawing":
                self.draw(values, printing_options["output"])
                return
            result = self.call(values)
        if not is_judging:
            printing.print_result(result, **printing_options)
        if fail_if_worse is not None and self.procedure is not None:
            fail_on_regression(result, self.procedure.headline, fail_if_worse)
        if getattr(result, "has_failed", False):
            click.get_current_context().exit(1)

    def draw(self, values: dict[str, Any], output: Path) -> None:
        """Write a figure to a file, and print what it shows."""
        from closeread.operations.tasks import draw

        drawing = draw(self.subcommand, (), output, **to_keywords(values))
        click.echo(escape_line(f"{output}: {drawing.summary}"))


def print_line(line: str) -> None:
    """Print a line while a command is running."""
    printing.echo_above(escape_line(line), err=False)


def fail_on_regression(comparison: Comparison, score: str, points: float) -> None:
    """Exit with status 3 if a system is worse than the first; NaN points stand for a significant difference."""
    from closeread.counts.comparison_tables import format_points

    limit = None if math.isnan(points) else points
    regressions = [pair for pair in comparison if pair.is_worse(score, limit)]
    for pair in regressions:
        baseline, system = pair.names
        difference = format_points(float(pair[score]))
        message = f"{system} is worse than {baseline}: {score} {difference}"
        click.echo(escape_line(message), err=True)
    if regressions:
        click.get_current_context().exit(REGRESSION)


class OperationsGroup(Group):
    """A group with the operations that tasks offer under its path; those of "prepare mctaco" are a group inside.

    A subcommand that is named as a corpus, a procedure or a module is found by the other names of these, too.
    """

    def __init__(self, path: str, name: str = "", typed: str = "", **about: Any) -> None:
        super().__init__(name or path, **about)
        self.path = path
        self.typed = typed or path

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        commands = self.subcommands
        if self.path in BY_CORPUS:
            corpus = find_corpus(cmd_name).name
            check_group(self.path, corpus)
            return self._make_group(corpus, cmd_name)
        name = choose_equivalent(cmd_name, commands)
        if name is None:
            return None
        command = copy(commands[name])
        command.name = cmd_name
        return command

    @cached_property
    def subcommands(self) -> dict[str, click.Command]:
        """The subcommands by name."""
        commands: dict[str, click.Command] = {
            corpus: self._make_group(corpus, corpus) for corpus in find_groups(self.path)
        }
        for name, operation in find_operations(self.path).items():
            commands[name] = DerivedCommand(self.path, name, operation, self.typed)
        return commands

    def _make_group(self, corpus: str, typed: str) -> Group:
        """Return the group of a corpus, whose name may be typed in another way."""
        path = f"{self.path} {corpus}"
        title = load_corpus(corpus).title
        if self.path == "baseline":
            noun = f"baseline of {corpus}"
            text = summary = f"Write the predictions of a baseline of {title}."
            example = f"closeread baseline {typed} NAME --config sample -o predictions.jsonl"
        else:
            noun = f"preparation of {corpus}"
            text = f"Prepare files of {title}."
            names = list(find_operations(path))
            summary = ", ".join(names)
            example = f"closeread {self.path} {typed} {names[0]} --help"
        group = OperationsGroup(
            path,
            typed,
            f"{self.path} {typed}",
            help=format_help(f"{text}\n\n\b\nExample:\n  {example}"),
            short_help=summary,
        )
        group.noun = noun
        return group


BY_CORPUS = ("baseline", "prepare")
"""The groups that have a group for each corpus."""


class ProcedureHelp(NamedTuple):
    """What help says of a command with a subcommand for every procedure."""

    help: str  # all of it, for the group
    # the first line of a subcommand, after which the procedure is named in parentheses
    summary: str
    # what follows the files in examples
    endings: Sequence[str]
    details: str = ""  # a paragraph of a subcommand
    # the same two if gold is a key, which has neither a config nor other gold
    key_endings: Sequence[str] = ()
    key: str = ""
    # the only procedures that have the command; none for all
    procedures: Sequence[str] = ()


KEY_FIRST = "The key is the first file; omit it if there are only counts"
PROCEDURES = {
    "compare": ProcedureHelp(
        """Compare systems by paired tests: bootstrap and approximate randomization.

        \b
        Examples:
          closeread compare mctaco baseline.jsonl mine.jsonl
          closeread compare coref key.conll baseline.conll mine.conll
        """,
        "Compare systems by paired tests",
        ("another.jsonl", "counts.parquet --resamples 10000"),
        "Each system is a file of predictions, or a file of counts from `closeread score --counts`. The first system "
        "is compared with each of the others.",
        key=f"{KEY_FIRST}.",
    ),
    "score": ProcedureHelp(
        """Score a file of predictions.

        Print scores, confidence intervals, and a signature that identifies what was computed. Predictions are JSON
        Lines, or files in the format of the corpus's official evaluator.

        \b
        Examples:
          closeread score mctaco predictions.jsonl
          closeread score mctaco predictions.txt --by category
          closeread score coref key.conll response.conll
          closeread score --from-counts counts.parquet
        """,
        "Score predictions",
        ("", "--config sample", "--gold my-gold.jsonl --json", "--counts counts.parquet"),
        key_endings=("", "--json", "--counts counts.parquet"),
    ),
    "table": ProcedureHelp(
        """Print a table of many systems, with tests against the best.

        \b
        Examples:
          closeread table mctaco baseline.jsonl mine.jsonl other.parquet
          closeread table coref key.conll baseline.conll mine.conll --format latex
        """,
        "Print a table of many systems",
        ("another.jsonl", "report.json --intervals plus-minus", "another.jsonl --format latex"),
        "Each system is a file of predictions, a file of counts from `closeread score --counts`, a report from "
        "`closeread score --json`, or a log of a language model from `inspect eval closeread/…`. Best scores are bold. "
        "Systems that are not significantly different from the best are marked with †: by approximate randomization, "
        "corrected for all pairs of systems by Holm's method. Reports have no counts, so they can't be tested.",
        key=f"{KEY_FIRST} and reports.",
    ),
    "view": ProcedureHelp(
        """Show a key and what systems make of it, in a page: the key above the words, systems below.

        \b
        Examples:
          closeread view coref key.conll response.conll -o page.html
          closeread view coref key.conll baseline.conll mine.conll \\
            -o page.html --open
          closeread view coref gold.conll anna.conll ben.conll cleo.conll \\
            -o annotators.html
        """,
        "Show a key and systems in a page.",
        ("-o page.html", "another.conll -o page.html --open"),
        "One system is shown, two that are compared, or several annotators beside the gold. A page is one file "
        "that needs no network.",
        procedures=("coref",),
    ),
    "validate": ProcedureHelp(
        """Validate files of predictions without scoring them, and report all problems of all files at once.

        \b
        Examples:
          closeread validate mctaco predictions.jsonl
          closeread validate mctaco first.jsonl second.jsonl --json
          closeread validate coref key.conll response.conll
        """,
        "Validate files of predictions without scoring them.",
        ("--config sample", "--json"),
        key_endings=("", "--json"),
    ),
}


class ProcedureGroup(Group):
    """Subcommands by procedure; the name of a corpus or of an evaluate module selects the procedure that scores it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PROCEDURES[str(self.name)].procedures or procedure_names())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the titles of the procedures; this imports none of them."""
        names = self.list_commands(ctx)
        titles = [(name, capitalize(summarize(name).title)) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(titles)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            what = f"No such option '{error.option_name}' before the name of a procedure"
            raise click.UsageError(f"{what}; its options go after it.", ctx) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        from closeread.scoring import find_procedure

        procedure, corpus = find_procedure(cmd_name)
        command_name = str(self.name)
        about = PROCEDURES[command_name]
        if procedure.name not in self.list_commands(ctx):
            raise RequestError(describe_unknown("kind of page", cmd_name, about.procedures))
        endings = about.endings
        details = about.details
        files = procedure.help.response
        key = ""
        if corpus is None:
            endings = about.key_endings or about.endings
            files = f"{procedure.help.key} {files}"
            key = about.key
        if command_name == "score":
            endings = (*endings, *procedure.help.flags)
            details = procedure.help.details
        typed = f"  closeread {command_name} {cmd_name} {files}"
        examples = [f"{typed} {ending}".rstrip() for ending in endings]
        summary = about.summary
        if not summary.endswith("."):
            summary += f" ({procedure.title})."

        def write_help(details: str, examples: Sequence[str]) -> str:
            listed = "\n".join(["\b", "Examples:", *examples])
            return format_help("\n\n".join(filter(None, [summary, details, key, listed])))

        command = DerivedCommand(
            "",
            cmd_name,
            _load_operation(command_name),
            scored=(procedure, corpus),
            help=write_help(details.partition("\n\n")[0], examples[:MAX_EXAMPLES]),
            short_help=capitalize(procedure.title),
        )
        command.full_help = write_help(details, examples)
        if command.full_help == command.help:
            command.full_help = ""
        return command


def _make_score_group(**about: Any) -> ProcedureGroup:
    """Return the group `score`, which scores stored counts itself if no procedure is given."""
    from closeread.operations.stored_counts import score_counts

    stored = DerivedCommand("", "score", score_counts)

    def run(**values: Any) -> None:
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is not None:
            sources = map(ctx.get_parameter_source, ctx.params)
            if ParameterSource.COMMANDLINE in sources:
                message = "Options go after the procedure; --from-counts takes no procedure."
                raise click.UsageError(message, ctx)
        elif values["from_counts"] is None:
            raise click.UsageError("Missing procedure or option '--from-counts'.", ctx)
        else:
            stored.run(**values)

    about |= {"invoke_without_command": True, "no_args_is_help": True}
    return ProcedureGroup("score", callback=run, params=stored.params, **about)


def _load_operation(name: str) -> Operation:
    home, _ = COMMANDS[name]
    operation: Operation = import_module(f"closeread.operations.{home}").OPERATIONS[""][name]
    return operation


def make_command(name: str) -> click.Command:
    """Return a command, or a group of commands."""
    home, summary = COMMANDS[name]
    if name in PROCEDURES:
        about: dict[str, Any] = {"help": PROCEDURES[name].help, "short_help": summary}
        return _make_score_group(**about) if name == "score" else ProcedureGroup(name, **about)
    if home != TASKS and name not in GROUPS:
        is_hidden = name in HIDDEN
        return DerivedCommand("", name, _load_operation(name), short_help=summary, hidden=is_hidden)
    home = GROUPS[name][-1] if name in GROUPS else TASKS
    module = import_module(f"closeread.operations.{home}")
    text = read_doc(module if name in GROUPS else getattr(module, name))[0]
    return OperationsGroup(name, help=text, short_help=summary)
