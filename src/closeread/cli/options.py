"""Options that several commands share, and commands whose help has them in groups."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from closeread import limits
from closeread.cli import completion
from closeread.cli.printing import QuietCommand, tell
from closeread.exceptions import escape
from closeread.operations.outputs import check_outputs
from closeread.suggestions import suggest

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.corpus.gold import Gold
    from closeread.counts.estimates import Resampling
    from closeread.counts.procedure import GoldSpec, Option, Procedure
    from closeread.records import DataDir

WIDTH = 75
"""The longest line; help indents it by 4."""


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
    "System": "system model paper code description",
    "Leaderboard": "title start end per_day max_submissions max_bytes private counting dataset results replace",
}
"""The names of parameters by group; those of files to read and to write need not be named."""

PREFIXES = ("folder_", "reading_")
"""How the parameters begin that say how to read a corpus."""

ORDER = ("Input", "Output", "Intervals", "System", "Leaderboard", "Procedure", "Other")

GROUP_OF = {name: group for group, names in GROUPS.items() for name in names.split()}


class GroupedCommand(QuietCommand):
    """A command whose help has its options in groups, if there are many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the formatter, and the subcommands of a group."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        if sum(option.name not in ("help", "quiet") for option in options) <= FEW:
            super().format_options(ctx, formatter)
            return
        has_intervals = any(option.name == "resamples" for option in options)
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for option in options:
            record = option.get_help_record(ctx)
            if record is not None:
                groups[_find_group(option, has_intervals=has_intervals)].append(record)
        if [name for name in groups if name != "Leaderboard"] and len(groups.get("Leaderboard", ())) == 1:
            groups["Input"] += groups.pop("Leaderboard")  # the largest size of files that are read
        for group in sorted(groups, key=ORDER.index):
            with formatter.section(group):
                formatter.write_dl(groups[group])
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)


def _find_group(option: click.Option, *, has_intervals: bool) -> str:
    """Return the group of an option.

    Args:
        option: the option.
        has_intervals: whether the command computes intervals, for which its seed is.
    """
    name = option.name or ""
    if "--help" in option.opts or "--quiet" in option.opts:
        return "Other"
    if option.type is WRITTEN:
        return "Output"
    if name in GROUP_OF:
        return GROUP_OF[name]
    if name.startswith(PREFIXES) or isinstance(option.type, click.Path):
        return "Input"
    return "Intervals" if name == "seed" and has_intervals else "Procedure"


F = TypeVar("F", bound=Callable[..., Any])
STANDARD_INPUT = "closeread.standard_input"
"""What the context of a command remembers: that it reads standard input."""


def split_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the names that were given to an option, several times or separated by commas; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",")))


def read_choices(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Return the options of a procedure that were given as NAME=VALUE, by name.

    Raises:
        BadParameter: one is not of this form, or is given twice.
    """
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            wrong = f"'{escape(text)}' is not an option with its value (expected NAME=VALUE)."
            raise click.BadParameter(wrong, ctx, param)
        key = name.replace("-", "_")
        if key in found:
            wrong = f"option {escape(name)} is given twice: {escape(found[key])} and {escape(value)}."
            raise click.BadParameter(wrong, ctx, param)
        found[key] = value
    return found


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


class NamedFile(click.Path):
    """The path of a file or folder that must have a name; `-` is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if str(value) == "-":
            self.fail("'-' is not a file (expected a file name).", param, ctx)
        return super().convert(value, param, ctx)


class NumberRange(click.FloatRange):
    """A number in a range; `nan`, which no comparison finds outside, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


FILE = ReadFile(path_type=Path)
NAMED = NamedFile(path_type=Path)
WRITTEN = NamedFile(path_type=Path)
STORE = click.Path()
"""The place of a leaderboard, a string: a folder, or a dataset on the Hub."""


class WritingCommand(GroupedCommand):
    """A command that neither overwrites its input, nor writes twice to one file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            RequestError: an output file is also an input, or is also another output.
        """
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


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Combine decorators into one; the first is shown first in the help."""
    return lambda function: reduce(lambda f, decorate: decorate(f), reversed(decorators), function)


data_dir = click.option(
    "--data-dir",
    type=NAMED,
    metavar="DIR",
    help="Read the corpus's files from this folder; they may differ from the release.",
)
config = click.option(
    "--config",
    metavar="NAME",
    shell_complete=completion.complete_configs,
    help="Use this config of the corpus; 'sample' comes with the package.",
)
split = click.option(
    "--split", metavar="NAME", shell_complete=completion.complete_splits, help="Use this split of the corpus."
)
gold = click.option(
    "--gold", type=FILE, metavar="FILE", help="Use your own gold file, in the corpus's format, .jsonl or .parquet."
)
gold_options = together(config, split, gold, data_dir)


def make_place_options() -> list[click.Parameter]:
    """Return the options that say where gold is."""

    @gold_options
    def command() -> None: ...

    return list(reversed(vars(command)["__click_params__"]))


def make_output() -> click.Parameter:
    """Return the option for the picture to write."""
    text = "Write to this file: .png, .svg or .pdf."
    return click.Option(["-o", "--output"], type=WRITTEN, required=True, metavar="FILE", help=text)


FOLDER, READING = "folder_", "reading_"
"""How the parameters begin that name a corpus's folders and its options of reading."""


def file_options(corpora: Iterable[Corpus]) -> list[click.Parameter]:
    """Return the options for the folders that users of these corpora get from their owners, and for reading them."""
    declared = list(corpora)
    folders = {one.name: one for corpus in declared for one in corpus.user_folders}
    reading = {one.name: one for corpus in declared for one in corpus.reading_options}
    shown: list[click.Parameter] = [
        click.Option(
            [f"--{name}", FOLDER + name], type=NAMED, metavar="DIR", help=f"Read {one.content} from this folder."
        )
        for name, one in folders.items()
    ]
    return shown + [
        click.Option(
            [f"--{name.replace('_', '-')}", READING + name],
            type=click.Choice(one.choices),
            help=f"{one.help}  [default: {one.choices[0]}]",
        )
        for name, one in reading.items()
    ]


def take_files(values: Mapping[str, Any]) -> DataDir | None:
    """Return where a user's own files of a corpus are, from a command's parameters; None for the usual places."""
    given = {name: value for name, value in values.items() if value is not None}
    folders = {name.removeprefix(FOLDER): path for name, path in given.items() if name.startswith(FOLDER)}
    reading = {name.removeprefix(READING): value for name, value in given.items() if name.startswith(READING)}
    data_dir: Path | None = given.get("data_dir")
    if not folders and not reading:
        return data_dir
    from closeread.records import UserFiles

    return UserFiles(data_dir, folders, reading)


class CorpusCommand(WritingCommand):
    """A command that reads a corpus given by name, with options for the folders of all corpora."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.corpus.names import corpus_names, load_corpus

        own = super().get_params(ctx)
        place = next(i for i, param in enumerate(own) if param.name == "data_dir") + 1
        return [*own[:place], *file_options(map(load_corpus, corpus_names())), *own[place:]]


output = click.option("-o", "--output", type=WRITTEN, required=True, metavar="FILE", help="Write to this file.")
seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")

key = click.argument("key", type=FILE)
response = click.argument("response", type=FILE)
files = click.argument("files", type=FILE, nargs=-1, required=True)
chosen = click.option(
    "--option",
    "chosen",
    multiple=True,
    callback=read_choices,
    metavar="NAME=VALUE",
    help="Set an option of the procedure; may be repeated.",
)


def by(procedure: Procedure | None = None) -> Callable[[F], F]:
    """Return the option that selects fields to slice scores by; no option if the procedure has none.

    Args:
        procedure: the procedure; None if it is unknown.
    """
    if procedure is not None and not list_fields(procedure):
        return lambda function: function
    return click.option("--by", **describe_by(procedure, "report scores"))


def list_fields(procedure: Procedure) -> list[str]:
    """Return what the procedure's tables may be sliced by: fields, and where more of them come from."""
    return [*procedure.fields, *procedure.breakdowns, *([procedure.more_fields] if procedure.more_fields else [])]


def describe_by(procedure: Procedure | None, what: str) -> dict[str, Any]:
    """Return the settings of an option that selects fields.

    Args:
        procedure: the procedure; None if it is unknown.
        what: what is done for each value of a field, beginning with a verb.
    """
    fields = [] if procedure is None else list_fields(procedure)
    several = "" if len(fields) == 1 else "; separate several by commas"
    choices = f" Choose from: {', '.join(fields)}." if fields else ""
    return {
        "multiple": True,
        "callback": split_names,
        "shell_complete": completion.complete_list([name for name in fields if " " not in name]),
        "metavar": "FIELD",
        "help": f"Also {what} for each value of FIELD{several}.{choices}",
    }


def metrics(procedure: Procedure) -> Callable[[F], F]:
    """Return the option that selects metrics of a procedure; no option if it has one metric only."""
    families = procedure.families

    def check(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
        names = split_names(ctx, param, values)
        for name in names:
            if name not in families:
                guess = suggest(name, families, procedure.aliases)
                found = f"'{escape(name)}' is not one of {', '.join(map(repr, families))}.{guess}"
                raise click.BadParameter(found, ctx, param)
        return names or None

    if len(families) == 1:
        return lambda function: function
    selected = {metric.name.partition("/")[0] for metric in procedure.more_metrics}
    default = f"all but {', '.join(name for name in families if name in selected)}" if selected else "all"
    shown = f"Compute these metrics; separate several by commas: {', '.join(families)}.  [default: {default}]"
    return click.option(
        "--metrics",
        multiple=True,
        callback=check,
        shell_complete=completion.complete_list(families),
        metavar="NAMES",
        help=shown,
    )


def preset(procedure: Procedure) -> click.Parameter:
    """Return the option that selects a preset of a procedure."""
    official = "; ".join(f"{name}: {preset.help}" for name, preset in procedure.presets.items())
    return click.Option(
        ["--preset"],
        type=click.Choice(list(procedure.presets)),
        metavar="NAME",
        help=f"Use the options and metrics of an official score, except those given here ({official}).",
    )


def max_bytes(command: F) -> F:
    """Decorate a command that reads files which anybody may have made: its option lowers the limit of their size."""

    @wraps(command)
    def call(*arguments: Any, read_bytes: int, **values: Any) -> Any:
        with limits.keep_files_below(read_bytes):
            return command(*arguments, **values)

    decorate = click.option(
        "--max-bytes",
        "read_bytes",
        type=click.IntRange(1, limits.MAX_FILE_BYTES),
        default=limits.MAX_FILE_BYTES,
        show_default=True,
        help="Refuse larger files and folders, also when decompressed.",
    )
    return decorate(cast(F, call))


resamples = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of bootstrap resamples.",
)
confidence = click.option(
    "--confidence",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
resampling_options = together(resamples, confidence, seed)
test_options = together(
    click.option(
        "--resamples",
        type=click.IntRange(min=1),
        help="Number of resamples.  [default: 1000, or more if the correction of p-values needs them]",
    ),
    confidence,
    seed,
)


def read_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the parameters of intervals and tests that were given to a command."""
    from closeread.counts.estimates import Resampling

    resampling = Resampling(confidence=values["confidence"], seed=values["seed"])
    return resampling if values["resamples"] is None else replace(resampling, n_resamples=values["resamples"])


def make_style_options(*more: str) -> Callable[[F], F]:
    """Return the options that choose the format of the output.

    Args:
        *more: formats besides those that all tables have.
    """
    style = click.option(
        "--format",
        "style",
        type=click.Choice(["table", "json", "markdown", "latex", "csv", *more]),
        default="table",
        show_default=True,
        help="How to format the output.",
    )
    return together(style, click.option("--json", "style", flag_value="json", help="Same as --format json."))


style_options = make_style_options()
result_output = click.option(
    "-o", "--output", type=WRITTEN, metavar="FILE", help="Write the result to this file; print nothing."
)
digits = click.option(
    "--digits",
    type=click.IntRange(0, 10),
    default=2,
    show_default=True,
    help="Number of decimals of scores in tables; JSON and CSV have them in full.",
)


def make_styles() -> list[click.Parameter]:
    """Return the options that choose the format of the output."""

    @style_options
    def command() -> None: ...

    return list(reversed(vars(command)["__click_params__"]))


def declared_options(declared: Sequence[Option], defaults: Mapping[str, str] | None = None) -> list[click.Parameter]:
    """Return the flags of declared options; their values are None if not given, so that defaults stay in one place.

    Args:
        declared: the options.
        defaults: defaults that differ from the declared ones, for the help.
    """
    return [_make_flag(option, (defaults or {}).get(option.name, option.default)) for option in declared]


MOST_CHOICES = 70
"""How many characters of choices fit on the line of an option's name; more of them are listed in its help."""


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


def read_gold(corpus: str, *, about: Callable[[Gold], str] | None = None, **place: Any) -> Gold:
    """Read gold records and print their notices to standard error.

    Args:
        corpus: its name.
        about: returns the name of the only record that is used, so that notices about others are left out; None if
            all are used.
        **place: values of `gold_options` and `file_options`.

    Raises:
        RequestError: there is no such config or split; an InputError if the files are missing or invalid.
    """
    from closeread.corpus.gold import read_corpus_gold

    found = read_corpus_gold(take_place(corpus, **place))
    tell(found.notices if about is None else found.notices_about(about(found)))
    return found


def take_place(corpus: str, **place: Any) -> GoldSpec:
    """Return where the gold of a corpus is.

    Args:
        corpus: its name.
        **place: values of `gold_options` and `file_options`.
    """
    from closeread.counts.procedure import GoldSpec

    return GoldSpec(corpus, place.get("config"), place.get("split"), place.get("gold"), take_files(place))
