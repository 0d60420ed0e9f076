"""A command whose subcommands are found by walking `closeread.cli.tasks`."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

import click

from closeread.cli import tasks
from closeread.cli.names import NamesGroup, rename

Commands = Mapping[str, Mapping[str, click.Command]]
"""From the name of a group to its subcommands by name: `COMMANDS` of every module of `closeread.cli.tasks`."""


class TaskGroup(NamesGroup):
    """A group with the subcommands that the modules of `closeread.cli.tasks` offer under its name.

    A module offers `COMMANDS`, such as ``{"plot": {"confusion": plot_confusion}}``.  It is imported as soon as one of
    its groups is asked for a subcommand, so it imports what its commands need inside their functions.  A subcommand
    that is named as a corpus, a procedure or a module is found by the other names of these, too.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, sorted."""
        return sorted(self._find_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; None if there is none of that name.

        Raises:
            RequestError: the name is that of a procedure that scores several corpora with a subcommand.
        """
        commands = self._find_commands()
        return commands[cmd_name] if cmd_name in commands else self._find_by_other_name(commands, cmd_name)

    def _find_by_other_name(self, commands: Mapping[str, click.Command], name: str) -> click.Command | None:
        from closeread.corpus.names import choose_equivalent

        found = choose_equivalent(name, commands)
        return None if found is None else rename(commands[found], str(self.name), found, name)

    def _find_commands(self) -> dict[str, click.Command]:
        """Collect the subcommands of all tasks.

        Raises:
            ValueError: two tasks offer a subcommand of the same name.
        """
        found: dict[str, click.Command] = {}
        for module in pkgutil.iter_modules(tasks.__path__):
            commands: Commands = import_module(f"{tasks.__name__}.{module.name}").COMMANDS
            offered = commands.get(self.name or "", {})
            if repeated := found.keys() & offered.keys():
                raise ValueError(f"{module.name} and another task both offer `{self.name} {min(repeated)}`")
            found |= offered
        return found
