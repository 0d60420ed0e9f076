"""What commands for several annotators share: their files, the options of a task's measure, and their agreement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.counts.annotators import Annotator


def name_file(path: Path) -> Annotator:
    """Return an annotator who is named by a file or a folder."""
    from closeread.counts.annotators import Annotator

    return Annotator(str(path), path)


def name_files(paths: Sequence[Path]) -> list[Annotator]:
    """Return annotators who are named by their files."""
    return [name_file(path) for path in paths]


class AgreementCommand(GroupedCommand):
    """A command with the options of a task's measure, which is imported only when they are needed.

    Args:
        task: the name of the task.
    """

    def __init__(self, *args: Any, task: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._task = task

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.tasks import find

        return [*options.declared_options(vars(find(self._task, "agreement"))["OPTIONS"]), *super().get_params(ctx)]


def print_agreement(task: str, files: Sequence[Path], style: Any, **values: Any) -> None:
    """Measure the agreement of annotators as their task does, and print it.

    Args:
        task: the name of the task.
        files: the annotators.
        style: the output format.
        **values: the options of the measure; None for those that are not given.

    Raises:
        RequestError: there are too few annotators; an InputError if what they have is invalid.
    """
    from closeread.tasks import find

    given = {name: value for name, value in values.items() if value is not None}
    found = vars(find(task, "agreement"))["compare_annotators"](name_files(files), **given)
    tell(found.notices)
    printing.show_result(style, found)
