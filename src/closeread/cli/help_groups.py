"""Options of a command in groups, in its help."""

from __future__ import annotations

from collections import defaultdict

import click

from closeread.cli.notes import QuietCommand

FEW = 8
"""Up to this number, options need no groups."""

GROUPS = {
    "Input": "config split gold data_dir corpus from_counts fields given only spacy_model runs read_bytes"
    " test_split validation_split held_out",
    "Output": "style columns names sort intervals by per_unit with_counts explain limit digits score_only kinds"
    " document store dry_run archive ids as_json show_missing strict",
    "Intervals": "no_ci resamples confidence correction alpha pairs",
    "System": "system model paper code description",
    "Leaderboard": "title start end per_day max_submissions max_bytes private counting dataset results replace",
}
"""The names of parameters by group; those of files to read and to write need not be named."""

PREFIXES = ("folder_", "reading_")
"""How the parameters begin that say how to read a corpus."""

ORDER = ("Input", "Output", "Intervals", "System", "Leaderboard", "Procedure", "Other")

NAMED = {name: group for group, names in GROUPS.items() for name in names.split()}


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
    from closeread.cli.options import WRITTEN

    name = option.name or ""
    if "--help" in option.opts or "--quiet" in option.opts:
        return "Other"
    if option.type is WRITTEN:
        return "Output"
    if name in NAMED:
        return NAMED[name]
    if name.startswith(PREFIXES) or isinstance(option.type, click.Path):
        return "Input"
    return "Intervals" if name == "seed" and has_intervals else "Procedure"
