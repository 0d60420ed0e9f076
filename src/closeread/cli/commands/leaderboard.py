"""`closeread leaderboard`."""

from __future__ import annotations

import importlib

import click

from closeread.cli.printing import QuietGroup

SUBCOMMANDS = ("init", "judge", "show", "build", "serve", "status", "download", "withdraw", "verify")


class LeaderboardGroup(QuietGroup):
    """A group whose subcommands are the modules of `closeread.cli.leaderboard`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, in the order of their use."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand; None if there is none of that name."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = importlib.import_module(f"closeread.cli.leaderboard.{cmd_name}").command
        return command


@click.group(cls=LeaderboardGroup, short_help="Run a leaderboard.")
def command() -> None:
    """Run a leaderboard, in a folder or on the Hugging Face Hub.

    STORE is a folder, or a dataset on the Hub (hf://datasets/ORG/NAME). Systems are submitted with `closeread submit`.

    \b
    Example:
      closeread leaderboard init board --corpus mctaco --config sample
      closeread submit mctaco predictions.jsonl --config sample \\
        --system "My system" --to board
      closeread leaderboard judge board
      closeread leaderboard show board
      closeread leaderboard build board -o index.html
    """
