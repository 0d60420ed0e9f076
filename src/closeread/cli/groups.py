"""Commands whose help has their options in sections, groups of them, and paths: what every command line needs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from closeread.cli.printing import remember_quiet
from closeread.exceptions import RequestError, describe_unknown
from closeread.files import check_outputs

FOLDER, READING = PREFIXES = ("folder_", "reading_")
"""How the parameters begin that say how to read a corpus."""

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


FILE, NAMED, WRITTEN = (FilePath(path_type=Path) for _ in range(3))

FEW = 7
"""Up to this number, options need no sections."""

SECTIONS = {
    "Input": "config split gold data_dir corpus from_counts fields given only spacy_model runs read_bytes"
    " test_split validation_split held_out",
    "Output": "stats schema cite submission style columns names sort intervals"
    " by per_unit with_counts explain limit digits score_only kinds"
    " document to dry_run archive ids as_json show_missing strict",
    "Intervals": "no_ci resamples confidence interval correction alpha pairs power",
    "System": "system author model paper code description",
    "Leaderboard": "title start end per_day max_submissions max_bytes private counting dataset results replace",
    "Procedure": "",
    "Other": "",
}
"""The names of parameters by section, in the order of help; those of files to read and to write need not be named."""

SECTION_OF = {name: section for section, names in SECTIONS.items() for name in names.split()}

HOW: dict[str, Any] = {
    "is_flag": True,
    "expose_value": False,
    "is_eager": True,
    "callback": remember_quiet,
}
QUIET = click.Option(
    ["-q", "--quiet"], help="Leave out notes and progress bars on standard error.", **HOW
)


class Command(click.Command):
    """A command with the option `--quiet`, and a help that has its options in sections, if there are many.

    It neither overwrites its input, nor writes twice to one file.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, last = super().get_params(ctx)
        return [*own, QUIET, last]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [
            one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden
        ]
        if len(options) <= FEW + 2:  # --quiet and --help are two more
            super().format_options(ctx, formatter)
            return
        names = {one.name for one in options}
        sections: dict[str, list[click.Option]] = defaultdict(list)
        for option in options:
            name = option.name or ""
            is_input = name.startswith(PREFIXES) or isinstance(option.type, click.Path)
            of_intervals = name == "seed" and "resamples" in names
            usual = "Input" if is_input else "Intervals" if of_intervals else "Procedure"
            section = "Output" if option.type is WRITTEN else SECTION_OF.get(name, usual)
            sections["Other" if option in options[-2:] else section].append(option)
        if sections.keys() != {"Leaderboard"} and len(sections.get("Leaderboard", ())) == 1:
            # the largest size of files that are read
            sections["Input"] += sections.pop("Leaderboard")
        for section in SECTIONS:
            if section in sections:
                with formatter.section(section):
                    records = (one.get_help_record(ctx) for one in sections[section])
                    formatter.write_dl([record for record in records if record is not None])
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
                paths = [
                    path
                    for path in (given if isinstance(given, tuple) else (given,))
                    if path is not None
                ]
                if param.type is WRITTEN:
                    written += paths
                else:
                    read += [(Path(path), param.type is FILE) for path in paths]
        check_outputs(read, written)
        return rest


class Group(Command, click.Group):
    """A group of commands; `--quiet` before a subcommand holds for it, too."""

    what = ""
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
            what = (
                "command" if ctx.parent is None else self.what or f"subcommand of {ctx.info_name}"
            )
            commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            known = [
                name
                for name, command in commands.items()
                if command is not None and not command.hidden
            ]
            raise RequestError(describe_unknown(what, args[0], known)) from error
