"""`closeread install-modules`."""

from __future__ import annotations

import click

from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import hush_libraries
from closeread.exceptions import escape_line


@click.command(
    cls=GroupedCommand, name="install-modules", short_help="Install the evaluate modules into the modules cache."
)
@hush_libraries
def command() -> None:
    """Install the evaluate modules into the modules cache, for processes that do not import closeread.

    \b
    Example:
      closeread install-modules
      python -c "import evaluate; print(evaluate.load('mctaco').name)"
    """
    from closeread.hf.modules import install_modules

    for path in install_modules():
        click.echo(escape_line(str(path)))
