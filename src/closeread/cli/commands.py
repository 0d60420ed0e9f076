"""Commands that are derived from operations, and groups of them: their help, what they call, and what they print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from closeread.cli import options, printing
from closeread.cli.groups import FILE, FOLDER, READING, Command, Group
from closeread.cli.options import make_params, make_printing_options, take_printing_options
from closeread.corpus.names import choose_equivalent, find_corpus, load_corpus
from closeread.exceptions import RequestError, escape_line
from closeread.operations import COMMANDS, GROUPS, HIDDEN, TASKS
from closeread.operations.calling import call, find_groups, find_operations
from closeread.parameters import PLACE, Operation, describe, read_doc
from closeread.tasks import procedure_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from closeread.counts.procedure import Procedure

WIDTH = 75
"""The longest line of an example; help indents it by 4."""


def format_help(text: str) -> str:
    """Break long commands in the examples of a help text before an option, as a shell accepts it."""
    lines = []
    for line in text.split("\n"):
        command = line.removeprefix("  ")
        places = [match.start() for match in re.finditer(r" (?=-)", command) if match.start() + 2 <= WIDTH]
        if line.startswith("  closeread ") and len(command) > WIDTH and places:
            lines += [f"  {command[: places[-1]]} \\", f"    {command[places[-1] + 1 :]}"]
        else:
            lines.append(line)
    return "\n".join(lines)


def to_keywords(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command as keywords of its operation, those that are given."""
    found = {}
    for name, value in values.items():
        if name.startswith("no_") and isinstance(value, bool):
            name, value = name.removeprefix("no_"), not value
        if isinstance(value, datetime):
            value = value.date()
        if value is not None and value != ():
            found[name.removeprefix(FOLDER).removeprefix(READING)] = value
    return found


class DerivedCommand(Command):
    """The command of an operation, below a path such as "plot", or as it was typed; empty if it is on top."""

    def __init__(self, path: str, name: str, operation: Operation, typed: str = "", **about: Any) -> None:
        text, _ = read_doc(operation)
        text = format_help(text.replace(f"closeread {path} ", f"closeread {typed or path} "))
        about = {"help": text, "short_help": text.split("\n\n")[0].replace("\n", " "), **about}
        super().__init__(name, callback=self.run, **about)
        self.path, self.operation, self.own_name = path, operation, name
        del self.params  # they are made when they are needed

    @property
    def corpus(self) -> str:
        """What configs and splits are completed for."""
        return next((one.param.corpus for one in describe(self.operation) if one.param.corpus), "")

    @property
    def returns(self) -> str:
        """The name of the type of its result, by which it is printed."""
        return str(self.operation.__annotations__["return"])

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """Its arguments and options; the user's own gold stands behind the config and the split."""
        described = sorted(describe(self.operation), key=lambda one: not one.param.options)
        made = [param for one in described for param in make_params(one)]
        return [*_put_gold_last(made), *make_printing_options(self.returns)]

    def call(self, values: dict[str, Any]) -> Any:
        """Call the operation with what was given."""
        if self.path:
            return call(self.path, self.own_name, (), to_keywords(values))
        arguments: list[Any] = []
        for one in describe(self.operation):
            if one.is_argument and one.param.kind != "python":
                value = values.pop(one.name)
                arguments += value if one.param.complete == "cited" else [value]
        return self.operation(*arguments, **to_keywords(values))

    def run(self, **values: Any) -> None:
        """Call the operation, and print its result, or what it says of what it has written."""
        shown = take_printing_options(self.returns, values)
        reports = [one for one in describe(self.operation) if one.param.kind in ("report", "log")]
        for one in reports if not shown.get("as_json") else ():
            values[one.name] = lambda line, err=one.param.kind == "log": click.echo(escape_line(line), err=err)
        with printing.quieting_libraries(), printing.showing_bars():
            if self.returns == "Drawing":
                from closeread.operations.tasks import draw

                drawing = draw(self.own_name, (), to_keywords(values), shown["output"])
                click.echo(escape_line(f"{shown['output']}: {drawing.summary}"))
                return
            found = self.call(values)
        if not reports or shown.get("as_json"):
            printing.print_result(found, **shown)
        if getattr(found, "has_failed", False):
            click.get_current_context().exit(1)


def _put_gold_last(made: list[click.Parameter]) -> list[click.Parameter]:
    """Move the user's own gold behind the config and the split, if there are these."""
    names = [one.name for one in made]
    if {"gold", "data_dir"} <= {*names} and "split" in names[names.index("gold") :]:
        made.insert(names.index("split"), made.pop(names.index("gold")))
    return made


class OperationsGroup(Group):
    """A group with the operations that tasks offer under its path; those of "perturb mctaco" are a group inside.

    A subcommand that is named as a corpus, a procedure or a module is found by the other names of these, too.
    """

    def __init__(self, path: str, name: str = "", typed: str = "", **about: Any) -> None:
        super().__init__(name or path, **about)
        self.path, self.typed = path, typed or path

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = self.subcommands
        found = find_corpus(cmd_name).name if self.path == "baseline" else choose_equivalent(cmd_name, known)
        if found not in known:
            if self.path == "baseline":
                raise RequestError(f"{found} has no baselines (corpora with baselines: {', '.join(known) or 'none'})")
            return None
        if isinstance(known[found], Group):
            return self._make_group(found, cmd_name)
        command = copy(known[found])
        command.name = cmd_name
        return command

    @cached_property
    def subcommands(self) -> dict[str, click.Command]:
        """The subcommands by name."""
        groups: dict[str, click.Command] = {name: self._make_group(name, name) for name in find_groups(self.path)}
        operations = find_operations(self.path).items()
        return groups | {name: DerivedCommand(self.path, name, one, self.typed) for name, one in operations}

    def _make_group(self, name: str, typed: str) -> Group:
        path, summary = f"{self.path} {name}", "Normalize units, or add candidate answers."
        text = PERTURBATIONS
        if self.path == "baseline":
            summary = f"Write the predictions of a baseline of {load_corpus(name).title}."
            example = f"  closeread baseline {typed} NAME --config sample -o predictions.jsonl"
            text = format_help(f"{summary}\n\n\b\nExample:\n{example}")
        made = OperationsGroup(path, typed, f"{self.path} {typed}", help=text, short_help=summary)
        made.what = f"baseline of {name}" if self.path == "baseline" else ""
        return made


PERTURBATIONS = """Apply the perturbations of Zhou et al. (2019) to McTaco.

\b
Example:
  closeread perturb mctaco units --config sample -o normal.jsonl
"""
TIMELINE = """Build timelines (alias of `closeread build timeline`).

\b
Example:
  closeread build timeline events.jsonl -o timelines
"""


class ProcedureHelp(NamedTuple):
    """What help says of a command with a subcommand for every procedure."""

    help: str  # all of it, for the group
    summary: str  # the first line of a subcommand, after which the procedure is named in parentheses
    endings: Sequence[str]  # what follows the files in examples; a key has neither a config nor another gold
    details: str = ""  # a paragraph of a subcommand
    key: str = ""  # another, if gold is a key


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
        f"{KEY_FIRST}.",
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
        "Each system is a file of predictions, a file of counts from `closeread score --counts`, or a report from "
        "`closeread score --json`. Best scores are bold. Systems that are not significantly different from the best "
        "are marked with †: by approximate randomization, corrected for all pairs of systems by Holm's method. Reports "
        "have no counts, so they can't be tested.",
        f"{KEY_FIRST} and reports.",
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
    ),
}


class ProcedureCommand(DerivedCommand):
    """The command of an operation on a procedure, or a corpus that it scores; the name typed is its first argument."""

    def __init__(self, name: str, operation: Operation, procedure: Procedure, corpus: str | None, **about: Any) -> None:
        super().__init__("", name, operation, **about)
        self.procedure, self.scored = procedure, corpus

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """Its arguments and options; of those of printing, `--counts` and `--explain` come last."""
        is_keyed = self.scored is None
        key = [click.Argument(["gold"], type=FILE, metavar="KEY")] if is_keyed else []
        files = "RESPONSE" if is_keyed else "PREDICTIONS"
        made: list[click.Parameter] = []
        for one in describe(self.operation)[1:]:
            match one.param.kind:
                case "systems":
                    metavar = "[KEY] SYSTEMS..." if is_keyed else "SYSTEMS..."
                    made.append(click.Argument(["systems"], type=FILE, nargs=-1, required=True, metavar=metavar))
                case "source":
                    made += [*key, click.Argument(["predictions"], type=FILE, metavar=files)]
                case "sources":
                    metavar = f"{files}..."
                    made += [*key, click.Argument(["predictions"], type=FILE, nargs=-1, required=True, metavar=metavar)]
                case _ if not is_keyed or one.name not in PLACE:
                    made += make_params(one, self.procedure, self.scored)
        made = made if is_keyed else _put_gold_last(made)
        last = next((i for i, one in enumerate(made) if one.name == "counts"), len(made))
        return [*made[:last], *make_printing_options(self.returns, self.procedure), *made[last:]]

    def call(self, values: dict[str, Any]) -> Any:
        """Call the operation with the name that was typed, and the files."""
        if "systems" not in values:
            return self.operation(self.name, values.pop("predictions"), **to_keywords(values))
        if values.get("sort") == "none":
            del values["sort"]
        systems = values.pop("systems")
        if self.scored is None:
            from closeread.operations.compare import take_key

            values["gold"], systems = take_key(systems)
        return self.operation(self.name, list(systems), **to_keywords(values))


class ProcedureGroup(Group):
    """Subcommands by procedure; the name of a corpus or of an evaluate module selects the procedure that scores it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return procedure_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        from closeread.scoring import find_procedure

        procedure, corpus = find_procedure(cmd_name)
        own, said = str(self.name), procedure.help
        about = PROCEDURES[own]
        files = said.response if corpus else f"{said.key} {said.response}"
        endings = [*about.endings, *(said.flags if own == "score" else ())]
        if corpus is None:
            endings = list(dict.fromkeys(re.sub("--config sample|--gold my-gold.jsonl ", "", one) for one in endings))
        shown = [f"  closeread {own} {cmd_name} {files} {ending}".rstrip() for ending in endings]
        parts = [
            about.summary if about.summary.endswith(".") else f"{about.summary} ({procedure.title}).",
            said.details if own == "score" else about.details,
            "" if corpus else about.key,
            "\n".join(["\b", "Examples:", *shown]),
        ]
        return ProcedureCommand(
            cmd_name,
            _load_operation(own),
            procedure,
            corpus,
            help=format_help("\n\n".join(filter(None, parts))),
            short_help=procedure.title[0].upper() + procedure.title[1:],
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names of corpora and procedures, or of options; no procedure is imported."""
        return [*options.complete("scored", ctx, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]


class ScoreGroup(ProcedureGroup):
    """The group `score`, which scores stored counts itself."""

    def __init__(self, name: str, **about: Any) -> None:
        from closeread.operations.data import score_counts

        self.stored = DerivedCommand("", name, score_counts)
        about |= {"invoke_without_command": True, "no_args_is_help": True}
        super().__init__(name, callback=self.score_counts, params=self.stored.params, **about)

    def score_counts(self, **values: Any) -> None:
        """Print the scores of stored counts, if no procedure is given."""
        ctx = click.get_current_context()
        given = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        if ctx.invoked_subcommand is not None:
            if given:
                raise click.UsageError("Options go after the procedure; --from-counts takes no procedure.", ctx)
        elif values["from_counts"] is None:
            raise click.UsageError("Missing procedure or option '--from-counts'.", ctx)
        else:
            self.stored.run(**values)


def _load_operation(name: str) -> Operation:
    operation: Operation = import_module(f"closeread.operations.{COMMANDS[name][0]}").OPERATIONS[""][name]
    return operation


COMPLETION = """Print the script that completes commands, options, and names of corpora, configs, splits and metrics in
a shell.

\b
Examples:
  eval "$(closeread completion bash)"    # in ~/.bashrc
  eval "$(closeread completion zsh)"     # in ~/.zshrc, after compinit
  closeread completion fish > ~/.config/fish/completions/closeread.fish
"""


def make_command(name: str) -> click.Command:
    """Return a command, or a group of commands."""
    home, summary = COMMANDS[name]
    if name in PROCEDURES:
        group = ScoreGroup if name == "score" else ProcedureGroup
        return group(name, help=PROCEDURES[name].help, short_help=summary)
    if name == "completion":
        shells = click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))

        def print_script(shell: str) -> None:
            click.echo(options.write_script(shell), nl=False)

        return Command(name, callback=print_script, params=[shells], help=COMPLETION, short_help=summary)
    if home != TASKS and name not in GROUPS:
        return DerivedCommand("", name, _load_operation(name), short_help=summary)
    module = import_module(f"closeread.operations.{GROUPS.get(name, TASKS)}")
    text = TIMELINE if name == "timeline" else read_doc(module if name in GROUPS else getattr(module, name))[0]
    return OperationsGroup(name, help=text, short_help=summary, hidden=name in HIDDEN)
