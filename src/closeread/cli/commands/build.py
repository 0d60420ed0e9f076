"""`closeread build`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "build",
    help="""Build gold from annotations.

    \b
    Example:
      closeread build timeline events.jsonl -o timelines
    """,
)
