"""`closeread build`."""

from __future__ import annotations

import click

from closeread.cli.commands.timeline import build


@click.group()
def command() -> None:
    """Make timelines of annotated events.

    \b
    Example:
      closeread build timeline events.jsonl -o timelines
    """


command.add_command(build, "timeline")
