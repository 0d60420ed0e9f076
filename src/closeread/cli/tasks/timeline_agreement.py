"""Subcommand for annotators of TimeLine: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.annotators import print_agreement
from closeread.cli.help_groups import GroupedCommand

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=GroupedCommand, short_help="Compute Dice's coefficient of mentions.")
@options.files
@options.style_options
def agreement(files: tuple[Path, ...], style: Any) -> None:
    """Compute Dice's coefficient of annotators' mentions of events and of entities.

    Each file, or folder of files, is an annotator.  With more than two annotators, the coefficient is computed for
    every pair and averaged over pairs.

    Documents are files in CAT (.xml), or folders of them, with mentions of events (EVENT_MENTION), mentions of
    entities (ENTITY_MENTION) and entity coreference (REFERS_TO); entities are compared by name.  Timelines are folders
    of timelines, or JSON Lines.

    \b
    Examples:
      closeread agreement timeline anna/ ben/
      closeread agreement timeline anna/ ben/ cem/
      closeread agreement timeline anna/7_Rain.xml ben/7_Rain.xml --json
    """
    print_agreement("timeline", files, style)


COMMANDS: Commands = {"agreement": {"timeline": agreement}}
