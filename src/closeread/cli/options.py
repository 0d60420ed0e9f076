"""Options that several commands share, and commands whose help has them in groups."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import completion
from closeread.cli.printing import remember_quiet
from closeread.corpus.names import find_corpus, find_task
from closeread.exceptions import RequestError, describe_unknown, escape, suggest
from closeread.operations.outputs import check_outputs

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from closeread.corpus.declaration import Corpus
    from closeread.counts.procedure import Option, Procedure

WIDTH = 75
"""The longest line of an example; help indents it by 4."""


def format_examples(commands: Sequence[str]) -> str:
    """Return the paragraph of a help text that shows these commands, each without leading spaces."""
    title = "Examples:" if len(commands) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for command in commands for line in break_lines(command))])


def break_lines(command: str) -> list[str]:
    r"""Break a long command before an option, as a shell accepts it.

    >>> print("\n".join(break_lines("closeread validate tne " + "long" * 9 + ".jsonl --config sample --missing skip")))
    closeread validate tne longlonglonglonglonglonglonglonglong.jsonl \
      --config sample --missing skip
    """
    places = [match.start() for match in re.finditer(r" (?=-)", command) if match.start() + 2 <= WIDTH]
    if len(command) <= WIDTH or not places:
        return [command]
    return [f"{command[: places[-1]]} \\", f"  {command[places[-1] + 1 :]}"]


FEW = 8
"""Up to this number, options need no groups."""

GROUPS = {
    "Input": "config split gold data_dir corpus from_counts fields given only spacy_model runs read_bytes"
    " test_split validation_split held_out",
    "Output": "style columns names sort intervals by per_unit with_counts explain limit digits score_only kinds"
    " document to dry_run archive ids as_json show_missing strict",
    "Intervals": "no_ci resamples confidence correction alpha pairs",
    "System": "system author model paper code description",
    "Leaderboard": "title start end per_day max_submissions max_bytes private counting dataset results replace",
    "Procedure": "",
    "Other": "",
}
"""The names of parameters by group, in the order of help; those of files to read and to write need not be named."""

GROUP_OF = {name: group for group, names in GROUPS.items() for name in names.split()}

FOLDER, READING = PREFIXES = ("folder_", "reading_")
"""How the parameters begin that say how to read a corpus."""


class Command(click.Command):
    """A command with the option `--quiet`, and a help that has its options in groups, if there are many.

    It neither overwrites its input, nor writes twice to one file.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters, with `--quiet` before `--help`."""
        text = "Leave out notes and progress bars on standard error."
        quiet = click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, is_eager=True, callback=remember_quiet, help=text
        )
        own = super().get_params(ctx)
        place = len(own) - ("--help" in own[-1].opts if own else 0)
        return [*own[:place], quiet, *own[place:]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the formatter, and the subcommands of a group."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        own = [option for option in options if not {"--help", "--quiet"} & set(option.opts)]
        if len(own) <= FEW:
            super().format_options(ctx, formatter)
            return
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for option in options:
            name = option.name or ""
            if option not in own:
                group = "Other"
            elif option.type is WRITTEN:
                group = "Output"
            elif name in GROUP_OF:
                group = GROUP_OF[name]
            elif name.startswith(PREFIXES) or isinstance(option.type, click.Path):
                group = "Input"
            else:  # where there are intervals, the seed is theirs
                has_intervals = any(one.name == "resamples" for one in options)
                group = "Intervals" if name == "seed" and has_intervals else "Procedure"
            if (record := option.get_help_record(ctx)) is not None:
                groups[group].append(record)
        if groups.keys() != {"Leaderboard"} and len(groups.get("Leaderboard", ())) == 1:
            groups["Input"] += groups.pop("Leaderboard")  # the largest size of files that are read
        for group in GROUPS:
            if group in groups:
                with formatter.section(group):
                    formatter.write_dl(groups[group])
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a RequestError says that an output file is also an input, or another output."""
        rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:
            return rest
        read: list[tuple[Path, bool]] = []
        written: list[Path] = []
        for param in self.params:
            if isinstance(param.type, click.Path):
                given = ctx.params[param.name or ""]
                paths = [path for path in (given if isinstance(given, tuple) else (given,)) if path is not None]
                if param.type is WRITTEN:
                    written += paths
                else:
                    read += [(Path(path), param.type is FILE) for path in paths]
        check_outputs(read, written)
        return rest


class Group(Command, click.Group):
    """A group of commands; `--quiet` before a subcommand holds for it, too."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a subcommand with its name and its arguments; none while a shell completes an unknown name.

        A RequestError, if there is no such subcommand, suggests a similar name.
        """
        try:
            return super().resolve_command(ctx, args)
        except RequestError:
            if not ctx.resilient_parsing:
                raise
            return None, None, []
        except click.UsageError as error:
            if args[0].startswith("-"):
                raise
            what = "command" if ctx.parent is None else f"subcommand of {ctx.info_name}"
            commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            known = [name for name, command in commands.items() if command is not None and not command.hidden]
            raise RequestError(describe_unknown(what, args[0], known)) from error


def split_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names that were given to an option, several times or separated by commas; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",")))


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
        key, wrong = name.replace("-", "_"), ""
        if not equals or not name:
            wrong = f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
        elif key in found:
            wrong = f"option {escape(name)} is given twice: {escape(found[key])} and {escape(value)}."
        if wrong:
            raise click.BadParameter(wrong, ctx, param)
        found[key] = value
    return found


STANDARD_INPUT = "closeread.standard_input"
"""What the context of a command remembers: that it reads standard input."""


class FilePath(click.Path):
    """The path of a file or folder that must have a name: `-` is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if str(value) == "-":
            self.fail("'-' is not a file (expected a file name).", param, ctx)
        return super().convert(value, param, ctx)


class ReadFile(click.Path):
    """The path of a file or folder to read; `-` is standard input, which can be read once."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        from closeread.formats import text

        path = text.STANDARD_INPUT if str(value) == "-" else super().convert(value, param, ctx)
        if path == text.STANDARD_INPUT and ctx is not None:
            if ctx.meta.get(STANDARD_INPUT):
                self.fail("standard input can be read only once (expected a file here).", param, ctx)
            ctx.meta[STANDARD_INPUT] = True
        return path


class NumberRange(click.FloatRange):
    """A number in a range; `nan`, which no comparison finds outside, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


FILE = ReadFile(path_type=Path)
NAMED = FilePath(path_type=Path)
WRITTEN = FilePath(path_type=Path)


class CorpusName(click.ParamType):  # type: ignore[type-arg]  # click 8.3 takes none
    """The name of a corpus, or of the procedure that scores only this corpus; the value is the corpus's own name.

    Args:
        others: words that are no corpus, but accepted as they are.
    """

    name = "corpus"

    def __init__(self, *others: str) -> None:
        self.others = others

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the corpus's own name; a RequestError says that there is none, or that there are several."""
        return value if value in self.others else find_corpus(value).name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the corpora whose names begin so; other names only if there are none."""
        return completion.complete_corpora(incomplete, self.others)


class ScoredName(click.ParamType):  # type: ignore[type-arg]
    """The name of a corpus or a procedure; the value is the procedure's name if its only module is named."""

    name = "corpus or procedure"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; a RequestError says that there is none."""
        procedure, corpus = find_task(value)
        return corpus or procedure

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the corpora and procedures whose names begin so."""
        return completion.complete_scored(incomplete)


def make_place_options() -> list[click.Parameter]:
    """Return the options that say where gold is."""
    from closeread.parameters import SENTENCES

    own = "Use your own gold file, in the corpus's format, .jsonl or .parquet."
    configs, splits = completion.find("configs"), completion.find("splits")
    return [
        click.Option(["--config"], metavar="NAME", shell_complete=configs, help=SENTENCES["config"]),
        click.Option(["--split"], metavar="NAME", shell_complete=splits, help=SENTENCES["split"]),
        click.Option(["--gold"], type=FILE, metavar="FILE", help=own),
        click.Option(["--data-dir"], type=NAMED, metavar="DIR", help=SENTENCES["data_dir"]),
    ]


def make_output(text: str, *, required: bool = True) -> click.Parameter:
    """Return the option for the file to write."""
    return click.Option(["-o", "--output"], type=WRITTEN, required=required, metavar="FILE", help=text)


def file_options(corpora: Iterable[Corpus]) -> list[click.Parameter]:
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


def _make_list(flag: str, names: Iterable[str], metavar: str, text: str, read: Callable[..., Any]) -> click.Parameter:
    """Return an option that takes names, several times or separated by commas."""
    complete = completion.complete_list(list(dict.fromkeys(names)))
    return click.Option([flag], multiple=True, callback=read, shell_complete=complete, metavar=metavar, help=text)


def by(procedure: Procedure | None = None, what: str = "report scores") -> list[click.Parameter]:
    """Return the option that selects fields to slice by; none if the procedure has no fields.

    Args:
        procedure: the procedure; None if it is unknown.
        what: what is done for each value of a field, beginning with a verb.
    """
    fields: list[str] = []
    if procedure is not None:
        fields = [*procedure.fields, *procedure.breakdowns, *filter(None, [procedure.more_fields])]
        if not fields:
            return []
    several = "" if len(fields) == 1 else "; separate several by commas"
    choices = f" Choose from: {', '.join(fields)}." if fields else ""
    text = f"Also {what} for each value of FIELD{several}.{choices}"
    return [_make_list("--by", (name for name in fields if " " not in name), "FIELD", text, split_names)]


def select(kind: str, procedure: Procedure) -> list[click.Parameter]:
    """Return the option that selects what a procedure has: "metrics", "scores", what to "sort" by, or "explain".

    There is none, if there is nothing to select.
    """
    families, names = procedure.families, [metric.name for metric in procedure.metrics]
    match kind:
        case "metrics" if len(families) > 1:

            def check(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
                chosen = split_names(ctx, param, values)
                for name in chosen:
                    if name not in families:
                        guess = suggest(name, families, procedure.aliases)
                        found = f"'{escape(name)}' is not one of {', '.join(map(repr, families))}.{guess}"
                        raise click.BadParameter(found, ctx, param)
                return chosen or None

            selected = {metric.name.partition("/")[0] for metric in procedure.more_metrics}
            default = f"all but {', '.join(name for name in families if name in selected)}" if selected else "all"
            text = f"Compute these metrics; separate several by commas: {', '.join(families)}.  [default: {default}]"
            return [_make_list("--metrics", families, "NAMES", text, check)]
        case "scores":
            split = [name.partition("/")[0] for name in names if name.endswith("/recall")]
            example = f"{split[0]}/f1, or {split[0]} for its precision, recall and F1" if split else procedure.headline
            default = "all but precision and recall" if split else "all"
            text = f"Select these scores, separated by commas, such as {example}.  [default: {default}]"
            return [_make_list("--scores", [*families, *names], "NAMES", text, split_csv)]
        case "sort":
            how: dict[str, Any] = {"metavar": "SCORE", "default": "none", "show_default": True}
            text = "Sort by this score, the best system first."
            return [click.Option(["--sort"], shell_complete=completion.complete_list(names), help=text, **how)]
        case "explain" if procedure.explanation is not None:
            from closeread.operations.score import SHOWN

            counted = f"Explain everything that is counted in each {procedure.unit} (in JSON: as 'explanations')"
            text = f"{counted}; tables show at most {SHOWN:,} rows per {procedure.unit}."
            return [click.Option(["--explain"], is_flag=True, help=text)]
    return []


def procedure_options(procedure: Procedure, corpus: str | None = None) -> list[click.Parameter]:
    """Return the flags of a procedure's presets and options, with the defaults of a corpus in their help."""
    from closeread.scoring import resolve_options

    declared = declared_options(procedure.options, resolve_options(procedure, corpus, {}))
    if not procedure.presets:
        return declared
    official = "; ".join(f"{name}: {preset.help}" for name, preset in procedure.presets.items())
    text = f"Use the options and metrics of an official score, except those given here ({official})."
    return [
        click.Option(["--preset"], type=click.Choice(list(procedure.presets)), metavar="NAME", help=text),
        *declared,
    ]


MOST_CHOICES = 70
"""How many characters of choices fit on the line of an option's name; more of them are listed in its help."""


def declared_options(declared: Sequence[Option], defaults: Mapping[str, str] | None = None) -> list[click.Parameter]:
    """Return the flags of declared options; their values are None if not given, so that defaults stay in one place.

    Args:
        declared: the options.
        defaults: defaults that differ from the declared ones, for the help.
    """
    return [_make_flag(option, (defaults or {}).get(option.name, option.default)) for option in declared]


def _make_flag(option: Option, default: str) -> click.Parameter:
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
    "Catalogue": ["style"],
    "Drawing": ["output"],
    "Page": ["as_json"],
    "Papers": ["style"],
    "Judged": ["as_json"],
    "Publication": ["as_json"],
    "Ranking": ["style"],
    "Report": ["style", "per_unit", "with_counts", "output", "digits", "score_only"],
    "Result": ["style"],
    "Statistics": ["style"],
    "SystemsTable": ["style", "output"],
    "list[Verdict]": ["as_json"],
    "Comparison | list[Comparison]": ["style", "output"],
}
"""The options of printing by the type that an operation returns."""

JSON_HELP = {
    "Page": "Print JSON.",
    "list[Verdict]": "Print a list with an object for each file: 'file', 'valid', 'rows' (gold records with "
    "predictions; null if the file is not valid) and 'problems'.",
}


def printing_options(returns: str, procedure: Procedure | None = None) -> list[click.Parameter]:
    """Return the options that say how the result of an operation is printed.

    Args:
        returns: the name of its type.
        procedure: the procedure that scores; None if it is unknown.
    """

    def make_flag(flag: str, text: str, name: str = "") -> click.Parameter:
        return click.Option([flag, *filter(None, [name])], is_flag=True, help=text)

    formats = ["table", "json", "markdown", "latex", "csv", *(["html"] if returns == "SystemsTable" else [])]
    is_picture = returns == "Drawing"
    file = "Write to this file: .png, .svg or .pdf." if is_picture else "Write the result to this file; print nothing."
    several = procedure is not None and len(procedure.families) > 1
    more = ", or that of each of --metrics on a line of its own" if several else ""
    decimals = "Number of decimals of scores in tables; JSON and CSV have them in full."
    shown: dict[str, Any] = {"show_default": True}
    options: dict[str, list[click.Parameter]] = {
        "style": [
            click.Option(
                ["--format", "style"],
                type=click.Choice(formats),
                default="table",
                help="How to format the output.",
                **shown,
            ),
            click.Option(["--json", "style"], flag_value="json", help="Same as --format json."),
        ],
        "output": [make_output(file, required=is_picture)],
        "digits": [click.Option(["--digits"], type=click.IntRange(0, 10), default=2, help=decimals, **shown)],
        "as_json": [make_flag("--json", JSON_HELP.get(returns, "Print the result as JSON."), "as_json")],
        "score_only": [make_flag("--score-only", f"Print only the main score (times 100){more}.")],
        "per_unit": [make_flag("--per-unit", "Also report each unit separately (in JSON: as 'units').")],
        "with_counts": [
            make_flag(
                "--with-counts",
                "Also show fields and counts in the table of --per-unit; JSON and CSV always have them.",
            )
        ],
    }
    return [option for name in PRINTED.get(returns, ()) for option in options[name]]


def take_printing_options(returns: str, values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of printing from the values of a command, and return them."""
    taken = {name: values.pop(name) for name in PRINTED.get(returns, ())}
    if taken.get("score_only"):
        asked = {**values, **taken}
        given = [
            f"--{name.replace('_', '-')}" for name in ("by", "per_unit", "with_counts", "explain") if asked.get(name)
        ]
        if asked["style"] != "table":
            given.append(f"--format {asked['style']}")
        if given:
            raise click.UsageError(f"--score-only prints numbers alone; omit {' and '.join(given)}.")
        values["no_ci"] = True
        taken["metrics"] = values.get("metrics")
    return taken
