"""Commands whose help has their options in sections, groups of them, and paths: what every command line needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import click

from closeread.cli.printing import remember_quiet
from closeread.exceptions import RequestError, describe_unknown
from closeread.files import check_outputs

STANDARD_INPUT = "closeread.standard_input"
"""What the context of a command remembers: that it reads standard input."""


class FilePath(click.Path):
    """The path of a file or folder; `-` is standard input, which can be read once, or refused if a name is needed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from closeread.formats import text

        if str(value) not in ("-", str(text.STANDARD_INPUT)):
            return super().convert(value, param, ctx)
        if self is not FILE:
            self.fail("'-' is not a file (expected a file name).", param, ctx)
        if ctx is not None:
            if ctx.meta.get(STANDARD_INPUT):
                self.fail(
                    "standard input can be read only once (expected a file here).", param, ctx
                )
            ctx.meta[STANDARD_INPUT] = True
        return text.STANDARD_INPUT


class RareOption(click.Option):
    """An option that says how to read a corpus, which few people need."""


FILE, NAMED, WRITTEN = (FilePath(path_type=Path) for _ in range(3))

FEW = 7
"""Up to this number, options need no sections."""

SECTIONS = {
    "Input": "config split gold data_dir corpus from_counts fields given only spacy_model runs"
    " test_split validation_split validation_share",
    "Output": "stats schema cite submission style names sort intervals"
    " by per_unit with_counts explain limit digits columns secondary score_only kinds"
    " document documents to dry_run show archive ids as_json",
    "Intervals": "no_ci resamples confidence interval correction alpha pairs power",
    "System": "system author model paper code description",
    "Leaderboard": "title start end per_day max_submissions max_bytes private counting dataset replace",
    "Procedure": "",
    "Other": "",
}
"""The names of parameters by section, in the order of help; those of files to read and to write need not be named."""

SECTION_OF: dict[str, str] = {}
for _section, _names in SECTIONS.items():
    SECTION_OF |= dict.fromkeys(_names.split(), _section)

RARE_NAMES = (
    # of intervals and tests
    "interval alpha power correction pairs"
    # of printing
    " with_counts digits columns secondary score_only"
    # parts of presets of shared tasks, quirks of other scorers, details of formats
    " duplicates blanc_edge average undefined words word_column skip_invalid zeros split_antecedents"
    " windows layer extra fields scenario tolerance uprep reduction during group_by"
    # of files of annotation tools
    " relation entity_feature annotator document_field text_field"
    # of training and of baselines
    " precision head_learning_rate encoder_dropout patience vectors derived_modifiers pronouns"
    # of adjudication, perturbation and leaderboards
    " incompatible empty_annotators time_limit forced agreement late reveal counting max_bytes"
    " max_submissions docker_image wheel"
)
RARE = frozenset(RARE_NAMES.split())
"""The names of parameters that few people need: help with sections leaves them out, `--help-all` does not."""

SHOWS_ALL = "closeread.help_all"
"""What the context of a command remembers: that its help has all options."""


def show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the help with all options and all paragraphs, and end the command."""
    if not value or ctx.resilient_parsing:
        return
    ctx.meta[SHOWS_ALL] = True
    click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()


def make_flag(names: str, text: str, callback: Callable[..., None]) -> click.Option:
    """Return a flag that acts when it is parsed, and is not a parameter of the command."""
    return click.Option(
        names.split(),
        help=text,
        callback=callback,
        is_flag=True,
        is_eager=True,
        expose_value=False,
    )


QUIET = make_flag(
    "-q --quiet", "Leave out notes and progress bars on standard error.", remember_quiet
)
HELP_ALL = make_flag(
    "--help-all", "Show all options, with those that are rarely needed, and exit.", show_all
)


def is_rare(param: click.Parameter) -> bool:
    """Return whether few people need an option."""
    is_option = isinstance(param, click.Option)
    return isinstance(param, RareOption) or (is_option and param.name in RARE)


class Command(click.Command):
    """A command with the option `--quiet`, and a help that has its options in sections, if there are many.

    It neither overwrites its input, nor writes twice to one file.

    Attributes:
        full_help: what `--help-all` shows instead of `help`; empty if that is the same.
    """

    full_help = ""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *params, help_option = super().get_params(ctx)
        common: list[click.Parameter] = [QUIET, help_option]
        if self.full_help or (self.has_sections and any(map(is_rare, params))):
            common.append(HELP_ALL)
        return [*params, *common]

    @property
    def has_sections(self) -> bool:
        """Whether the command has so many options that help has them in sections."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        return len(options) > FEW

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.full_help or not ctx.meta.get(SHOWS_ALL):
            super().format_help_text(ctx, formatter)
            return
        command = copy(self)
        command.help, command.full_help = self.full_help, ""
        command.format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.has_sections:
            super().format_options(ctx, formatter)
            return
        sections = self.sort_into_sections(ctx)
        for title in SECTIONS:
            records = [option.get_help_record(ctx) for option in sections[title]]
            shown = [record for record in records if record is not None]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def sort_into_sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options that help shows, by the title of their section."""
        params = self.get_params(ctx)
        names = {param.name for param in params}
        sections: dict[str, list[click.Option]] = defaultdict(list)
        for option in params:
            if not isinstance(option, click.Option):
                continue
            if is_rare(option) and not ctx.meta.get(SHOWS_ALL):
                continue
            name = option.name or ""
            if option not in self.params:
                title = "Other"
            elif option.type is WRITTEN:
                title = "Output"
            elif name in SECTION_OF:
                title = SECTION_OF[name]
            elif isinstance(option, RareOption) or isinstance(option.type, click.Path):
                title = "Input"
            elif name == "seed" and "resamples" in names:
                title = "Intervals"
            else:
                title = "Procedure"
            sections[title].append(option)
        return sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a RequestError says that an output file is also an input, or another output."""
        remaining = super().parse_args(ctx, args)
        if ctx.resilient_parsing:
            return remaining
        read: list[tuple[Path, bool]] = []
        written: list[Path] = []
        for param in self.params:
            if not isinstance(param.type, click.Path):
                continue
            value = ctx.params[param.name or ""]
            paths = value if isinstance(value, tuple) else (value,)
            for path in paths:
                if path is None:
                    continue
                if param.type is WRITTEN:
                    written.append(path)
                else:
                    read.append((Path(path), param.type is FILE))
        check_outputs(read, written)
        return remaining


class Group(Command, click.Group):
    """A group of commands; `--quiet` before a subcommand holds for it, too."""

    noun = ""
    """What a subcommand is called in messages, if not a subcommand."""

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
            noun = self.noun or f"subcommand of {ctx.info_name}"
            names = []
            for name in self.list_commands(ctx):
                command = self.get_command(ctx, name)
                if command is not None and not command.hidden:
                    names.append(name)
            raise RequestError(describe_unknown(noun, args[0], names)) from error
