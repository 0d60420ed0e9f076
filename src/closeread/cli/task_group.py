"""Commands whose subcommands are the operations of tasks."""

from __future__ import annotations

from collections.abc import Mapping

import click

from closeread.cli.derived import DerivedCommand
from closeread.cli.groups import GROUPS
from closeread.cli.names import NamesGroup, rename
from closeread.operations.calling import find_groups, find_operations


class TaskGroup(NamesGroup):
    """A group with the operations that modules offer under its name; those of "perturb mctaco" are a group inside.

    A subcommand that is named as a corpus, a procedure or a module is found by the other names of these, too.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, sorted."""
        return sorted(self._find_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; None if there is none of that name.

        Raises:
            RequestError: the name is that of a procedure that scores several corpora with a subcommand.
        """
        from closeread.corpus.names import choose_equivalent

        commands = self._find_commands()
        if cmd_name in commands:
            return commands[cmd_name]
        found = choose_equivalent(cmd_name, commands)
        return None if found is None else rename(commands[found], cmd_name)

    def _find_commands(self) -> Mapping[str, click.Command]:
        path = str(self.name)
        groups: dict[str, click.Command] = {name: make_group(f"{path} {name}") for name in find_groups(path)}
        return groups | {name: DerivedCommand(path, name, one) for name, one in find_operations(path).items()}


def make_group(path: str) -> click.Command:
    """Return a group of operations."""
    about = GROUPS[path]
    return TaskGroup(path, help=about.help, short_help=about.summary, hidden=about.hidden)
