"""`closeread errors`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "errors",
    help="""Count and list the errors of a system.

    \b
    Example:
      closeread errors coref key.conll response.conll
    """,
)
