"""All commands of the command line."""

from functools import cache

import click

from closeread.cli import main


@cache
def list_commands():
    """All commands and groups, each with its names after `closeread`."""
    return list(_walk(main, ()))


def _walk(group, path):
    context = click.Context(group, info_name="closeread")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from _walk(command, (*path, name))
